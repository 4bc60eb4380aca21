import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from strategies import markets

import smqopt as smq
from smqopt.errors import PRIVATE, InputError
from smqopt.market import checked_budget, numbers

U = smq.Uniform()


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        ([], r"shape \(n,\) with n ≥ 1"),
        (0.5, r"shape \(n,\)"),
        ([[0.5]], r"shape \(n,\)"),
        (["a"], "must hold numbers"),
        ([True], "must hold numbers"),
        ([0.5, -1e-300], "epsilon of owner 2: must be a finite number ≥ 0"),
        ([np.nan], "epsilon of owner 1"),
        ([0.5, 0.5, np.inf], "epsilon of owner 3"),
    ],
)
def test_bad_requirements(epsilon, message):
    with pytest.raises(InputError, match=message):
        smq.Market(epsilon, U)


def test_a_bad_requirement_names_the_owner():
    with pytest.raises(InputError, match=r"owner 'bo' \(row 2\)"):
        smq.Market([0.5, -1.0], U, owner_ids=["ann", "bo"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"owner_ids": ["a"]}, "must hold 2 names"),
        ({"owner_ids": ["a", "a"]}, "row 2: repeats the name of row 1"),
        ({"owner_ids": [1, "1"]}, "repeats"),
        ({"multiplicity": [1]}, r"shape \(2,\)"),
        ({"multiplicity": [1, 0]}, "row 2: must be a whole number ≥ 1"),
        ({"multiplicity": [1, 1.5]}, "row 2: must be a whole number"),
        ({"multiplicity": [1, np.nan]}, "row 2: must be a whole number"),
        ({"multiplicity": ["1", "2"]}, "must hold whole numbers"),
        ({"groups": {"city": ["Oslo"]}}, r"group 'city': must have shape \(2,\)"),
    ],
)
def test_bad_companions(arguments, message):
    with pytest.raises(InputError, match=message):
        smq.Market([0.5, 1.0], U, **arguments)


def test_bad_laws():
    with pytest.raises(InputError, match="must be a law"):
        smq.Market([0.5], "uniform")
    with pytest.raises(InputError, match="one law for each of the 2 owners"):
        smq.Market([0.5, 1.0], smq.Uniform(np.zeros(3), 1.0))


def test_a_market_is_not_changed_from_outside():
    epsilon, counts, labels = np.array([0.5, 1.0]), np.array([1, 2]), np.array(["a", "b"])
    market = smq.Market(epsilon, U, multiplicity=counts, groups={"g": labels})
    epsilon[0] = counts[0] = 7
    labels[0] = "z"
    assert market.epsilon.tolist() == [0.5, 1.0]
    assert market.multiplicity.tolist() == [1, 2]
    assert market.groups["g"].tolist() == ["a", "b"]
    for array in (market.epsilon, market.multiplicity, market.groups["g"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(TypeError):
        market.groups["h"] = labels


def test_minus_zero_is_zero():
    one, other = smq.Market([-0.0], U), smq.Market([0.0], U)
    assert math.copysign(1.0, one.epsilon[0]) == 1.0
    assert one.fingerprint == other.fingerprint


def test_counts():
    market = smq.Market([0.0, 0.5, 1.0], smq.Uniform(0, [1.0, 2.0, 3.0]), multiplicity=[5, 1, 4])
    assert (market.n, market.population) == (3, 10)
    assert market.most_that_can_be_spent == 14.0  # the owner without privacy is not counted
    assert market.owner_ids == ("1", "2", "3")
    assert smq.Market([0.0], U).most_that_can_be_spent == 0.0


@given(markets())
def test_the_most_that_can_be_spent_is_exact_and_rounded_up(market):
    counts = np.ones(market.n, dtype=int) if market.multiplicity is None else market.multiplicity
    exact = sum(
        (
            int(m) * Fraction(float(high))
            for m, high, e in zip(counts, market.high, market.epsilon, strict=True)
            if e > 0
        ),
        Fraction(0),
    )
    most = market.most_that_can_be_spent
    assert Fraction(most) >= exact
    assert Fraction(math.nextafter(most, -math.inf)) < exact or exact == 0


@given(markets(common=False))
def test_expanding_keeps_the_program(market):
    wide = market.expand()
    assert wide.n == wide.population == market.population
    assert wide.most_that_can_be_spent == pytest.approx(market.most_that_can_be_spent, rel=1e-15)
    budget = 0.4 * market.most_that_can_be_spent
    here, there = smq.solve(market, budget), smq.solve(wide, budget)
    assert there.purchased_privacy == pytest.approx(here.purchased_privacy, rel=1e-12)


def test_expanded_names_and_groups():
    market = smq.Market([0.5, 1.0], U, owner_ids=["ann", "bo"], multiplicity=[2, 1], groups={"g": ["x", "y"]})
    wide = market.expand()
    assert wide.owner_ids == ("ann#1", "ann#2", "bo#1")
    assert wide.groups["g"].tolist() == ["x", "x", "y"]
    assert wide.multiplicity is None
    assert wide.expand() is wide


def test_the_fingerprint_follows_all_that_is_said():
    base = {"epsilon": [0.5, 1.0], "valuation": U}
    variants = [
        base,
        base | {"epsilon": [1.0, 0.5]},
        base | {"epsilon": [0.5, math.nextafter(1.0, 2.0)]},
        base | {"valuation": smq.Uniform(0, 2)},
        base | {"valuation": smq.Power(1)},
        base | {"owner_ids": ["a", "b"]},
        base | {"owner_ids": ["b", "a"]},
        base | {"multiplicity": [1, 1]},
        base | {"multiplicity": [1, 2]},
        base | {"groups": {"g": ["x", "y"]}},
        base | {"groups": {"h": ["x", "y"]}},
        base | {"groups": {"g": ["y", "x"]}},
    ]
    assert len({smq.Market(**variant).fingerprint for variant in variants}) == len(variants)
    assert smq.Market(**base).fingerprint == smq.Market(**base, owner_ids=["1", "2"]).fingerprint  # the default names


def test_from_a_file_a_mapping_and_a_frame(tmp_path):
    path = tmp_path / "owners.csv"
    path.write_text("name,eps,city,count\nann,0.5,Oslo,2\nbo,1,Bergen,1\n")
    content = {"name": ["ann", "bo"], "eps": [0.5, 1.0], "city": ["Oslo", "Bergen"], "count": [2, 1]}

    class Frame:
        columns = tuple(content)

        def __getitem__(self, name):
            return content[name]

    made = [
        smq.Market.from_table(table, U, epsilon="eps", owner_id="name", groups=["city"], multiplicity="count")
        for table in (path, str(path), content, Frame())
    ]
    assert len({market.fingerprint for market in made}) == 1
    assert made[0].owner_ids == ("ann", "bo")
    assert made[0].population == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the table is empty"),
        ("eps\n", "the table is empty"),
        ("eps,eps\n1,2\n", "a column name stands twice"),
        ("epsilom\n1\n", "column 'eps': is missing"),
        ("eps\nmany\n", "column 'eps', row 1: must be a number"),
        ("eps\n1\nnan\n", "column 'eps', row 2: must be a finite number"),
        ("eps,b\n1\n", "line 2: the row must have 2 fields"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    path = tmp_path / "owners.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        smq.Market.from_table(path, U, epsilon="eps")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_private_numbers_are_not_shown():
    with pytest.raises(InputError) as caught:
        numbers(["1", "secret"], "reports", private=True)
    assert "secret" not in str(caught.value)
    assert PRIVATE in str(caught.value)


@pytest.mark.parametrize("value", [0, 0.0, 1, 2.5, np.float64(3), np.int64(4)])
def test_good_budgets(value):
    assert checked_budget(value) == float(value)


@pytest.mark.parametrize("value", [-1e-300, math.nan, math.inf, "1000", None, True, [1.0]])
def test_bad_budgets(value):
    with pytest.raises(InputError, match="budget"):
        checked_budget(value)
