import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from strategies import markets, shares

import smqopt as smq
from smqopt.errors import InputError


def assert_same(one, other):
    for field in dataclasses.fields(smq.Solution):
        if field.name in {"market", "details", "lottery"}:
            continue
        here, there = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(here, there) if isinstance(here, np.ndarray) else here == there, field.name
    assert one.market.fingerprint == other.market.fingerprint == one.market_fingerprint
    assert one.lottery is None
    assert other.lottery is None


@given(market=markets(), share=shares)
def test_what_is_saved_is_loaded_bit_for_bit(tmp_path_factory, market, share):
    folder = tmp_path_factory.mktemp("solution")
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    solution.save(folder)
    assert_same(solution, smq.Solution.load(folder))


def saved(folder, **changes):
    market = smq.Market(
        [0.2, 0.5, 1.0],
        smq.ByOwner([smq.Uniform(), smq.Power(2), smq.TruncatedExponential(2)]),
        owner_ids=["ann", "bo, the second", 'cy "quoted"'],
        multiplicity=[1, 2, 3],
        groups={"city": ["Oslo", "Ås", "Oslo"], "age": [30, 40, 50]},
    )
    solution = smq.solve(market, 1.0)
    solution.save(folder)
    if changes:
        content = json.loads((folder / "solution.json").read_text())
        content.update(changes)
        (folder / "solution.json").write_text(
            json.dumps({k: v for k, v in content.items() if v is not ...}, default=str)
        )
    return solution


def test_names_groups_and_counts_survive(tmp_path):
    solution = saved(tmp_path)
    loaded = smq.Solution.load(tmp_path)
    assert_same(solution, loaded)
    assert loaded.market.owner_ids == solution.market.owner_ids
    assert loaded.market.multiplicity.tolist() == [1, 2, 3]
    assert loaded.market.groups["city"].tolist() == ["Oslo", "Ås", "Oslo"]


def test_an_extended_programs_solution_survives(tmp_path):
    program = smq.Program(smq.Market([0.2, 1.0], smq.Uniform()), 0.5)
    program.constraints += [program.acceptance[0] >= 0.3]
    solution = smq.solve(program)
    solution.save(tmp_path)
    assert_same(solution, smq.Solution.load(tmp_path))
    assert smq.Solution.load(tmp_path).constraints == ("0.3 <= acceptance[0]",)


def test_an_infinite_price_is_written_as_inf(tmp_path):
    smq.solve(smq.Market([0.5], smq.Uniform()), 0.0).save(tmp_path)
    content = json.loads((tmp_path / "solution.json").read_text())
    assert content["budget_price"] == "inf"
    assert smq.Solution.load(tmp_path).budget_price == np.inf


def test_an_owner_without_an_offer_is_marked(tmp_path):
    smq.solve(smq.Market([0.1, 1.0], smq.Uniform(1, 2)), 0.1).save(tmp_path)
    rows = (tmp_path / "thresholds.csv").read_text().splitlines()
    assert rows[0] == "owner,epsilon,threshold,acceptance,spend,offer"
    assert rows[1] == "1,0.1,1.0,0.0,0.0,no"
    assert rows[2].endswith(",yes")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "smqopt solution 0"}, "key 'format'"),
        ({"format": ...}, "key 'format'"),
        ({"budget": ...}, "key 'budget': is missing"),
        ({"budget": "1"}, "key 'budget': must be a number"),
        ({"budget": -1}, "key 'budget'"),
        ({"budget_price": "many"}, "key 'budget_price'"),
        ({"budget_price": True}, "key 'budget_price'"),
        ({"status": "BOUND"}, "key 'status': is unknown"),
        ({"status": 1}, "key 'status'"),
        ({"constraints": "none"}, "key 'constraints'"),
        ({"claims_response": ...}, "key 'claims_response': must be true or false"),
        ({"claims_response": 1}, "key 'claims_response': must be true or false"),
        ({"valuation": {"law": "unifrom"}}, "did you mean 'uniform'"),
    ],
)
def test_bad_records(tmp_path, changes, message):
    saved(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        smq.Solution.load(tmp_path)


def test_missing_files_columns_and_bad_rows(tmp_path):
    with pytest.raises(InputError, match=r"solution\.json"):
        smq.Solution.load(tmp_path)
    smq.solve(smq.Market([0.2, 1.0], smq.Uniform()), 0.5).save(tmp_path)
    path = tmp_path / "thresholds.csv"
    good = path.read_text()
    path.write_text(good.replace("threshold", "treshold"))
    with pytest.raises(InputError, match="column 'threshold': is missing; did you mean 'treshold'"):
        smq.Solution.load(tmp_path)
    path.write_text(good.replace("1,0.2,", "1,-0.2,"))
    with pytest.raises(InputError, match="epsilon of owner 1"):
        smq.Solution.load(tmp_path)
    path.unlink()
    with pytest.raises(InputError, match=r"thresholds\.csv"):
        smq.Solution.load(tmp_path)


def test_multipliers_by_hand():
    """Uniform on [1, 2] has J(θ) = 2θ − 1, so J is 1 at the low end and 3 at the high end."""
    market = smq.Market([0.1, 1.0, 10.0], smq.Uniform(1, 2))
    solution = smq.Solution(
        market=market,
        budget=4.0,
        thresholds=np.array([1.0, 1.5, 2.0]),
        acceptance=np.array([0.0, 0.5, 1.0]),
        budget_price=0.5,
        status=smq.Status.BINDING,
        solver="dual",
        market_fingerprint=market.fingerprint,
    )
    assert solution.lower_multiplier == pytest.approx([0.4, 0, 0])  # λJ − ε = 0.5 − 0.1
    assert solution.upper_multiplier == pytest.approx([0, 0, 8.5])  # ε − λJ = 10 − 1.5
    assert solution.spend == pytest.approx([0.0, 0.75, 2.0])
    assert solution.total_spend == pytest.approx(2.75)
    assert solution.purchased_privacy == pytest.approx(10.5)
    assert solution.offered.tolist() == [False, True, True]
    assert solution.lottery is None


@given(markets(), shares)
def test_multipliers_close_the_optimality_condition(market, share):
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    assert np.all(solution.lower_multiplier >= 0)
    assert np.all(solution.upper_multiplier >= 0)
    if solution.status is smq.Status.BINDING:
        cost = market.valuation.virtual_cost(solution.thresholds)
        left = market.epsilon - solution.budget_price * cost + solution.lower_multiplier - solution.upper_multiplier
        assert np.max(np.abs(left)) <= 1e-8 * np.max(market.epsilon)


def test_a_solution_is_frozen():
    solution = smq.solve(smq.Market([0.5], smq.Uniform()), 0.1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.budget = 1.0
    with pytest.raises(ValueError, match="read-only"):
        solution.thresholds[0] = 1.0
