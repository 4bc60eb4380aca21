"""A law cut to a part of its support."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.algebra import if_readable, rename_symbols
from smqopt.errors import InputError, check_kind
from smqopt.numeric import Floats
from smqopt.valuation.composition._by_owner import ByOwner
from smqopt.valuation.composition._mixture import Mixture
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._external import validate_foreign
from smqopt.valuation.law._hazard_rule import decide_by_formula
from smqopt.valuation.law._parameters import check_keys, checked_parameters, require
from smqopt.valuation.law._verdict import CdfVerdict, Hazard, Irregular, Regular, Undecided, Verdict
from smqopt.valuation.monotonicity._grid_search import seek_fall
from smqopt.valuation.tabular._discrete import Discrete
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform
from smqopt.valuation.tabular._point_mass import PointMass
from smqopt.valuation.truncation._by_mass import TruncatedByMass

_CLOSED = frozenset(
    {"uniform", "truncated-exponential", "gamma", "weibull", "log-normal", "normal", "logistic", "pareto"}
)
"""Laws whose truncation is the same law with other ends."""
_WHOLE = "whole_"
"""What the parameters of the whole law are called as parameters of its truncation."""


def Truncated(law: Valuation, low: ArrayLike, high: ArrayLike) -> Valuation:
    """Return the law of θ given low ≤ θ ≤ high.

    F(θ) = (G(θ) − G(low))/(G(high) − G(low)) for G the law's own cdf.

    Where the truncation is itself a law by name (a normal, a histogram, a price list), that law is
    given. A regular law stays regular.

    Parameters
    ----------
    law
        Any law; common, or one an owner.
    low, high
        New ends of the support, in currency; scalars or shape (n,); what lies outside the law's own
        support is cut off.

    Raises
    ------
    InputError
        If an end is not a number, the two supports do not meet, or no mass is left.

    Examples
    --------
    >>> import smqopt as smq
    >>> F = Truncated(smq.Beta(2, 3), 0.25, 0.75)
    >>> F.low, F.high, round(float(F.cdf(0.5)), 12)
    (0.25, 0.75, 0.619318181818)
    """
    where = "truncated"
    check_kind(law, Valuation, f"{where}: argument 'law'", "a law")
    if isinstance(law, ByOwner):
        raise InputError(
            f"{where}: argument 'law'",
            "must be of one family",
            value=repr(law),
            remedy="truncate the laws before ByOwner",
        )
    validate_foreign(law)
    parts = [part for part, _ in law.parts()]
    if len(parts) == 1 and parts[0].size == law.size:
        law = parts[0]  # of a law by another name, as that of samples
    given = checked_parameters(where, low=low, high=high)
    sizes = {np.size(end) for end in given.values() if isinstance(end, np.ndarray)} | ({law.size} - {None})
    if len(sizes) > 1:
        raise InputError(
            f"{where}: parameters 'low' and 'high'",
            f"must have {law.size} values like the law",
            value=max(sizes - {law.size}, key=str),
            remedy="give one an owner",
        )
    bottom, top = (
        _end(pick(given[name], getattr(law, name))) for name, pick in (("low", np.maximum), ("high", np.minimum))
    )
    if law.has_atoms:
        if law.size is not None or np.ndim(bottom) or np.ndim(top):
            raise InputError(
                f"{where}: parameters 'low' and 'high'",
                "must be numbers, and a law with atoms common to all owners",
                value=np.shape(bottom) or np.shape(top),
                remedy="give ByOwner the truncations",
            )
        kept = _within(law, float(np.ravel(bottom)[0]), float(np.ravel(top)[0]))
        if kept is None:
            raise InputError("truncated", "leaves no mass", value=f"[{low!r}, {high!r}]", remedy="choose other ends")
        return kept
    require(
        where,
        "high",
        top,
        np.asarray(top) > np.asarray(bottom),
        "must lie above low, within the law's support",
        "choose ends inside the support",
    )
    if isinstance(law, PiecewiseUniform) and np.ndim(bottom) == np.ndim(top) == 0:
        return _fewer_pieces(law, float(bottom), float(top))
    if law.name in _CLOSED:
        return law.with_arguments({**law.arguments, "low": bottom, "high": top})
    whole = (
        law.law if isinstance(law, TruncatedLaw) else law
    )  # a cut of a cut is one cut: bottom and top lie within both
    truncated = TruncatedLaw(whole, bottom, top)
    mass = np.broadcast_to(truncated.mass, truncated.size or 1)
    require(where, "low", mass, mass > 0, "leaves no mass", "choose other ends")
    return truncated


@final
class TruncatedLaw(TruncatedByMass):
    """A law between two ends within its support, where that is no other law by name.

    Made by `Truncated`.
    """

    name = "truncated"
    reads_table = True
    ends_are_symbols = False

    low: float | Floats
    high: float | Floats

    def __init__(self, law: Valuation, low: float | Floats, high: float | Floats) -> None:
        self.law, self.low, self.high = law, low, high
        self.parameters = tuple(self._arguments())
        if law.formula and self.size is None:
            # the whole law's ends are written as the numbers they are, for symbols would not know
            # that low and high lie between them
            names = {name: _WHOLE + name for name in law.parameters}
            ends = {name: f"({Fraction(float(law.arguments[name]))})" for name in ("low", "high")}
            F, bottom, top = (
                rename_symbols(law.formula, {**names, **ends, "theta": at}) for at in ("theta", "low", "high")
            )
            self.formula = if_readable(f"(({F}) - ({bottom}))/(({top}) - ({bottom}))")

    def _arguments(self) -> dict[str, float | Floats]:
        whole = {_WHOLE + name: value for name, value in self.law.arguments.items()}
        return {"low": self.low, "high": self.high, **whole}

    def _size(self) -> int | None:
        if self.law.size is not None:
            return self.law.size
        return next((end.size for end in (self.low, self.high) if isinstance(end, np.ndarray)), None)

    @property
    def mass(self) -> Floats:
        """The whole law's mass on the support.

        As a share of its mass up to high or from low on where it has underflowed; shape () or (n,).
        """
        _, low, bottom, top = self.spread(self.low)
        with np.errstate(all="ignore"):
            return self.at(np.arange(low.size)).interval_mass(bottom, top)[0]

    @property
    def has_closed_form(self) -> bool:  # type: ignore[override]
        """Whether J might be inverted by a formula.

        A cut from above alone leaves J as it is; after one from below no formula is looked for.
        """
        return bool(self.law.has_closed_form and np.all(np.asarray(self.low) == self.law.low))

    def leaves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Valuation]]:
        """Return the laws whose mixture this is, if it is cut from a mixture.

        Each with the owners who have some of it, and its share of theirs.
        """
        if not isinstance(self.law, Mixture):
            return
        size = self.size or 1
        low, high = (np.broadcast_to(end, size) for end in (self.low, self.high))
        cuts = []
        for weight, law in self.law.leaves():
            bottom, top = np.maximum(low, law.low), np.minimum(high, law.high)
            upper = law.cdf(bottom) > 0.5  # where differences of F would lose digits
            below, above = (
                law.cdf(top) - law.cdf(bottom),
                np.exp(law.log_survival(bottom)) - np.exp(law.log_survival(top)),
            )
            cuts.append((law, bottom, top, weight * np.where(top > bottom, np.where(upper, above, below), 0.0)))
        whole = np.sum([mass for *_, mass in cuts], axis=0)
        for law, bottom, top, mass in cuts:
            owners = np.flatnonzero(mass > 0)
            if self.size is None and owners.size:
                yield owners, mass / whole, Truncated(law, float(bottom[0]), float(top[0]))
            elif owners.size:
                of = law if law.size is None else law.take(owners)
                yield owners, (mass / whole)[owners], Truncated(of, bottom[owners], top[owners])

    def _is_proved_cdf(self) -> CdfVerdict:
        return self.law.is_proved_cdf()

    def _knots(self) -> Floats:
        return self.law.knots()

    def _regularity(self) -> Verdict:
        verdict = self.law.regularity()
        if isinstance(verdict, Regular):
            return Regular(f"truncation keeps it: {verdict.method}")
        if (
            isinstance(verdict, Irregular)
            and verdict.witness[1] <= np.min(self.high)
            and np.all(np.asarray(self.low) == self.law.low)
        ):
            return verdict  # cut from above alone, J is what it was
        if self.size is None:
            from smqopt.valuation.monotonicity._on_pieces import decide_in_pieces  # noqa: PLC0415 (loads sympy)

            decided = decide_in_pieces(self)
            if not isinstance(decided, Undecided) or self.formula:
                return decided
        elif self.formula:
            from smqopt.valuation.monotonicity._virtual_cost import decide_regularity  # noqa: PLC0415 (loads sympy)

            return decide_regularity(self)
        return seek_fall(self, "the whole law is not known to be regular")

    def _has_falling_density(self) -> bool:
        return self.law.has_falling_density()

    def _turning_point(self) -> Floats | None:
        return self.law.turning_point()

    def _monotone_hazard(self) -> Hazard:
        """Cut from below h is what it was.

        Cut from above, its log slope f′/f + f/(F(high) − F) only grows.
        """
        whole = self.law.monotone_hazard()
        if whole.monotone:
            return Hazard(True, f"truncation keeps it: {whole.method}")
        return decide_by_formula(self)

    def _take(self, index: Index) -> TruncatedLaw:
        low, high = (end[index] if isinstance(end, np.ndarray) else end for end in (self.low, self.high))
        return self.keep_regular(TruncatedLaw(self.law.take(index), low, high))

    def _rescale(self, factor: float) -> TruncatedLaw:
        return self.keep_regular(TruncatedLaw(self.law.rescale(factor), factor * self.low, factor * self.high))

    def _family(self) -> Hashable:
        return (type(self), self.law.family)

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        given = [cast("TruncatedLaw", law) for law in laws]
        low, high = (_column([float(getattr(law, name)) for law in given]) for name in ("low", "high"))
        return TruncatedLaw(self.law.stack([law.law for law in given]), low, high)

    def _to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "valuation": self.law.to_dict(), "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        low, high = (
            f"<{end.size} values>" if isinstance(end, np.ndarray) else repr(end) for end in (self.low, self.high)
        )
        return f"Truncated({self.law!r}, {low}, {high})"

    # --- the whole law ----------------------------------------------------------------------------

    def _whole_cdf(self, theta: Floats) -> Floats:
        return self.law.cdf(theta)

    def _whole_survival(self, theta: Floats) -> Floats:
        return np.exp(self.law.log_survival(theta))

    def _whole_log_cdf(self, theta: Floats) -> Floats:
        return self.law.log_cdf(theta)

    def _whole_log_survival(self, theta: Floats) -> Floats:
        return self.law.log_survival(theta)

    def _whole_pdf(self, theta: Floats) -> Floats:
        return self.law.pdf(self._below_joint(theta))

    def _whole_log_pdf(self, theta: Floats) -> Floats:
        return np.log(self._whole_pdf(theta))

    def _below_joint(self, theta: Floats) -> Floats:
        """Move high below a joint of a mixture, whose density there is the one beyond."""
        high = np.asarray(self.high)
        if not isinstance(self.law, Mixture) or not np.any(theta >= high):
            return theta
        return np.where((theta >= high) & np.isin(high, self.law.knots()), np.nextafter(high, -np.inf), theta)

    def _joints(self) -> Floats:
        knots = self.law.knots()
        return knots if self.size is None or knots.ndim > 1 else np.tile(knots[:, np.newaxis], self.size)

    def _rough_quantile(self, q: Floats) -> Floats:
        bottom, top = self.law.cdf(self.low), self.law.cdf(self.high)
        return self.law.ppf(np.clip(bottom + q * (top - bottom), 0.0, 1.0))


def truncated_from_dict(table: Mapping[str, Any], where: str, read: Callable[..., Valuation]) -> Valuation:
    """Make the law that `TruncatedLaw.to_dict` described.

    `valuation`, the table of a law, `low` and `high`.

    Raises
    ------
    InputError
        If a key is missing or bad, or the law is.
    """
    check_keys(table, ("valuation", "low", "high"), "a truncated law", where)
    if not isinstance(table["valuation"], Mapping):
        raise InputError(f"{where}: key 'valuation'", "must be a law", value=table["valuation"], remedy="give a table")
    return Truncated(read(table["valuation"], where), table["low"], table["high"])


def _end(value: Floats | float) -> float | Floats:
    array = np.array(value, dtype=np.float64)
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array


def _column(values: list[float]) -> float | Floats:
    """Return one number for equal ones, else a read-only array."""
    return values[0] if all(value == values[0] for value in values) else _end(np.array(values))


def _within(law: Valuation, low: float, high: float) -> Valuation | None:
    """Return what is left of a law within two ends, which belong to it, if any."""
    if isinstance(law, Discrete):
        kept = (law.values >= low) & (law.values <= high)
        return Discrete(law.values[kept], law.masses[kept]) if np.any(kept) else None
    if isinstance(law, PointMass):
        return law if low <= float(law.low) <= high else None
    if isinstance(law, Mixture):
        parts = [(w, part, _within(part, low, high)) for w, part in law.leaves()]
        left = [(w * _mass(part, low, high), kept) for w, part, kept in parts if kept is not None]
        return Mixture([kept for _, kept in left], [w for w, _ in left]) if left else None
    a, b = max(float(law.low), low), min(float(law.high), high)
    return Truncated(law, a, b) if a < b and _mass(law, low, high) > 0 else None


def _mass(law: Valuation, low: float, high: float) -> float:
    """Return the mass of a law on [low, high], ends included."""
    below = float(law.cdf(low)) * (not law.is_atom(low)) if low > law.low else 0.0
    if isinstance(law, Discrete):
        return float(law.masses[(law.values >= low) & (law.values <= high)].sum() / law.masses.sum())
    return float(law.cdf(high)) - below


def _fewer_pieces(law: PiecewiseUniform, low: float, high: float) -> PiecewiseUniform:
    edges = np.unique(np.concatenate([[low, high], law.edges]))
    edges = edges[(edges >= low) & (edges <= high)]
    k = np.clip(np.searchsorted(law.edges, edges[:-1], side="right") - 1, 0, law.masses.size - 1)
    share = np.diff(edges) / np.diff(law.edges)[k]
    masses = law.masses[k] * np.where(share == 1.0, 1.0, share)
    if not np.any(masses > 0):
        raise InputError("truncated", "leaves no mass", value=f"[{low!r}, {high!r}]", remedy="choose other ends")
    return PiecewiseUniform(edges, masses)
