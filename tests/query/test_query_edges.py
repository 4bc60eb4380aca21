"""Edges of counts, weights and predictions that no larger test meets."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.query import Purchase, pe_law
from smqopt.query._possible_values import _count
from smqopt.query._public_numbers import checked_weights
from smqopt.query.error._fit import _distances
from smqopt.query.error._predict import VANISHED, _noise_mse
from smqopt.query.error._sampling_error import expected_quantile
from smqopt.query.exponential._cost_of_distance import KnapsackCost
from smqopt.query.exponential._integer_units import whole_units
from smqopt.query.linear._linear_release import places_of
from smqopt.query.linear._release_of_parts import form_of_one


def test_a_count_of_none_and_of_all_are_possible():
    assert _count(0, 3, 10) == 0
    assert _count(10, 3, 10) == 3
    assert _count(-1, 3, 10) is None
    assert _count(11, 3, 10) is None


def test_weights_may_all_be_0_and_none_extreme():
    zeros = checked_weights("sum", [0.0, 0.0])
    assert zeros.tolist() == [0.0, 0.0]
    assert not zeros.flags.writeable
    with pytest.raises(smq.InputError, match="row 2"):
        checked_weights("sum", [0.0, 5e-324])


def test_the_places_of_weights():
    bits, places = places_of(0.5, 4, 1)
    assert places == bits  # 0.5 = 0.5 · 2⁰
    assert places_of(2.0**-3, 4, 1) == (bits, bits + 2)
    assert places_of(2.0 ** (bits + 5), 4, 1) == (bits, 0)
    assert places_of(0.0, 4, 1) == (bits, 0)


def test_noise_of_a_quantile_is_measured_from_the_truth():
    """E (value − truth)² = (exact − truth)² + what noise adds, each from the same draws."""
    prior = smq.EntryPrior([1.0, 2.0, 3.0, 4.0], [0.1, 0.2, 0.3, 0.4])
    epsilon = np.array([0.2, 0.4, 0.3, 0.25, 0.5])
    purchase = Purchase(np.arange(12) < 5, np.append(epsilon, np.ones(7)), np.full(12, 0.5))
    query = smq.Quantile(0.9, 1, 4)
    added = _noise_mse(query, purchase, prior, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    data = prior.draw(5, rng)
    truth = expected_quantile(query, prior, data, 7, rng)
    (score,) = query.scores(query.entries(data, ["a"] * 5), epsilon, VANISHED)
    possible = score.without_ends(VANISHED)
    values, law = query.draw_values(possible.results, 5, 12), pe_law(possible)
    exact = query.draw_values(possible.start[possible.cost == 0][:1], 5, 12)[0]
    assert abs(exact - truth) > 0.01
    assert added + (exact - truth) ** 2 == pytest.approx(float(law @ (values - truth) ** 2), rel=1e-12)


def test_distances_are_whole_or_in_equal_steps():
    few = _distances(np.array([1.0, 5.0]), np.array([0.1, 1.0]), 5.0, whole=True)
    assert few.tolist() == [1, 2, 3, 4, 5]
    broken = _distances(np.array([1.0, 5.0]), np.array([0.1, 1.0]), 5.0, whole=False)
    far = _distances(np.array([1e7]), np.array([1.0]), 1e7, whole=True)
    assert broken.size == far.size > 1000
    assert (broken[-1], far[-1]) == (5.0, 1e7)


def test_one_owner_of_many_has_a_form_but_for_own_weights():
    assert form_of_one(smq.Count()).weights.tolist() == [1.0]
    with pytest.raises(smq.InputError, match="market in parts"):
        form_of_one(smq.WeightedSum([2.0], 0, 1))


def test_bought_entries_are_weighed_by_how_rarely_they_are_bought():
    purchase = Purchase(np.array([True, False, True]), np.ones(3), np.array([0.25, 0.5, 1.0]))
    found = smq.Sum(0, 1, weighting="inverse-probability").asked_of(purchase)
    assert found.predictor.weights.tolist() == [4.0, 1.0]


@pytest.mark.parametrize("k", [1, 3, 1 << 16])
def test_sums_in_units_fit_exact_integers(k):
    units = whole_units(np.linspace(0.5, 1.0, k), 0.0, 1.0)
    assert units.most < 1 << 62
    assert units.rounding < 1e-3 * k  # and no less than what rounding took
    weights, entries = np.linspace(0.5, 1.0, k), np.linspace(1.0, 0.1, k)
    told = float(units.weights @ units.convert(entries)) * units.weight_unit * units.entry_unit
    assert abs(told - float(weights @ entries)) <= units.rounding + 1e-12 * k
    small = whole_units(1e-6 * weights, 0.0, 1.0)
    assert small.rounding == pytest.approx(1e-6 * units.rounding, rel=1.0)
    assert units.width >= 1 << 8


def test_a_knapsack_ends_where_every_set_costs_the_ceiling():
    cost = KnapsackCost.over(np.array([3, 5]), np.array([1.0, 9.0]), 5.0)
    assert cost.far == 4
    assert cost(np.array([0, 1, 3, 4, 5, 8])).tolist() == [0, 1, 1, 5, 5, 5]


def test_two_draws_have_no_one_law():
    market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    outcome = smq.procure(smq.verify(smq.solve(market, 0.5)), [0.0, 0.0, 0.0])
    found = smq.answer(smq.Histogram([0, 0.5, 1]), [0, 1, 1], outcome, rng=np.random.default_rng(1))
    assert len(found.distributions()) == 2
    with pytest.raises(smq.InputError, match="2 independent draws"):
        found.distribution()
