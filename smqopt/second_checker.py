"""A second checker of proved certificates, which shares nothing with the package that made them.

It reads `certificate.json` and `thresholds.csv` of a folder, takes every double for the exact number it is, and proves again in ball arithmetic
(python-flint) that the thresholds lie in their supports, keep the budget, and buy all but the stated gap of what any mechanism can buy (weak duality).
Regularity it proves by rules of its own, family by family, or by the roots of a polynomial. It imports the standard library and python-flint alone.

    python second_checker.py FOLDER

says "proved" (exit code 0), "refused" and why (1), or "not checked" and why (3): lotteries, side constraints, laws that are not regular, laws
without an elementary cdf, and certificates that do not claim to be proved are not checked.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import math
import struct
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb, arb_poly, ctx, fmpq, fmpq_poly

GAP, RECHECK, ACCEPTANCE, SHORTFALL, STATIONARITY = 1e-10, 1e-12, 2.0**-48, 1e-12, 1e-10
"""Largest gap, disagreement of claims, |q − F|, and share of the budget left; and how far ε may be from λJ(θ), relative to ε."""
PRECISIONS = (128, 256, 512, 1024, 2048)
LIMITS = {"acceptance": 2.0**-50, "gap": GAP, "threshold": 1e-9, "price": 1e-9, "closed form": 1e-9}
"""Tolerances that a certificate may state."""
ALWAYS = {"well formed", "fingerprint", "support", "acceptance", "budget", "status", "side constraints", "gap"}
DUAL = {
    "BINDING": {"threshold", "price", "budget spent"},
    "SLACK": {"threshold", "price"},
    "ZERO_BUDGET": {"threshold"},
}
"""Checks that must have passed: of every certificate, and of one whose thresholds the price search found, by status."""
COLUMNS = ("epsilon", "threshold", "acceptance")
# ruff: noqa: D103


class Refused(Exception):  # noqa: N818, D101
    pass


class NotChecked(Exception):  # noqa: N818, D101
    pass


def need(holds: object, why: str) -> None:
    """Refuse unless something holds for certain."""
    if holds is not True:
        raise Refused(why)


def triangular(t: Any, low: Any, mode: Any, high: Any) -> tuple[Any, Any]:
    if t <= mode:
        return (t - low) ** 2 / ((high - low) * (mode - low)), (t - low) / 2
    whole, left = (high - low) * (high - mode), high - t
    return 1 - left**2 / whole, (whole - left**2) / (2 * left)


def kumaraswamy(t: Any, a: Any, b: Any, low: Any, high: Any) -> tuple[Any, Any]:
    x = ((t - low) / (high - low)) ** a
    return 1 - (1 - x) ** b, (t - low) * (1 - (1 - x) ** b) / (a * b * x * (1 - x) ** (b - 1))


def beta(t: Any, a: Any, b: Any, low: Any, high: Any) -> tuple[Any, Any]:
    x, size = (t - low) / (high - low), (a.lgamma() + b.lgamma() - (a + b).lgamma()).exp()
    F = x.beta_lower(a, b, regularized=1)
    return F, F * size * (high - low) / (x ** (a - 1) * (1 - x) ** (b - 1))


def bell(z: Any) -> Any:
    return (-z * z / 2).exp() / (2 * arb.pi()).sqrt()


def below(z: Any) -> Any:
    return (-z / arb(2).sqrt()).erfc() / 2


def cut(G: Any, g: Any) -> Any:
    """Give θ → (F, F/f) of a law with cdf G and density g, truncated to its support; G(0) = 0 where the law is of positive numbers."""

    def function(t: Any, one: Any, two: Any, low: Any, high: Any) -> tuple[Any, Any]:
        start, at, end = (arb(G(s, one, two)) for s in (low, t, high))
        return (at - start) / (end - start), (at - start) / g(t, one, two)

    return function


# fmt: off
FAMILIES: dict[str, tuple[str, Any, Any]] = {  # name: parameters; θ → (F, F/f); what makes J = θ + F/f rise
    "uniform": ("low high", lambda t, a, b: ((t - a) / (b - a), t - a), lambda *_: True),
    "power": ("k low high", lambda t, k, a, b: (((t - a) / (b - a)) ** k, (t - a) / k), lambda k, *_: k > 0),
    # F/f is a difference of exponentials, or of powers, that rises
    "truncated-exponential": ("rate low high", lambda t, r, a, b: (
        (r * (a - t)).expm1() / (r * (a - b)).expm1(), (r * (t - a)).expm1() / r), lambda r, *_: r > 0),
    "pareto": ("a low high", lambda t, k, a, b: (
        (1 - (a / t) ** k) / (1 - (a / b) ** k), t * ((t / a) ** k - 1) / k), lambda k, a, _: k > 0 and a > 0),
    # log-concave densities, truncated or not, have a log-concave F (Prékopa 1973), and then F/f does not fall
    "triangular": ("low mode high", triangular, lambda a, mode, b: a <= mode <= b),
    "normal": ("mean sd low high", cut(
        lambda s, m, d: below((s - m) / d), lambda t, m, d: bell((t - m) / d) / d), lambda _, d, *__: d > 0),
    "logistic": ("mean scale low high", cut(
        lambda s, m, c: 1 / (1 + ((m - s) / c).exp()), lambda t, m, c: 1 / (4 * c * ((t - m) / (2 * c)).cosh() ** 2)),
        lambda _, c, *__: c > 0),
    # log Φ is concave and rises, log θ is concave
    "log-normal": ("mu sigma low high", cut(
        lambda s, m, d: below((s.log() - m) / d) if s > 0 else 0, lambda t, m, d: bell((t.log() - m) / d) / (d * t)),
        lambda _, d, *__: d > 0),
    # log-concave where the first shape is ≥ 1; below, a density that does not rise, so J′ = 2 − F f′/f² ≥ 2
    "weibull": ("shape scale low high", cut(
        lambda s, k, c: -(-((s / c) ** k)).expm1() if s > 0 else 0, lambda t, k, c: k / t * (t / c) ** k * (-((t / c) ** k)).exp()),
        lambda k, c, *_: k > 0 and c > 0),
    "gamma": ("shape scale low high", cut(
        lambda s, k, c: (s / c).gamma_lower(k, regularized=1) if s > 0 else 0,
        lambda t, k, c: ((k - 1) * (t / c).log() - t / c - k.lgamma()).exp() / c), lambda k, c, *_: k > 0 and c > 0),
    "kumaraswamy": ("a b low high", kumaraswamy, lambda a, b, *_: a > 0 and b >= 1),
    "beta": ("a b low high", beta, lambda a, b, *_: a > 0 and b >= 1),
}
# fmt: on


def polynomial(text: str, values: dict[str, Fraction]) -> Any:
    """Read a formula as a polynomial in theta; its numbers are exact, decimals too."""

    def read(node: Any) -> Any:
        match node:
            case ast.Constant():
                return constant(Fraction(ast.get_source_segment(text, node) or ""))
            case ast.Name(id=name):
                return fmpq_poly([0, 1]) if name == "theta" else constant(values[name])
            case ast.UnaryOp(op=ast.USub()):
                return -read(node.operand)
            case ast.BinOp():
                left, right = read(node.left), read(node.right)
                match node.op:
                    case ast.Add():
                        return left + right
                    case ast.Sub():
                        return left - right
                    case ast.Mult():
                        return left * right
                    case ast.Div() if right.degree() == 0:
                        return left * constant(1 / Fraction(int(right[0].p), int(right[0].q)))
                    case ast.Pow() if right.degree() <= 0 and right[0].q == 1 and 0 <= right[0].p <= 64:
                        return left ** int(right[0].p)
        raise NotChecked("a cdf that is no polynomial")

    return read(ast.parse(text, mode="eval").body)


def constant(x: Fraction) -> Any:
    return fmpq_poly([fmpq(x.numerator, x.denominator)])


def positive_inside(p: Any, low: Fraction, high: Fraction) -> bool:
    """Prove p > 0 on (low, high): it is so in the middle, and has no root there once those at the ends are divided out."""
    a, b = (fmpq(end.numerator, end.denominator) for end in (low, high))
    for end in (fmpq_poly([-a, 1]), fmpq_poly([b, -1])):
        while p.degree() > 0 and divmod(p, end)[1] == fmpq_poly([0]):
            p = divmod(p, end)[0]
    whole = arb(a).union(arb(b))
    roots = p.numer().complex_roots() if p.degree() > 0 else []
    return bool(p((a + b) / 2) > 0) and all(root.imag != 0 or not root.real.overlaps(whole) for root, _ in roots)


def law_of(table: Any, size: int) -> Any:
    """Give, for the place of an owner, the ends of her support and θ → (F, F/f), after proving that her law is regular."""
    text, name = table.get("cdf"), table.get("law")
    if (text is None and name not in FAMILIES) or "unit" in table:
        raise NotChecked(f"the law {name or 'with a unit of its own'!r}")
    names = (set(table) - {"cdf"}) if text is not None else FAMILIES[name][0].split()
    need(set(table) - {"cdf", "law"} == set(names) and not (text and name), "the parameters of a law")
    for value in (table[key] for key in names):
        rows = value if isinstance(value, list) else [value] * size
        need(len(rows) == size and all(type(x) is float and math.isfinite(x) for x in rows), "a parameter of a law")

    def own(place: int) -> tuple[float, float, Any]:
        values = {key: table[key][place] if isinstance(table[key], list) else table[key] for key in names}
        key = (ctx.prec, *values.values())
        if key not in known:
            need(0 <= values["low"] < values["high"], "a support")
            known[key] = (formula if text is not None else family)(values)
        return values["low"], values["high"], known[key]

    def family(values: dict[str, float]) -> Any:
        _, function, rule = FAMILIES[name]
        if not rule(*values.values()):
            raise NotChecked("a law that no rule here proves regular")
        balls = [arb(x) for x in values.values()]
        return lambda t: function(t, *balls)

    def formula(values: dict[str, float]) -> Any:
        exact = {key: Fraction(value) for key, value in values.items()}
        F, low, high = polynomial(text, exact), exact["low"], exact["high"]
        f = F.derivative()
        need(F(fmpq(low.numerator, low.denominator)) == 0 and F(fmpq(high.numerator, high.denominator)) == 1, "a cdf")
        if not all(positive_inside(p, low, high) for p in (f, 2 * f * f - F * f.derivative())):
            raise NotChecked("a polynomial that is not proved to be a regular law here")
        cdf: Any = arb_poly(F)
        pdf: Any = arb_poly(f)
        return lambda t: (cdf(t), cdf(t) / pdf(t))

    known: dict[Any, Any] = {}
    return own


def laws(table: Any, n: int) -> list[tuple[Any, int]]:
    """Give each owner's law and her place in it."""
    if table.get("law") != "by-owner":
        law = law_of(table, n)
        return [(law, i) for i in range(n)]
    found: dict[int, Any] = {}
    for part in table["parts"]:
        law = law_of(part["valuation"], len(part["owners"]))
        found |= {owner: (law, place) for place, owner in enumerate(part["owners"])}
    need(
        sorted(found) == list(range(n)) and sum(len(part["owners"]) for part in table["parts"]) == n,
        "the owners of laws",
    )
    return [found[i] for i in range(n)]


def digest(content: dict[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()).hexdigest()


def doubles(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def number(x: Any) -> float:
    need(type(x) in (int, float) or x == "inf", "a number of the certificate")  # "inf": the price of a zero budget
    return float(x)


def column(table: dict[str, list[str]], name: str) -> list[float]:
    values = [float(x) for x in table[name]]
    need(all(map(math.isfinite, values)), f"the column {name!r}")
    return values


def fingerprints(solution: Any, table: dict[str, list[str]], columns: list[list[float]]) -> tuple[str, str]:
    """Hash the market, and all that a certificate covers."""
    epsilon, *answers = columns
    market = hashlib.sha256(b"smqopt market 1\n" + doubles(epsilon))
    market.update(json.dumps(solution["valuation"], sort_keys=True, allow_nan=False).encode())
    named = table["owner"] != [str(i + 1) for i in range(len(epsilon))]
    market.update(b"\nids\n" + (json.dumps(table["owner"]).encode() if named else b""))
    counts = table.get("multiplicity")
    market.update(b"\nmultiplicity\n" + (json.dumps([int(x) for x in counts]).encode() if counts else b""))
    for name, labels in table.items():
        if name.startswith("group:"):
            market.update(f"\ngroup {name.removeprefix('group:')}\n{json.dumps(labels)}".encode())
    whole = hashlib.sha256(b"smqopt certificate 1\n" + market.hexdigest().encode())
    price = number(solution["budget_price"])
    whole.update(f"\n{solution['budget']!r} {price!r} {solution['status']} {solution['solver']}\n".encode())
    for values in answers:
        whole.update(f"\nfloat64 ({len(values)},)\n".encode() + doubles(values))
    return market.hexdigest(), whole.hexdigest()


def check_claims(content: Any, table: dict[str, list[str]], columns: list[list[float]], gap_tolerance: float) -> None:
    """Refuse files that contradict themselves; give up on those that claim something else than this checker judges."""
    solution, budget = content["solution"], content["budget"]
    if content["grade"] != "proved" or content["valid"] is not True:
        raise NotChecked("a certificate that does not claim to be proved")
    if {"records", "objective"} & set(solution) or solution["constraints"] or "lottery:" in "".join(table):
        raise NotChecked("lotteries, side constraints or another objective")
    need([content["format"], solution["format"]] == ["smqopt certificate 1", "smqopt solution 1"], "the format")
    need(content["digest"] == digest(content), "the certificate was changed after it was written")
    need(content["gap_tolerance"] == gap_tolerance and number(content["gap"]) <= gap_tolerance, "the gap")
    need(
        content["reasons"] == content["unproved"] == [] and content["prove"] is not False, "reasons against its verdict"
    )
    need(type(budget) is float and 0 <= budget < math.inf and solution["budget"] == budget, "the budget")
    prints = (solution["market_fingerprint"], content["fingerprint"])
    need(prints == fingerprints(solution, table, columns), "a fingerprint")
    need(solution["owners"] == len(columns[0]) == len(set(table["owner"])), "the owners")
    for name, values in zip(COLUMNS, columns, strict=True):
        said = content["columns"][name]
        same = said["sha256"] == hashlib.sha256(doubles(values)).hexdigest() and said.get("values", values) == values
        need(same, f"the column {name!r}")
    epsilon, thresholds, acceptance = columns
    need(min(epsilon) >= 0 and min(acceptance) >= 0 and max(acceptance) <= 1, "a requirement or an acceptance")
    need(column(table, "spend") == [t * q for t, q in zip(thresholds, acceptance, strict=True)], "the spend")
    need(table["offer"] == ["yes" if q > 0 else "no" for q in acceptance], "the offers")
    checks = {one["name"]: one for one in content["checks"]}
    must = ALWAYS | (DUAL.get(solution["status"], set()) if solution["solver"] == "dual" else set())
    need(len(checks) == len(content["checks"]) and must <= set(checks), "the checks")
    for name, one in checks.items():
        good = one["passed"] is True and one["required"] is True
        need(good or name not in must, f"the check {name!r}")
        if good:
            need(number(one["value"]) <= number(one["tolerance"]) <= LIMITS.get(name, math.inf), f"the check {name!r}")


def top(own: Any, e: Any, price: Any, t: float, low: float, high: float) -> Any:
    """Bound max_q {ε q − λ C(q)}: by what the low end leaves, by the line that touches at t, or by two lines."""
    bound = e - price * low
    if bound <= 0 or t <= low:
        return bound.max(arb(0))
    t = min(t, math.nextafter(high, low))
    F, rent = own(arb(t))
    slope, value = e - price * (t + rent), F * (e - price * t)
    line = value + (slope * (1 - F)).max(-slope * F)
    step, up = math.ulp(t), bool(slope > 0)
    while not line - value <= e * 2.0**-50 and (up or slope < 0) and low < (s := t + step if up else t - step) < high:
        q, more = own(arb(s))
        second = e - price * (s + more)
        if second <= 0 if up else second >= 0:
            line = line.min(value + slope * (q - F))
            break
        step *= 4
    return bound.min(line) if line.is_finite() else bound


def check_sums(content: Any, owners: Any, columns: list[list[float]], counts: list[int], gap_tolerance: float) -> str:
    """Prove the claims at the precision of the context; give what was not proved, or nothing."""
    solution, proof, budget = content["solution"], content["proof"], content["budget"]
    price, dual = number(solution["budget_price"]), solution["solver"] == "dual"
    lam, gaps = arb(price if price < math.inf else 0), []
    privacy, spend, every, grain, tops = (arb(0) for _ in range(5))

    def sure(holds: bool, why: str) -> None:
        if not holds:
            gaps.append(why)

    for (law, place), e, t, q, m in zip(owners, *columns, counts, strict=True):
        low, high, own = law(place)
        above = min(math.nextafter(t, math.inf), high)
        F, G = (arb(0) if s <= low else arb(1) if s >= high else own(arb(s))[0] for s in (t, above))
        sure(low <= t <= high, "a threshold in its support")
        sure(abs(F - q) <= ACCEPTANCE, "an acceptance that is F(θ)")
        bought = m * (F if q > 0 else arb(0))
        privacy, spend = privacy + arb(e) * bought, spend + arb(t) * bought
        if e > 0:
            every, grain = every + arb(m) * high, grain + m * (math.ulp(t) * F + above * (G - F))
            tops += m * (arb(e) if price == 0 else top(own, arb(e), lam, t, low, high) if price < math.inf else arb(0))
        if dual and 0 < price < math.inf:  # λJ just below θ is at most ε, and just above at least that
            least, most = (arb(t + step * math.ulp(t)) for step in (-8, 8))
            fair = not least > low or (least + own(least)[1]) * lam <= arb(e) * (1 + STATIONARITY)
            sure(
                fair and (not most < high or (most + own(most)[1]) * lam >= arb(e) * (1 - STATIONARITY)),
                "a threshold that its price asks for",
            )
    bound = lam * budget + tops
    gap = (bound - privacy) / bound if bound > 0 else abs(bound - privacy)
    sure(spend <= budget, "a spend within the budget")
    sure(gap <= gap_tolerance, "a gap within its tolerance")
    status = "ZERO_BUDGET" if budget == 0 else "SLACK" if every <= budget else "BINDING" if every > budget else "open"
    priced = {"ZERO_BUDGET": price == math.inf, "SLACK": price == 0, "BINDING": 0 < price < math.inf}
    sure(solution["status"] == status and priced.get(status, False), "the status")
    if dual and status == "BINDING":
        sure(budget - spend <= SHORTFALL * arb(budget) + 2 * grain, "a budget that is spent where it binds")
    claims = [(x, privacy, privacy) for x in (content["lower_bound"], *proof["purchased_privacy"])]
    claims += [(x, bound, bound) for x in (content["upper_bound"], proof["upper_bound"])]
    claims += [(content["gap"], gap, arb(1)), *((x, spend, arb(budget)) for x in proof["spend"])]
    for claim, found, scale in claims:
        sure(abs(arb(number(claim)) - found) <= RECHECK * abs(scale), "a bound that is what the files give")
    sure(number(proof["spend"][0]) <= number(proof["spend"][1]) <= budget, "a spend that was proved")
    return "; ".join(dict.fromkeys(gaps))


def check(folder: str | Path, gap_tolerance: float = GAP) -> tuple[str, str]:
    """Give the verdict on a folder, "proved", "refused" or "not checked", and why."""
    before = ctx.prec
    try:
        content = json.loads((Path(folder) / "certificate.json").read_text(encoding="utf-8"))
        with (Path(folder) / "thresholds.csv").open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = [row for row in csv.reader(stream) if row]
        need(len(set(header)) == len(header) and len(rows) > 0, "a column that stands twice, or no owner")
        table = {name: list(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)}
        columns = [column(table, name) for name in COLUMNS]
        counts = [int(x) for x in table.get("multiplicity", ["1"] * len(rows))]
        need(min(counts) >= 1, "a multiplicity")
        check_claims(content, table, columns, gap_tolerance)
        owners = laws(content["solution"]["valuation"], len(rows))
        for ctx.prec in PRECISIONS:
            left = check_sums(content, owners, columns, counts, gap_tolerance)
            if not left:
                return "proved", f"{len(owners)} rows, {ctx.prec} bits"
        return "refused", f"not proved with {PRECISIONS[-1]} bits: {left}"
    except (Refused, NotChecked) as error:
        return "refused" if isinstance(error, Refused) else "not checked", str(error)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, SyntaxError, csv.Error) as error:
        return "refused", f"files that cannot be read: {error!r}"
    finally:
        ctx.prec = before


if __name__ == "__main__":
    answer = check(sys.argv[1] if len(sys.argv) > 1 else ".")
    sys.stdout.write(": ".join(answer) + "\n")
    sys.exit({"proved": 0, "refused": 1, "not checked": 3}[answer[0]])
