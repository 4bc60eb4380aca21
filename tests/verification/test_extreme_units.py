"""Histograms in units of ε and of currency over all doubles: the same answer, proved, or refused as input.

A seeded tenth by default; `pytest -m exhaustive tests/verification/test_extreme_units.py` runs 2,700.
"""

import math

import numpy as np
import pytest

import smqopt as smq

RESCALINGS, A_BLOCK = 2_700, 54


def _unit(rng, values):
    """A power of two that takes no digit off some values."""
    least, most = (math.frexp(x)[1] for x in (values.min(), values.max()))
    return 2.0 ** int(rng.integers(max(-1020 - least, -1070), min(1023 - most, 1023)))


def one(seed):
    """Say what is wrong with a market in other units; None where nothing is."""
    rng = np.random.default_rng([153, seed])
    k, n = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    edges = np.concatenate([[float(rng.choice([0.0, rng.random()]))], rng.random(k) + 0.01]).cumsum()
    masses = rng.random(k) * (rng.random(k) > 0.2) + np.eye(k)[0] * 0.1
    epsilon = rng.choice(
        [rng.random(n) + 0.01, np.ones(n), 10.0 ** rng.uniform(-3, 3, n), 10.0 ** rng.uniform(-99, 99, n)]
    )
    budget = float(n * edges[-1] * 10.0 ** rng.uniform(-4, 0.2))
    of_epsilon, of_money = (_unit(rng, values) for values in (epsilon, edges[1:]))

    def bounds(e, c):
        market = smq.Market(epsilon * e, smq.PiecewiseUniform(edges * c, masses))
        certificate = smq.verify(smq.solve(market, budget * c))
        return certificate, certificate.lower_bound / e, certificate.upper_bound / e

    try:
        found, low, high = bounds(of_epsilon, of_money)
    except smq.InputError as error:
        # refused only where something is no normal double
        with np.errstate(all="ignore"):
            sizes = [epsilon * of_epsilon, edges[1:] * of_money, epsilon[:, None] * of_epsilon / (edges[1:] * of_money)]
        extreme = any(x.min() < 1e-300 or x.max() > 1e300 for x in sizes)
        return None if extreme and "unit" in str(error) else f"refused: {error}"
    right, least, most = bounds(1.0, 1.0)
    price = math.log10(right.solution.budget_price or 1.0) + math.log10(of_epsilon) - math.log10(of_money)
    if (
        not found.valid and abs(price) > 300
    ):  # one owner's ε/θ may be at the end of the doubles where the largest is not
        return None
    if found.grade != "proved" or right.grade != "proved":
        return f"{found!r} where {right!r} in ordinary units"
    if not (low <= most and least <= high and math.isclose(low, least, rel_tol=1e-12)):
        return f"{low!r} to {high!r}, in ordinary units {least!r} to {most!r}"
    return None


@pytest.mark.parametrize(
    "block", [*range(5), *(pytest.param(k, marks=pytest.mark.exhaustive) for k in range(5, RESCALINGS // A_BLOCK))]
)
def test_units_over_all_doubles(block):
    wrong = {seed: fault for seed in range(block * A_BLOCK, (block + 1) * A_BLOCK) if (fault := one(seed))}
    assert wrong == {}
