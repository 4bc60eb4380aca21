"""A statistical audit of the sampler of releases against its exact law.

Each test compares draws from the cryptographic source with the whole-number law that is claimed, by a χ² test over
results that are expected at least ten times (the rest in one cell). It fails when the p-value is below `LEVEL`. The
false-alarm rate of the file is at most `LEVEL` times the number of tests, 10⁻⁶ each time it is run, up to the χ²
approximation.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import smqopt as smq
from smqopt.query import Purchase
from smqopt.query.audit._privacy_loss import law_of, released_law_of
from smqopt.query.exponential._release import draw, lower_to_grid

EPSILON = np.array([0.3, 0.9, 0.4, 1.2, 0.0, 0.7, 2.5])
ENTRIES = np.array([1, 0, 0, 1, 0, 1, 0])
AGES = np.array([2, 2, 7, 4, 9, 0, 4])

QUERIES = {
    "count": (smq.Count(), ENTRIES),
    "count by inverse probability": (smq.Count(weighting="inverse-probability"), ENTRIES),
    "median": (smq.Median(0, 9), AGES),
    "third quartile": (smq.Quantile(0.75, 0, 9), AGES),
    "sum of mixed signs": (
        smq.WeightedSum([1, -2, 0.5, 3, 1, 0, -1], 0, 9, weighting="inverse-probability", step=1.0),
        AGES,
    ),
    "mean": (smq.Mean(-1, 10, step=0.25), AGES),
    "histogram": (smq.Histogram([0, 3, 6, 9]), AGES),
    "joint histogram": (smq.JointHistogram([0, 3, 6, 9]), AGES),
    "own": (smq.OwnQuery("near", range(10), [0, 3, 6, 9], lambda d, r: abs(d - r) / 9), AGES),
}
LEVEL = 1e-6 / len(QUERIES)
DRAWS = 1_000_000


def purchase_of(epsilon):
    return Purchase(np.ones(epsilon.size, dtype=bool), epsilon, np.linspace(0.3, 1.0, epsilon.size))


def p_value(counts, law):
    """Pool the results that are expected less than ten times."""
    expected = law * counts.sum()
    often = expected >= 10
    seen, awaited = counts[often], expected[often]
    if expected[~often].sum() >= 10:
        seen, awaited = np.append(seen, counts[~often].sum()), np.append(awaited, expected[~often].sum())
    elif seen.size < counts.size:  # too little for a cell of its own: put it into the rarest
        least = int(np.argmin(awaited))
        seen[least] += counts[~often].sum()
        awaited[least] += expected[~often].sum()
    return scipy.stats.chisquare(seen, awaited).pvalue


def draws_of(query, entries, epsilon, how_many):
    """Draw as `answer` does, one index into the joint results for each release."""
    used, ceiling = lower_to_grid(query.share * epsilon, query.rounding_of_cost)
    scores = query.scores(entries, used, ceiling)
    sizes = [int(score.length.sum()) for score in scores]
    places = np.zeros(how_many, dtype=np.int64)
    for score, size in zip(scores, sizes, strict=True):
        first = int(score.start[0])
        places = places * size + np.array([draw(score) - first for _ in range(how_many)])
    return np.bincount(places, minlength=int(np.prod(sizes)))


@pytest.mark.parametrize("draws", [4_000, pytest.param(DRAWS, marks=pytest.mark.exhaustive)], ids=["some", "a million"])
@pytest.mark.parametrize("name", QUERIES)
def test_releases_follow_their_exact_law(name, draws):
    query, data = QUERIES[name]
    fitted = query.asked_of(purchase_of(EPSILON))
    entries = fitted.entries(data, [""] * data.size)
    _, law = released_law_of(fitted, EPSILON)(entries)
    counts = draws_of(fitted, entries, EPSILON, draws)
    assert p_value(counts, law) >= LEVEL
    # the whole-number law is the P-E law but for what rounding and the ceiling move
    _, ideal = law_of(fitted, EPSILON)(entries)
    np.testing.assert_allclose(law, ideal, rtol=1e-10, atol=1e-50)


@pytest.mark.parametrize("name", ["count", "own"])
def test_the_statistical_audit_tells_another_law(name):
    """The same test refuses draws made at 1.5 ε: it has power."""
    query, data = QUERIES[name]
    fitted = query.asked_of(purchase_of(EPSILON))
    entries = fitted.entries(data, [""] * data.size)
    _, law = released_law_of(fitted, EPSILON)(entries)
    assert p_value(draws_of(fitted, entries, 1.5 * EPSILON, 20_000), law) < LEVEL
