"""Narrow supports and tiny budgets, where one double of θ is more than the gap: one owner draws between two.

Twelve seeds by default; `pytest -m exhaustive tests/verification/test_narrow_supports.py` runs 300.
"""

import numpy as np
import pytest

import smqopt as smq
from smqopt.market import Lottery


def hard_market(seed):
    """A small market on a support of 1e-9 to 10 of its low end, with a budget down to 1e-12 of the most."""
    rng = np.random.default_rng([99, seed])
    low = float(rng.choice([0.0, rng.random(), 1.0, 10 ** rng.uniform(-3, 3)]))
    width = 10.0 ** rng.uniform(-9, 1) * (low or 1.0)
    high, kind, shape = low + width, rng.integers(9), lambda span=1.0: 10.0 ** rng.uniform(-span, span)
    laws = (
        lambda: smq.Uniform(low, high),
        lambda: smq.Power(shape(1.3), low, high),
        lambda: smq.TruncatedExponential(shape() / width, low, high),
        lambda: smq.Beta(shape(), shape(), low, high),
        lambda: smq.Kumaraswamy(shape(), shape(), low, high),
        lambda: smq.Triangular(low, low + width * rng.random(), high),
        lambda: smq.Normal(low + width * rng.uniform(-1, 2), width * shape(), low, high),
        lambda: smq.PiecewiseUniform(np.linspace(low, high, 5), rng.random(4) + 0.01),
        lambda: smq.Mixture([smq.Uniform(low, high), smq.Beta(2, 3, low, high)], [0.5, 0.5]),
    )
    law, n = laws[kind](), int(rng.integers(1, 6))
    epsilon = rng.choice([rng.random(n) + 0.01, 10.0 ** rng.uniform(-3, 3, n)])
    return smq.Market(epsilon, law), float(n * law.high * 10.0 ** rng.uniform(-12, 0.2))


@pytest.mark.parametrize(
    "seed", [4, 8, 25, 29, 40, 60, 67, 319, *(pytest.param(k, marks=pytest.mark.exhaustive) for k in range(400, 700))]
)
def test_hard_small_markets_are_proved(seed):
    certificate = smq.verify(smq.solve(*hard_market(seed)))
    assert certificate.grade == "proved", (certificate, certificate.unproved)
    assert 0 <= certificate.lower_bound <= certificate.upper_bound


@pytest.mark.parametrize("budget", [1e-7, 1e-8, 1e-12, 1e-100, 1e-300])
@pytest.mark.parametrize("epsilon", [[1.0], [0.2, 0.5, 1.0]])
def test_a_small_chance_keeps_its_digits(epsilon, budget):
    """Who values her entry at 1 for sure sells with probability B at the price 1."""
    certificate = smq.verify(smq.solve(smq.Market(epsilon, smq.PointMass(1.0)), budget))
    assert certificate.grade == "proved"
    assert certificate.lower_bound <= budget <= certificate.upper_bound
    assert certificate.lower_bound == pytest.approx(budget, rel=1e-14)


def test_without_lotteries_one_price_is_posted():
    market, budget = hard_market(40)
    solution = smq.solve(market, budget, lotteries=False)
    assert solution.lottery is None
    assert solution.total_spend <= budget


def test_the_draw_is_read_back(tmp_path):
    certificate = smq.verify(smq.solve(*hard_market(60)))
    assert certificate.solution.lottery is not None
    certificate.solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    read = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert (read.grade, read.lower_bound, read.upper_bound) == (
        "proved",
        certificate.lower_bound,
        certificate.upper_bound,
    )


@pytest.mark.parametrize(
    ("epsilon", "high", "budget"),
    [
        ([5e-324], 1.0, 0.1),
        ([1e300, 1.0], 1e-300, 0.1),
        ([1.0], 1e-310, 1e-311),
        ([1e-300], 1e300, 1.0),
    ],
)
def test_what_no_unit_makes_ordinary_is_refused(epsilon, high, budget):
    with pytest.raises(smq.InputError, match=r"another unit|smaller unit"):
        smq.solve(smq.Market(epsilon, smq.Uniform(0, high)), budget)


class Drawn:
    """Gives numbers that are asked for as a generator's."""

    def __init__(self, *columns):
        self.columns = list(columns)

    def random(self, size):
        return np.full(size, self.columns.pop(0))


@pytest.mark.parametrize(
    ("chances", "numbers", "place"),
    [
        ([0.25, 0.75], [0.2], 0), ([0.25, 0.75], [0.25], 1), ([0.75, 0.25], [0.74], 0), ([0.75, 0.25], [0.75], 1),
        ([0.2, 0.5, 0.3], [0.1], 0), ([0.2, 0.5, 0.3], [0.2], 1), ([0.2, 0.5, 0.3], [0.69], 1), ([0.2, 0.5, 0.3], [0.71], 2),
        ([0.1, 0.3, 0.6], [0.1], 1), ([0.1, 0.3, 0.6], [0.41], 2), ([0.5, 0.5, 0.0], [0.999], 1), ([0.5, 0.0, 0.5], [0.4], 0),
        ([1.0, 2.0**-60], [1 - 2.0**-53, 1 - 2.0**-6], 0), ([1.0, 2.0**-60], [1 - 2.0**-53, 1 - 2.0**-8], 1),
        ([2.0**-60, 1.0], [0.0, 2.0**-6], 1), ([2.0**-60, 1.0], [0.0, 2.0**-8], 0), ([1.0, 1e-300], [0.9, 0.9], 0),
    ],
)  # fmt: skip
def test_small_chances_are_drawn_as_they_are(chances, numbers, place):
    prices = np.arange(1.0, 1.0 + len(chances))[np.newaxis]
    lottery = Lottery(np.array([0]), prices, prices / 9, np.array([chances]))
    assert lottery.draw(np.array([0]), Drawn(*numbers)).tolist() == [place]
