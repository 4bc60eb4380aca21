"""Bounds that only a monotone F gives: they hold whatever hides between the prices seen, and they close."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.valuation import Valuation, bound_by_cells, bound_together
from smqopt.valuation.ironing import _shared_cell_bound as shared


class Bump(Valuation):
    """A law without a formula: uniform but for a mass of .004 within 1e-7, which its cdf alone knows."""

    low, high = 0.0, 1.0

    def __init__(self, place: float, mass: float = 0.004, width: float = 1e-7) -> None:
        self.place, self.mass, self.width_of_bump = place, mass, width

    def _cdf(self, theta):
        return (1 - self.mass) * theta + self.mass * np.clip((theta - self.place) / self.width_of_bump, 0, 1)

    def _pdf(self, theta):
        return np.full_like(theta, 1 - self.mass)


@pytest.mark.parametrize("allowed", [1e-3, 1e-6])
@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Beta(2, 3), smq.Beta(2, 0.5), smq.Power(0.3)], ids=repr)
def test_a_bound_closes_on_the_best_price(law, allowed):
    v = np.array([0.2, 0.7, 1.5, 40.0])
    found = bound_by_cells(law, v, allowed)
    theta = np.linspace(0, 1, 100_001)
    best = np.max((v[:, None] - theta) * law.cdf(theta), axis=1)
    assert np.all(found.upper >= best * (1 - 1e-12))
    assert np.all(found.upper - found.lower <= allowed * found.upper)
    assert (v - found.price) * law.cdf(found.price) == pytest.approx(found.lower, rel=1e-14)


@pytest.mark.parametrize("place", [0.3, 0.4999999, 0.51234567, 0.7])
def test_a_bump_that_no_grid_shows_is_in_the_bound(place):
    law, v = Bump(place), np.array([1.0])
    above = 0.5 * (1 - law.mass / (1 - law.mass))  # the top of what is left and right of the bump
    best = max(float((1.0 - t) * law.cdf(t)) for t in (0.5, above, place, place + 1e-7))
    found = bound_by_cells(law, v, 1e-6)
    assert found.lower[0] == pytest.approx(best, rel=2e-6)
    assert best * (1 - 1e-12) <= found.upper[0] <= best * (1 + 2e-6)


def test_with_little_work_a_bound_is_wide_and_holds(monkeypatch):
    monkeypatch.setattr("smqopt.valuation.ironing._cell_bound.MOST_CELLS", 100)
    law = Bump(0.51234567)
    found = bound_by_cells(law, np.array([1.0]), 1e-6)
    assert found.upper[0] >= 0.48765433 * law.cdf(0.51234577)
    assert found.upper[0] - found.lower[0] > 1e-3


def test_each_owner_has_her_own_law_and_prices():
    law = smq.Power(np.array([0.5, 1.0, 2.0]))
    v, floor, ceiling = np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.6, 0.0]), np.array([1.0, 1.0, 0.3])
    found = bound_by_cells(law, v, 1e-6, floor, ceiling)
    assert found.lower == pytest.approx([(1 - 1 / 3) * 3**-0.5, 0.24, 0.7 * 0.09], rel=1e-6)


def test_gaps_and_atoms_of_mixtures_are_seen():
    a = 0.5001234567
    law = smq.Mixture([smq.Uniform(0, 1), smq.Uniform(a, a + 1e-8)], [0.5, 0.5])
    found = bound_by_cells(law, np.array([0.9]), 1e-6)
    assert found.price[0] == pytest.approx(a + 1e-8, abs=1e-12)


# --- many owners of a law, bounded together -----------------------------------------------------------------------

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "far from 0": smq.Uniform(100, 101),
    "infinite density": smq.Power(0.3),
    "steep": smq.Beta(8, 2),
    "an atom at the end": smq.Mixture([smq.Power(8), smq.PointMass(1)], [1, 0.3]),
    "atoms": smq.Discrete([0.2, 0.5, 0.9], [1, 1, 1]),
    "an atom at 0": smq.Mixture([smq.PointMass(0), smq.Uniform(0, 1)], [0.3, 0.7]),
    "gap": smq.Mixture([smq.Uniform(0, 0.3), smq.Uniform(0.6, 1)], [1, 1]),
    "hidden bump": Bump(0.51234567),
    "hidden bump, two spacings wide": Bump(0.4999999, width=2.0**-52),
}
ALLOWED = 1e-5


@pytest.mark.parametrize("name", LAWS)
def test_bounds_lie_above_every_price_and_are_tight_together(name):
    law, rng = LAWS[name], np.random.default_rng(3)
    v = law.low + 2 * rng.random(5000) * (law.high - law.low) * rng.choice([1.0, 1e-3, 0.0], 5000, p=[0.9, 0.05, 0.05])
    upper = bound_together(law, v, ALLOWED)
    some = slice(0, 200)
    best = bound_by_cells(law, v[some], 1e-3).lower
    steps = np.concatenate([np.linspace(0, 1, 5001), 2.0 ** -np.arange(60)])
    theta = np.append(law.low + (law.high - law.low) * steps, law.knots())
    if isinstance(law, Bump):
        theta = np.append(theta, [law.place + law.width_of_bump, np.nextafter(law.place + law.width_of_bump, 1)])
    best = np.maximum(best, ((v[some, None] - theta) * law.cdf(theta)).max(axis=1))
    assert np.all(upper[some] >= best * (1 - 1e-13))
    exact = bound_by_cells(law, v[some], 1e-6).lower
    assert (upper[some] - exact).sum() <= 2 * ALLOWED * exact.sum() + 200 * ALLOWED * exact.mean()


def test_with_little_work_bounds_are_wide_and_hold(monkeypatch):
    law, v = Bump(0.51234567), np.linspace(0, 1.5, 5000)
    tight = bound_together(law, v, ALLOWED)
    monkeypatch.setattr(shared, "MOST_CELLS", 100)
    wide = bound_together(law, v, ALLOWED)
    assert np.all(wide >= tight * (1 - ALLOWED))
    assert wide.sum() > tight.sum() * (1 + 10 * ALLOWED)


@pytest.mark.parametrize("v", [[0.0], [1.0, 1.0], [5.0, 0.0]])
def test_nobody_above_the_support(v):
    assert bound_together(smq.Uniform(5, 6), np.array(v), ALLOWED).tolist() == [0.0] * len(v)


class Smoothstep(Valuation):
    """A law without a formula whose density vanishes at both ends."""

    low, high = 0.0, 1.0

    def _cdf(self, theta):
        return theta**2 * (3 - 2 * theta)

    def _pdf(self, theta):
        return 6 * theta * (1 - theta)


def test_many_owners_of_a_third_partys_law_are_bounded():
    """What nothing is known of is valid for many owners, too, and says why it is no proof."""
    market = smq.Market(np.random.default_rng(2).random(20_000), Smoothstep())
    certificate = smq.verify(smq.solve(market, 2000))
    assert certificate.valid, certificate.reasons
    assert certificate.grade == "numerical"
    assert "comes from outside" in certificate.unproved[0]
    assert certificate.gap <= 1e-6
