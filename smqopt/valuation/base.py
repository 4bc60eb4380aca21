"""What every law of valuations answers: cdf, pdf, quantiles, virtual cost and its inverse."""

from __future__ import annotations

import abc
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from smqopt.valuation.regularity import Verdict

__all__ = ["Floats", "Index", "Valuation"]

Floats = NDArray[np.float64]
Index = slice | NDArray[np.intp]


class Valuation(abc.ABC):
    """A law θ ~ F on [low, high], or n of them at once.

    A law whose parameters are all scalars is common to all owners (`size` is None). With an array of shape (n,) among the parameters it
    is one law an owner (`size` is n), and every argument of `cdf` and its kin must broadcast against (n,).

    Subclasses are final: they give the parameters and the formulas, and override nothing that is finished here.
    """

    name: ClassVar[str]
    """The name by which model files and certificates call the law."""
    parameters: ClassVar[tuple[str, ...]]
    """The names of its numeric parameters, in the order of the constructor."""
    ends_are_symbols: ClassVar[bool] = True
    """Whether derivations keep the ends of the support as symbols; a plugged-in formula has numbers for them."""
    formula: str
    """F(θ) on the support as text in `theta` and the parameters' names; derivations and proofs start from it."""

    low: float | Floats
    high: float | Floats

    # --- what a law gives --------------------------------------------------------------------------------------

    @abc.abstractmethod
    def cdf(self, t: ArrayLike) -> Floats:
        """Give F(t), for any real t: 0 below the support, 1 above."""

    @abc.abstractmethod
    def pdf(self, t: ArrayLike) -> Floats:
        """Give f(t), for any real t: 0 outside the support."""

    @abc.abstractmethod
    def ppf(self, q: ArrayLike) -> Floats:
        """Give F⁻¹(q) for q in [0, 1], in currency; NaN outside."""

    @abc.abstractmethod
    def virtual_cost(self, t: ArrayLike) -> Floats:
        """Give J(t) = t + F(t)/f(t) for t in the support, in currency; ends are limits; NaN outside (Appendix D)."""

    @abc.abstractmethod
    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        """Give the threshold at which J equals v, clipped to the support; v ≥ 0 may be infinite (KKT)."""

    @abc.abstractmethod
    def regularity(self) -> Verdict:
        """Decide whether J is non-decreasing: Regular, Irregular with a witness, or Undecided (errata E1)."""

    def offer(self, v: Floats) -> tuple[Floats, Floats]:
        """Give threshold and acceptance at v = ε/λ ≥ 0, both of v's shape; a law may override it with a faster form (KKT)."""
        theta = self.inverse_virtual_cost(v)
        return theta, self.cdf(theta)

    # --- what follows ------------------------------------------------------------------------------------------

    @property
    def size(self) -> int | None:
        """The number of owners the law speaks of, or None where it is common to all."""
        for name in self.parameters:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                return int(value.shape[0])
        return None

    @property
    def width(self) -> float | Floats:
        """The width high − low of the support, in currency."""
        return self.high - self.low

    def take(self, index: Index) -> Self:
        """Give the law of the owners at `index`; a common law is its own."""
        if self.size is None:
            return self
        return self._with(
            **{name: value[index] if isinstance(value, np.ndarray) else value for name, value in self._given().items()}
        )

    @abc.abstractmethod
    def scaled(self, factor: float) -> Self:
        """Give the law of `factor`·θ, factor > 0: the same law in another unit of currency."""

    @property
    def family(self) -> Hashable:
        """What laws must share to be stacked: the same class, and the same formula."""
        return (type(self), self.formula)

    def stacked(self, laws: Sequence[Valuation]) -> Valuation:
        """Gather common laws of this law's family into one law with a parameter an owner; equal laws stay common.

        Parameters
        ----------
        laws
            Common laws of one family, the order of the owners.
        """
        given = [law._given() for law in laws]
        columns = {name: np.array([row[name] for row in given], dtype=np.float64) for name in self.parameters}
        if all(np.all(column == column[0]) for column in columns.values()):
            return laws[0]
        for column in columns.values():
            column.flags.writeable = False
        return self._with(**columns)

    def parts(self) -> Iterator[tuple[Valuation, Index]]:
        """Split the owners by family of law: pairs of a law and the owners it holds for."""
        yield self, slice(None)

    def sample(self, rng: np.random.Generator, n: int | None = None) -> Floats:
        """Draw n independent valuations, or one an owner; shape (n,), in currency."""
        return self.ppf(rng.random(self.size if n is None else n))

    def to_dict(self) -> dict[str, Any]:
        """Give the law as data: what a model file's `[valuation]` table would say."""
        return {
            "law": self.name,
            **{
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in self._given().items()
            },
        }

    def _given(self) -> Mapping[str, float | Floats]:
        return {name: getattr(self, name) for name in self.parameters}

    def _with(self, **parameters: float | Floats) -> Self:
        """Make the same law with other parameters that are already known to be good."""
        law = object.__new__(type(self))
        for name in self.parameters:
            setattr(law, name, parameters[name])
        return law

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" if not isinstance(value, np.ndarray) else f"{name}=<{value.shape[0]} values>"
            for name, value in self._given().items()
        )
        return f"{type(self).__name__}({shown})"
