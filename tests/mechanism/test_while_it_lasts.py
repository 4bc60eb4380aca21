"""PostedOffers one after the other: the budget never breaks, nobody loses, and truth is dominant."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import smqopt as smq
from smqopt.files import read_csv, write_csv
from smqopt.mechanism import Outcome
from smqopt.mechanism._offers import PostedOffers
from smqopt.mechanism.payments._while_it_lasts import offer_order, spend_in_order

RULE = "while-it-lasts"


def certified(n, budget, seed=0, law=None):
    epsilon = np.random.default_rng(seed).random(n)
    return smq.verify(smq.solve(smq.Market(epsilon, law or smq.Uniform(0, 1)), budget), prove=False)


def exact_total(outcome):
    return sum(map(Fraction, outcome.payments.tolist()), Fraction(0))


@pytest.mark.parametrize("order", ["value", "random"])
@pytest.mark.parametrize("reports", ["truthful", "all sell", "nobody"])
def test_no_total_is_above_the_budget_and_nobody_loses(order, reports):
    """Sixty purchases each: exact sums, the payment of a seller is her threshold, and skipping is right at each step."""
    rng = np.random.default_rng(5)
    for n, share in itertools.product((1, 2, 7, 60), (0.01, 0.1, 0.3)):
        certificate = certified(n, share * n, seed=n)
        theta = certificate.solution.thresholds
        for _ in range(5):
            said = {"truthful": rng.random(n), "all sell": np.zeros(n), "nobody": np.full(n, 2.0)}[reports]
            outcome = smq.procure(certificate, said, RULE, rng, order=order)
            assert exact_total(outcome) <= Fraction(share * n)
            assert np.all(outcome.payments[outcome.selected] == theta[outcome.selected])
            assert np.all(outcome.payments[~outcome.selected] == 0)
            assert np.all(outcome.payments - np.where(outcome.selected, said, 0.0) >= 0)
            left = Fraction(share * n)
            for i in np.argsort(outcome.step).tolist():
                assert outcome.skipped[i] == (certificate.solution.acceptance[i] > 0 and Fraction(theta[i]) > left)
                if outcome.selected[i]:
                    left -= Fraction(theta[i])


def test_a_price_that_is_all_that_is_left_is_paid_and_one_ulp_more_is_not():
    for factor, skipped in ((1.0, False), (math.nextafter(1.0, 2.0), True)):
        prices = np.array([0.1, 0.2 * factor])
        left = float(Fraction(0.1) + Fraction(0.2)) if factor == 1.0 else 0.3
        offers = PostedOffers(("a", "b"), np.ones(2), prices, np.ones(2, dtype=bool), np.ones(2), prices)
        budget = left if Fraction(left) >= Fraction(0.1) + Fraction(0.2) or factor > 1 else math.nextafter(left, 1.0)
        found = spend_in_order(offers, np.ones(2, dtype=bool), np.arange(2), budget, np.empty(0))
        assert found.skipped.tolist() == [False, skipped]


def test_truth_is_dominant_against_every_report_of_the_others():
    """Three owners, a grid of reports: no owner does better by any other report, and none below 0."""
    certificate = certified(3, 0.4, seed=3)
    grid = np.linspace(0.0, 1.0, 9)
    for reports in itertools.product(grid, repeat=3):
        truthful = smq.procure(certificate, reports, RULE)
        for owner in range(3):
            theta = reports[owner]
            utility = truthful.payments[owner] - theta * truthful.selected[owner]
            assert utility >= 0
            for other in (0.0, 0.3, 0.6, 1.0):
                said = list(reports)
                said[owner] = other
                found = smq.procure(certificate, said, RULE)
                assert found.step.tolist() == truthful.step.tolist()
                assert found.payments[owner] - theta * found.selected[owner] <= utility


def test_the_order_by_value_is_public_and_its_ties_are_broken_alike():
    certificate = smq.verify(smq.solve(smq.Market(np.full(50, 0.5), smq.Uniform(0, 1)), 5.0), prove=False)
    steps = [smq.procure(certificate, np.full(50, r), RULE).step.tolist() for r in (0.0, 0.05, 0.9)]
    assert steps[0] == steps[1] == steps[2]
    assert steps[0] != list(range(1, 51))
    epsilon, thresholds = np.array([0.2, 1.0, 0.5, 0.0]), np.array([0.5, 0.5, 0.1, 0.2])
    offers = PostedOffers(tuple("abcd"), epsilon, thresholds, np.ones(4, dtype=bool), np.ones(4), thresholds)
    assert offer_order(offers, "value", 1, np.random.default_rng(0)).tolist() == [2, 1, 0, 3]


@pytest.mark.parametrize(("n", "share"), [(100, 0.956), (1000, 0.986), (10_000, 0.996)])
def test_random_order_buys_nearly_the_optimum(n, share):
    """U(0, 1), B = .2 n: within four standard errors and half a digit of what the page says."""
    certificate = certified(n, 0.2 * n, seed=1)
    epsilon, rng = certificate.solution.market.epsilon, np.random.default_rng(2)
    found = []
    for _ in range(400 if n < 10_000 else 60):
        outcome = smq.procure(certificate, rng.random(n), RULE, rng, order="random")
        found.append(epsilon[outcome.selected].sum() / certificate.solution.purchased_privacy)
    error = np.std(found, ddof=1) / math.sqrt(len(found))
    assert abs(np.mean(found) - share) <= 4 * error + 1e-3 + (0.004 if n == 100 else 0.0)


@pytest.mark.parametrize(("k", "served"), [(2, 0.516), (3, 0.674), (4, 0.758)])
def test_in_random_order_a_dear_owner_is_served_less_than_the_formula_says(k, served):
    """Price B/k, amid dust that costs B in expectation: 1 − 1/√(2πk) is for the order by value, and false here."""
    n, budget = 4000, 1.0
    dust = budget * (1 - 0.05 / k) / (n * 0.5)
    rng, reached, runs = np.random.default_rng(k), 0, 1500
    for _ in range(runs):
        willing = np.append(rng.random(n) < 0.5, True)
        order = rng.permutation(n + 1)
        # Her turn comes after a random number of others: what is left then decides.
        place = int(np.flatnonzero(order == n)[0])
        reached += np.count_nonzero(willing[order[:place]]) * dust <= budget - budget / k
    share = reached / runs
    error = math.sqrt(share * (1 - share) / runs)
    formula = 1 - 1 / math.sqrt(2 * math.pi * k)
    assert share + 4 * error < formula
    assert abs(share - served) <= 4 * error + 0.02


def test_batches_go_on_with_what_is_left(tmp_path):
    market = smq.Market(np.ones(8), smq.Uniform(0, 1), owner_ids=list("abcdefgh"))
    certificate = smq.verify(smq.solve(market, 1.2))
    first = smq.procure(certificate, [0.0, 0.1], RULE, owner_ids=["c", "a"])
    second = smq.procure(certificate, np.zeros(6), RULE, owner_ids=list("bdefgh"), after=first)
    both = smq.join_outcomes([first, second])
    assert exact_total(both) <= Fraction(1.2)
    assert both.skipped.any()
    both.save(tmp_path / "outcome.csv")
    again = Outcome.load(tmp_path / "outcome.csv", certificate)
    assert (again.step.tolist(), again.payments.tolist()) == (both.step.tolist(), both.payments.tolist())
    alone = smq.procure(certificate, np.zeros(6), RULE, owner_ids=list("bdefgh"))
    with pytest.raises(smq.InputError, match="one after the other"):
        smq.join_outcomes([first, alone])
    with pytest.raises(smq.InputError, match="holds an owner of this batch"):
        smq.procure(certificate, [0.0], RULE, owner_ids=["a"], after=first)
    with pytest.raises(smq.InputError, match="of the rule 'while-it-lasts'"):
        smq.procure(certificate, [0.0], RULE, owner_ids=["b"], after=smq.procure(certificate, [0.0], owner_ids=["a"]))


def test_a_forged_log_is_refused(tmp_path):

    market = smq.Market(np.ones(6), smq.Uniform(0, 1), owner_ids=list("abcdef"))
    certificate = smq.verify(smq.solve(market, 0.9))
    outcome = smq.procure(certificate, np.zeros(6), RULE)
    path = tmp_path / "outcome.csv"
    outcome.save(path)
    assert Outcome.load(path, certificate).skipped.tolist() == outcome.skipped.tolist()
    good = read_csv(path)
    theta = good["payment"][int(np.argmax(outcome.selected))]
    for name, change in (
        ("step", lambda rows: ["1"] * len(rows)),
        ("step", lambda rows: [str(float(row) + 1) for row in rows]),
        ("skipped", lambda rows: ["no"] * len(rows)),
        ("skipped", lambda rows: ["yes" if row == "no" else "no" for row in rows]),
        ("skipped", lambda rows: ["perhaps"] * len(rows)),
        ("selected", lambda rows: ["yes"] * len(rows)),
    ):
        table = {key: list(rows) for key, rows in good.items()}
        table[name] = change(table[name])
        if name == "selected":
            table["payment"] = [theta] * len(table["payment"])
        write_csv(path, tuple(table), zip(*table.values(), strict=True))
        with pytest.raises(smq.InputError):
            Outcome.load(path, certificate)
    for name in ("step", "skipped"):
        write_csv(path, [key for key in good if key != name],
                  zip(*(rows for key, rows in good.items() if key != name), strict=True))  # fmt: skip
        with pytest.raises(smq.InputError, match="is missing"):
            Outcome.load(path, certificate)


def test_bad_orders_and_false_weights_are_refused():
    certificate = certified(4, 0.8)
    with pytest.raises(smq.InputError, match="is not known"):
        smq.procure(certificate, np.zeros(4), RULE, order="by report")
    for arguments in ({"order": "random"}, {"after": smq.procure(certificate, np.zeros(4), RULE)}):
        with pytest.raises(smq.InputError, match="offers in no order"):
            smq.procure(certificate, np.zeros(4), **arguments)
    outcome = smq.procure(certificate, np.zeros(4), RULE)
    entries = np.ones(outcome.bought)
    with pytest.raises(smq.InputError, match="passed over sold less often"):
        smq.answer(smq.Count(weighting="inverse-probability"), entries, outcome, np.random.default_rng(1))
    assert smq.answer(smq.Count(), entries, outcome, np.random.default_rng(1)).bought == outcome.bought


def test_the_money_may_be_another_amount_than_the_budget(tmp_path):
    market = smq.Market(np.ones(8), smq.Uniform(0, 1), owner_ids=list("abcdefgh"))
    certificate = smq.verify(smq.solve(market, 1.2))
    first = smq.procure(certificate, [0.0] * 3, RULE, owner_ids=list("cad"), money=2.0)
    second = smq.procure(certificate, np.zeros(5), RULE, owner_ids=list("befgh"), after=first)
    both = smq.join_outcomes([first, second])
    assert Fraction(1.2) < exact_total(both) <= Fraction(2.0)
    assert both.money == second.money == 2.0
    both.save(tmp_path / "outcome.csv")
    assert Outcome.load(tmp_path / "outcome.csv", certificate).money == 2.0
    table = {key: list(rows) for key, rows in read_csv(tmp_path / "outcome.csv").items()}
    for change in (["3.0"] * 8, ["2.0"] * 7 + ["2.5"], ["-1"] * 8, ["nan"] * 8):
        write_csv(tmp_path / "forged.csv", tuple(table), zip(*(table | {"money": change}).values(), strict=True))
        with pytest.raises(smq.InputError):
            Outcome.load(tmp_path / "forged.csv", certificate)
    with pytest.raises(smq.InputError, match="that of the earlier batches"):
        smq.procure(certificate, [0.0], RULE, owner_ids=["b"], after=first, money=3.0)
    with pytest.raises(smq.InputError, match="out of the same money"):
        smq.join_outcomes([first, smq.procure(certificate, [0.0], RULE, owner_ids=["b"], money=3.0)])
    for bad in (-1.0, math.nan, math.inf, "2"):
        with pytest.raises(smq.InputError, match="money"):
            smq.procure(certificate, np.zeros(8), RULE, money=bad)
    with pytest.raises(smq.InputError, match="offers in no order"):
        smq.procure(certificate, np.zeros(8), money=2.0)
    nothing = smq.procure(certificate, np.zeros(8), RULE, money=0.0)
    assert nothing.bought == 0
    nothing.save(tmp_path / "nothing.csv")
    assert Outcome.load(tmp_path / "nothing.csv", certificate).money == 0.0


def test_batches_are_joined_in_the_order_in_which_they_were_bought():
    market = smq.Market(np.ones(8), smq.Uniform(0, 1), owner_ids=list("abcdefgh"))
    certificate = smq.verify(smq.solve(market, 1.2))
    first = smq.procure(certificate, np.zeros(4), RULE, owner_ids=list("abcd"))
    second = smq.procure(certificate, np.zeros(4), RULE, owner_ids=list("efgh"), after=first)
    assert second.skipped.any()
    assert smq.join_outcomes([first, second]).bought == first.bought + second.bought
    with pytest.raises(smq.InputError, match="in this order"):
        smq.join_outcomes([second, first])
