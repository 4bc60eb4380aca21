"""Who takes part: all owners of the market or a batch, each with one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import PRIVATE, InputError, nearest
from smqopt.numeric import Floats, align, plain_array

MISSING_RULES = ("refuse", "absent")
"""What a report that is not there (NaN) means: an error, or that its owner takes no part."""
_WHERE = "argument 'reported_valuations'"
_MANY = 20
"""Names among which a near one is looked for."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Owners with their reports, in the order of the market."""

    owners: NDArray[np.intp]
    """Positions among the market's owners, increasing, shape (k,)."""
    reports: Floats = field(repr=False)
    """ψ_i, shape (k,), in currency. Private."""


def positions_of(names: Sequence[str], market_ids: Sequence[str], where: str) -> NDArray[np.intp]:
    """Return the places of named owners in the market.

    Raises
    ------
    InputError
        If a name is not in the market, or stands twice.
    """
    place = {name: i for i, name in enumerate(market_ids)}
    positions = np.array([place.get(name, -1) for name in names], dtype=np.intp)
    unknown = np.flatnonzero(positions < 0)
    if unknown.size:
        row = int(unknown[0])
        known = nearest(names[row], market_ids) if len(market_ids) <= _MANY else "name owners of the certified market"
        raise InputError(f"{where}, entry {row + 1}", "must be an owner of the market", value=names[row], remedy=known)
    order = np.argsort(positions, kind="stable")
    again = np.flatnonzero(np.diff(positions[order]) == 0)
    if again.size:
        row = int(order[again + 1].min())
        raise InputError(f"{where}, entry {row + 1}", "repeats an owner", value=names[row], remedy="give one report")
    return positions


def batch_of(
    reported_valuations: ArrayLike | Mapping[str, float],
    market_ids: Sequence[str],
    owner_ids: Sequence[object] | NDArray[Any] | None,
    missing: str,
) -> Batch:
    """Check the reports of a batch and put them in the order of the market.

    Parameters
    ----------
    reported_valuations
        ψ_i ≥ 0, shape (k,), in currency; NaN where a report is missing. Matched by name where they
        come with names.
    market_ids
        The names of the market's owners.
    owner_ids
        The names of the owners who report, shape (k,); None for all, in the order of the market.
    missing
        One of `MISSING_RULES`. A report that is masked, None or pandas' NA is missing, as NaN is.

    Raises
    ------
    InputError
        If reports have another shape, or are not numbers ≥ 0; if one is missing, unless `missing`
        is "absent"; if a name is unknown or stands twice; or if nobody takes part. No error shows a
        report.
    """
    if missing not in MISSING_RULES:
        raise InputError(
            "argument 'missing'", "must say what to do", value=missing, remedy=nearest(str(missing), MISSING_RULES)
        )
    names = None if owner_ids is None else [str(name) for name in owner_ids]
    count = len(market_ids) if names is None else len(names)
    given = align(
        reported_valuations,
        market_ids if names is None else names,
        _WHERE,
        absent=missing == "absent" and names is None,
    )
    reports = _numbers(given, count, absent=missing == "absent")
    owners = (
        np.arange(count, dtype=np.intp) if names is None else positions_of(names, market_ids, "argument 'owner_ids'")
    )
    there = ~np.isnan(reports) if missing == "absent" else np.ones(count, dtype=np.bool_)
    bad = np.flatnonzero(there & ~((reports >= 0) & (reports < np.inf)))
    if bad.size:
        raise InputError(
            f"{_WHERE}, owner {market_ids[owners[bad[0]]]!r}",
            "must be a finite number ≥ 0",
            value=PRIVATE,
            remedy="correct her report, or leave her out of the batch",
        )
    if not there.any():
        raise InputError(_WHERE, "must hold at least one report", value=0, remedy="name an owner who reports")
    if names is not None or not there.all():
        kept = np.flatnonzero(there)
        kept = kept[np.argsort(owners[kept], kind="stable")]
        owners, reports = owners[kept], reports[kept]
    return Batch(owners, reports)


def _numbers(reported_valuations: ArrayLike, count: int, *, absent: bool) -> Floats:
    reports = plain_array(reported_valuations, _WHERE, private=True, absent=absent)
    if reports.shape != (count,):
        raise InputError(_WHERE, f"must have shape ({count},)", value=reports.shape, remedy="give one report an owner")
    if reports.dtype.kind not in "iuf":
        raise InputError(_WHERE, "must hold numbers", value=str(reports.dtype), remedy="convert the column to numbers")
    return reports.astype(np.float64)
