"""Linear predictors against the definition: brute force, exact fractions, every neighbour, every candidate."""

from __future__ import annotations

import json
import math
import tracemalloc
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.query import LinearPredictor, Purchase, Score, audit_privacy, pe_law
from smqopt.query.exponential import _integer_units as whole_units
from smqopt.query.exponential._cost_of_distance import ROUNDING_OF_COST, KnapsackCost, RelaxedCost
from smqopt.query.exponential._exponential_law import VANISHED
from smqopt.query.exponential._release import lower_to_grid, whole_weights

ROUNDING = 1e-11

WEIGHTS = [[1.0, 2.0, -1.0], [0.5, 0.0, 3.0], [-1.0, -2.5, -0.25], [1.0, 1.0, 1.0], [1e-9, 1.0, -1.0]]
EPSILON = [[0.5, 1.0, 0.25], [0.0, 1.5, 0.75], [2.0, 2.0, 2.0], [1e-15, 0.5, 0.0]]

pytestmark = pytest.mark.filterwarnings("ignore::smqopt.PrivacyWarning")
"""Many releases from one purchase: here they are no promise to anybody."""


def bought(epsilon):
    epsilon = np.asarray(epsilon, dtype=np.float64)
    return Purchase(np.ones(epsilon.size, dtype=bool), epsilon, np.ones(epsilon.size))


def law_of(query, epsilon):
    def law(entries):
        score = query.score(entries, np.minimum(epsilon, VANISHED), VANISHED)
        return score.results.tolist(), pe_law(score)

    return law


def whole_law(query, entries, epsilon):
    """Give the exact law of the draw: results and fractions."""
    score = query.score(entries, *lower_to_grid(epsilon, query.rounding_of_cost))
    weights = [
        w for w, length in zip(whole_weights(score.cost), score.length.tolist(), strict=True) for _ in range(length)
    ]
    total = sum(weights)
    return score.results.tolist(), [Fraction(w, total) for w in weights]


@pytest.fixture
def coarse(monkeypatch):
    """Entries and weights in four steps at most, so that all data sets can be tried."""
    monkeypatch.setattr(whole_units, "_ROOM_BITS", 4)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("weights", [[1, 2, -1], [2, 0, 3], [-1, -3, -2], [1, 1, 1], [4, -4, 1, 2], [3]])
@pytest.mark.parametrize("step", [1.0, 2.0])
def test_the_exact_score_is_that_of_the_definition(weights, step, brute_force):
    epsilon = np.array([0.3, 1.1, 0.0, 0.7][: len(weights)])
    query = LinearPredictor(weights, -1, 3, step=step, exact=True)
    assert query.units.width == 4
    assert np.abs(query.units.weights).max() * query.units.unit <= 4
    cell = query.grid.cell

    def candidate(entries):
        place = int(query.units.weights @ np.array(entries)) - query.units.least
        return (place + query.grid.before) // cell

    # Each cell is reached by whole steps of every entry only where no step is wider than a cell.
    if np.abs(query.units.weights).max() > cell:
        step = 4 * query.units.unit  # the widest step of an entry
        query = LinearPredictor(weights, -1, 3, step=step, exact=True)
        cell = query.grid.cell
    truth = brute_force(candidate, range(5), epsilon)
    for entries, expected in zip(truth.datasets, truth.law, strict=True):
        results, probability = law_of(query, epsilon)(entries)
        assert results == truth.results
        np.testing.assert_allclose(probability, expected, rtol=ROUNDING, atol=0)


def exact_knapsack(distance, room, epsilon):
    sets = product((0, 1), repeat=len(room))
    return min(
        sum(e for e, s in zip(epsilon, chosen, strict=True) if s)
        for chosen in sets
        if sum(a for a, s in zip(room, chosen, strict=True) if s) >= distance
    )


def exact_relaxation(distance, room, epsilon):
    """Solve the linear relaxation at its vertices: a set taken whole, and one entry by a share."""
    best = None
    for chosen in product((0, 1), repeat=len(room)):
        covered = sum(a for a, s in zip(room, chosen, strict=True) if s)
        cost = sum((e for e, s in zip(epsilon, chosen, strict=True) if s), Fraction(0))
        if covered >= distance:
            best = cost if best is None else min(best, cost)
        for i, s in enumerate(chosen):
            if not s and room[i] > 0 and covered < distance <= covered + room[i]:
                whole = cost + epsilon[i] * Fraction(distance - covered, room[i])
                best = whole if best is None else min(best, whole)
    return best


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_costs_are_those_of_the_knapsack_and_its_relaxation(data):
    k = data.draw(st.integers(1, 6))
    room = data.draw(st.lists(st.integers(0, 12), min_size=k, max_size=k))
    epsilon = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0]), min_size=k, max_size=k))
    whole = sum(room)
    distance = np.arange(whole + 1)
    exact = [exact_knapsack(t, room, epsilon) for t in range(whole + 1)]
    relaxed = [float(exact_relaxation(t, room, [Fraction(e) for e in epsilon])) for t in range(whole + 1)]
    arguments = (np.array(room), np.array(epsilon))
    assert KnapsackCost.over(*arguments, math.inf)(distance).tolist() == exact
    np.testing.assert_allclose(RelaxedCost.over(*arguments, math.inf)(distance), relaxed, rtol=1e-14, atol=0)
    assert np.all(np.array(relaxed) <= np.array(exact))
    # where the knapsack is integral, the two agree: at the distances that the cheapest entries cover whole
    order = sorted((i for i in range(k) if room[i]), key=lambda i: epsilon[i] / room[i])
    for covered in np.cumsum([room[i] for i in order]).tolist():
        assert relaxed[covered] == pytest.approx(exact[covered], rel=1e-14)
    for kind, truth in ((KnapsackCost, exact), (RelaxedCost, relaxed)):
        cut = kind.over(*arguments, 0.6)
        reached = distance[: max(cut.far, 0)]
        np.testing.assert_allclose(cut(reached), np.minimum(truth, 0.6)[: reached.size], rtol=1e-14, atol=0)
        assert all(cost >= 0.6 - 1e-14 for cost in truth[cut.far :])
        assert cut.free == sum(a for a, e in zip(room, epsilon, strict=True) if e == 0)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("epsilon", EPSILON)
@pytest.mark.parametrize("step", [None, 0.25, 1.0])
def test_candidates_cost_the_way_to_their_cells(weights, epsilon, step):
    query = LinearPredictor(weights, -1, 1, step=step).asked_of(bought(epsilon))
    exact = LinearPredictor(weights, -1, 1, step=query.step, exact=True)
    unit = query.units.unit
    for entries in product([-1.0, 0.125, 1.0], repeat=3):
        delta = query.entries(entries, ["a", "b", "c"])
        score, dear = (q.score(delta, np.array(epsilon)) for q in (query, exact))
        values = query.values(score.results, 3, 3)
        cost, knapsack = (np.repeat(s.cost, s.length) for s in (score, dear))
        assert values.size == cost.size
        phi = float(np.dot(weights, entries))
        least, most = (sum(f(-w, w) for w in weights) for f in (min, max))
        assert values[0] - query.step / 2 <= least + unit
        assert values[-1] + query.step / 2 >= most - unit
        for at in range(0, values.size, max(1, values.size // 7)):
            up = values[at] > phi
            room = [
                Fraction(max(w * (end - d) if up else w * (d - end) for end in (-1, 1)))
                for w, d in zip(weights, entries, strict=True)
            ]
            distance = max(Fraction(0), abs(Fraction(float(values[at])) - Fraction(phi)) - Fraction(query.step) / 2)
            distance = min(distance, sum(room))
            e = [Fraction(x) for x in epsilon]
            assert cost[at] == pytest.approx(float(exact_relaxation(distance, room, e)), abs=1e-6)
            assert cost[at] <= knapsack[at] + 1e-12
        assert np.abs(values[cost == 0] - phi).min() <= query.rounding


ALPHABET = [0.0, 0.3, 1.0]


def audited(query, epsilon, law=None):
    k = len(epsilon)
    delta = sorted({int(x) for x in query.units.convert(np.array(ALPHABET))})
    audit = audit_privacy(law or law_of(query, epsilon), epsilon, delta)
    assert audit.datasets == len(delta) ** k
    return audit


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("epsilon", EPSILON)
def test_every_owner_gets_her_own_epsilon(weights, epsilon, exact):
    query = LinearPredictor(weights, 0, 1, exact=exact).asked_of(bought(epsilon))
    audit = audited(query, np.array(epsilon))
    assert audit.excess <= ROUNDING, audit
    assert np.all(audit.log_ratio <= np.array(epsilon) + ROUNDING)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("weights", "epsilon"), list(zip(WEIGHTS, [*EPSILON, EPSILON[0]], strict=True)))
def test_the_draw_gives_every_owner_her_own_epsilon_with_no_tolerance_at_all(weights, epsilon, exact):
    epsilon = np.array(epsilon)
    query = LinearPredictor(weights, 0, 1, step=0.25, exact=exact)
    delta = query.units.convert(np.array(ALPHABET)).tolist()
    laws = [whole_law(query, np.array(entries), epsilon) for entries in product(delta, repeat=3)]
    assert len({tuple(results) for results, _ in laws}) == 1
    table = np.array([law for _, law in laws], dtype=object).reshape((len(delta),) * 3 + (-1,))
    with mpmath.workdps(60):
        for i in range(3):
            worst = max((table.max(axis=i) / table.min(axis=i)).ravel().tolist())
            assert mpmath.mpf(worst.numerator) / worst.denominator <= mpmath.exp(mpmath.mpf(float(epsilon[i])))
            if epsilon[i] < 2.0**-46:
                assert worst == 1


def test_the_continuous_density_is_private_at_the_breakpoints_of_both():
    """Log densities are piecewise linear, so their difference is largest at a breakpoint of one of them."""
    weights, epsilon = np.array([3, 1, -2]), np.array([0.5, 1.0, 0.25])
    width = 12

    def density(d):
        place = int(weights @ d)
        up = np.where(weights > 0, weights * (width - d), -weights * d)
        curves = [RelaxedCost.over(room, epsilon, math.inf) for room in (up, np.abs(weights) * width - up)]
        knots = np.concatenate([place - curves[1].reach[::-1], [place], place + curves[0].reach])
        at = np.concatenate([curves[1](curves[1].reach)[::-1], [0.0], curves[0](curves[0].reach)])
        knots, first = np.unique(knots, return_index=True)
        at = at[first]
        gap, rise = np.diff(knots), np.diff(at) / 2
        pieces = np.exp(-at[:-1] / 2) * gap * np.where(rise == 0, 1.0, -np.expm1(-rise) / np.where(rise == 0, 1, rise))
        return knots, lambda r: -np.interp(r, knots, at) / 2 - math.log(pieces.sum())

    worst = np.zeros(3)
    grid = (0, 5, 12)
    for d in product(grid, repeat=3):
        for i, other in product(range(3), grid):
            (here, p), (there, q) = density(np.array(d)), density(np.array([*d[:i], other, *d[i + 1 :]]))
            assert (here[0], here[-1]) == (there[0], there[-1])
            both = np.concatenate([here, there])
            worst[i] = max(worst[i], float(np.max(p(both) - q(both))))
    assert np.all(worst <= epsilon + 1e-12)
    assert np.all(worst > 0.5 * epsilon)


def test_the_audit_catches_forged_scores():
    epsilon = np.array([2.0, 1 / 3, 1.0])
    weights = [3.0, 1.0, 2.0]
    query = LinearPredictor(weights, 0, 1, step=0.25)

    def without_half(entries):
        score = query.score(entries, epsilon)
        return score.results.tolist(), pe_law(Score(score.start, score.length, 2 * score.cost))

    assert audited(query, epsilon, without_half).excess > 0.1

    def any_set(entries):
        """Take entries in order of price, each whole: no score (errata F4)."""
        units, place = query.units, int(query.units.weights @ entries) - query.units.least
        up = units.weights * (units.width - entries)
        costs = []
        results = query.score(entries, epsilon).results
        for j in results.tolist():
            start = j * query.grid.cell - query.grid.before
            near = min(max(place, start), start + query.grid.cell - 1)
            room = up if near > place else units.weights * entries
            left, cost = abs(near - place), 0.0
            for i in sorted((i for i in range(3) if room[i]), key=lambda i: epsilon[i] / room[i]):
                if left > 0:
                    cost, left = cost + epsilon[i], left - room[i]
            costs.append(cost)
        return results.tolist(), pe_law(Score(results, np.ones_like(results), np.array(costs)))

    assert audited(query, epsilon, any_set).excess > 0.5

    def private_range(entries):
        data = entries * query.units.entry_unit
        if data.min() == data.max():
            return [0], [1.0]
        forged = LinearPredictor(weights, float(data.min()), float(data.max()), step=0.25)
        score = forged.score(forged.entries(data, ["a", "b", "c"]), epsilon)
        return forged.values(score.results, 3, 3).tolist(), pe_law(score)

    assert audited(query, epsilon, private_range).excess == math.inf


@pytest.mark.parametrize("exact", [False, True])
def test_the_half_width_holds_on_every_small_data_set(exact):
    for weights, epsilon, level in product(WEIGHTS[1:3], [EPSILON[1], [20.0, 30.0, 40.0]], [0.5, 0.95]):
        query = LinearPredictor(weights, 0, 1, exact=exact).asked_of(bought(epsilon))
        bound = query.half_width(np.array(epsilon), level, 3)
        assert query.rounding <= bound <= sum(map(abs, weights)) + 2 * query.rounding
        for entries in product(ALPHABET, repeat=3):
            score = query.score(query.entries(entries, ["a", "b", "c"]), np.array(epsilon))
            far = np.abs(query.values(score.results, 3, 3) - np.dot(weights, entries)) > bound
            assert math.fsum(pe_law(score)[far]) <= 1 - level + 1e-12


def test_the_half_width_is_of_the_size_of_the_noise():
    rng = np.random.default_rng(3)
    epsilon, weights = rng.random(2000), rng.normal(size=2000)
    query = LinearPredictor(weights, 0, 1).asked_of(bought(epsilon))
    score = query.score(query.units.convert(rng.random(2000)), epsilon, VANISHED).without_ends(VANISHED)
    values, law = query.values(score.results, 1, 1), pe_law(score)
    spread = math.sqrt(law @ (values - law @ values) ** 2)
    assert spread < query.half_width(epsilon, 0.95, 1) < 5 * spread
    assert query.rounding < spread / 20


def test_zero_weights_and_single_entries_are_no_special_case():
    nothing = LinearPredictor([0.0, 0.0], 2, 3).asked_of(bought([1.0, 1.0]))
    score = nothing.score(nothing.entries([2.5, 3.0], ["a", "b"]), np.array([1.0, 1.0]))
    assert nothing.values(score.results, 2, 2).tolist() == [0.0]
    one = LinearPredictor([-2.0], 1, 2, step=1.0)
    score = one.score(one.entries([1.25], ["a"]), np.array([0.5]))
    assert one.values(score.results, 1, 1).tolist() == [-4.0, -3.0, -2.0]
    assert np.repeat(score.cost, score.length).round(6).tolist() == [0.333333, 0.0, 0.0]


@pytest.mark.parametrize("epsilon", [[1e308] * 3, [1e308, 1e-300, 0.0], [0.0] * 3, [5e-324] * 3, [512.0, 1000.0, 3.0]])
@pytest.mark.parametrize("exact", [False, True])
def test_extreme_requirements_and_weights_are_no_special_case(epsilon, exact):
    epsilon = np.array(epsilon)
    for weights in ([1.0, -2.0, 1e-9], [1e99, 1e-99, 1.0]):
        query = LinearPredictor(weights, -1e-3, 1e6, exact=exact).asked_of(bought(epsilon))
        score = query.score(query.entries([0, 0.5, 1e6], "abc"), *lower_to_grid(epsilon, query.rounding_of_cost))
        assert score.start.size <= 2**18
        assert math.isfinite(query.half_width(epsilon, 0.95, 3))
        assert query.values(score.start[score.cost == 0], 3, 3).size


def test_counts_are_linear_predictors_of_ones():
    rng = np.random.default_rng(0)
    entries, epsilon = rng.integers(0, 2, 30), rng.random(30)
    query = LinearPredictor(np.ones(30), 0, 1, step=1.0, total_weight=60.0)
    assert query.values(np.array([7]), 30, 60).tolist() == [14.0]
    score = query.score(query.entries(entries, [""] * 30), epsilon)
    count = smq.Count().score(entries, epsilon)
    assert score.results.tolist() == count.results.tolist()
    cost = np.repeat(score.cost, score.length)
    assert np.all(cost <= count.cost + 1e-12)
    assert cost[entries.sum()] == 0


@pytest.fixture(scope="module")
def outcome():
    market = smq.Market([0.4, 0.9, 0.2, 1.5], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    certificate = smq.verify(smq.solve(market, budget=8.0))
    return smq.procure(certificate, [0.5, 1.5, 0.5, 0.5])


def test_an_answer_in_all_its_parts(outcome):
    query = smq.LinearPredictor([1.0, -0.5, 2.0], -1, 1)
    result = smq.answer(query, [0.5, 0.25, 1.0], outcome, rng=np.random.default_rng(5))
    values, probabilities = result.distribution()
    assert result.value in values.tolist()
    assert math.isclose(math.fsum(probabilities), 1)
    assert abs(values[int(np.argmax(probabilities))] - 2.375) <= result.asked.rounding
    published = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert published["weights"] == [1.0, -0.5, 2.0]
    assert published["step"] == result.asked.step
    assert published["noise_half_width"] == result.asked.half_width(outcome.bought_epsilon, 0.95, 4)
    assert smq.answer(query, [0.5, 0.25, 1.0], outcome).simulation is False


@pytest.mark.parametrize("bad", [1.5, -1.0000001, math.nan, math.inf])
def test_bad_entries_are_refused_without_being_shown(outcome, bad):
    with pytest.raises(smq.InputError, match=r"entry 2 \(owner 'cy'\): must lie between -1 and 1") as refused:
        smq.answer(smq.LinearPredictor([1.0, 1.0, 1.0], -1, 1), [0.0, bad, 0.0], outcome)
    assert repr(bad) not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (([], 0, 1), {}, "'weights': must be numbers"),
        (([[1.0]], 0, 1), {}, "'weights': must be numbers"),
        ((["a"], 0, 1), {}, "'weights': must be numbers"),
        (([1.0, math.nan], 0, 1), {}, "'weights', row 2"),
        (([math.inf, 1.0], 0, 1), {}, "'weights', row 1"),
        (([1e200], 0, 1), {}, "'weights', row 1"),
        (([1.0], 1, 1), {}, "'high': must exceed low"),
        (([1.0], 2, 1), {}, "'high': must exceed low"),
        (([1.0], 0, 1e200), {}, "'high': must exceed low"),
        (([1.0], 0, "1"), {}, "'high': must be a finite number"),
        (([1.0], True, 1), {}, "'low': must be a finite number"),
        (([1.0], -math.inf, 1), {}, "'low': must be a finite number"),
        (([1.0], 0, 1), {"step": 0.0}, "'step': must be positive"),
        (([1.0], 0, 1), {"step": -1}, "'step': must be positive"),
        ((np.ones(21), 0, 1), {"exact": True}, "at most 20"),
        (([1.0, -1.0], 0, 1), {"total_weight": 5.0}, "needs weights of one sign"),
        (([1.0, 1.0], 0, 1), {"total_weight": -5.0}, "needs weights of one sign"),
        (([1.0, 1.0], 0, 1), {"total_weight": 0.0}, "needs weights of one sign"),
        (([0.0, 0.0], 0, 1), {"total_weight": 5.0}, "needs weights of one sign"),
        (([1.0, 1.0], 0, 1), {"total_weight": math.nan}, "'total_weight': must be a finite number"),
    ],
)
def test_bad_arguments_are_refused(arguments, more, message):
    with pytest.raises(smq.InputError, match=message):
        LinearPredictor(*arguments, **more)


def test_the_paper_scales_by_the_total_weight():
    query = LinearPredictor([-1.0, -3.0], 0, 1, total_weight=-10.0, step=1.0)
    assert query.scale == 2.5
    assert query.values(np.array([0, 1, 4]), 2, 5).tolist() == [-10.0, -7.5, 0.0]
    assert query.rounding >= 2.5 / 2


def test_what_does_not_fit_a_purchase_is_refused(outcome):
    with pytest.raises(smq.InputError, match="one weight for each of the 3 bought entries"):
        smq.answer(smq.LinearPredictor([1.0, 1.0], 0, 1), [0, 0, 0], outcome)
    with pytest.raises(smq.InputError, match="'step': must be coarser"):
        smq.answer(smq.LinearPredictor([1.0, 1.0, 1.0], 0, 1, step=1e-9), [0, 0, 0], outcome)
    with pytest.raises(smq.InputError, match="'step': must be at most the width 3"):
        smq.answer(smq.LinearPredictor([1.0, 1.0, 1.0], 0, 1, step=1e30), [0, 0, 0], outcome)
    with pytest.raises(smq.InputError, match="'step': is missing"):
        LinearPredictor([1.0], 0, 1).score(np.array([0]), np.array([1.0]))


def test_costs_of_the_draw_err_by_less_than_is_stated():
    """Many entries of nearly equal price: the order by rounded quotients is the worst case."""
    rng = np.random.default_rng(8)
    room = rng.integers(2**40, 2**41, 300)
    epsilon, ceiling = lower_to_grid(room * 2.0**-40 * (1 + rng.integers(-2, 3, 300) * 2.0**-52))
    curve = RelaxedCost.over(room, epsilon, ceiling)
    order = sorted(range(300), key=lambda i: Fraction(float(epsilon[i])) / int(room[i]))
    distance = rng.integers(0, min(curve.far, int(room.sum())), 50)
    for t, cost in zip(distance.tolist(), curve(distance).tolist(), strict=True):
        left, exact = t, Fraction(0)
        for i in order:
            part = min(Fraction(1), Fraction(left, int(room[i])))
            exact += part * Fraction(float(epsilon[i]))
            left -= int(part * int(room[i]))
            if left == 0:
                break
        assert abs(Fraction(cost) - min(exact, 256)) <= Fraction(ROUNDING_OF_COST)


def a_million():
    rng = np.random.default_rng(1)
    k = 1_000_000
    return rng.normal(size=k), rng.random(k), rng.random(k)


@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_a_million_entries(benchmark, scale):
    weights, data, epsilon = a_million()
    epsilon *= scale

    def law():
        query = LinearPredictor(weights, 0, 1).asked_of(bought(epsilon))
        score = query.score(query.units.convert(data), epsilon, VANISHED)
        return pe_law(score.without_ends(VANISHED))

    benchmark.pedantic(law, rounds=1)
    assert benchmark.stats.stats.max < 4.0


def test_memory_stays_within_twelve_arrays():
    rng = np.random.default_rng(1)
    k = 200_000
    weights, data, epsilon = rng.normal(size=k), rng.random(k), rng.random(k)
    tracemalloc.start()
    query = LinearPredictor(weights, 0, 1).asked_of(bought(epsilon))
    pe_law(query.score(query.units.convert(data), epsilon, VANISHED).without_ends(VANISHED))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 12 * 8 * k


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_half_width_is_that_of_its_formula(level):
    """For unit weights and steps c_j is the sum of the j smallest ε, so that the formula can be written down by itself."""
    epsilon = np.array([0.05, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1.1, 1.3, 2.0])
    weight = np.exp(-0.5 * np.concatenate([[0.0], np.cumsum(epsilon)[:-1]]))
    tail = 2.0 * np.cumsum(weight[::-1])[::-1] / weight.sum()
    steps = int(np.argmax(tail <= 1.0 - level)) if np.any(tail <= 1.0 - level) else epsilon.size
    query = smq.LinearPredictor(np.ones(epsilon.size), 0, 1, step=1.0)
    assert query.half_width(epsilon, level, epsilon.size) == pytest.approx(steps + query.rounding)
