"""What owners add to a certificate's sums: held by the balls, wherever the Lagrangian is touched, and counted as often as there are owners."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from flint import arb
from law_instances import INSTANCES

import smqopt as smq
from smqopt.numeric import precision
from smqopt.valuation import ball_law, step_law
from smqopt.verification.enclosures._curve import Rows
from smqopt.verification.enclosures._smooth_terms import SmoothCurve
from smqopt.verification.enclosures._step_terms import StepCurve
from smqopt.verification.enclosures._support_lines import support_lines

SMOOTH = {
    "uniform": smq.Uniform(0.2, 1.3),
    "power": smq.Power(1.7, 0.1, 1.0),
    "truncated exponential": smq.TruncatedExponential(3.0, 0, 1),
    "triangular": smq.Triangular(0, 0.3, 1),
    "beta": smq.Beta(2, 3),
    "kumaraswamy": smq.Kumaraswamy(2, 3, 0.5, 2),
    "polynomial": smq.from_cdf("theta**2 * (3 - 2*theta)", low=0, high=1),
}
ALGEBRAIC = {"uniform": SMOOTH["uniform"], "square root": smq.Power(0.5, 0, 2), "square": smq.Power(2, 0.1, 1.0)}
STEPS = {
    "histogram": smq.PiecewiseUniform([0, 1, 2, 4], [3, 1, 2]),
    "price list": smq.Discrete([0.2, 0.5, 0.9], [0.5, 0.2, 0.3]),
    "known": smq.PointMass(0.4),
}
OTHERS = (
    "normal", "logistic", "pareto", "weibull", "irregular histogram", "histogram with empty ends and a gap", "irregular beta",
    "E1, irregular", "from_pdf, irregular", "truncated", "mixture", "from_cdf in another unit", "discrete", "point-mass",
)  # fmt: skip
BY_NAME = {instance.name: instance for instance in INSTANCES}
GRID = np.linspace(0.0, 1.0, 6001)
EXACT = 1e-12


def rows_of(law, seed, price):
    """Terms of any requirement, touched anywhere: what a wrong answer of a solver would leave."""
    rng = np.random.default_rng(seed)
    n = 12
    low, high = float(law.low), float(law.high)
    tangent = low + (high - low) * rng.random(n)
    tangent[:2] = low, high
    requirement = rng.choice([-0.4, 0.0, 0.3, 1.0, 2.5], n)
    prices = price * rng.choice([0.0, 1.0, 1.0, 1.0, 2.0], n)
    count = rng.integers(1, 9, n).astype(float)
    return Rows(np.zeros(n, dtype=np.intp), requirement, prices, count, tangent, np.full(n, low), np.full(n, high))


def best(law, rows):
    """max {0, F(θ)(e − pθ)} over a grid, times how many owners there are."""
    theta = float(law.low) + (float(law.high) - float(law.low)) * GRID
    theta = np.union1d(theta, getattr(law, "values", theta[:1]))
    gain = law.cdf(theta) * (rows.requirement[:, None] - rows.price[:, None] * theta)
    return rows.count * np.maximum(gain.max(axis=1), 0.0)


def check(law, rows, F, top):
    """Acceptances of the touched thresholds, and the sum of the tops."""
    for ball, exact in zip(F, law.cdf(rows.tangent).tolist(), strict=True):
        assert abs(ball - arb(exact)) <= EXACT * max(exact, 1e-3)
    least = float(best(law, rows).sum())
    assert float(top.upper()) >= least * (1 - EXACT)
    return least


def enclose(curve, rows):
    F = curve.acceptances(rows.place, rows.tangent, rows.low, rows.high)
    known, alone = curve.tops(rows, F), curve.tops(rows, [None] * len(F))
    assert abs(known - alone) <= EXACT
    return F, alone


@pytest.mark.parametrize("price", [0.05, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_laws(name, price):
    law = SMOOTH[name]
    rows = rows_of(law, len(name), price)
    with precision(128):
        check(law, rows, *enclose(SmoothCurve(ball_law(law)), rows))


LINED = {**SMOOTH, **ALGEBRAIC, **STEPS, **{name: BY_NAME[name].law for name in OTHERS}}


@pytest.mark.parametrize("name", LINED)
def test_lines_lie_below_the_cost_curve(name):
    """At thresholds of any kind, for the steepest and the flattest line that is said to touch there."""
    law = LINED[name]
    lines = support_lines(law)
    assert not isinstance(lines, str)
    low, high = float(law.low), float(law.high)
    rng = np.random.default_rng(len(name))
    knots = law.knots()
    theta = np.concatenate([low + (high - low) * rng.random(60), getattr(law, "values", knots), knots, [low, high]])
    known = lines.at(theta, slice(0, theta.size))
    F = law.cdf(theta)
    assert np.all((known.low <= F * (1 + EXACT)) & (known.high >= F * (1 - EXACT)))
    grid = np.union1d(low + (high - low) * GRID, getattr(law, "values", knots))
    q = law.cdf(grid)
    scale = max(1.0, float(np.max(grid)))
    for slope in (known.slope_above, known.slope_below):
        usable = np.isfinite(slope)
        line = known.low[usable, None] * theta[usable, None] + slope[usable, None] * (q - known.low[usable, None])
        assert np.all(line <= grid * q + lines.slack + EXACT * scale * (1 + slope[usable, None]))
    assert not np.isnan(known.slope_above).all()


@pytest.mark.parametrize("price", [0.05, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("name", STEPS)
def test_tables(name, price):
    law = STEPS[name]
    rows = rows_of(law, len(name), price)
    with precision(128):
        F, top = enclose(StepCurve(*step_law(law)), rows)
        least = check(law, rows, F, top)
        assert float(top.upper()) <= least * (1 + 1e-5)  # a table's top does not depend on where it is touched


@pytest.mark.parametrize("name", SMOOTH)
def test_a_smooth_top_is_tight_where_it_is_touched_at_the_top(name):
    law = SMOOTH[name]
    rows = rows_of(law, len(name), 0.7)
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(rows.requirement > 0, rows.requirement / rows.price, 0.0)
    there = np.array([float(law.offer(np.array([x]))[0][0]) for x in v])
    rows = dataclasses.replace(rows, tangent=there)
    with precision(128):
        _, top = enclose(SmoothCurve(ball_law(law)), rows)
        assert float(top.upper()) <= float(best(law, rows).sum()) * (1 + 1e-5)
