"""Concave objectives under several laws, with every pair of records, against a conic program that is written here.

Laws are steps at 0, 1/4, …, 3/2: prices on these steps are as good as any.
"""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import smqopt as smq
from smqopt.errors import SolverError
from smqopt.market import expansion_of
from smqopt.numeric import InteriorProgram
from smqopt.numeric.interior._newton_steps import _step
from smqopt.solvers.columns._block_offers import join_lots
from tests.conic_optimum import optimum

PRICES = np.arange(7) / 4
RECORDS = ("group-budget", "coverage", "menu", "common", "range", "parity")
AIMS = {"log": smq.DiminishingReturns(0.3), "inverse": smq.InverseProbabilityVariance()}
G, H = np.array(list("aabbab")), np.array(list("xyxyyx"))


def cdf(law, prices):
    at = np.atleast_1d(law.values if isinstance(law, smq.Discrete) else law.value)
    shares = np.diff([0.0, *law.cdf(at)])
    return np.array([shares[at <= p].sum() for p in prices])


class Case:
    """2–6 owners under 2–3 laws; the worst of them, or a mean."""

    def __init__(self, seed, kinds, n=None):
        rng = np.random.default_rng(seed)
        self.n = n = int(rng.integers(2, 7)) if n is None else n
        self.laws = [[self.law(rng) for _ in range(n)] for _ in range(rng.integers(2, 4))]
        if seed % 3 == 0:  # one owner's law is certain
            for each in self.laws:
                each[0] = self.laws[0][0]
        self.weights = None if seed % 2 else rng.dirichlet(np.ones(len(self.laws)))
        self.epsilon, self.budget = rng.choice([0.25, 0.5, 1.0, 2.0], n), float(rng.choice([0.3, 0.6, 1.0, 2.0]))
        self.prices, self.kinds, self.menu = PRICES, kinds, np.sort(rng.choice(PRICES, 4, replace=False))
        self.limit, self.within = float(rng.uniform(0.05, 0.5)), float(rng.choice([0.02, 0.1]))
        if "menu" in kinds:
            self.prices = self.menu

    @staticmethod
    def law(rng):
        if rng.random() < 0.2:
            return smq.PointMass(float(rng.choice(PRICES[1:5])))
        at = np.sort(rng.choice(PRICES, rng.integers(2, 4), replace=False))
        return smq.Discrete(at.tolist(), rng.dirichlet(np.ones(at.size)).tolist())

    def solve(self, name):
        records = {
            "group-budget": smq.GroupBudget("g", "a", at_most=self.limit),
            "coverage": smq.Coverage("h", "x", at_least=self.limit),
            "menu": smq.PriceMenu(self.menu.tolist()),
            "common": smq.CommonPrice("g"),
            "range": smq.AcceptanceRange(at_least=0.05, at_most=0.9),
            "parity": smq.Parity("h", within=self.within),
        }
        laws = smq.Scenarios([smq.ByOwner(each) for each in self.laws], weights=self.weights)
        market = smq.Market(self.epsilon, laws, groups={"g": G[: self.n].tolist(), "h": H[: self.n].tolist()})
        return smq.solve(
            market, self.budget, objective=AIMS[name], constraints=[records[kind] for kind in dict.fromkeys(self.kinds)]
        )

    def best(self, name):
        """The optimum over lotteries; None where there is none, or somebody never sells who is needed."""
        if name == "inverse" and min(np.max(cdf(law, self.prices)) for each in self.laws for law in each) == 0:
            return None
        n, g, h = self.n, G[: self.n], H[: self.n]
        x, values = cp.Variable((n, self.prices.size), nonneg=True), []
        rows = [cp.sum(x, axis=1) <= 1]
        if "common" in self.kinds:
            rows += [x[k] == x[np.flatnonzero(g == g[k])[0]] for k in range(n)]
        for each in self.laws:
            F = np.array([cdf(law, self.prices) for law in each])
            q, b = cp.sum(cp.multiply(x, F), axis=1), cp.sum(cp.multiply(x, F * self.prices), axis=1)
            rows.append(cp.sum(b) <= self.budget)
            if "group-budget" in self.kinds:
                rows.append((g == "a") @ b <= self.limit)
            if "coverage" in self.kinds:
                rows.append((h == "x") @ q >= self.limit)
            if "range" in self.kinds:
                rows += [q >= 0.05, q <= 0.9]
            if "parity" in self.kinds and n > 1:
                rows.append(
                    cp.abs((h == "x") @ q / np.sum(h == "x") - (h == "y") @ q / np.sum(h == "y")) <= self.within
                )
            values.append(
                cp.sum(cp.log(1 + cp.multiply(self.epsilon / 0.3, q))) if name == "log" else -cp.sum(cp.inv_pos(q))
            )
        worth = (
            cp.minimum(*values)
            if self.weights is None
            else sum(w * v for w, v in zip(self.weights, values, strict=True))
        )
        problem = cp.Problem(cp.Maximize(worth), rows)
        best = optimum(problem, 1e-9)
        return None if best is None else abs(best)


def agrees(case, name):
    solution, best = case.solve(name), case.best(name)
    if solution.status is smq.Status.INFEASIBLE:
        assert best is None
        return
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.objective_value == pytest.approx(best, rel=1e-5)


def some(cases, step):
    return [
        pytest.param(*case, marks=[] if k % step == 0 else pytest.mark.exhaustive, id="-".join(map(str, case)))
        for k, case in enumerate(cases)
    ]


@pytest.mark.parametrize(("name", "seed"), some([*itertools.product(AIMS, range(20))], 9))
def test_without_records(name, seed):
    agrees(Case(seed, ()), name)


@pytest.mark.parametrize(("first", "second", "name"), some([*itertools.product(RECORDS, RECORDS, AIMS)], 11))
def test_each_pair_of_records(first, second, name):
    for seed in (RECORDS.index(first) * 6 + RECORDS.index(second) + k for k in (100, 201)):
        agrees(Case(seed, (first, second)), name)


def test_no_law_alone_is_the_worst():
    """At the weights of one law alone somebody has no acceptance that is told from 0."""
    case = Case(1, (), n=2)
    case.laws = [
        [smq.Discrete([0, 0.5, 1], [0.592, 0.222, 0.186]), smq.Discrete([0, 1.5], [0.063, 0.937])],
        [smq.PointMass(0.25)] * 2,
    ]
    case.weights, case.epsilon, case.budget = None, np.array([2.0, 0.25]), 0.1
    agrees(case, "inverse")
    assert case.solve("inverse").objective_value == pytest.approx(13.70124986, rel=1e-8)


def test_an_acceptance_below_the_first_lines():
    """One law accepts 1/1,000 of the only price: the tangents come as near to 0 as they must."""
    case = Case(2, (), n=2)
    case.laws = [[smq.Discrete([0.25, 1.5], [0.001, 0.999]), smq.PointMass(0.25)], [smq.PointMass(0.25)] * 2]
    case.weights, case.budget = np.array([0.5, 0.5]), 0.05
    agrees(case, "inverse")


def test_the_worst_of_laws_that_all_are_one_is_that_one():
    case = Case(1, (), n=3)
    case.laws = [case.laws[0]] * 3
    case.weights = None
    alone = smq.solve(
        smq.Market(case.epsilon, smq.ByOwner(case.laws[0])), case.budget, objective=smq.DiminishingReturns(0.3)
    )
    agrees(case, "log")
    assert case.solve("log").objective_value == pytest.approx(alone.objective_value, rel=1e-9)


@pytest.mark.parametrize("name", AIMS)
def test_other_weights_are_no_better_bound(name):
    """The weights that are found are best: no mean over the laws bounds the worst by less."""
    case = Case(5, ())
    solution = case.solve(name)
    e = expansion_of(solution.market, solution.budget, (), solution.objective)
    w = solution.constraint_prices[e.budget_rows.stop :][: len(e.base)]
    assert np.sum(w) == pytest.approx(1.0)
    assert np.all(w >= 0)
    for toward in (np.eye(len(w))[0], np.ones(len(w)) / len(w)):
        case.weights = 0.8 * w + 0.2 * toward
        mean = case.best(name)
        at_worst = solution.objective_value
        assert (mean - at_worst) * (-1 if name == "inverse" else 1) >= -1e-6 * at_worst


def test_steps_to_offers_that_nobody_takes_warn_of_nothing():
    """The variance is −∞ there under all laws; their difference was NaN."""
    sure = smq.TruncatedExponential(2)
    doubted = [sure, smq.Beta(2, 2, 0, 0.5), smq.Power(3, high=1.5)]
    laws = [smq.ByOwner([sure if k in (3, 4, 6, 8) else law for k in range(10)]) for law in doubted]
    market = smq.Market(np.ones(10), smq.Scenarios(laws), groups={"g": list("bbcbccbbbc")})
    few = smq.ExpectedOwners("g", "b", at_most=0.05)
    solution = smq.solve(market, 0.6, constraints=[few], objective=smq.InverseProbabilityVariance())
    assert solution.objective_value == pytest.approx(749.34266, rel=1e-6)


@pytest.mark.slow
def test_steps_of_many_prices_that_tie_are_the_shortest():
    """The equations leave steps open; elimination alone found none, and gaps stayed at 5e-10."""
    laws = smq.Scenarios([smq.Uniform(0, 1), smq.Power(3.0), smq.Uniform(0.1, 1.5)])
    market = smq.Market(np.random.default_rng(0).uniform(0.2, 2, 160), laws)
    certificate = smq.verify(smq.solve(market, 32.0, objective=smq.DiminishingReturns(0.3)))
    assert certificate.grade == "proved"
    assert certificate.gap < 1e-11


@pytest.mark.parametrize("off", [0.0, 2.0**-50])
@pytest.mark.parametrize("pairs", [100, 150])
def test_the_step_of_equations_that_leave_it_open_or_nearly_is_the_shortest(pairs, off):
    J = sparse.csc_array(sparse.block_diag([np.array([[1.0, 1.0], [1.0, 1.0 + off]])] * pairs))
    r = np.repeat(np.arange(1.0, pairs + 1), 2)
    r[1::2] *= 1 + 2.0**-44
    assert _step(J, r) == pytest.approx(0.5 * r, rel=1e-9)


def test_lots_that_are_joined_have_the_mean_price_and_equal_ones_stay():
    one = np.array([True, True, False, True, False, True])
    group, price = np.array([0, 0, 0, 0, 0, 1, 1]), np.array([0.7, 0.7, 0.7, 0.75, 0.85, 0.2, 0.3])
    share = np.array([0.3, 0.1, 0.3, 0.1, 0.2, 0.0, 0.0])
    assert np.sum(share[:3] * 0.7) / np.sum(share[:3]) != 0.7  # as it would be without rounding
    of, at, total = join_lots(one, group, price, share)
    assert (of.tolist(), at[0], at[2]) == ([0, 0, 1], 0.7, 0.2)
    assert at[1] == pytest.approx((0.1 * 0.75 + 0.2 * 0.85) / 0.3, rel=1e-14)
    assert total == pytest.approx([0.7, 0.3, 0.0], rel=1e-15)
    assert all(each.size == 0 for each in join_lots(one[:0], *(each[:0] for each in (group, price, share))))


def test_a_singular_interior_step_ends_the_search_with_an_error_of_ours(monkeypatch):
    def singular(*_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(InteriorProgram, "_newton", singular)
    market = smq.Market(np.linspace(0.2, 2, 6), smq.Scenarios([smq.Uniform(0, 1), smq.Power(3.0)]))
    with pytest.raises(SolverError, match="limit of work"):
        smq.solve(market, 1.2, objective=smq.DiminishingReturns(0.3))


def test_steps_out_of_the_doubles_end_the_search_without_a_raw_error():
    law = smq.Scenarios([smq.Uniform(0, 2), smq.Discrete([0.2, 0.5, 1.0], [0.3, 0.3, 0.4])])
    market = smq.Market([0.892, 0.532, 1.475, 0.115, 0.806], law)
    solution = smq.solve(market, 1e-9, constraints=[smq.PriceMenu([0.05])], objective=smq.DiminishingReturns(0.3))
    certificate = smq.verify(solution)
    assert certificate.lower_bound <= 5 * 0.025 * 1e-9 / (0.05 * 0.025) / 0.3 <= certificate.upper_bound + 1e-6
