"""Common prices for owners of different laws: each group as one pooled owner, whose curve is ironed."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from lotteries import lottery_with
from pooled_oracle import best_on_grid, tables
from scipy.optimize import linprog

import smqopt as smq
from smqopt.errors import InputError
from smqopt.market import state
from smqopt.verification.checks._side_constraints import side_bound

CITY = smq.CommonPrice("city")
GROUPS = ["Oslo", "Oslo", "Rome", "Rome"]
UNIFORM = smq.Uniform(np.array([0.0, 0.0, 0.3, 2.0]), np.array([1.0, 2.0, 2.0, 3.0]))
LAWS = {
    "uniform": UNIFORM,
    "atoms": smq.ByOwner(
        [smq.Discrete(v, w) for v, w in (([1, 2], [1, 1]), ([0.5, 3], [2, 1]), ([0, 1], [1, 3]), ([4], [1]))]
    ),
    "histograms": smq.ByOwner(
        [
            smq.PiecewiseUniform([0, 0.9, 1], [1, 1]),
            smq.PiecewiseUniform([0, 1, 2, 3], [1, 0, 2]),
            smq.Uniform(1, 2),
            smq.Uniform(1, 3),
        ]
    ),
    "mixed": smq.ByOwner(
        [
            smq.Uniform(0, 1),
            smq.PointMass(0.7),
            smq.Discrete([0.2, 1.5], [1, 1]),
            smq.PiecewiseUniform([0, 1, 2], [3, 1]),
        ]
    ),
}


def market(law=UNIFORM, epsilon=(0.1, 0.9, 0.4, 1.0), multiplicity=(1, 2, 3, 1), groups=GROUPS):
    return smq.Market(np.array(epsilon), law, groups={"city": list(groups)}, multiplicity=np.array(multiplicity))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("share", [0.01, 0.3, 0.7])
def test_pooled_prices_against_a_linear_program_over_a_grid(name, share):
    m = market(LAWS[name])
    budget = share * max(float(sum(S.max() for _, S in tables(m))), 1e-3)
    solution = smq.solve(m, budget, constraints=[CITY])
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.total_spend <= budget * (1 - 2.0**-50)  # so that no order of summation exceeds the budget
    on_grid = best_on_grid(m, budget)
    assert on_grid <= certificate.upper_bound * (1 + 1e-9)  # HiGHS is that exact
    assert solution.purchased_privacy == pytest.approx(on_grid, rel=1e-3)  # the grid's steps
    assert solution.purchased_privacy >= on_grid * (1 - 1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_the_bound_holds_at_any_price_of_the_budget(name):
    m = market(LAWS[name])
    statement, curves = state(m, [CITY]), list(tables(m))
    for price in (1e-6, 0.03, 0.2, 0.5, 3.0, 1e6):
        at_best = sum(float(np.max(V - price * S)) for V, S in curves)
        bound = side_bound(statement, 1.0, price, np.zeros(0)) - price
        assert at_best <= bound + 4e-16 * price
        assert (
            price > 1 or bound <= at_best * (1 + 3e-3) + 1e-9
        )  # so far the grid's steps lead away, at moderate prices


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 8), st.integers(0, 4)), min_size=2, max_size=5),
    st.integers(1, 30),
    st.booleans(),
)
def test_random_groups_are_certified(owners, share, atoms):
    low = np.array([low / 4 for low, _, _ in owners])
    high = low + np.array([width / 4 for _, width, _ in owners])
    laws = [
        smq.Discrete([a, b], [1, 2]) if atoms and k % 2 else smq.Uniform(a, b)
        for k, (a, b) in enumerate(zip(low, high, strict=True))
    ]
    epsilon = [e / 4 for *_, e in owners]
    m = smq.Market(
        epsilon,
        smq.ByOwner(laws),
        groups={"city": ["Oslo"] * (len(owners) - 1) + ["Rome"]},
        multiplicity=[2] * len(owners),
    )
    budget = share / 10
    solution = smq.solve(m, budget, constraints=[CITY])
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.purchased_privacy >= best_on_grid(m, budget) * (1 - 1e-7) - 1e-9


def test_a_group_draws_between_two_common_prices():
    """Two point masses: V goes 0, 1, 2 at spends 0, 1·1, 2·3, so the group draws between no offer, 1 and 3."""
    m = market(smq.PointMass(np.array([1.0, 3.0])), (1.0, 1.0), (1, 1), ["Oslo", "Oslo"])
    solution = smq.solve(m, 3.5, constraints=[CITY])
    drawn = solution.lottery
    assert drawn.low_acceptance.tolist() == [1.0, 0.0]  # the second owner has no offer at the lower price
    assert drawn.high.tolist() == [3.0, 3.0]
    assert drawn.probability_of_low == pytest.approx([0.5, 0.5], rel=1e-12)
    assert solution.purchased_privacy == pytest.approx(1.5, rel=1e-12)
    certificate = smq.verify(solution)
    assert certificate.valid
    outcome = smq.procure(certificate, np.array([1.0, 3.0]), rng=np.random.default_rng(1))
    assert outcome.total_payment in (1.0, 6.0)
    posted = smq.solve(m, 3.5, constraints=[CITY], lotteries=False)
    assert posted.lottery is None
    assert posted.purchased_privacy == 1.0
    bracket = smq.verify(posted)
    sold = [sum(v <= price for v in (1.0, 3.0)) for price in (0.5, 1.0, 3.0)]  # each price that changes who sells
    best = max(k for k, price in zip(sold, (0.5, 1.0, 3.0), strict=True) if k * price <= 3.5)
    assert bracket.lower_bound <= best <= bracket.upper_bound
    assert bracket.upper_bound == pytest.approx(1.5, rel=1e-12)  # that of lotteries
    assert bracket.gap == pytest.approx(1 / 3, rel=1e-12)
    assert bracket.valid  # for the bracket that it states
    assert bracket.gap <= bracket.gap_tolerance <= 1.2 * bracket.gap
    assert not smq.verify(posted, gap_tolerance=0.3).valid


def test_everybody_in_a_group_gets_the_price_even_above_her_support():
    m = market(smq.Uniform(0.0, np.array([1.0, 3.0])), (1.0, 1.0), (1, 1), ["Oslo", "Oslo"])
    solution = smq.solve(m, 2.0, constraints=[CITY])
    assert solution.thresholds[0] == solution.thresholds[1] > 1.0
    assert solution.acceptance[0] == 1.0
    assert smq.verify(solution).valid


def test_edges_of_the_budget():
    m = market(LAWS["atoms"])
    nothing = smq.solve(m, 0.0, constraints=[CITY])
    assert nothing.status is smq.Status.ZERO_BUDGET
    assert nothing.total_spend == 0
    assert nothing.purchased_privacy == pytest.approx(3 * 0.4 * 0.25)  # the atom at 0 in Rome sells for nothing
    slack = smq.solve(m, 1e6, constraints=[CITY])
    assert slack.status is smq.Status.SLACK
    assert slack.acceptance.tolist() == [1.0] * 4
    assert slack.thresholds.tolist() == [3.0, 3.0, 4.0, 4.0]
    tiny = smq.solve(market(), 1e-12, constraints=[CITY])
    for solution in (nothing, slack, tiny):
        assert smq.verify(solution).valid, smq.verify(solution).reasons


def test_owners_of_one_law_or_alone_are_as_before():
    """Equal laws, given in a way that hides it, reproduce what one row for the group gives; so do owners with a group each."""
    hidden = market(smq.Uniform(0.0, np.array([1.0, 1.0, 1.0, 2.0])), groups=["Oslo", "Oslo", "Oslo", "Rome"])
    before = smq.solve(hidden, 1.0, constraints=[CITY])
    atoms = smq.ByOwner(
        [smq.Uniform(0, 1), smq.Uniform(0, 1), smq.PiecewiseUniform([0, 0.5, 1], [1, 1]), smq.Uniform(0, 2)]
    )
    pooled = smq.solve(market(atoms, groups=["Oslo", "Oslo", "Oslo", "Rome"]), 1.0, constraints=[CITY])
    assert pooled.thresholds == pytest.approx(before.thresholds, rel=1e-9)
    assert pooled.purchased_privacy == pytest.approx(before.purchased_privacy, rel=1e-12)
    alone = smq.Market([0.1, 0.5, 1.0], smq.Uniform(0, np.array([1.0, 2.0, 3.0])), groups={"city": ["a", "b", "c"]})
    assert smq.solve(alone, 1.0, constraints=[CITY]).thresholds == pytest.approx(
        smq.solve(alone, 1.0).thresholds, rel=1e-9
    )


@pytest.mark.parametrize("epsilon", [(0.5, 1.0, 0.0), (0.5, 1.0, 0.7), (0.0, 0.0, 0.7), (0.0, 0.0, 0.0)])
def test_smooth_laws_stand_beside_pooled_groups(epsilon):
    law = smq.ByOwner([smq.Uniform(0, 1), smq.Uniform(0.5, 2), smq.Beta(2, 3)])
    m = market(law, epsilon, (1, 2, 3), ["Oslo", "Oslo", "Rome"])
    for budget in (0.0, 0.2, 1.5, 50.0):
        solution = smq.solve(m, budget, constraints=[CITY])
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert solution.purchased_privacy >= best_on_grid(m, budget) * (1 - 1e-9) - 1e-12


def test_a_price_list_makes_any_law_exact():
    law = smq.ByOwner([smq.Beta(2, 3), smq.Uniform(0.2, 2), smq.TruncatedExponential(2, 0, 1)])
    m = market(law, (0.5, 1.0, 0.7), (1, 2, 3), ["Oslo", "Oslo", "Rome"])
    prices = np.array([0.1, 0.25, 0.5, 0.9, 1.2, 5.0])
    menu = smq.PriceMenu(prices=tuple(prices.tolist()))
    F = np.array([np.where(price >= m.high, 1.0, law.cdf(np.full(3, price))) for price in prices]) * m.multiplicity
    V = [np.append(0.0, (F * m.epsilon)[:, mine].sum(axis=1)) for mine in ([0, 1], [2])]
    S = [np.append(0.0, prices * F[:, mine].sum(axis=1)) for mine in ([0, 1], [2])]
    for budget in (0.1, 0.8, 2.0, 30.0):
        solution = smq.solve(m, budget, constraints=[CITY, menu])
        shares = np.kron(np.eye(2), np.ones(7))
        found = linprog(
            -np.concatenate(V), A_ub=[np.concatenate(S)], b_ub=[budget], A_eq=shares, b_eq=[1, 1], method="highs"
        )
        assert solution.purchased_privacy == pytest.approx(-found.fun, rel=1e-9)
        assert smq.verify(solution).valid
    assert np.isin(solution.thresholds[solution.offered], prices).all()


def test_lists_of_a_group_are_those_of_each_of_its_owners():
    lists = smq.Market([0.5] * 4, UNIFORM, groups={"city": GROUPS, "sex": ["f", "m", "f", "m"]})
    solution = smq.solve(lists, 1.0, constraints=[CITY, smq.PriceMenu(prices=(1.0, 2.0), column="sex", label="f")])
    assert smq.verify(solution).valid
    drawn = solution.lottery
    assert set(drawn.prices[drawn.acceptances > 0]) <= {1.0, 2.0}


def test_no_conic_program_states_pooled_prices():
    with pytest.raises(InputError, match="share a price"):
        smq.solve(market(), 1.0, constraints=[CITY], solver="conic")


def test_saved_and_loaded(tmp_path):
    m = market(LAWS["mixed"])
    solution = smq.solve(m, 1.3, constraints=[CITY])
    solution.save(tmp_path)
    loaded = smq.Solution.load(tmp_path)
    assert smq.verify(loaded).valid
    assert loaded.thresholds.tolist() == solution.thresholds.tolist()


def test_forged_answers_are_refused():
    m = market()
    solution = smq.solve(m, 1.0, constraints=[CITY])
    assert smq.verify(solution).valid
    plain = smq.solve(m, 1.0)
    apart = dataclasses.replace(solution, thresholds=plain.thresholds, acceptance=plain.acceptance)
    left_out = dataclasses.replace(
        solution, acceptance=np.append(0.0, solution.acceptance[1:]), thresholds=np.append(0.0, solution.thresholds[1:])
    )
    dearer = dataclasses.replace(solution, budget_price=solution.budget_price * 1.01)
    free = dataclasses.replace(solution, budget_price=float("nan"))
    for forged, check in ((apart, "common prices"), (left_out, "common prices"), (dearer, "gap"), (free, "")):
        certificate = smq.verify(forged)
        assert not certificate.valid
        assert any(reason.startswith(check) for reason in certificate.reasons)
    drawn = smq.solve(market(smq.PointMass(np.array([1.0, 3.0])), (1, 1), (1, 1), ["a", "a"]), 3.5, constraints=[CITY])
    chances = drawn.lottery.probability_of_high.copy()
    chances[0] *= 0.5
    other = lottery_with(drawn.lottery, probability_of_high=chances)
    q = drawn.acceptance.copy()
    q[other.owner] = other.acceptance
    certificate = smq.verify(dataclasses.replace(drawn, lottery=other, acceptance=q))
    assert any(reason.startswith("common prices") for reason in certificate.reasons)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_change_nothing(unit):
    low, high = np.array([0.0, 0.5, 0.3, 2.0]), np.array([1.0, 2.0, 2.0, 3.0])
    one = smq.solve(market(smq.Uniform(low, high)), 2.0, constraints=[CITY])
    other = smq.solve(market(smq.Uniform(unit * low, unit * high)), 2.0 * unit, constraints=[CITY])
    assert other.acceptance == pytest.approx(one.acceptance, rel=1e-7)
    assert other.purchased_privacy == pytest.approx(one.purchased_privacy, rel=1e-11)
    assert smq.verify(other).valid


def test_the_linear_programs_print_nothing():
    program = (
        "import smqopt as smq; market = smq.Market([0.5, 1.0], smq.Uniform([0, 0], [1, 2]), groups={'city': ['a', 'a']});"
        "smq.solve(market, 0.5, constraints=[smq.CommonPrice('city')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
