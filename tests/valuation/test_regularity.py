from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import Domain, is_never_negative, work_budget
from smqopt.numeric import ball, hull
from smqopt.valuation.monotonicity import _virtual_cost as monotone
from smqopt.valuation.monotonicity._distinct_rows import rows_in_boxes
from smqopt.valuation.monotonicity._virtual_cost import decide_regularity, regularity_goals
from smqopt.valuation.monotonicity._witness import falling_pair

E1 = "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)"

REGULAR = [
    ("theta**2*(3 - 2*theta)", {}),
    ("6*theta**2 - 8*theta**3 + 3*theta**4", {}),
    ("1 - (1 - theta**2)**3", {}),
    ("1 - (1 - theta)**b", {"b": 2.5}),
    ("theta**1000", {}),
    ("theta**a", {"a": np.linspace(0.01, 50, 500)}),
    ("(1 - exp(-r*theta))/(1 - exp(-r))", {"r": np.linspace(0.1, 60, 500)}),
    ("(1 - exp(-2*theta))/(1 - exp(-2))", {}),
    ("(exp(r*theta) - 1)/(exp(r) - 1)", {"r": 3.0}),
    (E1, {"c": 0.85}),
    (E1, {"c": [0.1, 0.5, 0.85, 0.88]}),
    ("1 - cos(pi*theta/2)", {}),
    ("theta - sin(2*pi*theta)/(2*pi)", {}),
    ("theta**1.7*(3 - theta)/2", {}),
    ("sqrt(theta)*exp(theta - 1)", {}),
    ("erf(theta)/erf(1)", {}),
    ("exp(1 - 1/theta)", {}),
]
IRREGULAR = [
    (E1, {"c": 0.99}, None),
    (E1, {"c": [0.5, 0.99, 0.9]}, 1),
    ("theta + sin(6*pi*theta)*0.9/(6*pi)", {}, None),
    ("1 - (1 - theta**2)**0.5", {}, None),
    ("theta**12/3 + 2*theta/3 + k*theta*(1 - theta)", {"k": 0.3}, None),
]


@pytest.mark.parametrize(("cdf", "parameters"), REGULAR, ids=str)
def test_regular(cdf, parameters):
    assert isinstance(smq.from_cdf(cdf, 0, 1, **parameters).regularity(), smq.Regular)


@pytest.mark.parametrize(("cdf", "parameters", "owner"), IRREGULAR, ids=str)
def test_irregular_with_a_witness(cdf, parameters, owner):
    law = smq.from_cdf(cdf, 0, 1, **parameters)
    verdict = law.regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.owner == owner
    first, second = verdict.witness
    assert 0 <= first < second <= 1
    own = {name: float(np.atleast_1d(value)[owner or 0]) for name, value in parameters.items()}
    with mpmath.workdps(50):
        functions = {"sin": mpmath.sin, "pi": mpmath.pi}

        def F(t):
            return eval(cdf, {"__builtins__": {}}, {**functions, **own, "theta": t})  # noqa: S307

        costs = [t + F(mpmath.mpf(t)) / mpmath.diff(F, t) for t in (first, second)]
        assert costs[0] > costs[1]
        assert verdict.virtual_costs == pytest.approx([float(cost) for cost in costs], rel=1e-12)


def test_where_the_example_of_the_errata_falls():
    law = smq.from_cdf(E1, 0, 1, c=0.99)
    verdict = law.regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.witness[1] > 0.8979 > 8 / (9 * 0.99)
    assert law.monotone_hazard().monotone is True


@pytest.mark.parametrize(
    ("law", "kind", "method"),
    [
        (smq.from_cdf(E1, 0, 1, c=0.99), smq.Irregular, "checked in ball arithmetic"),
        (smq.from_cdf(E1, 0, 1, c=0.85), smq.Regular, "2f² − F f′ ≥ 0: ball arithmetic"),
        (smq.PiecewiseUniform([0, 0.9, 1], [1, 1]), smq.Irregular, "exact comparison"),
        (smq.Beta(2, 3), smq.Regular, "log-concave"),
        (smq.from_cdf("12*(theta**2/2 - 2*theta**3/3 + theta**4/4)", 0, 1), smq.Regular, "Sturm"),  # Beta(2, 3) again
        (smq.from_cdf("3*theta**2 - 2*theta**3", 0, 1), smq.Regular, "Sturm"),
        (smq.from_pdf("1 + 0.9*cos(6*pi*theta)", 0, 1), smq.Irregular, "checked in ball arithmetic"),
    ],
    ids=repr,
)
def test_the_laws_that_must_be_decided(law, kind, method):
    verdict = law.regularity()
    assert isinstance(verdict, kind)
    assert method in verdict.method
    if kind is smq.Irregular:
        first, second = verdict.witness
        assert law.low <= first < second <= law.high
        assert law.virtual_cost(first) > law.virtual_cost(second)
        assert verdict.virtual_costs[0] > verdict.virtual_costs[1]


def test_the_limit_case_touches_zero_and_is_regular():
    # J′ = 3√(1 − cθ) − 1 is 0 at θ = 1 for c = 8/9, and just below for the next double above
    assert isinstance(smq.from_cdf("((1 - 8*theta/9)**(-1/2) - 1)/2", 0, 1).regularity(), smq.Regular)
    assert not isinstance(
        smq.from_cdf("((1 - 0.889*theta)**(-1/2) - 1)/(0.111**(-1/2) - 1)", 0, 1).regularity(), smq.Regular
    )


@pytest.mark.parametrize("cdf", ["(sin(theta - 1/2)/sin(1/2) + 1)/2 * (1 + 0*theta)", "1 - (1 - theta**2.2)**1.3"])
def test_undecided_or_decided_but_never_wrong(cdf):
    law = smq.from_cdf(cdf, 0, 1)
    t = np.linspace(0.001, 0.999, 999)
    falls = np.any(np.diff(law.virtual_cost(t)) < -1e-9)
    verdict = law.regularity()
    assert not (falls and isinstance(verdict, smq.Regular))
    assert not (not falls and isinstance(verdict, smq.Irregular))


def test_too_many_different_laws_are_undecided_not_guessed(monkeypatch):
    monkeypatch.setattr("smqopt.valuation.monotonicity._parameter_boxes.MAX_BOXES", 0)
    monkeypatch.setattr("smqopt.valuation.monotonicity._distinct_rows.MAX_ROWS", 3)
    verdict = smq.from_cdf(E1, 0, 1, c=[0.1, 0.2, 0.3, 0.4, 0.5]).regularity()
    assert isinstance(verdict, smq.Undecided)
    assert verdict.owner == 3
    monkeypatch.setattr("smqopt.valuation.monotonicity._distinct_rows.MAX_ROWS", 5)
    assert isinstance(smq.from_cdf(E1, 0, 1, c=[0.1, 0.2, 0.3, 0.4, 0.5]).regularity(), smq.Regular)


@pytest.mark.parametrize(
    ("cdf", "ends", "parameters"),
    [
        pytest.param(E1, (0, 1), {"c": np.linspace(0.1, 0.885, 2000)}, id="E1"),
        pytest.param(
            "theta**a*(1 + b*(1 - theta))",
            (0, 1),
            {"a": np.linspace(1, 5, 300), "b": np.linspace(0, 0.5, 300)},
            id="two parameters",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "((theta - low)/(high - low))**2*(3 - 2*(theta - low)/(high - low))",
            (np.linspace(0, 1, 100), np.linspace(2, 5, 100)),
            {},
            id="ends by owner",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_many_different_laws_are_decided_in_boxes(cdf, ends, parameters):
    verdict = smq.from_cdf(cdf, *ends, **parameters).regularity()
    assert isinstance(verdict, smq.Regular)
    assert "boxes of parameters" in verdict.method or "signs of its symbols" in verdict.method


def test_boxes_cover_no_row_that_is_irregular():
    """J′ = 3√(1 − cθ) − 1 falls below 0 exactly where c > 8/9: rows crowd at that edge, and the first beyond is the witness."""
    edge = 8 / 9
    c = np.sort(np.concatenate([np.linspace(0.1, 0.88, 80), edge + np.array([-(2.0**-30), 2.0**-12, 2.0**-7])]))
    law = smq.from_cdf(E1, 0, 1, c=c)
    done, _ = rows_in_boxes(law, list(range(c.size)), regularity_goals, density_is_proved=True)
    assert len(done) > 70
    assert np.all(c[sorted(done)] <= edge)
    verdict = law.regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.owner == np.flatnonzero(c > edge)[0]


def test_repeated_rows_are_decided_once(monkeypatch):
    decided = []
    alone = monotone._decide_one
    monkeypatch.setattr(monotone, "_decide_one", lambda law, owner: decided.append(owner) or alone(law, owner))
    law = smq.from_cdf(E1, 0, 1, c=np.tile([0.5, 0.6], 5000))
    assert isinstance(law.regularity(), smq.Regular)
    assert decided == [0, 1]


def test_units_do_not_matter():
    law = smq.from_cdf(E1, 0, 1, c=0.99)
    verdict, scaled = law.regularity(), law.rescale(1000.0).regularity()
    assert scaled.witness == pytest.approx([1000 * t for t in verdict.witness])
    assert scaled.virtual_costs == pytest.approx([1000 * t for t in verdict.virtual_costs])


def test_the_verdict_is_kept():
    law = smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1)
    assert law.regularity() is law.regularity()
    assert law.rescale(2.0).regularity() is law.regularity()


@pytest.mark.parametrize(
    "law",
    [smq.Uniform(1, 2), smq.Power([0.3, 4.0], 0.5, 7), smq.TruncatedExponential([0.01, 30.0], 0.1, 1.7)],
    ids=repr,
)
def test_laws_with_reasons_of_their_own_are_decided_alike(law):
    assert isinstance(law.regularity(), smq.Regular)
    assert isinstance(decide_regularity(law), smq.Regular)


def test_by_owner_gives_the_worst_verdict_and_its_owner():
    bad = smq.from_cdf(E1, 0, 1, c=0.99)
    verdict = smq.ByOwner([smq.Uniform(), smq.Power(2), bad, bad]).regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.owner == 2


@pytest.mark.parametrize("cdf", ["exp(-(1/theta-1)**2)", "exp(-(1/theta-1)**3)", "1/(1-log(theta))"])
def test_laws_that_die_out_at_an_end_are_judged_by_their_rent(cdf):
    law = smq.from_cdf(cdf, low=0, high=1)
    assert isinstance(law.regularity(), smq.Regular)
    J = law.virtual_cost(np.linspace(0.05, 1, 4001))
    assert np.all(np.diff(J) > 0)
    assert next(step for step in smq.derive(law).steps if step.name == "regularity").verdict.name == "PROVED"


@pytest.mark.parametrize("cdf", ["exp(-(1/theta-1)**0.5)", "exp(1 - 1/theta + 0.25*(theta**12 - 1))"])
def test_a_law_that_dies_out_with_a_falling_virtual_cost_is_not_called_regular(cdf):
    law = smq.from_cdf(cdf, low=0, high=1)
    assert not isinstance(law.regularity(), smq.Regular)
    J = law.virtual_cost(np.array([0.99, 1.0]))
    assert J[0] > J[1]


def test_a_sum_of_many_roots_has_its_sign():
    roots = sp.Add(*(sp.Rational(p) ** sp.Rational(1, 5) for p in (2, 3, 5, 7))) - 5
    x = sp.Symbol("x", positive=True)
    assert float(roots) > 0
    assert is_never_negative(roots * x, Domain(()))
    assert not is_never_negative(-roots * x, Domain(()))


def test_the_verdict_does_not_hang_on_who_asks_first():
    """A derivation that has spent its work asked for pieces of the law, and had none."""
    law = smq.Truncated(
        smq.Mixture([smq.Weibull(0.93, 1, 1.7, 2.9), smq.Gamma(1.8, 0.4, 1.7, 2.9)], [0.6, 0.4]), 1.9, 2.6
    )
    with work_budget(0):
        assert isinstance(law.regularity(), smq.Regular)


@pytest.mark.parametrize("radius", [0, 2])
def test_balls_that_overlap_show_no_fall(radius):
    found = falling_pair(
        lambda t: ball(-t) + hull(Fraction(-radius), Fraction(radius)), Fraction(0), Fraction(1), Fraction(1, 2)
    )
    assert (found is None) == (radius > 0)


@pytest.mark.parametrize("b", [0.5, 0.9, 0.99])
def test_a_fall_near_high_is_found_beside_a_ball_that_is_wide(b):
    """At 1/2 F = 1 − (1 − 2⁻³⁰⁰)ᵇ cancels, so that the ball of J there tells nothing."""
    verdict = smq.Kumaraswamy(300, b).regularity()
    assert isinstance(verdict, smq.Irregular)
    with mpmath.workdps(60):
        costs = []
        for theta in map(mpmath.mpf, verdict.witness):
            rest = 1 - theta**300
            costs.append(theta + (1 - rest**b) / (300 * b * theta**299 * rest ** (mpmath.mpf(b) - 1)))
        assert costs[0] > costs[1]
        assert verdict.virtual_costs == pytest.approx([float(cost) for cost in costs], rel=1e-9)
