"""Random programs of all records against an independent linear program over lotteries of posted prices."""

from __future__ import annotations

import itertools

import pytest
from random_programs import KINDS, ZeroDraft, draft, fault_of, wide_draft

ALONE = [kind for kind in KINDS if kind != "common-price"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_record_alone(kind):
    assert fault_of(draft(1, [kind], 5)) is None


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(KINDS, 2)))
def test_each_two_records(first, second):
    assert fault_of(draft(1, [first, second], 5)) is None


@pytest.mark.parametrize(
    "seed",
    [
        2,
        4,
        8,
        13,
        24,
        29,
        302,
        307,
        606,
        639,
        1002,
        2041,
        4006,
        5081,
        5137,
        5412,
        5432,
        5509,
        5527,
        5553,
        6470,
        6765,
        6945,
        7654,
        7930,
        8241,
        8421,
        8473,
        173056,
        500416,
    ],
)
def test_records_together(seed):
    assert fault_of(draft(seed)) is None


@pytest.mark.parametrize("seed", [1, 3, 8, 14, 194, 197])
def test_limits_that_fix_owners(seed):
    """Limits of 0, demands for everybody, budgets of 0: their multipliers would be infinite."""
    assert fault_of(draft(seed, of=ZeroDraft)) is None


@pytest.mark.parametrize("seed", range(16))
def test_shares_quotas_and_other_aims(seed):
    """Shares, sure numbers, several labels, quotas, parity of payments, floors on spend; owners, spend, the worst group."""
    assert fault_of(wide_draft(seed)) is None
