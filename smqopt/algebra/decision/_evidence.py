"""Claims evaluated at random rational points, in ball arithmetic.

A ball that excludes 0 refutes an identity for good.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from flint import arb

from smqopt.algebra.claim._equation import Relation
from smqopt.algebra.claim._letters import THETAS, I, N, X
from smqopt.algebra.decision._domain import OWNERS, Domain
from smqopt.algebra.expression._parser import THETA
from smqopt.numeric import IDENTITY, Ball, ball, ball_function, precision

BITS = 512
"""Precision of the balls: enough for 40 digits (`IDENTITY`) after much cancellation."""
_POINTS = 6
_MOVED = frozenset({THETA, THETAS.label, X})
"""A claim without these is the same near the ends as elsewhere."""
_SPECIAL: Mapping[type[sp.Function], Callable[..., Ball]] = {
    sp.LambertW: lambda x: x.lambertw(),
    sp.lowergamma: lambda s, x: x.gamma_lower(s),
    sp.gamma: lambda a: a.gamma(),
    sp.beta: lambda a, b: a.gamma() * b.gamma() / (a + b).gamma(),
    sp.betainc: lambda a, b, lower, upper: upper.beta_lower(a, b) - lower.beta_lower(a, b),
}
"""Functions that the tape of elementary ones does not know, in balls."""


@dataclass(frozen=True)
class Evidence:
    """What evaluation says of a claim."""

    random: int
    """At how many random points it holds to 40 digits."""
    near_ends: int = 0
    """At how many points near the ends of the domain."""
    contradiction: str = ""
    """A point at which it fails, in words; empty where none was found."""

    @property
    def points(self) -> int:
        """At how many points it holds to 40 digits."""
        return self.random + self.near_ends

    def __str__(self) -> str:
        if not self.points:
            return "no point could be evaluated, so that nothing else checks it"
        beside = f" and {self.near_ends} near the ends" if self.near_ends else ""
        return f"holds to 40 digits at {self.random} random points{beside}"


def evidence(left: sp.Expr, relation: Relation, right: sp.Expr, domain: Domain) -> Evidence:
    """Evaluate a claim without function symbols at random points."""
    random, near_ends = 0, 0
    drawn, near = _points(domain)
    points = [*drawn, *(point for point in near if (left.free_symbols | right.free_symbols) & _MOVED)]
    pairs = zip(points, values_at(left, points), values_at(right, points), strict=True)
    for number, (point, first, second) in enumerate(pairs):
        if not (first.is_finite() and second.is_finite()):
            continue
        with precision(BITS):
            difference = first - second
        failed = {Relation.AT_LEAST: difference < 0, Relation.AT_MOST: difference > 0}.get(
            relation, not difference.contains(0)
        )
        if failed:
            used = sorted((left.free_symbols | right.free_symbols) & point.keys(), key=str)
            where = ", ".join(f"{symbol} = {point[symbol]}" for symbol in used if isinstance(symbol, sp.Symbol))
            return Evidence(
                random, near_ends, f"left − right = {float(difference.mid()):.6g} at {where or 'every point'}"
            )
        size = max(1.0, float(abs(first.mid())), float(abs(second.mid())))
        if difference.rad() <= arb(IDENTITY.value) * size:
            random, near_ends = (random + 1, near_ends) if number < len(drawn) else (random, near_ends + 1)
    return Evidence(random, near_ends)


def values_at(expression: sp.Expr, points: Sequence[Mapping[sp.Basic, Fraction]], bits: int = BITS) -> list[Ball]:
    """Evaluate an expression at points.

    What is not real, or not known to ball arithmetic, is a ball that is not finite.
    """
    written_out = _written_out(expression)
    symbols = sorted(written_out.atoms(sp.Symbol, sp.Indexed) & points[0].keys(), key=str) if points else []
    inner = sorted(written_out.atoms(*_SPECIAL), key=sp.count_ops)  # innermost first, each then stands for its value
    try:
        arguments = [
            [ball_function(argument, [*symbols, *inner[:k]]) for argument in special.args]
            for k, special in enumerate(inner)
        ]
        function = ball_function(written_out, [*symbols, *inner])
    except ValueError:
        return [arb("nan")] * len(points)
    results = []
    with precision(bits):
        for point in points:
            values = [ball(point[symbol]) for symbol in symbols]
            for special, own in zip(inner, arguments, strict=True):
                known = list(values)
                values.append(_SPECIAL[type(special)](*(argument(*known) for argument in own)))
            results.append(function(*values))
    return results


@functools.lru_cache(maxsize=256)
def _points(domain: Domain) -> tuple[tuple[Mapping[sp.Basic, Fraction], ...], ...]:
    return tuple(domain.points(_POINTS)), tuple(domain.points_near_ends())


def _written_out(expression: sp.Expr) -> sp.Expr:
    """Write sums over owners out for a few owners."""
    few = expression.xreplace({N: sp.Integer(OWNERS)})
    return few.replace(
        sp.Sum, lambda summand, _: sp.Add(*(summand.xreplace({I: sp.Integer(k)}) for k in range(1, OWNERS + 1)))
    )
