"""Thresholds from elsewhere: how far from optimal, and whether they keep the budget."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import markets, shares

import smqopt as smq
from smqopt.verification import upper_bound
from smqopt.verification.certificate._best_price import best_price

MARKET = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy"])


class Frame:
    """As much of a data frame as is asked for."""

    def __init__(self, data):
        self.columns = list(data)
        self._data = data

    def __getitem__(self, name):
        return np.array(self._data[name])


def checks(certificate):
    return {check.name: check for check in certificate.checks}


@settings(max_examples=15)
@given(markets(common=True), shares)
def test_optimal_thresholds_from_elsewhere_are_certified(market, share):
    solved = smq.solve(market, share * market.most_that_can_be_spent)
    given_back = smq.Solution.from_thresholds(market, solved.budget, np.where(solved.offered, solved.thresholds, -0.0))
    certificate = smq.verify(given_back)
    assert certificate.valid, certificate.reasons
    assert certificate.solution.thresholds.tolist() == solved.thresholds.tolist()
    assert certificate.solution.acceptance.tolist() == solved.acceptance.tolist()
    assert checks(certificate)["budget"].passed
    reports = np.broadcast_to(market.expand().low, (market.population,))
    smq.procure(certificate, reports)


@settings(max_examples=25)
@given(markets(most=6), st.floats(0.01, 0.99))
def test_the_best_price_gives_the_least_bound(market, share):
    budget = share * market.most_that_can_be_spent
    price = best_price(market, budget)
    least = upper_bound(market, budget, price)
    optimum = smq.solve(market, budget)
    assert least <= upper_bound(market, budget, optimum.budget_price) * (1 + 1e-12)
    for factor in (0.5, 0.99, 1.01, 2.0):
        assert upper_bound(market, budget, factor * price) >= least * (1 - 1e-14)


@pytest.mark.parametrize("budget", [1e-290, 1e-9, 1e9])
def test_the_best_price_at_extreme_units(budget):
    market = smq.Market([1e-6, 1e6], smq.Uniform(0, budget))
    assert upper_bound(market, budget, best_price(market, budget)) == pytest.approx(
        smq.solve(market, budget).purchased_privacy, rel=1e-9
    )


@pytest.mark.parametrize("exponent", [1.0, 2.3, 7.7])
@pytest.mark.parametrize("below", [0, 1, 2, 8])
def test_the_best_price_at_a_budget_that_is_slack_to_rounding(exponent, below):
    market = smq.Market([0.25, 1.0, 3.0], smq.Power(exponent, low=0.3, high=1.1), multiplicity=[3, 1, 5])
    budget = market.most_that_can_be_spent
    for _ in range(below):
        budget = math.nextafter(budget, 0.0)
    everything = market.epsilon @ np.array([3, 1, 5])
    assert upper_bound(market, budget, best_price(market, budget)) == pytest.approx(everything, rel=1e-12)


def test_what_falls_short_is_measured():
    """For the uniform law the optimum is θ_i = ε_i/2λ, so that V = √(B Σ ε²) while nobody is sure to sell."""
    certificate = smq.verify(smq.Solution.from_thresholds(MARKET, 0.5, [0.3, 0.3, 0.3]))
    optimum = math.sqrt(0.5 * 1.29)
    assert not certificate.valid
    assert [reason.split(":")[0] for reason in certificate.reasons] == ["gap"]
    assert certificate.upper_bound == pytest.approx(optimum, rel=1e-12)
    assert certificate.lower_bound == pytest.approx(0.3 * 1.7, rel=1e-12)
    assert certificate.gap == pytest.approx(1 - 0.51 / optimum, rel=1e-12)
    assert checks(certificate)["budget"].passed is True
    best = smq.solve(MARKET, 0.5).thresholds
    assert checks(certificate)["threshold"].value == pytest.approx(np.max(np.abs(best - 0.3)), abs=1e-9)
    assert smq.verify(certificate.solution, gap_tolerance=0.5).valid  # accepted by name, and then bought with
    assert smq.verify(smq.Solution.from_thresholds(MARKET, 0.5, [0.3, 0.3, 0.3]), gap_tolerance=0.5).valid


def test_what_overspends_is_measured():
    certificate = smq.verify(smq.Solution.from_thresholds(MARKET, 0.5, [0.5, 0.5, 0.5]))
    assert not certificate.valid
    over = checks(certificate)["budget"]
    assert over.passed is False
    assert over.value == pytest.approx(0.25)
    with pytest.raises(smq.UncertifiedError, match="budget"):
        smq.procure(certificate, [0.0, 0.0, 0.0])


def test_below_the_support_is_no_offer_and_above_it_is_refused():
    market = smq.Market([1.0, 1.0], smq.Uniform(1, 2))
    solution = smq.Solution.from_thresholds(market, 1.0, [0.5, 1.5])
    assert solution.thresholds.tolist() == [1.0, 1.5]
    assert solution.acceptance.tolist() == [0.0, 0.5]
    above = smq.verify(smq.Solution.from_thresholds(market, 9.0, [2.0, 2.5]))
    assert not above.valid
    assert checks(above)["support"].passed is False
    atom = smq.Market([1.0], smq.Discrete([1.0, 2.0], [1, 1]))
    assert smq.Solution.from_thresholds(atom, 1.0, [1.0]).acceptance.tolist() == [0.5]
    assert smq.Solution.from_thresholds(atom, 1.0, [np.nextafter(1.0, 0)]).acceptance.tolist() == [0.0]


def test_edges():
    zero = smq.verify(smq.Solution.from_thresholds(MARKET, 0.0, [0.0, 0.0, 0.0]))
    assert zero.valid, zero.reasons
    slack = smq.verify(smq.Solution.from_thresholds(MARKET, 3.0, [1.0, 1.0, 1.0]))
    assert slack.valid, slack.reasons
    assert not smq.verify(smq.Solution.from_thresholds(MARKET, 3.0, [1.0, 1.0, 0.9])).valid
    irregular = smq.Market([1.0], smq.PiecewiseUniform([0, 1, 2], [1, 4]))
    posted = smq.verify(smq.Solution.from_thresholds(irregular, 0.2, [1.0]))
    assert not posted.valid  # lotteries do better (E17), and the bound is that of the hull
    assert posted.privacy_forgone == pytest.approx(0.2083333 - 0.2, abs=1e-6)


def test_a_price_that_is_given_is_used_and_not_believed():
    best = smq.solve(MARKET, 0.5)
    good = smq.Solution.from_thresholds(MARKET, 0.5, best.thresholds, budget_price=best.budget_price)
    assert smq.verify(good).valid
    bad = smq.Solution.from_thresholds(MARKET, 0.5, best.thresholds, budget_price=2 * best.budget_price)
    certificate = smq.verify(bad)
    assert not certificate.valid
    assert certificate.upper_bound > best.purchased_privacy
    for price in (-1.0, "1", [1.0]):
        with pytest.raises(smq.InputError, match="budget_price"):
            smq.Solution.from_thresholds(MARKET, 0.5, best.thresholds, budget_price=price)


def test_no_other_solution_gets_a_price_for_nothing():
    """Only what says that it came without a price is given one; a solver's NaN stays a fault."""
    broken = dataclasses.replace(smq.solve(MARKET, 0.5), budget_price=math.nan)
    assert not smq.verify(broken).valid


@pytest.mark.parametrize("ids", ["owner_id", "owner"])
def test_tables_are_matched_by_owner(tmp_path, ids):
    path = tmp_path / "elsewhere.csv"
    path.write_text(f"{ids},note,threshold\ncy,x,0.3\nann,y,0.1\nbo,z,0.2\n", encoding="utf-8")
    columns = {ids: ["cy", "ann", "bo"], "threshold": [0.3, 0.1, 0.2]}
    for table in (path, str(path), columns, Frame(columns)):
        assert smq.Solution.from_thresholds(MARKET, 0.5, table).thresholds.tolist() == [0.1, 0.2, 0.3]


def test_our_own_file_can_be_read_back(tmp_path):
    solution = smq.solve(MARKET, 0.5)
    solution.save(tmp_path)
    assert smq.verify(smq.Solution.from_thresholds(MARKET, 0.5, tmp_path / "thresholds.csv")).valid


def test_what_was_verified_travels_in_files(tmp_path):
    best = smq.solve(MARKET, 0.5)
    certificate = smq.verify(smq.Solution.from_thresholds(MARKET, 0.5, best.thresholds))
    certificate.solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    again = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert again.valid
    assert again.solution.solver == "given"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("owner_id,threshold\nann,0.1\nbo,0.2\n", "column 'owner_id': has no row for owner 'cy'"),
        ("owner_id,threshold\nann,0.1\nbo,0.2\ncy,0.3\nann,0.1\n", "row 4: repeats an owner (found 'ann')"),
        ("owner_id,threshold\nann,0.1\nbo,0.2\ncy,0.3\ndi,0.3\n", "row 4: is no owner of the market (found 'di')"),
        (
            "owner_id,threshold\nann,0.1\nbo,much\ncy,0.3\n",
            "column 'threshold', row 2: must be a number (found 'much')",
        ),
        ("owner_id,threshold\nann,0.1\nbo,\ncy,0.3\n", "column 'threshold', row 2: must be a number (found '')"),
        ("owner_id,threshold\nann,0.1\nbo,nan\ncy,0.3\n", "column 'threshold', row 2: must be a finite number"),
        (
            "owner_id,threshold\nann,0.1\nbo,-0.5\ncy,0.3\n",
            "threshold of owner 'bo': must be a finite number ≥ 0 (found -0.5)",
        ),
        ("owner_id,treshold\nann,0.1\nbo,0.2\ncy,0.3\n", "column 'threshold': is missing; did you mean 'treshold'?"),
        ("name,threshold\nann,0.1\nbo,0.2\ncy,0.3\n", "column 'owner_id': is missing"),
        ("owner_id,threshold\nann,0.1,3\nbo,0.2\ncy,0.3\n", "the row must have 2 fields"),
        ("", "the table is empty"),
    ],
)
def test_a_bad_table_gets_one_clear_error(tmp_path, text, message):
    path = tmp_path / "elsewhere.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(smq.InputError) as refused:
        smq.Solution.from_thresholds(MARKET, 0.5, path)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ([0.1, 0.2], r"must have shape \(3,\)"),
        ([[0.1, 0.2, 0.3]], r"must have shape \(3,\)"),
        (["0.1", "0.2", "0.3"], "must hold numbers"),
        ([True, True, True], "must hold numbers"),
        ([0.1, math.nan, 0.3], "owner 'bo'"),
        ([0.1, math.inf, 0.3], "owner 'bo'"),
        (0.5, r"must have shape \(3,\)"),
        ("nowhere.csv", "cannot be read"),
    ],
)
def test_bad_arrays_get_one_clear_error(thresholds, message):
    with pytest.raises(smq.InputError, match=message):
        smq.Solution.from_thresholds(MARKET, 0.5, thresholds)
    with pytest.raises(smq.InputError, match="budget"):
        smq.Solution.from_thresholds(MARKET, -0.5, [0.1, 0.2, 0.3])
