"""F and f of one owner's law as balls, from her exact parameters.

Where a law is a formula, the formula is what is evaluated; the floating-point code of the law is
not used. Rounding of ends that a unit of currency multiplies is enclosed: F at the ends need not be
a ball round 0 and 1, and `Totals` adds what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp
from flint import arb

from smqopt.algebra import THETA, parse
from smqopt.numeric import Ball, Floats, ball, bound_ball_function, count_calls, incomplete_gamma
from smqopt.valuation.composition._mixture import Mixture
from smqopt.valuation.composition._truncated import TruncatedLaw
from smqopt.valuation.copula._conditional import CopulaConditional
from smqopt.valuation.families._beta import Beta
from smqopt.valuation.families._gamma import Gamma
from smqopt.valuation.families._log_normal import LogNormal
from smqopt.valuation.families._triangular import Triangular
from smqopt.valuation.law._base import Rescaled, Valuation
from smqopt.valuation.law._external import is_foreign
from smqopt.valuation.table._copula_balls import ScoreLink
from smqopt.valuation.table._step_law import StepLaw, step_law


@dataclass(frozen=True)
class OwnerBalls:
    """F and f of one owner, strictly inside her support."""

    cdf: Callable[[Ball], Ball]
    pdf: Callable[[Ball], Ball]
    at_low: Ball
    """F(low): 0, or a ball that holds it where the ends are rounded."""
    at_high: Ball
    """F(high): 1, or a ball that holds it."""
    low_is_atom: bool = False
    """Whether F(low) > 0 is what sells at that price, and no rounding."""

    def __post_init__(self) -> None:
        """Count evaluations as work."""
        for name in ("cdf", "pdf"):
            object.__setattr__(self, name, count_calls(getattr(self, name)))

    @property
    def jumps(self) -> Ball:
        """At least what F jumps by at the ends, where rounding has moved them."""
        return abs(self.at_low) + abs(1 - self.at_high)

    def acceptance(self, theta: float, low: float, high: float) -> Ball:
        """Enclose F(θ) for θ in [low, high]; NaN elsewhere."""
        if theta == low:
            return self.at_low if self.at_low == 0 or self.low_is_atom else self.at_low.union(arb(0)).nonnegative_part()
        if theta == high:
            return self.at_high if self.at_high == 1 else self.at_high.union(arb(1))
        return self.cdf(arb(theta)) if low < theta < high else arb("nan")


BallLaw = Callable[[int], OwnerBalls]
"""Gives the balls of an owner by her place in the law, from 0."""


def ball_law(law: Valuation) -> BallLaw | str:
    """Return F and f of a law's owners as balls, or why that cannot be.

    Parameters
    ----------
    law
        A law of one family with a density; common, or one an owner.
    """
    if is_foreign(law):
        return f"the {law.name} law comes from outside the package"
    if isinstance(law, Rescaled):
        return _rescaled_law(law)
    if law.formula:
        return _formula_law(law)
    if isinstance(law, Mixture):
        return _mixture(law)
    if isinstance(law, TruncatedLaw):
        return _truncated_law(law)
    if isinstance(law, CopulaConditional):
        return _copula_law(law)
    if (table := step_law(law)) is not None:
        return _table_law(*table)
    for kind, maker in _FAMILIES.items():
        if isinstance(law, kind):
            given = tuple(law.arguments.values())
            return lambda owner: maker(*(arb(number_of(value, owner)) for value in given))
    return f"the {law.name} law has no cdf that ball arithmetic could evaluate"


def number_of(value: float | Floats, owner: int) -> float:
    """Return an owner's own of a parameter that is one for all, or one an owner."""
    return float(value[owner]) if isinstance(value, np.ndarray) else float(value)


def _regular(cdf: Callable[[Ball], Ball], pdf: Callable[[Ball], Ball]) -> OwnerBalls:
    """Return the balls of a law whose ends are exact."""
    return OwnerBalls(cdf, pdf, arb(0), arb(1))


# --- laws with a formula --------------------------------------------------------------------------


_Bound = Callable[..., Callable[[Ball], Ball]]


@lru_cache(maxsize=256)
def _functions(formula: str, names: tuple[str, ...]) -> tuple[_Bound, _Bound]:
    """Return F and f of a formula, for all values of its parameters."""
    theta, *symbols = (
        sp.Dummy(name) for name in ("theta", *names)
    )  # of which nothing is assumed: they are to be evaluated alone
    F = parse(formula, dict(zip(names, symbols, strict=True)), "the law of a proof").xreplace({THETA: theta})
    return bound_ball_function(F, [theta, *symbols]), bound_ball_function(sp.diff(F, theta), [theta, *symbols])


@lru_cache(maxsize=256)
def _ends(formula: str, names: tuple[str, ...], values: tuple[float, ...]) -> tuple[bool, bool]:
    """Return whether F(low) = 0 and F(high) = 1 exactly, by SymPy."""
    symbols = {name: sp.Dummy(name) for name in names}
    F = parse(formula, symbols, "the law of a proof")
    if any(power.base is not sp.E and not power.exp.is_Integer for power in F.atoms(sp.Pow)):
        return False, False  # roots of long numbers may take SymPy for ever
    exact = {symbols[name]: sp.Rational(*value.as_integer_ratio()) for name, value in zip(names, values, strict=True)}
    low, high = (F.xreplace({**exact, THETA: exact[symbols[end]]}) for end in ("low", "high"))
    return low == 0, high == 1


def _formula_law(law: Valuation) -> BallLaw:
    names = law.parameters
    exact = law.ends_are_symbols and not isinstance(
        law, Mixture
    )  # whose weights need not add up to 1 to the last digit
    F, f = _functions(law.formula, names)
    found = (
        (False, False)
        if law.size is not None or exact
        else _ends(law.formula, names, tuple(number_of(law.arguments[name], 0) for name in names))
    )

    given = tuple(law.arguments.values())

    def of(owner: int) -> OwnerBalls:
        values = [arb(number_of(value, owner)) for value in given]
        cdf, pdf = F(*values), f(*values)
        low, high = (arb(number_of(end, owner)) for end in (law.low, law.high))
        ends = (
            arb(0) if exact or found[0] else cdf(low),
            arb(1) if exact or found[1] else cdf(high),
        )
        return OwnerBalls(cdf, pdf, *ends)

    return of


# --- laws made of laws ----------------------------------------------------------------------------


def _rescaled_law(law: Rescaled) -> BallLaw | str:
    inner, factor = ball_law(law.law), law.factor
    if isinstance(inner, str):
        return inner

    def of(owner: int) -> OwnerBalls:
        balls, c = inner(owner), arb(factor)
        return OwnerBalls(lambda t: balls.cdf(t / c), lambda t: balls.pdf(t / c) / c, balls.at_low, balls.at_high)

    return of


def _mixture(law: Mixture) -> BallLaw | str:
    inner = [ball_law(part) for part in law.laws]
    for found in inner:
        if isinstance(found, str):
            return found
    sells_at_low = law.is_atom(np.broadcast_to(law.low, law.size or 1))

    def of(owner: int) -> OwnerBalls:
        weights = [arb(w) for w in law.weights.tolist()]
        total = sum(weights, arb(0))
        parts = [
            (w / total, found(owner), number_of(part.low, owner), number_of(part.high, owner))
            for w, found, part in zip(weights, inner, law.laws, strict=True)
            if not isinstance(found, str)
        ]
        bottom, has_atom = number_of(law.low, owner), bool(sells_at_low[owner if law.size else 0])

        def cdf(t: Ball) -> Ball:
            return sum((w * _whole_cdf(t, low, high, balls) for w, balls, low, high in parts), arb(0))

        def pdf(
            t: Ball,
        ) -> Ball:  # where a law begins or ends, the density above: a slope of C between those on either side
            return sum((w * _by_side(t, low, high, arb(0), balls.pdf, arb(0)) for w, balls, low, high in parts), arb(0))

        return OwnerBalls(cdf, pdf, cdf(arb(bottom)) if has_atom else arb(0), arb(1), has_atom)

    return of


def _whole_cdf(t: Ball, low: float, high: float, balls: OwnerBalls) -> Ball:
    """Return F of a part of a mixture at any price, its atoms included."""
    if balls.low_is_atom and t == low:
        return arb(1) if low == high else balls.at_low
    return _by_side(t, low, high, arb(0), balls.cdf, arb(1))


def _table_law(tables: Sequence[StepLaw], which: Callable[[int], int]) -> BallLaw:
    def of(owner: int) -> OwnerBalls:
        table = tables[which(owner)]
        return OwnerBalls(
            table.cdf_of_ball, table.pdf_of_ball, ball(table.cdf(table.low[0])), arb(1), not table.width[0]
        )

    return of


def _by_side(t: Ball, low: float, high: float, below: Ball, within: Callable[[Ball], Ball], above: Ball) -> Ball:
    """Return what holds below, within or above the ends; NaN where open."""
    if t <= low:
        return below
    if t >= high:
        return above
    return within(t) if low < t < high else arb("nan")


def _truncated_law(law: TruncatedLaw) -> BallLaw | str:
    inner = ball_law(law.law)
    if isinstance(inner, str):
        return inner

    def of(owner: int) -> OwnerBalls:
        whole, low, high = inner(owner), number_of(law.low, owner), number_of(law.high, owner)
        ends = number_of(law.law.low, owner), number_of(law.law.high, owner)
        bottom = whole.at_low if low <= ends[0] else whole.cdf(arb(low))
        top = whole.at_high if high >= ends[1] else whole.cdf(arb(high))
        mass = top - bottom
        return OwnerBalls(lambda t: (whole.cdf(t) - bottom) / mass, lambda t: whole.pdf(t) / mass, arb(0), arb(1))

    return of


def _copula_law(law: CopulaConditional) -> BallLaw | str:
    inner = ball_law(law.valuation)
    if isinstance(inner, str):
        return inner
    if law.valuation.has_atoms:
        return "a law with atoms under a copula has no cdf that ball arithmetic could evaluate"

    def of(owner: int) -> OwnerBalls:
        marginal, link = inner(owner), ScoreLink.of(law.correlation, number_of(law.score, owner))
        low = arb(0) if marginal.at_low == 0 else link.cdf(marginal.at_low)
        high = arb(1) if marginal.at_high == 1 else link.cdf(marginal.at_high)
        return OwnerBalls(
            lambda t: link.cdf(marginal.cdf(t)), lambda t: link.pdf(marginal.cdf(t), marginal.pdf(t)), low, high
        )

    return of


# --- laws by name that are no one formula ---------------------------------------------------------


def _triangular(low: Ball, mode: Ball, high: Ball) -> OwnerBalls:
    left, right, width = mode - low, high - mode, high - low

    def rising(t: Ball) -> tuple[Ball, Ball]:
        return (t - low) ** 2 / (width * left), 2 * (t - low) / (width * left)

    def falling(t: Ball) -> tuple[Ball, Ball]:
        return 1 - (high - t) ** 2 / (width * right), 2 * (high - t) / (width * right)

    def both(t: Ball) -> tuple[Ball, Ball]:
        return rising(t) if t < mode else falling(t) if t >= mode else (arb("nan"), arb("nan"))

    return _regular(lambda t: both(t)[0], lambda t: both(t)[1])


def _beta(a: Ball, b: Ball, low: Ball, high: Ball) -> OwnerBalls:
    width, constant = high - low, ((a + b).lgamma() - a.lgamma() - b.lgamma()).exp()

    def cdf(t: Ball) -> Ball:
        return ((t - low) / width).beta_lower(a, b, regularized=1)

    def pdf(t: Ball) -> Ball:
        return constant * ((t - low) / width) ** (a - 1) * ((high - t) / width) ** (b - 1) / width

    return _regular(cdf, pdf)


def _gamma(shape: Ball, scale: Ball, low: Ball, high: Ball) -> OwnerBalls:
    def mass_below(t: Ball) -> Ball:
        return arb(0) if t == 0 else incomplete_gamma(shape, t / scale)

    bottom = mass_below(low)
    mass = mass_below(high) - bottom
    constant = shape.lgamma()

    def pdf(t: Ball) -> Ball:
        return ((shape - 1) * (t / scale).log() - t / scale - constant).exp() / scale / mass

    return _regular(lambda t: (mass_below(t) - bottom) / mass, pdf)


def _log_normal(mu: Ball, sigma: Ball, low: Ball, high: Ball) -> OwnerBalls:
    root = sigma * arb(2).sqrt()

    def mass_below(t: Ball) -> Ball:
        return arb(0) if t == 0 else ((mu - t.log()) / root).erfc()

    bottom = mass_below(low)
    mass = mass_below(high) - bottom

    def pdf(t: Ball) -> Ball:
        z = (t.log() - mu) / root
        return 2 * (-z * z).exp() / (arb.pi().sqrt() * root * t) / mass

    return _regular(lambda t: (mass_below(t) - bottom) / mass, pdf)


_FAMILIES: dict[type[Valuation], Callable[..., OwnerBalls]] = {
    Triangular: _triangular,
    Beta: _beta,
    Gamma: _gamma,
    LogNormal: _log_normal,
}
