"""Every entry stands; the printed statement, and other wrong ones, put in the place of the corrected one are caught."""

import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from errata_page import TABLES
from marks import fill

from smqopt.errors import DataMissingError
from smqopt.market import Market
from smqopt.paper.errata._row_counts import Counts, count_rows
from smqopt.paper.errata._table import ERRATA, FACTS
from smqopt.solvers import solve

ENTRIES = [
    pytest.param(entry, id=entry.key, marks=[pytest.mark.realdata] if entry.key == "E18" else [])
    for entry in (*ERRATA, *FACTS)
]
BY_KEY = {entry.key: entry for entry in (*ERRATA, *FACTS)}
THEORY = Path(__file__).parents[2] / "docs" / "theory.md"


def without_rent(epsilon, law, theta, price):
    return epsilon - price * theta


def always(value):
    return lambda *_: value


def doubled(rule):
    return lambda *arguments: 2 * rule(*arguments)


def shifted_median(entries, epsilon):
    costs = BY_KEY["F5"].held.rule(entries, epsilon)
    return [*costs[1:], costs[0]]


def mean_of_the_middle(entries):
    ordered = sorted(entries)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def system(**changes):
    return replace(BY_KEY["E2"].held.rule, **changes)


def one_sided(entries, epsilon, t):
    return BY_KEY["F7"].held.rule(entries, epsilon, t) / 2


def dearest_first(entries, epsilon, t):
    order = sorted(epsilon, reverse=True)
    return 2 * sum(math.exp(-sum(order[:s]) / 2) for s in range(t, len(order) + 1))


WRONG = {
    "E1": {"no condition": always(True), "a condition that no law meets": always(False)},
    "E2": {
        "the signs alone mended": replace(BY_KEY["E2"].refuted.rule, multipliers=BY_KEY["E2"].held.rule.multipliers),
        "one sign": system(multipliers=-BY_KEY["E2"].held.rule.slack_of_mu),
        "the pairs swapped": replace(BY_KEY["E2"].held.rule, slack_of_mu=BY_KEY["E2"].held.rule.slack_of_gamma),
        "the budget twice": system(budgets=2),
    },
    "E3": {"at least": lambda spend, budget: spend >= budget, "no budget": always(True)},
    "E4": {
        "the sign of ρ": lambda joint, epsilon: replace(joint, correlation=-joint.correlation).given(epsilon),
        "half of ρ": lambda joint, epsilon: replace(joint, correlation=joint.correlation / 2).given(epsilon),
        "the order of owners": lambda joint, epsilon: joint.given(epsilon[::-1]),
    },
    "E5": {"all": always(1.0), "one share for every ρ": always(0.0725)},
    "E6": {
        "one owner too many": lambda k, v, n, budget: k < n and (k - 1) * v <= budget * (n - k),
        "the price of one": lambda k, v, n, budget: k < n and v <= budget * (n - k),
    },
    "E7": {"half": lambda left: left / 2, "the root": math.sqrt},
    "E8": {"one more": lambda q: Fraction(len(q), sum(q) + 1), "unscaled": always(Fraction(1))},
    "E9": {"one end only": (-math.inf, 1.0), "the other end only": (0.0, math.inf)},
    "E10": {"one half itself": lambda delta: delta >= Fraction(1, 2), "later": lambda delta: delta > Fraction(3, 5)},
    "E11": {
        "no payment below 0": lambda i, _, payments: [payments((False, True, True))[i]],
        "utility of selling always": lambda i, theta, payments: [payments((True, True, True))[i] - theta],
    },
    "E12": {"the mean of the middle two": mean_of_the_middle, "the upper": lambda d: sorted(d)[len(d) // 2]},
    "E13": {"the top alone": (1.0,), "a little less": (0.1, 0.5, 0.99)},
    "E14": {
        "the unweighted mean": lambda markets: sum(error for _, error in markets) / len(markets),
        "the mean of the roots": lambda markets: sum(p * math.sqrt(error) for p, error in markets) ** 2,
    },
    "E15": {"without the information rent": without_rent, "nothing": lambda epsilon, *_: 0 * epsilon},
    "E16": {"all but the smallest": lambda w: w >= 1e-3, "none": always(False)},
    "E17": {
        "without lotteries": lambda law, budget: solve(Market([1.0], law), budget, lotteries=False).purchased_privacy,
        "a lottery over one price": lambda law, budget: min(1.0, budget / float(law.high)),
        "no answer": always(math.nan),
    },
    "E19": {
        "the range of the sample": lambda d: max(d) - min(d),
        "half the public range": always(1.5),
        "none": always(0),
    },
    "E20": {
        "ε⁰ itself": lambda case: [case.drawn] if len(case.weights) > 1 else [],
        "nothing": always([]),
        "the share of all": lambda case: [tuple(w / sum(case.weights) for w in case.weights)],
    },
    "F1": {
        "F f′/f": lambda F, f, slope: 2 - F * slope / f,
        "a seller's sign": lambda F, f, slope: 2 + F * slope / f**2,
        "the rent alone": lambda F, f, slope: 1 - F * slope / f**2,
    },
    "F3": {"b > 1": lambda *ab: ab[1] > 1, "by a": lambda *ab: ab[0] >= 1, "b ≥ ½": lambda *ab: ab[1] >= 0.5},
    "F4": {
        "twice": doubled(BY_KEY["F4"].held.rule),
        "none": always(Fraction(0)),
        "the distance": lambda distance, *_: distance,
    },
    "F5": {
        "another value": shifted_median,
        "twice": lambda d, epsilon: [2 * c for c in BY_KEY["F5"].held.rule(d, epsilon)],
    },
    "F6": {"nine tenths": lambda epsilon: 0.9 * epsilon, "twice": lambda epsilon: 2 * epsilon},
    "F7": {"one side": one_sided, "the largest ε": dearest_first},
    "F8": {
        "all of ε": lambda _w, epsilon, _t: epsilon,
        "in proportion": lambda w, epsilon, t: (w * t).clip(0, epsilon),
    },
    "F9": {"a third": lambda mu: 1 / (3 * mu), "none": always(Fraction(100))},
    "F10": {"unweighted": lambda entry: BY_KEY["F10"].refuted.rule(entry) / 2},
    "F11": {
        "B, less one price in the share": lambda k: (k, BY_KEY["F11"].held.rule(k)[1]),
        "all": lambda k: (k - 1, 1.0),
    },
}
"""Corrections that are wrong, by entry. E18 has its own test; F2 knows two rules only."""


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_refuted_statement_fails_and_the_held_one_holds(entry):
    evidence = entry.check()
    assert not evidence.refuted.holds, evidence.refuted.detail
    assert evidence.held.holds, evidence.held.detail
    assert evidence.stands
    assert "\n" not in evidence.refuted.detail + evidence.held.detail


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_refuted_statement_in_place_of_the_held_one_is_caught(entry):
    evidence = replace(entry, held=replace(entry.held, rule=entry.refuted.rule)).check()
    assert not evidence.held.holds
    assert not evidence.stands


@pytest.mark.parametrize(
    ("key", "name"), [(key, name) for key, rules in WRONG.items() for name in rules], ids=lambda part: part
)
def test_other_wrong_corrections_are_caught(key, name):
    finding = BY_KEY[key].trial(WRONG[key][name])
    assert not finding.holds, finding.detail


def test_the_rows_are_complete_and_in_order():
    assert [entry.key for entry in ERRATA] == [f"E{number}" for number in range(1, 21)]
    assert [entry.key for entry in FACTS] == [f"F{number}" for number in range(1, len(FACTS) + 1)]
    for entry in BY_KEY.values():
        assert entry.refuted.words != entry.held.words
        assert entry.where


def test_the_document_shows_the_entries():
    text = THEORY.read_text(encoding="utf-8")
    assert fill(text, TABLES) == text, "run python docs/generate/errata_page.py"


def test_row_counts_say_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.delenv("SMQOPT_DATA", raising=False)
    with pytest.raises(DataMissingError, match="SMQOPT_DATA"):
        BY_KEY["E18"].check()
    with pytest.raises(DataMissingError, match="recs2009"):
        count_rows(tmp_path)


@pytest.mark.realdata
@pytest.mark.parametrize("wrong", [Counts(12_083, 3_952), Counts(12_084, 3_883)])
def test_row_counts_are_caught_one_by_one(wrong):
    assert not BY_KEY["E18"].trial(wrong).holds


def test_the_package_opens_without_the_errata():
    program = "import sys, smqopt, smqopt.cli; print(any(name.startswith('smqopt.paper') for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
