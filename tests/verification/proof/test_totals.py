"""What owners add to a certificate's sums: held by the balls, wherever the Lagrangian is touched, and counted as often as there are owners."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

import smqopt as smq
from smqopt.numeric.balls import precision
from smqopt.verification.proof.algebraic_terms import algebraic_law, algebraic_totals
from smqopt.verification.proof.ball_laws import ball_law
from smqopt.verification.proof.smooth_terms import smooth_totals
from smqopt.verification.proof.step_terms import step_law, step_totals
from smqopt.verification.proof.totals import Rows

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
GRID = np.linspace(0.0, 1.0, 6001)
EXACT = 1e-12


def rows_of(law, seed):
    """Owners that are offered anything, and touched anywhere: what a wrong answer of a solver would leave."""
    rng = np.random.default_rng(seed)
    n = 12
    low, high = float(law.low), float(law.high)
    theta, touch = low + (high - low) * rng.random((2, n))
    touch[:2] = low, high
    epsilon = rng.choice([0.0, 0.3, 1.0, 2.5], n)
    ends = np.full(n, low), np.full(n, high)
    return Rows(
        np.zeros(n, dtype=np.intp),
        epsilon,
        rng.integers(1, 9, n).astype(float),
        theta,
        rng.random(n) < 0.7,
        touch,
        *ends,
    )


def best(law, rows, price):
    """max F(θ)(ε − λθ) over a grid, times how many owners there are."""
    theta = float(law.low) + (float(law.high) - float(law.low)) * GRID
    theta = np.union1d(theta, getattr(law, "values", theta[:1]))
    gain = law.cdf(theta) * (rows.epsilon[:, None] - price * theta)
    return rows.count * np.maximum(gain.max(axis=1), 0.0)


def check(law, rows, price, totals):
    F = np.where(rows.offered, law.cdf(rows.threshold), 0.0)
    for ball, exact in (
        (totals.privacy, rows.epsilon @ (rows.count * F)),
        (totals.spend, rows.threshold @ (rows.count * F)),
    ):
        assert abs(ball - arb(float(exact))) <= EXACT * float(exact)
    least = float(best(law, rows, price).sum())
    assert float(totals.top.upper()) >= least * (1 - EXACT)
    return least


@pytest.mark.parametrize("price", [0.05, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_laws(name, price):
    law = SMOOTH[name]
    rows = rows_of(law, len(name))
    with precision(128):
        check(law, rows, price, smooth_totals(ball_law(law), rows, arb(price), common=True))


@pytest.mark.parametrize("price", [0.05, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("name", ALGEBRAIC)
def test_algebraic_laws(name, price):
    law = ALGEBRAIC[name]
    rows = rows_of(law, len(name))
    with precision(128):
        check(law, rows, price, algebraic_totals(algebraic_law(law), rows, arb(price)))


@pytest.mark.parametrize("price", [0.05, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("name", STEPS)
def test_tables(name, price):
    law = STEPS[name]
    rows = rows_of(law, len(name))
    with precision(128):
        totals = step_totals(*step_law(law), rows, arb(price))
        least = check(law, rows, price, totals)
        assert float(totals.top.upper()) <= least * (1 + 1e-5)  # a table's top does not depend on where it is touched


@pytest.mark.parametrize("name", SMOOTH)
def test_a_smooth_top_is_tight_where_it_is_touched_at_the_top(name):
    law, price = SMOOTH[name], 0.7
    rows = rows_of(law, len(name))
    v = np.where(rows.epsilon > 0, rows.epsilon / price, 0.0)
    there = np.array([float(law.offer(np.array([x]))[0][0]) for x in v])
    rows = Rows(*(there if column == "touch" else getattr(rows, column) for column in Rows.__dataclass_fields__))
    with precision(128):
        totals = smooth_totals(ball_law(law), rows, arb(price), common=True)
        assert float(totals.top.upper()) <= float(best(law, rows, price).sum()) * (1 + 1e-5)
