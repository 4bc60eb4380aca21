"""Support lines of laws whose F and J are a few operations on doubles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from smqopt.numeric import Floats
from smqopt.valuation import Index, Power, Uniform
from smqopt.verification.enclosures._line_protocol import ABOVE, BELOW, UNDERFLOW, UNIT, Lines

L = TypeVar("L", Uniform, Power)


def _closed_form(
    F: Floats, roundings: int, theta: Floats, ends: tuple[Floats | float, Floats | float], doubled: int = 2
) -> Lines:
    """Return lines from F = x^k in closed form, with so many roundings in F, and 2k."""
    miss, above = (roundings + 2) * UNIT, theta - ends[0]
    lost = np.where(above > 0, np.sqrt(UNDERFLOW) if doubled % 2 else UNDERFLOW, 0.0)
    J = theta + above / (0.5 * doubled)
    low = np.where(theta >= ends[1], 1.0, np.maximum(F * (1.0 - miss) - lost, 0.0))
    return Lines(low, np.minimum(F * (1.0 + miss) + lost, 1.0), J * BELOW, J * ABOVE)


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
        return _closed_form((theta - low) / (high - low), 3, theta, (low, high))


@dataclass(frozen=True, eq=False)
class PowerLines(_ClosedLines[Power]):
    """F = x^k with 2k whole; it takes at most 2k products and a root."""

    doubled: int

    def at(self, theta: Floats, owners: Index) -> Lines:
        low, high = self.ends(owners)
        share = (theta - low) / (high - low)
        F = np.sqrt(share) if self.doubled % 2 else np.ones_like(share)
        for _ in range(self.doubled // 2):
            F *= share
        # 3 roundings of each share, one of each product and of the root
        return _closed_form(F, 2 * self.doubled + self.doubled // 2 + 2, theta, (low, high), self.doubled)
