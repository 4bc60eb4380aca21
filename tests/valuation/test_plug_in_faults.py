"""Faults that random plug-ins have found, each by itself."""

import time

import numpy as np
import pytest

import smqopt as smq
from smqopt.valuation import valuation_from_dict


class Powers(smq.Valuation):
    """θ^k on [0, high], whose parameters are not named."""

    def __init__(self, k, high=1.0, **methods):
        self.low, self.high, self.k = 0.0, high, k
        for name, method in methods.items():
            setattr(self, name, method)

    def cdf(self, t):
        return np.clip(np.asarray(t) / self.high, 0.0, 1.0) ** self.k

    def pdf(self, t):
        x = np.asarray(t) / self.high
        return np.where((x >= 0) & (x <= 1), self.k * np.clip(x, 0, 1) ** (self.k - 1) / self.high, 0.0)


class NamedInPart(Powers):
    parameters = ("low", "high")


class Gap(smq.Valuation):
    """Half the mass on [0, ¼], half on [¾, 1]."""

    low, high = 0.0, 1.0

    def cdf(self, t):
        return np.interp(t, [0, 0.25, 0.75, 1], [0, 0.5, 0.5, 1])

    def pdf(self, t):
        x = np.asarray(t)
        return np.where(((x >= 0) & (x < 0.25)) | ((x >= 0.75) & (x <= 1)), 2.0, 0.0)


@pytest.mark.parametrize("kind", [Powers, NamedInPart])
def test_laws_that_keep_something_to_themselves_stay_apart(kind):
    law = smq.ByOwner([kind(1.0), kind(2.0), kind(3.0)])
    assert law.cdf(0.5).tolist() == [0.5, 0.25, 0.125]
    assert law.take(np.array([2, 0])).cdf(0.5).tolist() == [0.125, 0.5]
    assert smq.Truncated(kind(2.0), 0.25, 0.75).take(slice(None)).cdf(0.5) == pytest.approx(0.375)


def test_estimates_of_different_owners_stay_apart():
    first, second = smq.from_samples([1.0, 2.0, 3.0]), smq.from_samples([2.0, 5.0, 7.0])
    law = smq.ByOwner([first, second, first])
    assert law.high.tolist() == [first.high, second.high, first.high]
    mixed = smq.ByOwner([smq.Mixture([one, smq.Uniform(0, 9)], [1, 1]) for one in (first, second)])
    wanted = [0.5 * float(one.cdf(2.5)) + 0.5 * 2.5 / 9 for one in (first, second)]
    assert mixed.cdf(2.5) == pytest.approx(wanted, rel=1e-15)


def test_point_masses_are_still_gathered():
    law = smq.ByOwner([valuation_from_dict({"law": "point-mass", "value": v}) for v in (1.0, 2.0)])
    assert len(list(law.parts())) == 1
    assert law.low.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("share", [0.2, 0.4, 0.5, 0.6, 0.8])
@pytest.mark.parametrize(
    "law", [Gap(), smq.ByOwner([Gap()] * 3), smq.Mixture([smq.Uniform(0, 0.25), smq.Uniform(0.75, 1)], [1, 1])]
)
def test_a_flat_piece_over_a_gap_may_be_steeper_than_any_virtual_cost(law, share):
    market = smq.Market([0.5, 1.0, 0.3], law)
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons


@pytest.mark.parametrize(
    ("methods", "rule"),
    [
        ({"log_cdf": lambda t: np.zeros(np.shape(t))}, "logarithm of F"),
        ({"log_survival": lambda t: np.zeros(np.shape(t))}, "logarithm of 1 − F"),
        ({"inverse_virtual_cost": lambda v: np.clip(np.asarray(v, dtype=float), 0, 1)}, "where J is v"),
        ({"inverse_virtual_cost": lambda v: 2 * np.asarray(v, dtype=float)}, "in the support"),
        ({"offer": lambda v: (np.zeros(np.shape(v)), np.ones(np.shape(v)))}, "the offer must be"),
        ({"offer": lambda v: (np.minimum(v / 1.5, 1), np.ones(np.shape(v)))}, "acceptance must be F"),
    ],
)
def test_what_a_third_party_claims_is_checked(methods, rule):
    with pytest.raises(smq.InputError, match=rule):
        smq.Market([0.5], Powers(2.0, **methods))


def fails(_):
    raise ZeroDivisionError("no price today")


def fails_for_many(t):
    return fails(t) if np.size(t) > 2 else np.clip(t, 0, 1)


@pytest.mark.parametrize(
    ("methods", "rule"),
    [
        ({"cdf": fails}, "cdf raises ZeroDivisionError: no price today"),
        ({"pdf": fails}, "pdf raises ZeroDivisionError"),
        ({"ppf": fails}, "ppf raises ZeroDivisionError"),
        ({"cdf": fails_for_many}, "raises ZeroDivisionError"),
        ({"cdf": lambda t: 0.5 if t > 0.5 else 0.0}, "cdf raises ValueError"),
        ({"ppf": lambda _: 0.5}, "ppf must give one number for each point"),
    ],
)
def test_errors_of_others_are_told_as_what_they_are(methods, rule):
    with pytest.raises(smq.InputError, match=rule):
        smq.Market([0.5], Powers(2.0, **methods))


def test_a_cut_of_a_cut_is_one_cut():
    once = smq.Truncated(smq.Power(1.083, 1.3186, 4.1762), 3.3189, 4.1059)
    twice = smq.Truncated(once, 3.4618, 3.963)
    assert twice.law is once.law
    assert twice.cdf(3.7) == smq.Truncated(smq.Power(1.083, 1.3186, 4.1762), 3.4618, 3.963).cdf(3.7)
    assert smq.verify(smq.solve(smq.Market([0.5, 1.0], twice), 2.0)).valid


def test_a_formula_too_long_to_be_read_is_none():
    law = smq.Mixture([smq.LogNormal(0, 0.1 * k, 0.5, 2.0) for k in range(1, 30)], np.ones(29))
    assert not law.formula
    assert law.regularity()


UNIFORM = {"law": "uniform", "low": 0, "high": 1}


@pytest.mark.parametrize(
    ("table", "rule"),
    [
        (3, "must be a table"),
        ({"law": "rescaled", "factor": 2, "valuation": 3}, "must be a table"),
        ({"law": "rescaled", "factor": 2, "valuation": UNIFORM, "colour": 1}, "'colour'"),
        ({"law": "truncated", "low": 0, "high": 1, "valuation": UNIFORM, "colour": 1}, "'colour'"),
        ({"law": "mixture", "laws": [UNIFORM], "weights": [1], "colour": 1}, "'colour'"),
        ({"law": "by-owner", "parts": [{"owners": [0], "valuation": UNIFORM}], "colour": 1}, "'colour'"),
        ({"law": "by-owner", "parts": [{"owners": [0], "valuation": UNIFORM, "colour": 1}]}, "'colour'"),
        ({"law": "by-owner", "parts": [{"owners": [10**30], "valuation": UNIFORM}]}, "whole numbers from 0"),
    ],
)
def test_tables_with_something_else_in_them_are_refused(table, rule):
    with pytest.raises(smq.InputError, match=rule):
        valuation_from_dict(table)


@pytest.mark.parametrize(
    "make",
    [
        lambda ragged: smq.Discrete(ragged, [1, 1]),
        lambda ragged: smq.PiecewiseUniform([0, 1, 2], ragged),
        lambda ragged: smq.Mixture([smq.Uniform(), smq.Uniform()], ragged),
        lambda ragged: smq.Uniform(0, ragged),
        lambda ragged: smq.GaussianCopula(smq.Uniform(), smq.Uniform(), 0.5).given(ragged),
        smq.from_samples,
    ],
)
def test_ragged_columns_are_refused(make):
    with pytest.raises(smq.InputError, match="rows of one length"):
        make([1.25, [2.5]])


def test_numbers_beyond_doubles_are_refused():
    with pytest.raises(smq.InputError, match="row 1") as error:
        smq.from_samples([10**400, 1.0])
    assert "000" not in str(error.value)
    with pytest.raises(smq.InputError, match="is nothing beside the others"):
        smq.Mixture([smq.Uniform(), smq.Uniform()], [1e-300, 1e200])


def test_costs_beyond_doubles():
    with pytest.raises(smq.InputError, match=r"entry 2: is too little for the width .* beyond doubles"):
        smq.PiecewiseUniform([1e290, 2e290, 3e290, 4e290], [1e12, 1e-15, 1e12])
    law = smq.Discrete([5e289, 1e290, 2e290], [1e11, 1e-15, 1e-14])
    assert law.flat_pieces().slope[-1] == np.inf


def test_formulas_that_symbolic_work_would_not_finish():
    started = time.process_time()
    for text in ("theta**0.285", "theta*exp((-1)*0.659*theta)"):
        law = smq.from_pdf(text, 1.0, 2.0)
        assert smq.verify(smq.solve(smq.Market([0.5, 1.0], law), 0.5)).valid
    with pytest.raises(smq.InputError, match="too large"):
        smq.from_pdf("exp(exp(exp(100)))*theta", 0, 1)
    assert time.process_time() - started < 20


def test_tangents_of_sums_with_right_angles():
    with pytest.raises(smq.InputError, match="must be"):
        smq.from_cdf("tan(theta*pi*0.270 + pi/2)", 0, 1)
    law = smq.from_cdf("tan(theta*pi/4 + pi/2)*tan(pi*theta/4)*(-1)*theta", 0, 1)
    assert float(law.cdf(0.5)) == pytest.approx(0.5, rel=1e-15)


def test_who_has_nothing_to_sell_is_offered_nothing_at_a_price_of_zero():
    law = smq.from_cdf("(exp((-1)*5000*theta) - 1)/(exp((-1)*5000) - 1)", 0.0, 1.0)
    solution = smq.solve(smq.Market([0.0, 1.0, 0.5], law), 0.6 * 3)
    assert np.all(np.isfinite(solution.acceptance))


@pytest.mark.parametrize(
    "make",
    [
        lambda end: smq.from_cdf("theta/high", 0.0, end),
        lambda end: smq.Uniform(0.0, end),
        lambda end: smq.PiecewiseUniform([0.0, end], [1.0]),
        lambda end: smq.from_samples([0.0, end]),
        lambda end: smq.Market([1.0], Powers(2.0, end)),
    ],
)
@pytest.mark.parametrize("end", [1.7e308, 5e-324])
def test_units_that_doubles_cannot_carry_are_refused(make, end):
    with pytest.raises(smq.InputError, match=r"unit of currency|row 2"):
        make(end)


def test_one_end_is_asked_for_where_there_is_one_law():
    scipy_stats = pytest.importorskip("scipy.stats")
    with pytest.raises(smq.InputError, match="must be one number"):
        smq.from_scipy(scipy_stats.norm(), [0.0, 0.5], 1.0)
    with pytest.raises(smq.InputError, match=r"must be numbers, and a law with atoms common to all owners.*ByOwner"):
        smq.Truncated(smq.Discrete([1, 2, 3], [1, 1, 1]), [1.0, 1.0], [2.0, 3.0])


def test_a_class_of_distributions_is_no_distribution():
    scipy_stats = pytest.importorskip("scipy.stats")
    with pytest.raises(smq.InputError, match="not a class"):
        smq.from_scipy(scipy_stats.Normal, 0.0, 1.0)


def test_numbers_beyond_doubles_in_a_formula_are_refused():
    with pytest.raises(smq.InputError, match="cdf '1e400"):
        smq.from_cdf("1e400*theta", 0, 1)
