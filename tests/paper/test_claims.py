"""Verdicts: from forged results whose answer is plain."""

from __future__ import annotations

import math

import pytest

from smqopt.paper import DATA_SETS, Results
from smqopt.paper.claims._counts import count_claims
from smqopt.paper.claims._linear import linear_claims
from smqopt.paper.claims._medians import median_claims
from smqopt.paper.claims._verdict import ClaimReading, ClaimVerdict, PaperClaim, Tally, compare_setups, tally
from smqopt.paper.experiments._grid import (
    BUDGET_SHARES,
    CORRELATIONS,
    EVERYTHING,
    NOISE_ONLY,
    columns,
)
from smqopt.paper.experiments._summary import Setup


def setup(
    rmse=10.0,
    error=0.1,
    data_set="adult",
    query="count",
    rho=0.0,
    share=0.1,
    mechanism="smq-marginal",
    scheme=EVERYTHING,
    **changes,
):
    figures = {
        "trials": 500,
        "undefined": 0,
        "truth": 1000.0,
        "mean": 1000.0,
        "deviation": rmse,
        "mean_low": 999.0,
        "mean_high": 1001.0,
        "low": 1000.0 - 2 * rmse,
        "high": 1000.0 + 2 * rmse,
        "rmse": rmse,
        "rmse_error": error,
        "sampling_rmse": rmse / 2,
        "noise_rmse": rmse / 2,
        "bought": 100.0,
        "spend": 1.0,
        "privacy": 60.0,
        "spread": 0.3 if mechanism.startswith("smq") else 0.0,
    } | changes
    return Setup(data_set, query, rho, share, scheme, mechanism, **figures)


def forged(rmse):
    """Results in which `rmse(data_set, query, rho, share, mechanism)` gives the RMSE, or a pair of RMSE and other figures."""
    setups = {}
    for data_set in DATA_SETS:
        for rho in CORRELATIONS:
            for share in BUDGET_SHARES:
                for query, mechanism in columns():
                    for scheme in (EVERYTHING, NOISE_ONLY):
                        found = rmse(data_set, query, rho, share, mechanism)
                        value, changes = found if isinstance(found, tuple) else (found, {})
                        one = setup(value, value / 1000, data_set, query, rho, share, mechanism, scheme, **changes)
                        setups[one.key] = one
    tenths = {
        (d, rho, share, m): (0.5,) * 10
        for d in DATA_SETS
        for rho in CORRELATIONS
        for share in BUDGET_SHARES
        for q, m in columns()
        if q == "count"
    }
    checks = {(d, 0.3): (1.0, 99.0, 100.0, 1.0) for d in DATA_SETS}
    return Results(setups, tenths, checks)


def as_claimed(data_set, query, rho, share, mechanism):
    """A world in which the paper is right throughout."""
    smq = not mechanism.startswith(("fq", "fip"))
    changes = {"bought": 100.0}
    if smq:
        base = (1 - share / 2) * (1 + rho / 4)
        if query == "median":
            base = 0.0 if data_set != "recs" else base
        if query == "linear":
            base = 10 * base
    else:
        base = (1 - share / 2) * (100 if rho == 0 else 120 if rho == -0.5 else 150)
        changes = {"bought": 80.0 + 10 * rho, "privacy": (80.0 + 10 * rho) * 0.5}
        if query == "linear":
            better = data_set == "adult" or share <= 0.5
            base = 10 * (1 - share / 2) * (1 + rho / 4) * (3 if better else 0.9)
            changes = {"bought": 80.0 if data_set == "adult" else 99.0}
    return base, changes


def claims(results):
    return [*count_claims(results), *median_claims(results), *linear_claims(results)]


def test_where_the_paper_is_right_every_claim_holds():
    for claim in claims(forged(as_claimed)):
        assert claim.verdict is ClaimVerdict.HOLDS, (claim.words, claim.readings)


def test_where_it_is_wrong_throughout_no_comparison_claim_holds():
    def turned(data_set, query, rho, share, mechanism):
        smq = not mechanism.startswith(("fq", "fip"))
        value = (100.0 if smq else 1.0) * (1 + share) * (1 - rho if smq else 1 + rho / 4)
        return value, {
            "bought": 100.0 if smq else 100.0 - 200.0 * rho,
            "privacy": 40.0 if smq else 60.0,
            "spread": 0.0 if smq else 0.1,
        }

    held = [claim.words for claim in claims(forged(turned)) if claim.verdict is ClaimVerdict.HOLDS]
    assert held == ["For MovieLens and RECS, it does not where B > 0.5 θ̄n."]


def test_a_claim_may_hold_under_one_reading_alone():
    def original_is_better(data_set, query, rho, share, mechanism):
        if mechanism.startswith("fq-original"):
            return 0.5
        return 10.0 if mechanism.startswith("fq") else 1.0

    (claim,) = [c for c in claims(forged(original_is_better)) if c.words == "SMQ outperforms FQ for all data sets."]
    assert claim.verdict is ClaimVerdict.UNDER
    assert claim.holding == ("printed rule, noise by scale", "printed rule, noise by variance")


@pytest.mark.parametrize(
    ("first", "second", "factor", "sign"),
    [
        ((10, 0.1), (11, 0.1), 1.0, 1),
        ((11, 0.1), (10, 0.1), 1.0, -1),
        ((10, 0.3), (11, 0.3), 1.0, 0),
        ((10, 0.1), (15, 0.1), 2.0, -1),
        ((0, 0), (0, 0), 1.0, 0),
        ((0, 0), (1e-9, 0), 1.0, 1),
        ((math.nan, math.nan), (1, 0.1), 1.0, 0),
    ],
)
def test_a_difference_counts_from_three_standard_errors_on(first, second, factor, sign):
    assert compare_setups(setup(*first), setup(*second), factor) == sign


def test_deviations_are_judged_by_their_own_error():
    wide, narrow = setup(deviation=12.0), setup(deviation=10.0)
    assert compare_setups(narrow, wide, measure="deviation") == (
        1 if 3 * math.hypot(12, 10) * math.sqrt(1.25 / 500) < 2.0 else 0
    )
    assert compare_setups(setup(deviation=10.0), setup(deviation=30.0), measure="deviation") == 1


@pytest.mark.parametrize(
    ("signs", "verdict"),
    [
        ([1, 1, 1], ClaimVerdict.HOLDS),
        ([1, 1, 0], ClaimVerdict.HOLDS),
        ([1, 0, 0], ClaimVerdict.OPEN),
        ([0], ClaimVerdict.OPEN),
        ([1, -1, 0], ClaimVerdict.IN_PART),
        ([-1, 0, 0], ClaimVerdict.FAILS),
    ],
)
def test_verdicts_of_a_tally(signs, verdict):
    assert tally(signs).verdict is verdict


def test_readings_that_fail_in_different_ways_hold_nowhere():
    readings = (ClaimReading("a", Tally(0, 3, 0)), ClaimReading("b", Tally(1, 2, 0)))
    assert PaperClaim("e", "w", "m", readings).verdict is ClaimVerdict.IN_PART
    assert PaperClaim("e", "w", "m", readings[:1]).verdict is ClaimVerdict.FAILS
