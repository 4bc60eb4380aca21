"""E6: how many owners FairQuery buys from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from smqopt.paper.errata._entry import Claim, Entry, Finding

Number = Fraction | float
Affordable = Callable[[int, Number, int, Number], bool]
"""From k, v_k, n and B to whether k owners may be bought; the largest such k is."""

GRID = tuple(Fraction(x, 2) for x in range(1, 6))
BUDGETS = (Fraction(1, 2), Fraction(1), Fraction(2))
MOST_OWNERS = 3


def printed_rule(k: int, v_k: Number, n: int, budget: Number) -> bool:  # noqa: ARG001
    """As printed: k v_k ≤ B."""
    return k * v_k <= budget


def affordable(k: int, v_k: Number, n: int, budget: Number) -> bool:
    """As in Ghosh and Roth: k v_k/(n − k) ≤ B."""
    return k * v_k <= budget * (n - k)


def fair_query(rule: Affordable, v: Sequence[Fraction], budget: Fraction) -> tuple[frozenset[int], Fraction, Fraction]:
    """Run FairQuery on privacy valuations v.

    Returns
    -------
    tuple
        The owners bought, ties in their order; the payment to each, min{B/k, v_{k+1}/(n − k)}; the
        privacy 1/(n − k) that each loses.

    Raises
    ------
    ZeroDivisionError
        If k = n: there is no v_{n+1}, and noise of scale 0.
    """
    n = len(v)
    order = sorted(range(n), key=lambda i: (v[i], i))
    k = max((k for k in range(1, n + 1) if rule(k, v[order[k - 1]], n, budget)), default=0)
    privacy = Fraction(1, n - k)
    payment = min(budget / k, v[order[k]] * privacy) if k else Fraction(0)
    return frozenset(order[:k]), payment, privacy


def _trial(rule: Affordable) -> Finding:
    """Check small instances: defined, within the budget, rational, truthful."""
    tried = 0
    for n, budget in product(range(2, MOST_OWNERS + 1), BUDGETS):
        try:
            outcomes = {v: fair_query(rule, v, budget) for v in product(GRID, repeat=n)}
        except ZeroDivisionError:
            return Finding(False, f"n = {n}, B = {budget}: all n owners are bought, and 1/(n − k) is no privacy at all")
        fault = _fault(outcomes, budget)
        if fault:
            return Finding(False, f"n = {n}, B = {budget}: {fault}")
        tried += len(outcomes)
    return Finding(True, f"truthful, individually rational and within the budget on all {tried} instances")


def _fault(outcomes: dict[tuple[Fraction, ...], tuple[frozenset[int], Fraction, Fraction]], budget: Fraction) -> str:
    def gain(owner: int, value: Fraction, report: tuple[Fraction, ...]) -> Fraction:
        bought, payment, privacy = outcomes[report]
        return payment - value * privacy if owner in bought else Fraction(0)

    for v, (bought, payment, _) in outcomes.items():
        if len(bought) * payment > budget:
            return f"payments exceed the budget at v = {_words(v)}"
        for i, value in enumerate(v):
            honest = gain(i, value, v)
            if honest < 0:
                return f"owner {i + 1} sells at a loss at v = {_words(v)}"
            for lie in GRID:
                if gain(i, value, (*v[:i], lie, *v[i + 1 :])) > honest:
                    return f"owner {i + 1} gains by the report {lie} at v = {_words(v)}"
    return ""


def _words(v: Sequence[Fraction]) -> str:
    return "(" + ", ".join(map(str, v)) + ")"


def count_rmse(rule: Affordable, v: Sequence[float], budget: float, mean: float) -> float:
    """Return the RMSE of FQ's count Σ_{i≤k} d_i + (n − k)/2 + Lap(n − k).

    Parameters
    ----------
    rule
        Which k.
    v
        Privacy valuations of n owners.
    budget
        B.
    mean
        The share of ones among the entries; the k bought are a sample without replacement.
    """
    ordered = sorted(v)
    n = len(ordered)
    k = max((k for k in range(1, n) if rule(k, ordered[k - 1], n, budget)), default=0)
    left = n - k
    bias = left * (0.5 - mean)
    sampling = left * mean * (1 - mean) * k / (n - 1)
    return math.sqrt(bias**2 + sampling + 2.0 * left**2)


FAIR_QUERY = Entry(
    "E6",
    "FQ baseline",
    Claim("k is the largest with k v_k ≤ B", printed_rule),
    Claim("Ghosh and Roth (2011): k v_k/(n − k) ≤ B", affordable),
    _trial,
)
