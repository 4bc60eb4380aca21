"""A query of one's own: candidates, and how much of an entry must change for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats, NumberList, exact_sum, plain_array
from smqopt.query._entries import listed_entries
from smqopt.query.exponential._score import Score
from smqopt.query.queries._query import Query

_PARTS = 1 << 20
"""Parts of a change are rounded to one of these."""
_HALF = 27
"""Requirements in units of 2^−45 are added in two halves of so many bits, so that sums are exact.
"""
_GRID = 2.0**45
_LOWERED = 2.0**-42
"""What each owner's requirement is lowered by in the draw, relative to it, at most."""


def _look_up(known: Mapping[tuple[float, float], float], value: float, candidate: float) -> float:
    """Return a change that a table states; not in a closure, so as to be pickled."""
    return known[value, candidate]


@final
@dataclass(frozen=True, eq=False, init=False)
class OwnQuery(Query):
    """Draw candidate r with probability ∝ exp(−½ Σ_i ε_i change(d_i, r)).

    `change` says what part of an entry, from 0 to 1, must change for a candidate: 0 where the entry
    already speaks for it. Since it looks at one entry at a time and stays within [0, 1], the cost
    of every candidate moves by at most ε_i when entry i changes, whatever the function is: so the
    answer is ε_i-PDP for every owner. The function is asked once for each value an entry can have
    and each candidate, before any entry is seen.

    Parameters
    ----------
    title
        What is asked, in a few words.
    alphabet
        Every value an entry can have, public.
    candidates
        Every answer there can be, public: numbers.
    change
        From an entry's value and a candidate to a number in [0, 1].

    Raises
    ------
    InputError
        If the alphabet or the candidates repeat or are none, or `change` returns something else
        than a number in [0, 1].

    Examples
    --------
    Which of three parties most owners prefer, owners weighted by ε:

    >>> favourite = OwnQuery("favourite", [1, 2, 3], [1, 2, 3], lambda entry, party: float(entry != party))
    >>> score = favourite.score(favourite.entries([2, 2, 3], "abc"), np.array([0.5, 0.25, 1.0]))
    >>> score.cost.tolist()
    [1.0, 0.25, 0.0]
    """

    title: str
    alphabet: tuple[float, ...]
    candidates: tuple[float, ...]
    part: NDArray[np.int64] = field(repr=False)
    """change(value, candidate) in parts of 2^−20, shape (values, candidates)."""

    name = "own"
    noise_unit = "units of ε above the best candidate"
    scales_to_population = False
    rounding_of_cost = 2.0**-44
    """Of a sum of costs, relative: two halves of exact sums, rounded once each."""

    def __init__(
        self,
        title: str,
        alphabet: NumberList,
        candidates: NumberList,
        change: Callable[[Any, Any], float],
    ) -> None:
        values, answers = _distinct("alphabet", alphabet), tuple(sorted(_distinct("candidates", candidates)))
        object.__setattr__(self, "title", str(title))
        object.__setattr__(self, "alphabet", values)
        object.__setattr__(self, "candidates", answers)
        object.__setattr__(self, "part", np.array([[_part(change, v, r) for r in answers] for v in values]))

    @classmethod
    def from_table(
        cls,
        title: str,
        alphabet: NumberList,
        candidates: NumberList,
        change: Sequence[Sequence[float]],
    ) -> OwnQuery:
        """Make the query from a table of changes.

        It has a row for each value of the alphabet, in it a number for each candidate.

        Raises
        ------
        InputError
            If the table has another shape, or as for the class.
        """
        for name, table in (("alphabet", alphabet), ("candidates", candidates), ("change", change)):
            if not isinstance(table, (Sequence, np.ndarray)):
                raise InputError(f"own: argument {name!r}", "must be a list", value=table, remedy="give a list")
        rows = [len(row) if isinstance(row, (Sequence, np.ndarray)) else -1 for row in change]
        if rows != [len(candidates)] * len(alphabet):
            raise InputError(
                "own: argument 'change'",
                f"must have {len(alphabet)} rows of {len(candidates)} numbers",
                remedy="give a row for each value of the alphabet, a number for each candidate",
            )
        known = {
            (v, r): part
            for v, row in zip(alphabet, change, strict=True)
            for r, part in zip(candidates, row, strict=True)
        }
        return cls(title, alphabet, candidates, partial(_look_up, known))

    def parameters(self) -> dict[str, Any]:
        """Return title, alphabet, candidates, and the table of changes."""
        return {
            "title": self.title,
            "alphabet": list(self.alphabet),
            "candidates": list(self.candidates),
            "change": (self.part / _PARTS).tolist(),
        }

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check that every entry is of the alphabet; return its place there."""
        return listed_entries(data, owner_ids, self.alphabet)

    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Return each candidate's cost above the cheapest, exact and rounded once.

        Cut at the ceiling above the cheapest: min(c(r), min c + ceiling) moves by at most ε_i too,
        and what all candidates have in common does not change the law.
        """
        steps = np.rint(np.minimum(epsilon, 2.0**17) * _GRID).astype(np.int64)
        high, low = steps >> _HALF, steps & ((1 << _HALF) - 1)
        sums = [0] * len(self.alphabet)
        for half, shift in ((high, _HALF), (low, 0)):
            added = np.zeros(len(sums), dtype=np.int64)
            np.add.at(added, entries, half)
            sums = [total + (int(part) << shift) for total, part in zip(sums, added.tolist(), strict=True)]
        cost = [sum(s * p for s, p in zip(sums, column, strict=True)) for column in self.part.T.tolist()]
        least = min(cost)
        above = np.array([(c - least) / (_PARTS << 45) for c in cost])
        results = np.arange(len(cost), dtype=np.int64)
        return Score(results, np.ones_like(results), np.minimum(above, ceiling))

    def values(self, results: NDArray[np.int64], bought: int, population: int) -> Floats:  # noqa: ARG002
        """Return the candidates."""
        return np.array(self.candidates)[results]

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:  # noqa: ARG002
        """Return t: the answer costs < t above the best with probability ≥ `level`.

        The best candidate has the largest weight, and each of the R − 1 others that costs t more or
        above has at most exp(−t/2) of it: P(≥ t) ≤ (R − 1) exp(−t/2). No candidate costs more than
        Σ ε_i.
        """
        others = len(self.candidates) - 1
        most = exact_sum(epsilon)
        if others == 0:
            return 0.0
        allowance = 1.0 + epsilon.size * _LOWERED  # bears the lowered requirements of the draw
        return min(most, 2.0 * math.log(others / (1.0 - level)) * allowance)


def _distinct(name: str, values: NumberList) -> tuple[float, ...]:
    array = plain_array(values, f"own: argument {name!r}")
    good = array.ndim == 1 and array.size > 0 and array.dtype.kind in "biuf" and bool(np.all(np.isfinite(array)))
    if not good or np.unique(array).size != array.size:
        raise InputError(
            f"own: argument {name!r}", "must be distinct finite numbers, one or more", remedy="correct the list"
        )
    return tuple(array.tolist())


def _part(change: Callable[[Any, Any], float], value: Hashable, candidate: Hashable) -> int:
    part = change(value, candidate)
    known = isinstance(part, (int, float, np.integer, np.floating, np.bool_))
    if not known or not 0 <= part <= 1:
        raise InputError(
            f"own: change({value!r}, {candidate!r})",
            "must be a number in [0, 1]",
            value=part,
            remedy="divide by the largest change there can be",
        )
    return round(float(part) * _PARTS)
