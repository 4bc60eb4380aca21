"""Laws in doubt, and minima in an objective, against a linear program over listed prices.

The oracle knows F, prices and what is asked; it shares no record or solver code.
"""

import dataclasses
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import smqopt as smq

PRICES = (0.0, 0.2, 0.35, 0.5, 0.8, 1.0, 1.3, 2.5)
LAWS = (
    smq.Uniform(0, 1),
    smq.Uniform(0.1, 0.6),
    smq.Beta(2, 3),
    smq.Power(2, 0, 1.5),
    smq.TruncatedExponential(2, 0, 2),
    smq.Discrete([0.2, 0.5, 1.3], [0.3, 0.3, 0.4]),
    smq.Mixture([smq.PointMass(0), smq.Uniform(0, 1)], [0.2, 0.8]),
)


def acceptance(law, i, price):
    """F of owner i at a price, 0 below a support and 1 above it."""
    few = law.take(np.array([i]))
    low, high = float(np.ravel(few.low)[0]), float(np.ravel(few.high)[0])
    return 0.0 if price < low else 1.0 if price >= high else float(np.ravel(few.cdf(np.array([price])))[0])


@dataclasses.dataclass
class Asked:
    """A program over a list of prices."""

    epsilon: np.ndarray
    laws: list
    budget: float
    group: np.ndarray
    weights: np.ndarray | None = None
    aim: str = "privacy"
    floor: float | None = None
    ceiling: float | None = None
    apart: float | None = None

    @property
    def n(self):
        return self.epsilon.size

    def oracle(self):
        """The optimum, in the direction of maximising; None where nothing keeps all rows."""
        n, K = self.n, len(PRICES)
        t0 = n * K  # one variable a law for a minimum over groups, and one for the worst law
        size = t0 + len(self.laws) + 1
        rows, limits = [np.append(np.repeat(np.eye(n)[i], K), np.zeros(size - t0)) for i in range(n)], [1.0] * n
        each = []
        for s, law in enumerate(self.laws):
            F = np.array([[acceptance(law, i, p) for p in PRICES] for i in range(n)])
            stated, value = self._under(F, t0 + s, size)
            rows += [row for row, _ in stated]
            limits += [limit for _, limit in stated]
            each.append(value)
        objective = each[0] if self.weights is None else np.average(each, axis=0, weights=self.weights)
        if self.weights is None and len(self.laws) > 1:
            objective = np.eye(size)[-1]
            rows += [objective - value for value in each]
            limits += [0.0] * len(each)
        bounds = [(0, None)] * t0 + [(None, 1e3)] * (size - t0)
        found = linprog(-objective, A_ub=np.array(rows), b_ub=limits, bounds=bounds, method="highs")
        return None if found.status == 2 else -found.fun

    def _under(self, F, minimum, size):
        """Rows and value under one law."""

        def wide(table):
            return np.append(table.ravel(), np.zeros(size - table.size))

        def over(members):
            return wide(F * np.isin(np.arange(self.n), members)[:, None])

        spend = wide(F * np.array(PRICES))
        first, second = (np.flatnonzero(self.group == g) for g in (0, 1))
        stated = [(spend, self.budget)]
        if self.floor is not None:
            stated.append((-over(first), -self.floor))
        if self.ceiling is not None:
            stated.append((over(second), self.ceiling))
        if self.apart is not None:
            apart = over(first) / first.size - over(second) / second.size
            stated += [(apart, self.apart), (-apart, self.apart)]
        value = wide(F * self.epsilon[:, None]) if self.aim in ("privacy", "blend") else np.zeros(size)
        if self.aim in ("worst group", "blend"):
            value[minimum] = 1.0
            stated += [(np.eye(size)[minimum] - over(members) / members.size, 0.0) for members in (first, second)]
        return stated, -spend if self.aim == "spend" else value

    def solve(self):
        law = self.laws[0] if len(self.laws) == 1 else smq.Scenarios(self.laws, self.weights)
        market = smq.Market(self.epsilon, law, groups={"g": self.group})
        records = [smq.PriceMenu(PRICES)]
        if self.floor is not None:
            records.append(smq.Coverage("g", 0, at_least=self.floor))
        if self.ceiling is not None:
            records.append(smq.ExpectedOwners("g", 1, at_most=self.ceiling))
        if self.apart is not None:
            records.append(smq.Parity("g", within=self.apart))
        group, privacy = smq.WorstGroup("g"), smq.PurchasedPrivacy()
        aim = {
            "privacy": privacy,
            "worst group": group,
            "blend": smq.WeightedObjectives([(1.0, privacy), (1.0, group)]),
            "spend": smq.LeastSpend(),
        }[self.aim]
        return smq.solve(market, self.budget, objective=aim, constraints=records)


def random_program(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    group = np.arange(n) % 2
    count = int(rng.integers(1, 4))
    chosen = [LAWS[k] for k in rng.choice(len(LAWS), size=count, replace=False)]
    if rng.random() < 0.3:
        chosen = [smq.ByOwner([LAWS[k] for k in rng.integers(0, len(LAWS), n)]) for _ in range(count)]
    aims = ("privacy", "worst group", "blend", "spend")
    aim = aims[int(rng.integers(0, 4))] if count > 1 else aims[int(rng.integers(1, 4))]
    return Asked(
        rng.uniform(0.1, 1.0, n).round(3),
        chosen,
        float(rng.choice([0.0, 0.1, 0.4, 1.0, 3.0])),
        group,
        rng.uniform(0.5, 2.0, count) if count > 1 and rng.random() < 0.4 else None,
        aim,
        floor=float(rng.uniform(0.05, 0.8)) if rng.random() < 0.5 or aim == "spend" else None,
        ceiling=float(rng.uniform(0.1, 1.0)) if rng.random() < 0.3 else None,
        apart=float(rng.choice([0.0, 0.1, 0.3])) if rng.random() < 0.3 else None,
    )


def agree(seed):
    asked = random_program(seed)
    expected, solution = asked.oracle(), asked.solve()
    if expected is None:
        assert solution.status is smq.Status.INFEASIBLE, asked
        return
    assert solution.status is not smq.Status.INFEASIBLE, asked
    certificate = smq.verify(solution)
    assert certificate.valid, (certificate.reasons, asked)
    sign = -1.0 if asked.aim == "spend" else 1.0
    assert solution.objective_value == pytest.approx(sign * expected, rel=1e-8, abs=1e-8), asked
    assert certificate.lower_bound - 1e-8 <= sign * expected <= certificate.upper_bound + 1e-8, asked


@pytest.mark.parametrize("seed", [*range(12), 1008, 1057, 1075])  # the last: ties, and budgets of 0
def test_agrees_with_a_linear_program(seed):
    agree(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many_agree_with_a_linear_program(seed):
    agree(seed)


def test_price_of_nothing_is_free_under_all_laws():
    # under one law of three an atom at 0 sells for nothing; a budget of 0 buys it
    asked = random_program(17)
    assert asked.budget == 0.0
    assert asked.oracle() > 0
    agree(17)


def test_one_law_in_doubt_twice_is_that_law():
    market = smq.Market([0.2, 0.5, 1.0], smq.Beta(2, 3))
    doubt = smq.Market([0.2, 0.5, 1.0], smq.Scenarios([smq.Beta(2, 3), smq.Beta(2, 3)]))
    plain, found = (smq.verify(smq.solve(one, 0.5)) for one in (market, doubt))
    assert found.valid
    assert found.lower_bound == pytest.approx(plain.lower_bound, rel=1e-9)
    np.testing.assert_allclose(found.solution.thresholds, plain.solution.thresholds, rtol=1e-6)


def test_certificates_and_solutions_read_back(tmp_path):
    market = smq.Market([0.4, 1.0, 0.7], smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 2)]))
    solution = smq.solve(market, 0.5)
    certificate = smq.verify(solution)
    assert certificate.valid
    solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    read = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert read.valid
    assert read.fingerprint == certificate.fingerprint
    assert smq.procure(read, [0.0, 0.0, 0.0], rng=np.random.default_rng(1)).total_payment > 0


@pytest.mark.parametrize(
    "change",
    [
        lambda s: dataclasses.replace(s, acceptance=s.acceptance * 0.99),
        lambda s: dataclasses.replace(s, thresholds=np.minimum(s.thresholds * 1.01, 1.0)),
        lambda s: dataclasses.replace(s, constraint_prices=-s.constraint_prices),
        lambda s: dataclasses.replace(s, constraint_prices=s.constraint_prices * 0.5),
        lambda s: dataclasses.replace(s, budget=s.budget * 0.999),
        lambda s: dataclasses.replace(s, market=smq.Market(s.market.epsilon, s.market.valuation.laws[0])),
        lambda s: dataclasses.replace(s, objective=smq.BoughtOwners()),
    ],
)
def test_altered_solutions_are_not_valid(change):
    market = smq.Market([0.4, 1.0, 0.7], smq.Scenarios([smq.Beta(2, 3), smq.Uniform(0, 1)]))
    solution = smq.solve(market, 0.3)
    assert smq.verify(solution).valid
    assert not smq.verify(change(solution)).valid


def test_the_budget_holds_under_each_law_and_only_just():
    laws = [smq.Beta(2, 3), smq.Uniform(0, 1), smq.Power(2, 0, 1.5)]
    market = smq.Market([0.4, 1.0, 0.7], smq.Scenarios(laws, weights=[1, 1, 2]))
    solution = smq.solve(market, 0.3)
    spends = []
    for law in laws:
        drawn, total = solution.lottery, 0.0
        for i, price in enumerate(solution.thresholds):
            if drawn is not None and i in drawn.owner:
                k = int(np.flatnonzero(drawn.owner == i)[0])
                pairs = zip(drawn.prices[k], drawn.probabilities[k] * (drawn.acceptances[k] > 0), strict=True)
            else:
                pairs = [(price, float(solution.acceptance[i] > 0))]
            total += sum(share * p * acceptance(law, i, p) for p, share in pairs)
        spends.append(total)
    assert max(spends) <= 0.3 * (1 + 1e-15)
    assert max(spends) == pytest.approx(0.3, rel=1e-9)


def test_a_band_holds_floors_and_ceilings_at_its_edges():
    values = np.random.default_rng(5).beta(2, 3, 200)
    band = smq.from_samples(values, 0, 1, band=0.9)
    lower, upper = band.laws
    grid = np.linspace(0, 1, 401)
    seen = np.searchsorted(np.sort(values), grid, side="right") / values.size
    h = np.sqrt(np.log(2 / 0.1) / 400)
    assert np.all(lower.cdf(grid) <= np.maximum(seen - h, 0)[:] + (grid == 1))
    assert np.all(upper.cdf(grid) >= np.minimum(seen + h, 1))
    market = smq.Market([0.3, 1.0, 0.6], band, groups={"g": ["a", "a", "b"]})
    floor = smq.Coverage("g", "a", at_least=0.4)
    certificate = smq.verify(smq.solve(market, 0.8, constraints=[floor]))
    assert certificate.valid, certificate.reasons
    edges = smq.verify(
        smq.solve(
            smq.Market([0.3, 1.0, 0.6], smq.Scenarios([lower, upper]), groups=market.groups), 0.8, constraints=[floor]
        )
    )
    assert certificate.lower_bound == pytest.approx(edges.lower_bound, rel=1e-9)


def test_bands_together_are_wider():
    values = np.linspace(0.1, 0.9, 50)
    alone, four = (smq.from_samples(values, 0, 1, band=0.95, laws=k) for k in (1, 4))
    assert four.confidence == pytest.approx(1 - 0.05 / 4)
    assert np.all(four.laws[1].cdf(values) >= alone.laws[1].cdf(values))


def test_owners_with_bands_of_their_own():
    rng = np.random.default_rng(6)
    young, old = (smq.from_samples(rng.beta(a, 3, 80), 0, 1, band=0.95, laws=2) for a in (2, 4))
    market = smq.Market([0.5, 0.8, 1.0], smq.ByOwner([young, old, young]))
    certificate = smq.verify(smq.solve(market, 0.6))
    assert certificate.valid, certificate.reasons


def net_privacy(cost=0.8):
    """Weigh privacy against spend: a law between two edges may be its worst."""
    return smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (cost, smq.LeastSpend())])


def test_the_least_spend_of_a_band_is_that_of_its_upper_edge():
    band = smq.from_samples(np.random.default_rng(5).beta(2, 3, 200), 0, 1, band=0.9)
    lower, upper = band.laws
    market = smq.Market([0.3, 1.0], band)
    solution = smq.solve(
        market, 2.0, objective=smq.LeastSpend(), constraints=[smq.Coverage([True, True], at_least=0.9)]
    )
    assert smq.verify(solution).valid
    prices = band.prices
    least, most = lower.cdf(prices), upper.cdf(prices)
    best = linprog(2.0 * prices * most, A_ub=[-least, np.ones(len(prices))], b_ub=[-0.45, 1.0])
    assert solution.objective_value == pytest.approx(best.fun, rel=1e-9)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda m: m.valuation.cdf(0.3), "has no single cdf"),
        (lambda m: m.valuation.virtual_cost(0.3), "has no single virtual cost"),
        (lambda m: smq.solve(m, 1.0, solver="conic"), "does not take laws in doubt"),
        (lambda m: smq.solve(m, 1.0, objective=smq.MeanSquaredError(range=1)), "is not convex in acceptances"),
        (lambda m: smq.solve(m, 1.0, objective=smq.WorstCaseError(range=1)), "draws its prices from menus of one law"),
        (lambda m: smq.solve(m, 1.0, constraints=[smq.Parity("g", within=0.1)]), "no edge of a band"),
        (lambda m: smq.solve(m, 1.0, objective=net_privacy()), "weighs acceptances against what they cost"),
        (lambda m: smq.Program(m, 1.0), "no single"),
        (lambda m: smq.Scenarios([m.valuation, smq.Uniform(0, 1)]), "must have a cdf"),
        (lambda _: smq.Scenarios([smq.Uniform(0, 1)]), "2 to 64 laws"),
        (lambda _: smq.Scenarios([smq.Uniform(0, 1)] * 2, weights=[1, 0]), "must be > 0"),
        (lambda _: smq.ByOwner([smq.Scenarios([smq.Uniform(0, 1), smq.Power(2)])]), "scenarios are joint"),
        (lambda _: smq.from_samples([0.1, 0.2], band=0.9), "needs both ends"),
        (lambda _: smq.from_samples([0.1, 0.2], 0, 1, band=1.0), "must lie in (0, 1)"),
        (lambda _: smq.from_samples([0.1, 0.2], 0, 1, band=0.9, heaps=[0.1]), "does not go with a band"),
    ],
)
def test_what_is_not_known_is_refused(ask, says):
    band = smq.from_samples([0.2, 0.4, 0.5, 0.9], 0, 1, band=0.9)
    market = smq.Market([0.3, 1.0], band, groups={"g": ["a", "b"]})
    with pytest.raises(smq.InputError, match=says.replace("(", r"\(").replace(")", r"\)")):
        ask(market)


def test_laws_in_doubt_are_data():
    for law in (
        smq.Scenarios([smq.Uniform(0, 1), smq.Beta(2, 3)], weights=[1, 3]),
        smq.from_samples([0.2, 0.4, 0.5, 0.9], 0, 1, band=0.9),
        smq.from_samples([0.2, 0.4, 0.5, 0.9], 0, 1, band=0.9).rescale(2.0),
    ):
        read = smq.valuation.valuation_from_dict(law.to_dict())
        assert read.to_dict() == law.to_dict()
        assert [one.to_dict() for one in read.laws] == [one.to_dict() for one in law.laws]


@pytest.mark.parametrize(
    "aim",
    [
        smq.WorstGroup("g", of="privacy", labels=("a", "b")),
        smq.LeastSpend(),
        smq.BoughtOwners(weights=(1.0, 2.0)),
        smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (2.0, smq.WorstGroup("g")), (0.1, smq.LeastSpend())]),
    ],
)
def test_objectives_are_data(aim):
    from smqopt.market import objective_from_dict

    assert objective_from_dict(aim.to_dict()) == aim


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: smq.WorstGroup("g", of="money"), "must be a measure"),
        (lambda: smq.WorstGroup(3), "must name a column"),
        (lambda: smq.WorstGroup("g", labels=[]), "must be a list of labels"),
        (lambda: smq.WeightedObjectives([]), "must be a list of pairs"),
        (lambda: smq.WeightedObjectives([(0.0, smq.LeastSpend())]), "finite weight > 0"),
        (lambda: smq.WeightedObjectives([(1.0, smq.DiminishingReturns(1.0))]), "must be linear"),
        (lambda: smq.BoughtOwners(weights=[-1.0]), "must be a finite number"),
    ],
)
def test_bad_objectives_are_refused(make, says):
    with pytest.raises(smq.InputError, match=says):
        make()


def test_max_min_is_proved_where_the_laws_are():
    market = smq.Market(np.linspace(0.1, 1, 30), smq.Beta(2, 3), groups={"g": np.arange(30) % 3})
    certificate = smq.verify(smq.solve(market, 3.0, objective=smq.WorstGroup("g")))
    assert certificate.grade == "proved", certificate.unproved


COMMON = {
    "alone": [],
    "tight": [smq.GroupBudget("g", "0", at_most=0.1)],
    "even": [smq.Parity("g", within=0.1)],
    "dear": [smq.PriceRange(at_least=0.5)],
}


@pytest.mark.parametrize("law", ["by owner", "in doubt"])
@pytest.mark.parametrize("with_it", COMMON)
def test_common_prices_go_with_all_objectives(with_it, law):
    rng = np.random.default_rng(3)
    laws = {
        "by owner": smq.Uniform(np.zeros(6), 1 + rng.random(6)),
        "in doubt": smq.Scenarios([smq.Beta(2, 3), smq.Uniform(0, 1.5), smq.Kumaraswamy(2.0, 3.0)]),
    }
    market = smq.Market(np.round(rng.uniform(0.1, 1, 6), 2), laws[law], groups={"g": np.arange(6) % 3})
    least = smq.LeastSpend()
    for aim in (
        smq.BoughtOwners(),
        smq.WorstGroup("g"),
        smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.5, smq.WorstGroup("g"))]),
        smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.5, least)]),
    ):
        solution = smq.solve(market, 1.5, objective=aim, constraints=[*COMMON[with_it], smq.CommonPrice("g")])
        certificate = smq.verify(solution)
        assert certificate.valid, (aim, certificate.gap)


WORST = smq.WorstGroup("g")
MIXED = smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.5, WORST)])
LESS = smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.5, smq.LeastSpend())])
AIMS = {"worst": WORST, "mixed": MIXED, "less": LESS, "count": smq.BoughtOwners()}


def four_owners(law):
    return smq.Market([0.4, 0.6, 0.8, 1.0], law, groups={"g": ["a", "a", "b", "b"]})


@pytest.mark.parametrize("name", AIMS)
@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 1.5)])])
def test_the_frontier_has_what_solve_has(name, law):
    market, aim = four_owners(law), AIMS[name]
    found = smq.frontier(market, [0.0, 0.5, 9.0], objective=aim)
    solution = smq.solve(market, 0.5, objective=aim)
    assert found.purchased_privacy[1] == pytest.approx(solution.objective_value, rel=1e-9)
    assert found.purchased_privacy[0] == 0
    assert found.budget_price[1] == pytest.approx(solution.budget_price, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("name", ["worst", "count"])
def test_the_least_budget_for_a_minimum_gets_back(name):
    """Of uniform laws the value is κ √B."""
    market, aim = four_owners(smq.Uniform(0, 1)), AIMS[name]
    value = smq.solve(market, 0.5, objective=aim).objective_value
    found = smq.least_budget(market, 0.9 * value, objective=aim)
    assert found.budget == pytest.approx(0.5 * 0.81, rel=1e-9)
    assert found.budget >= found.lower_bound >= found.budget * (1 - 1e-9)
    assert found.certificate.valid


@pytest.mark.parametrize("name", AIMS)
def test_programs_take_minima_and_spend(name):
    program = smq.Program(four_owners(smq.Uniform(0, 1)), 0.5, objective=AIMS[name])
    program.constraints += [program.acceptance[0] >= 0.3]
    solution = smq.solve(program)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    assert program.objective.value == pytest.approx(solution.objective_value, rel=1e-9)
    assert solution.acceptance[0] >= 0.3 * (1 - 1e-9)


def test_programs_refuse_what_minima_do_not_go_with():
    program = smq.Program(four_owners(smq.Uniform(0, 1)), 0.5, objective=WORST)
    program.constraints += [cp.sum_squares(program.acceptance) <= 0.5]
    with pytest.raises(smq.InputError, match="linear constraints in acceptance and spend"):
        smq.solve(program)
    with pytest.raises(smq.InputError, match="is itself the least spend"):
        smq.least_budget(four_owners(smq.Uniform(0, 1)), 0.1, objective=smq.LeastSpend())
    with pytest.raises(smq.InputError, match="of errors ask error_frontier"):
        smq.frontier(four_owners(smq.Uniform(0, 1)), [0.1], objective=smq.MeanSquaredError(range=2.0))


@pytest.mark.parametrize("name", ["worst", "mixed", "less"])
@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_one_posted_price_each_beside_minima_is_the_best_of_all(name, floor):
    law, aim = smq.Discrete([0.2, 0.5, 0.9], [0.3, 0.3, 0.4]), AIMS[name]
    market, budget = four_owners(law), 0.8
    records = [smq.Coverage("g", "a", at_least=floor)] if floor else []
    q, b = np.array([0.0, 0.3, 0.6, 1.0]), np.array([0.0, 0.06, 0.3, 0.9])
    every = np.stack(np.meshgrid(*[np.arange(4)] * 4), axis=-1).reshape(-1, 4)
    fits = (b[every].sum(axis=1) <= budget) & (q[every][:, :2].sum(axis=1) >= floor)
    worst = np.minimum(q[every][:, :2].mean(axis=1), q[every][:, 2:].mean(axis=1))
    privacy, spend = q[every] @ market.epsilon, b[every].sum(axis=1)
    value = {"worst": worst, "mixed": privacy + 0.5 * worst, "less": privacy - 0.5 * spend}[name]
    solution = smq.solve(market, budget, objective=aim, constraints=records, lotteries=False)
    assert solution.lottery is None
    assert solution.objective_value == pytest.approx(value[fits].max(), rel=1e-4)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    assert certificate.lower_bound <= value[fits].max() <= certificate.upper_bound


def many_groups(count, each, law=None):
    rng = np.random.default_rng(count)
    group = np.repeat(np.arange(count), each)
    epsilon = np.round(rng.uniform(0.05, 1, group.size) * (1 + group / count), 3)
    return smq.Market(epsilon, smq.Uniform(0, 1) if law is None else law, groups={"g": group})


@pytest.mark.parametrize("within", [0.0, 0.05])
@pytest.mark.parametrize("aim", [None, WORST])
def test_parity_of_many_groups_is_that_of_all_pairs(within, aim, monkeypatch):
    market, parity = many_groups(17, 2), smq.Parity("g", within=within)
    solution = smq.solve(market, 4.0, constraints=[parity], objective=aim)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    rates = solution.acceptance.reshape(17, 2).mean(axis=1)
    assert np.ptp(rates) <= within + 1e-10
    monkeypatch.setattr("smqopt.market.constraints._parity._MOST_PAIRED", 17)
    pairs = smq.solve(market, 4.0, constraints=[parity], objective=aim)
    assert solution.objective_value == pytest.approx(pairs.objective_value, rel=1e-9)


def test_parity_takes_any_number_of_groups():
    market, parity = many_groups(60, 2), smq.Parity("g", within=0.05)
    certificate = smq.verify(smq.solve(market, 15.0, constraints=[parity]))
    assert certificate.grade == "proved"
    poor = smq.solve(market, 3.0, constraints=[parity, smq.Coverage("g", 3, at_least=1.9)])
    assert set(poor.conflict) >= {parity.words, "the budget"}
    with pytest.raises(smq.InputError, match="linear objective, which takes any number"):
        smq.solve(market, 15.0, constraints=[parity], objective=smq.DiminishingReturns(1.0))


def test_parity_of_many_groups_goes_under_laws_in_doubt_and_with_posted_prices():
    market = many_groups(18, 1, smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 1.5)]))
    assert smq.verify(smq.solve(market, 2.5, constraints=[smq.Parity("g", within=0.1)])).valid
    posted = smq.solve(many_groups(18, 2), 5.0, constraints=[smq.Parity("g", within=0.1)], lotteries=False)
    assert posted.lottery is None
    assert smq.verify(posted).valid


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: smq.reserve(c, 0.05),
        lambda c: smq.realised_payments(c.solution),
        lambda c: smq.guaranteed_privacy(c.solution, 0.8),
        lambda c: smq.lasting_budget(c.solution.market, 0.8),
        lambda c: smq.sensitivity(c.solution),
        lambda c: smq.predict(smq.Count(), c.solution.market, [0.8], smq.EntryPrior.share(0.5)),
        lambda c: smq.procure(c, [0.1] * 3, payments="ex-post-budget"),
        lambda c: smq.answer(smq.Count(weighting="inverse-probability"), [1, 0, 1], smq.procure(c, [0.0] * 3)),
    ],
)
def test_what_rests_on_chances_of_sale_is_refused(ask):
    """Acceptances are a mean over laws: a bound made from them may be broken under each."""
    market = smq.Market([0.4, 1.0, 0.7], smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 2)]))
    with pytest.raises(smq.InputError, match="needs one law"):
        ask(smq.verify(smq.solve(market, 0.8)))


@pytest.mark.parametrize("weights", [None, [1, 2]])
def test_the_value_is_known_within_its_rounding(weights):
    from smqopt.market import Offers, expansion_of

    rng = np.random.default_rng(7)
    laws = [smq.Uniform(0, 1), smq.Uniform(0, 2)]
    market = smq.Market(rng.random(300), smq.Scenarios(laws, weights))
    theta = rng.random(300)
    value, rounding = expansion_of(market, 1.0, (), smq.PurchasedPrivacy()).value(Offers(theta, np.ones(300)))
    each = [sum(Fraction(e) * Fraction(t) for e, t in zip(market.epsilon, theta, strict=True)) / k for k in (1, 2)]
    exact = min(each) if weights is None else (each[0] + 2 * each[1]) / 3
    assert 0 < abs(Fraction(value) - exact) <= Fraction(rounding) < Fraction(1, 10**12)


def test_draws_of_one_price_are_one_however_they_are_written():
    """Under the first law both accept alike; under the second one of them accepts a price of 0."""
    first = smq.ByOwner([smq.PointMass(0.25)] * 2)
    second = smq.ByOwner([smq.Discrete([0.0, 1.5], [0.286, 0.714]), smq.Discrete([0.5, 1.5], [0.97, 0.03])])
    market = smq.Market([1.0, 1.0], smq.Scenarios([first, second], [2, 3]), groups={"g": ["a", "a"]})
    records = [smq.CommonPrice("g"), smq.GroupBudget("g", "a", at_most=0.12), smq.ExpectedOwners("g", "a", at_most=0.4)]
    solution = smq.solve(market, 0.3, constraints=records)
    assert smq.verify(solution).valid
    drawn = solution.lottery
    other = drawn.probabilities.copy()
    k = np.flatnonzero(other[1] > 0)[:2]
    other[1, k] = other[1, k[::-1]]
    q = solution.acceptance.copy()
    q[drawn.owner[1]] = other[1] @ drawn.acceptances[1]
    forged = dataclasses.replace(solution, lottery=dataclasses.replace(drawn, probabilities=other), acceptance=q)
    assert not smq.verify(forged).valid


def test_owners_of_one_law_in_a_block_are_held_to_its_draw():
    law = smq.ByOwner([smq.PointMass(0.25), smq.PointMass(0.25), smq.Uniform(0, 1)])
    market = smq.Market([1.0, 1.0, 1.0], law, groups={"g": ["a"] * 3})
    solution = smq.solve(market, 0.9, constraints=[smq.CommonPrice("g")])
    assert smq.verify(solution).grade == "proved"
    theta, q, drawn = solution.thresholds.copy(), solution.acceptance.copy(), solution.lottery
    if drawn is not None:
        kept = np.flatnonzero(drawn.owner != 1)
        drawn = drawn.take(kept, drawn.owner[kept])
    theta[1], q[1] = 0.25, 1.0
    forged = dataclasses.replace(solution, thresholds=theta, acceptance=q, lottery=drawn)
    certificate = smq.verify(forged)
    assert not certificate.valid
    assert any("common prices" in reason for reason in certificate.reasons)
