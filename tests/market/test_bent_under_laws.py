"""Objectives that bend, under laws in doubt: over finite menus against a conic program that is written here."""

import dataclasses

import cvxpy as cp
import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.market import state, tie_slopes, under_each_law
from tests.conic_optimum import optimum

GROUPS = {"city": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]}
EPSILON = np.array([0.4, 0.6, 0.8, 1.0])
LAWS = (
    smq.Uniform(0, 1),
    smq.Uniform(0.1, 1.5),
    smq.Power(2.0),
    smq.Beta(2, 3),
    smq.Discrete([0.2, 0.5, 1.0], [1, 2, 1]),
)
AIMS = {
    "log": (smq.DiminishingReturns(0.3), lambda q: cp.sum(cp.log(1 + cp.multiply(EPSILON / 0.3, q)))),
    "inverse": (
        smq.InverseProbabilityVariance(weights=[1, 2, 1, 3]),
        lambda q: -cp.sum(cp.multiply(np.array([1.0, 4.0, 1.0, 9.0]), cp.inv_pos(q))),
    ),
}


def cdf(law, prices):
    low, high = float(law.low), float(law.high)
    return np.where(prices < low, 0.0, np.where(prices >= high, 1.0, law.cdf(np.clip(prices, low, high))))


def spelt_out(laws, weights, worth, prices, budget, least):
    """The best lotteries over a menu: max of the worst law or of a mean, budget and coverage under each law."""
    x = cp.Variable((4, prices.size), nonneg=True)
    rows, values = [cp.sum(x, axis=1) <= 1], []
    for law in laws:
        F = cdf(law, prices)
        q = x @ F
        rows += [cp.sum(x @ (F * prices)) <= budget, q[0] + q[1] >= least]
        values.append(worth(q))
    best = cp.minimum(*values) if weights is None else sum(w * v for w, v in zip(weights, values, strict=True))
    problem = cp.Problem(cp.Maximize(best), rows)
    return optimum(problem, 1e-10)


def drawn(seed, name):
    rng = np.random.default_rng(seed)
    laws = [LAWS[k] for k in rng.permutation(len(LAWS))[: rng.integers(2, 4)]]
    weights = None if rng.random() < 0.6 else rng.dirichlet(np.ones(len(laws)))
    prices = np.unique(np.append(np.round(rng.uniform(0.2, 1.6, rng.integers(2, 6)), 2), 0.5))
    budget, least = float(rng.uniform(0.3, 2.0)), float(rng.choice([0.0, 0.3]))
    aim, worth = AIMS[name]
    best = spelt_out(laws, weights, worth, prices, budget, least)
    market = smq.Market(EPSILON, smq.Scenarios(laws, weights=weights), groups=GROUPS)
    records = [smq.PriceMenu(prices=tuple(prices.tolist())), smq.Coverage("city", "a", at_least=least)]
    return market, budget, aim, records, best


def agrees(seed, name):
    market, budget, aim, records, best = drawn(seed, name)
    solution = smq.solve(market, budget, objective=aim, constraints=records)
    if solution.status is smq.Status.INFEASIBLE:
        assert best is None or not np.isfinite(best)
        return
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    value = -solution.objective_value if aim.smallest else solution.objective_value
    assert value == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("name", AIMS)
@pytest.mark.parametrize("seed", range(3))
def test_menus_against_a_conic_program(seed, name):
    agrees(seed, name)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", AIMS)
@pytest.mark.parametrize("seed", range(3, 60))
def test_many_menus_against_a_conic_program(seed, name):
    agrees(seed, name)


LAWS_IN_DOUBT = smq.Scenarios([smq.Uniform(0, 1), smq.Power(3.0, low=0.1, high=1.2)])


def test_the_worst_law_is_the_better_of_its_ends():
    """Where one law is the worst whatever is offered, the answer is the best under it that the budget under both allows."""
    market = smq.Market(EPSILON, LAWS_IN_DOUBT, groups=GROUPS)
    certificate = smq.verify(smq.solve(market, 1.0, objective=AIMS["log"][0]))
    assert certificate.valid
    q = np.array([under.solution.acceptance for under in under_each_law(certificate.solution)])
    values = np.log1p(EPSILON / 0.3 * q).sum(axis=1)
    assert min(values) == pytest.approx(certificate.lower_bound, rel=1e-9)


@pytest.mark.parametrize("change", [0.99, 1.01])
def test_altered_prices_are_not_valid(change):
    market = smq.Market(EPSILON, LAWS_IN_DOUBT, groups=GROUPS)
    solution = smq.solve(market, 1.0, objective=AIMS["inverse"][0])
    assert smq.verify(solution).valid
    offers = smq.solve(market, change, objective=AIMS["inverse"][0])
    altered = dataclasses.replace(
        solution, thresholds=offers.thresholds, acceptance=offers.acceptance, lottery=offers.lottery
    )
    assert not smq.verify(altered).valid


def test_solutions_and_certificates_read_back(tmp_path):
    market = smq.Market(EPSILON, LAWS_IN_DOUBT, groups=GROUPS)
    solution = smq.solve(market, 1.0, objective=AIMS["log"][0], constraints=[smq.Parity("sex", within=0.02)])
    certificate = smq.verify(solution)
    solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    again = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert again.valid
    assert again.upper_bound == certificate.upper_bound


def test_frontier_and_least_budget():
    market = smq.Market(EPSILON, LAWS_IN_DOUBT, groups=GROUPS)
    curve = smq.frontier(market, [0.5, 1.0], objective=AIMS["log"][0])
    assert np.all(np.diff(curve.purchased_privacy) > 0)
    found = smq.least_budget(market, float(curve.purchased_privacy[1]), objective=AIMS["log"][0])
    assert found.budget == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize("aim", [smq.MeanSquaredError(range=1.0), smq.WorstCaseError(range=1.0)])
def test_errors_have_no_bound_under_several_laws(aim):
    with pytest.raises(InputError, match="solve with each of the `laws`"):
        smq.solve(smq.Market(EPSILON, LAWS_IN_DOUBT), 1.0, objective=aim)


def test_a_shared_price_bends_as_prices_of_their_own_do():
    """Groups of one: a common price says nothing."""
    market = smq.Market([1.443, 1.348], smq.Uniform(0, [2.447, 2.0]), groups={"g": ["a", "b"]})
    records = [smq.GroupBudget("g", "a", at_most=0.15), smq.PriceMenu([0.2, 0.35, 0.5, 0.8])]
    aim = smq.DiminishingReturns(scale=0.4)
    for budget in (0.4, 0.5):
        alone = smq.solve(market, budget, constraints=records, objective=aim)
        shared = smq.solve(market, budget, constraints=[*records, smq.CommonPrice("g")], objective=aim)
        assert smq.verify(shared).valid
        assert shared.objective_value == pytest.approx(alone.objective_value, rel=1e-12)


def test_rows_of_shared_utilities_may_be_taken_repeatedly():
    market = smq.Market([1.0, 2.0, 3.0, 4.0], smq.Uniform(0, 1), groups={"g": ["a", "b", "a", "c"]})
    utility = state(market, [smq.CommonPrice("g")]).utility(smq.DiminishingReturns(scale=0.4))
    q, rows = np.array([0.2, 0.5, 0.7]), np.array([2, 0, 0, 1, 2])
    assert utility.take(rows).slope(q[rows]).tolist() == utility.slope(q)[rows].tolist()
    assert utility.take(rows).value(q[rows]).tolist() == utility.value(q)[rows].tolist()
    assert utility.take(slice(1, 3)).slope(q[1:]).tolist() == utility.slope(q)[1:].tolist()


def test_a_bound_where_money_is_left_over_under_both_laws():
    """All buy .3 of each under a quota: the budgets' prices are 0 but for roundings, and every draw is a tie."""
    market = smq.Market([0.2, 0.5, 1.0, 0.7], smq.Scenarios([smq.Uniform(0, 1), smq.Beta(2, 3)]))
    quota = smq.ExpectedOwners(at_most=1.2)
    solution = smq.solve(market, 0.8, objective=smq.InverseProbabilityVariance(), constraints=[quota])
    certificate = smq.verify(solution)
    assert certificate.grade == "proved", certificate.reasons
    assert certificate.upper_bound == pytest.approx(4 / 0.3, rel=1e-10)


def test_a_multiplier_that_rounding_gives_is_none():
    laws = smq.Scenarios([smq.Uniform(0, 1), smq.Beta(2, 3)])
    market = smq.Market([0.2, 0.5, 1.0, 0.7], laws, groups={"city": list("aabb")})
    floor = smq.LinearRow(-0.3, spend=((0, -1.0), (1, -1.0)))
    records = [floor, smq.PriceRange(at_most=1.3), smq.Coverage("city", "b", at_least=0.4)]
    certificate = smq.verify(smq.solve(market, 0.8, objective=smq.LeastSpend(), constraints=records))
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-11


@pytest.mark.parametrize("weights", [None, [0.5, 0.3, 0.2]])
def test_small_budgets_of_objectives_that_bend(weights):
    laws = smq.Scenarios([smq.Uniform(0, 1), smq.Power(3.0), smq.Uniform(0.1, 1.5)], weights=weights)
    market = smq.Market(np.random.default_rng(0).uniform(0.2, 2, 10), laws)
    for budget in (1e-3, 1e-4, 1e-5):
        solution = smq.solve(market, budget, objective=smq.DiminishingReturns(0.3))
        assert smq.verify(solution).valid
        posted = () if solution.lottery is None else solution.lottery.probabilities[:, 1:]
        assert np.sum(posted) < 1e-2  # none of what buys nothing
    if weights is None:
        certificate = smq.verify(smq.solve(market, 1e-3, objective=smq.InverseProbabilityVariance()))
        assert certificate.valid, certificate.reasons


@pytest.mark.parametrize("budget", [0.415, 0.435, 0.455])
def test_a_better_price_that_no_column_has_yet(budget):
    """What columns gain so far is no bound: two prices apart are better than the top between them."""
    rough = smq.PiecewiseUniform([0.1, 0.3, 0.5, 1.2], [0.1, 0.6, 0.3])
    market = smq.Market([1.0, 1.0], smq.ByOwner([rough, smq.Uniform(0.23, 1.34)]), groups={"city": ["a", "a"]})
    aim = smq.InverseProbabilityVariance(weights=[2.95, 2.21])
    solution = smq.solve(market, budget, objective=aim, constraints=[smq.CommonPrice("city")])
    assert smq.verify(solution).grade == "proved"


def test_shares_are_moved_only_where_rows_gain():
    """Two rows differ by what the cheapest prices use alone: to meet both to the last digit they would move for good."""
    laws = smq.Scenarios([smq.Uniform(0, 1), smq.Power(2)])
    market = smq.Market([0.5] * 5, laws, groups={"g": list("abbba")}, multiplicity=[1, 1, 2, 1, 1])
    records = [smq.GroupBudget("g", "a", at_most=0.3)]
    solution = smq.solve(market, 1.9643393732133596, objective=smq.InverseProbabilityVariance(), constraints=records)
    assert smq.verify(solution).grade == "proved"
    assert solution.objective_value == pytest.approx(22.9467572885, rel=1e-9)


def test_slopes_are_moved_so_that_draws_tie():
    """Of acceptances that are a little off the optimum two drawn prices differ in the first order; at the slopes they do not."""
    market = smq.Market([0.5, 0.5], smq.ByOwner([smq.Uniform(0, 1), smq.Beta(2, 3)]), groups={"g": ["a", "a"]})
    form = state(market, [smq.CommonPrice("g")])
    utility = form.utility(smq.InverseProbabilityVariance())
    price, q, p = np.array([0.3, 0.6]), np.array([0.4, 0.45]), np.array([20.0, 20.0])
    group, never = np.zeros(2, dtype=np.intp), np.zeros(1, dtype=bool)
    F = np.array([np.asarray(market.valuation.cdf(np.full(2, x))) for x in price])

    def apart(e):
        height = F @ e - price * (F @ p)
        return abs(height[0] - height[1])

    # at 20 + t of the second price both tie for e = φ′(q); a little off they do not
    e = utility.slope(q)
    spend = price * F.sum(axis=1)
    p = np.full(2, float((F[1] - F[0]) @ e / (spend[1] - spend[0])) * (1 + 1e-6))
    moved = tie_slopes(form, utility, q, (group, price), never, (np.zeros(2), p))
    assert apart(e) > 1e-6
    assert apart(moved) <= 1e-9 * apart(e)
    assert np.all(np.abs(moved - e) <= 1e-4 * e)


def test_a_price_that_is_hardly_ever_drawn_need_not_tie():
    laws = smq.Scenarios([smq.Uniform(0, 1), smq.Triangular(0, 0.3, 1)])
    market = smq.Market([0.6502494830788664, 0.49762711118466574, 0.819448893962266], laws)
    solution = smq.solve(market, 1.3730381582371511, objective=smq.DiminishingReturns(0.4198002857889204))
    assert smq.verify(solution).grade == "proved"
