"""Truncation against mpmath in both tails, against the named laws it gives, and through files."""

import mpmath
import numpy as np
import pytest
from round_trip import solved_and_loaded

import smqopt as smq
from smqopt.valuation.composition._truncated import TruncatedLaw
from smqopt.valuation.law._conformance import validate

BETA = smq.Beta(2, 3)


def exact_beta(t):
    return mpmath.betainc(2, 3, 0, t, regularized=True)


@pytest.mark.parametrize(("low", "high"), [(0.25, 0.75), (0.0, 1e-3), (1 - 2.0**-10, 1.0), (0.5, 0.5 + 2.0**-20)])
def test_beta_against_mpmath(low, high):
    F = smq.Truncated(BETA, low, high)
    assert isinstance(F, TruncatedLaw)
    validate(F)
    with mpmath.workdps(50):
        bottom, top = exact_beta(mpmath.mpf(low)), exact_beta(mpmath.mpf(high))
        for share in (2.0**-30, 0.125, 0.5, 0.875, 1 - 2.0**-10):
            t = low + share * (high - low)
            heaped = exact_beta(mpmath.mpf(t)) - bottom
            density = 12 * mpmath.mpf(t) * (1 - mpmath.mpf(t)) ** 2
            assert float(F.cdf(t)) == pytest.approx(float(heaped / (top - bottom)), rel=2e-14, abs=0)
            assert float(F.pdf(t)) == pytest.approx(float(density / (top - bottom)), rel=2e-14)
            assert float(F.virtual_cost(t)) == pytest.approx(float(mpmath.mpf(t) + heaped / density), rel=4e-15)
            above = (top - exact_beta(mpmath.mpf(t))) / (top - bottom)
            assert float(np.exp(F.log_survival(t))) == pytest.approx(float(above), rel=2e-14, abs=0)


def test_tail_of_a_normal_law():
    F = smq.Truncated(smq.Normal(0, 1, 0, 20), 8, 9)
    with mpmath.workdps(40):
        S = lambda t: mpmath.erfc(mpmath.mpf(t) / mpmath.sqrt(2)) / 2  # noqa: E731
        root = mpmath.findroot(lambda t: S(8) - S(t) - mpmath.mpf(0.9) * (S(8) - S(9)), 8.2786)
    assert float(F.ppf(0.9)) == pytest.approx(float(root), rel=4e-16)
    assert isinstance(F, smq.Normal)


@pytest.mark.parametrize(
    ("law", "low", "high", "same"),
    [
        (smq.Uniform(0, 4), 1, 2, smq.Uniform(1, 2)),
        (smq.Uniform(0, 1), -0.0, 3, smq.Uniform(0, 1)),
        (smq.TruncatedExponential(2.0, 0, 3), 1, 2, smq.TruncatedExponential(2.0, 1, 2)),
        (smq.PiecewiseUniform([0, 1, 2, 3], [1, 2, 1]), 0.5, 2, smq.PiecewiseUniform([0.5, 1, 2], [0.5, 2])),
        (smq.Discrete([1, 2, 5], [0.25, 0.5, 0.25]), 1.5, 9, smq.Discrete([2, 5], [0.5, 0.25])),
    ],
    ids=lambda x: repr(x)[:30],
)
def test_gives_the_law_by_its_name(law, low, high, same):
    F = smq.Truncated(law, low, high)
    assert type(F) is type(same)
    assert F.to_dict() == same.to_dict()


def test_generic_truncation_agrees_with_the_named_law():
    low, high = 0.5, np.array([1.0, 2.0, 2.5])
    whole = smq.Weibull([1.0, 2.0, 0.7], 1.0, 0.0, 3.0)
    named, generic = smq.Truncated(whole, low, high), TruncatedLaw(whole, low, high)
    t = low + np.linspace(0, 1, 9)[:, None] * (high - low)
    for method in ("cdf", "pdf", "virtual_cost"):
        assert getattr(generic, method)(t) == pytest.approx(getattr(named, method)(t), rel=1e-13)
    u = np.linspace(0, 1, 9)[:, None] * np.ones(3)
    assert generic.ppf(u) == pytest.approx(named.ppf(u), rel=1e-13)


def test_ends_and_outside():
    F = smq.Truncated(BETA, 0.25, 0.75)
    assert F.cdf([0.0, 0.25, 0.75, 1.0]).tolist() == [0, 0, 1, 1]
    assert F.pdf([0.2, 0.8]).tolist() == [0, 0]
    assert F.ppf([0.0, 1.0]).tolist() == [0.25, 0.75]
    assert float(F.virtual_cost(0.25)) == 0.25
    assert np.isnan(F.ppf([-0.5, 1.5, np.nan])).all()


def test_regularity():
    assert isinstance(smq.Truncated(BETA, 0.2, 0.8).regularity(), smq.Regular)
    rising = smq.from_cdf("((1 - 0.99*theta)**(-1/2) - 1)/((1 - 0.99)**(-1/2) - 1)", 0, 1)
    verdict = smq.Truncated(rising, 0, 0.85).regularity()
    assert isinstance(verdict, smq.Regular)  # J falls only beyond 0.8979
    verdict = smq.Truncated(rising, 0, 0.99).regularity()
    assert isinstance(verdict, smq.Irregular)
    first, second = verdict.witness
    assert first < second <= 0.99
    with mpmath.workdps(40):
        F = lambda t: (1 - mpmath.mpf("0.99") * t) ** -0.5 - 1  # noqa: E731
        J = [t + F(t) / mpmath.diff(F, t) for t in (mpmath.mpf(first), mpmath.mpf(second))]
    assert J[0] > J[1]


@pytest.mark.parametrize("high", [0.8, np.linspace(0.5, 0.9, 20)], ids=["common", "by owner"])
def test_solves_certifies_and_survives_files(tmp_path, high):
    certificate = solved_and_loaded(smq.Truncated(BETA, 0.2, high), tmp_path, n=20)
    assert certificate.valid


def test_derives():
    F = smq.Truncated(smq.Power(2, 0, 1), 0.5, 1)
    derivation = smq.derive(F)
    assert {step.verdict.name for step in derivation.steps} == {"PROVED"}
    rule = derivation.threshold_function()
    assert rule(np.array([0.75, 1.0]), F) == pytest.approx(F.inverse_virtual_cost([0.75, 1.0]), rel=1e-14)


@pytest.mark.parametrize(
    ("law", "low", "high", "rule"),
    [
        (BETA, 0.8, 0.2, "must lie above low"),
        (BETA, 2.0, 3.0, "must lie above low"),
        (BETA, 0.0, float("nan"), "must be finite"),
        (BETA, "a", 1.0, "number"),
        (smq.Beta([2, 3], 3), [0.1, 0.2, 0.3], 1.0, "must have 2 values"),
        (smq.ByOwner([BETA, BETA]), 0.1, 0.5, "one family"),
        (smq.Discrete([1, 2], [1, 1]), 3.0, 4.0, "no mass"),
        ("beta", 0.1, 0.5, "must be a law"),
        (smq.PiecewiseUniform([0, 1, 2, 3], [1, 0, 1]), 1.2, 1.8, "no mass"),
    ],
)
def test_refusals(law, low, high, rule):
    with pytest.raises(smq.InputError, match=rule):
        smq.Truncated(law, low, high)


@pytest.mark.parametrize(
    "law",
    [
        smq.Truncated(smq.Mixture([smq.Uniform(0, 0.5), smq.Power(3, 0.2, 1.5)], [0.6, 0.4]), 0.1, 1.2),
        smq.Truncated(smq.Mixture([smq.Normal(1, 0.1, 0, 9), smq.Normal(6, 0.5, 0, 9)], [0.5, 0.5]), 4.5, 8.0),
        smq.Truncated(
            smq.Mixture([smq.Uniform(0, [0.5, 1.0, 2.0]), smq.Beta(2, 3)], [0.5, 0.5]), [0.1, 0.6, 0.2], [0.4, 0.9, 1.5]
        ),
        smq.Truncated(smq.Mixture([smq.Uniform(0, 0.5), smq.Uniform(0.5, 2)], [0.5, 0.5]), [0.1, 0.7], [0.4, 1.5]),
    ],
    ids=["common", "in a tail", "by owner", "parts that some owners lack"],
)
def test_a_cut_mixture_is_a_mixture_of_cuts(law):
    size = law.size or 1
    for share in (0.0, 0.01, 0.3, 0.5, 0.77, 0.999, 1.0):
        theta = np.broadcast_to(law.low + share * (np.asarray(law.high) - law.low), size)
        F, shares = np.zeros(size), np.zeros(size)
        for owners, weight, leaf in law.leaves():
            F[owners] += weight * leaf.cdf(theta[owners])
            shares[owners] += weight
        assert shares == pytest.approx(np.ones(size), abs=1e-15)
        cut = np.broadcast_to(law.cdf(theta if law.size else theta[0]), size)
        assert cut == pytest.approx(F, rel=1e-13)


def test_a_cut_of_another_law_has_no_leaves():
    assert list(smq.Truncated(smq.Beta(2, 3), 0.1, 0.9).leaves()) == []


@pytest.mark.parametrize("by_owner", [False, True])
def test_a_joint_in_a_short_interval_is_not_summed_across(by_owner):
    """F of the whole law is bent at 1."""
    low, slope, rest = 1 - 2.0**-30, 0.9 + 0.1 / 3, 0.1 / 3
    theta = low + (1 - low) / 0.45
    share = (slope * (1 - low) + rest * (theta - 1)) / (slope * (1 - low) + rest * 1.5)
    highs = [1.0, 1.0] if by_owner else 1.0
    whole = smq.Mixture([smq.Uniform(0, highs), smq.Uniform(0, 3)], [0.9, 0.1])
    for law in (smq.Truncated(whole, low, 2.5), smq.Truncated(whole, [low, low], 2.5)):
        assert law.cdf(np.full(2, theta)) == pytest.approx([share] * 2, rel=1e-13, abs=0)
