"""The h-th smallest of k whole numbers: its cost, and how far noise moves it."""

from __future__ import annotations

import heapq
from itertools import accumulate, repeat, takewhile

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.query.exponential._noise import fewest_changes, sure_costs
from smqopt.query.exponential._score import Score


def score_of_rank(
    entries: NDArray[np.int64], epsilon: Floats, h: int, low: int, high: int, ceiling: float = np.inf
) -> Score:
    """Return the cost of each candidate for the h-th smallest entry.

    Ties are counted (errata, "The median score").

    Sort the entries, d_(1) ≤ … ≤ d_(k), and let m = d_(h). A candidate r > m is the h-th smallest
    as soon as at most h − 1 entries lie below it and at least one changed entry lies on it: keep
    the h − 1 largest ε among the entries below r, change the rest. A candidate r < m: keep the k −
    h largest ε among the entries above r, change the rest. So the cost is constant on (d_(j),
    d_(j+1)] above and on [d_(j), d_(j+1)) below. Walking outwards from m, a heap of the ε to keep,
    of fixed size, gives up one ε at each entry passed: O(k log k).

    Parameters
    ----------
    entries, epsilon
        Shape (k,).
    h
        From 1 to k.
    low, high
        The public range of entries.
    ceiling
        Costs from here on are given as `ceiling`.
    """
    order = np.argsort(entries, kind="stable")
    d, ascending = entries[order], epsilon[order]
    del order
    upward = cost_of_passing(ascending[: h - 1], ascending[h - 1 :], ceiling)  # passing d_(h), …, d_(k)
    downward = cost_of_passing(ascending[h:], ascending[h - 1 :: -1], ceiling)  # passing d_(h), …, d_(1)
    del ascending
    exact = d[h - 1 : h]
    start = np.concatenate([[low], d[: h - 1], exact, d[h - 1 :] + 1])
    end = np.concatenate([d[:h], exact + 1, d[h:] + 1, [high + 1]])
    cost = np.concatenate([downward[::-1], [0.0], upward])
    held = end > start
    return Score(start[held], (end - start)[held], cost[held])


def ranks_off(epsilon: Floats, h: int, others: int, level: float) -> float:
    """Return t: the answer is within t ranks with probability at least `level`.

    How far an answer is off in its own unit depends on how dense the private entries are, so no
    public half-width in that unit exists. In ranks one does. Let s(r) be the number of entries that
    must change before r is the exact answer, that is (entries < r) − (h − 1) above it and (entries
    > r) − (k − h) below it. If s(r) ≤ t, then d_(h−t) ≤ r ≤ d_(h+t), with the ends of the public
    range where an index leaves 1, …, k.

    A candidate r costs at least S(s(r)), the sum of the s(r) smallest ε bought, and S is
    non-decreasing. The exact answer costs 0, so the weights sum to at least 1, and at most all
    other candidates have s(r) ≥ t ≥ 1. Hence P(s(R) ≥ t) ≤ others · exp(−S(t)/2). The smallest t at
    which the right side is at most 1 − level is given; where there is none, the most changes there
    can be, max(h, k − h + 1).

    Parameters
    ----------
    epsilon
        The requirements bought, shape (k,).
    h
        From 1 to k.
    others
        The number of candidates but one, high − low.
    level
        In (0, 1).
    """
    return ranks_off_at(sure_costs(epsilon), max(h, epsilon.size - h + 1), others, level)


def ranks_off_at(sure: Floats, most: int, others: int, level: float) -> float:
    """Return `ranks_off` from S(1), S(2), …, as far as they are known.

    `most` where none of them is enough.
    """
    known = sure[:most]
    tail = float(others) * np.exp(-0.5 * known)
    changes = fewest_changes(np.append(tail, 0.0), level)
    return float(changes if changes <= known.size else most)


def cost_of_passing(kept: Floats, passed: Floats, ceiling: float) -> Floats:
    """Sum what a heap that keeps its size gives up at each entry passed.

    `ceiling` from where the sum reaches it.
    """
    heap = kept.tolist()
    heapq.heapify(heap)
    one_by_one = np.ascontiguousarray(passed).data  # gives Python floats without a list of them
    sums = accumulate(map(heapq.heappushpop, repeat(heap), one_by_one))
    below = np.fromiter(takewhile(ceiling.__gt__, sums), dtype=np.float64)
    return np.concatenate([below, np.full(len(passed) - below.size, ceiling)])
