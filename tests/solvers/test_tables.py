"""The answers from tables against the laws' own, law by law and market by market."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from law_instances import INSTANCES
from law_oracles import REGULAR

import smqopt as smq
from smqopt.numeric import ACCEPTANCE
from smqopt.solvers import parts_of
from smqopt.solvers.price_search import _response as owners
from smqopt.solvers.price_search._aggregation import condense
from smqopt.solvers.price_search._response import spend
from smqopt.valuation import iron, response_table

MANY = 1 << 13
"""From here on tables are used."""
HARD = [
    smq.LogNormal(0, 3, 0, 1e4),
    smq.Pareto(1.5, 1, 1e6),
    smq.Pareto(0.3, 1, 50),
    smq.Normal(0.5, 0.02, 0, 1),
    smq.Beta(2, 0.5),
    smq.Beta(2.3, 2.5, 100, 101),
    smq.Beta(2, 2.5),
    smq.Triangular(1, 1.25, 3),
    smq.Mixture([smq.Normal(0.2, 0.05, 0, 1), smq.Normal(0.8, 0.05, 0, 1)], weights=[0.5, 0.5]),
    smq.TruncatedExponential(40.0),
    smq.Kumaraswamy(0.5, 3, 2, 5),
]
COMMON = {instance.name: instance.law for instance in INSTANCES if instance.law.size is None}
COMMON |= {repr(law)[:60]: law for law in [*REGULAR, *HARD] if law.size is None}
STEEP = next(name for name in COMMON if name.startswith("Gamma(shape=40"))
"""F rises as the 40th power: no table is fine enough for it near 0."""
CANDIDATES = [name for name, law in COMMON.items() if law.table_pays and float(law.cdf(law.low)) == 0]
CANDIDATES.remove(STEEP)
SLOW = {
    "truncated formula",
    "E1, irregular",
    "mixture, irregular",
    "truncated",
    "from_pdf, irregular",
    "from_pdf with its constant",
}
SLOW |= {name for name in COMMON if name.startswith("Mixture")}
"""Laws whose own answers take long: these run at length only."""


def at_length(rare):
    """Leave to exhaustive runs what takes long."""
    often = [name for name in CANDIDATES if name not in rare]
    return [
        *often,
        *(pytest.param(name, marks=pytest.mark.exhaustive) for name in CANDIDATES if name in rare),
    ]


each = pytest.mark.parametrize("name", at_length(SLOW))


def test_a_law_too_steep_for_a_table_answers_itself():
    assert response_table(iron(COMMON[STEEP])) is None
    market = smq.Market(np.linspace(0.1, 1.0, 10_000), COMMON[STEEP])
    assert smq.verify(smq.solve(market, 3_000.0)).valid


def table_of(name):
    table = response_table(iron(COMMON[name]))
    assert table is not None
    return table


def prices(table, count=3000):
    """Values of v over the support and beyond, in even steps and in even ratios, with ends and zero."""
    low, high, scale = table.tables.low, table.tables.high, table.tables.scale
    rng = np.random.default_rng(5)
    even = low + 1.1 * scale * rng.random(count)
    ratios = low + scale * 2.0 ** rng.uniform(-45, 5, count)
    return np.concatenate([even, ratios, [0.0, 0.5 * low, low, high, low + scale, np.nextafter(low + scale, 0), 1e300]])


def test_no_table_where_it_does_not_pay():
    for law in (smq.Uniform(0, 1), smq.Power(2), smq.Beta([2, 2.5], 3)):
        assert response_table(iron(law)) is None


@each
def test_thresholds_are_the_laws_own(name):
    table = table_of(name)
    v = prices(table)
    theta, own = table.offer(v.copy())[0], table.answer.offer(v.copy())[0]
    with np.errstate(all="ignore"):
        # what one rounding of v, or of J, is worth: the distance of the law's own answers to its neighbours
        slack = np.abs(table.answer.offer(v * (1 + 2.0**-49))[0] - table.answer.offer(v * (1 - 2.0**-49))[0])
    assert np.all(np.abs(theta - own) <= 1e-13 * own + slack)
    assert np.array_equal(theta[v <= table.tables.low], own[v <= table.tables.low])
    assert np.array_equal(theta == table.tables.high, own == table.tables.high) or slack.max() > 0


@each
def test_acceptance_is_that_of_the_delivered_threshold(name):
    table = table_of(name)
    theta, q = table.offer(prices(table, 20_000))
    F = table.law.cdf(theta)
    assert np.max(np.abs(q - F)) <= ACCEPTANCE.value
    assert np.all(q[theta == table.tables.high] == 1)
    assert np.all(q[theta == table.tables.low] == 0)


@each
def test_thresholds_rise_with_the_price(name):
    table = table_of(name)
    v = np.sort(prices(table))
    theta, q = table.offer(v)
    assert np.min(np.diff(theta) / theta[1:].clip(1e-300)) >= -1e-13
    assert np.min(np.diff(q)) >= -1e-12


def epsilons(kind, n, rng):
    if kind == "even":
        return rng.random(n)
    if kind == "heavy":
        return np.exp(3 * rng.standard_normal(n))
    if kind == "ties":
        return rng.choice([0.1, 0.5, 0.5000001, 1.0, 2.0], n)
    zeros = rng.random(n)
    zeros[rng.random(n) < 0.4] = 0.0
    return zeros


def without_tables(monkeypatch, market, budget):
    with monkeypatch.context() as patched:
        patched.setattr(owners, "_MANY", market.n + 1)
        return smq.solve(market, budget)


KINDS = ["even", "heavy", "ties", "zeros"]


SLOW_WITHOUT = SLOW | {"from_scipy, the narrower support", "irregular beta"}
"""Without a table these take seconds: the long run tries them."""


@pytest.mark.parametrize("name", at_length(SLOW_WITHOUT))
def test_the_same_optimum_by_either_route(monkeypatch, name):
    law, number = COMMON[name], CANDIDATES.index(name)
    rng = np.random.default_rng(number)
    epsilon = epsilons(KINDS[number % 4], MANY, rng)
    counts = rng.integers(1, 5, MANY) if number % 3 == 0 else None
    market = smq.Market(epsilon, law, multiplicity=counts)
    budget = [0.3, 0.02, 0.9][number % 3] * market.most_that_can_be_spent
    fast, slow = smq.solve(market, budget), without_tables(monkeypatch, market, budget)
    assert fast.status is slow.status
    assert (1 - 1e-13) * slow.total_spend <= fast.total_spend <= budget
    assert fast.purchased_privacy == pytest.approx(slow.purchased_privacy, rel=1e-13, abs=0)
    if fast.lottery is None and slow.lottery is None:
        slack = np.abs(
            np.diff([iron(law).offer(epsilon / (slow.budget_price * f))[0] for f in (1 - 1e-13, 1 + 1e-13)], axis=0)
        )
        assert np.all(np.abs(fast.thresholds - slow.thresholds) <= 1e-13 * slow.thresholds + slack)


LAWS = [smq.Beta(2, 3), smq.LogNormal(0, 3, 0, 1e4), smq.Pareto(1.5, 1, 1e6), smq.Kumaraswamy(2, 3)]
PAIRS = [
    pytest.param(law, kind, marks=[] if i == j else pytest.mark.exhaustive, id=f"{law.name}-{kind}")
    for i, law in enumerate(LAWS)
    for j, kind in enumerate(KINDS)
]


@pytest.mark.parametrize(("law", "kind"), PAIRS)
def test_certified(law, kind):
    market = smq.Market(epsilons(kind, MANY, np.random.default_rng(1)), law)
    solution = smq.solve(market, 0.1 * market.most_that_can_be_spent)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.gap <= 1e-13


def test_a_jump_ends_in_a_lottery_by_tables_too():
    law = smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5])
    assert response_table(iron(law)) is not None
    market = smq.Market(np.repeat([0.5, 1.0], MANY // 2), law)
    found = []
    for share in (0.05, 0.3, 0.6):
        solution = smq.solve(market, share * market.most_that_can_be_spent)
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert certificate.gap <= 1e-12
        found.append(solution.lottery is not None)
    assert any(found)


def test_parts_of_a_market_by_owner_have_tables_of_their_own(monkeypatch):
    rng = np.random.default_rng(3)
    laws = [smq.Beta(2, 3), smq.Uniform(0, 1), smq.Weibull(2, 1, 0, 3)]
    which = rng.integers(0, 3, 4 * MANY)
    market = smq.Market(rng.random(4 * MANY), smq.ByOwner([laws[k] for k in which]))
    assert sorted(part.table is not None for part in parts_of(market)) == [False, True, True]
    budget = 0.2 * market.n
    fast, slow = smq.solve(market, budget), without_tables(monkeypatch, market, budget)
    assert fast.total_spend <= budget
    assert fast.total_spend == pytest.approx(slow.total_spend, rel=1e-13, abs=0)
    assert np.max(np.abs(fast.thresholds - slow.thresholds)) <= 1e-13


@settings(max_examples=30)
@given(st.sampled_from(KINDS), st.floats(-0.8, 3), st.integers(0, 10**6))
def test_the_condensed_market_spends_as_much_as_the_whole(kind, exponent, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, 2 * MANY) if seed % 2 else None
    market = smq.Market(epsilons(kind, 2 * MANY, rng), smq.Beta(2, 3, 0.5, 2), multiplicity=counts)
    (part,) = parts_of(market)
    x = 2.0**exponent
    small = condense(part)
    whole = spend([part], x)
    # worst where owners are tied, or few and near the low end, so that errors of interpolation do not cancel
    assert spend([small.open(x)], x) == pytest.approx(whole, rel=1e-12, abs=1e-14)
    assert spend([small.few], x) == pytest.approx(whole, rel=1e-4, abs=1e-14)
    assert kind == "heavy" or small.few.epsilon.size < part.epsilon.size


@pytest.mark.parametrize("budget", [5e-324, 1e-300, 1e-12, 1.0])
def test_extreme_budgets(budget):
    market = smq.Market(10.0 ** np.linspace(-12, 0, MANY), smq.Beta(2, 3))
    solution = smq.solve(market, budget)
    assert solution.total_spend <= budget
    assert budget < 1e-300 or solution.total_spend >= budget * (1 - 1e-12)


@pytest.mark.parametrize("exponent", [-60, -20, 20, 60])
def test_units_of_powers_of_two_change_no_bit(exponent):
    epsilon = np.random.default_rng(4).random(MANY)
    factor = 2.0**exponent
    here = smq.solve(smq.Market(epsilon, smq.Beta(2, 3)), 0.2 * MANY)
    there = smq.solve(smq.Market(epsilon, smq.Beta(2, 3).rescale(factor)), factor * 0.2 * MANY)
    assert np.array_equal(there.thresholds, factor * here.thresholds)
    assert np.array_equal(there.acceptance, here.acceptance)


@pytest.mark.parametrize("exponent", [-300, 300])
def test_units_too_far_for_a_table(exponent):
    epsilon = np.random.default_rng(4).random(MANY)
    law = smq.Beta(2, 3).rescale(2.0**exponent)
    assert response_table(law) is None
    here = smq.solve(smq.Market(epsilon, smq.Beta(2, 3)), 0.2 * MANY)
    there = smq.solve(smq.Market(epsilon, law), 2.0**exponent * 0.2 * MANY)
    assert there.thresholds * 2.0**-exponent == pytest.approx(here.thresholds, rel=1e-13, abs=0)
