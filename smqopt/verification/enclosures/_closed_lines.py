"""Support lines of laws whose F and J are a few operations on doubles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from smqopt.numeric import Floats
from smqopt.valuation import Index, Power, Uniform
from smqopt.verification.enclosures._line_protocol import ABOVE, BELOW, UNIT, Lines

L = TypeVar("L", Uniform, Power)


def _closed_form(F: Floats, roundings: int, rent: Floats, theta: Floats, high: Floats | float) -> Lines:
    """Return lines from F and F/f in closed form, with so many roundings in F."""
    miss = (roundings + 2) * UNIT
    J = theta + rent
    at_high = theta >= high
    low = np.where(at_high, 1.0, F * (1.0 - miss))
    return Lines(low, np.minimum(F * (1.0 + miss), 1.0), J * BELOW, J * ABOVE)


def _by_owner(value: float | Floats, owners: Index) -> float | Floats:
    return value[owners] if isinstance(value, np.ndarray) else value


@dataclass(frozen=True, eq=False)
class _ClosedLines(Generic[L]):
    law: L
    slack: float = field(default=0.0, init=False)
    jumps: float = field(default=0.0, init=False)
    first_slope: float = field(default=np.nan, init=False)
    digest: str = field(default="", init=False)

    @property
    def rule(self) -> str:
        return self.law.regularity().method

    def ends(self, owners: Index) -> tuple[float | Floats, float | Floats]:
        return _by_owner(self.law.low, owners), _by_owner(self.law.high, owners)


@dataclass(frozen=True, eq=False)
class UniformLines(_ClosedLines[Uniform]):
    def at(self, theta: Floats, owners: Index) -> Lines:
        low, high = self.ends(owners)
        above = theta - low
        return _closed_form(above / (high - low), 3, above, theta, high)


@dataclass(frozen=True, eq=False)
class PowerLines(_ClosedLines[Power]):
    """F = x^k with 2k whole; it takes at most 2k products and a root."""

    doubled: int

    def at(self, theta: Floats, owners: Index) -> Lines:
        low, high = self.ends(owners)
        above = theta - low
        share = above / (high - low)
        F = np.sqrt(share) if self.doubled % 2 else np.ones_like(share)
        for _ in range(self.doubled // 2):
            F *= share
        # 3 roundings of each share, one of each product and of the root
        return _closed_form(F, 2 * self.doubled + self.doubled // 2 + 2, above / (0.5 * self.doubled), theta, high)
