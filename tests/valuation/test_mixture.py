"""Mixtures against mpmath in both tails, at the edges of supports and in gaps; verdicts on their regularity; files."""

import mpmath
import numpy as np
import pytest
from round_trip import solved_and_loaded

import smqopt as smq
from smqopt.valuation.law._conformance import validate

TWO_NORMALS = smq.Mixture([smq.Normal(0.3, 0.1, 0, 1), smq.Normal(0.7, 0.1, 0, 1)], [0.3, 0.7])


def exact_normal(mean, sd):
    Phi = lambda z: mpmath.erfc(-z / mpmath.sqrt(2)) / 2  # noqa: E731
    m, s = mpmath.mpf(mean), mpmath.mpf(sd)
    total = Phi((1 - m) / s) - Phi(-m / s)
    return (
        lambda t: (Phi((t - m) / s) - Phi(-m / s)) / total,
        lambda t: mpmath.npdf((t - m) / s) / s / total,
    )


@pytest.mark.parametrize("t", [2.0**-40, 2.0**-10, 0.25, 0.5, 0.75, 1 - 2.0**-10])
def test_two_normals_against_mpmath(t):
    with mpmath.workdps(50):
        x = mpmath.mpf(t)
        parts = [(w, *exact_normal(m, 0.1)) for w, m in ((mpmath.mpf(0.3), 0.3), (mpmath.mpf(0.7), 0.7))]
        F = sum(w * cdf(x) for w, cdf, _ in parts)
        f = sum(w * pdf(x) for w, _, pdf in parts)
        assert float(TWO_NORMALS.cdf(t)) == pytest.approx(float(F), rel=4e-15, abs=0)
        assert float(TWO_NORMALS.pdf(t)) == pytest.approx(float(f), rel=4e-15)
        assert float(TWO_NORMALS.virtual_cost(t)) == pytest.approx(float(x + F / f), rel=4e-15)
        S = sum(w * (1 - cdf(x)) for w, cdf, _ in parts)
        assert float(np.exp(TWO_NORMALS.log_survival(t))) == pytest.approx(float(S), rel=4e-14, abs=0)


def test_rent_where_f_underflows():
    F = smq.Mixture([smq.Normal(50, 1, 0, 100), smq.Normal(60, 1, 0, 100)], [0.5, 0.5])
    assert float(F.pdf(5.0)) == 0.0
    with mpmath.workdps(30):  # F/f is the Mills ratio at z = 45, and the truncation at 0 changes nothing of it
        rent = (mpmath.erfc(45 / mpmath.sqrt(2)) / 2) / mpmath.npdf(45)
    assert float(F.virtual_cost(5.0)) == pytest.approx(float(5 + rent), rel=1e-15)
    assert float(F.log_cdf(5.0)) == pytest.approx(
        float(smq.Normal(50, 1, 0, 100).log_cdf(5.0)) + np.log(0.5), rel=1e-14
    )


def test_edges_belong_to_the_piece_above():
    F = smq.Mixture([smq.Uniform(0, 1), smq.Uniform(1, 3)], [0.5, 0.5])
    histogram = smq.PiecewiseUniform([0, 1, 3], [0.5, 0.5])
    t = np.array([0.0, 0.5, np.nextafter(1, 0), 1.0, 2.0, 3.0])
    assert F.pdf(t).tolist() == histogram.pdf(t).tolist()
    assert F.virtual_cost(t) == pytest.approx(histogram.virtual_cost(t), rel=1e-15)
    assert F.pdf([-1.0, 4.0]).tolist() == [0, 0]


def test_a_gap():
    F = smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], [0.5, 0.5])
    validate(F)
    assert F.ppf([0.5, 0.5 + 2.0**-40]) == pytest.approx([1.0, 2.0], rel=1e-11)
    assert float(F.virtual_cost(1.5)) == np.inf
    assert isinstance(F.regularity(), smq.Irregular)
    histogram = smq.PiecewiseUniform([0, 1, 2, 3], [1, 0, 1])
    epsilon = np.linspace(0.1, 1, 9)
    for budget in (0.5, 3.0, 8.0, 20.0):
        ours, theirs = (smq.solve(smq.Market(epsilon, law), budget) for law in (F, histogram))
        assert smq.verify(ours).valid
        assert ours.purchased_privacy == pytest.approx(theirs.purchased_privacy, rel=1e-10)


@pytest.mark.parametrize(
    "law",
    [
        TWO_NORMALS,
        smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, 4)], [1, 1]),
        smq.Mixture([smq.Uniform(0, 1), smq.Beta(2, 3, 0.5, 2)], [1, 3]),
        smq.Mixture([smq.Power([0.5, 2.0, 3.0]), smq.Uniform(0, 1)], [0.25, 0.75]),
        smq.Mixture([smq.Truncated(smq.Beta(2, 3), 0.1, 0.9), smq.TruncatedExponential(4.0)], [0.5, 0.5]),
        smq.Mixture([smq.Uniform(1, 2)], [7]),
    ],
    ids=lambda law: repr(law)[:50],
)
def test_battery_and_units(law):
    validate(law)
    t = law.low + 0.375 * (law.high - law.low)
    other = law.rescale(4.0)
    assert (other.virtual_cost(4 * t) / 4).tolist() == pytest.approx(law.virtual_cost(t).tolist(), rel=1e-14)
    assert (other.cdf(4 * t)).tolist() == pytest.approx(law.cdf(t).tolist(), rel=1e-14)


def test_stacks_by_owner():
    laws = [smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, h)], [0.5, 0.5]) for h in (1.5, 2.0, 3.0)]
    F = smq.ByOwner([*laws, smq.Uniform(0, 1)])
    assert len(list(F.parts())) == 2
    assert F.cdf([0.5, 0.5, 0.5, 0.5]).tolist() == [*(float(law.cdf(0.5)) for law in laws), 0.5]


def test_regular_where_densities_fall_from_one_end():
    assert isinstance(
        smq.Mixture([smq.Uniform(0, 1), smq.TruncatedExponential(2.0, 0, 5)], [1, 2]).regularity(), smq.Regular
    )


def test_irregular_with_a_witness_that_holds_at_high_precision():
    verdict = TWO_NORMALS.regularity()
    assert isinstance(verdict, smq.Irregular)
    first, second = verdict.witness
    assert first < second
    with mpmath.workdps(50):
        parts = [(w, *exact_normal(m, 0.1)) for w, m in ((mpmath.mpf(0.3), 0.3), (mpmath.mpf(0.7), 0.7))]
        J = [
            t + sum(w * F(t) for w, F, _ in parts) / sum(w * f(t) for w, _, f in parts)
            for t in map(mpmath.mpf, verdict.witness)
        ]
    assert J[0] > J[1]


def test_a_step_up_of_the_density_is_irregular():
    verdict = smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0.5, 1)], [5, 5]).regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.witness[0] < 0.5 <= verdict.witness[1]


def test_undecided_is_said():
    F = smq.Mixture([smq.Normal(0.5, 0.3, 0, 1), smq.Power(1.37)], [0.5, 0.5])  # a power without a root beside 0
    assert isinstance(F.regularity(), smq.Undecided)
    certificate = smq.verify(smq.solve(smq.Market([0.3, 0.9], F), 0.3))  # which needs no verdict
    assert certificate.grade == "proved"
    assert certificate.proof.regularity[0].rule.startswith("J rises on one interval, proved in balls")


@pytest.mark.parametrize(
    "law",
    [
        smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0.5, 2)], [0.5, 0.5]),
        smq.Mixture([smq.Beta(2, 3), smq.from_cdf("theta**2", 0, 1)], [0.25, 0.75]),
        smq.Mixture([smq.Kumaraswamy(2, np.linspace(1, 3, 12)), smq.Uniform(0, 1)], [0.25, 0.75]),
    ],
    ids=["irregular", "formula", "by owner"],
)
def test_solves_certifies_and_survives_files(tmp_path, law):
    assert solved_and_loaded(law, tmp_path).valid


@pytest.mark.parametrize(
    ("laws", "weights", "rule"),
    [
        ([], [], "at least one law"),
        ([smq.Uniform(0, 1)], [0.5, 0.5], "must be 1 numbers"),
        ([smq.Uniform(0, 1)] * 2, [0.5, 0.0], "entry 2"),
        ([smq.Uniform(0, 1)] * 2, [0.5, float("nan")], "entry 2"),
        ([smq.Uniform(0, 1)] * 2, ["a", "b"], "must be 2 numbers"),
        ([smq.Uniform(0, 1)] * 2, [1e308, 1e308], "finite sum"),
        ([smq.Uniform(0, 1), "uniform"], [1, 1], "law 2: must be a law"),
        ([smq.Uniform(0, [1, 2]), smq.Uniform(0, [1, 2, 3])], [1, 1], "law 2: must be of 2 owners"),
        ([smq.ByOwner([smq.Uniform(0, 1)])], [1], "one family"),
    ],
)
def test_refusals(laws, weights, rule):
    with pytest.raises(smq.InputError, match=rule):
        smq.Mixture(laws, weights)
