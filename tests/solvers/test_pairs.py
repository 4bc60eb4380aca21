"""Every pair: records in either order, with every objective, and with every question, against an independent linear program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from lottery_oracle import optimum
from random_programs import WIDE, WIDE_OBJECTIVES, Draft, WideDraft, fault_of

import smqopt as smq

OBJECTIVES = ("log", "variance", *WIDE_OBJECTIVES)
MANY = 5


def tenth(cases, step=10):
    """All in long runs, every tenth in the others."""
    return [
        pytest.param(*case, marks=[] if k % step == 0 else pytest.mark.exhaustive, id="-".join(case))
        for k, case in enumerate(cases)
    ]


def drawn(kinds, objective="privacy", seed=1, n=MANY):
    of = WideDraft if set(kinds) - set(WIDE[:9]) or objective in WIDE_OBJECTIVES else Draft
    return of(np.random.default_rng(seed), n, list(kinds), objective)


@pytest.mark.parametrize(("first", "second"), tenth(itertools.product(WIDE, repeat=2)))
def test_each_ordered_pair_of_records(first, second):
    assert fault_of(drawn([first, second])) is None


@pytest.mark.parametrize(("kind", "objective"), tenth(itertools.product(WIDE, OBJECTIVES), 4))
def test_each_record_with_each_objective(kind, objective):
    if objective in ("log", "variance") and kind not in WIDE[:9]:
        one = drawn([kind], seed=2)
        Draft.aim(one, objective)  # wide drafts have linear objectives of their own
        one.paid, one.worst = 0.0, None
    else:
        one = drawn([kind], objective, seed=2)
    assert fault_of(one) is None


LONG = {"spend-floor", "payment-parity"}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.exhaustive if kind in LONG else []) for kind in WIDE]
)
def test_each_record_with_each_question(kind):
    """Frontier, least budget and Program say what the linear program does."""
    one = drawn([kind], seed=3)
    found = optimum(one.plain())
    curve = smq.frontier(one.market, [one.budget], constraints=one.records)
    if found.infeasible:
        assert curve.status[0] is smq.Status.INFEASIBLE
        return
    room = 1e-8 * max(abs(found.upper), 1e-6)
    assert curve.lower_bound[0] <= found.upper + room
    assert curve.upper_bound[0] >= found.lower - room
    assert curve.purchased_privacy[0] == pytest.approx(found.lower, rel=1e-8, abs=1e-9)
    least = smq.least_budget(one.market, 0.999 * float(curve.purchased_privacy[0]), constraints=one.records)
    assert least.lower_bound <= least.budget <= one.budget * (1 + 1e-9)
    assert least.solution.purchased_privacy >= 0.999 * float(curve.purchased_privacy[0]) * (1 - 1e-12)
    program = smq.Program(one.market, one.budget, constraints=one.records, ironed=True)
    solution = smq.solve(program, solver="structured")
    assert solution.purchased_privacy == pytest.approx(found.lower, rel=1e-8, abs=1e-9)
