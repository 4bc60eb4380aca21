"""What laws in doubt share: no single cdf, and an error for who asks for one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Never

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.valuation.composition._by_owner import ByOwner
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._verdict import CdfVerdict, Undecided, Verdict, worst_cdf


class InDoubt(Valuation):
    """Several laws, each of which may be the true one of all owners."""

    between: ClassVar[bool] = False
    """Whether every law between the first and the last may be the true one, too."""

    laws: tuple[Valuation, ...]
    """All of them, in the order of the user; of a band its edges, the lower one first."""
    weights: Floats | None
    """What each counts in a weighted mean; None where the worst one counts. They sum to 1."""

    @property
    def in_doubt(self) -> tuple[Valuation, ...]:
        """The laws that have a cdf."""
        return self.laws

    def _set_ends(self) -> None:
        self.low = _extreme(np.minimum, (law.low for law in self.laws))
        self.high = _extreme(np.maximum, (law.high for law in self.laws))

    def _size(self) -> int | None:
        return next((law.size for law in self.laws if law.size is not None), None)

    def _refuse(self, what: str) -> Never:
        raise InputError(
            f"the {self.name} law",
            f"has no single {what}, for which of its {len(self.laws)} laws is true is not known",
            remedy="ask one of its `laws`, or solve with it as it is",
        )

    def _cdf(self, theta: Floats) -> Floats:  # noqa: ARG002
        self._refuse("cdf")

    def _pdf(self, theta: Floats) -> Floats:  # noqa: ARG002
        self._refuse("density")

    def _log_cdf(self, theta: Floats) -> Floats:  # noqa: ARG002
        self._refuse("cdf")

    def _log_survival(self, theta: Floats) -> Floats:  # noqa: ARG002
        self._refuse("cdf")

    def _ppf(self, q: Floats) -> Floats:  # noqa: ARG002
        self._refuse("quantile")

    def _virtual_cost(self, theta: Floats) -> Floats:  # noqa: ARG002
        self._refuse("virtual cost")

    def _inverse_virtual_cost(self, v: Floats) -> Floats:  # noqa: ARG002
        self._refuse("virtual cost")

    def _regularity(self) -> Verdict:
        return Undecided("no single law has a virtual cost; prices are sought under all of them")

    def _is_proved_cdf(self) -> CdfVerdict:
        return worst_cdf(law.is_proved_cdf() for law in self.laws)

    def _family(self) -> Hashable:
        return (type(self), id(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.laws))})"


def _extreme(extreme: Callable[..., Floats], ends: Iterable[float | Floats]) -> float | Floats:
    found: float | Floats
    first, *others = ends
    found = first
    for end in others:
        found = extreme(found, end)
    if np.ndim(found) == 0:
        return float(found)
    column = np.array(found, dtype=np.float64)
    column.flags.writeable = False
    return column


@dataclass(frozen=True, eq=False)
class PossibleLaws:
    """The laws of n owners, each with a cdf, one of which is true of all."""

    laws: tuple[Valuation, ...]
    weights: Floats | None
    """Of a weighted mean; None where the worst one counts."""
    between: bool
    """Whether all laws between the first and the last are possible, too."""


def possible_laws(valuation: Valuation) -> PossibleLaws | None:
    """Return the laws that a law in doubt stands for; None for a law with a cdf.

    Owners may have bands of their own; their lower edges are one law then, and their upper ones
    another.
    """
    if isinstance(valuation, InDoubt):
        return PossibleLaws(valuation.laws, valuation.weights, valuation.between)
    if not isinstance(valuation, ByOwner):
        return None
    parts = list(valuation.parts())
    bands = [part for part, _ in parts if isinstance(part, InDoubt)]
    if not bands:
        return None
    edges = []
    for edge in (0, -1):
        rows = np.arange(valuation.size or 0)
        of_edge = [
            (rows[owners].tolist(), part.laws[edge] if isinstance(part, InDoubt) else part) for part, owners in parts
        ]
        edges.append(ByOwner.from_parts(of_edge))
    return PossibleLaws(tuple(edges), None, True)
