"""Claims evaluated at random rational points, in ball arithmetic: a ball that excludes 0 refutes an identity for good."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from flint import arb

from smqopt.derivation.domain import OWNERS, Domain
from smqopt.derivation.equation import Relation
from smqopt.derivation.letters import I, N
from smqopt.numeric.balls import Ball, ball, ball_function, precision
from smqopt.numeric.tolerances import IDENTITY

__all__ = ["BITS", "Evidence", "evidence", "values_at"]

BITS = 512
"""Precision of the balls: enough for 40 digits (`IDENTITY`) after much cancellation."""
_POINTS = 6


@dataclass(frozen=True)
class Evidence:
    """What evaluation says of a claim."""

    points: int
    """At how many points it holds to 40 digits."""
    contradiction: str = ""
    """A point at which it fails, in words; empty where none was found."""

    def __str__(self) -> str:
        return f"holds to 40 digits at {self.points} random points" if self.points else "no point could be evaluated"


def evidence(left: sp.Expr, relation: Relation, right: sp.Expr, domain: Domain) -> Evidence:
    """Evaluate a claim, with all functions spelled out, at random points of its domain."""
    seen = 0
    points = _points(domain)
    for point, first, second in zip(points, values_at(left, points), values_at(right, points), strict=True):
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
            return Evidence(seen, f"left − right = {float(difference.mid()):.6g} at {where or 'every point'}")
        size = max(1.0, float(abs(first.mid())), float(abs(second.mid())))
        if difference.rad() <= arb(IDENTITY.value) * size:
            seen += 1
    return Evidence(seen)


def values_at(expression: sp.Expr, points: Sequence[Mapping[sp.Basic, Fraction]]) -> list[Ball]:
    """Evaluate an expression at points; what is not real, or not known to ball arithmetic, is a ball that is not finite."""
    written_out = _written_out(expression)
    symbols = sorted(written_out.atoms(sp.Symbol, sp.Indexed) & points[0].keys(), key=str) if points else []
    inner = sorted(written_out.atoms(sp.LambertW), key=sp.count_ops)  # innermost first, each then stands for its value
    try:
        arguments = [ball_function(lambert.args[0], [*symbols, *inner[:k]]) for k, lambert in enumerate(inner)]
        function = ball_function(written_out, [*symbols, *inner])
    except ValueError:
        return [arb("nan")] * len(points)
    results = []
    with precision(BITS):
        for point in points:
            values = [ball(point[symbol]) for symbol in symbols]
            for argument in arguments:
                values.append(argument(*values).lambertw())
            results.append(function(*values))
    return results


@functools.lru_cache(maxsize=256)
def _points(domain: Domain) -> tuple[Mapping[sp.Basic, Fraction], ...]:
    return tuple(domain.points(_POINTS))


def _written_out(expression: sp.Expr) -> sp.Expr:
    """Write sums over owners out for a few owners."""
    few = expression.xreplace({N: sp.Integer(OWNERS)})
    return few.replace(
        sp.Sum, lambda summand, _: sp.Add(*(summand.xreplace({I: sp.Integer(k)}) for k in range(1, OWNERS + 1)))
    )
