"""A mixture of laws."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.algebra import if_readable, rename_symbols
from smqopt.errors import InputError, check_kind, locate_errors
from smqopt.numeric import Floats, Mask, plain_array
from smqopt.valuation.composition._by_owner import ByOwner
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._external import validate_foreign
from smqopt.valuation.law._parameters import check_keys
from smqopt.valuation.law._verdict import CdfVerdict, Hazard, Regular, Undecided, Verdict, worst_cdf
from smqopt.valuation.monotonicity._grid_search import seek_fall
from smqopt.valuation.truncation._quantile import polish_quantile

SMALLEST = 1e-290
"""Below this F and f may have lost digits to underflow."""


@final
class Mixture(Valuation):
    """F = Σ w_k F_k: with probability w_k the valuation is drawn from the k-th law.

    The support is the union of theirs.

    Where a law ends, the density is that of what goes on above. The information rent F/f is a mean
    of those of the laws, weighed so that nothing underflows in the tails. Where the supports leave
    a gap, J is infinite in it.

    Parameters
    ----------
    laws
        K laws, each common or one an owner (all of the latter for the same owners). `PointMass` and
        `Discrete` ones make atoms: with this probability the valuation is exactly that.
    weights
        K numbers > 0; they are divided by their sum, unless that is 1 up to rounding.

    Raises
    ------
    InputError
        If there is no law, an entry is not a law, or is itself a law by owner, sizes differ, or a
        weight is not a positive number.

    Examples
    --------
    >>> import smqopt as smq
    >>> F = Mixture([smq.Uniform(0, 1), smq.Uniform(0, 4)], weights=[0.5, 0.5])
    >>> F.cdf([0.5, 1.0, 4.0]).tolist(), float(F.virtual_cost(1.0))
    ([0.3125, 0.625, 1.0], 6.0)
    """

    name = "mixture"
    reads_table = True

    laws: tuple[Valuation, ...]
    weights: Floats
    """Shape (K,), with sum 1."""

    def __init__(self, laws: Sequence[Valuation], weights: ArrayLike) -> None:
        check_kind(laws, Sequence, "mixture: argument 'laws'", "a list of laws", "give two laws or more")
        self._fill(tuple(laws), _checked_weights(weights, len(laws)))
        for k, law in enumerate(self.laws):
            where = f"mixture: law {k + 1}"
            check_kind(law, Valuation, where, "a law of valuations")
            if isinstance(law, ByOwner):
                raise InputError(where, "must be of one family", value=repr(law), remedy="give ByOwner the mixtures")
            if law.size not in (None, self.size):
                raise InputError(
                    where, f"must be of {self.size} owners like the others", value=law.size, remedy="give one an owner"
                )
            validate_foreign(law)
        self._finish()

    def _fill(self, laws: tuple[Valuation, ...], weights: Floats) -> None:
        self.laws, self.weights = laws, weights

    def _finish(self) -> None:
        self.low = _end(np.minimum.reduce(np.broadcast_arrays(*(law.low for law in self.laws))))
        self.high = _end(np.maximum.reduce(np.broadcast_arrays(*(law.high for law in self.laws))))
        self.parameters = tuple(self._arguments())
        alike = all(
            np.all(np.asarray(law.low) == self.low) and np.all(np.asarray(law.high) == self.high) for law in self.laws
        )
        if alike and all(law.formula for law in self.laws):
            text = " + ".join(
                f"weight_{k}*({rename_symbols(law.formula, {name: f'{name}_{k}' for name in law.parameters if name not in ('low', 'high')})})"
                for k, law in enumerate(self.laws)
            )
            self.formula = if_readable(text)

    def _arguments(self) -> dict[str, float | Floats]:
        named = {"low": self.low, "high": self.high}
        for k, (weight, law) in enumerate(self._pairs()):
            named |= {f"weight_{k}": weight, **{f"{name}_{k}": value for name, value in law.arguments.items()}}
        return named

    def _size(self) -> int | None:
        return next((law.size for law in self.laws if isinstance(law, Valuation) and law.size is not None), None)

    def _cdf(self, theta: Floats) -> Floats:
        F = sum((w * law.cdf(theta) for w, law in self.leaves()), np.float64(0.0))
        return np.where(theta >= self.high, 1.0, np.minimum(F, 1.0))

    def _log_cdf(self, theta: Floats) -> Floats:
        below, above = self._log_tails(theta)
        return _smaller(below, above)

    def _log_survival(self, theta: Floats) -> Floats:
        below, above = self._log_tails(theta)
        return _smaller(above, below)

    def _pdf(self, theta: Floats) -> Floats:
        return np.asarray(sum((w * self._density(law, theta) for w, law in self.leaves()), np.float64(0.0)))

    def _ppf(self, q: Floats) -> Floats:
        return polish_quantile(self, q)

    def _virtual_cost(self, theta: Floats) -> Floats:
        F, f = self._cdf(theta), self._pdf(theta)
        rent = F / f
        faint = (theta > self.low) & ((F < SMALLEST) | (f < SMALLEST)) & self._is_covered(theta)
        if np.any(faint):
            rent = np.where(faint, self._faint_rent(theta), rent)
        return theta + np.where(theta <= self.low, 0.0, np.where(np.isnan(rent), np.inf, rent))

    def _is_proved_cdf(self) -> CdfVerdict:
        return worst_cdf(law.is_proved_cdf() for law in self.laws)

    def _knots(self) -> Floats:
        each = [law.knots() for law in self.laws]
        if self.size is not None:
            each = [np.broadcast_to(row.reshape(row.shape[0], -1), (row.shape[0], self.size)) for row in each]
        return np.concatenate(each)

    def _is_atom(self, theta: Floats) -> Mask:
        return np.asarray(np.logical_or.reduce([law.is_atom(theta) for _, law in self.leaves()]))

    def _regularity(self) -> Verdict:
        if len(self.laws) == 1:
            return self.laws[0].regularity()
        if self.has_atoms:
            return Undecided("F jumps at atoms, where J is none; the cost curve is answered on its hull")
        if self.has_falling_density():
            return Regular(
                "the densities of all laws are non-increasing from the same low end, so theirs is, and J′ ≥ 2"
            )
        if self.size is None:
            from smqopt.valuation.monotonicity._on_pieces import decide_in_pieces  # noqa: PLC0415 (loads sympy)

            decided = decide_in_pieces(self)
            if not isinstance(decided, Undecided):
                return decided
        return seek_fall(self, "a mixture of regular laws may be irregular")

    def _has_falling_density(self) -> bool:
        starts_alike = all(np.all(np.asarray(law.low) == self.low) for law in self.laws)
        return starts_alike and all(law.has_falling_density() for law in self.laws)

    def _monotone_hazard(self) -> Hazard:
        return self.laws[0].monotone_hazard() if len(self.laws) == 1 else super()._monotone_hazard()

    def _take(self, index: Index) -> Mixture:
        return self._remake([law.take(index) for law in self.laws])

    def _rescale(self, factor: float) -> Mixture:
        return self._remake([law.rescale(factor) for law in self.laws])

    def _family(self) -> Hashable:
        return (type(self), self.weights.tobytes(), tuple(law.family for law in self.laws))

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        columns = zip(*(cast("Mixture", law).laws for law in laws), strict=True)
        law = object.__new__(type(self))
        law._fill(tuple(column[0].stack(column) for column in columns), self.weights)
        law._finish()
        return law

    def _to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "laws": [law.to_dict() for law in self.laws], "weights": self.weights}

    def __repr__(self) -> str:
        return f"Mixture([{', '.join(map(repr, self.laws))}], weights={self.weights.tolist()!r})"

    # --- inside -----------------------------------------------------------------------------------

    def _remake(self, laws: Sequence[Valuation]) -> Mixture:
        law = object.__new__(type(self))
        law._fill(tuple(laws), self.weights)
        law._finish()
        return self.keep_regular(law)

    def _faint_rent(self, x: Floats) -> Floats:
        """Compute F/f from the laws' own log F_k and F_k/f_k.

        Where F or f has underflowed.
        """
        logs = self._stack_logs("log_cdf", x)
        shares = np.exp(logs - np.max(logs, axis=0))
        density = np.zeros(shares.shape[1:])
        for share, law in zip(shares, (law for _, law in self.leaves()), strict=True):
            own = share / np.maximum(law.virtual_cost(x) - x, 0.5 * np.spacing(x))
            density += np.where((share > 0) & self._goes_on(law, x), own, 0.0)
        return np.asarray(np.sum(shares, axis=0) / density)

    def _log_tails(self, theta: Floats) -> tuple[Floats, Floats]:
        """Compute log F and log(1 − F), each from the laws' own."""
        return _log_sum(self._stack_logs("log_cdf", theta)), _log_sum(self._stack_logs("log_survival", theta))

    def _stack_logs(self, tail: str, theta: Floats) -> Floats:
        return np.stack(np.broadcast_arrays(*(np.log(w) + getattr(law, tail)(theta) for w, law in self.leaves())))

    def _pairs(self) -> list[tuple[float, Valuation]]:
        return list(zip(self.weights.tolist(), self.laws, strict=True))

    def leaves(self) -> list[tuple[float, Valuation]]:
        """List weights and laws, those of inner mixtures in their place."""
        found: list[tuple[float, Valuation]] = []
        for weight, law in self._pairs():
            inner = law.leaves() if isinstance(law, Mixture) else [(1.0, law)]
            found += [(weight * share, leaf) for share, leaf in inner]
        return found

    def _density(self, law: Valuation, theta: Floats) -> Floats:
        """Compute f_k, but 0 where the law ends and others go on."""
        return np.where(self._goes_on(law, theta), law.pdf(theta), 0.0)

    def _is_covered(self, theta: Floats) -> NDArray[np.bool_]:
        """Tell whether θ lies in the support of some law, not in a gap."""
        covered = [(theta >= np.asarray(law.low)) & self._goes_on(law, theta) for _, law in self.leaves()]
        return np.asarray(np.logical_or.reduce(np.broadcast_arrays(*covered)))

    def _goes_on(self, law: Valuation, theta: Floats) -> NDArray[np.bool_]:
        """Tell whether a law has density above θ, or ends there with all of them."""
        return np.asarray(
            law.is_atom(theta)
            | (theta < np.asarray(law.high))
            | ((theta >= np.asarray(self.high)) & (np.asarray(law.high) >= np.asarray(self.high)))
        )


def mixture_from_dict(table: Mapping[str, Any], where: str, read: Callable[..., Valuation]) -> Mixture:
    """Make the law that `Mixture.to_dict` described.

    `laws`, an array of tables of laws, and `weights`.

    Raises
    ------
    InputError
        If a key is missing or bad, or a law is.
    """
    check_keys(table, ("laws", "weights"), "a mixture", where)
    tables = table["laws"]
    if not isinstance(tables, list) or not all(isinstance(part, Mapping) for part in tables):
        raise InputError(f"{where}: key 'laws'", "must be an array of laws", remedy="give the laws that are mixed")
    laws = []
    for k, part in enumerate(tables, 1):
        with locate_errors(f"{where}: key 'laws', law {k}"):
            laws.append(read(part, f"{where}: key 'laws', law {k}"))
    return Mixture(laws, table["weights"])


def _checked_weights(weights: ArrayLike, count: int) -> Floats:
    where = "mixture: argument 'weights'"
    if count == 0:
        raise InputError("mixture: argument 'laws'", "must hold at least one law", remedy="give two laws or more")
    array = plain_array(weights, where)
    if array.shape != (count,) or array.dtype.kind not in "iuf":
        raise InputError(
            where, f"must be {count} numbers, one a law", value=array.shape, remedy="give one weight a law"
        )
    array = array.astype(np.float64)
    bad = np.flatnonzero(~((array > 0) & np.isfinite(array)))
    if bad.size:
        raise InputError(
            f"{where}, entry {bad[0] + 1}",
            "must be a positive number",
            value=float(array[bad[0]]),
            remedy="drop laws without weight",
        )
    with np.errstate(over="ignore"):
        total = array.sum()
    if not np.isfinite(total):
        raise InputError(where, "must have a finite sum", value=float(total), remedy="use smaller weights")
    # a sum that is 1 up to its own rounding is what a division leaves: a file is read as it is
    array = array if abs(total - 1.0) <= count * np.finfo(np.float64).eps else array / total
    lost = np.flatnonzero(array < np.finfo(np.float64).tiny)
    if lost.size:
        raise InputError(
            f"{where}, entry {lost[0] + 1}",
            "is nothing beside the others",
            value=float(array[lost[0]]),
            remedy="drop laws without weight",
        )
    array.flags.writeable = False
    return array


def _log_sum(logs: Floats) -> Floats:
    """Compute the logarithm of a sum along the first axis."""
    top = np.max(logs, axis=0)
    total: Floats = np.where(np.isfinite(top), top + np.log(np.sum(np.exp(logs - top), axis=0)), top)
    return total


def _smaller(own: Floats, other: Floats) -> Floats:
    """Compute log p from itself or from log(1 − p), whichever kept its digits."""
    return np.minimum(np.where(own <= other, own, np.log1p(-np.exp(np.minimum(other, 0.0)))), 0.0)


def _by_owner(knots: Floats, size: int) -> Floats:
    """Spread the knots of a common law over owners; those of one law an owner stay."""
    return knots if knots.ndim > 1 else np.broadcast_to(knots[:, np.newaxis], (knots.size, size))


def _end(value: NDArray[np.float64]) -> float | Floats:
    if value.ndim == 0:
        return float(value)
    end = np.array(value, dtype=np.float64)
    end.flags.writeable = False
    return end
