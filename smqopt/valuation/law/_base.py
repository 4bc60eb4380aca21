"""What every law of valuations answers: cdf, pdf, quantiles, virtual cost and its inverse."""

from __future__ import annotations

import abc
import importlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats, increasing_root
from smqopt.valuation.law._verdict import Hazard, Irregular, Undecided, Verdict

Index = slice | NDArray[np.intp]


class Valuation(abc.ABC):
    """A law θ ~ F on [low, high], or n of them at once.

    A law whose parameters are all scalars is common to all owners (`size` is None). With an array
    of shape (n,) among the parameters it is one law an owner (`size` is n), and every argument of
    `cdf` and its kin must broadcast against (n,).

    A law needs `low`, `high`, `cdf` and `pdf`; all else has a default, and a law overrides it where
    it knows a closed form. Where parameters may be arrays they are named in `parameters`, so that
    `take` and its kin can split them by owner.

    Examples
    --------
    A law in a few lines:

    >>> class Parabola(Valuation):
    ...     low, high = 0.0, 1.0
    ...     def cdf(self, t): return np.clip(t, 0.0, 1.0) ** 2
    ...     def pdf(self, t): return np.where((np.asarray(t) >= 0) & (np.asarray(t) <= 1), 2.0 * np.asarray(t), 0.0)
    >>> F = Parabola()
    >>> round(float(F.virtual_cost(0.5)), 12), round(float(F.inverse_virtual_cost(0.75)), 12)
    (0.75, 0.5)
    """

    name: ClassVar[str] = "valuation"
    """The name by which model files and certificates call the law; that of the class by default."""
    parameters: ClassVar[tuple[str, ...]] = ()
    """The names of its numeric parameters, in the order of the constructor."""
    ends_are_symbols: ClassVar[bool] = True
    """Whether derivations keep the ends of the support as symbols; a plugged-in formula has numbers
    for them."""
    has_closed_form: ClassVar[bool] = True
    """Whether J might be inverted by a formula; where a law knows that it cannot, nobody waits for
    a derivation to find that out."""
    table_pays: ClassVar[bool] = True
    """Whether a table answers a price faster than the law does; False for a law whose `offer` is a
    few operations."""
    formula: str = ""
    """F(θ) on the support as text in `theta` and the parameters' names; derivations and proofs
    start from it. Empty where there is none."""

    low: float | Floats
    high: float | Floats

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.name == Valuation.name:
            cls.name = cls.__name__  # a law that gives itself no name goes by that of its class

    # --- what a law gives --------------------------------------------------------------------------------------

    @abc.abstractmethod
    def cdf(self, t: ArrayLike) -> Floats:
        """Give F(t), for any real t: 0 below the support, 1 above."""

    @abc.abstractmethod
    def pdf(self, t: ArrayLike) -> Floats:
        """Give f(t), for any real t: 0 outside the support."""

    # --- what it may know better -------------------------------------------------------------------------------

    def log_cdf(self, t: ArrayLike) -> Floats:
        """Give log F(t), −∞ where F is 0; a law overrides it where F can underflow."""
        with np.errstate(divide="ignore"):
            return np.log(self.cdf(t))

    def log_survival(self, t: ArrayLike) -> Floats:
        """Give log(1 − F(t)), −∞ where F is 1; a law overrides it where 1 − F can cancel."""
        with np.errstate(divide="ignore"):
            return np.log1p(-self.cdf(t))

    def ppf(self, q: ArrayLike) -> Floats:
        """Give F⁻¹(q) for q in [0, 1], in currency: the least θ with F(θ) ≥ q; NaN outside."""
        shape, u, low, high = self._broadcast(q)
        root = increasing_root(lambda theta, k: self._at(k).cdf(theta) - u[k], low, high)
        root = np.where(u <= 0, low, np.where(u >= 1, high, root))
        return np.where((u >= 0) & (u <= 1), root, np.nan).reshape(shape)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        """Give J(t) = t + F(t)/f(t) for t in the support, in currency; ends are limits; NaN outside (Appendix D)."""
        theta = np.asarray(t, dtype=np.float64)
        F, f = self.cdf(theta), self.pdf(theta)
        with np.errstate(divide="ignore", invalid="ignore"):
            rent = np.where(F > 0, F / f, 0.0)
        return np.where((theta >= self.low) & (theta <= self.high), theta + rent, np.nan)

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        """Give the threshold at which J equals v, clipped to the support; v ≥ 0 may be infinite (KKT). For regular laws."""
        shape, price, low, high = self._broadcast(v)
        highest = np.broadcast_to(self.virtual_cost(self.high), shape).ravel()
        inside = np.flatnonzero((price > low) & (price < highest))
        top = np.minimum(high[inside], price[inside])  # J(θ) ≥ θ
        root = np.where(np.isnan(price), np.nan, np.where(price <= low, low, high))
        root[inside] = increasing_root(
            lambda theta, k: self._at(inside[k]).virtual_cost(theta) - price[inside[k]], low[inside], top
        )
        return root.reshape(shape)

    def regularity(self) -> Verdict:
        """Decide whether J is non-decreasing: Regular, Irregular with a witness, or Undecided (errata E1)."""
        return Undecided("the law gives no formula, and sampling alone proves nothing")

    def monotone_hazard(self) -> Hazard:
        """Decide whether the hazard rate f/(1 − F) is non-decreasing: the paper's own condition (A2), which is not what OP2 needs (errata E1)."""
        found: Hazard = importlib.import_module("smqopt.valuation.law._hazard_verdict").decide_hazard(self)
        return found

    def offer(self, v: Floats) -> tuple[Floats, Floats]:
        """Give threshold and acceptance at v = ε/λ ≥ 0, both of v's shape (KKT).

        A law may override it with a faster form, which may use the memory of `v`, and give one
        array for both where F(θ) = θ.
        """
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

    def take(self, index: Index) -> Valuation:
        """Give the law of the owners at `index`; a common law is its own."""
        if self.size is None:
            return self
        return self._with(
            **{name: value[index] if isinstance(value, np.ndarray) else value for name, value in self._given().items()}
        )

    @property
    def family(self) -> Hashable:
        """What laws must share to be stacked: the same class and formula; a law that keeps more than its named parameters, or names none, is alone."""
        if not self.parameters or self._unnamed():
            return (type(self), id(self))
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

    def scaled(self, factor: float) -> Valuation:
        """Give the law of `factor`·θ, factor > 0: the same law in another unit of currency."""
        return Rescaled(self, factor)

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

    def _broadcast(self, x: ArrayLike) -> tuple[tuple[int, ...], Floats, Floats, Floats]:
        """Spread an argument and the ends of the support over one shape, and flatten them."""
        owners = () if self.size is None else (self.size,)
        shape = np.broadcast_shapes(np.shape(x), owners)
        spread = (
            np.broadcast_to(np.asarray(array, dtype=np.float64), shape).ravel() for array in (x, self.low, self.high)
        )
        argument, low, high = spread
        return shape, argument, low, high

    def _at(self, index: NDArray[np.intp]) -> Valuation:
        """The law of the elements at `index` of a flattened argument, the last axis of which runs over the owners."""
        return self if self.size is None else self.take(index % self.size)

    def _given(self) -> Mapping[str, float | Floats]:
        return {name: getattr(self, name) for name in self.parameters}

    def _with(self, **parameters: float | Floats) -> Self:
        """Make the same law with other parameters that are already known to be good."""
        law = object.__new__(type(self))
        vars(law).update(self._unnamed())
        for name in self.parameters:
            setattr(law, name, parameters[name])
        return law

    def _unnamed(self) -> Mapping[str, Any]:
        """Give what the law keeps beside its named parameters; a third party may keep anything."""
        return {name: value for name, value in vars(self).items() if name not in self.parameters}

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" if not isinstance(value, np.ndarray) else f"{name}=<{value.shape[0]} values>"
            for name, value in self._given().items()
        )
        return f"{type(self).__name__}({shown})"


@final
class Rescaled(Valuation):
    """The law of factor·θ for a law of θ: what `Valuation.scaled` gives where a law does not know better."""

    name = "rescaled"

    def __init__(self, law: Valuation, factor: float) -> None:
        self._law, self._factor = law, factor
        self.low, self.high = factor * law.low, factor * law.high

    @property
    def size(self) -> int | None:
        """The number of owners of the law that is rescaled."""
        return self._law.size

    def cdf(self, t: ArrayLike) -> Floats:
        """Give F(t/factor)."""
        return self._law.cdf(self._in_its_units(t))

    def pdf(self, t: ArrayLike) -> Floats:
        """Give f(t/factor)/factor."""
        return self._law.pdf(self._in_its_units(t)) / self._factor

    def log_cdf(self, t: ArrayLike) -> Floats:
        """Give log F(t/factor)."""
        return self._law.log_cdf(self._in_its_units(t))

    def log_survival(self, t: ArrayLike) -> Floats:
        """Give log(1 − F(t/factor))."""
        return self._law.log_survival(self._in_its_units(t))

    def ppf(self, q: ArrayLike) -> Floats:
        """Give factor·F⁻¹(q)."""
        return self._factor * self._law.ppf(q)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        """Give factor·J(t/factor)."""
        return self._factor * self._law.virtual_cost(self._in_its_units(t))

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        """Give factor·J⁻¹(v/factor)."""
        return self._factor * self._law.inverse_virtual_cost(np.asarray(v, dtype=np.float64) / self._factor)

    def regularity(self) -> Verdict:
        """Give the verdict of the law that is rescaled: units do not matter."""
        verdict = self._law.regularity()
        if isinstance(verdict, Irregular):
            (a, b), (ja, jb), c = verdict.witness, verdict.virtual_costs, self._factor
            return Irregular(verdict.method, (c * a, c * b), (c * ja, c * jb), verdict.owner)
        return verdict

    def take(self, index: Index) -> Rescaled:
        """Give the law of the owners at `index`."""
        return Rescaled(self._law.take(index), self._factor)

    def _in_its_units(self, t: ArrayLike) -> Floats:
        """Give t/factor; rounding takes no end of the support for another place, and nothing in or out of it."""
        theta = np.asarray(t, dtype=np.float64)
        low, high = np.asarray(self._law.low), np.asarray(self._law.high)
        x = theta / self._factor
        inside = np.where(theta <= self.low, low, np.where(theta >= self.high, high, np.clip(x, low, high)))
        outside = np.where(
            theta < self.low, np.minimum(x, np.nextafter(low, -np.inf)), np.maximum(x, np.nextafter(high, np.inf))
        )
        return np.where((theta < self.low) | (theta > self.high), outside, np.where(np.isnan(theta), theta, inside))

    def to_dict(self) -> dict[str, Any]:
        """Give the law as data."""
        return {"law": self.name, "factor": self._factor, "valuation": self._law.to_dict()}
