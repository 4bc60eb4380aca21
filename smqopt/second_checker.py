"""Prove certificates again, alone: `python second_checker.py FOLDER`.

Take every double of `certificate.json` and `thresholds.csv` for the exact number it is, and prove in ball arithmetic
(python-flint) that the thresholds lie in their supports, keep the budget, and buy all but the stated gap of what any
mechanism can buy (weak duality). That J = θ + F/f rises is known of some families, and proved of other laws; no law
needs it whose prices are listed. Of a program, all records are read anew, and its multipliers bound it, whatever they
are. Verdicts: "proved" (exit code 0), "refused" and why (1), "not checked" and why (3): other objectives, rows that
hold at one point alone, laws not proved regular here, certificates that do not claim to be proved.
"""

from __future__ import annotations

import ast
import bisect
import collections
import csv
import functools
import hashlib
import json
import math
import operator
import struct
import sys
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from flint import arb, arb_poly, arb_series, ctx, fmpq

GAP, RECHECK, ACCEPTANCE, SHORTFALL = 1e-10, 1e-12, 2.0**-48, 1e-12  # claims, |q − F|, share of a budget left
SMALL, TIGHT, STATIONARITY, UNIT = 2.0**-80, 2.0**-50, 1e-10, 2.0**-52  # left out at an end; of tangents; of ε; at 1
PRECISIONS, BITS, MOST = (128, 256, 512, 1024, 2048), 320, 4_000  # bits of sums and of proofs that J rises; pieces
LIMITS = {"acceptance": 2.0**-50, "threshold": 1e-9, "price": 1e-9, "closed form": 1e-9}  # of checks
ALWAYS = {"well formed", "fingerprint", "support", "acceptance", "budget", "status", "side constraints", "gap"}
OTHERS = ["threshold", "price", "budget spent", "regularity", "stationarity", "closed form", "proof"]
RESPONSE = {"BINDING": {*OTHERS[:3]}, "SLACK": {*OTHERS[:2]}, "ZERO_BUDGET": {*OTHERS[:1]}}  # must pass
ROW, SIDES = 1e-10, ("constraint: ", "bounds of acceptance", "price lists", "common prices")  # of rows; checks
FREE = (0.0, 1.0, 0.0, math.inf)  # acceptances, and prices, where no record says more
COLUMNS, MARKED = ("epsilon", "threshold", "acceptance", "spend"), [*"=+-@\t\r\n＝＋－＠"]  # of formulas
UNCHECKED = "versions, agreement, conflict, solver, prove, tables; here also words of constraints, texts and values of checks, other checks, rules"
TOLERANCES = "3e4a45d2c6f4111ca2727719e42e2b343527e3f64dd55cbb3fe9c0597396ac86"  # as they must be
KEYS = {  # of the parts of a certificate: others are refused
    "": "format valid grade unproved lower_bound upper_bound gap gap_tolerance budget checks reasons proof tolerances "
    "fingerprint columns solution unchecked digest",
    "solution": "format owners valuation budget budget_price status claims_response constraints market_fingerprint",
    "proof": "purchased_privacy spend upper_bound bits regularity",
    "checks": "name passed value tolerance norm note required",
    "unchecked": "versions agreement conflict solver prove tables",
}
Ball = Any  # an arb, or an arb_series: the library carries no types
# ruff: noqa: D102, D103, E731, N818
# fmt: off

class Verdict(Exception):
    """Say what a folder is."""
def need(holds: object, why: str, verdict: str = "refused", value: Any = None) -> Any:
    if holds is not True:
        raise Verdict(verdict, why)
    return value

def ball(x: Fraction) -> Ball: return arb(fmpq(x.numerator, x.denominator))
def over(x: Ball, y: Ball) -> Ball:  # not finite where y may be 0
    return x / y if isinstance(y, arb) and isinstance(x, arb) else x * (1 / y if isinstance(y, arb) else y.inv())
def power(x: Ball, y: Ball) -> Ball:
    if isinstance(y, arb) and y.is_exact() and (whole := y.unique_fmpz()) is not None and abs(whole) <= MOST:
        return x ** int(whole) if whole >= 0 else over(arb(1), x ** -int(whole))
    if isinstance(x, arb) and isinstance(y, arb) and y > 0 and abs(x.lower()) * 2**20 <= x.upper():  # ≥ 0, rounded
        return x if x == 0 else arb(0).union((y * x.upper().log()).exp())
    return (y * x.log()).exp()
def special(cdf: Any, x: Ball, log_f: Ball, *shapes: Ball) -> Ball:  # of a ball; of a series by its density
    if isinstance(x, arb):
        return cdf(x, *shapes)
    low, high = (cdf(end, *shapes) for end in (x[0].lower(), x[0].upper()))
    return low.union(high) + (log_f.exp() * x.derivative()).integral()

def gamma_lower(x: Ball, s: Ball) -> Ball:  # for large shapes by a series of positive terms, as arb's own is slow
    term = total = arb(1)
    for m in range(1, 25 * MOST if s > 32 and 0 < x < 2 * s else 1):
        ratio = x / (s + m)
        term, total = term * ratio, total + term * ratio
        if ratio < 1 and term < total * arb(2) ** -(ctx.prec + 4):
            rest = arb(0).union(term * ratio / (1 - ratio))
            return (total + rest) * (s * x.log() - x - (s + 1).lgamma()).exp()
    return arb("nan") if s > 32 and 0 < x < 2 * s else x.gamma_lower(s, regularized=1)
def sign(x: Ball) -> Ball:  # not finite where that is open, nor of a series at 0
    y = x if isinstance(x, arb) else x[0]
    return arb(1) if y > 0 else arb(-1) if y < 0 else arb(0) if y == 0 and y is x else arb("nan")
def log_beta(a: Ball, b: Ball) -> Ball: return a.lgamma() + b.lgamma() - (a + b).lgamma()
def beta_lower(x: Ball, a: Any, b: Any) -> Ball: return x.beta_lower(a, b, regularized=1)

FUNCTIONS = {  # that any formula may call
    **{name: operator.methodcaller(name) for name in ("exp", "log", "sin", "cos", "tan", "atan", "asin", "acos", "erf")},
    "sign": sign,
    "abs": lambda x: x * sign(x),
    "sqrt": lambda x: power(x, arb(0.5)),
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2,
    "tanh": lambda x: 1 - over(arb(2), (2 * x).exp() + 1),
}
SPECIAL = FUNCTIONS | {  # that those of the families may, with their limits at log 0
    "log": lambda x: arb("-inf") if isinstance(x, arb) and x == 0 else x.log(),
    "erfc": lambda x: arb(0) if isinstance(x, arb) and x == arb("inf") else x.erfc(),
    "gamma": lambda x, s: special(gamma_lower, x, (s - 1) * x.log() - x - s.lgamma(), s),
    "beta": lambda x, a, b: special(beta_lower, x, (a - 1) * x.log() + (b - 1) * (1 - x).log() - log_beta(a, b), a, b),
}
OPERATIONS: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: over, ast.Pow: power}
OPERATIONS |= {ast.USub: operator.neg, ast.UAdd: operator.pos}
# Name: parameters; the cdf but for a factor and a term, left and right of a mode. All are regular, the last two where
# b ≥ 1: F/f rises, a difference of powers; F is log-concave, as f is (Prékopa 1973); or f falls, and J′ = 2 − F f′/f².
FAMILIES = {
    "uniform": ("low high", "theta"),
    "power": ("k low high", "((theta - low)/(high - low))**k"),
    "truncated-exponential": ("rate low high", "-exp(-rate*(theta - low))"),
    "pareto": ("a low high", "-(low/theta)**a"),
    "triangular": ("low mode high", "(theta - low)**2/(mode - low)", "high - low - (high - theta)**2/(high - mode)"),
    "normal": ("mean sd low high", "erfc((mean - theta)/(sd*sqrt(2)))"),
    "logistic": ("mean scale low high", "1/(1 + exp((mean - theta)/scale))"),
    "log-normal": ("mu sigma low high", "erfc((mu - log(theta))/(sigma*sqrt(2)))"),
    "weibull": ("shape scale low high", "-exp(-(theta/scale)**shape)"),
    "gamma": ("shape scale low high", "gamma(theta/scale, shape)"),
    "kumaraswamy": ("a b low high", "-(1 - ((theta - low)/(high - low))**a)**b"),
    "beta": ("a b low high", "beta((theta - low)/(high - low), a, b)"),
}
ANY = {"low", "high", "mean", "mu", "mode"}  # parameters that need not be positive

def formula(text: str, functions: dict[str, Any], values: dict[str, Ball], node: Any = None) -> Any:
    need(len(text) <= MOST, "a formula that is too long")  # its numbers are exact, decimals too
    match node or ast.parse(text, mode="eval").body:
        case ast.Constant() as constant:
            return functools.partial(lambda x, _: x, arb(ast.get_source_segment(text, constant)))
        case ast.Name(id=name):
            return lambda theta: theta if name == "theta" else values[name]
        case ast.Call(func=ast.Name(id=name), args=operands, keywords=[]):
            function = functions[name]
        case ast.UnaryOp(op=op) | ast.BinOp(op=op) as operation:
            function, operands = OPERATIONS[type(op)], [x for x in ast.iter_child_nodes(operation) if isinstance(x, ast.expr)]
        case _:
            raise Verdict("refused", "a cdf that is no formula")
    parts = [formula(text, functions, values, operand) for operand in operands]
    return lambda theta: function(*(part(theta) for part in parts))

class Law(NamedTuple):
    """The cdf of one owner, at the precision of the context."""

    low: float
    high: float
    formula: Any  # F of a ball or a series, as it is round a point between two joints
    joints: list[Fraction]  # where the density may jump, ends and points beyond included
    regular: bool  # by a theorem, J rises
    def F(self, x: Ball, at: Fraction) -> Ball: return self.formula(x, at) if self.low < at < self.high else x * 0 + int(at >= self.high)
    def taylor(self, x: Ball, at: Fraction, order: int) -> list[Ball]:  # F, f, f′/2, … at a ball
        series = self.formula(arb_series([x, 1], order), at)
        return [series[k] if k < series.prec else arb("nan") for k in range(order)]
    def at(self, t: float) -> tuple[Ball, Ball]:  # F and F/f
        F, f = self.taylor(arb(t), Fraction(t), 2)
        return F, F / f

def truncate(G: Any, low: float, high: float) -> Any:
    start, end = (G(arb(s), Fraction(s)) for s in (low, high))
    return lambda x, at: over(G(x, at) - start, end - start)

def law_of(table: Any) -> Law:  # of one owner, at the precision of the context
    match table:
        case {"law": "piecewise-uniform" | "from-samples", "edges": edges, "masses": masses} if "heaps" not in table:
            e, m, total = [*map(Fraction, edges)], [*map(Fraction, masses)], sum(map(Fraction, masses), Fraction(0))
            need({*map(type, edges + masses)} == {float} and min(m) >= 0 and e == sorted({*e}), "a table")
            starts = [F / total for F in accumulate(m, initial=Fraction(0))]
            slopes = [x / (b - a) / total for x, (a, b) in zip(m, pairwise(e), strict=True)]
            lines = [tuple(map(ball, line)) for line in zip(starts, slopes, e, strict=False)]
            held = [k for k, mass in enumerate(masses) if mass > 0]
            def straight(x: Ball, at: Fraction) -> Ball:
                y, slope, a = lines[max(bisect.bisect_right(e, at, hi=len(m)) - 1, 0)]
                return y + slope * (x - a)
            falls = sorted(slopes[held[0] : held[-1] + 1], reverse=True) == slopes[held[0] : held[-1] + 1]
            return Law(edges[held[0]], edges[held[-1] + 1], straight, e, falls)
        case {"law": "mixture", "laws": tables, "weights": weights} if min(weights) > 0:
            parts, whole = [law_of(one) for one in tables], sum(map(arb, weights), arb(0))
            shares = [(arb(w) / whole, part) for w, part in zip(weights, parts, strict=True)]
            low, high = min(part.low for part in parts), max(part.high for part in parts)
            joints = [s for part in parts for s in (Fraction(part.low), Fraction(part.high), *part.joints)]
            return Law(low, high, lambda x, at: sum((w * part.F(x, at) for w, part in shares), x * 0), joints, False)
        case {"law": "rescaled", "factor": float(c), "valuation": inner} if c > 0:
            law, C = law_of(inner), Fraction(c)
            joints = [C * s for s in law.joints if law.low < s < law.high]
            return Law(c * law.low, c * law.high, lambda x, at: law.F(x / arb(c), at / C), joints, law.regular)
        case {"law": "truncated", "low": float(low), "high": float(high), "valuation": inner}:
            law = law_of(inner)  # if it is regular, so is its part: J′ = 2 − (F − F(low)) f′/f²
            need(law.low <= low < high <= law.high, "a support")
            return Law(low, high, truncate(law.F, low, high), law.joints, law.regular)
        case {"law": name} if name not in FAMILIES:
            raise Verdict("not checked", f"the law {name!r}")
    numbers = {key: x for key, x in table.items() if isinstance(x, float)}
    given = {"low": 0.0, "mode": table["low"], "unit": 1.0, "high": 0.0} | numbers
    low, mode, unit, high = (given[key] for key in ("low", "mode", "unit", "high"))
    need(0 <= low <= mode <= high > low and unit > 0 and len(numbers) == len(table) - 1, "a parameter of a law")
    values = {key: arb(x) for key, x in numbers.items()} | {"pi": arb.pi()}
    if "cdf" in table:
        F = formula(" ".join(table["cdf"].split()), FUNCTIONS, values)
        return Law(low * unit, high * unit, lambda x, _: F(x / arb(unit)), [], False)
    keys, *texts = FAMILIES[name]
    left, *right = (formula(text, SPECIAL, values) for text in texts)
    need({*numbers} == {*keys.split()} and all(x > 0 or key in ANY for key, x in numbers.items()), "a parameter")
    F = truncate(lambda x, at: (right[0] if right and mode <= at and mode < high else left)(x), low, high)
    return Law(low, high, F, [Fraction(mode)], numbers.get("b", 1) >= 1)

def prove_regular(law: Law, work: list[int]) -> tuple[float, float]:  # how many more pieces all laws may be cut into
    """Prove that F and J rise between two points, with next to no mass beyond."""  # J′ = 2(f² − F f′/2)/f²
    ends = sorted({Fraction(law.low), *(s for s in law.joints if law.low < s < law.high), Fraction(law.high)})
    pieces, looked, floor, ceiling = [] if law.regular else [*pairwise(ends)], 0, law.low, law.high
    for (a, b), (_, c) in pairwise(pieces):
        before, after = (law.taylor(ball(b), at, 2)[1] for at in ((a + b) / 2, (b + c) / 2))
        need(bool(after <= before), "a law whose density is not proved to fall where it may jump", "not checked")
    while pieces:
        left, right = pieces.pop()
        middle = (left + right) / 2
        rest = law.taylor(ball(left).union(ball(right)), middle, 5)[4]
        away = ball(left - middle).union(ball(right - middle))
        F = arb_poly([*law.taylor(ball(middle), middle, 4), rest])
        f, fall = F.derivative(), F.derivative().derivative() * -0.5
        slope = (f * f + F * fall)(away)
        if f(away) > 0 and slope >= 0:
            continue
        whole = law.formula(ball(left).union(ball(right)), middle)
        if left == ends[0] and abs(whole) <= SMALL:
            floor = math.nextafter(float(right), ceiling)
        elif right == ends[-1] and abs(1 - whole) <= SMALL:
            ceiling = math.nextafter(float(left), floor)
        else:
            need(looked < MOST and not slope < 0, "a law that is not proved regular", "not checked")
            looked, work[0] = looked + 1, work[0] - 1
            need(work[0] >= 0, "laws that take too much work to prove regular", "not checked")
            pieces += [(left, middle), (middle, right)]
    for k, s in enumerate((law.low, law.high)):
        close = s not in {floor, ceiling} or abs(law.formula(arb(s), Fraction(s)) - k) <= ACCEPTANCE
        need(bool(close), "a formula that is not proved to be a cdf", "not checked")
    return floor, ceiling

def each(value: Any, n: int, key: str = "") -> list[Any]:  # what a law, or a part of it, says of each of n owners
    match value:
        case {"law": "by-owner", "parts": parts}:
            owners = [owner for part in parts for owner in part["owners"]]
            need(sorted(owners) == list(range(n)), "the owners of laws")
            found = [law for part in parts for law in each(part["valuation"], len(part["owners"]))]
            return [law for _, law in sorted(zip(owners, found, strict=True), key=operator.itemgetter(0))]
        case {"law": "piecewise-uniform-by-owner", "histograms": rows, "histogram_of_owner": which}:
            need(min(which) >= 0, "the histograms of owners")
            value = [{"law": "piecewise-uniform", **rows[k]} for k in which]
        case dict():
            columns = [each(inner, n, name) for name, inner in value.items()]
            value = [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]
        case list() if key == "laws":
            value = [list(row) for row in zip(*(each(inner, n) for inner in value), strict=True)]
        case _ if not isinstance(value, list) or key in {"edges", "masses", "values", "weights"}:
            value = [value] * n
    need(len(value) == n, "a parameter of a law")
    return list(value)

def sha(*content: str | bytes | list[float]) -> str:  # of several parts, each with its length before it
    coded = [x if isinstance(x, bytes) else x.encode() if isinstance(x, str) else struct.pack(f"<{len(x)}d", *x) for x in content]
    several = (len(x).to_bytes(8, "little") + x for x in coded)
    return hashlib.sha256(b"".join(several) if len(coded) > 1 else coded[0]).hexdigest()

def number(x: Any) -> float: return float(need(type(x) in (int, float) or x == "inf", "a number of the certificate", value=x))

def lots_of(table: dict[str, list[str]]) -> tuple[dict[int, Any], int]:  # prices, acceptances, chances; of how many
    count = sum(name[:14] == "lottery:price " for name in table)
    names = [[f"lottery:{key} {k + 1}" for k in range(count)] for key in ("price", "acceptance", "probability")]
    rows, every = [i for i, x in enumerate(table[names[0][0]]) if x] if count else [], [*names[0], *names[1], *names[2]]
    need({x for x in table if x[:8] == "lottery:"} == {*every}, "the columns of lotteries")
    need(all([i for i, x in enumerate(table[name]) if x] == rows for name in every), "a lottery")
    found = {i: tuple([float(table[name][i]) for name in each] for each in names) for i in rows}
    written = ([repr(x) for each in lot for x in each] == [table[name][i] for name in every] for i, lot in found.items())
    need(all(written), "a number that is written otherwise")
    for price, F, p in found.values():
        is_one = abs(sum(map(Fraction, p), Fraction(-1))) <= count * UNIT
        need(price == sorted(price) and min(*price, *F, *p) >= 0 and max(*F, *p) <= 1 and is_one, "a lottery")
    return found, count
def fingerprints(solution: Any, table: dict[str, list[str]], columns: list[list[float]], solver: str) -> list[str]:
    epsilon, thresholds, acceptance = columns
    n, law = len(epsilon), json.dumps(solution["valuation"], sort_keys=True, allow_nan=False)
    owners = None if table["owner"] == [str(i + 1) for i in range(n)] else table["owner"]
    counts = [int(x) for x in table["multiplicity"]] if "multiplicity" in table else None
    groups = [part for name, x in table.items() if name[:6] == "group:" for part in (name[6:], x)]
    market = sha("smqopt market 2", epsilon, law, "", *map(json.dumps, (owners, counts, *groups)))
    said = {key: solution[key] for key in ("status", "constraints")} | {"solver": solver}
    said |= {"records": solution.get("records", []), "objective": {"kind": "purchased-privacy"}}
    y, (lots, count) = [*map(number, solution.get("constraint_prices", []))], lots_of(table)
    said |= {key: repr(solution[key]) for key in ("budget", "claims_response")}
    said |= {"budget_price": repr(number(solution["budget_price"])), "columns": [f"float64 ({k},)" for k in (n, n, len(y))]}
    drawn: list[Any] = [struct.pack(f"<{len(lots)}q", *lots)] if count else []
    drawn += [[x for lot in lots.values() for x in lot[k]] for k in range(3)] if count else []
    said["columns"] += [f"int64 ({len(lots)},)"] + [f"float64 ({len(lots)}, {count})"] * 3 if count else []
    return [market, sha("smqopt certificate 2", market, json.dumps(said, sort_keys=True), thresholds, acceptance, y, *drawn)]

def check_claims(content: Any, table: dict[str, list[str]], columns: list[list[float]], gap_tolerance: float) -> None:
    need(content["grade"] == "proved" and content["valid"] is True, "it does not claim to be proved", "not checked")
    solution, proof, budget, unchecked = (content[key] for key in ("solution", "proof", "budget", "unchecked"))
    words, alone = {*json.dumps(solution).split('"')}, "lottery:price 1" in table and "records" not in solution
    known = not (alone or {"scenarios", "band"} & words or "objective" in solution)
    need(known, "lotteries without constraints, laws in doubt, or another objective", "not checked")
    parts = [("", content), *((key, content[key]) for key in KEYS if key not in {"", "checks"})]
    more = {"solution": {"records", "constraint_prices"} & {*solution}, "proof": {"constraints"} & {*proof}}
    for key, part in [*parts, *(("checks", one) for one in content["checks"])]:
        need(set(part) == {*KEYS[key].split()} | more.get(key, set()), f"a key that is missing or unknown in {key!r}")
    need([len(solution.get("records", [])), len(more["solution"])] == [said := len(solution["constraints"]), 2 * (said > 0)], "the records")
    rest = json.dumps({key: x for key, x in content.items() if key != "digest"}, sort_keys=True, ensure_ascii=False)
    market, fingerprint = fingerprints(solution, table, columns[:3], unchecked["solver"])
    n, hashes = len(columns[0]), ({"sha256": sha(values)} for values in columns[:3])
    shown = [said | ({"values": x} if n <= 100 else {}) for said, x in zip(hashes, columns, strict=False)]
    true = {"format": "smqopt certificate 2", "digest": sha(rest), "fingerprint": fingerprint, "budget": float(budget)}
    true |= {"gap_tolerance": gap_tolerance, "reasons": [], "unproved": [], "columns": dict(zip(COLUMNS, shown))}  # noqa: B905
    of_solution = {"format": "smqopt solution 1", "owners": n, "market_fingerprint": market, "budget": float(budget)}
    for part, expected in ((content, true), (solution, of_solution)):
        for key, x in expected.items():
            need(json.dumps(part[key], sort_keys=True) == json.dumps(x, sort_keys=True), f"the {key}")
    need(sha(json.dumps(content["tolerances"])) == TOLERANCES and unchecked["prove"] in (True, None), "the tolerances")
    most = number(content["upper_bound"]) * (1 + RECHECK * ("records" in solution))  # rows may be kept nearly
    for low, high in ([content["lower_bound"], most], proof["purchased_privacy"], proof["spend"]):
        need(number(low) <= number(high), "a lower bound above the upper one")
    covered = sum(part["owners"] for part in proof["regularity"] if len(part) == 3)
    need(proof["bits"] in {53, *PRECISIONS} and covered == n == len(set(table["owner"])), "the owners, or a proof")
    need(budget >= 0 and number(content["gap"]) <= gap_tolerance, "the budget, or the gap")
    extra = {name for name in table if name[:8] != "lottery:"} - {"owner", "offer", "multiplicity", *COLUMNS}
    need(all(name[:6] == "group:" for name in extra), "a column that belongs to no certificate")
    epsilon, thresholds, acceptance, spend = columns
    need(min(epsilon) >= 0 and min(acceptance) >= 0 and max(acceptance) <= 1, "a requirement or an acceptance")
    need(table["offer"] == ["yes" if q > 0 else "no" for q in acceptance], "the offers")
    drawn, _ = lots_of(table)
    need(all(spend[k] == thresholds[k] * acceptance[k] for k in range(n) if k not in drawn), "the spend")
    for k, lot in drawn.items():
        q, b = (sum(map(Fraction, x), Fraction(0)) for x in zip(*((p * F, p * t * F) for t, F, p in zip(*lot, strict=True)), strict=True))
        close = abs(q - Fraction(acceptance[k])) <= ACCEPTANCE and abs(b - Fraction(spend[k])) <= ACCEPTANCE * b
        need(bool(close) and thresholds[k] == lot[0][0], "the acceptance or the spend of a lottery")
    checks = {one["name"]: one for one in content["checks"]}
    responds = solution["claims_response"] and "records" not in solution
    must = ALWAYS | (RESPONSE.get(solution["status"], set()) if responds else set())
    sides = {name for name in checks if "records" in solution and name.startswith(SIDES)}
    need({*(SIDES[0] + one["constraint"] for one in proof.get("constraints", []))} <= {*checks}, "the rows")
    need(len(checks) == len(content["checks"]) and must <= {*checks} - sides <= ALWAYS | {*OTHERS}, "the checks")
    for name, one in checks.items():
        good, texts = one["passed"] is one["required"] is True, type(one["norm"]) is type(one["note"]) is str
        limit = ROW if name in sides else gap_tolerance if name == "gap" else LIMITS.get(name, math.inf)
        stated = not good or number(one["value"]) <= number(one["tolerance"]) <= limit
        need(stated and texts and (good or (name not in must | sides and one["required"] is False)), f"the check {name!r}")

def top(law: Law, between: list[float], e: Ball, price: Ball, t: float, least: Ball = 0, most: Ball = 1) -> Ball:
    """Bound max {ε q − λ C(q): least ≤ q ≤ most} by lines that touch near θ."""
    bound, (floor, ceiling) = e - price * law.low, between
    if least == 0 and (bound <= 0 or t <= law.low):
        return (bound * most).max(arb(0))
    need(t >= law.high or floor <= t <= ceiling, "a threshold beyond where its law is proved regular", "not checked")
    t = min(max(t, math.nextafter(law.low, law.high)), math.nextafter(law.high, law.low), ceiling)
    F, rent = law.at(t)
    slope, value = e - price * (t + rent), F * (e - price * t)
    line = value + (slope * (most - F)).max(slope * (least - F))
    away = math.ulp(t) if slope > 0 else -math.ulp(t)  # towards where a line touches that slopes the other way
    while not line - value <= abs(e) * TIGHT and not slope.contains(0) and floor < (s := t + away) < ceiling:
        q, more = law.at(s)
        if (back := e - price * (s + more)) * away <= 0:  # the height at which both lines meet
            line = line.min((slope * (q * (e - price * s) - back * (q - F)) - back * value) / (slope - back))
            break
        away *= 4
    line += abs(e) * abs(1 - law.formula(arb(ceiling), Fraction(ceiling))) if ceiling == law.high else 0
    line = line.max(e - price * ceiling) if ceiling < law.high else line
    line = line.max(bound * SMALL) if floor > law.low else line
    return line if least != 0 else bound.max(arb(0)) if not line.is_finite() else bound.max(arb(0)).min(line)
def is_near(law: Law, t: float, q: float) -> bool:  # q is F within 8 spacings of θ, where F is steep
    low, high = (law.F(arb(s), Fraction(s)) for s in (t - 8 * math.ulp(t), t + 8 * math.ulp(t)))
    return bool(low - ACCEPTANCE <= q) and bool(q <= high + ACCEPTANCE)

def sums(content: Any, owners: Any, columns: Any, counts: list[int], gap_tolerance: float) -> Any:
    solution, budget = content["solution"], content["budget"]
    price, claimed = number(solution["budget_price"]), solution["claims_response"]
    lam, privacy, spend, every, grain, tops = arb(price if price < math.inf else 0), *(arb(0) for _ in range(5))
    for (law, *between), e, t, q, m in zip(owners, *columns, counts, strict=True):
        low, high, above = law.low, law.high, min(math.nextafter(t, math.inf), law.high)
        F, G = (law.F(arb(s), Fraction(s)) for s in (t, above))
        yield low <= t <= high, "a threshold in its support"
        yield abs(F - q) <= ACCEPTANCE or is_near(law, t, q), "an acceptance that is F(θ)"
        bought = m * (F if q > 0 else arb(0))
        privacy, spend = privacy + arb(e) * bought, spend + arb(t) * bought
        if e > 0:
            every, grain = every + arb(m) * high, grain + m * (math.ulp(t) * F + above * (G - F))
            tops += m * (arb(e) if price == 0 else top(law, between, arb(e), lam, t) if price < math.inf else arb(0))
        if claimed and 0 < price < math.inf:  # λJ just below θ is at most ε, and just above at least that
            least, most = (t + step * math.ulp(t) for step in (-8, 8))
            holds = least <= low or (least + law.at(least)[1]) * lam <= arb(e) * (1 + STATIONARITY)
            yield holds and (most >= high or e == 0 or (most + law.at(most)[1]) * lam >= arb(e) * (1 - STATIONARITY)), "a threshold that its price asks for"
    bound = lam * budget + tops
    gap = (bound - privacy) / bound if bound > 0 else abs(bound - privacy)
    yield spend <= budget, "a spend within the budget"
    yield gap <= gap_tolerance, "a gap within its tolerance"
    status = "ZERO_BUDGET" if budget == 0 else "SLACK" if every <= budget else "BINDING" if every > budget else "open"
    priced = {"ZERO_BUDGET": price == math.inf, "SLACK": price == 0, "BINDING": 0 < price < math.inf}
    yield solution["status"] == status and priced.get(status, False), "the status"
    yield not claimed or status != "BINDING" or budget - spend <= SHORTFALL * arb(budget) + 2 * grain, "a budget that is spent where it binds"
    yield from claims_of(content, privacy, spend, bound, gap)
    yield not privacy > bound, "a lower bound that is not above the upper one"

def claims_of(content: Any, privacy: Ball, spend: Ball, bound: Ball, gap: Ball, *loose: float) -> Any:
    proof = content["proof"]  # by how much a bound by other lines may lie below, above
    claims = [(x, privacy, privacy) for x in (content["lower_bound"], *proof["purchased_privacy"])]
    claims += [(x, bound, bound) for x in (content["upper_bound"], proof["upper_bound"])]
    claims += [(content["gap"], gap, arb(1)), *((x, spend, arb(content["budget"])) for x in proof["spend"])]
    for k, (claim, found, scale) in enumerate(claims):
        over, (low, high) = arb(number(claim)) - found, loose if loose and k in range(3, 6) else (RECHECK, RECHECK)
        yield -low * abs(scale) <= over <= high * abs(scale), "a bound that is what the files give"
    yield number(proof["spend"][0]) <= number(proof["spend"][1]) <= content["budget"], "a spend that was proved"

def at_price(law: Law, x: float) -> Ball: return law.F(arb(x), Fraction(x))
# Exactly: rows Σ a q + Σ s b ≤ r, or = r, as a, s, r, equal; prices; acceptance from, to, price from, to; who share one.
Sides = collections.namedtuple("Sides", "rows menus ranges units")

def exact(x: Any) -> Fraction: return Fraction(need(type(x) in (int, float), "a number of a record", value=x))
def members(record: Any, table: dict[str, list[str]]) -> list[int]:  # the owners whom a record speaks of
    column, label, n = record.get("column"), record.get("label"), len(table["owner"])
    if isinstance(column, list):
        return [i for i, at in enumerate(need(len(column) == n, "a mask", value=column)) if at is True]
    crossed = column if isinstance(column, dict) else {} if column is None else {column: label}
    wanted = {name: {*map(str, x if isinstance(x, list) else [x])} for name, x in crossed.items()}
    return [i for i in range(n) if all(table["group:" + name][i] in x for name, x in wanted.items())]

def least_mean(k: int, n: int, p: float) -> float:  # least double m with P(Bin(n, m/n) ≥ k) ≥ p (Hoeffding 1956)
    enough: Any = lambda m: bool(beta_lower(arb(m) / n, arb(k), arb(n - k + 1)) >= p)
    with ctx.workprec(PRECISIONS[0]):
        low, high = float(k), float(k) if k in (0, n) or enough(k) else float(n)
        while low < (middle := 0.5 * (low + high)) < high:
            low, high = (low, middle) if enough(middle) else (middle, high)
    return high
def rows_of(record: Any, mine: list[int], table: dict[str, list[str]], counts: list[int], of_rows: Any) -> Any:
    kind, keys, n, most = record["kind"], {*record} - {"kind", "column", "label"}, len(counts), record.get("at_most")
    total, own, equal = sum(counts[i] for i in mine), {i: Fraction(counts[i]) for i in mine}, record.get("equal", False)
    if kind == "coverage" and keys == {"share"}:
        yield {i: counts[i] * (exact(record["share"]) - (i in own)) for i in range(n)}, {}, Fraction(0), False
    elif kind == "coverage" and {"at_least"} <= keys <= {"at_least", "probability"}:
        least, p = exact(record["at_least"]), record.get("probability")
        need(p is None or least in range(total + 1), "a number of owners")
        yield {i: -m for i, m in own.items()}, {}, -(least if p is None else Fraction(least_mean(int(least), total, p))), False
    elif kind == "linear-row" and keys <= {"at_most", "acceptance", "spend", "equal"}:
        need(type(equal) is bool, "a linear row")
        yield of_rows(record.get("acceptance", [])), of_rows(record.get("spend", [])), exact(most), equal
    elif kind in {"group-budget", "expected-owners"} and keys == {"at_most"}:
        yield *[{}, own][:: -1 if kind == "expected-owners" else 1], exact(most), False
    elif kind == "parity" and keys <= {"within", "labels", "of"}:
        texts, equal = table["group:" + record["column"]], record["within"] == 0
        labels = [*map(str, record.get("labels", sorted({*texts})))]
        known = "labels" in record or not all(x.isdigit() for x in labels) or labels == sorted(labels, key=int)
        need(known, "labels whose order is open", "not checked")
        size = {x: sum(m for m, text in zip(counts, texts, strict=True) if text == x) for x in labels}
        means = {x: {i: Fraction(counts[i], size[x]) for i in range(n) if texts[i] == x} for x in labels}
        for x, y in pairwise(labels) if equal else ((x, y) for x in labels for y in labels if x != y):
            terms = means[x] | {i: -c for i, c in means[y].items()}
            yield *[terms, {}][:: -1 if record.get("of") == "payment" else 1], exact(record["within"]), equal
    else:
        raise Verdict("not checked", f"a record of kind {kind!r}, or one that says {sorted(keys)}")

def sides_of(records: list[Any], table: dict[str, list[str]], counts: list[int]) -> Sides:
    n, ranges = len(counts), [[*FREE] for _ in counts]
    units, rows, menus = [[i] for i in range(n)], list[Any](), dict[int, list[float]]()
    place = {name: i for i, name in enumerate(table["owner"])} | {i: i for i in range(n)}  # rows go by both
    def of_rows(pairs: Any) -> Any:
        found = {place[i]: exact(x) for i, x in pairs if type(i) in (int, str)}
        return need(len(found) == len(pairs), "the rows of a record", value=found)
    for record in records:
        kind, keys = record["kind"], {*record} - {"kind", "column", "label"}
        mine = [] if kind == "parity" else members(record, table)
        if kind == "common-price" and not keys and len(units) == n:
            units = [[i for i, x in enumerate(texts) if x == one] for texts in [table["group:" + record["column"]]] for one in dict.fromkeys(texts)]
        elif kind == "price-menu" and keys == {"prices"} and not {*mine} & {*menus}:
            menus |= dict.fromkeys(mine, sorted(map(float, map(exact, record["prices"]))))
        elif kind in {"acceptance-range", "acceptance-bounds", "price-range"} and keys <= {"at_least", "at_most"}:
            for key, end, tighter in (("at_least", 0, max), ("at_most", 1, min)):
                x, at = record.get(key), end + 2 * (kind == "price-range")
                pairs = x if kind == "acceptance-bounds" else [(i, x[i] if isinstance(x, list) else x) for i in mine]
                for i, bound in of_rows(pairs).items() if x is not None else ():
                    ranges[i][at] = tighter(ranges[i][at], float(bound))
        else:
            rows += rows_of(record, mine, table, counts, of_rows)
    for a, s, r, equal in rows:
        loose = (r != 0 or equal or min([*a.values(), *s.values()]) < 0) and (bool(s) or sum(c for c in a.values() if c < 0) < r)
        need(loose, "a row that holds at one point alone", "not checked")
    for i, prices in menus.items():  # bounds of prices shorten lists
        menus[i], ranges[i][2:] = [x for x in prices if ranges[i][2] <= x <= ranges[i][3]], FREE[2:]
    need(all(menus[i] and ranges[i] == [*FREE] for i in menus), "a menu with a range of acceptances", "not checked")
    alike = all((menus.get(i), ranges[i]) == (menus.get(unit[0]), ranges[unit[0]]) for unit in units for i in unit)
    need(alike, "a common price under different bounds", "not checked")
    return Sides(rows, menus, ranges, units)

def top_of_unit(unit: list[int], sides: Sides, owners: Any, counts: list[int], worth: Any, paid: Any, t: float) -> Any:  # and what ranges may add
    i, m = unit[0], sum(counts[k] for k in unit)
    menu, (least, most, floor, ceiling), (law, *between) = sides.menus.get(i), sides.ranges[i], owners[i]
    if menu:
        gain = lambda x: sum((counts[k] * at_price(owners[k][0], x) * (worth[k] - paid[k] * x) for k in unit), arb(0))
        return functools.reduce(arb.max, map(gain, menu), arb(0)), arb(0)
    need(all(owners[k] == owners[i] for k in unit), "a common price over different laws", "not checked")
    e, p = (sum((counts[k] * x[k] for k in unit), arb(0)) / m for x in (worth, paid))
    free, dear = (least, most, floor, ceiling) == FREE, max(law.high, floor, 0.0 if ceiling == math.inf else ceiling)
    if p < 0 or floor >= law.high:  # the dearest price is the best, or the cheapest is above the support
        need(least == 0 and floor <= ceiling and (p >= 0 or ceiling < math.inf), "more spend without a highest price", "not checked")
        best = (e - p * (ceiling if p < 0 else floor)) * arb(most).min(at_price(law, min(ceiling, dear)))
        return m * best.max(arb(0)), arb(0) if free else m * ROW * (abs(e) + abs(p) * dear)
    need(free or ([law.low, law.high] == between and floor < law.high), "a range up to where no law is regular", "not checked")
    up, down = arb(most).min(at_price(law, min(ceiling, law.high))), arb(least) if floor <= law.low else at_price(law, floor)
    need(not up < down and (least == 0 or floor <= law.low), "a range of both, or an empty one", "not checked")
    best = arb("nan") if not p >= 0 else (e * up).max(e * down) if p == 0 else top(law, between, e, p, max(t, floor), down if down > 0 else 0, up)
    return m * (best if least > 0 else best.max(arb(0))), arb(0) if free else m * ROW * (abs(e) + p * dear)

def program(content: Any, sides: Sides, owners: Any, columns: Any, counts: list[int], lots: Any, tolerance: float) -> Any:
    solution, proof, n = content["solution"], content["proof"], len(counts)
    price, y = number(solution["budget_price"]), [*map(number, solution["constraint_prices"])]
    most = ([abs(c) / counts[i] for i, c in s.items() if c * r > 0] for _, s, r, equal in sides.rows if r < 0 or equal)
    asked = [abs(r) >= exact(content["budget"]) * max(next(most), default=math.inf) for _, _, r, equal in sides.rows if r < 0 or equal]
    need(not any(asked), "a row that asks for all the money, and leaves others none", "not checked")
    need(len(y) == len(sides.rows) and price < math.inf, "rows that are counted otherwise, or a budget of 0", "not checked")
    need(min([price, *(u for u, row in zip(y, sides.rows, strict=True) if not row[3])]) >= 0, "a multiplier below 0")
    q, b, worth, paid = [arb(0)] * n, [arb(0)] * n, [arb(0)] * n, [arb(price)] * n
    for u, (a, s, *_) in zip(y, sides.rows, strict=True):
        for total, terms, sign in ((worth, a, -1), (paid, s, 1)):
            for i, c in terms.items() if u != 0 else ():
                total[i] += sign * u * ball(c) / counts[i]
    bound, privacy, spend, loose = arb(price) * content["budget"], *(arb(0) for _ in range(3))
    for i, ((law, *_), epsilon, t, claimed, m) in enumerate(zip(owners, *columns, counts, strict=True)):
        menu, (least, most, floor, ceiling) = sides.menus.get(i), sides.ranges[i]
        need(not y or (least < 1 and most > 0 and max(menu or [ceiling]) > law.low), "an owner left one offer", "not checked")
        prices, known, chances = lots.get(i, ([t], [claimed], [1.0]))
        F = [at_price(law, x) for x in prices]
        share, rest = [*map(arb, chances)], chances.index(max(chances))
        share[rest] = 1 - sum(share[:rest] + share[rest + 1 :], arb(0))
        sold = [p * x if claim > 0 else arb(0) for p, x, claim in zip(share, F, known, strict=True)]
        q[i], b[i] = sum(sold, arb(0)), sum(map(operator.mul, sold, map(arb, prices)), arb(0))
        ends = at_price(law, floor), at_price(law, min(ceiling, law.high))
        for x, claim, of in zip(prices, known, F, strict=True):
            yield x >= law.low and (x <= max(law.high, floor) or menu is not None or x <= ceiling < math.inf), "a threshold in its support"
            yield abs(of - claim) <= ACCEPTANCE or is_near(law, x, claim), "an acceptance that is F(θ)"
            near = ends[0] - of <= ROW and of - ends[1] <= ROW and (x >= floor or floor <= law.high)
            yield claim == 0 or (x in menu if menu else near), "a price that is allowed"
        yield least - q[i] <= ROW and q[i] - most <= ROW, "an acceptance in its range"
        privacy, spend, worth[i] = privacy + m * epsilon * q[i], spend + m * b[i], arb(epsilon) + worth[i]
    for unit in sides.units:
        offers = [lots.get(k, ([columns[1][k]], [], [1.0])) for k in unit]
        yield all(one[::2] == offers[0][::2] for one in offers), "a price that is common"
        most, allowed = top_of_unit(unit, sides, owners, counts, worth, paid, offers[0][0][0])
        bound, loose = bound + most, loose + allowed
    excess, said = loose, need(len(proof.get("constraints", [])) == len(y), "the rows", value=proof.get("constraints", []))
    for u, (a, s, r, equal), one in zip(y, sides.rows, said, strict=True):
        need(set(one) == {"constraint", "exactly", "over"} and type(one["exactly"]) is bool and len(one["over"]) == 2, "the rows")
        left = [*(ball(c) * q[i] for i, c in a.items()), *(ball(c) * b[i] for i, c in s.items()), -ball(r)]
        used, size = (sum(each, arb(0)) for each in (left, [*map(abs, left)]))
        bound, excess, over = bound + u * ball(r), excess + (u * used).max(arb(0)), abs(used) if equal else used
        yield over <= ROW * size and (one["exactly"] is False or over <= 0), "a row that is kept, as it says"
        yield all(abs(number(x) * size - over) <= RECHECK * size for x in one["over"]), "what a row is broken by"
    gap = (bound - privacy) / bound if bound > 0 else abs(bound - privacy)
    yield from ((spend <= content["budget"], "a spend within the budget"), (gap <= tolerance, "a gap within its tolerance"))
    yield solution["status"] == ("BINDING" if price > 0 else "SLACK"), "the status"
    below = 8 * RECHECK if len(sides.units) == n and all(one == [*FREE] for one in sides.ranges) else tolerance
    yield from claims_of(content, privacy, spend, bound, gap, below, tolerance)
    yield not privacy - excess > bound, "a lower bound that is not above the upper one"

def check(folder: str | Path, gap_tolerance: float = GAP) -> tuple[str, str]:
    """Return "proved", "refused" or "not checked" of a folder, and why."""
    try:
        text = (Path(folder) / "certificate.json").read_text(encoding="utf-8")
        once = lambda pairs: need(len(dict(pairs)) == len(pairs), "a key that stands twice", value=dict(pairs))
        finite = lambda x: need(math.isfinite(float(x)), "a number that is no double", value=float(x))
        content = json.loads(text, object_pairs_hook=once, parse_constant=finite, parse_float=finite)
        with (Path(folder) / "thresholds.csv").open(encoding="utf-8-sig", newline="") as stream:
            lines = filter(None, csv.reader(stream, strict=True))
            header, *rows = [[x[x[:1] == "'" and x.strip("'")[:1] in MARKED :] for x in row] for row in lines]
        need(len(set(header)) == len(header) and len(rows) > 0, "a column that stands twice, or no owner")
        table = {name: list(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)}
        columns, counts = [[*map(float, table[name])] for name in COLUMNS], table.get("multiplicity", ["1"] * len(rows))
        counts, written = [*map(int, counts)], [*(table[name] for name in COLUMNS), counts]
        need([[*map(repr, values)] for values in (*columns, counts)] == written, "a number that is written otherwise")
        need(min(counts) > 0 and all(math.isfinite(x) for values in columns for x in values), "a number of the table")
        check_claims(content, table, columns, gap_tolerance)
        names = [json.dumps(law) for law in each(content["solution"]["valuation"], len(rows))]
        with ctx.workprec(BITS):
            work = [10 * MOST + 100 * len(names)]  # counted, so that a verdict hangs on no machine; linear in rows
            solution, (lots, _) = content["solution"], lots_of(table)
            sides = sides_of(solution["records"], table, counts) if "records" in solution else Sides([], {}, [], [])
            used = dict.fromkeys(name for i, name in enumerate(names) if i not in sides.menus)
            between = {name: prove_regular(law_of(json.loads(name)), work) for name in used}
            for ctx.prec in PRECISIONS:
                known = {name: (law_of(json.loads(name)), *between.get(name, ())) for name in dict.fromkeys(names)}
                given = [known[name] for name in names], columns[:3], counts
                of_program = program(content, sides, *given, lots, gap_tolerance)
                said = of_program if "records" in solution else sums(content, *given, gap_tolerance)
                if not (left := dict.fromkeys(why for holds, why in said if not holds)):
                    return "proved", f"{len(names)} rows, {ctx.prec} bits; unchecked: {UNCHECKED}"
        return "refused", f"not proved with {PRECISIONS[-1]} bits: {'; '.join(left)}"
    except Verdict as error:
        return error.args[0], error.args[1]
    except Exception as error:  # noqa: BLE001 -- whatever hostile files do, they are refused
        return "refused", f"files that cannot be read: {error!r}"

if __name__ == "__main__":
    answer = check(sys.argv[1] if len(sys.argv) > 1 else ".", *map(float, sys.argv[2:3]))
    sys.stdout.write(": ".join(answer) + "\n")
    sys.exit({"proved": 0, "refused": 1, "not checked": 3}[answer[0]])
