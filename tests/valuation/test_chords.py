"""How far a cdf leaves its chord between two prices: bounds that hold, and that shrink with the square of the step where a law is known to bend evenly."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import smqopt as smq
from smqopt.market.pooling._chord_bounds import Bend, bends, knots, off_chord

KNOWN = {
    "power": (smq.Power(0.3), Bend.REGULAR),
    "steep power": (smq.Power(7, 0.5, 2.0), Bend.REGULAR),
    "truncated exponential": (smq.TruncatedExponential(3, 0.2, 2), Bend.REGULAR),
    "triangular": (smq.Triangular(0, 0.3, 1), Bend.REGULAR),
    "beta": (smq.Beta(2, 3), Bend.REGULAR),
    "beta, two turns": (smq.Beta(0.4, 0.6, 1, 3), Bend.MONOTONE_DENSITY),
    "beta, rising": (smq.Beta(3, 0.5), Bend.MONOTONE_DENSITY),
    "kumaraswamy": (smq.Kumaraswamy(0.5, 3), Bend.REGULAR),
    "kumaraswamy, two turns": (smq.Kumaraswamy(0.7, 0.2), Bend.MONOTONE_DENSITY),
    "kumaraswamy, rising": (smq.Kumaraswamy(1.0, 0.7), Bend.MONOTONE_DENSITY),
    "cut": (smq.Truncated(smq.Beta(0.4, 0.6), 0.1, 0.9), Bend.MONOTONE_DENSITY),
    "rescaled": (smq.Truncated(smq.Beta(0.4, 0.6), 0.1, 0.9).rescale(3.0), Bend.MONOTONE_DENSITY),
    "gamma": (smq.Gamma(0.5, 1.0, 0, 3), Bend.REGULAR),
    "log-normal": (smq.LogNormal(0, 0.3, 0.2, 3), Bend.REGULAR),
    "normal": (smq.Normal(0.5, 0.1, 0, 1), Bend.REGULAR),
    "formula": (smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1), Bend.REGULAR),
    "irregular formula": (smq.from_cdf("theta/10 + 9*theta**10/10", 0, 1), None),
    "scipy": (smq.from_scipy(scipy.stats.vonmises(3, loc=1), low=0, high=2), None),
    "copula": (smq.GaussianCopula(smq.Beta(2, 2), smq.Uniform(0, 1), -0.5).given(np.array([0.3])).take([0]), None),
    "copula of a uniform law": (
        smq.GaussianCopula(smq.Uniform(1, 3), smq.Uniform(0, 1), 0.6).given(np.array([0.999])),
        Bend.MONOTONE_DENSITY,
    ),
    "copula of a uniform law, against": (
        smq.GaussianCopula(smq.Uniform(0, 1), smq.Uniform(0, 1), -0.6).given(np.array([0.001])),
        Bend.MONOTONE_DENSITY,
    ),
    "mixture": (smq.Mixture([smq.Beta(2, 9), smq.Beta(9, 2)], [0.5, 0.5]), Bend.RISING),
    "uniform": (smq.Uniform(1, 2), Bend.STRAIGHT),
    "histogram": (smq.PiecewiseUniform([0, 1, 2, 4], [1, 0, 3]), Bend.STRAIGHT),
    "atoms": (smq.Discrete([0.5, 2], [1, 2]), Bend.CONSTANT),
    "point": (smq.PointMass(1.5), Bend.CONSTANT),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_cdf_stays_as_near_to_its_chord_as_is_said(name: str) -> None:
    law, kind = KNOWN[name]
    (bend,) = bends(law, 1).tolist()
    assert kind is None or bend == kind
    cuts = np.unique(knots(law, np.array([bend]))[1])
    assert cuts[0] == np.ravel(law.low)[0]
    assert cuts[-1] == np.ravel(law.high)[0]
    rng = np.random.default_rng(1)
    low, high = cuts[:-1], cuts[1:]
    ends = low + (high - low) * np.sort(rng.random((2, 400, 1)) ** rng.choice([0.2, 1, 5], (2, 400, 1)), axis=0)
    ends = np.concatenate([ends, np.broadcast_to([low, high], (1, 2, low.size)).swapaxes(0, 1)], axis=1)
    p0, p1 = ends.reshape(2, -1)
    w = p1 - p0
    F0, f0 = law.cdf(p0), law.pdf(p0) if bend != Bend.CONSTANT else np.zeros(p0.size)
    F1, f1 = (F0, f0) if bend == Bend.CONSTANT else (law.cdf(p1), law.pdf(p1))
    up, down = off_chord(np.full(p0.size, bend), w, (F0, F1), (f0, f1))
    assert (up >= 0).all()
    assert (down >= 0).all()
    steepest = np.maximum(f0, f1)
    slack = 1e-14 + np.where(np.isfinite(steepest), 2 * np.spacing(p1) * steepest, 0.0)  # the price is rounded too
    for t in np.concatenate([[1e-9, 1e-4], np.linspace(0.01, 0.99, 33)]):
        F = law.cdf(p0 + t * w)
        chord = F0 + t * (F1 - F0)
        assert (chord + up + slack >= F).all()
        assert (chord - down - slack <= F).all()


@pytest.mark.parametrize("name", [name for name, (_, kind) in KNOWN.items() if kind in (2, 3)])
def test_the_distance_shrinks_with_the_square_of_the_step(name: str) -> None:
    law, _ = KNOWN[name]
    (bend,) = bends(law, 1)
    middle = np.ravel(law.low)[0] + 0.4 * np.ravel(law.width)[0]
    found = []
    for w in (1e-2, 1e-4):
        p0, p1 = np.array([middle]), np.array([middle + w * np.ravel(law.width)[0]])
        up, down = off_chord(np.array([bend]), p1 - p0, (law.cdf(p0), law.cdf(p1)), (law.pdf(p0), law.pdf(p1)))
        found.append(float((up + down)[0]))
    assert found[1] <= 1e-3 * found[0] + 1e-13


def test_where_densities_turn() -> None:
    law = smq.Beta(np.array([0.4, 3.0, 0.5, 1.0]), np.array([0.6, 0.5, 0.5, 0.5]), 0, np.array([1.0, 2.0, 4.0, 1.0]))
    place, price = knots(law, bends(law, 4))
    inner = [(int(i), float(p)) for i, p in zip(place, price, strict=True) if 0 < p < law.high[i]]
    assert inner == [(0, pytest.approx(0.6)), (2, pytest.approx(2.0))]
    kumaraswamy = smq.Kumaraswamy(0.7, 0.2)
    turn = float(knots(kumaraswamy, bends(kumaraswamy, 1))[1][2])
    at = [float(kumaraswamy.pdf(turn * (1 + step))) for step in (-0.05, 0.0, 0.05)]
    assert at[1] < min(at[0], at[2])


def test_every_law_of_a_family_that_is_not_regular_as_a_whole_is_asked() -> None:
    law = smq.from_cdf("a*theta + (1 - a)*theta**10", low=0, high=1, a=np.array([0.1, 1.0]))
    assert bends(law, 2).tolist() == [Bend.RISING, Bend.REGULAR]
