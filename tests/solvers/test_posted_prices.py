"""One posted price each, against a mixed-integer program over all menus that knows nothing of the package's solvers."""

import itertools

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

import smqopt as smq
from smqopt.errors import CertificateError, SolverError


def drawn(seed):
    """A market with a menu, and its rows: owners, chances and costs of each price, and what the rows allow."""
    rng = np.random.default_rng(seed)
    n, menu = int(rng.integers(2, 9)), np.unique(np.round(rng.uniform(0.05, 1.4, int(rng.integers(2, 6))), 2))
    labels = np.append([0, 1], rng.integers(0, 2, n - 2))
    law = [smq.Beta(2, 3), smq.Uniform(0.1, 1.2), smq.Discrete([0.2, 0.5, 1.0], [1, 2, 1])][int(rng.integers(3))]
    epsilon, low, high = np.round(rng.uniform(0.1, 2.0, n), 2), float(law.low), float(law.high)
    chance = np.where(menu < low, 0.0, np.where(menu >= high, 1.0, law.cdf(np.clip(menu, low, high))))
    budget = float(rng.uniform(0.1, 0.9) * n * np.max(chance * menu))
    first = labels == 0
    least, most = float(rng.uniform(0, 0.4) * first.sum() * chance.max()), float(rng.uniform(0.3, 1.0) * budget)
    market = smq.Market(epsilon, law, groups={"g": labels})
    records = [
        smq.PriceMenu(prices=tuple(menu.tolist())),
        smq.Coverage("g", 0, at_least=least),
        smq.GroupBudget("g", 1, at_most=most),
    ]
    one = np.kron(np.eye(n), np.ones(menu.size))
    sold, paid = np.kron(np.eye(n), chance).T, np.kron(np.eye(n), chance * menu).T
    rows = np.vstack([one, paid.sum(axis=1), paid @ ~first, -(sold @ first)])
    answer = milp(
        -sold @ epsilon,
        constraints=LinearConstraint(rows, ub=np.concatenate([np.ones(n), [budget, most, -least]])),
        integrality=np.ones(n * menu.size),
        bounds=(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    return market, budget, records, None if answer.x is None else -answer.fun


def agrees(seed):
    market, budget, records, best = drawn(seed)
    if best is None:
        assert smq.solve(market, budget, constraints=records, lotteries=False).status is smq.Status.INFEASIBLE
        return
    solution = smq.solve(market, budget, constraints=records, lotteries=False, gap=1e-9)
    assert solution.lottery is None
    assert solution.purchased_privacy == pytest.approx(best, rel=1e-8)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.lower_bound <= best * (1 + 1e-9)
    assert certificate.upper_bound >= best * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_menus_against_a_mixed_integer_program(seed):
    agrees(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(8, 208))
def test_two_hundred_menus_against_a_mixed_integer_program(seed):
    agrees(seed)


@pytest.mark.parametrize("seed", range(40))
def test_without_constraints_the_best_of_all_posted_prices_is_found(seed):
    """Three atoms and up to five owners, against every choice of prices."""
    rng = np.random.default_rng(seed)
    n, atoms = int(rng.integers(1, 6)), np.sort(rng.choice(np.arange(1, 40), 3, replace=False)) / 10
    weights, epsilon = rng.integers(1, 6, 3), np.round(rng.uniform(0.1, 2, n), 2)
    budget = float(rng.uniform(0.05, 0.95) * n * atoms[-1])
    chance = np.append(0.0, np.cumsum(weights) / weights.sum())
    cost = np.append(0.0, atoms) * chance
    menus = np.array(list(itertools.product(range(4), repeat=n)))
    best = float(np.max(np.where(cost[menus].sum(axis=1) <= budget, chance[menus] @ epsilon, 0.0)))
    market = smq.Market(epsilon, smq.Discrete(atoms.tolist(), weights.tolist()))
    solution = smq.solve(market, budget, lotteries=False)
    assert solution.lottery is None
    assert solution.total_spend <= budget
    assert (1 - 1e-4) * best <= solution.purchased_privacy <= best * (1 + 1e-12)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons


def test_a_mixture_under_a_common_price_is_one_law_to_an_objective_that_bends():
    mixture = smq.Mixture([smq.Uniform(0.1, 0.9), smq.PointMass(1.3)], weights=[0.7, 0.3])
    first = smq.ByOwner([smq.Uniform(0, 1), mixture])
    laws = smq.Scenarios([first, smq.ByOwner([smq.Uniform(0, 0.35), smq.Uniform(0, 0.8)])])
    menu, scale, budget = (0.05, 0.16, 0.25, 0.95, 1.5), 0.3, 1.65

    def F(p, q):
        of_mixture = 0.7 * min(max((q - 0.1) / 0.8, 0), 1) + 0.3 * (q >= 1.3)
        return [(min(p, 1), of_mixture), (min(p / 0.35, 1), min(q / 0.8, 1))]

    pairs = itertools.product((0.0, *menu), repeat=2)
    kept = [F(*pair) for pair in pairs if all(np.dot(pair, under) <= budget for under in F(*pair))]
    best = max(min(np.log1p(a / scale) + np.log1p(0.8 * b / scale) for a, b in each) for each in kept)
    market = smq.Market([1.0, 0.8], laws, groups={"h": ["z", "y"]})
    records, aim = [smq.PriceMenu(menu), smq.CommonPrice("h")], smq.DiminishingReturns(scale)
    solution = smq.solve(market, budget, constraints=records, objective=aim, lotteries=False)
    assert solution.objective_value == pytest.approx(best, rel=1e-4)


def test_a_bracket_is_stated_in_units_of_the_objective_that_was_asked():
    """Money left over counts in the program that is solved, not in what the gap is relative to."""
    market = smq.Market([1.1], smq.Uniform(0, 1))
    aim = smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.2, smq.LeastSpend())])
    for menu, best in (((0.5, 0.8), 1.1 * 0.5 - 0.2 * 0.25), ((0.8,), 0.0)):
        solution = smq.solve(market, 0.5, constraints=[smq.PriceMenu(menu)], objective=aim, lotteries=False)
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert certificate.grade == "proved"
        assert certificate.lower_bound == pytest.approx(best, abs=1e-12)
        assert solution.details["posted_gap"] == pytest.approx(certificate.gap, rel=1e-9)


def test_least_spend_at_posted_prices_is_proved():
    market = smq.Market([1.0, 0.5], smq.Uniform(0, 1), groups={"g": ["a", "b"]})
    records = [smq.PriceMenu((0.4, 0.9)), smq.Coverage("g", ["a", "b"], at_least=1.0)]
    solution = smq.solve(market, 1.0, constraints=records, objective=smq.LeastSpend(), lotteries=False)
    certificate = smq.verify(solution)
    assert (certificate.valid, certificate.grade) == (True, "proved"), certificate.reasons
    assert certificate.upper_bound == pytest.approx(0.97)
    assert solution.details["posted_gap"] == pytest.approx(certificate.gap, rel=1e-9)


def test_a_law_that_hides_keeps_the_bracket():
    market = smq.Market([1.0], smq.Kumaraswamy(2.0, 0.7))
    solution = smq.solve(market, 0.28, constraints=[smq.PriceMenu((1.0, 2.0))], lotteries=False)
    certificate = smq.verify(solution)
    assert (certificate.lower_bound, certificate.valid) == (0.0, True), certificate.reasons
    assert smq.verify(solution, prove=False).valid  # where doubles alone look for what it hides


def test_the_bracket_of_posted_prices_is_read_back(tmp_path):
    market, budget, records, _ = drawn(1)
    solution = smq.solve(market, budget, constraints=records, lotteries=False)
    certificate = smq.verify(solution)
    assert certificate.gap > 1e-6
    assert not smq.verify(solution, gap_tolerance=1e-10).valid
    solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    paths = {"path": tmp_path / "certificate.json", "thresholds": tmp_path / "thresholds.csv"}
    again = smq.Certificate.load(**paths, gap_tolerance=certificate.gap_tolerance)
    assert again.valid
    with pytest.raises(CertificateError):  # a file does not choose what gap passes
        smq.Certificate.load(**paths)
    assert again.upper_bound == certificate.upper_bound


def many(rests):
    """Solve for 1,200 owners; what prices add up to meets the limits to a rounding, or leaves some rests."""
    n = 1_200
    rng = np.random.default_rng(0)
    law = smq.Discrete([0.2, 0.5, 1.0], [1, 2, 1])
    market = smq.Market(rng.random(n), law, groups={"g": rng.integers(0, 3, n)})
    records = [smq.Coverage("g", 0, at_least=200 - 10 * rests), smq.GroupBudget("g", 1, at_most=40 + rests)]
    solution = smq.solve(market, 200.0 + rests, constraints=records, lotteries=False)
    certificate = smq.verify(solution)
    assert solution.lottery is None
    assert certificate.valid, certificate.reasons
    return certificate


def test_of_many_owners_those_next_to_a_tie_are_searched():
    assert many(0.01).gap <= 1e-4


@pytest.mark.slow
def test_sums_that_meet_the_budget_to_a_rounding_are_kept_strictly_and_bracketed():
    """Spending .2s and .5s comes to 200 and 8e-15 of it: over the budget, so that the best is a step below."""
    assert many(0.0).gap <= 2e-4


def test_a_budget_that_posts_no_price_of_a_menu_buys_nothing():
    """.4 · F(.4) = .16 is more than there is: the bracket is all that is left between 0 and lotteries."""
    market, menu = smq.Market([0.5, 1.0], smq.Uniform(0, 1)), smq.PriceMenu([0.4, 0.8])
    certificate = smq.verify(smq.solve(market, 0.1, constraints=[menu], lotteries=False))
    drawn = smq.solve(market, 0.1, constraints=[menu])
    assert certificate.valid
    assert not smq.procure(certificate, [0.0, 0.1]).selected.any()
    assert certificate.lower_bound == 0
    assert certificate.upper_bound == pytest.approx(drawn.purchased_privacy, rel=1e-12)
    assert drawn.purchased_privacy == pytest.approx(0.1 / 0.4, rel=1e-12)


def test_many_tied_owners_are_posted_a_price_within_a_stated_bracket():
    market = smq.Market(np.full(5000, 0.5), smq.Discrete([1.0, 2.0, 5.0], [1, 2, 1]))
    free, posted = smq.solve(market, 4700.7), smq.solve(market, 4700.7, lotteries=False)
    certificate = smq.verify(posted)
    assert certificate.valid, certificate.reasons
    assert posted.lottery is None
    assert 0 < free.purchased_privacy - posted.purchased_privacy <= 0.5 * 0.75  # one owner's jump


@pytest.mark.parametrize("seed", range(6))
def test_the_least_error_lies_in_its_bracket(seed, tmp_path):
    """One posted price each under the error of the linear release, against all price vectors of a menu."""
    rng = np.random.default_rng(seed)
    market = smq.Market(rng.uniform(0.1, 2, 4), (smq.Uniform(0, 1), smq.Discrete([0.2, 0.5, 0.8], [1, 1, 1]))[seed % 2])
    menu, budget, objective = (0.2, 0.5, 0.8), float(rng.uniform(0.2, 1.5)), smq.MeanSquaredError(range=1.0)
    solution = smq.solve(market, budget, objective=objective, constraints=[smq.PriceMenu(menu)], lotteries=False)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.lottery is None
    posted = np.array(list(itertools.product((None, *menu), repeat=4)), dtype=float)
    F = np.nan_to_num(np.array([np.where(np.isnan(p), 0.0, market.valuation.cdf(np.nan_to_num(p))) for p in posted]))
    fits = (np.nan_to_num(posted) * F).sum(axis=1) <= budget * (1 + 1e-12)
    best = min(objective.value(market, q) for q in F[fits])
    assert certificate.lower_bound <= best * (1 + 1e-9)
    assert best <= certificate.upper_bound * (1 + 1e-9)
    solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    paths = {"path": tmp_path / "certificate.json", "thresholds": tmp_path / "thresholds.csv"}
    assert smq.Certificate.load(**paths, gap_tolerance=certificate.gap_tolerance).valid


AIMS = {
    "purchased": (smq.PurchasedPrivacy(), lambda epsilon, q: epsilon @ q),
    "returns": (smq.DiminishingReturns(0.3), lambda epsilon, q: np.sum(np.log1p(epsilon * q / 0.3))),
    "variance": (smq.InverseProbabilityVariance(), lambda _, q: -np.sum(1 / np.maximum(q, 1e-300))),
}
OF_LAWS = {"owner": lambda values: values[0], "mean": np.array([0.4, 0.6]).dot, "worst": np.min}


def posted_together(seed, aim, laws):
    """Two prices for two pairs of owners, against every choice from a menu."""
    rng = np.random.default_rng(seed)
    each = [smq.Uniform(0, 1), smq.Beta(2, 3), smq.Power(2), smq.Uniform(0.2, 1.4)]
    menu = np.sort(rng.choice(np.arange(1, 16), 6, replace=False)) / 10
    epsilon, budget = rng.uniform(0.2, 1, 4), float(rng.uniform(0.3, 1.5))
    chosen = [each[k] for k in rng.choice(4, 4 if laws == "owner" else 2, replace=laws == "owner")]
    weights = [0.4, 0.6] if laws == "mean" else None
    law = smq.ByOwner(chosen) if laws == "owner" else smq.Scenarios(chosen, weights=weights)
    objective, value = AIMS[aim]
    best = -np.inf
    for pair in itertools.product(np.append(0.0, menu), repeat=2):
        theta, values = np.repeat(pair, 2), []
        for one in [law] if laws == "owner" else chosen:
            q = np.where(theta < one.high, one.cdf(np.clip(theta, one.low, one.high)), 1.0) * (theta >= one.low)
            q = np.where(theta > 0, q, 0.0)
            values.append(value(epsilon, q) if theta @ q <= budget * (1 + 1e-12) else -np.inf)
        best = max(best, OF_LAWS[laws](values))
    market = smq.Market(epsilon, law, groups={"g": list("aabb")})
    return market, budget, [smq.PriceMenu(tuple(menu.tolist())), smq.CommonPrice("g")], objective, float(best)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("laws", OF_LAWS)
@pytest.mark.parametrize("aim", AIMS)
def test_one_price_for_several_is_the_best_of_all(aim, laws, seed, tmp_path):
    market, budget, records, objective, best = posted_together(seed, aim, laws)
    if best < -1e290:
        with pytest.raises(SolverError, match="without lotteries"):
            smq.solve(market, budget, objective=objective, constraints=records, lotteries=False)
        return
    solution = smq.solve(market, budget, objective=objective, constraints=records, lotteries=False, gap=1e-7)
    assert solution.lottery is None
    value = -solution.objective_value if objective.smallest else solution.objective_value
    assert value == pytest.approx(best, rel=1e-6)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    upper = -certificate.lower_bound if objective.smallest else certificate.upper_bound
    assert upper >= best * (1 - 1e-9 * np.sign(best))
    solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    table = tmp_path / "thresholds.csv"
    tolerance = certificate.gap_tolerance
    assert smq.Certificate.load(tmp_path / "certificate.json", thresholds=table, gap_tolerance=tolerance).valid


def test_who_gets_no_offer_is_not_bounded_at_a_price_beside_the_menu():
    laws = smq.Scenarios([smq.Beta(2, 3), smq.Triangular(0.1, 0.3, 0.9)], weights=[0.4, 0.6])
    market = smq.Market([0.67, 0.53, 0.64, 0.71], laws, groups={"g": list("abab")}, multiplicity=[2, 2, 3, 2])
    records = [smq.PriceMenu((0.3, 0.6, 1.1, 1.3)), smq.GroupBudget("g", "a", at_most=0.215)]
    aim = smq.DiminishingReturns(0.3)
    best = smq.verify(smq.solve(market, 3.45, objective=aim, constraints=records))
    posted = smq.solve(market, 3.45, objective=aim, constraints=records, lotteries=False)
    assert posted.acceptance.min() == 0
    certificate = smq.verify(posted)
    assert certificate.grade == "proved", certificate.reasons
    assert certificate.upper_bound == pytest.approx(best.upper_bound, rel=1e-6)


def test_a_bracket_of_more_than_the_bound_is_stated():
    """One price for two who need very different ones: the variance is many times that of lotteries."""
    market = smq.Market([0.5, 0.5], smq.ByOwner([smq.Uniform(0, 1), smq.Beta(2, 3)]), groups={"g": ["a", "a"]})
    records = [smq.PriceMenu((0.1, 1.5)), smq.CommonPrice("g")]
    posted = smq.solve(market, 0.7, objective=smq.InverseProbabilityVariance(), constraints=records, lotteries=False)
    certificate = smq.verify(posted)
    assert certificate.valid, certificate.reasons
    assert certificate.upper_bound > 2 * certificate.lower_bound


def test_a_common_price_from_no_list_is_bounded_as_lotteries_are():
    laws = smq.ByOwner([smq.Uniform(0, 1), smq.Beta(2, 3), smq.Discrete([0.2, 0.5, 1.0], [1, 2, 1])])
    market = smq.Market([0.3, 0.6, 0.9], laws, groups={"g": ["a", "a", "b"]})
    for aim in (smq.DiminishingReturns(0.3), smq.InverseProbabilityVariance()):
        best = smq.verify(smq.solve(market, 0.7, objective=aim, constraints=[smq.CommonPrice("g")]))
        posted = smq.solve(market, 0.7, objective=aim, constraints=[smq.CommonPrice("g")], lotteries=False)
        certificate = smq.verify(posted)
        assert certificate.valid, certificate.reasons
        end = "lower_bound" if aim.smallest else "upper_bound"
        assert getattr(certificate, end) == pytest.approx(getattr(best, end), rel=1e-5)


MENU = smq.PriceMenu([0.1, 0.9])
BETWEEN = smq.AcceptanceRange(at_least=0.3, at_most=0.6)


@pytest.mark.parametrize(
    ("law", "budget", "records", "conflict"),
    [
        (smq.Uniform(0, 1), 100.0, [MENU, BETWEEN], [0, 1]),
        (smq.Uniform(0, 1), 100.0, [MENU, smq.PriceRange(at_most=0.95), BETWEEN, smq.GroupBudget("g", "a", at_most=5)], [0, 2]),
        (smq.Uniform(0, 1), 100.0, [smq.PriceMenu([0.1, 0.9], column="g", label="a"), BETWEEN], [0, 1]),
        (smq.Uniform(0, 1), 0.5, [MENU, smq.Coverage("g", "b", at_least=0.5)], [0, 1, "the budget"]),
        (smq.Uniform(0, 1), 0.5, [smq.CommonPrice("g"), MENU, smq.Coverage("g", "b", at_least=0.5)], [1, 2, "the budget"]),
        (smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 1.2)]), 9.0, [MENU, BETWEEN], [0, 1]),
        (smq.Discrete([0.1, 0.9], [0.2, 0.8]), 9.0, [BETWEEN], [0]),
    ],
)  # fmt: skip
def test_no_posted_prices_keep_what_lotteries_keep(law, budget, records, conflict):
    market = smq.Market([0.5, 1.0, 2.0], law, groups={"g": ["a", "a", "b"]})
    if law.name != "scenarios" and budget > 1:
        assert smq.verify(smq.solve(market, budget, constraints=records)).valid
    solution = smq.solve(market, budget, constraints=records, lotteries=False)
    assert solution.status is smq.Status.INFEASIBLE
    named = [records[k].words if isinstance(k, int) else k for k in conflict]
    assert list(solution.conflict) == named


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Beta(2, 3), smq.PiecewiseUniform([0, 0.25, 0.6, 1], [1, 0, 1])])
@pytest.mark.parametrize("floor", [0.4, 0.5, 0.9])
def test_no_price_lies_below_a_floor(law, floor):
    """Below a floor there are lotteries alone: chances in between were posted at the price that has them."""
    for epsilon in ([1.0], [1.0, 0.7]):
        market = smq.Market(epsilon, law)
        solution = smq.solve(market, 0.6, constraints=[smq.PriceRange(at_least=floor)], lotteries=False, gap=1e-9)
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert np.all(solution.thresholds[solution.acceptance > 0] >= floor)
        prices = np.append(0.0, np.linspace(floor, 1.0, 801))
        q = np.where(prices > 0, law.cdf(prices), 0.0)
        best = max(
            float(np.dot(epsilon, q[list(chosen)]))
            for chosen in itertools.product(range(0, prices.size, 1 if len(epsilon) == 1 else 16), repeat=len(epsilon))
            if float(np.sum((prices * q)[list(chosen)])) <= 0.6
        )
        assert certificate.lower_bound >= 0.8 * best  # of prices that stand on no list few are tried
        assert certificate.upper_bound >= best * (1 - 1e-12)


def test_a_menu_of_which_no_price_fits_is_infeasible_under_a_minimum_too():
    """The menu's prices sell with .75 and .875; the minimum's own number is no price."""
    market = smq.Market([0.25], smq.PiecewiseUniform([0, 0.5, 1], [3, 1]), groups={"h": ["c"]})
    half = smq.LinearRow(-0.5, acceptance=[(0, -1.0)], equal=True)
    for aim in (None, smq.WorstGroup("h")):
        for menu, status in (((0.25, 0.75), smq.Status.INFEASIBLE), ((1 / 3, 0.75), smq.Status.SLACK)):
            records = [half, smq.PriceMenu(menu)]
            solution = smq.solve(market, 1.0, constraints=records, objective=aim, lotteries=False)
            assert solution.status is status
