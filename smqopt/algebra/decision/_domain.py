"""Where a claim is made.

Intervals for its symbols, as coordinates for proofs and as random points for evaluation.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp

from smqopt.algebra.claim._equation import SymbolRange
from smqopt.algebra.claim._letters import THETAS, N, X
from smqopt.algebra.expression._parser import THETA

OWNERS = 3
"""How many owners a sum over owners has when it is evaluated."""
_GRID = 1024
"""Random positions in an interval are multiples of 1/1024, and now and then lie within 2^−20 of an
end."""
_NEAR = Fraction(1, 2**20)
_BITS = 40
"""Binary digits kept of an end that is not rational, where points are drawn below it."""
_DIGITS = 40
"""Decimal digits to which such an end is worked out."""
_LARGEST = 2**1000
"""An end beyond this counts as infinite."""
_VARIABLES = (THETA, THETAS, X)
"""What is taken near the ends of its interval, beside random positions: parameters are not."""


@dataclass(frozen=True)
class Domain:
    """The intervals over which a claim must hold.

    An interval for an `IndexedBase` holds for each of its entries.
    """

    intervals: tuple[SymbolRange, ...]
    rows: tuple[tuple[tuple[sp.Symbol, sp.Rational], ...], ...] = ()
    """Values given for parameters whose sound ranges are not known: points are drawn among these.
    """

    def with_intervals(self, *intervals: SymbolRange) -> Domain:
        """Add intervals, in place of those that stand for the same symbols."""
        named = {interval.symbol for interval in intervals}
        kept = tuple(interval for interval in self.intervals if interval.symbol not in named)
        return replace(self, intervals=kept + intervals)

    def with_values(self, values: Mapping[sp.Symbol, sp.Expr]) -> Domain:
        """Fix the values of some symbols."""
        return Domain(
            tuple(
                SymbolRange(
                    interval.symbol,
                    interval.lower.subs(values),
                    None if interval.upper is None else interval.upper.subs(values),
                )
                for interval in self.intervals
                if interval.symbol not in values
            ),
            tuple(tuple((symbol, value) for symbol, value in row if symbol not in values) for row in self.rows),
        )

    def in_coordinates(self, expression: sp.Expr) -> sp.Expr:
        """Write an expression in positive coordinates, which SymPy can read.

        Symbols a < b < c, each of which bounds the next, become a, a + s, a + s + t with s, t > 0.
        Else a symbol between a and b becomes a + (b − a) s/(1 + s), and one above a becomes a + s.
        """
        chain = self._chain()
        for interval in reversed(self.intervals):
            bounded = interval.lower != -sp.oo and interval.symbol not in chain
            if bounded and isinstance(interval.symbol, sp.Symbol) and expression.has(interval.symbol):
                s = sp.Dummy(f"s_{interval.symbol.name}", positive=True)
                lower, upper = interval.lower, interval.upper
                expression = expression.subs(
                    interval.symbol, lower + (s if upper is None else (upper - lower) * s / (1 + s))
                )
        known: dict[sp.Symbol, sp.Expr] = {}
        place = sp.Integer(0)
        for symbol in chain:
            place += sp.Dummy(f"s_{symbol.name}", positive=True)
            known[symbol] = place
        return expression.subs(known, simultaneous=True) if chain else expression

    def _chain(self) -> list[sp.Symbol]:
        """Return symbols in the order of their size, each next to those that bound it.

        The least lies above 0.
        """
        chain: list[sp.Symbol] = []
        for interval in self.intervals:
            symbol, lower, upper = interval.symbol, interval.lower, interval.upper
            if not isinstance(symbol, sp.Symbol):
                continue
            if lower in chain:
                after = chain.index(lower) + 1
                if (upper is None and after == len(chain)) or (after < len(chain) and chain[after] == upper):
                    chain.insert(after, symbol)
            elif not chain and lower == 0 and upper is None and any(other.lower == symbol for other in self.intervals):
                chain.append(symbol)
        return chain

    def points(self, count: int) -> Iterator[Mapping[sp.Basic, Fraction]]:
        """Draw points with rational coordinates; one domain always gives the same points.

        Every entry of an indexed symbol has a value of its own.
        """
        rng = random.Random(str(self))  # noqa: S311
        for _ in range(count):
            point = self._point(rng)
            if point is not None:
                yield point

    def points_near_ends(self) -> Iterator[Mapping[sp.Basic, Fraction]]:
        """Return points with θ, or x, within 2^−20 of the width from an end."""
        rng = random.Random(str(self))  # noqa: S311
        for share in (_NEAR, 1 - _NEAR):
            point = self._point(rng, share)
            if point is not None:
                yield point

    def _point(self, rng: random.Random, share: Fraction | None = None) -> Mapping[sp.Basic, Fraction] | None:
        """Draw one point, θ and x at a share of their intervals if one is given.

        None where the low end of an interval is too large to be drawn above.
        """
        point: dict[sp.Basic, Fraction] = {N: Fraction(OWNERS)}
        if self.rows:
            point |= {symbol: Fraction(int(value.p), int(value.q)) for symbol, value in rng.choice(self.rows)}
        for interval in self.intervals:
            lower = Fraction(0) if interval.lower == -sp.oo else _value(interval.lower, point)
            if lower is None:
                return None
            upper = None if interval.upper is None else _value(interval.upper, point)
            at = share if interval.symbol in _VARIABLES else None
            if isinstance(interval.symbol, sp.IndexedBase):
                point |= {interval.symbol[k]: _draw(rng, lower, upper, at) for k in range(1, OWNERS + 1)}
            elif interval.symbol not in point:
                point[interval.symbol] = _draw(rng, lower, upper, at)
        return point


def _draw(rng: random.Random, lower: Fraction, upper: Fraction | None, at: Fraction | None) -> Fraction:
    """Draw a value between two ends, or take the one at a share."""
    if at is not None:
        return lower + (at / (1 - at) if upper is None else (upper - lower) * at)
    if upper is None:
        return lower + Fraction(rng.randrange(16, 33), 16) * Fraction(2) ** rng.randrange(-6, 3)
    share = rng.choice([Fraction(rng.randrange(1, _GRID), _GRID)] * 4 + [_NEAR, 1 - _NEAR])
    return lower + (upper - lower) * share


def _value(end: sp.Expr, point: Mapping[sp.Basic, Fraction]) -> Fraction | None:
    """Return an end of an interval at a point; None where it is not finite."""
    known = {symbol: sp.Rational(point[symbol].numerator, point[symbol].denominator) for symbol in end.free_symbols}
    return _rounded_down(end.xreplace(known))


@functools.lru_cache(maxsize=4096)
def _rounded_down(value: sp.Expr) -> Fraction | None:
    """Return a number, down to 2⁻ⁿ where irrational; None where not finite."""
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    number = value.evalf(_DIGITS)
    if not (number.is_Float and abs(number) < _LARGEST):
        return None
    if abs(number) > 1:  # as many digits behind the point as of a small one
        number = value.evalf(_DIGITS + math.ceil(math.log10(abs(number))))
    return Fraction(int(sp.floor(number * 2**_BITS)), 2**_BITS)
