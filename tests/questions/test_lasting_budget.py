"""What a purchase while the money lasts is sure to buy: against enumerations, simulations and a formula that fails."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.mechanism import simulate_purchase
from smqopt.mechanism._offers import PostedOffers
from smqopt.mechanism.payments._while_it_lasts import offer_order, spend_in_order

LAWS = (
    smq.Uniform(0, 1),
    smq.Power(0.3),
    smq.Discrete([0.2, 0.7, 1.0], [1, 1, 2]),
    smq.PiecewiseUniform([0, 0.9, 1], [1, 1]),
)


def exactly_bought(solution, money):
    """Return the expected purchase by value, over draws of lotteries and who sells; n small, no multiplicity."""
    market, lottery = solution.market, solution.lottery
    options = []
    for i in range(market.n):
        menu = [(1.0, solution.thresholds[i], solution.acceptance[i] if solution.offered[i] else 0.0)]
        if lottery is not None and i in lottery.owner:
            k = int(np.flatnonzero(lottery.owner == i)[0])
            menu = list(zip(lottery.probabilities[k], lottery.prices[k], lottery.acceptances[k], strict=True))
        cases = [(p * q, price, True) for p, price, q in menu] + [(p * (1 - q), price, False) for p, price, q in menu]
        options.append([case for case in cases if case[0] > 0])
    found = 0.0
    for cases in itertools.product(*options):
        price, sells = np.array([c[1] for c in cases]), np.array([c[2] for c in cases])
        offers = PostedOffers(market.owner_ids, market.epsilon, price, sells, sells, price)
        order = offer_order(offers, "value", 1, np.random.default_rng(0))
        skipped = spend_in_order(offers, sells, order, money, np.empty(0)).skipped
        found += math.prod(c[0] for c in cases) * float(market.epsilon @ (sells & ~skipped))
    return found


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.floats(0.0, 2.0), min_size=1, max_size=6),
    st.sampled_from(LAWS),
    st.floats(0.02, 1.2),
    st.floats(0.02, 1.2),
)
def test_no_guarantee_is_above_the_exact_purchase(epsilon, law, share, purse):
    market = smq.Market(epsilon, law)
    solution = smq.solve(market, share * len(epsilon))
    money = purse * len(epsilon)
    assert smq.guaranteed_privacy(solution, money) <= exactly_bought(solution, money) * (1 + 1e-12)


def test_all_is_guaranteed_where_nobody_can_be_passed_over():
    solution = smq.solve(smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), 0.5)
    assert smq.guaranteed_privacy(solution, 3.0) == pytest.approx(solution.purchased_privacy, rel=1e-8)
    assert smq.guaranteed_privacy(solution, 0.0) == 0.0
    free = smq.solve(smq.Market([1.0, 2.0], smq.PointMass(0.0)), 1.0)
    assert smq.guaranteed_privacy(free, 0.0) == pytest.approx(3.0, rel=1e-8)


@pytest.mark.parametrize("law", LAWS, ids=["uniform", "power", "list", "irregular"])
def test_a_simulation_buys_what_is_guaranteed(law):
    market = smq.Market(np.random.default_rng(1).random(60), law, multiplicity=[1, 2] * 30)
    found = smq.lasting_budget(market, 15.0)
    certificate, rng = smq.verify(found.solution, prove=False), np.random.default_rng(2)
    epsilon = market.expand().epsilon
    bought = [epsilon @ simulate_purchase(certificate, found.money, "value", rng) for _ in range(300)]
    error = np.std(bought, ddof=1) / math.sqrt(len(bought))
    assert found.guaranteed <= np.mean(bought) + 4 * error
    assert np.mean(bought) <= found.most + 4 * error
    assert 0.8 < found.share <= 1.0


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_by_value_a_dear_owner_behind_sure_ones_is_never_served(k):
    """1 − 1/√(2πk) is false by value too: a part 1/k is lost, since sure sellers leave less than the last price."""
    money, n = 1.0, 1000
    cheap = (money - money / k + 1e-3) / n
    chance = (money - n * cheap) / (money / k)
    prices = np.append(np.full(n, cheap), money / k)
    everybody = np.ones(n + 1, dtype=bool)
    offers = PostedOffers(
        tuple(map(str, range(n + 1))), prices * np.append(np.full(n, 1.001), 1.0), prices, everybody, prices, prices
    )
    order = offer_order(offers, "value", 1, np.random.default_rng(0))
    found = spend_in_order(offers, everybody, order, money, np.empty(0))
    assert found.skipped.tolist() == [False] * n + [True]
    value = offers.epsilon[:n].sum()
    assert value / (value + chance * offers.epsilon[n]) < 1 - 1 / math.sqrt(2 * math.pi * k)


@pytest.mark.parametrize("n", [8, 30, 100, 400])
@pytest.mark.parametrize("money", [1.5, 3.0, 6.0])
def test_a_price_held_back_guarantees_the_formula(n, money):
    """Solved for B − p, k = B/p: at least 1 − 1/√(2π⌊k − 1⌋) of what it would buy."""
    market = smq.Market(np.random.default_rng(n).random(n), smq.Uniform(0, 1))
    budget = money
    for _ in range(60):  # towards B − p(B)
        solution = smq.solve(market, budget)
        budget = 0.5 * (budget + max(money - float(solution.thresholds.max()), 0.0))
    highest = float(solution.thresholds.max())
    k = math.floor(solution.budget / highest * (1 + 1e-9))
    assert k >= 1
    share = smq.guaranteed_privacy(solution, solution.budget + highest * (1 + 1e-9)) / solution.purchased_privacy
    assert share >= 1 - 1 / math.sqrt(2 * math.pi * k) - 1e-6


def test_the_formula_of_the_poisson_law_needs_whole_numbers():
    """E(N − κ)⁺/κ = e^(−κ) κ^⌊κ⌋/⌊κ⌋! is at most 1/√(2π⌊κ⌋), and above 1/√(2πκ) between."""

    def lost(kappa):
        m = math.floor(kappa)
        direct = sum(
            (i - kappa) * math.exp(-kappa + i * math.log(kappa) - math.lgamma(i + 1)) for i in range(m + 1, m + 300)
        )
        closed = math.exp(-kappa + m * math.log(kappa) - math.lgamma(m + 1))
        assert direct / kappa == pytest.approx(closed, rel=1e-10)
        return closed

    for kappa in np.linspace(1.0, 30.0, 117):
        assert lost(kappa) <= 1 / math.sqrt(2 * math.pi * math.floor(kappa))
    assert lost(1.5) > 1 / math.sqrt(2 * math.pi * 1.5)


def test_no_other_budget_guarantees_much_more():
    market = smq.Market(np.random.default_rng(3).random(50), smq.Power(4.0))
    found = smq.lasting_budget(market, 8.0)
    for budget in np.linspace(0.5, 30.0, 60):
        assert smq.guaranteed_privacy(smq.solve(market, budget), 8.0) <= found.guaranteed * 1.002
    assert found.solution.budget > 8.0  # steep laws: prices hardly rise with the budget
    assert found.guaranteed == smq.guaranteed_privacy(found.solution, 8.0)


def test_side_constraints_are_those_of_the_offers():
    market = smq.Market(np.linspace(0.1, 1, 20), smq.Uniform(0, 1), groups={"city": ["a", "b"] * 10})
    rows = [smq.Coverage("city", "a", 6.0)]
    found = smq.lasting_budget(market, 5.0, constraints=rows)
    assert float(found.solution.acceptance[::2].sum()) >= 6.0 - 1e-6
    with pytest.raises(smq.InputError, match="meets the constraints"):
        smq.lasting_budget(market, 0.05, constraints=rows)


def test_bad_input_is_refused():
    market = smq.Market(np.ones(8), smq.Uniform(0, 1))
    for money in (-1.0, math.nan, math.inf, True, "9"):
        with pytest.raises(smq.InputError, match="money"):
            smq.lasting_budget(market, money)
    with pytest.raises(smq.InputError, match="a Market"):
        smq.lasting_budget(None, 1.0)
    with pytest.raises(smq.InputError, match="a Solution"):
        smq.guaranteed_privacy(market, 1.0)
    with pytest.raises(smq.InputError, match="is purchased privacy here"):
        smq.lasting_budget(market, 1.0, objective=smq.BoughtOwners())
    drawn = smq.solve(market, 2.0, objective=smq.WorstCaseError(range=1, private=False))
    with pytest.raises(smq.InputError, match="random prices"):
        smq.guaranteed_privacy(drawn, 1.0)


@pytest.mark.parametrize("purse", [0.7, 1.1, 1.6, 2.2, 3.0])
@pytest.mark.parametrize("share", [0.25, 0.4, 0.55])
def test_owners_who_all_draw_are_guaranteed_no_more_than_is_bought(share, purse):
    solution = smq.solve(smq.Market(np.ones(5), smq.PiecewiseUniform([0, 0.9, 1], [1, 1])), share * 5)
    assert solution.lottery is not None
    assert len(solution.lottery) == 5
    assert smq.guaranteed_privacy(solution, purse) <= exactly_bought(solution, purse) * (1 + 1e-12)


def test_a_guarantee_is_near_what_is_bought_where_values_differ():
    laws = smq.ByOwner([smq.Uniform(0.2, 1), smq.Uniform(0, 0.3), smq.Discrete([0.1, 0.9], [1, 1])] * 80)
    market = smq.Market(np.random.default_rng(4).random(240) + 0.1, laws)
    solution = smq.solve(market, 25.0)
    ratio = (market.epsilon / solution.thresholds)[solution.offered]
    assert ratio.max() > 3 * ratio.min()
    certificate, rng = smq.verify(solution, prove=False), np.random.default_rng(5)
    bought = np.mean([market.epsilon @ simulate_purchase(certificate, 25.0, "value", rng) for _ in range(100)])
    assert 0.95 * bought < smq.guaranteed_privacy(solution, 25.0) < 1.01 * bought
