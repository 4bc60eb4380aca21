"""What every law answers: cdf, pdf, quantiles, virtual cost and its inverse."""

from __future__ import annotations

import abc
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats, OutOfWorkError, count_work, increasing_root, points, work_limit
from smqopt.valuation.law._hazard_rule import HazardRule, decide_by_rule
from smqopt.valuation.law._owner_names import NAMES
from smqopt.valuation.law._quadrature import BOTH, integrate
from smqopt.valuation.law._verdict import CdfVerdict, Hazard, Regular, Undecided, Verdict

CANCELLED = 2.0**-4
"""Where 1 − F is less, its digits cancel."""
FOUND = ("_verdict", "_cdf_verdict", "_known_total", NAMES)
"""What a law has found of itself, and keeps."""
Index = slice | NDArray[np.intp]
Arguments = Mapping[str, float | Floats]
"""Numeric parameters by name: a number, or one an owner."""


class Valuation(abc.ABC):
    """A law θ ~ F on [low, high], or n of them at once.

    A law whose parameters are all scalars is common to all owners (`size` is None). With an array
    of shape (n,) among the parameters it is one law an owner (`size` is n), and every argument of
    `cdf` and its kin must broadcast against (n,).

    A law needs `low`, `high`, `_cdf` and `_pdf`. The methods without a leading underscore are
    final: they handle NaN and what lies outside the support, once for all laws, and call the hook
    of the same name within it. Every other hook has a default; a law fills it in where it knows a
    closed form. Where parameters may be arrays they are named in `parameters`, so that `take` and
    its kin can split them by owner.

    Examples
    --------
    A law in a few lines:

    >>> import numpy as np
    >>> class Parabola(Valuation):
    ...     low, high = 0.0, 1.0
    ...     def _cdf(self, theta: np.ndarray) -> np.ndarray: return theta**2
    ...     def _pdf(self, theta: np.ndarray) -> np.ndarray: return 2.0 * theta
    >>> F = Parabola()
    >>> round(float(F.virtual_cost(0.5)), 12), round(float(F.inverse_virtual_cost(0.75)), 12)
    (0.75, 0.5)
    """

    name: ClassVar[str] = "valuation"
    """The name by which model files and certificates call the law; that of the class by default."""
    parameters: tuple[str, ...] = ()
    """The names of its numeric parameters, in the order of the constructor."""
    in_currency: ClassVar[tuple[str, ...]] = ()
    """Those of them that are amounts, which another unit of currency multiplies; where a law names
    them, it is rescaled by them alone."""
    ends_are_symbols: ClassVar[bool] = True
    """Whether derivations keep the ends of the support as symbols; a plugged-in formula has numbers
    for them."""
    has_closed_form: ClassVar[bool] = True
    """Whether J might be inverted by a formula; where a law knows that it cannot, nobody waits for
    a derivation to find that out."""
    table_pays: ClassVar[bool] = True
    """Whether a table answers a price faster than the law does; False for a law whose `offer` is a
    few operations."""
    reads_table: ClassVar[bool] = False
    """Whether F is sooner read in the law's proved table than worked out, or has fewer digits."""
    joint: ClassVar[bool] = False
    """Whether one of several laws holds for all owners at once."""
    formula: str = ""
    """F(θ) on the support as text in `theta` and the parameters' names; derivations and proofs
    start from it. Empty where there is none."""

    low: float | Floats
    high: float | Floats
    _verdict: Verdict
    """What `regularity` has found, once it was asked."""
    _cdf_verdict: CdfVerdict
    """What `is_proved_cdf` has found, once it was asked."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.name == Valuation.name:
            cls.name = cls.__name__  # a law that gives itself no name goes by that of its class
        for method in FINAL & vars(cls).keys():  # a plug-in may fill a hook by its public name
            own = vars(cls)[method]
            setattr(cls, f"_{method}", own.fget if isinstance(own, property) else own)
            delattr(cls, method)

    # --- what a law gives, for θ in the support ---------------------------------------------------

    @abc.abstractmethod
    def _cdf(self, theta: Floats) -> Floats:
        """Compute F(θ)."""

    @abc.abstractmethod
    def _pdf(self, theta: Floats) -> Floats:
        """Compute f(θ)."""

    # --- what it may know better ------------------------------------------------------------------

    def _log_cdf(self, theta: Floats) -> Floats:
        """Compute log F(θ); a law fills it in where F can underflow."""
        return np.log(self.cdf(theta))

    def _log_survival(self, theta: Floats) -> Floats:
        """Compute log(1 − F(θ)).

        Where 1 − F cancels, it comes from the mass above θ, if f is smooth there.
        """
        shape, x, _, high = self.spread(theta)
        rest = 1.0 - np.broadcast_to(self.cdf(theta), shape).ravel()
        near = np.flatnonzero((rest < CANCELLED) & (x < high))
        if near.size:
            law = self.at(np.tile(near, BOTH.size))
            rest[near] = integrate(law.pdf, x[near], high[near], rest[near], np.ones(near.size))
        return np.where(rest < 0.5, np.log(rest), np.log1p(-np.broadcast_to(self.cdf(theta), shape).ravel())).reshape(
            shape
        )

    def _ppf(self, q: Floats) -> Floats:
        """Compute F⁻¹(q) for 0 < q < 1."""
        shape, u, low, high = self.spread(q)
        return increasing_root(lambda theta, k: self.at(k).cdf(theta) - u[k], low, high).reshape(shape)

    def _virtual_cost(self, theta: Floats) -> Floats:
        """Compute J(θ) = θ + F(θ)/f(θ)."""
        F, f = self.cdf(theta), self.pdf(theta)
        return theta + np.where(F > 0, F / f, 0.0)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        """Compute J⁻¹(v), v not NaN; what lies outside the support is clipped."""
        shape, price, low, high = self.spread(v)
        highest = np.broadcast_to(self.virtual_cost(self.high), shape).ravel()
        inside = np.flatnonzero((price > low) & (price < highest))
        top = np.minimum(high[inside], price[inside])  # J(θ) ≥ θ
        root = np.where(price <= low, low, high)
        root[inside] = increasing_root(
            lambda theta, k: self.at(inside[k]).virtual_cost(theta) - price[inside[k]], low[inside], top
        )
        return root.reshape(shape)

    def _offer(self, v: Floats) -> tuple[Floats, Floats]:
        """Compute threshold and acceptance.

        May use the memory of `v`, and give one array for both.
        """
        theta = self.inverse_virtual_cost(v)
        return theta, self.cdf(theta)

    def _regularity(self) -> Verdict:
        return Undecided("the law has no formula, and sampling alone proves nothing")

    def _is_proved_cdf(self) -> CdfVerdict:
        """Tell whether F is known to be a cdf.

        A law of the package has one by its construction; laws made of others ask these.
        """
        if type(self).__module__.partition(".")[0] == __name__.partition(".")[0]:
            return CdfVerdict(True, f"the {self.name} law has a cdf by its construction")
        return CdfVerdict(None, f"the {self.name} law comes from outside, where its values are all that is known")

    def _knots(self) -> Floats:
        """Where F or its density may jump inside the support; shape (k,) or (k, n)."""
        return np.empty(0)

    def _is_atom(self, theta: Floats) -> NDArray[np.bool_]:
        """Tell whether θ itself has mass; atoms are among the knots."""
        return np.zeros(theta.shape, dtype=np.bool_)

    def _has_falling_density(self) -> Any:
        """Whether f is known to be non-increasing; a bool, or one an owner."""
        return False

    def _turning_point(self) -> Floats | None:
        return None

    def _hazard_rule(self) -> HazardRule | None:
        """What is known of the hazard rate by the law's parameters alone."""
        return None

    def _monotone_hazard(self) -> Hazard:
        return decide_by_rule(self, self._hazard_rule())

    def _size(self) -> int | None:
        sizes = (value.shape[0] for value in self.arguments.values() if isinstance(value, np.ndarray))
        return next(sizes, None)

    def _arguments(self) -> Arguments:
        return {name: getattr(self, name) for name in self.parameters}

    def _take(self, index: Index) -> Valuation:
        given = self.arguments.items()
        return self.with_arguments({k: value[index] if isinstance(value, np.ndarray) else value for k, value in given})

    def _with(self, /, **arguments: float | Floats) -> Self:
        law = object.__new__(type(self))
        vars(law).update(self.extras() | arguments)
        return law

    def _family(self) -> Hashable:
        """A law that keeps more than its named parameters, or names none, is alone."""
        return (type(self), self.formula if self.parameters and not self.extras() else id(self))

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        given = [law.arguments for law in laws]
        columns = {name: np.array([row[name] for row in given], dtype=np.float64) for name in self.parameters}
        if all(np.all(column == column[0]) for column in columns.values()):
            return laws[0]
        for column in columns.values():
            column.flags.writeable = False
        return self.with_arguments(columns)

    def _rescale(self, factor: float) -> Valuation:
        if not self.in_currency:
            return Rescaled(self, factor)
        given = self.arguments.items()
        return self.with_arguments(
            {name: factor * value if name in self.in_currency else value for name, value in given}
        )

    def _parts(self) -> Iterator[tuple[Valuation, Index]]:
        yield self, slice(None)

    def _to_dict(self) -> Mapping[str, Any]:
        """What stands in the law's table, arrays as they are."""
        return {"law": self.name, **self.arguments}

    # --- what every law answers -------------------------------------------------------------------

    @final
    def cdf(self, t: ArrayLike) -> Floats:
        """Compute F(t) for any real t: 0 below the support."""
        theta = points(t, "t")
        count_work(theta.size)
        with np.errstate(all="ignore"):
            return np.where(theta < self.low, 0.0, self._cdf(self.clip(theta)))

    @final
    def pdf(self, t: ArrayLike) -> Floats:
        """Compute f(t) for any real t: 0 outside the support."""
        theta = points(t, "t")
        count_work(theta.size)
        with np.errstate(all="ignore"):
            return np.where(self.is_inside(theta), self._pdf(self.clip(theta)), 0.0)

    @final
    def log_cdf(self, t: ArrayLike) -> Floats:
        """Compute log F(t), −∞ where F is 0."""
        theta = points(t, "t")
        count_work(theta.size)
        with np.errstate(all="ignore"):
            return np.where(theta < self.low, -np.inf, self._log_cdf(self.clip(theta)))

    @final
    def log_survival(self, t: ArrayLike) -> Floats:
        """Compute log(1 − F(t)), −∞ where F is 1."""
        theta = points(t, "t")
        count_work(theta.size)
        with np.errstate(all="ignore"):
            return np.where(theta < self.low, 0.0, self._log_survival(self.clip(theta)))

    @final
    def ppf(self, q: ArrayLike) -> Floats:
        """Find the least θ with F(θ) ≥ q, in currency; low at 0, NaN outside [0, 1]."""
        u = points(q, "q")
        count_work(u.size)
        with np.errstate(all="ignore"):
            theta = self.clip(self._ppf(np.where((u > 0) & (u < 1), u, 0.5)))
        theta = np.where(u <= 0, self.low, np.where(u >= 1, self.high, theta))
        return np.where((u >= 0) & (u <= 1), theta, np.nan)

    @final
    def virtual_cost(self, t: ArrayLike) -> Floats:
        """Compute J(t) = t + F(t)/f(t), in currency (Appendix D); ends are limits.

        NaN outside.
        """
        theta = points(t, "t")
        count_work(theta.size)
        with np.errstate(all="ignore"):
            return np.where(self.is_inside(theta), self._virtual_cost(self.clip(theta)), np.nan)

    @final
    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        """Find the threshold at which J equals v ≥ 0, clipped to the support (KKT).

        The price v may be infinite.

        Where J falls this is a point at which it crosses v, or, for laws that know their hull, the
        point at which the ironed J does, the upper one at a tie.
        """
        price = points(v, "v")
        count_work(price.size)
        missing = np.isnan(price)
        with np.errstate(all="ignore"):
            theta = self.clip(self._inverse_virtual_cost(np.where(missing, 0.0, price)))
        return np.where(missing, np.nan, np.where(np.isposinf(price), self.high, theta))

    @final
    def offer(self, v: Floats) -> tuple[Floats, Floats]:
        """Find threshold and acceptance at v = ε/λ ≥ 0, both of v's shape (KKT).

        May overwrite `v`.
        """
        return self._offer(v)

    @final
    def regularity(self) -> Verdict:
        """Decide whether J is non-decreasing, once (errata E1)."""
        if "_verdict" not in vars(self):
            try:
                with work_limit(self.size or 0) as allowance:
                    self._verdict = self._regularity()
            except OutOfWorkError:
                self._verdict = Undecided(f"a proof takes {allowance.words}")
        return self._verdict

    @final
    def is_proved_cdf(self) -> CdfVerdict:
        """Decide, once, whether F is proved not to fall, with all its mass on the support.

        Returns
        -------
        CdfVerdict
            Nothing that rests on F is proved unless it is.
        """
        if "_cdf_verdict" not in vars(self):
            try:
                with work_limit(self.size or 0) as allowance:
                    self._cdf_verdict = self._is_proved_cdf()
            except OutOfWorkError:
                self._cdf_verdict = CdfVerdict(None, f"a proof takes {allowance.words}")
        return self._cdf_verdict

    @final
    def knots(self) -> Floats:
        """Find thresholds at which F or its density may jump, the ends among them.

        Returns
        -------
        array
            In currency, not falling along the first axis; shape (k,) for a common law, else (k, n).
        """
        owners = () if self.size is None else (self.size,)
        inner = self._knots()
        inner = inner if inner.ndim > len(owners) else inner[:, np.newaxis]
        rows = [np.asarray(self.low)[np.newaxis], inner, np.asarray(self.high)[np.newaxis]]
        spread = [np.broadcast_to(row, (row.shape[0], *owners)) for row in rows]
        return np.sort(self.clip(np.concatenate(spread)), axis=0)

    @final
    def is_atom(self, t: ArrayLike) -> NDArray[np.bool_]:
        """Tell whether F jumps at t: the valuation is then often t itself.

        Examples
        --------
        >>> import smqopt as smq
        >>> smq.Mixture([smq.PointMass(0), smq.Uniform(0, 1)], [0.3, 0.7]).is_atom([0.0, 0.5]).tolist()
        [True, False]
        """
        theta = points(t, "t")
        return np.asarray(self._is_atom(self.clip(theta)) & self.is_inside(theta))

    @property
    @final
    def has_atoms(self) -> bool:
        """Whether F jumps anywhere, for any owner."""
        return bool(self.is_atom(self.knots()).any())

    @final
    def monotone_hazard(self) -> Hazard:
        """Decide whether the hazard rate f/(1 − F) is non-decreasing.

        The paper's condition (A2).

        It is the seller's condition, and neither implies regularity nor follows from it (errata
        E1); it is reported, and decides nothing.
        """
        return self._monotone_hazard()

    @final
    def has_falling_density(self) -> bool:
        """Tell whether f is known to be non-increasing, for every owner.

        False says nothing.

        Examples
        --------
        >>> import smqopt as smq
        >>> smq.Uniform(0, 1).has_falling_density(), smq.Power(2).has_falling_density()
        (True, False)
        """
        return bool(np.all(self._has_falling_density()))

    @final
    def turning_point(self) -> Floats | None:
        """Find the price at which f turns, once, from falling to rising or back.

        In currency.

        Returns
        -------
        array or None
            NaN where f is monotone; None where that is not known.
        """
        with np.errstate(all="ignore"):
            return self._turning_point()

    @property
    @final
    def size(self) -> int | None:
        """The number of owners the law speaks of, or None where it is common to all."""
        return self._size()

    @property
    @final
    def width(self) -> float | Floats:
        """The width high − low of the support, in currency."""
        return self.high - self.low

    @property
    @final
    def arguments(self) -> Arguments:
        """The numeric parameters by name, in the order of `parameters`."""
        return self._arguments()

    @final
    def take(self, index: Index) -> Valuation:
        """Select the owners at `index`; a common law is its own."""
        if self.size is None:
            return self
        taken = self._take(index)
        vars(taken).pop(NAMES, None)
        return taken

    @property
    @final
    def family(self) -> Hashable:
        """What laws must share to be stacked."""
        return self._family()

    @final
    def stack(self, laws: Sequence[Valuation]) -> Valuation:
        """Gather common laws of this law's family into one, with a parameter an owner.

        Equal ones stay common.
        """
        return self._stack(laws)

    @final
    def rescale(self, factor: float) -> Valuation:
        """Make the law of `factor`·θ, factor > 0.

        The same law in another unit of currency.
        """
        return self._rescale(factor)

    scaled = rescale
    """The former name of `rescale`."""

    @final
    def parts(self) -> Iterator[tuple[Valuation, Index]]:
        """Split the owners by family of law: pairs of a law and the owners it holds for."""
        return self._parts()

    @final
    def sample(self, rng: np.random.Generator, n: int | None = None) -> Floats:
        """Draw n independent valuations, or one an owner; shape (n,), in currency."""
        return self.ppf(rng.random(self.size if n is None else n))

    @final
    def to_dict(self) -> dict[str, Any]:
        """Return the law as data: what a model file's `[valuation]` table would say."""
        return {key: v.tolist() if isinstance(v, np.ndarray) else v for key, v in self._to_dict().items()}

    # --- for those who write laws -----------------------------------------------------------------

    @final
    def clip(self, theta: Floats) -> Floats:
        """Move θ into the support; NaN stays."""
        return np.clip(theta, self.low, self.high)

    @final
    def is_inside(self, theta: Floats) -> NDArray[np.bool_]:
        """Tell whether θ lies in the support."""
        return (theta >= self.low) & (theta <= self.high)

    @final
    def spread(self, x: ArrayLike) -> tuple[tuple[int, ...], Floats, Floats, Floats]:
        """Spread an argument and the ends of the support over one shape, and flatten them."""
        owners = () if self.size is None else (self.size,)
        shape = np.broadcast_shapes(np.shape(x), owners)
        flat = [
            np.broadcast_to(np.asarray(array, dtype=np.float64), shape).ravel() for array in (x, self.low, self.high)
        ]
        return shape, flat[0], flat[1], flat[2]

    @final
    def at(self, index: NDArray[np.intp]) -> Self:
        """Select elements of a flattened argument.

        Its last axis runs over the owners.
        """
        law = self if self.size is None else self.take(index % self.size)
        assert isinstance(law, type(self))  # noqa: S101
        return law

    @final
    def with_arguments(self, arguments: Arguments) -> Self:
        """Make the same law with other parameters, which are known to be good."""
        law = self._with(**arguments)
        if NAMES in vars(self):
            setattr(law, NAMES, vars(self)[NAMES])
        return law

    @final
    def keep_regular(self, law: Self) -> Self:
        """Pass on that all owners' laws are regular: to some of them, or in another unit."""
        verdict = vars(self).get("_verdict")
        if isinstance(verdict, Regular):
            law._verdict = verdict
        cdf_verdict = vars(self).get("_cdf_verdict")
        if cdf_verdict is not None and cdf_verdict.is_proved:
            law._cdf_verdict = cdf_verdict
        return law

    @final
    def extras(self) -> dict[str, Any]:
        """What the law keeps beside its named parameters and its verdict.

        A third party may keep anything.
        """
        return {name: value for name, value in vars(self).items() if name not in (*self.parameters, *FOUND)}

    def __repr__(self) -> str:
        shown = (
            f"{name}=<{value.shape[0]} values>" if isinstance(value, np.ndarray) else f"{name}={value!r}"
            for name, value in self.arguments.items()
        )
        return f"{type(self).__name__}({', '.join(shown)})"


FINAL = frozenset(
    name
    for name, member in vars(Valuation).items()
    if not name.startswith("_") and (callable(member) or isinstance(member, property))
)
"""What no law overrides."""


@final
class Rescaled(Valuation):
    """The law of factor·θ for a law of θ.

    `Valuation.rescale` where a law does not know better.
    """

    name = "rescaled"

    def __init__(self, law: Valuation, factor: float) -> None:
        self.law, self.factor = law, factor
        self.low, self.high = factor * law.low, factor * law.high

    def _size(self) -> int | None:
        return self.law.size

    def _cdf(self, theta: Floats) -> Floats:
        return self.law.cdf(self._in_its_units(theta))

    def _pdf(self, theta: Floats) -> Floats:
        return self.law.pdf(self._in_its_units(theta)) / self.factor

    def _log_cdf(self, theta: Floats) -> Floats:
        return self.law.log_cdf(self._in_its_units(theta))

    def _log_survival(self, theta: Floats) -> Floats:
        return self.law.log_survival(self._in_its_units(theta))

    def _ppf(self, q: Floats) -> Floats:
        return self.factor * self.law.ppf(q)

    def _virtual_cost(self, theta: Floats) -> Floats:
        return self.factor * self.law.virtual_cost(self._in_its_units(theta))

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        return self.factor * self.law.inverse_virtual_cost(v / self.factor)

    def _regularity(self) -> Verdict:
        return self.law.regularity().rescale(self.factor)

    def _is_proved_cdf(self) -> CdfVerdict:
        return self.law.is_proved_cdf()

    def _knots(self) -> Floats:
        return self.factor * self.law.knots()

    def _is_atom(self, theta: Floats) -> NDArray[np.bool_]:
        return self.law.is_atom(self._in_its_units(theta))

    def _has_falling_density(self) -> bool:
        return self.law.has_falling_density()

    def _turning_point(self) -> Floats | None:
        inner = self.law.turning_point()
        return None if inner is None else self.factor * inner

    def _monotone_hazard(self) -> Hazard:
        return self.law.monotone_hazard().rescale(self.factor)

    def _take(self, index: Index) -> Rescaled:
        return Rescaled(self.law.take(index), self.factor)

    def _to_dict(self) -> Mapping[str, Any]:
        return {"law": self.name, "factor": self.factor, "valuation": self.law.to_dict()}

    def _in_its_units(self, theta: Floats) -> Floats:
        """Compute θ/factor; rounding takes no end of the support for another place."""
        x = np.clip(theta / self.factor, self.law.low, self.law.high)
        return np.where(theta <= self.low, self.law.low, np.where(theta >= self.high, self.law.high, x))
