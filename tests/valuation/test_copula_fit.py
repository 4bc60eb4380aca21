"""Estimation from past pairs, and the test of independence."""

from __future__ import annotations

import math

import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.valuation import EmpiricalConditional, GaussianCopula, independence_test
from smqopt.valuation.estimation._empirical_conditional import histogram_law
from smqopt.valuation.estimation._rank_correlation import mid_ranks, rank_correlation

UNIT = smq.Uniform(0, 1)


def test_rank_correlation_is_pearsons_of_the_ranks():
    rng = np.random.default_rng(2)
    x, y = rng.random(200), rng.integers(0, 5, 200).astype(float)  # ties in y
    found = rank_correlation(x, y)
    assert found.correlation == pytest.approx(np.corrcoef(mid_ranks(x), mid_ranks(y))[0, 1], rel=1e-12)
    assert rank_correlation(x, np.exp(x)).correlation == 1.0
    assert rank_correlation(x, -x + 1).correlation == -1.0


@pytest.mark.parametrize("rho", [-0.9, -0.5, 0.0, 0.4])
def test_standard_error_against_simulation(rho):
    rng = np.random.default_rng(7)
    copula = GaussianCopula(UNIT, UNIT, rho)
    found = [rank_correlation(*copula.sample(rng, 300)) for _ in range(600)]
    spread = float(np.std([one.correlation for one in found]))
    stated = float(np.mean([one.standard_error for one in found]))
    assert stated == pytest.approx(spread, rel=0.1)  # 600 runs give the spread to 3 %
    assert float(np.mean([one.correlation for one in found])) == pytest.approx(
        rho, abs=4 * spread / math.sqrt(600) + 2 / 300
    )


def test_fit_recovers_a_copula():
    truth = GaussianCopula(smq.Power(2.0), smq.Uniform(0.2, 0.8), -0.6)
    pairs = truth.sample(np.random.default_rng(5), 8000)
    fitted = GaussianCopula.fit(*pairs)
    assert fitted.correlation == pytest.approx(-0.6, abs=4 * fitted.standard_error)
    assert 0 < fitted.standard_error < 0.02
    epsilon = np.array([0.25, 0.5, 0.75])
    for t in (0.3, 0.6, 0.9):
        assert fitted.given(epsilon).cdf(t) == pytest.approx(truth.given(epsilon).cdf(t), abs=0.03)
    known = GaussianCopula.fit(*pairs, valuation=truth.valuation, requirement=truth.requirement)
    assert known.valuation is truth.valuation
    assert known.given(epsilon).cdf(0.6) == pytest.approx(truth.given(epsilon).cdf(0.6), abs=0.015)
    scored = GaussianCopula.fit(pairs[0] * 3, np.exp(pairs[1]))  # ranks do not change
    assert scored.correlation == fitted.correlation


def test_empirical_law_is_the_sample_smoothed():
    x = np.random.default_rng(1).random(1000) ** 2
    law = histogram_law(x)
    t = np.linspace(0, 1, 101)
    empirical = np.searchsorted(np.sort(x), t, side="right") / 1000
    assert np.max(np.abs(law.cdf(t) - empirical)) < 0.05 + 1e-9
    tied = histogram_law(np.array([1.0, 1.0, 1.0, 2.0, 3.0]))
    assert (tied.low, tied.high) == (1.0, 3.0)


def test_empirical_conditional_law():
    rng = np.random.default_rng(3)
    truth = GaussianCopula(UNIT, UNIT, -0.7)
    fitted = EmpiricalConditional.fit(*truth.sample(rng, 20_000))
    epsilon = np.array([0.05, 0.3, 0.5, 0.7, 0.95, 0.3])
    law = fitted.given(epsilon)
    assert law.size == 6
    for t in (0.2, 0.5, 0.8):
        band = 4 * 0.5 / math.sqrt(fitted.neighbours) + 0.02
        assert law.cdf(t) == pytest.approx(truth.given(epsilon).cdf(t), abs=band)
    grid = np.linspace(0, 1, 201)[:, None]
    rows = np.vstack([law.cdf(np.full(6, t)) for t in grid[:, 0]])
    assert np.all(np.diff(rows, axis=0) >= 0)
    assert np.all(rows[-1] == 1.0)
    far = fitted.given([-1.0, 2.0])
    assert far.cdf(0.5)[0] < 0.2
    assert far.cdf(0.5)[1] > 0.8
    assert float(fitted.given(0.3).cdf(0.4)) == float(law.cdf(0.4)[1])


def test_a_market_of_empirical_laws_is_solved():
    rng = np.random.default_rng(8)
    fitted = EmpiricalConditional.fit(*GaussianCopula(UNIT, UNIT, -0.5).sample(rng, 60))
    epsilon = rng.random(60)
    solution = smq.solve(smq.Market(epsilon, fitted.given(epsilon)), 10.0)
    assert smq.verify(solution).valid


def test_p_values_are_uniform_under_independence():
    rng = np.random.default_rng(6)
    p = np.sort([independence_test(rng.random(50), rng.random(50)).p_value for _ in range(1000)])
    assert np.max(np.abs(p - (np.arange(1000) + 0.5) / 1000)) < 1.95 / math.sqrt(1000)
    permuted = [independence_test(rng.random(12), rng.random(12), rng=rng, permutations=99).p_value for _ in range(400)]
    assert np.mean(np.array(permuted) <= 0.05) == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 400))


def test_permutations_enumerate_a_tiny_sample():
    """Of the 6 orders of three pairs, 2 have |ρ| = 1."""
    e, t = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])
    found = independence_test(e, t, rng=np.random.default_rng(0), permutations=20_000)
    assert found.p_value == pytest.approx(1 / 3, abs=0.015)
    assert independence_test(e, t).p_value == pytest.approx(1 / 3)


def test_it_tells_when_the_marginal_law_would_overspend():
    rng = np.random.default_rng(12)
    n = 4000
    epsilon = rng.random(n)
    thresholds = smq.solve(smq.Market(epsilon, UNIT), 0.1 * n).thresholds
    pairs = GaussianCopula(UNIT, UNIT, -0.5).sample(rng, 5000)
    found = independence_test(*pairs, announced=epsilon, thresholds=thresholds, valuation=UNIT)
    assert found.is_rejected
    assert found.overspend == pytest.approx(1.32, abs=0.03)
    assert "would overspend" in found.text
    assert "given ε" in found.text
    other_way = independence_test(pairs[0], 1 - pairs[1], announced=epsilon, thresholds=thresholds, valuation=UNIT)
    assert "unspent" in other_way.text
    none = independence_test(pairs[0], rng.permutation(pairs[1]))
    assert none.overspend is None
    assert not none.is_rejected
    assert "nor does it prove it" in none.text


@pytest.mark.parametrize(
    ("epsilon", "theta", "message"),
    [
        ([0.1, 0.2], [0.1, 0.2], "at least 3"),
        ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4], "must have 3 values"),
        ([0.1, 0.2, 0.3], [0.1, float("nan"), 0.3], "'theta', row 2"),
        ([0.1, -0.2, 0.3], [0.1, 0.2, 0.3], "'epsilon', row 2"),
        ([0.1, 0.1, 0.1], [0.1, 0.2, 0.3], "constant"),
        ([0.1, 0.2, 0.3], ["a", "b", "c"], "'theta'"),
    ],
)
def test_bad_pairs_are_refused(epsilon, theta, message):
    for use in (GaussianCopula.fit, EmpiricalConditional.fit, independence_test):
        with pytest.raises(InputError, match=message):
            use(epsilon, theta)


def test_errors_do_not_show_valuations():
    with pytest.raises(InputError) as caught:
        GaussianCopula.fit([0.1, 0.2, 0.3], [0.1, -0.777, 0.3])
    assert "0.777" not in str(caught.value)


def test_other_bad_arguments():
    e, t = np.random.default_rng(0).random((2, 20))
    with pytest.raises(InputError, match="neighbours"):
        EmpiricalConditional.fit(e, t, neighbours=21)
    with pytest.raises(InputError, match="thresholds"):
        independence_test(e, t, announced=e)
    with pytest.raises(InputError, match="owner 2"):
        EmpiricalConditional.fit(e, t).given([0.1, float("nan")])
