"""FQ and FIP against a reading of their definitions in fractions, on every small market."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest

from smqopt.paper.baselines._fair_inner_product import FairInnerProductOrder, dominant_owner
from smqopt.paper.baselines._fair_query import (
    FairQueryOrder,
    count_base,
    laplace_scale,
    local_sensitivity,
    median_base,
    privacy_valuation,
)
from smqopt.paper.errata._fair_query import affordable, fair_query, printed_rule
from smqopt.paper.errata._sample_sensitivity import VALUES, on_the_sample

THETA = (0.0, 0.5, 1.0)
EPSILON = (0.0, 0.25, 0.5, 1.0)
BUDGETS = (0.25, 1.0, 4.0, 64.0)
RULES = ("printed", "original")
INFINITE = Fraction(10**9)
"""Stands for v = ∞: beyond all budgets here."""


def valuations(theta, epsilon):
    return [Fraction(t) / Fraction(e) if e else INFINITE for t, e in zip(theta, epsilon, strict=True)]


def defined(rule, v, budget):
    """The k of the definition, by trying each, and who is bought before the filter; ties in their order."""
    n = len(v)
    order = sorted(range(n), key=lambda i: (v[i], i))
    if rule == "printed":
        fitting = [k for k in range(1, n + 1) if k * v[order[k - 1]] <= budget]
    else:
        fitting = [k for k in range(1, n) if k * v[order[k - 1]] / (n - k) <= budget]
    k = max(fitting, default=0)
    return k, order


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_fq_is_its_definition(rule, n):
    seen = set()
    markets = product(product(THETA, repeat=n), product(EPSILON, repeat=n))
    for theta, epsilon in islice(markets, 0, None, 1 if n < 3 else 5):
        v = valuations(theta, epsilon)
        market = FairQueryOrder.of(np.array(theta), np.array(epsilon))
        for budget in BUDGETS:
            k, order = defined(rule, v, Fraction(budget))
            found = market.buy(rule, budget)
            if k == n:
                assert found is None
                seen.add("all")
                continue
            assert found is not None
            expected = {i for i in order[:k] if Fraction(epsilon[i]) > Fraction(1, n - k)}
            payment = min(Fraction(budget) / k, v[order[k]] / (n - k)) if k else Fraction(0)
            assert found[0] == k
            assert set(np.flatnonzero(found[1].bought).tolist()) == expected
            assert found[1].spend == pytest.approx(float(payment) * len(expected))
            assert found[1].spread == 0.0
            assert found[1].spend <= budget
            seen.update(["none"] if k == 0 else ["some"], ["passed over"] if len(expected) < k else [])
    assert "none" in seen
    if n > 1:
        assert "some" in seen
        assert "passed over" in seen  # ε ≤ 1/(n − k)
    if rule == "printed":
        assert "all" in seen


def test_fq_agrees_with_the_errata_where_nobody_is_passed_over():
    for theta in product((0.5, 1.0, 1.5), repeat=4):
        epsilon = np.full(4, 2.0)
        v = [Fraction(t) / 2 for t in theta]
        for rule, judge in (("printed", printed_rule), ("original", affordable)):
            for budget in (0.25, 1.0, 2.0):
                found = FairQueryOrder.of(np.array(theta), epsilon).buy(rule, budget)
                try:
                    bought, payment, privacy = fair_query(judge, v, Fraction(budget))
                except ZeroDivisionError:
                    assert found is None
                    continue
                assert found is not None
                assert frozenset(np.flatnonzero(found[1].bought).tolist()) == bought
                assert Fraction(1, 4 - found[0]) == privacy
                assert found[1].spend == pytest.approx(float(payment) * len(bought))


def test_who_has_no_privacy_to_sell_stands_last():
    v = privacy_valuation(np.array([0.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.5, 0.5, 0.0]))
    assert v.tolist() == [math.inf, 0.0, 1.0, math.inf]


def test_fq_answers():
    ones = np.array([1, 1, 0, 1, 0])
    bought = np.array([True, False, True, True, False])
    assert count_base(ones, bought) == 2 + 1.0
    assert count_base(ones, np.zeros(5, dtype=bool)) == 2.5
    assert median_base(np.array([1, 2, 2, 5, 9]), bought) == 2
    assert median_base(np.array([1, 2, 3, 5, 9]), np.array([True, False, False, True, False])) == 1
    assert math.isnan(median_base(ones, np.zeros(5, dtype=bool)))
    assert laplace_scale("scale", 8.0) == 8.0
    assert 2 * laplace_scale("variance", 8.0) ** 2 == pytest.approx(8.0)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_sensitivity_on_the_sample_is_the_largest_move_of_its_median(k):
    for held in product(VALUES, repeat=k):
        value = np.sort(np.array([*held, *held]))
        bought = np.zeros(2 * k, dtype=bool)
        bought[::2] = True
        if value[bought].tolist() == sorted(held):
            assert local_sensitivity(value, bought, VALUES[0], VALUES[-1]) == on_the_sample(list(held))
    assert math.isnan(local_sensitivity(np.array([1]), np.zeros(1, dtype=bool), 0, 3))


def brute_force_inner_product(v, w, budget):
    """FIP by its definition: who is bought, payments, and the weight of the rest."""
    n = len(v)
    for i in range(n):
        if w[i] > sum(w) - w[i]:
            return {i}, {i: budget}, sum(w) - w[i]
    order = sorted(range(n), key=lambda i: (v[i], i))
    best = 0
    for k in range(1, n):
        inside, rest = sum(w[i] for i in order[:k]), sum(w[i] for i in order[k:])
        if budget * rest >= v[order[k - 1]] * inside:
            best = k
    inside, rest = sum(w[i] for i in order[:best]), sum(w[i] for i in order[best:])
    unit = 0
    if best and inside and rest:
        unit = min(budget / inside, v[order[best]] / rest)
    return set(order[:best]), {i: w[i] * unit for i in order[:best]}, rest


@pytest.mark.parametrize(("n", "every"), [(1, 1), (2, 1), (3, 31), pytest.param(3, 1, marks=pytest.mark.exhaustive)])
def test_fip_is_its_definition(n, every):
    seen = set()
    weights = (0.5, 1.0, 2.0) if n < 3 else (0.5, 1.0, 4.0)
    cases = product(product((0.0, 0.5, 1.0), repeat=n), product((0.0, 0.5, 1.0), repeat=n), product(weights, repeat=n))
    for theta, epsilon, w in islice(cases, 0, None, every):
        v = valuations(theta, epsilon)
        fair = FairQueryOrder.of(np.array(theta), np.array(epsilon))
        weight = np.array(w)
        market = FairInnerProductOrder(weight, fair.order, fair.v, dominant_owner(weight))
        for budget in (0.25, 1.0, 4.0):
            bought, payments, rest = brute_force_inner_product(v, [Fraction(x) for x in w], Fraction(budget))
            found = market.buy(budget)
            assert set(np.flatnonzero(found.allocation.bought).tolist()) == bought
            assert found.rest == float(rest)
            assert found.allocation.spend == pytest.approx(float(sum(payments.values())))
            requirements = found.requirements(weight)
            if rest == 0:
                assert requirements is None
                seen.add("undefined")
            else:
                assert requirements is not None
                assert requirements.tolist() == pytest.approx([float(Fraction(x) / rest) for x in w])
            seen.add("dominant" if any(2 * x > sum(w) for x in w) else "none" if not bought else "some")
    assert "dominant" in seen
    if n == 1:
        assert "undefined" in seen  # S_c = S
    else:
        assert {"none", "some"} <= seen


def test_a_heaviest_owner_who_weighs_as_much_as_the_rest_does_not_dominate():
    assert dominant_owner(np.array([1.0, 2.0, 1.0])) is None
    assert dominant_owner(np.array([1.0, 2.0, 0.5])) == 1
    assert dominant_owner(np.array([])) is None


def test_owners_without_weight_change_nothing_for_fip():
    weight = np.array([0.0, 1.0, 1.0, 1.0])
    fair = FairQueryOrder.of(np.array([0.1, 0.2, 0.4, 0.8]), np.ones(4))
    found = FairInnerProductOrder(weight, fair.order, fair.v, None).buy(0.5)
    assert found.allocation.bought.tolist() == [True, True, False, False]
    assert found.rest == 2.0
    assert found.allocation.spend == pytest.approx(min(0.5 / 1, 0.4 / 2))
