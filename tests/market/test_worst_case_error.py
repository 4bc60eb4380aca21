"""Purchases that no selection can bias: bounds, oracles without a formula, trials, and refusals."""

from __future__ import annotations

import dataclasses
import math
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq

import smqopt as smq
from smqopt.market import chord_table, kinds_of, menu_prices, owners_of, rule_at
from smqopt.second_checker import check

U = smq.Uniform(0, 1)


GAP = smq.Mixture([smq.Uniform(0, 0.2), smq.Uniform(0.8, 1)], weights=[0.5, 0.5])


def spread(n):
    return (np.arange(1, n + 1) - 0.5) / n


def conic_error(epsilon, weights, prices, masses, budget, width, scale):
    """The least error over lotteries on prices, for types at the prices: a conic program, no formula.

    scale None: nothing is shrunk and no noise added.
    """
    n, F = len(epsilon), np.cumsum(masses)
    x = cp.Variable((n, len(prices)), nonneg=True)  # the chance that each price is posted
    sells = [cp.sum(x[:, k:], axis=1) for k in range(len(prices))]
    s = cp.Variable(n, nonneg=True) if scale else np.ones(n)
    squares = cp.Variable((n, len(prices)))  # s²/Q, which is 0/0 where nothing is bought
    own = weights**2 @ (squares @ np.asarray(masses)) + weights**2 @ (1 - 2 * s)
    bias = cp.square(weights @ (1 - s)) if scale else 0.0
    limits = [cp.sum(x, axis=1) <= 1, cp.sum(x @ (prices * F)) <= budget]
    limits += [cp.quad_over_lin(s[i], sells[k][i]) <= squares[i, k] for i in range(n) for k in range(len(prices))]
    if scale:
        limits.append(s <= 1)
        limits += [sells[k] >= cp.multiply(weights * width / (epsilon * scale), s) for k in range(len(prices))]
    problem = cp.Problem(cp.Minimize(bias + own), limits)
    problem.solve(solver="CLARABEL")
    return (width / 2) ** 2 * problem.value + 2 * (scale or 0.0) ** 2


@pytest.mark.parametrize(
    ("prices", "masses"),
    [
        ([0.1, 0.3, 0.5, 0.9], [0.1, 0.4, 0.2, 0.3]),  # its virtual costs fall: ironed
        ([0.2, 0.4, 0.6, 0.8], [0.25] * 4),
        ([0.5], [1.0]),
    ],
)
@pytest.mark.parametrize("scale", [None, 1.0, 4.0])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
def test_a_conic_program_over_types_finds_no_better(prices, masses, scale, share):
    epsilon, weights = np.array([0.3, 0.8, 0.8, 2.0]), np.array([1.0, 0.5, 1.0, 2.0])
    prices, masses = np.array(prices), np.array(masses)
    market, budget = smq.Market(epsilon, smq.Discrete(prices, masses)), share * 4 * prices[-1]
    aim = smq.WorstCaseError(range=1.5, weights=weights, private=scale is not None, noise_scale=scale)
    certificate = smq.verify(smq.solve(market, budget, objective=aim))
    assert certificate.valid, certificate.reasons
    oracle = conic_error(epsilon, weights, prices, masses, budget, 1.5, scale)
    assert certificate.upper_bound == pytest.approx(oracle, rel=2e-6)
    assert certificate.lower_bound <= oracle * (1 + 2e-6)


@pytest.mark.parametrize("scale", [None, 2.0])
def test_types_on_a_grid_enclose_a_continuous_law(scale):
    """With types rounded up to a grid every rule costs more, rounded down less."""
    edges, n = np.linspace(0, 1, 41), 2
    epsilon, weights, budget = np.array([0.5, 3.0]), np.ones(n), 0.3 * n
    aim = smq.WorstCaseError(range=1, private=scale is not None, noise_scale=scale)
    certificate = smq.verify(smq.solve(smq.Market(epsilon, U), budget, objective=aim))
    masses = np.full(40, 1 / 40)
    above = conic_error(epsilon, weights, edges[1:], masses, budget, 1.0, scale)
    below = conic_error(epsilon, weights, edges[:-1], masses, budget, 1.0, scale)
    assert certificate.valid
    assert below < certificate.lower_bound <= certificate.upper_bound < above * (1 + 1e-7)
    assert above - below < 0.2 * above


@settings(max_examples=6)
@given(
    st.sampled_from(
        [
            U,
            smq.Uniform(1, 3),
            smq.Beta(2, 3),
            smq.Power(2),
            smq.Discrete([0.0, 0.4, 1.0], [0.2, 0.3, 0.5]),
            smq.PointMass(0.7),
        ]
    ),
    st.lists(st.floats(0.05, 4), min_size=1, max_size=6),
    st.floats(0.01, 1.2),
    st.sampled_from([None, 0.3, 3.0]),
)
def test_every_law_is_certified_and_keeps_requirements(law, epsilon, share, scale):
    market = smq.Market(epsilon, law)
    budget = share * len(epsilon) * float(law.high)
    aim = smq.WorstCaseError(range=1, private=scale is not None, noise_scale=scale)
    solution = smq.solve(market, budget, objective=aim)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.total_spend <= budget
    chances = solution.random_prices.on(market, aim)
    rows = np.arange(market.n)
    cells = [chances.in_cell(rows, np.full(market.n, k)) for k in range(chances.table.cells)]
    assert np.all(np.diff(cells, axis=0) <= 1e-15)
    if scale is not None:
        least = chances.shrinkage / (market.epsilon * scale)
        assert np.all(cells[-1] >= least * (1 - 1e-12))


@pytest.mark.slow
def test_an_atom_beside_a_density_a_gap_and_infinite_slopes_are_certified():
    for law in (smq.Mixture([smq.PointMass(0.0), U], weights=[0.3, 0.7]), GAP, smq.Kumaraswamy(0.5, 0.5)):
        certificate = smq.verify(smq.solve(smq.Market(np.ones(10), law), 2.0, objective=smq.WorstCaseError(range=1)))
        assert certificate.valid, certificate.reasons


@pytest.mark.parametrize(
    ("law", "share"),
    [
        (smq.Beta(2, 5), 0.6),
        (smq.Beta(1, 2.5), 0.9),
        pytest.param(GAP, 0.6, marks=pytest.mark.slow),
        pytest.param(GAP, 0.97, marks=pytest.mark.slow),
    ],
)
def test_menus_lie_where_chances_are_below_one(law, share):
    """With much money only the dearest few are not sure: their slopes have no bound, or begin at a gap."""
    aim = smq.WorstCaseError(range=1, weights=[0.2, 1.0, 1.0], private=False)
    certificate = smq.verify(smq.solve(smq.Market(np.ones(3), law), 3 * share, objective=aim))
    assert certificate.valid, certificate.reasons


def test_no_price_of_money_or_bias_makes_the_bound_false():
    """Whatever λ and ρ are, the bound stays below what a rule errs by."""
    market = smq.Market(spread(20), U)
    solution = smq.solve(market, 4.0, objective=smq.WorstCaseError(range=1, noise_scale=3.0))
    error = smq.verify(solution).upper_bound
    rng = np.random.default_rng(3)
    for _ in range(15):
        point = (1.0, float(10 ** rng.uniform(-3, 3)), float(10 ** rng.uniform(-3, 1.3)))
        forged = dataclasses.replace(solution.random_prices, points=(point,))
        found = smq.verify(dataclasses.replace(solution, random_prices=forged))
        assert found.lower_bound <= error
        assert not found.valid


def forgeries(solution):
    """What a solution may not say: the check that fails, and what is changed."""
    drawn = solution.random_prices
    replace = dataclasses.replace
    return [
        ("budget", {"budget": solution.budget * 0.99}),
        ("columns", {"acceptance": solution.acceptance * 0.9}),
        ("menus", {"random_prices": replace(drawn, prices=drawn.prices[:, ::-1])}),
        ("menus", {"random_prices": replace(drawn, noise_scale=0.0)}),
        ("highest price", {"random_prices": replace(drawn, prices=drawn.prices * 0.9)}),
        ("menus", {"random_prices": replace(drawn, points=((0.5, *drawn.points[0][1:]),))}),
        ("fingerprint", {"market": smq.Market(solution.market.epsilon * 2, U)}),
        ("side constraints stated", {"objective": smq.WorstCaseError(range=1, weights=[1.0, 2.0])}),
        ("side constraints stated", {"random_prices": None}),
    ]


def test_forged_solutions_are_refused():
    solution = smq.solve(smq.Market(spread(5), U), 1.0, objective=smq.WorstCaseError(range=1, noise_scale=2.0))
    for name, change in forgeries(solution):
        found = smq.verify(dataclasses.replace(solution, **change))
        assert not found.valid
        assert name in {check.name for check in found.checks if check.fails}


@pytest.mark.parametrize("runs", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_trial(runs):
    """Entry 1{θ > .4}, U(0,1), B = .25 n: mean 1.000 of the truth, sd .038 and .021; posted prices .334."""
    n, rng = 4000, np.random.default_rng(19)
    market = smq.Market(np.ones(n), U)
    solution = smq.solve(market, 0.25 * n, objective=smq.WorstCaseError(range=1, private=False))
    certificate = smq.verify(solution)
    assert certificate.valid
    chances, rows, found = solution.random_prices.on(market, solution.objective), np.arange(n), []
    posted = smq.solve(market, 0.25 * n)
    for _ in range(runs):
        theta = rng.random(n)
        price, offered = chances.draw(rows, rng.random(n))
        sold = offered & (theta <= price)
        weight, has_it = 1 / chances.at_report(rows, theta)[sold], theta > 0.4
        middle = n / 2 + weight @ (has_it[sold] - 0.5)
        bought = theta <= posted.thresholds
        scaled = np.sum((has_it & bought) / posted.acceptance)
        found.append([weight @ has_it[sold], middle, scaled, has_it.sum(), price[sold].sum() / n])
    raw, middle, scaled, truth, spend = np.array(found).T
    assert np.mean(raw / truth) == pytest.approx(1, abs=4 * 0.038 / math.sqrt(runs))
    assert np.mean(middle / truth) == pytest.approx(1, abs=4 * 0.021 / math.sqrt(runs))
    near = 4 / math.sqrt(2 * runs)
    assert np.std(raw / truth) == pytest.approx(0.038, rel=near)
    assert np.std(middle / truth) == pytest.approx(0.021, rel=near)
    assert np.mean(scaled / truth) == pytest.approx(0.334, abs=0.003)
    assert np.mean(spend) == pytest.approx(0.25, abs=0.002)
    assert np.sqrt(np.mean((middle - truth) ** 2)) == pytest.approx(solution.error, rel=near)


@pytest.mark.parametrize("budget", [0.5, 6.0])
def test_the_worst_bias_is_attained_by_an_adversary_and_no_entry_exceeds_it(budget):
    """Exactly, by sums over cells: no entry that depends on the valuation is further off."""
    market = smq.Market(spread(12), U)
    solution = smq.solve(market, budget, objective=smq.WorstCaseError(range=2, noise_scale=4.0))
    chances = solution.random_prices.on(market, solution.objective)
    rows, mass = np.arange(12), np.diff(np.append(0.0, U.cdf(chances.prices[0])))
    s = chances.shrinkage
    assert s.min() < 1

    def bias(entry):  # Σ E[s x 1{sold}/Q − x]
        total = 0.0
        for k, p in enumerate(mass):
            q, x = chances.in_cell(rows, np.full(12, k)), entry(chances.prices[0][k])
            total += p * np.sum(np.where(q > 0, s * x * q / np.where(q > 0, q, 1.0), 0.0) - x)
        return total

    worst = np.sum(1 - s)
    assert bias(lambda _: -1.0) == pytest.approx(worst, rel=1e-12)
    for entry in (lambda theta: np.sign(theta - 0.4), lambda theta: math.cos(9 * theta), lambda theta: 1 - 2 * theta):
        assert abs(bias(entry)) <= worst * (1 + 1e-12)
    objective = solution.objective
    exact = worst**2 + np.sum(chances.squares - s**2) + 2 * 4.0**2
    assert objective.range == 2
    assert solution.error**2 == pytest.approx(exact + np.sum((1 - s) ** 2), rel=1e-12)


def test_truth_is_dominant_and_nobody_loses():
    """Prices are drawn before reports, and who sells is paid hers."""
    market = smq.Market(np.full(300, 1.0), U)
    certificate = smq.verify(smq.solve(market, 60.0, objective=smq.WorstCaseError(range=1, noise_scale=9.0)))
    truth = np.random.default_rng(1).random(300)
    honest = smq.procure(certificate, truth, rng=np.random.default_rng(7))
    for factor in (0.0, 0.5, 0.9, 1.1, 2.0):
        other = smq.procure(certificate, truth * factor, rng=np.random.default_rng(7))
        assert np.array_equal(other.thresholds, honest.thresholds)
        gain = np.where(other.selected, other.payments - truth, 0.0)
        assert np.all(gain <= np.where(honest.selected, honest.payments - truth, 0.0))
    assert np.all(honest.payments[honest.selected] >= truth[honest.selected])


def test_the_secure_source_draws_the_same_law():
    market = smq.Market(np.ones(20_000), U)
    certificate = smq.verify(smq.solve(market, 2000.0, objective=smq.WorstCaseError(range=1, private=False)))
    one, two = (smq.procure(certificate, np.full(20_000, 0.3)) for _ in range(2))
    assert not np.array_equal(one.thresholds, two.thresholds)
    chance = one.chance[one.selected][0]
    assert abs(one.bought / 20_000 - chance) <= 5 * math.sqrt(chance * (1 - chance) / 20_000)


def test_entries_are_answered_and_requirements_kept_exactly():
    warnings.simplefilter("ignore", smq.PrivacyWarning)
    rng, n = np.random.default_rng(2), 50
    market = smq.Market(rng.uniform(0.3, 2, n), U)
    solution = smq.solve(market, 12.0, objective=smq.WorstCaseError(range=1, noise_scale=4.0))
    certificate = smq.verify(solution)
    theta = rng.random(n)
    outcome = smq.procure(certificate, theta, rng=rng)
    answer = smq.answer(smq.Count(), np.ones(outcome.bought, dtype=int), outcome, rng=rng)
    privacy = answer.privacy
    assert np.all(privacy.given <= privacy.promised)
    assert answer.asked.facts() == {"estimator": "random-prices"}
    chances, b = solution.random_prices.on(market, solution.objective), solution.random_prices.noise_scale
    sold = np.flatnonzero(outcome.selected)
    weights = chances.shrinkage[sold] / chances.at_report(sold, theta[sold])
    assert privacy.given == pytest.approx(weights / b)
    centre = n / 2 + np.sum(weights) / 2
    exact = answer.asked._figure(answer.asked.centres(np.ones(outcome.bought, dtype=np.int64))[0])
    assert exact == pytest.approx(min(max(centre, 0), n), rel=1e-9)


def test_the_exact_law_of_the_release_keeps_every_requirement():
    """All data sets of five owners who sold, by the law that is drawn."""
    market = smq.Market([0.4, 0.7, 1.0, 1.0, 2.0], U)
    certificate = smq.verify(smq.solve(market, 2.5, objective=smq.WorstCaseError(range=1, noise_scale=2.0)))
    outcome = smq.procure(certificate, np.zeros(5), rng=np.random.default_rng(0))
    assert outcome.bought >= 3
    coarse = {}
    for data in np.ndindex(*(2,) * outcome.bought):
        asked = smq.answer(smq.Count(), np.array(data), outcome, rng=np.random.default_rng(0)).asked
        coarse[data] = (asked.centres(np.array(data))[0], asked.scale)
    for data, (centre, scale) in coarse.items():
        for i in range(outcome.bought):
            other = tuple(1 - x if j == i else x for j, x in enumerate(data))
            assert abs(centre - coarse[other][0]) / scale <= outcome.bought_epsilon[i]  # of a discrete Laplace law


@pytest.mark.slow
def test_a_simulated_answer_errs_by_no_more_than_the_worst_case():
    rng, n, errors = np.random.default_rng(5), 400, []
    market = smq.Market(np.full(n, 1.5), U)
    solution = smq.solve(market, 0.3 * n, objective=smq.WorstCaseError(range=1))
    certificate = smq.verify(solution)
    for _ in range(150):
        theta = rng.random(n)
        outcome = smq.procure(certificate, theta, rng=rng)
        has_it = (theta > 0.5).astype(int)
        answer = smq.answer(smq.Count(), has_it[outcome.selected], outcome, rng=rng)
        errors.append(answer.value - has_it.sum())
    error = math.sqrt(np.mean(np.square(errors)))
    assert error == pytest.approx(solution.error, rel=0.25)
    assert abs(np.mean(errors)) <= np.sum(1 - solution.random_prices.on(market, solution.objective).shrinkage) / 2 + (
        4 * error / math.sqrt(150)
    )


def test_alike_owners_and_their_multiplicity_are_one():
    aim = smq.WorstCaseError(range=1, noise_scale=3.0)
    many = smq.solve(smq.Market(np.repeat([0.5, 1.0], 6), U), 3.0, objective=aim)
    rows = smq.solve(smq.Market([0.5, 1.0], U, multiplicity=[6, 6]), 3.0, objective=aim)
    assert rows.error == pytest.approx(many.error, rel=1e-10)
    outcome = smq.procure(smq.verify(rows), np.full(12, 0.4), rng=np.random.default_rng(0))
    assert len(set(outcome.thresholds)) > 2


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_change_nothing(unit):
    aim = smq.WorstCaseError(range=1, noise_scale=3.0)
    one = smq.solve(smq.Market(spread(9), U), 2.0, objective=aim)
    other = smq.solve(smq.Market(spread(9), smq.Uniform(0, unit)), 2.0 * unit, objective=aim)
    assert other.error == pytest.approx(one.error, rel=1e-10)
    assert smq.verify(other).valid


@pytest.mark.slow
def test_the_search_for_the_noise_is_near_its_best():
    market = smq.Market(spread(40), U)
    found = smq.solve(market, 8.0, objective=smq.WorstCaseError(range=1))
    scale = found.random_prices.noise_scale
    for factor in (0.5, 0.8, 0.97, 1.03, 1.25, 2.0):
        aim = smq.WorstCaseError(range=1, noise_scale=scale * factor)
        assert smq.solve(market, 8.0, objective=aim).error >= found.error * (1 - 1e-5)


def test_menus_and_rules_are_what_files_hold(tmp_path):
    market = smq.Market(spread(6), smq.ByOwner([U, smq.Power(2), U, U, smq.Power(2), U]))
    solution = smq.solve(
        market, 2.0, objective=smq.WorstCaseError(range=1, weights=[1, 2, 1, 1, -1, 0], noise_scale=2.0)
    )
    certificate = smq.verify(solution)
    assert certificate.valid
    solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    loaded = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert loaded.fingerprint == certificate.fingerprint
    outcome = smq.procure(certificate, np.full(6, 0.2), rng=np.random.default_rng(4))
    assert not outcome.selected[5]  # weight 0: never bought
    outcome.save(tmp_path / "outcome.csv")
    again = smq.Outcome.load(tmp_path / "outcome.csv", loaded)
    assert np.array_equal(again.chance, outcome.chance)
    text = (tmp_path / "outcome.csv").read_text().splitlines()
    sold = int(np.flatnonzero(outcome.selected)[0])
    cells = text[sold + 1].split(",")
    cells[-1] = "0.001"
    (tmp_path / "outcome.csv").write_text("\n".join([*text[: sold + 1], ",".join(cells), *text[sold + 2 :]]) + "\n")
    with pytest.raises(smq.InputError, match="chance"):
        smq.Outcome.load(tmp_path / "outcome.csv", loaded)
    raised = dataclasses.replace(outcome, chance=outcome.chance * 0.5)
    with pytest.raises(smq.UncertifiedError, match="chance of sale"):
        smq.answer(smq.Count(), np.zeros(outcome.bought, dtype=int), raised, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"range": 0}, "range"),
        ({"range": float("nan")}, "range"),
        ({"range": 1, "weights": [0.0, 0.0]}, "weights"),
        ({"range": 1, "weights": [1.0]}, "weights"),
        ({"range": 1, "weights": [1.0, float("inf")]}, "weights"),
        ({"range": 1, "private": 1}, "private"),
        ({"range": 1, "noise_scale": -1.0}, "noise_scale"),
        ({"range": 1, "private": False, "noise_scale": 1.0}, "noise_scale"),
    ],
)
def test_bad_input_gets_one_clear_error(arguments, word):
    with pytest.raises(smq.InputError, match=word) as error:
        smq.solve(smq.Market([0.5, 1.0], U), 1.0, objective=smq.WorstCaseError(**arguments))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("epsilon", [[0.0, 0.0], [1e-200, 1e-300]])
def test_where_no_requirement_allows_an_answer_the_midpoint_is_certified(epsilon):
    certificate = smq.verify(smq.solve(smq.Market(epsilon, U), 0.3, objective=smq.WorstCaseError(range=1.0)))
    assert certificate.valid, certificate.reasons
    assert certificate.upper_bound == pytest.approx(0.25 * (2**2 + 2))
    outcome = smq.procure(certificate, [0.0, 0.0])
    assert smq.answer(smq.Count(), [], outcome).value == pytest.approx(1.0, abs=1e-4)  # with noise of scale 1e-6


def test_a_budget_without_a_price_of_money_is_refused():
    with pytest.raises(smq.InputError, match="'budget': is too small"):
        smq.solve(smq.Market([0.5, 1.0], U), 1e-280, objective=smq.WorstCaseError(range=1.0))


def test_what_would_make_it_false_is_refused():
    market = smq.Market(np.ones(8), U)
    aim = smq.WorstCaseError(range=1, noise_scale=2.0)
    with pytest.raises(smq.InputError, match="budget"):
        smq.solve(market, 0.0, objective=aim)
    with pytest.raises(smq.InputError, match="solver"):
        smq.solve(market, 1.0, objective=aim, constraints=[smq.ExpectedOwners(at_most=3)])
    outcome = smq.procure(smq.verify(smq.solve(market, 2.0, objective=aim)), np.zeros(8), rng=np.random.default_rng(0))
    data, rng = np.zeros(outcome.bought, dtype=int), np.random.default_rng(0)
    with pytest.raises(smq.InputError, match="passes owners over"):
        smq.procure(outcome.certificate, np.zeros(8), payments="while-it-lasts")
    with pytest.raises(smq.InputError, match="weighted sum"):
        smq.answer(smq.WeightedSum(np.arange(1.0, 9.0), 0, 1), data, outcome, rng=rng)
    with pytest.raises(smq.InputError, match="biased"):
        smq.answer(smq.Count(), data, outcome, rng=rng, estimator="P-E")
    with pytest.raises(smq.InputError, match="worst case"):
        smq.answer(smq.Count(), data, outcome, rng=rng).error_half_width()
    with pytest.raises(smq.InputError, match="worst case"):
        smq.predict(smq.Count(), market, [1.0], smq.EntryPrior.share(0.5), objective=aim)
    open_ = smq.WorstCaseError(range=1, private=False)
    bare = smq.procure(smq.verify(smq.solve(market, 2.0, objective=open_)), np.zeros(8), rng=rng)
    with pytest.raises(smq.InputError, match="below what they need"):
        smq.answer(smq.Count(), np.zeros(bare.bought, dtype=int), bare, rng=rng)


def test_the_least_error_has_a_closed_form():
    """U(0,1), B = n/4: Q = min(1, c/√θ), spend 4c/3 − c⁴/3, E[1/Q] = c² + 2 (1 − c³)/(3c)."""
    c = brentq(lambda c: 4 * c / 3 - c**4 / 3 - 0.25, 0, 1, xtol=1e-15)
    error = math.sqrt(100 * (c**2 + 2 * (1 - c**3) / (3 * c) - 1))
    certificate = smq.verify(
        smq.solve(smq.Market(np.ones(400), U), 100.0, objective=smq.WorstCaseError(range=1, private=False))
    )
    assert error == pytest.approx(16.0044514, abs=1e-7)
    assert certificate.error_bound <= error <= certificate.solution.error * (1 + 1e-12)


def test_the_rule_of_the_issue_is_its_limit():
    """Q = min(1, w/√(λJ̄)) where nothing is kept: the closed form of U(0,1)."""
    market = smq.Market(np.ones(1), U)
    table = chord_table(kinds_of(market), menu_prices(kinds_of(market).laws))
    rule = rule_at(table, owners_of(market, smq.WorstCaseError(range=1, private=False), 0.0), 4.0, 0.0)
    edge = 1 / 8  # λJ = 1 at J = 1/4, θ = 1/8
    paid = edge**2 + 0.5 * math.sqrt(2) * (1 - edge**1.5) * 2 / 3  # ∫ J up to it, and ½ ∫ √J beyond
    assert rule.spend[0] == pytest.approx(paid, rel=1e-6)
    assert rule.squares[0] == pytest.approx(edge + 2 * math.sqrt(2) * (1 - edge**1.5) * 2 / 3, rel=1e-6)


def test_random_prices_go_with_their_own_objective_and_nothing_else():
    market = smq.Market(np.ones(8), U, groups={"g": ["a", "b"] * 4})
    aim = smq.WorstCaseError(range=1, private=False)
    solution, plain = smq.solve(market, 2.0, objective=aim), smq.solve(market, 2.0)
    forged = [
        dataclasses.replace(solution, records=(smq.Coverage("g", "a", at_least=4.0),)),
        dataclasses.replace(solution, constraints=("every owner of a sells",)),
        dataclasses.replace(plain, random_prices=solution.random_prices),
        dataclasses.replace(
            smq.solve(market, 2.0, objective=smq.WorstGroup("g")), random_prices=solution.random_prices
        ),
    ]
    assert smq.verify(solution).valid
    for one in forged:
        assert not smq.verify(one).valid
    with pytest.raises(smq.InputError, match="no sum over owners"):
        smq.Program(market, 2.0, objective=aim)


def test_the_second_checker_says_that_it_does_not_check_random_prices(tmp_path):
    solution = smq.solve(smq.Market(np.ones(8), U), 2.0, objective=smq.WorstCaseError(range=1, noise_scale=2.0))
    solution.save(tmp_path)
    smq.verify(solution).save(tmp_path / "certificate.json")
    verdict, why = check(tmp_path)
    assert (verdict, why) == ("not checked", "it does not claim to be proved")
