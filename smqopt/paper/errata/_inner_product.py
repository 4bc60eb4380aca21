"""E20: requirements that are defined by what they decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from smqopt.paper.errata._entry import Claim, Entry, Finding

Fractions = tuple[Fraction, ...]


@dataclass(frozen=True)
class InnerProductInstance:
    """What FIP starts from; tuples of one length."""

    theta: Fractions
    weights: Fractions
    drawn: Fractions
    """ε⁰, drawn before anything is bought."""
    budget: Fraction


Requirements = Callable[[InnerProductInstance], list[Fractions]]
"""From an instance to every ε that meets the definition."""


def fair_inner_product(v: Sequence[Fraction], weights: Sequence[Fraction], budget: Fraction) -> frozenset[int]:
    """Select by FIP as printed: a dominant owner, or the first k by v."""
    total = sum(weights, Fraction(0))
    for i, w in enumerate(weights):
        if w > total - w:
            return frozenset([i])
    order = sorted(range(len(v)), key=lambda i: (v[i], i))
    chosen = 0
    for k in range(1, len(v)):
        inside = sum((weights[i] for i in order[:k]), Fraction(0))
        if budget * (total - inside) >= v[order[k - 1]] * inside:
            chosen = k
    return frozenset(order[:chosen])


def shares_off(selected: frozenset[int], weights: Fractions) -> Fractions | None:
    """Return w_i / Σ_{S∖S_c} w; None, undefined, where S_c = S."""
    off = sum((w for i, w in enumerate(weights) if i not in selected), Fraction(0))
    return tuple(w / off for w in weights) if off else None


def self_consistent(instance: InnerProductInstance) -> list[Fractions]:
    """Return each ε = w/Σ_{S∖S_c} w for which FIP selects that very S_c."""
    owners = range(len(instance.weights))
    found = []
    for size in range(len(owners) + 1):
        for chosen in combinations(owners, size):
            epsilon = shares_off(frozenset(chosen), instance.weights)
            if epsilon is not None and _select(instance, epsilon) == frozenset(chosen):
                found.append(epsilon)
    return found


def from_draws(instance: InnerProductInstance) -> list[Fractions]:
    """Run FIP with ε⁰, then set ε from what it selected."""
    epsilon = shares_off(_select(instance, instance.drawn), instance.weights)
    return [] if epsilon is None else [epsilon]


def _select(instance: InnerProductInstance, epsilon: Fractions) -> frozenset[int]:
    v = [theta / e for theta, e in zip(instance.theta, epsilon, strict=True)]
    return fair_inner_product(v, instance.weights, instance.budget)


def _trial(requirements: Requirements) -> Finding:
    """There must be one ε, that of some S_c, and none where FIP selects everyone."""
    alone = InnerProductInstance((Fraction(1, 2),), (Fraction(1),), (Fraction(1, 2),), Fraction(1))
    if requirements(alone):
        return Finding(False, "a single owner is all of S, so the sum is 0 and ε undefined")
    values, tried = (Fraction(1, 4), Fraction(1)), 0
    for n in (2, 3):
        cases = product(
            product(values, repeat=n), product((Fraction(1), Fraction(2)), repeat=n), product(values, repeat=n)
        )
        for theta, weights, drawn in cases:
            found = requirements(InnerProductInstance(theta, weights, drawn, Fraction(1, 2)))
            if len(found) != 1:
                return Finding(
                    False,
                    f"θ = {_words(theta)}, w = {_words(weights)}, B = 1/2: ε may be {' or '.join(map(_words, found)) or 'nothing'}",
                )
            if found[0] not in _of_subsets(weights):
                return Finding(False, f"w = {_words(weights)}: ε = {_words(found[0])} is w/Σ_(S∖S_c) w for no S_c")
            tried += 1
    return Finding(True, f"one ε on each of {tried} instances; none where S_c = S")


def _of_subsets(weights: Fractions) -> list[Fractions | None]:
    """Return w/Σ_{S∖S_c} w for each S_c ≠ S."""
    owners = range(len(weights))
    return [shares_off(frozenset(chosen), weights) for size in owners for chosen in combinations(owners, size)]


def _words(values: Fractions) -> str:
    return "(" + ", ".join(map(str, values)) + ")"


INNER_PRODUCT = Entry(
    "E20",
    "FIP",
    Claim("ε_i = w_i/Σ_{S∖S_c} w, though S_c is chosen by v = θ/ε", self_consistent),
    Claim("run FIP with drawn ε⁰, then set ε_i for both mechanisms; undefined where S_c = S", from_draws),
    _trial,
)
