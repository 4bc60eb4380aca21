"""Constraint records: what they say in words, rows and data; price lists; what they refuse."""

import dataclasses

import cvxpy as cp
import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.market import KINDS, AcceptanceBounds, constraint_from_dict, state
from smqopt.program.dcp._affine import affine_map
from smqopt.valuation import PriceListed

EXAMPLES = [
    smq.Coverage("city", "Oslo", at_least=1.5),
    smq.Parity("city", within=0.1, labels=("Oslo", "Bergen")),
    smq.GroupBudget("city", "Oslo", at_most=0.5, name="cheap Oslo"),
    smq.PriceRange(at_least=0.1, at_most=0.5),
    smq.AcceptanceRange(0.1, 0.9, column="city", label="Bergen"),
    smq.ExpectedOwners(at_most=2),
    smq.CommonPrice("city"),
    smq.PriceMenu(prices=(0.2, 0.4)),
    smq.LinearRow(1.0, acceptance=((0, 1.0), (2, -1.0)), spend=((1, 2.0),)),
    AcceptanceBounds(at_least=((0, 0.2),), at_most=((1, 0.7),)),
]


def market(law=None):
    labels = ["Oslo", "Oslo", "Bergen", "Bergen"]
    return smq.Market(
        [0.2, 0.5, 0.7, 1.0], law or smq.Uniform(0, 1), groups={"city": labels}, multiplicity=[1, 2, 1, 1]
    )


def test_every_kind_has_an_example():
    assert {record.kind for record in EXAMPLES} == set(KINDS)


@pytest.mark.parametrize("record", EXAMPLES, ids=lambda record: record.kind)
def test_a_record_goes_through_data_and_can_be_solved(record):
    assert constraint_from_dict(record.to_dict()) == record
    solution = smq.solve(market(), 1.0, constraints=[record])
    assert solution.constraints == (record.words,)
    assert solution.status is (smq.Status.SLACK if record.kind == "price-menu" else smq.Status.BINDING)
    assert smq.verify(solution).valid


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "key 'kind': is missing or unknown"),
        ({"kind": "coverag"}, "did you mean 'coverage'"),
        ({"kind": "coverage", "column": "city", "label": "Oslo"}, "one of the two"),
        ({"kind": "coverage", "column": "city", "label": "Oslo", "at_leest": 1}, "did you mean 'at_least'"),
        ({"kind": "coverage", "column": "city", "label": "Oslo", "at_least": -1}, "finite number ≥ 0"),
        ("coverage", "must be a table"),
    ],
)
def test_bad_data_is_refused(content, words):
    with pytest.raises(InputError, match=words):
        constraint_from_dict(content)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: smq.LinearRow(1.0, acceptance=((0, 1.0), (0, 2.0))), "name each row once"),
        (lambda: smq.LinearRow(np.inf), "must be a finite number"),
        (lambda: smq.LinearRow(1.0), "'acceptance': or 'spend' must be given"),
        (lambda: smq.PriceRange(column="city", label="Oslo"), "'at_most': or 'at_least' must be given"),
        (AcceptanceBounds, "'at_most': or 'at_least' must be given"),
        (lambda: smq.AcceptanceRange(0.6, 0.5), "swap the two"),
        (lambda: smq.AcceptanceRange(column="city", label="Oslo"), "'at_most': or 'at_least' must be given"),
        (lambda: smq.PriceRange(at_least=2, at_most=1), "swap the two"),
        (smq.PriceMenu, "not both"),
        (lambda: smq.PriceMenu(step=0.0), "must be positive"),
        (lambda: smq.Parity("city", within=1.5), "from 0 to 1"),
    ],
)
def test_bad_records_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (smq.Coverage("town", "Oslo", at_least=1), "town"),
        (smq.Coverage("city", "Olso", at_least=1), "did you mean 'Oslo'"),
        (smq.LinearRow(1.0, acceptance=((4, 1.0),)), "rows 0 to 3"),
        (smq.Parity("city", within=0.1, labels=("Oslo",)), "2 to 32 groups"),
    ],
)
def test_records_that_do_not_fit_the_market_are_refused(record, words):
    with pytest.raises(InputError, match=words):
        state(market(), [record])


def test_owners_who_share_a_price_are_a_row_for_each_law():
    law = smq.Uniform(np.zeros(4), np.array([1.0, 1.0, 1.0, 2.0]))
    statement = state(market(law), [smq.CommonPrice("city")])
    assert statement.blocks.count == 1
    assert statement.blocks.of_row.max() == 0
    program = smq.Program(market(law), 1.0, constraints=[smq.CommonPrice("city")])
    program.constraints += [program.acceptance[0] >= 0.4]
    solution = smq.solve(program, solver="structured")
    assert smq.verify(solution).valid
    assert solution.acceptance[0] >= 0.4 * (1 - 1e-10)


def test_shared_prices_are_the_same_to_the_last_bit():
    solution = smq.solve(market(), 1.0, constraints=[smq.CommonPrice("city"), smq.Parity("city", 0.2)])
    assert solution.thresholds[0] == solution.thresholds[1]
    assert solution.thresholds[2] == solution.thresholds[3]


# --- prices --------------------------------------------------------------------------------------------------------


def test_a_price_range_on_an_irregular_law_stops_at_the_ends_of_flat_pieces():
    law = smq.Discrete([1, 2, 5], [1, 2, 1])
    solution = smq.solve(market(law), 20.0, constraints=[smq.PriceRange(at_most=2)])
    assert solution.thresholds.max() == 2


@pytest.mark.parametrize(
    "law",
    [smq.Uniform(0, 1), smq.Beta(2, 3), smq.Power(np.array([0.5, 1.0, 2.0, 3.0])), smq.Discrete([0.3, 0.5], [1, 2])],
    ids=["uniform", "beta", "power", "atoms"],
)
@pytest.mark.parametrize(
    "menu", [smq.PriceMenu(prices=(0.1, 0.3, 0.45, 0.5, 2.0)), smq.PriceMenu(step=0.05)], ids=["list", "step"]
)
def test_prices_from_a_menu_against_all_menus(law, menu):
    """With lotteries over listed prices the optimum is a linear program over them; its value from HiGHS through cvxpy."""
    m, budget = market(law), 0.8
    solution = smq.solve(m, budget, constraints=[menu])
    prices = menu.price_list(m)[1]
    chance = np.array([np.broadcast_to(law.cdf(np.full(4, price)), (4,)) for price in prices]).T
    share = cp.Variable((4, prices.size), nonneg=True)
    counts = m.multiplicity
    rows = [cp.sum(share, axis=1) <= 1, cp.sum(cp.multiply(counts[:, None] * chance * prices, share)) <= budget]
    best = cp.Problem(cp.Maximize(cp.sum(cp.multiply((counts * m.epsilon)[:, None] * chance, share))), rows)
    assert solution.purchased_privacy == pytest.approx(best.solve(solver=cp.HIGHS), rel=1e-7)
    assert smq.verify(solution).valid
    posted = smq.solve(m, budget, constraints=[menu], lotteries=False)
    assert posted.lottery is None
    assert posted.total_spend <= budget
    assert np.isin(posted.thresholds[posted.offered], prices).all()
    jump = np.max(np.diff(np.hstack([np.zeros((4, 1)), chance]), axis=1)) * float(np.max(counts * m.epsilon))
    assert 0 <= solution.purchased_privacy - posted.purchased_privacy + 1e-12 <= 2 * jump


def test_whole_cents_are_the_nearest_doubles():
    prices = smq.PriceMenu(step=0.01).price_list(market())[1]
    assert prices.tolist() == [k / 100 for k in range(101)]


def test_owners_without_a_listed_price_get_no_offer():
    law = smq.Uniform(np.array([0.0, 0.0, 2.0, 2.0]), np.array([1.0, 1.0, 3.0, 3.0]))
    solution = smq.solve(market(law), 9.0, constraints=[smq.PriceMenu(prices=(0.5, 0.7))])
    assert solution.offered.tolist() == [True, True, False, False]
    assert solution.thresholds.tolist() == [0.7, 0.7, 2.0, 2.0]


@pytest.mark.parametrize(
    "law",
    [
        smq.Uniform(0, 1),
        smq.Uniform(np.array([0.0, 0.2]), np.array([1.0, 0.9])),
        smq.Discrete([0.3, 0.5, 0.8], [1, 2, 1]),
    ],
)
def test_the_law_of_a_list_rounds_up(law):
    listed = PriceListed(law, [0.25, 0.5, 0.8, 5.0])
    for price in (0.25, 0.5, 0.8):
        assert np.all(listed.cdf(np.full(2, price)) == law.cdf(np.full(2, price)))
        assert np.all(listed.cdf(np.full(2, price + 0.1)) == listed.cdf(np.full(2, price)))
        q = listed.cdf(np.full(2, price))
        assert np.all(listed.ppf(q)[q > 0] <= price)
        assert np.all(listed.cdf(listed.ppf(q))[q > 0] == q[q > 0])
    pieces = listed.flat_pieces()
    assert np.all(np.diff(pieces.slope)[np.diff(pieces.owner) == 0] > 0)
    assert np.all(np.isin(pieces.high, listed.prices))


# --- cvxpy ---------------------------------------------------------------------------------------------------------


def test_affine_expressions_are_read_as_cvxpy_evaluates_them():
    x, y, scale = cp.Variable(4), cp.Variable(4), cp.Parameter(value=3.0)
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(3, 4))
    expressions = [
        cp.sum(x[[0, 2]]) - 2 * y[1] + 1,
        matrix @ x + 5,
        x @ matrix.T - cp.multiply([1, 2, 3], y[1:]),
        cp.mean(y[:3]) / scale + scale * x[3],
        x[1:3] - y[0],
        cp.hstack([x[:2], y[2]]) + np.array([1.0, 2.0, 3.0]),
        cp.cumsum(x) - y,
        cp.sum(cp.reshape(x, (2, 2), order="F"), axis=0),
        sum((k % 3 - 1) * x[k % 4] for k in range(1500)),
        cp.Constant([1.0, 2.0]),
    ]
    for some in (expressions, [one for one in expressions if "cumsum" not in str(one)], expressions[-1:], []):
        matrix, constant = affine_map(some, (x, y))
        x.value, y.value = rng.normal(size=4), rng.normal(size=4)
        expected = np.concatenate([np.zeros(0), *(np.ravel(expression.value) for expression in some)])
        assert matrix @ np.concatenate([x.value, y.value]) + constant == pytest.approx(expected, abs=1e-12)


def test_records_and_cvxpy_say_the_same():
    m = market()
    by_record = smq.Program(m, 1.0, constraints=[smq.Coverage("city", "Oslo", at_least=1.5)])
    by_hand = smq.Program(m, 1.0)
    by_hand.constraints += [by_hand.acceptance[0] + 2 * by_hand.acceptance[1] >= 1.5]
    by_hand.constraints[-1].set_label("enough of Oslo")
    assert by_record.extensions == ("at least 1.5 expected owners of city = Oslo",)
    assert by_hand.extensions == ("enough of Oslo",)
    one, other = smq.solve(by_record), smq.solve(by_hand)
    assert one.acceptance == pytest.approx(other.acceptance, abs=1e-12)
    assert one.constraint_prices == pytest.approx(other.constraint_prices, rel=1e-9)
    assert smq.verify(one).valid
    assert smq.verify(other).valid
    by_record.constraints.remove(by_record.constraints[-1])
    assert "without at least 1.5 expected owners of city = Oslo" in by_record.extensions


def test_a_parameter_of_the_user_counts_at_its_value():
    program = smq.Program(market(), 1.0)
    share = cp.Parameter(value=0.3)
    program.constraints += [cp.sum(program.spend[:2]) <= share * program.budget]
    spent = []
    for share.value in (0.05, 0.1):
        solution = smq.solve(program)
        assert solution.solver == "structured"
        spent.append(float(np.sum(solution.spend[:2])))
    assert spent == pytest.approx([0.05, 0.1], rel=1e-9)


NOTHING = [None, True, {}, -1, float("nan"), float("inf"), 10**400, "x", b"x", [], [[0]], [["x", 1]], [{}]]
GOOD = {
    "coverage": {"column": "city", "label": "Oslo", "at_least": 1},
    "parity": {"column": "city", "within": 0.1},
    "group-budget": {"column": "city", "label": "Oslo", "at_most": 0.1},
    "price-range": {"at_least": 0.1, "at_most": 0.5},
    "acceptance-range": {"at_least": 0.1, "at_most": 0.5},
    "acceptance-bounds": {"at_least": [[0, 0.1]]},
    "expected-owners": {"at_most": 2},
    "common-price": {"column": "city"},
    "price-menu": {"step": 0.1},
    "linear-row": {"at_most": 1, "acceptance": [[0, 1.0]]},
}
KEYS = {kind: [entry.name for entry in dataclasses.fields(record)] for kind, record in KINDS.items()}


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in KINDS for key in KEYS[kind]])
@pytest.mark.parametrize("value", NOTHING, ids=repr)
def test_any_value_is_taken_or_refused_in_one_line(kind, key, value):
    """No traceback from a model file: a value either makes a record that the market can state, or an error that names it."""
    market = smq.Market([0.1, 0.5, 0.9, 1.0], smq.Uniform(0, 1), groups={"city": ["Oslo", "Oslo", "Rome", "Rome"]})
    refused = ""
    try:
        state(market, [constraint_from_dict({"kind": kind, **GOOD[kind], key: value})])
    except InputError as error:
        refused = str(error)
    assert not refused or (key in refused and "\n" not in refused) or kind in refused


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Discrete([0.1, 0.5, 1.0], [1, 1, 2])], ids=lambda law: law.name)
@pytest.mark.parametrize("record", [smq.GroupBudget("city", "Oslo", 0), smq.ExpectedOwners("city", "Oslo", at_most=0)])
def test_a_limit_of_nothing_means_no_offer(record, law):
    groups = {"city": ["Oslo", "Oslo", "Rome", "Rome"]}
    market = smq.Market([0.1, 0.5, 0.9, 1.0], law, groups=groups)
    solution = smq.solve(market, 1.0, constraints=[record])
    assert smq.verify(solution).valid
    assert solution.acceptance[:2].tolist() == [0.0, 0.0]
    alone = smq.solve(smq.Market([0.9, 1.0], law), 1.0)
    assert solution.purchased_privacy == pytest.approx(alone.purchased_privacy, rel=1e-12)


def test_what_sells_for_nothing_is_bought_without_a_budget():
    """An atom at 0; the bound counts it too, so that buying nothing is not certified where something is free."""
    law = smq.ByOwner(
        [smq.Discrete([0, 1], [1, 3]), smq.PointMass(0.0), smq.Uniform(0, 1), smq.Discrete([1, 2], [1, 1])]
    )
    solution = smq.solve(market(law), 0.0, constraints=[smq.PriceRange(at_least=0.0)])
    counts = np.array(market(law).multiplicity)
    assert solution.acceptance.tolist() == [0.25, 1.0, 0.0, 0.0]
    assert smq.verify(solution).valid
    none = dataclasses.replace(solution, acceptance=np.zeros(4))
    assert not smq.verify(none).valid
    assert solution.purchased_privacy == pytest.approx(float(counts @ (market(law).epsilon * solution.acceptance)))


def test_a_market_that_costs_nothing():
    free = smq.Market([0.5, 1.0], smq.PointMass(0.0), groups={"city": ["Oslo", "Oslo"]})
    solution = smq.solve(free, 0.1, constraints=[smq.CommonPrice("city")])
    assert solution.acceptance.tolist() == [1.0, 1.0]
    assert smq.verify(solution).valid
