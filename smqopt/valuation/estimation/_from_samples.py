"""A law estimated from observed valuations.

A histogram whose pieces hold about equally many of them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import PRIVATE, InputError
from smqopt.numeric import Floats, double_of, plain_array
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._parameters import (
    LARGEST,
    NARROWEST,
    check_keys,
    checked_parameters,
    checked_support,
)
from smqopt.valuation.law._verdict import Hazard, Verdict
from smqopt.valuation.tabular._discrete import Discrete
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform

CONFIDENCE = 0.95
"""The band that is shown holds with this probability."""


def empirical_law(values: ArrayLike) -> Discrete:
    """Take independent valuations as they are.

    Each with its share of them, unsmoothed.

    This is the law for heaped answers (many zeros, round numbers), which a histogram spreads: F
    jumps at each value, and the posted prices are the values.

    Parameters
    ----------
    values
        Observed valuations, ≥ 0, in currency; shape (n,). They are private: no error shows them,
        but the law holds them, and so do certificates.

    Returns
    -------
    Discrete
        F_n, the empirical distribution function.

    Raises
    ------
    InputError
        If there is none, or one is no number, not finite or negative; it names the row.

    Examples
    --------
    >>> F = empirical_law([0.0, 0.0, 5.0, 10.0])
    >>> F.cdf([0.0, 5.0, 7.0]).tolist()
    [0.5, 0.75, 0.75]
    """
    return Discrete(*np.unique(_checked_values(values, None, None), return_counts=True))


def from_samples(
    values: ArrayLike, low: float | None = None, high: float | None = None, *, pieces: int | None = None
) -> SampleLaw:
    """Estimate a law from independent valuations.

    F is straight between edges that lie midway between neighbouring values.

    Equal values stay in one piece. Let s be the mean spacing (max − min)/(n − 1); where an end is
    not given it is the least value less s, but at least 0, or the greatest value plus s (for a
    uniform law these have no bias).

    Parameters
    ----------
    values
        Observed valuations, ≥ 0, in currency; shape (n,), two different ones or more. They are
        private: no error shows them. The edges and masses that the law keeps, and that certificates
        hold, are functions of them.
    low, high
        Ends of the support, in currency, with all values between.
    pieces
        The number of pieces, at most that of different values; by default the least whole number ≥
        2 n^(1/3) (Rice's rule).

    Returns
    -------
    SampleLaw
        With `n`, `sampling_error` and `smoothing_error`.

    Raises
    ------
    InputError
        If there are fewer than two different values, or one is no number, not finite, negative or
        outside the given ends; it names the row.

    Examples
    --------
    >>> F = from_samples([1.0, 2.0, 2.0, 3.0, 4.0], low=0, high=5, pieces=2)
    >>> F.cdf([0.0, 2.5, 5.0]).tolist(), F.n
    ([0.0, 0.6, 1.0], 5)
    """
    sorted_values = np.sort(_checked_values(values, low, high))
    atoms, counts = np.unique(sorted_values, return_counts=True)
    if atoms.size < 2:
        raise InputError(
            "from_samples: argument 'values'",
            "must hold two different values or more",
            value=PRIVATE,
            remedy="gather more, or use Discrete for a known value",
        )
    n = sorted_values.size
    spacing = float(atoms[-1] - atoms[0]) / (n - 1)
    bottom = max(float(atoms[0]) - spacing, 0.0) if low is None else float(low)
    top = float(atoms[-1]) + spacing if high is None else float(high)
    wanted = _checked_pieces(pieces, n)
    below = np.cumsum(counts)[:-1]
    middles = atoms[:-1] + 0.5 * np.diff(atoms)
    nearest = np.searchsorted(below, np.arange(1, wanted) * (n / wanted))
    nearest = np.clip(nearest, 0, below.size - 1)
    before = np.maximum(nearest - 1, 0)
    target = np.arange(1, wanted) * (n / wanted)
    chosen = np.unique(np.where(target - below[before] < below[nearest] - target, before, nearest))
    inner, lower = middles[chosen], below[chosen]
    keep = (inner > bottom) & (inner < top) & np.append(np.diff(inner) > 0, True)
    edges = np.concatenate([[bottom], inner[keep], [top]])
    if np.any(np.diff(edges) < NARROWEST):
        raise InputError(
            "from_samples: argument 'values'",
            "must not lie too close for a density in doubles",
            value=PRIVATE,
            remedy="use a smaller unit of currency",
        )
    masses = np.diff(np.concatenate([[0], lower[keep], [n]])).astype(np.float64)
    histogram = PiecewiseUniform(edges, masses)
    return SampleLaw(histogram, n, _distance(histogram, atoms, counts))


@final
class SampleLaw(Valuation):
    """A law estimated from n valuations.

    As a histogram, with what is known of its error; made by `from_samples`.
    """

    name = "from-samples"
    table_pays = False

    n: int
    """The number of valuations."""
    smoothing_error: float
    """The largest |F − F_n|, F_n the empirical distribution function, in probability."""

    def __init__(self, histogram: PiecewiseUniform, n: int, smoothing_error: float) -> None:
        self.histogram, self.n, self.smoothing_error = histogram, n, smoothing_error
        self.low, self.high = histogram.low, histogram.high

    @property
    def sampling_error(self) -> float:
        """Half the width of the 95 % band round F_n, in probability (see `half_width`)."""
        return self.half_width(CONFIDENCE)

    def half_width(self, confidence: float) -> float:
        """Return h with P(largest |F_n − true F| ≤ h) ≥ confidence.

        √(log(2/(1 − confidence))/(2n)) (Massart 1990).

        The law itself is `smoothing_error` further off at most.

        Raises
        ------
        InputError
            If the confidence does not lie in (0, 1).
        """
        if not 0 < confidence < 1:
            raise InputError(
                "half_width: argument 'confidence'", "must lie in (0, 1)", value=confidence, remedy="use, say, 0.95"
            )
        return math.sqrt(math.log(2.0 / (1.0 - confidence)) / (2 * self.n))

    def _parts(self) -> Iterator[tuple[Valuation, Index]]:
        yield self.histogram, slice(None)

    def _cdf(self, theta: Floats) -> Floats:
        return self.histogram.cdf(theta)

    def _pdf(self, theta: Floats) -> Floats:
        return self.histogram.pdf(theta)

    def _log_cdf(self, theta: Floats) -> Floats:
        return self.histogram.log_cdf(theta)

    def _log_survival(self, theta: Floats) -> Floats:
        return self.histogram.log_survival(theta)

    def _ppf(self, q: Floats) -> Floats:
        return self.histogram.ppf(q)

    def _virtual_cost(self, theta: Floats) -> Floats:
        return self.histogram.virtual_cost(theta)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        return self.histogram.inverse_virtual_cost(v)

    def _offer(self, v: Floats) -> tuple[Floats, Floats]:
        return self.histogram.offer(v)

    def _regularity(self) -> Verdict:
        return self.histogram.regularity()  # it speaks of the estimate, not of the law that the values came from

    def _has_falling_density(self) -> bool:
        return self.histogram.has_falling_density()

    def _monotone_hazard(self) -> Hazard:
        return self.histogram.monotone_hazard()

    def _rescale(self, factor: float) -> SampleLaw:
        return SampleLaw(cast("PiecewiseUniform", self.histogram.rescale(factor)), self.n, self.smoothing_error)

    def _family(self) -> Hashable:
        h = self.histogram
        return (type(self), h.edges.tobytes(), h.masses.tobytes(), self.n, self.smoothing_error)

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        return laws[0]

    def _to_dict(self) -> dict[str, Any]:
        return {
            "law": self.name,
            "edges": self.histogram.edges,
            "masses": self.histogram.masses,
            "n": self.n,
            "smoothing_error": self.smoothing_error,
        }

    def __repr__(self) -> str:
        return (
            f"from_samples(<{self.n} values>: {self.histogram.masses.size} pieces on [{self.low!r}, {self.high!r}], "
            f"±{self.sampling_error:.2g} at {CONFIDENCE:.0%})"
        )


def sample_law_from_dict(table: Mapping[str, Any], where: str) -> SampleLaw:
    """Make the law that `SampleLaw.to_dict` described.

    Raises
    ------
    InputError
        If a key is missing, unknown or bad.
    """
    check_keys(table, ("edges", "masses", "n", "smoothing_error"), "a law of samples", where)
    n, error = table["n"], table["smoothing_error"]
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise InputError(f"{where}: key 'n'", "must be a whole number ≥ 2", value=n, remedy="estimate the law again")
    if isinstance(error, bool) or not isinstance(error, (int, float)) or not 0 <= error <= 1:
        raise InputError(
            f"{where}: key 'smoothing_error'", "must lie in [0, 1]", value=error, remedy="estimate the law again"
        )
    return SampleLaw(PiecewiseUniform(table["edges"], table["masses"]), n, float(error))


def _checked_values(values: ArrayLike, low: float | None, high: float | None) -> Floats:
    """Return the values as floats; an error names the row, never the value."""
    where = "from_samples: argument 'values'"
    array = plain_array(values, where, private=True)
    if array.ndim != 1 or array.size == 0:
        raise InputError(
            where, "must have shape (n,) with n ≥ 2", value=array.shape, remedy="give one column of valuations"
        )
    if array.dtype.kind not in "iuf":
        floats = np.empty(array.size)
        for row, entry in enumerate(array.tolist()):
            try:
                floats[row] = double_of(entry)
            except (ValueError, OverflowError):
                raise InputError(
                    f"{where}, row {row + 1}", "must be a number", value=PRIVATE, remedy="fix or drop the row"
                ) from None
        array = floats
    array = array.astype(np.float64) + 0.0
    ends = checked_parameters("from_samples", low=0.0 if low is None else low, high=LARGEST if high is None else high)
    checked_support("from_samples", ends["low"], ends["high"])
    for good, rule in (
        (np.isfinite(array) & (array >= 0), "must be a finite number ≥ 0"),
        (array <= LARGEST, "is too large for doubles to add up; use a larger unit of currency"),
        (~(array < ends["low"]), "must not lie below low"),
        (~(array > ends["high"]), "must not lie above high"),
    ):
        bad = np.flatnonzero(~good)
        if bad.size:
            raise InputError(f"{where}, row {bad[0] + 1}", rule, value=PRIVATE, remedy="fix or drop the row")
    return array


def _checked_pieces(pieces: object, n: int) -> int:
    if pieces is None:
        return math.ceil(2.0 * math.cbrt(n))
    if isinstance(pieces, bool) or not isinstance(pieces, int) or pieces < 1:
        raise InputError(
            "from_samples: argument 'pieces'", "must be a whole number ≥ 1", value=pieces, remedy="leave it out"
        )
    return int(pieces)


def _distance(histogram: PiecewiseUniform, atoms: Floats, counts: NDArray[np.intp]) -> float:
    """Return the largest |F − F_n|; it is met at a value, or just below it."""
    F, above = histogram.cdf(atoms), np.cumsum(counts) / np.sum(counts)
    under = above - counts / np.sum(counts)
    return float(max(np.max(np.abs(F - above)), np.max(np.abs(F - under))))
