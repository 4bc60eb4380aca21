"""The named laws against mpmath, in both tails; regularity with its witnesses; histograms and atoms exactly."""

import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from law_oracles import EXTREME, FAMILIES, REGULAR, oracle
from mpmath import mpf

import smqopt as smq
from smqopt.errors import InputError
from smqopt.valuation import LAWS, valuation_from_dict

EPS = 2.0**-52
SHARES = [1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-6]
LEVELS = [1e-100, 1e-20, 1e-6, 0.1, 0.5, 0.9, 0.999, 1 - 1e-12]
SMALLEST = 1e-280
"""Smaller probabilities may be lost to underflow."""
LARGEST = mpf("1e300")
EVERY = [*REGULAR, *EXTREME]


def digits(law):
    """So many that the oracle's own cancellation does no harm; less cancels in incomplete beta and gamma functions, which are dear."""
    return {"gamma": 40, "beta": 60}.get(law.name, 160)


def owners(law):
    return range(law.size or 1)


def at(law, method, owner, x):
    value = getattr(law, method)(np.full(law.size, x) if law.size else x)
    return float(np.broadcast_to(value, law.size or 1)[owner])


def points(law, owner):
    low, high = (float(np.broadcast_to(end, law.size or 1)[owner]) for end in (law.low, law.high))
    every = [low + (high - low) * share for share in SHARES]
    return [t for t in every if low < t < high]


def allowed(exact, function, t):
    """Rounding of a few units, of the exponent of a tiny or huge number, and of θ itself (by a difference of the oracle)."""
    step = t * mpf(2) ** -60
    moved = abs(function(t + step) - function(t - step)) / 2 / abs(exact) * 2**60
    return EPS * (40 + 2 * abs(float(mpmath.log(exact))) + 8 * float(min(moved, LARGEST)))


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_cdf_density_and_virtual_cost(law):
    seen = 0
    for owner in owners(law):
        with mpmath.workdps(digits(law)):
            truth = oracle(law, owner)
            for t in points(law, owner):
                x = mpf(t)
                for name, function in (
                    ("cdf", truth.cdf), ("pdf", truth.pdf), ("virtual_cost", lambda y, truth=truth: y + truth.rent(y)),
                ):  # fmt: skip
                    exact = function(x)
                    if SMALLEST < exact < LARGEST:
                        seen += 1
                        got = at(law, name, owner, t)
                        assert abs(mpf(got) / exact - 1) <= allowed(exact, function, x), (name, owner, t, got, exact)
    assert seen >= 12


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_logarithms_in_both_tails(law):
    for owner in owners(law):
        with mpmath.workdps(digits(law)):
            truth = oracle(law, owner)
            for t in points(law, owner):
                x = mpf(t)
                for name, share in (("log_cdf", truth.cdf(x)), ("log_survival", truth.survival(x))):
                    other = truth.survival(x) if name == "log_cdf" else truth.cdf(x)
                    if other < SMALLEST or share <= 0:
                        continue
                    exact = mpmath.log(share) if share < 0.5 else mpmath.log1p(-other)
                    spacing = abs(truth.pdf(x) / share) * np.spacing(t)
                    got = at(law, name, owner, t)
                    assert abs(got - exact) <= 60 * EPS * abs(exact) + 60 * EPS * share + 4 * spacing, (name, t, got)


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_quantiles_in_both_tails(law):
    """F crosses u within a few spacings of doubles round F⁻¹(u), or F itself is off by a few roundings."""
    for owner in owners(law):
        with mpmath.workdps(digits(law)):
            truth = oracle(law, owner)
            for u in LEVELS:
                theta = at(law, "ppf", owner, u)
                assert truth.low <= theta <= truth.high
                grain = 8 * np.spacing(theta)
                below, above = max(mpf(theta) - grain, truth.low), min(mpf(theta) + grain, truth.high)
                level = mpf(u)
                if u < 0.5:
                    slack = 64 * EPS * level
                    assert truth.cdf(below) - slack <= level <= truth.cdf(above) + slack, (u, theta)
                else:
                    slack = 64 * EPS * (1 - level)
                    assert truth.survival(above) - slack <= 1 - level <= truth.survival(below) + slack, (u, theta)


@pytest.mark.parametrize("law", REGULAR, ids=repr)
def test_inverse_virtual_cost_undoes_the_virtual_cost(law):
    for owner in owners(law):
        for t in points(law, owner):
            cost = at(law, "virtual_cost", owner, t)
            if math.isfinite(cost):
                back = at(law, "inverse_virtual_cost", owner, cost)
                assert abs(back - t) <= 8 * np.spacing(t) + 8 * np.spacing(cost), (owner, t, back)


def test_the_tail_that_common_tools_lose():
    law = smq.Normal(0, 1, 8, 9)
    with mpmath.workdps(60):
        tail = mpf("0.1") * mpmath.ncdf(-8) + mpf("0.9") * mpmath.ncdf(-9)
        exact = mpmath.findroot(lambda z: mpmath.ncdf(-z) / tail - 1, 8.28)
    assert float(law.ppf(0.9)) == pytest.approx(float(exact), rel=1e-15)
    assert float(law.ppf(0.9)) == pytest.approx(8.2786, abs=5e-5)


@pytest.mark.parametrize("law", [law for law in REGULAR if law.size is None], ids=repr)
def test_ends_are_limits(law):
    """J(low) = low whatever f(low); J(high) = ∞ exactly where f(high) = 0."""
    low, high = law.low, law.high
    assert float(law.virtual_cost(low)) == low
    f = float(law.pdf(high))
    cost = float(law.virtual_cost(high))
    assert cost == math.inf if f == 0 else cost == pytest.approx(high + (1 / f if f < math.inf else 0), rel=1e-13)
    assert law.virtual_cost(np.array([low - 1, high + 1, np.nan])) == pytest.approx([np.nan] * 3, nan_ok=True)
    assert law.inverse_virtual_cost(np.array([0.0, np.inf])).tolist() == [low, high]
    assert law.log_cdf(np.array([low, high])).tolist() == [-np.inf, 0]
    assert law.log_survival(np.array([low, high])).tolist() == [0, -np.inf]


@pytest.mark.parametrize("b", [0.01, 0.5, 0.99, 1 - 1e-9, 1 - 2.0**-53])
@pytest.mark.parametrize("a", [0.3, 1.0, 6.0])
@pytest.mark.parametrize("cls", [smq.Beta, smq.Kumaraswamy])
@pytest.mark.parametrize("ends", [(0.0, 1.0), (2.0, 2.5)])
def test_beta_and_kumaraswamy_are_irregular_below_one(cls, a, b, ends):
    law = cls(a, b, *ends)
    verdict = law.regularity()
    assert isinstance(verdict, smq.Irregular)
    first, second = verdict.witness
    assert law.low < first < second <= law.high
    with mpmath.workdps(50):
        truth = oracle(law)
        costs = [t + (truth.rent(mpf(t)) if t < law.high else 0) for t in (first, second)]  # f(high) is infinite
        assert costs[0] > costs[1]
        assert verdict.virtual_costs == pytest.approx([float(cost) for cost in costs], rel=1e-15)
    if b <= 0.99:
        assert second < law.high


@pytest.mark.parametrize("cls", [smq.Beta, smq.Kumaraswamy])
def test_the_worst_verdict_and_its_owner(cls):
    assert isinstance(cls([0.2, 1, 5], 1.0).regularity(), smq.Regular)
    verdict = cls([2.0, 2.0, 0.5], [3.0, 0.5, 0.4]).regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.owner == 1
    assert cls([2.0, 2.0], 0.5).regularity().owner == 0


@pytest.mark.parametrize("law", [law for law in EXTREME if isinstance(law.regularity(), smq.Regular)], ids=repr)
def test_regular_laws_have_a_virtual_cost_that_rises(law):
    theta = law.low + (law.high - law.low) * np.linspace(0, 1, 2001)
    cost = law.virtual_cost(np.clip(theta, law.low, law.high))
    assert not np.any(np.isnan(cost))
    with np.errstate(invalid="ignore"):
        assert np.all((cost[1:] >= cost[:-1] * (1 - 8 * EPS)) | np.isposinf(cost[:-1]))


# --- which density decides ----------------------------------------------------------------------------------------


@given(st.data())
def test_histograms_exactly(data):
    m = data.draw(st.integers(1, 6))
    widths = data.draw(st.lists(st.integers(1, 8), min_size=m, max_size=m))
    masses = data.draw(st.lists(st.integers(0, 4), min_size=m, max_size=m).filter(any))
    start = data.draw(st.integers(0, 3))
    edges = [Fraction(start)]
    for width in widths:
        edges.append(edges[-1] + Fraction(width, 4))
    law = smq.PiecewiseUniform([float(edge) for edge in edges], masses)
    total = sum(masses)
    filled = [k for k in range(m) if masses[k] > 0]
    assert law.low == edges[filled[0]]
    assert law.high == edges[filled[-1] + 1]
    density = [Fraction(masses[k], total) / (edges[k + 1] - edges[k]) for k in range(m)]
    for k in range(filled[0], filled[-1] + 1):
        below = Fraction(sum(masses[:k]), total)
        for share in (Fraction(0), Fraction(1, 4), Fraction(3, 4)):
            t = edges[k] + share * (edges[k + 1] - edges[k])
            F = below + share * Fraction(masses[k], total)
            assert float(law.cdf(float(t))) == pytest.approx(float(F), rel=4 * EPS)
            assert float(law.pdf(float(t))) == pytest.approx(float(density[k]), rel=4 * EPS)
            expected = float(t + F / density[k]) if masses[k] else math.inf
            assert float(law.virtual_cost(float(t))) == pytest.approx(expected, rel=8 * EPS)
            if masses[k] and 0 < F < 1 and share:
                assert float(law.ppf(float(F))) == pytest.approx(float(t), rel=8 * EPS)
    inner = density[filled[0] : filled[-1] + 1]
    falling = all(inner[k] >= inner[k + 1] for k in range(len(inner) - 1))
    verdict = law.regularity()
    assert isinstance(verdict, smq.Regular if falling else smq.Irregular)
    if not falling:
        (first, second), costs = verdict.witness, verdict.virtual_costs
        assert first < second
        assert costs[0] > costs[1]
        assert law.virtual_cost(np.array([first, second])) == pytest.approx(costs, rel=8 * EPS)
    else:
        theta = law.low + (law.high - law.low) * np.linspace(0, 1, 41)
        assert law.inverse_virtual_cost(law.virtual_cost(theta)) == pytest.approx(theta, rel=8 * EPS)
        price = np.linspace(0, 2 * law.high + 4, 101)
        assert np.all(np.diff(law.inverse_virtual_cost(price)) >= 0)
    acceptance, first, last = law.cost_pieces()
    assert acceptance[0] == 0
    assert acceptance[-1] == 1
    middle = 0.5 * (acceptance[1:] + acceptance[:-1])
    assert law.ppf(middle) == pytest.approx(0.5 * (first + last), rel=8 * EPS)


def test_a_histogram_whose_density_jumps_up():
    """Density 5/9 on [0, 0.9] and 5 on [0.9, 1]."""
    verdict = smq.PiecewiseUniform([0, 0.9, 1], [1, 1]).regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.witness == (math.nextafter(0.9, 0), 0.9)
    assert verdict.virtual_costs == pytest.approx((1.8, 1.0))


def test_densities_are_compared_as_the_doubles_they_are():
    up = math.nextafter(0.5, 1)
    assert isinstance(smq.PiecewiseUniform([0, 1, 2], [0.5, 0.5]).regularity(), smq.Regular)
    assert isinstance(smq.PiecewiseUniform([0, 1, 2], [up, 0.5]).regularity(), smq.Regular)
    assert not isinstance(smq.PiecewiseUniform([0, 1, 2], [0.5, up]).regularity(), smq.Regular)


def test_in_a_gap_the_virtual_cost_is_infinite():
    law = smq.PiecewiseUniform([0, 1, 2, 4], [3, 0, 1])
    assert law.virtual_cost(np.array([0.5, 1.0, 1.5, 2.0])).tolist() == [1.0, math.inf, math.inf, 8.0]
    assert law.ppf(np.array([0.75, 0.75 + 2.0**-52])) == pytest.approx([1.0, 2.0])
    verdict = law.regularity()
    assert verdict.witness == (1.5, 2.0)
    assert verdict.virtual_costs == (math.inf, 8.0)


def test_atoms():
    law = smq.Discrete([1, 2, 5], [1, 2, 1])
    assert law.cdf(np.array([0.0, 1.0, 1.9, 2.0, 4.0, 5.0, 9.0])).tolist() == [0, 0.25, 0.25, 0.75, 0.75, 1, 1]
    assert law.ppf(np.array([0.0, 0.25, 0.2501, 0.75, 1.0])).tolist() == [1, 1, 2, 2, 5]
    assert np.isnan(law.ppf(1.5))
    assert law.pdf(np.array([1.0, 1.5, 5.0])).tolist() == [math.inf, 0, math.inf]
    assert law.virtual_cost(np.array([1.0, 1.5, 5.0])).tolist() == [1, math.inf, 5]
    assert law.log_survival(np.array([0.5, 2.0, 5.0])).tolist() == [0, math.log(0.25), -math.inf]
    assert [column.tolist() for column in law.cost_points()] == [[0.25, 0.75, 1.0], [0.25, 1.5, 5.0]]
    verdict = law.regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.virtual_costs == (math.inf, 2.0)
    draws = law.sample(np.random.default_rng(3), 4000)
    assert np.mean(draws == 2) == pytest.approx(0.5, abs=0.04)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=7, unique=True), st.data())
def test_the_hull_of_atoms(values, data):
    values = sorted(values)
    masses = data.draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
    law = smq.Discrete(values, masses)
    pieces = law.flat_pieces()
    assert pieces.low_acceptance[0] == 0
    assert pieces.high_acceptance[-1] == 1
    assert np.array_equal(pieces.low_acceptance[1:], pieces.high_acceptance[:-1])
    assert np.array_equal(pieces.low[1:], pieces.high[:-1])
    assert np.all(np.diff(pieces.slope) > 0)
    assert np.array_equal(law.cdf(pieces.high), pieces.high_acceptance)
    q, cost = law.cost_points()  # no point lies below the hull
    hull = np.interp(q, np.append(0, pieces.high_acceptance), np.append(0, pieces.high * pieces.high_acceptance))
    assert np.all(cost >= hull - 4 * EPS * cost)


def test_a_point_mass_is_a_lottery_between_no_offer_and_its_value():
    law = smq.Discrete([2.0], [1.0])
    assert law.low == law.high == 2.0
    assert law.width == 0
    pieces = law.flat_pieces()
    assert (pieces.low.tolist(), pieces.high.tolist(), pieces.slope.tolist()) == ([2.0], [2.0], [2.0])
    theta, q = law.offer(np.array([1.0, 2.0, 3.0]))
    assert (theta.tolist(), q.tolist()) == ([2.0, 2.0, 2.0], [0.0, 1.0, 1.0])
    solution = smq.solve(smq.Market([1.0, 1.0], law), 1.0)
    assert solution.total_spend == pytest.approx(1.0, rel=1e-12)
    assert solution.purchased_privacy == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("law", [smq.PiecewiseUniform([0, 1, 2], [3, 1]), smq.Discrete([1, 2], [1, 1])], ids=repr)
def test_tables_by_owner_and_as_data(law):
    again = valuation_from_dict(json.loads(json.dumps(law.to_dict())))
    assert again.family == law.family
    mixed = smq.ByOwner([law, smq.Uniform(0, 1), again])
    assert mixed.size == 3
    assert len(list(mixed.parts())) == 2
    assert mixed.cdf([1.0, 0.5, 1.0]).tolist() == [float(law.cdf(1.0)), 0.5, float(law.cdf(1.0))]
    back = valuation_from_dict(json.loads(json.dumps(mixed.to_dict())))
    assert back.to_dict() == mixed.to_dict()
    doubled = law.rescale(2.0)
    assert (doubled.low, doubled.high) == (2 * law.low, 2 * law.high)
    assert np.array_equal(doubled.ppf(np.linspace(0, 1, 9)), 2 * law.ppf(np.linspace(0, 1, 9)))


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: smq.Beta(0, 1), "parameter 'a': must be positive"),
        (lambda: smq.Beta([1, 2], [1, -1]), "parameter 'b' of owner 2: must be positive"),
        (lambda: smq.Kumaraswamy(2, 3, 1, 1), "must exceed low"),
        (lambda: smq.Gamma(1, 0, 0, 1), "parameter 'scale': must be positive"),
        (lambda: smq.Weibull(math.nan, 1, 0, 1), "must be finite"),
        (lambda: smq.Normal(0, -1, 0, 1), "parameter 'sd': must be positive"),
        (lambda: smq.LogNormal(0, 1, -1, 1), "must not be negative"),
        (lambda: smq.Logistic(0, 1, 0, math.inf), "must be finite"),
        (lambda: smq.Pareto(1, 0, 1), "parameter 'low': must be positive"),
        (lambda: smq.Triangular(0, 2, 1), "must lie in"),
        (lambda: smq.PiecewiseUniform([0, 1], [1, 2]), "one more than the masses"),
        (lambda: smq.PiecewiseUniform([0, 1, 1], [1, 2]), "must rise"),
        (lambda: smq.PiecewiseUniform([0, 1, 2], [1, -2]), "entry 2: must be a finite number"),
        (lambda: smq.PiecewiseUniform([0, 1], [0]), "must not all be 0"),
        (lambda: smq.PiecewiseUniform("ab", [0]), "must be a list"),
        (lambda: smq.Discrete([2, 1], [1, 1]), "must exceed the one before"),
        (lambda: smq.Discrete([1, 2], [1, 0]), "must be positive"),
        (lambda: smq.Discrete([1, 2], [1]), "must have 2 values"),
        (lambda: smq.Discrete([-1], [1]), "finite number ≥ 0"),
        (lambda: smq.Discrete(["a"], [1]), "must hold numbers"),
    ],
)  # fmt: skip
def test_bad_parameters(make, rule):
    with pytest.raises(InputError, match=rule):
        make()


def test_every_named_law_has_an_oracle():
    others = {"uniform", "power", "truncated-exponential", "piecewise-uniform", "discrete", "point-mass"}
    assert set(LAWS) <= set(FAMILIES) | others
    assert len(REGULAR) + len(EXTREME) >= 60
