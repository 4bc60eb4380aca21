"""Plug-ins by formula: `from_cdf` and `from_pdf`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from numpy.random import Generator

import smqopt as smq
from plug_ins.case import BORDERLINE, BROKEN, GOOD, PlugIn, called
from plug_ins.terms import THETA, Digits, Doubles, Term, function, name, number
from plug_ins.truth import Truth, graded_integral

__all__ = ["cdf_texts", "hostile_texts", "pdf_texts"]

DIGITS = 50


def _decimal(rng: Generator, low: float, high: float) -> str:
    return f"{rng.uniform(low, high):.{int(rng.integers(1, 4))}f}"


# --- right ones ----------------------------------------------------------------------------------------------------


class _Shaper:
    """Draws cdfs on [0, 1] as terms in x, with named parameters now and then."""

    def __init__(self, rng: Generator, owners: int | None) -> None:
        self.rng, self.owners = rng, owners
        self.given: dict[str, float | np.ndarray] = {}

    def parameter(self, low: float, high: float) -> Term:
        """Give a number, a named one, or, where there are owners, a named column."""
        rng = self.rng
        if rng.random() < 0.6 and len(self.given) < 3:
            word = ["a", "b", "rate_1", "k", "s2", "shape"][rng.integers(6)]
            if word not in self.given:
                column = self.owners is not None and rng.random() < 0.7
                self.given[word] = rng.uniform(low, high, self.owners) if column else float(rng.uniform(low, high))
                return name(word)
        return number(_decimal(rng, low, high))

    def shape(self, x: Term, depth: int) -> Term:  # noqa: PLR0912 - a list of cases
        rng, one = self.rng, number(1)
        kind = rng.integers(13 if depth > 0 else 9)
        if kind == 0:
            return x ** self.parameter(0.3, 5.0)
        if kind == 1:
            n = int(rng.integers(2, 5))
            parts = rng.integers(1, 9, n)
            term = number(f"{parts[0]}") * x
            for power, part in enumerate(parts[1:], start=2):
                term = term + number(int(part)) * x ** number(power)
            return term / number(int(parts.sum()))
        if kind == 2:
            rate = self.parameter(0.2, 6.0)
            falling = rng.random() < 0.5
            up = function("exp", number(-1) * rate * x if falling else rate * x)
            top = function("exp", number(-1) * rate if falling else rate)
            return (one - up) / (one - top) if falling else (up - one) / (top - one)
        if kind == 3:
            c = self.parameter(0.2, 8.0)
            return function("log", one + c * x) / function("log", one + c)
        if kind == 4:
            word = ["erf", "tanh", "atan", "sinh"][rng.integers(4)]
            c = self.parameter(0.3, 2.5)
            return function(word, c * x) / function(word, c)
        if kind == 5:
            c = self.parameter(0.3, 1.2)
            word = ["sin", "tan"][rng.integers(2)]
            return function(word, c * x) / function(word, c)
        if kind == 6:
            c = self.parameter(0.3, 3.0)
            word = ["cos", "cosh"][rng.integers(2)]
            return (one - function(word, c * x)) / (one - function(word, c))
        if kind == 7:
            return function("sqrt", x)
        if kind == 8:
            c = self.parameter(0.1, 5.0)
            return x * (one + c) / (one + c * x)
        first = self.shape(x, depth - 1)
        if kind == 9:
            return first * self.shape(x, depth - 1)
        if kind == 10:
            w = int(rng.integers(1, 10))
            return number(f"0.{w}") * first + number(f"0.{10 - w}") * self.shape(x, depth - 1)
        if kind == 11:
            return self.shape(first, depth - 1)
        return one - (one - first) ** self.parameter(0.5, 3.0)


def _share(rng: Generator, owners: int | None) -> tuple[Term, float | np.ndarray, float | np.ndarray]:
    """Give θ's place in a support, and the ends of the support."""
    kind = rng.integers(4)
    if kind == 0:
        return THETA, 0.0, 1.0
    if kind == 1:
        top = int(rng.integers(2, 9))
        return THETA / number(top), 0.0, float(top)
    if kind == 2 and owners is not None:
        low = rng.uniform(0, 2, owners)
        high = low + rng.uniform(0.5, 3, owners)
    else:
        low = float(rng.integers(0, 3))
        high = low + float(rng.integers(1, 5)) / 2
    return (THETA - name("low")) / (name("high") - name("low")), low, high


def _truths(term: Term, low: object, high: object, given: dict[str, object], slack: float = 1e-11) -> list[Truth]:
    count = max(np.size(value) for value in (low, high, *given.values()))
    columns = {
        key: np.broadcast_to(value, count).tolist() for key, value in {"low": low, "high": high, **given}.items()
    }
    return [_truth(term, {key: column[k] for key, column in columns.items()}, slack) for k in range(count)]


def _truth(term: Term, names: dict[str, float], slack: float) -> Truth:
    def cdf(t: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            F = np.array(term(Doubles, theta=t, **names) + 0.0 * t, dtype=float)
        with mpmath.workdps(DIGITS):
            for k in np.flatnonzero(~np.isfinite(F) & (t > names["low"]) & (t < names["high"])):
                F[k] = float(
                    term(Digits, **{key: mpmath.mpf(value) for key, value in {**names, "theta": t[k]}.items()})
                )
        # a formula may say 0/0 at an end
        return np.where(t <= names["low"], 0.0, np.where(t >= names["high"], 1.0, F))

    def pdf(t: np.ndarray) -> np.ndarray:
        low, width = names["low"], names["high"] - names["low"]
        with mpmath.workdps(DIGITS):
            exact = {key: mpmath.mpf(value) for key, value in names.items()}

            def of_share(share: mpmath.mpf) -> mpmath.mpf:
                return term(Digits, theta=low + share * width, **exact)

            return np.array([float(mpmath.diff(of_share, (mpmath.mpf(x) - low) / width) / width) for x in t])

    return Truth(names["low"], names["high"], cdf, pdf, slack=slack)


def _good_cdf(rng: Generator) -> PlugIn:
    owners = int(rng.integers(3, 9)) if rng.random() < 0.4 else None
    shaper = _Shaper(rng, owners)
    x, low, high = _share(rng, owners)
    term = shaper.shape(x, int(rng.integers(0, 3)))
    return called(
        GOOD, smq.from_cdf, term.text, low, high, **shaper.given, truths=_truths(term, low, high, shaper.given)
    )


# --- on the edge ---------------------------------------------------------------------------------------------------


def _steep(rng: Generator) -> tuple[Term, float, float]:
    return THETA ** number(["0.01", "0.001", "40", "300", "999", "1/7", "1e-9"][rng.integers(7)]), 0.0, 1.0


def _rates(rng: Generator) -> tuple[Term, float, float]:
    rate = number(["1e-12", "0.001", "30", "700", "5000", "1e5"][rng.integers(6)])
    one, sign = number(1), number(["1", "-1"][rng.integers(2)])
    return (function("exp", sign * rate * THETA) - one) / (function("exp", sign * rate) - one), 0.0, 1.0


def _waves(rng: Generator) -> tuple[Term, float, float]:
    """A wave that is just, or just not, flat enough."""
    k = int(rng.integers(1, 30))
    room = 1.0 + float(rng.choice([-1, 1])) * 10.0 ** -rng.integers(1, 14)
    height = number(repr(room / (2 * k * np.pi)))
    pi = Term("pi", lambda e: mpmath.pi if e["lib"] is Digits else np.pi)
    return THETA + height * function("sin", number(2 * k) * pi * THETA), 0.0, 1.0


def _masses(rng: Generator) -> tuple[Term, float, float]:
    """A mass that is off by as little as rounding, or more."""
    off = float(rng.choice([-1, 1])) * 10.0 ** -rng.integers(10, 18)
    return THETA ** number(int(rng.integers(1, 4))) * number(repr(1.0 + off)), 0.0, 1.0


def _supports(rng: Generator) -> tuple[Term, float, float]:
    low, high = [
        (0.0, 1e-300), (0.0, 1e300), (1e-9, 2e-9), (1.0, 1.0 + 2.0**-40), (1e15, 1e15 + 1.0), (0.0, 5e-324),
        (1e8, 1e8 + 1e-4), (0.0, 1.7e308), (1e-200, 1e200), (1.0, 1.0 + 2.0**-52),
    ][rng.integers(10)]  # fmt: skip
    share = (THETA - name("low")) / (name("high") - name("low"))
    return share ** number(["1", "2", "0.5", "3"][rng.integers(4)]), low, high


def _long(rng: Generator) -> tuple[Term, float, float]:
    """Many terms: the squares of the first powers."""
    n = int(rng.integers(10, 40))
    term = THETA
    for k in range(2, n + 1):
        term = term + THETA ** number(k)
    return term / number(n), 0.0, 1.0


def _nested(rng: Generator) -> tuple[Term, float, float]:
    word, depth = ["sin", "tanh", "atan", "sqrt", "log"][rng.integers(5)], int(rng.integers(2, 12))

    def chain(x: Term) -> Term:
        for _ in range(depth):
            x = function("log", number(1) + x) if word == "log" else function(word, x)
        return x

    return chain(THETA) / chain(number(1)), 0.0, 1.0


def _plateaus(rng: Generator) -> tuple[Term, float, float]:
    """A cdf whose density touches 0 inside."""
    k = int(rng.integers(1, 4))
    c = number(f"1/{int(rng.integers(2, 6))}")
    power = number(2 * k + 1)
    shifted = (THETA - number("0") - (c)) ** power
    bottom, top = (number("0") - c) ** power, (number(1) - c) ** power
    return (shifted - bottom) / (top - bottom), 0.0, 1.0


def _borderline_cdf(rng: Generator) -> PlugIn:
    kinds = (_steep, _rates, _waves, _masses, _supports, _long, _nested, _plateaus)
    term, low, high = kinds[rng.integers(len(kinds))](rng)
    # doubles may lose digits of the truth itself: the checks are those of a plug-in, not of the last digit
    return called(BORDERLINE, smq.from_cdf, term.text, low, high, truths=_truths(term, low, high, {}, 1e-9))


# --- broken --------------------------------------------------------------------------------------------------------


def _broken_cdf(rng: Generator) -> PlugIn:
    u, k = f"{rng.uniform(0.05, 0.95):.3f}", int(rng.integers(2, 9))
    fault: list[tuple[str, tuple[object, object], dict[str, object], tuple[str, ...]]] = [
        (f"theta*{u}", (0, 1), {}, ("must be 1 at high",)),
        (f"theta**{k} + {u}*theta", (0, 1), {}, ("must be 1 at high",)),
        (f"{u} + (1 - {u})*theta", (0, 1), {}, ("must be 0 at low",)),
        (f"theta - {u}*(1 - theta)", (0, 1), {}, ("must be 0 at low",)),
        (f"theta + sin({2 * k}*pi*theta)*{1.2 + float(u)}/({2 * k}*pi)", (0, 1), {}, ("must not fall", "negative", "exceed")),
        (f"theta**2*(theta - {u})**2/(1 - {u})**2", (0, 1), {}, ("must not fall", "negative")),
        (f"sin({k + 2}*theta)/sin({k + 2})", (0, 1), {}, ("must not fall", "negative", "exceed")),
        (f"theta*(2*{u} - 1)/(2*theta - 1)/(2*{u} - 1)", (0, 1), {}, ("finite", "must not fall", "negative")),
        (f"(1/(theta - {u}) + 1/{u})/(1/(1 - {u}) + 1/{u})", (0, 1), {}, ("finite", "must not fall", "negative", "exceed")),
        (f"log(theta)/log({k})", (0, k), {}, ("finite", "must be 0 at low", "negative")),
        (f"sqrt(theta - {u})/sqrt(1 - {u})", (0, 1), {}, ("finite",)),
        ("theta**a", (0, 1), {"a": -float(u)}, ("finite", "must be 0 at low", "must not fall")),
        ("theta**a", (0, 1), {"a": np.array([1.0, 2.0, -float(u)])}, ("owner 3",)),
        ("theta**a*c", (0, 1), {"a": np.array([1.0, 2.0]), "c": np.array([1.0, 1.0 + float(u)])}, ("owner 2",)),
        ("theta**a", (0, 1), {}, ("'a' is unknown",)),
        ("theta**alpha", (0, 1), {"alpah": 2.0}, ("'alpha' is unknown", "alpah")),
        ("theta", (0, 1), {"a": 1.0}, ("does not use the parameter 'a'",)),
        ("theta**a", (0, 1), {"a": float("nan")}, ("parameter 'a'",)),
        ("theta**a", (0, 1), {"a": float("inf")}, ("parameter 'a'",)),
        ("theta**a", (0, 1), {"a": "2"}, ("parameter 'a'",)),
        ("theta**a", (0, 1), {"a": 1j}, ("parameter 'a'",)),
        ("theta**a", (0, 1), {"a": None}, ("parameter 'a'",)),
        ("theta**a", (0, 1), {"a": [[1.0, 2.0]]}, ("parameter 'a'",)),
        ("theta**a", (0, 1), {"a": []}, ("parameter 'a'",)),
        ("theta**a", (0, 1), {"a": [1.0, [2.0]]}, ("parameter 'a'",)),
        ("theta**a", (0, 1), {"a": 10**400}, ("parameter 'a'",)),
        ("theta**a", ([0, 0], 1), {"a": [1.0, 2.0, 3.0]}, ("parameter 'a'",)),
        ("theta", (float(u), float(u)), {}, ("parameter 'high'",)),
        ("theta", (1, 0), {}, ("parameter 'high'",)),
        ("theta", (-float(u), 1), {}, ("parameter 'low'",)),
        ("theta", (0, float("inf")), {}, ("parameter 'high'",)),
        ("theta", (0, 10**400), {}, ("parameter 'high'",)),
        ("theta", (None, 1), {}, ("parameter 'low'",)),
        ("theta", (0, "1"), {}, ("parameter 'high'",)),
        (f"{u}", (0, 1), {}, ("does not depend on theta",)),
        ("theta", (0, k), {}, ("must be 1 at high",)),
        (f"theta/{k}", (1, k), {}, ("must be 0 at low",)),
        ("theta*unit", (0, 1), {"unit": -1.0}, ("'unit'",)),
        ("theta*scaled", (0, 1), {"scaled": 1.0}, ("meaning of its own",)),
        ("theta**low_", (0, 1), {"low_": float("nan")}, ("parameter 'low_'",)),
        ("theta**lambda", (0, 1), {"lambda": 2.0}, ("plain name", "not a formula")),
        ("theta*__class__", (0, 1), {"__class__": 1.0}, ("plain name",)),
        ("theta**ppf", (0, 1), {"ppf": 2.0}, ("meaning of its own",)),
        (f"theta*(theta < {u})", (0, 1), {}, ("cdf", "character")),
        ("theta/0", (0, 1), {}, ("not real and finite",)),
        ("theta/(theta - theta)", (0, 1), {}, ("not real and finite",)),
        (f"log(-{u})*theta", (0, 1), {}, ("not real and finite",)),
        ("sqrt(-1)*theta", (0, 1), {}, ("not real and finite",)),
        (f"tan(theta*pi*{u} + pi/2)", (0, 1), {}, ("finite", "must")),
    ]  # fmt: skip
    text, ends, given, words = fault[rng.integers(len(fault))]
    return called(BROKEN, smq.from_cdf, text, *ends, **given, words=words)


_HOSTILE: tuple[tuple[object, tuple[str, ...]], ...] = (
    ("__import__('os').system('true')", ("character", "may not call", "unknown")),
    ("__import__(theta)", ("may not call",)),
    ("theta.__class__", ("holds something",)),
    ("theta.real", ("holds something",)),
    ("().__class__.__bases__", ("holds something",)),
    ("(lambda: theta)()", ("character", "may not call", "holds something")),
    ("[theta for theta in (1,)]", ("character",)),
    ("exec(theta)", ("may not call",)),
    ("eval(theta)", ("may not call",)),
    ("open(theta)", ("may not call",)),
    ("theta if theta else 1", ("holds something",)),
    ("theta and 1", ("holds something",)),
    ("theta, 1", ("holds something",)),
    ("theta := 1", ("character",)),
    ("theta; 1", ("character",)),
    ("theta = 1", ("character",)),
    ("f'{theta}'", ("character",)),
    ("theta @ theta", ("character",)),
    ("theta % 2", ("character",)),
    ("theta // 2", ("holds something",)),
    ("theta^2", ("power",)),
    ("~theta", ("character",)),
    ("not theta", ("holds something",)),
    ("theta**2 # comment", ("character",)),
    ("theta\x00", ("character",)),
    ("θ**2", ("theta",)),
    ("thеta", ("character",)),  # a Cyrillic letter
    ("ｔheta", ("character",)),  # a full-width letter
    ("theta**２", ("character",)),  # a full-width digit
    ("theta − 1", ("character",)),  # a minus sign
    ("theta·2", ("character",)),
    ("theta\u200b", ("character",)),
    ("1e400*theta", ("range", "large", "cdf")),
    ("theta*1e-400/1e-400 + 1e99999", ("range",)),
    ("1e9999999999*theta", ("number", "range")),
    ("9**9**9**9*theta", ("large", "exceed")),
    ("theta**(9**9**9)", ("large", "exceed")),
    ("theta**1001", ("exceed",)),
    ("((theta**100)**100)", ("exceed",)),
    ("exp(exp(exp(exp(100))))*theta", ("cdf",)),
    ("exp(1000000*log(2))*theta", ("large",)),
    ("exp(10**20)*theta", ("cdf",)),
    ("0x10*theta", ("plain number",)),
    ("1_000*theta", ("plain number",)),
    ("1j*theta", ("plain number",)),
    ("True*theta", ("plain number", "unknown")),
    ("None", ("plain number", "unknown")),
    ("theta***2", ("not a formula",)),
    ("theta +", ("not a formula",)),
    ("(theta", ("not a formula",)),
    ("theta)", ("not a formula",)),
    ("2 theta", ("not a formula",)),
    ("2(theta)", ("may not call",)),
    ("theta(2)", ("may not call",)),
    ("sin theta", ("not a formula",)),
    ("sin", ("needs an argument",)),
    ("sin*theta", ("needs an argument",)),
    ("sin()", ("one argument",)),
    ("sin(theta, theta)", ("one argument",)),
    ("sin(x=theta)", ("character",)),
    ("max(theta, 1)", ("may not call",)),
    ("gamma(theta)", ("may not call",)),
    ("E**theta", ("unknown",)),
    ("I*theta", ("unknown",)),
    ("oo*theta", ("unknown",)),
    ("nan", ("unknown",)),
    ("inf*theta", ("unknown",)),
    ("Theta", ("unknown",)),
    ("", ("empty",)),
    ("   ", ("empty",)),
    (None, ("formula as text",)),
    (b"theta", ("formula as text",)),
    (3.5, ("formula as text",)),
    (["theta"], ("formula as text",)),
    (len, ("formula as text",)),
)


_SCALED = ("1e400*theta", "exp(exp(exp(exp(100))))*theta", "exp(10**20)*theta")
"""Those that are cdfs of no law, but densities up to a factor."""


def hostile_texts(rng: Generator) -> PlugIn:
    """Texts that are no formulas: code, look-alikes, numbers and nests out of all size."""
    make = [smq.from_cdf, smq.from_pdf][rng.integers(2)]
    kind = rng.integers(10)
    if kind == 0:
        # parentheses alone nest nothing, up to what Python reads
        n = int(rng.integers(61, 600))
        text = "(" * n + "theta" + ")" * n + "/2"
        return called(BROKEN, smq.from_cdf, text, 0, 1, words=("not a formula", "must be 1 at high"))
    if kind == 1:
        n = int(rng.integers(62, 150))
        return called(BROKEN, make, "sin(" * n + "theta" + ")" * n, 0, 1, words=("nested", "not a formula"))
    if kind == 2:
        n = int(rng.integers(401, 5_000))
        return called(BROKEN, make, "+".join(["theta"] * n), 0, 1, words=("characters",))
    if kind == 3:
        n = int(rng.integers(62, 300))
        return called(BROKEN, make, "-" * n + "theta", 0, 1, words=("nested",))
    if kind == 4:
        letters = list("theta*()+-/.,0123456789aeEx_ []{}'\"\\:;=<>!@#$%&|~`\n\tθпαﬁ\ud800")
        text = "".join(rng.choice(letters, int(rng.integers(3, 60))).tolist()) + "$"
        return called(BROKEN, make, text, 0, 1, words=("character", "formula"))
    text, words = _HOSTILE[rng.integers(len(_HOSTILE))]
    if make is smq.from_pdf and text in _SCALED:
        truth = Truth(0.0, 1.0, lambda t: t**2, lambda t: 2 * t)
        return called(BORDERLINE, make, text, 0, 1, truths=[truth])
    if make is smq.from_pdf:
        words = tuple(word.replace("cdf", "pdf") for word in words)
    return called(BROKEN, make, text, 0, 1, words=words)


def cdf_texts(rng: Generator) -> PlugIn:
    """Formulas of cdfs."""
    return [_good_cdf, _borderline_cdf, _broken_cdf][rng.choice(3, p=[0.45, 0.25, 0.3])](rng)


# --- densities -----------------------------------------------------------------------------------------------------


def _densities(rng: Generator, owners: int | None) -> tuple[Term, Callable[[], dict[str, object]]]:
    shaper = _Shaper(rng, owners)
    one, kind = number(1), rng.integers(10)
    x = THETA
    if kind == 0:
        term = x ** number(int(rng.integers(1, 4))) * (number(3) - x) ** number(int(rng.integers(1, 4)))
    elif kind == 1:
        term = function("exp", number(-1) * shaper.parameter(0.2, 4.0) * x)
    elif kind == 2:
        term = x * function("exp", number(-1) * shaper.parameter(0.2, 4.0) * x)
    elif kind == 3:
        term = one / (one + x) ** number(int(rng.integers(1, 4)))
    elif kind == 4:
        term = x ** shaper.parameter(0.2, 3.0)
    elif kind == 5:
        term = one + number(_decimal(rng, 0.1, 0.9)) * function(
            ["sin", "cos"][rng.integers(2)], number(int(rng.integers(1, 7))) * x
        )
    elif kind == 6:
        term = one + number(int(rng.integers(1, 9))) * x + number(int(rng.integers(1, 9))) * x ** number(2)
    elif kind == 7:
        term = one / function("sqrt", x)
    elif kind == 8:
        term = one / (one + x ** number(2))
    else:
        term = function("sqrt", x) * (number(3) - x)
    return term, lambda: shaper.given


def _mass_truths(term: Term, low: float, high: float, given: dict[str, object]) -> list[Truth]:
    count = max(1, *(np.size(value) for value in given.values())) if given else 1
    columns = {key: np.broadcast_to(value, count).tolist() for key, value in given.items()}
    return [_mass_truth(term, low, high, {key: column[k] for key, column in columns.items()}) for k in range(count)]


def _mass_truth(term: Term, low: float, high: float, names: dict[str, float]) -> Truth:
    ends = {"low": low, "high": high}

    def f(t: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return term(Doubles, theta=t, **ends, **names) + 0.0 * t

    total = float(graded_integral(f, low, np.array(high)))
    return Truth(low, high, lambda t: graded_integral(f, low, t) / total, lambda t: f(t) / total, slack=1e-9)


def _good_pdf(rng: Generator) -> PlugIn:
    owners = int(rng.integers(3, 6)) if rng.random() < 0.3 else None
    term, given = _densities(rng, owners)
    low, high = float(rng.integers(0, 2)), 2.0 + float(rng.integers(0, 2)) / 2
    # an antiderivative need not be found in time, so these may be refused, but only for that
    return called(
        BORDERLINE if given() else GOOD,
        smq.from_pdf,
        term.text,
        low,
        high,
        **given(),
        truths=_mass_truths(term, low, high, given()),
    )


def _power_pdf(power: str) -> PlugIn:
    """A power, whose mass no quadrature would give to the last digits."""
    k = float(Fraction(power)) + 1.0
    truth = Truth(0.0, 1.0, lambda t: t**k, lambda t: k * t ** (k - 1.0))
    return called(BORDERLINE, smq.from_pdf, (THETA ** number(power)).text, 0.0, 1.0, truths=[truth])


def _borderline_pdf(rng: Generator) -> PlugIn:
    x, one = THETA, number(1)
    kind = rng.integers(6)
    if kind == 0:
        term = (x - number(f"1/{int(rng.integers(2, 6))}")) ** number(2)
    elif kind == 1:
        return _power_pdf(["-0.9", "-0.999", "-0.5", "60", "1/3"][rng.integers(5)])
    elif kind == 2:
        term = function("exp", number(-1) * x ** number(int(rng.integers(2, 5))))
    elif kind == 3:
        term = one + function("sin", function("exp", number(int(rng.integers(1, 3))) * x))
    elif kind == 4:
        term = one + function("cos", number(int(rng.integers(2, 40))) * x)
    else:
        term = function("exp", number(["50", "-300", "1e-9", "800"][rng.integers(4)]) * x)
    return called(BORDERLINE, smq.from_pdf, term.text, 0.0, 1.0, truths=_mass_truths(term, 0.0, 1.0, {}))


def _broken_pdf(rng: Generator) -> PlugIn:
    u, k = f"{rng.uniform(0.1, 0.9):.3f}", int(rng.integers(1, 5))
    fault: list[tuple[str, tuple[object, object], dict[str, object], tuple[str, ...]]] = [
        (f"theta - {u}", (0, 1), {}, ("must not be negative",)),
        (f"{u} - theta", (0, 1), {}, ("must not be negative",)),
        (f"-theta**{k}", (0, 1), {}, ("must not be negative",)),
        (f"sin({k + 6}*theta)", (0, 1), {}, ("must not be negative",)),
        (f"1 + {1 + float(u)}*cos({k * 2}*pi*theta)", (0, 1), {}, ("must not be negative",)),
        (f"(theta - {u})**2 - 0.0001", (0, 1), {}, ("must not be negative",)),
        ("0*theta", (0, 1), {}, ("must not be 0",)),
        ("theta - theta", (0, 1), {}, ("must not be 0",)),
        ("0", (0, 1), {}, ("must not be 0",)),
        (f"1/theta**{k}", (0, 1), {}, ("finite", "diverges")),
        ("theta**a", (0, 1), {"a": -1.0 - float(u)}, ("finite", "diverges", "law")),
        (f"1/(theta - {u})**2", (0, 1), {}, ("finite", "gives no law")),
        ("theta**a", (0, 1), {}, ("'a' is unknown",)),
        ("theta", (0, 1), {"a": 2.0}, ("does not use the parameter 'a'",)),
        ("theta**a", (0, 1), {"a": [1.0, float("nan")]}, ("owner 2",)),
        ("a - theta", (0, 1), {"a": [2.0, float(u)]}, ("law", "owner 2", "negative")),
        ("log(theta)", (0, 1), {}, ("must not be negative",)),
        (f"sqrt(theta - {u})", (0, 1), {}, ("pdf",)),
        ("1", (1, 1), {}, ("parameter 'high'",)),
        ("1", (-1, 1), {}, ("parameter 'low'",)),
        ("1", (0, 10**400), {}, ("parameter 'high'",)),
        ("1", (0, "x"), {}, ("parameter 'high'",)),
        ("theta/0", (0, 1), {}, ("not real and finite",)),
        ("exp(sin(exp(theta)))", (0, 1), {}, ("antiderivative",)),
    ]  # fmt: skip
    text, ends, given, words = fault[rng.integers(len(fault))]
    return called(BROKEN, smq.from_pdf, text, *ends, **given, words=words)


def pdf_texts(rng: Generator) -> PlugIn:
    """Formulas of densities."""
    return [_good_pdf, _borderline_pdf, _broken_pdf][rng.choice(3, p=[0.45, 0.25, 0.3])](rng)
