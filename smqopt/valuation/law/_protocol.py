"""What those who decide about laws ask of one, so that laws can ask them in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats


class Law(Protocol):
    """The part of a `Valuation` that decisions rest on."""

    name: ClassVar[str]
    parameters: tuple[str, ...]
    ends_are_symbols: ClassVar[bool]
    formula: str
    low: float | Floats
    high: float | Floats

    @property
    def size(self) -> int | None:
        """The number of owners, or None for a common law."""

    @property
    def arguments(self) -> Mapping[str, float | Floats]:
        """The numeric parameters by name."""

    def take(self, index: slice | NDArray[np.intp]) -> Law:
        """Select owners."""

    def cdf(self, t: ArrayLike) -> Floats:
        """Compute F(t)."""

    def pdf(self, t: ArrayLike) -> Floats:
        """Compute f(t)."""

    def log_survival(self, t: ArrayLike) -> Floats:
        """Compute log(1 − F(t))."""


@runtime_checkable
class LawsInDoubt(Protocol):
    """Several laws, each of which may be the true one."""

    @property
    def in_doubt(self) -> tuple[Any, ...]:
        """All of them."""
