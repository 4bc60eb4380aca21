"""Work is counted: the same certificate on any machine, and a clear word where the limit is met."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.numeric import OutOfWorkError, _work as limits, count_work, work_limit


@pytest.fixture
def allow(monkeypatch):
    """Sets how much work a small market may take."""

    def set_limit(units):
        monkeypatch.setattr(limits, "FEW_OWNERS", units)
        monkeypatch.setattr(limits, "AN_OWNER", 0)

    return set_limit


def hard_market():
    return smq.Market([0.2, 0.5, 1.0], smq.Mixture([smq.Beta(2, 3), smq.Gamma(2, 1, 0, 2)], [0.5, 0.5]))


def test_a_proof_that_is_too_long_leaves_the_grade_numerical(allow):
    solution = smq.solve(hard_market(), 0.3)
    limits_met = []
    for units in (10_000_000, 100_000):
        allow(units)
        found = smq.verify(solution)
        limits_met.append("evaluations of the laws" in "".join((*found.unproved, *found.reasons)))
        assert found.lower_bound <= found.upper_bound
    assert limits_met == [False, True]


def test_checks_that_are_too_long_are_a_reason(allow):
    solution = smq.solve(hard_market(), 0.3)
    allow(10)
    certificate = smq.verify(solution)
    assert not certificate.valid
    assert "more than 10 units of work" in certificate.reasons[0]


def test_a_solve_that_is_too_long_says_what_is_hard(allow):
    market = hard_market()
    allow(10_000)
    with pytest.raises(smq.SolverError, match="the mixture law is hard to evaluate"):
        smq.solve(market, 0.3)


def test_a_law_that_is_too_long_to_check_is_refused(allow):
    allow(10_000)
    with pytest.raises(smq.InputError, match="from_cdf: the law takes more than 1e"):
        smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1)


def test_the_count_is_linear_in_owners_and_each_block_has_its_own():
    def left(n):
        with work_limit(n) as allowance:
            smq.Uniform(0, 1).cdf(np.full(n, 0.5))
            return allowance.evaluations, allowance.evaluations - allowance.left

    (few, one), (many, thousand) = left(1), left(1000)
    assert many - few == 999 * limits.AN_OWNER
    assert thousand - one == 999
    with work_limit(0) as outer:
        with work_limit(0) as inner:
            count_work(inner.left - limits.A_CALL)
        assert outer.left == outer.evaluations
        with pytest.raises(OutOfWorkError):
            count_work(outer.left)
