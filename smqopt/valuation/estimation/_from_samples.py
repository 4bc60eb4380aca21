"""A law estimated from observed valuations.

Heaps of equal ones are atoms, and the others a histogram whose pieces hold about equally many.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import PRIVATE, InputError
from smqopt.numeric import Floats, Indices, double_of, plain_array
from smqopt.valuation.composition._mixture import Mixture
from smqopt.valuation.doubt._band import ConfidenceBand, band_of, checked_confidence
from smqopt.valuation.estimation._sample_law import SampleLaw
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._parameters import (
    LARGEST,
    NARROWEST,
    checked_parameters,
    checked_support,
)
from smqopt.valuation.tabular._discrete import Discrete
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform

_FEWEST = 2
"""Fewer different values are not spread: they are atoms like the heaps."""


def empirical_law(values: ArrayLike) -> Discrete:
    """Take independent valuations as they are.

    Each with its share of them, unsmoothed.

    F jumps at each value, and the posted prices are the values: nothing is smoothed, and no price
    costs more under the sample than is expected. `from_samples` does so with heaps alone.

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


@overload
def from_samples(
    values: ArrayLike,
    low: float | None = None,
    high: float | None = None,
    *,
    pieces: int | None = None,
    heaps: ArrayLike | None = None,
    band: None = None,
    laws: int = 1,
) -> SampleLaw: ...
@overload
def from_samples(
    values: ArrayLike,
    low: float,
    high: float,
    *,
    pieces: int | None = None,
    heaps: ArrayLike | None = None,
    band: float,
    laws: int = 1,
) -> ConfidenceBand: ...
def from_samples(
    values: ArrayLike,
    low: float | None = None,
    high: float | None = None,
    *,
    pieces: int | None = None,
    heaps: ArrayLike | None = None,
    band: float | None = None,
    laws: int = 1,
) -> SampleLaw | ConfidenceBand:
    """Estimate a law from independent valuations, or a band that holds it.

    Values that many share (zeros, round numbers) are heaps: they are kept as atoms. Of the others F
    is straight between edges that lie midway between neighbouring values, or at a heap, where F is
    thus the share of values up to it.

    Other equal values stay in one piece. Let s be the mean spacing (max − min)/(n − 1); where an
    end is not given it is the least value less s, but at least 0, or the greatest value plus s (for
    a uniform law these have no bias).

    Parameters
    ----------
    values
        Observed valuations, ≥ 0, in currency; shape (n,), two different ones or more. They are
        private: no error shows them. The edges and masses that the law keeps, and that certificates
        hold, are functions of them.
    low, high
        Ends of the support, in currency, with all values between.
    pieces
        The number of pieces, at most that of different values, and those that heaps cut; by default
        the least whole number ≥ 2 n^(1/3) (Rice's rule).
    heaps
        The values to keep as atoms, in currency; by default those that more than √n valuations
        share, more than the sampling error would hide. An empty list smooths all.
    band
        In place of an estimate: the band of Dvoretzky, Kiefer & Wolfowitz (1956) round the
        empirical law, with Massart's constant (1990). With this probability, in (0, 1), it holds
        the true law. `low` and `high` must then be given, for no sample tells where a support ends,
        and `pieces` says at how many prices the edges step, by default ⌈2 √n⌉.
    laws
        Of how many laws the bands are to hold together with probability `band`: each is made for
        1 − (1 − band)/laws (Bonferroni).

    Returns
    -------
    SampleLaw or ConfidenceBand
        With `n`, `sampling_error` and `smoothing_error`; or the band, where one is asked for.

    Raises
    ------
    InputError
        If there are fewer than two different values, or one is no number, not finite, negative or
        outside the given ends (it names the row), or a heap is no value.

    Examples
    --------
    >>> F = from_samples([1.0, 2.0, 2.0, 3.0, 4.0], low=0, high=5, pieces=2)
    >>> F.cdf([0.0, 2.5, 5.0]).tolist(), F.n
    ([0.0, 0.6, 1.0], 5)
    >>> from_samples([0.0, 0.0, 0.0, 1.0, 3.0, 4.0], low=0, high=5).cdf(0.0).tolist()
    0.5
    >>> band = from_samples([1.0, 2.0, 3.0, 4.0], low=0, high=5, band=0.5)
    >>> lower, upper = band.laws
    >>> lower.cdf([2.0, 4.0]).round(3).tolist(), upper.cdf([2.0, 4.0]).round(3).tolist()
    ([0.084, 0.584], [0.916, 1.0])
    """
    given = _checked_values(values, low, high)
    if band is not None:
        return _band(given, low, high, pieces, heaps, band, laws)
    if laws != 1:
        raise InputError("from_samples: argument 'laws'", "goes with a band", value=laws, remedy="give band=0.95")
    atoms, counts = np.unique(given, return_counts=True)
    if atoms.size < 2:
        raise InputError(
            "from_samples: argument 'values'",
            "must hold two different values or more",
            value=PRIVATE,
            remedy="gather more, or use Discrete for a known value",
        )
    n = given.size
    heaped = counts > np.sqrt(n) if heaps is None else np.isin(atoms, _checked_heaps(heaps, atoms))
    if np.count_nonzero(~heaped) < _FEWEST:
        every = Discrete(atoms, counts)
        return SampleLaw(every, n, _distance(every, atoms, counts))
    ends = _ends(atoms, n, low, high)
    spread = _histogram(atoms[~heaped], counts[~heaped], *ends, _checked_pieces(pieces, n), atoms[heaped])
    law: Valuation = spread
    if np.any(heaped):
        shares = [counts[heaped].sum(), counts[~heaped].sum()]
        law = Mixture([Discrete(atoms[heaped], counts[heaped]), spread], shares)
    return SampleLaw(law, n, _distance(law, atoms, counts))


def _band(
    given: Floats,
    low: float | None,
    high: float | None,
    pieces: int | None,
    heaps: ArrayLike | None,
    confidence: float,
    laws: int,
) -> ConfidenceBand:
    together = checked_confidence(confidence, "from_samples: argument 'band'")
    if isinstance(laws, bool) or not isinstance(laws, int) or laws < 1:
        raise InputError(
            "from_samples: argument 'laws'", "must be a whole number ≥ 1", value=laws, remedy="count the bands"
        )
    if low is None or high is None:
        raise InputError(
            "from_samples: argument 'band'",
            "needs both ends of the support, which no sample tells",
            remedy="give low= and high=",
        )
    if heaps is not None:
        raise InputError(
            "from_samples: argument 'heaps'", "does not go with a band", remedy="leave it out: a band smooths nothing"
        )
    n = given.size
    steps = math.ceil(2.0 * math.sqrt(n)) if pieces is None else _checked_pieces(pieces, n)
    atoms, counts = np.unique(given, return_counts=True)
    alone = 1.0 - (1.0 - together) / laws
    return band_of(atoms, counts.astype(np.float64), (float(low), float(high)), alone, steps)


def _ends(atoms: Floats, n: int, low: float | None, high: float | None) -> tuple[float, float]:
    spacing = float(atoms[-1] - atoms[0]) / (n - 1)
    bottom = max(float(atoms[0]) - spacing, 0.0) if low is None else float(low)
    top = float(atoms[-1]) + spacing if high is None else float(high)
    return bottom, top


def _histogram(
    atoms: Floats, counts: Indices, bottom: float, top: float, wanted: int, cuts: Floats
) -> PiecewiseUniform:
    """Spread values between edges that part them about evenly, and at the cuts."""
    n, below = counts.sum(), np.cumsum(counts)[:-1]
    middles = atoms[:-1] + 0.5 * np.diff(atoms)
    nearest = np.searchsorted(below, np.arange(1, wanted) * (n / wanted))
    nearest = np.clip(nearest, 0, below.size - 1)
    before = np.maximum(nearest - 1, 0)
    target = np.arange(1, wanted) * (n / wanted)
    chosen = np.unique(np.where(target - below[before] < below[nearest] - target, before, nearest))
    inner = np.concatenate([middles[chosen], cuts])
    lower = np.concatenate([below[chosen], np.append(0, np.cumsum(counts))[np.searchsorted(atoms, cuts)]])
    order = np.argsort(inner, kind="stable")
    inner, lower = inner[order], lower[order]
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
    return PiecewiseUniform(edges, masses)


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


def _checked_heaps(heaps: ArrayLike, atoms: Floats) -> Floats:
    where = "from_samples: argument 'heaps'"
    array = plain_array(heaps, where)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iuf"):
        raise InputError(where, "must be a list of values", value=array.shape, remedy="leave it out to find them")
    lost = np.flatnonzero(~np.isin(array, atoms))
    if lost.size:
        raise InputError(
            f"{where}, entry {lost[0] + 1}",
            "must be one of the valuations",
            value=float(array[lost[0]]),
            remedy="leave it out",
        )
    return array.astype(np.float64)


def _distance(law: Valuation, atoms: Floats, counts: Indices) -> float:
    """Return the largest |F − F_n|; it is met at a value, or just below it."""
    F, above = law.cdf(atoms), np.cumsum(counts) / np.sum(counts)
    under, F_below = above - counts / np.sum(counts), law.cdf(np.nextafter(atoms, -np.inf))
    return float(max(np.max(np.abs(F - above)), np.max(np.abs(F_below - under))))
