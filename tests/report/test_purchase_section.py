import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import smqopt as smq
from smqopt.market import Lottery, Solution, Status
from smqopt.report.sections._purchase_section import SMALLEST_BAND, bands, payment_deviation


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=300))
def test_bands_hold_all_owners_and_each_holds_many_or_is_the_only_one(values):
    epsilon = np.array(values)
    edges = bands(epsilon)
    assert edges[0] <= epsilon.min()
    assert edges[-1] >= epsilon.max()
    member = np.clip(np.searchsorted(edges, epsilon, side="right") - 1, 0, edges.size - 2)
    owners = np.bincount(member, minlength=edges.size - 1)
    assert owners.size == 1 or owners.min() >= SMALLEST_BAND


def test_many_owners_fall_into_round_bands():
    epsilon = np.random.default_rng(0).random(10_000)
    assert bands(epsilon) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])


def test_equal_requirements_are_one_band():
    assert bands(np.full(50, 0.3)).tolist() == [0.3, 0.3]


def test_the_deviation_of_payments_is_that_of_all_outcomes():
    """Enumerates every outcome of two rows: three alike owners with one threshold, and one with a lottery."""
    market = smq.Market([0.5, 1.0], smq.Uniform(0, 1), multiplicity=[3, 1])
    lottery = Lottery.between(
        np.array([1]), np.array([0.25]), np.array([0.75]), np.array([0.25]), np.array([0.75]), np.array([0.6])
    )
    thresholds, acceptance = np.array([0.5, 0.25]), np.array([0.5, lottery.acceptance[0]])
    solution = Solution(
        market, 1.0, thresholds, acceptance, 0.5, Status.BINDING, "dual", market.fingerprint, lottery=lottery
    )
    mean = square = 0.0
    for sold in itertools.product([True, False], repeat=3):
        for theta, chance in ((0.25, 0.4 * 0.25), (0.75, 0.6 * 0.75), (0.0, 1 - 0.4 * 0.25 - 0.6 * 0.75)):
            probability, paid = 0.5**3 * chance, 0.5 * sum(sold) + theta
            mean += probability * paid
            square += probability * paid**2
    assert solution.total_spend == pytest.approx(mean, rel=1e-14)
    assert payment_deviation(solution) == pytest.approx(math.sqrt(square - mean**2), rel=1e-14)
