"""Laws with jumps under side constraints: against a linear program over all segments of the hulls, and where everything is tied or hardly possible."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from scipy.optimize import linprog

import smqopt as smq
from smqopt.market import state
from smqopt.solvers.structured import _search as structured_search
from smqopt.valuation import PiecewiseUniformByOwner

EXACT = 1e-11


def over_all_segments(statement, budget, chords=1):
    """Give the optimum where hulls are straight, else of their chords, which lie above; None where nothing is feasible."""
    market = statement.reduced
    parts = []
    for law, index in market.valuation.parts():
        rows, segments = np.arange(market.n)[index], law.hull_segments()
        if law.size is None:
            every = np.repeat(rows, segments.width.size)
            columns = [np.tile(column, rows.size) for column in (segments.width, segments.slope, segments.curvature)]
        else:
            every, columns = rows[segments.owner], [segments.width, segments.slope, segments.curvature]
        for k in range(chords):
            width = columns[0] / chords
            parts.append((every, width, columns[1] + columns[2] * width * (2 * k + 1)))
    owner, width, slope = (np.concatenate(column) for column in zip(*parts, strict=True))
    assert np.all(statement.lowest == 0)
    m = statement.weights()[owner]
    rows = statement.acceptance[:, owner] + statement.spend[:, owner].multiply(slope)
    matrix = sparse.csr_array(sparse.vstack([(m * slope)[np.newaxis, :], rows]))
    most = np.append(budget, statement.at_most)
    equal = np.append(False, statement.equal)
    answer = linprog(
        -m * market.epsilon[owner],
        A_ub=matrix[~equal],
        b_ub=most[~equal],
        A_eq=matrix[equal] if equal.any() else None,
        b_eq=most[equal] if equal.any() else None,
        bounds=np.column_stack([np.zeros(width.size), width]),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert answer.status in (0, 2)
    return -answer.fun if answer.status == 0 else None


def price_lists(rng, n):
    laws = [smq.Discrete([1, 2, 3, 5], rng.integers(1, 9, 4)), smq.Discrete([0, 1, 4], rng.integers(1, 9, 3))]
    return laws[0] if rng.random() < 0.3 else smq.ByOwner([laws[k] for k in rng.integers(0, 2, n)])


@st.composite
def straight_instances(draw):
    """Owners with price lists, some of them alike to the last digit, under several rows, some of them redundant."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(2, 60))
    labels = np.append([0, 1], rng.integers(0, 3, n - 2))
    epsilon = np.round(4 * rng.random(n)) / 4 if rng.random() < 0.5 else rng.random(n)
    counts = rng.integers(1, 4, n) if rng.random() < 0.5 else None
    market = smq.Market(epsilon, price_lists(rng, n), groups={"g": labels}, multiplicity=counts)
    budget = float(rng.uniform(0.05, 0.8) * np.sum(market.high * (1 if counts is None else counts)))
    mine = float(np.sum((labels == 0) * (1 if counts is None else counts)))
    rows = rng.choice(n, size=2, replace=False).tolist()
    records = [
        smq.Coverage("g", 0, at_least=float(rng.uniform(0.1, 0.9)) * mine),
        smq.Parity("g", within=float(rng.choice([0, 0.1]))),
        smq.GroupBudget("g", 1, at_most=budget * float(rng.uniform(0.05, 0.6))),
        smq.ExpectedOwners(at_most=float(rng.uniform(0.2, 1)) * market.population),
        smq.LinearRow(0.5, acceptance=((rows[0], 1.0), (rows[1], -0.5)), spend=((rows[1], 0.3),)),
    ]
    chosen = [records[k] for k in rng.choice(5, size=int(rng.integers(1, 5)), replace=False)]
    return market, budget, chosen * int(rng.integers(1, 3))


def agrees_with_the_linear_program(market, budget, records):
    solution = smq.solve(market, budget, constraints=records, solver="structured")
    best = over_all_segments(state(market, records), budget)
    assert (solution.status is smq.Status.INFEASIBLE) == (best is None)
    if best is not None:
        assert solution.purchased_privacy == pytest.approx(best, rel=1e-8, abs=1e-9)
        certificate = smq.verify(solution, prove=False)
        assert certificate.valid, certificate.reasons


@settings(max_examples=12)
@given(straight_instances())
def test_against_a_linear_program_over_all_segments(instance):
    agrees_with_the_linear_program(*instance)


@pytest.mark.exhaustive
@settings(max_examples=500)
@given(straight_instances())
def test_against_a_linear_program_over_all_segments_five_hundred_times(instance):
    agrees_with_the_linear_program(*instance)


def bidders(n, groups, *, tables=3, bins=30, by_owner=True):
    """Owners with one of a few rough histograms, in groups that go with ε."""
    rng = np.random.default_rng(7)
    epsilon = rng.random(n)
    labels = np.minimum((np.clip(epsilon + 0.3 * rng.standard_normal(n), 0, 1) * groups).astype(int), groups - 1)
    edges = np.linspace(0, 1, bins + 1)
    laws = [smq.PiecewiseUniform(edges, masses) for masses in rng.dirichlet(np.full(bins, 2.0), size=tables)]
    law = PiecewiseUniformByOwner(laws, rng.integers(0, tables, n)) if by_owner else laws[0]
    market = smq.Market(epsilon, law, groups={"g": labels})
    floors = 0.3 * np.bincount(labels, minlength=groups)
    return market, 0.15 * n, [smq.Coverage("g", k, at_least=float(floor)) for k, floor in enumerate(floors)]


@pytest.mark.parametrize("by_owner", [True, False])
def test_hardly_more_owners_draw_than_rows_bind(by_owner):
    market, budget, records = bidders(2_000, 6, by_owner=by_owner)
    records += [smq.Parity("g", 0.0, labels=(0, 1)), smq.GroupBudget("g", 5, at_most=0.2 * budget)]
    solution = smq.solve(market, budget, constraints=records)
    assert solution.details["gap"] <= EXACT
    assert 0 < np.count_nonzero(solution.constraint_prices) < len(solution.constraint_prices)
    assert len(solution.lottery) <= 1 + np.count_nonzero(solution.constraint_prices)
    certificate = smq.verify(solution, prove=False)
    assert certificate.valid, certificate.reasons
    posted = smq.solve(market, budget, constraints=records[:6], lotteries=False)
    assert posted.lottery is None
    assert posted.total_spend <= budget
    drawn = smq.solve(market, budget, constraints=records[:6])
    lost = drawn.purchased_privacy - posted.purchased_privacy
    assert 0 <= lost <= np.sum(market.epsilon[drawn.lottery.owner])


def test_chords_come_near_from_below():
    market, budget, records = bidders(60, 2, bins=8)
    statement = state(market, records)
    coarse, fine = (over_all_segments(statement, budget, chords) for chords in (1, 32))
    best = smq.solve(market, budget, constraints=records).purchased_privacy
    assert coarse < fine <= best * (1 + 1e-9)
    assert best - fine <= 2e-3 * (best - coarse)


@pytest.mark.parametrize("law", [smq.Discrete([1, 2, 4], [1, 2, 1]), smq.PiecewiseUniform([0, 0.4, 0.9, 1], [1, 2, 7])])
def test_everybody_is_tied(law):
    """One ε, one law: whoever draws, the budget buys as much, and a constraint that holds already has no price."""
    market = smq.Market(np.full(40, 0.5), law, groups={"g": np.arange(40) % 2})
    budget = 0.37 * 40 * float(law.high)
    plain = smq.solve(market, budget)
    twice = [smq.Coverage("g", 0, at_least=2.0)] * 2 + [smq.Parity("g", 0.0), smq.Parity("g", 0.5)]
    solution = smq.solve(market, budget, constraints=twice)
    assert solution.purchased_privacy == pytest.approx(plain.purchased_privacy, rel=1e-11)
    assert solution.constraint_prices == pytest.approx(0.0, abs=1e-9)
    assert smq.verify(solution, prove=False).valid


@pytest.mark.parametrize(
    "law",
    [
        smq.Discrete([1, 2, 3, 5], [1, 2, 3, 4]),
        smq.PointMass(2),
        smq.ByOwner([smq.PointMass(k % 3 + 1) for k in range(12)]),
        smq.Mixture([smq.PointMass(1), smq.Uniform(1, 3)], [0.3, 0.7]),
    ],
    ids=["prices", "one price", "own prices", "a price and more"],
)
@pytest.mark.parametrize("share", [0.05, 0.2, 0.45])
def test_an_atom_at_the_low_end_is_not_sold_without_an_offer(law, share):
    """Among owners who are tied some get no offer, though at the lowest price a part of them would sell."""
    market = smq.Market(np.linspace(0.0, 1.0, 12), law, groups={"g": [0] * 4 + [1] * 8})
    most = share * 8 * float(np.max(law.low))
    solution = smq.solve(market, 100.0, constraints=[smq.GroupBudget("g", 1, at_most=most)])
    assert float(np.sum(solution.spend[4:])) == pytest.approx(most, rel=1e-9)
    certificate = smq.verify(solution, prove=False)
    assert certificate.valid, certificate.reasons


@pytest.mark.parametrize("counted", [False, True])
def test_the_first_price_is_that_of_a_sample(monkeypatch, counted):
    """It is only a start: the answer is the same."""
    rng = np.random.default_rng(4)
    epsilon, counts = rng.random(300), rng.integers(1, 4, 300) if counted else None
    law = smq.PiecewiseUniform([0, 0.4, 0.9, 1], [1, 2, 7])
    market = smq.Market(epsilon, law, groups={"g": np.arange(300) % 2}, multiplicity=counts)
    budget, records = 0.2 * market.most_that_can_be_spent, [smq.GroupBudget("g", 0, at_most=5.0)]
    whole = smq.solve(market, budget, constraints=records).purchased_privacy
    monkeypatch.setattr(structured_search, "_SAMPLE", 64)
    solution = smq.solve(market, budget, constraints=records)
    assert solution.purchased_privacy == pytest.approx(whole, rel=1e-11)
    assert smq.verify(solution, prove=False).valid


def test_a_hair_more_is_infeasible():
    """The most that a group can sell is found as an objective; a hair less is feasible, a hair more is not."""
    market, budget, records = bidders(60, 3, tables=2, bins=12)
    first = market.groups["g"] == 0
    alone = smq.Market(first.astype(float), market.valuation, groups=market.groups)
    others = [*records[1:], smq.GroupBudget("g", 0, at_most=0.1 * budget)]
    most = smq.solve(alone, budget, constraints=others).purchased_privacy
    less, more = (smq.Coverage("g", 0, at_least=most * (1 + hair), name="most") for hair in (-1e-9, 1e-7))
    possible = smq.solve(market, budget, constraints=[less, *others])
    assert possible.details["gap"] <= 1e-9
    impossible = smq.solve(market, budget, constraints=[more, *others])
    assert impossible.status is smq.Status.INFEASIBLE
    assert "most" in impossible.conflict
    assert len(impossible.conflict) == 2


def test_nothing_to_spend_and_more_than_enough():
    market, _, records = bidders(50, 2)
    cap = smq.ExpectedOwners(at_most=10.0)
    assert smq.solve(market, 0.0, constraints=[cap]).status is smq.Status.ZERO_BUDGET
    assert smq.solve(market, 0.0, constraints=records).status is smq.Status.INFEASIBLE
    assert smq.solve(market, 1e3, constraints=records).status is smq.Status.SLACK


@pytest.mark.parametrize(
    "law", [smq.Uniform(0, 1), smq.Uniform(1, 3), smq.Power(2), smq.PiecewiseUniform([0, 0.5, 1], [3, 1])]
)
def test_who_is_paid_for_free_is_tied_too(law):
    """With money enough for all, a cap on owners takes those of the largest ε, and one of them in part."""
    epsilon = np.linspace(0.1, 1, 9)
    solution = smq.solve(smq.Market(epsilon, law), 1e3, constraints=[smq.ExpectedOwners(at_most=3.4)])
    assert solution.status is smq.Status.SLACK
    assert solution.purchased_privacy == pytest.approx(epsilon[-3:].sum() + 0.4 * epsilon[-4], rel=1e-12)
    assert solution.constraint_prices[0] == pytest.approx(epsilon[-4], rel=1e-12)
    assert smq.verify(solution, prove=False).valid


def test_a_bound_inside_a_flat_piece_is_certified():
    market, budget, _ = bidders(40, 2, by_owner=False)
    pieces = market.valuation.flat_pieces()
    for k in range(len(pieces)):
        inside = float(0.3 * pieces.low_acceptance[k] + 0.7 * pieces.high_acceptance[k])
        solution = smq.solve(market, 2 * budget, constraints=[smq.AcceptanceRange(at_most=inside)])
        certificate = smq.verify(solution, prove=False)
        assert certificate.valid, certificate.reasons


@pytest.mark.parametrize("seed", [15, 20, 35])
def test_prices_of_zero_beside_positive_ones(seed):
    """Money to spare for all but one group, whose rate the others must match: some are paid for free, and some of them are worth less than nothing."""
    rng = np.random.default_rng(seed)
    n = 12
    labels, counts = np.append([0, 1, 2], rng.integers(0, 3, n - 3)), rng.integers(1, 4, n)
    market = smq.Market(rng.random(n), smq.Uniform(0, 1), groups={"g": labels}, multiplicity=counts)
    budget = 0.7 * float(counts.sum())
    records = [smq.GroupBudget("g", 1, at_most=0.05 * budget), smq.Parity("g", 0.0)]
    solution = smq.solve(market, budget, constraints=records)
    assert solution.status is smq.Status.SLACK
    assert solution.details["gap"] <= EXACT
    assert smq.verify(solution, prove=False).valid


@pytest.mark.parametrize("seed", range(6))
def test_kinks_alone_lead_to_the_answer(monkeypatch, seed):
    """No linear program over columns is asked."""

    def never(*_args, **_more):
        raise AssertionError("the way by kinks did not arrive")

    monkeypatch.setattr(structured_search, "_by_columns", never)
    rng = np.random.default_rng([seed, 9])
    n = 300
    epsilon = rng.random(n)
    labels = np.clip((4 * epsilon + rng.random(n)).astype(int), 0, 3)
    law = smq.PiecewiseUniform(np.linspace(0, 1, 11), rng.random(10)) if seed % 2 else price_lists(rng, n)
    market = smq.Market(epsilon, law, groups={"g": labels})
    budget = 0.2 * market.most_that_can_be_spent
    most = float(np.sum(smq.solve(market, budget).acceptance[labels == 0]))
    records = [smq.Coverage("g", 0, at_least=1.2 * most), smq.GroupBudget("g", 3, at_most=0.3 * budget)]
    solution = smq.solve(market, budget, constraints=records, solver="structured")
    assert smq.verify(solution, prove=False).valid
    assert np.count_nonzero(solution.constraint_prices) > 0
