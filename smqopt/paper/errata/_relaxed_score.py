"""F4: a relaxed score is still private."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

from smqopt.paper.errata._entry import Claim, Entry, Finding

Room = Sequence[Fraction]
"""How far each entry alone can move the result towards r."""
Cost = Callable[[Fraction, Room, Sequence[Fraction]], Fraction]
"""From the distance to go, the room and ε to what the move costs; the room suffices."""

VALUES = (Fraction(0), Fraction(1, 2), Fraction(1))
"""Entries lie in [0, 1]."""
INSTANCES = (
    ((1, 1, 1), (Fraction(1), Fraction(1, 2), Fraction(1, 4))),
    ((1, 2, -1), (Fraction(1, 2), Fraction(1, 4), Fraction(1))),
    ((3, 1, 2), (Fraction(2), Fraction(1, 3), Fraction(1))),
)
"""Weights and requirements."""


def exact_cost(distance: Fraction, room: Room, epsilon: Sequence[Fraction]) -> Fraction:
    """Solve the min-knapsack over whole entries, by trying every set."""
    owners = range(len(room))
    sets = [chosen for size in range(len(room) + 1) for chosen in combinations(owners, size)]
    return min(sum((epsilon[i] for i in s), Fraction(0)) for s in sets if sum(room[i] for i in s) >= distance)


def relaxed_cost(distance: Fraction, room: Room, epsilon: Sequence[Fraction]) -> Fraction:
    """Solve the relaxation: entries by ε per distance, the last a fraction."""
    cost = Fraction(0)
    for i in _by_price(room, epsilon):
        part = min(Fraction(1), distance / room[i])
        cost += part * epsilon[i]
        distance -= part * room[i]
    return cost


def rounded_cost(distance: Fraction, room: Room, epsilon: Sequence[Fraction]) -> Fraction:
    """Take whole entries in the same order until the distance is covered."""
    cost = Fraction(0)
    for i in _by_price(room, epsilon):
        if distance <= 0:
            break
        cost += epsilon[i]
        distance -= room[i]
    return cost


def _by_price(room: Room, epsilon: Sequence[Fraction]) -> list[int]:
    return sorted((i for i in range(len(room)) if room[i] > 0), key=lambda i: epsilon[i] / room[i])


def _trial(cost: Cost) -> Finding:
    """Check that costs move by at most ε_i, and lie within ε of the exact one."""
    tried = 0
    for weights, epsilon in INSTANCES:
        costs, exact = _costs(cost, weights, epsilon), _costs(exact_cost, weights, epsilon)
        for (d, r), c in costs.items():
            for i, other in product(range(len(d)), VALUES):
                moved = costs[(*d[:i], other, *d[i + 1 :]), r]
                if abs(c - moved) > epsilon[i]:
                    return Finding(
                        False,
                        f"w = {weights}, d = {_words(d)}: the cost of {r} moves from {c} to {moved} when entry {i + 1}, "
                        f"ε = {epsilon[i]}, becomes {other}",
                    )
                tried += 1
            if not max(exact[d, r] - max(epsilon), Fraction(0)) <= c <= exact[d, r]:
                return Finding(
                    False, f"w = {weights}, d = {_words(d)}: the cost of {r} is {c}, the exact one {exact[d, r]}"
                )
    return Finding(True, f"no cost moves by more than ε_i, over {tried} pairs of neighbours and results")


def _costs(
    cost: Cost, weights: Sequence[int], epsilon: Sequence[Fraction]
) -> dict[tuple[tuple[Fraction, ...], Fraction], Fraction]:
    """Return the cost of each result, in steps of ¼, from each data set."""
    lowest, highest = sum(min(w, 0) for w in weights), sum(max(w, 0) for w in weights)
    costs = {}
    for d in product(VALUES, repeat=len(weights)):
        value = sum((w * x for w, x in zip(weights, d, strict=True)), Fraction(0))
        up = [max(w * (end - x) for end in (0, 1)) for w, x in zip(weights, d, strict=True)]
        down = [max(w * (x - end) for end in (0, 1)) for w, x in zip(weights, d, strict=True)]
        for r in (Fraction(step, 4) for step in range(4 * lowest, 4 * highest + 1)):
            costs[d, r] = cost(abs(r - value), up if r > value else down, epsilon)
    return costs


def _words(d: Sequence[Fraction]) -> str:
    return "(" + ", ".join(map(str, d)) + ")"


RELAXED_SCORE = Entry(
    "F4",
    "P-E, linear predictor",
    Claim("any cheap set of entries that reaches r is a score", rounded_cost),
    Claim(
        "the linear relaxation of the min-knapsack is a score that is still ε-PDP, and never below the exact one",
        relaxed_cost,
    ),
    _trial,
)
