"""The values that an answer can have, whatever the entries are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from smqopt.errors import LedgerError
from smqopt.query.error._estimate import Estimate
from smqopt.query.linear._linear_release import LinearRelease
from smqopt.query.queries._count import Count
from smqopt.query.queries._histogram import Histogram
from smqopt.query.queries._joint_histogram import JointHistogram
from smqopt.query.queries._linear_predictor import LinearPredictor
from smqopt.query.queries._median import Median
from smqopt.query.queries._own_query import OwnQuery
from smqopt.query.queries._quantile import Quantile
from smqopt.query.queries._query import FittedQuery


def is_possible(query: FittedQuery, value: object, bought: int, population: int) -> bool:
    """Tell whether a query may return a value, for some entries of the bought.

    Parameters
    ----------
    query
        Fitted to the purchase.
    value
        A number, or a list of numbers for a histogram.
    bought, population
        k and n.

    Returns
    -------
    bool
        False where no entries give it. True for a query of somebody else, which does not say.
    """
    match query:
        case LinearRelease(form=form):
            if form.sums is None:
                return _is_number(value) and query.is_possible(value)
            if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != form.sums:
                return False
            return all(_is_number(one) and query.is_possible(one) for one in value)
        case Histogram() | JointHistogram():
            if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != query.bins:
                return False
            counts = [_count(one, bought, population) for one in value]
            joint = isinstance(query, JointHistogram)
            return None not in counts and (not joint or sum(one or 0 for one in counts) == bought)
        case Count():
            return _count(value, bought, population) is not None
        case Median() | Quantile():
            return isinstance(value, int) and not isinstance(value, bool) and query.low <= value <= query.high
        case LinearPredictor():
            return _is_candidate(query, value, bought, population)
        case Estimate():
            return _is_candidate(query.predictor, value, bought, population)
        case OwnQuery():
            return _is_number(value) and value in query.candidates
    return _is_number(value) or isinstance(value, list)


def kept_answer(kept: object, query: FittedQuery, bought: int, population: int) -> tuple[Any, str]:
    """Read the value and the ledger's head of an answer kept beside the ledger.

    Raises
    ------
    LedgerError
        If it is no record of such an answer. Nothing is drawn in its stead: that would tell more.
    """
    record = kept if isinstance(kept, Mapping) else {}
    value, head = record.get("value"), record.get("ledger_head")
    if not (
        isinstance(head, str) and re.fullmatch("[0-9a-f]{64}", head) and is_possible(query, value, bought, population)
    ):
        raise LedgerError(
            "answer kept beside the ledger",
            "is none that this query and purchase can have",
            remedy="restore the file, or take the charge for spent",
        )
    return tuple(value) if isinstance(value, list) else value, head


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: object, bought: int, population: int) -> int | None:
    """Return the count r ≤ k that n r/k stands for; None where there is none."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= population:
        return None
    near = round(value * bought / population)
    return near if near <= bought and np.int64(near) * population / bought == value else None


def _is_candidate(query: LinearPredictor, value: object, bought: int, population: int) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < np.inf:
        return False
    grid = query.grid
    if query.scale == 0:
        return value == 0
    place = (value / query.scale - grid.start) / grid.step
    if not grid.first - 1 <= place <= grid.last + 1:
        return False
    near = np.arange(max(grid.first, round(place) - 2), min(grid.last, round(place) + 2) + 1)
    return bool(np.any(query.values(near, bought, population) == value))
