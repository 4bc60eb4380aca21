"""Weights 1/F_i do not mend a selection that hangs together with the entries."""

import numpy as np
import pytest

import smqopt as smq


@pytest.mark.parametrize("weighting", ["scaled", "inverse-probability"])
@pytest.mark.parametrize(
    ("has_it", "answered"),
    [
        (lambda theta, posted: theta > 0.8 * posted, 1 / 3),  # a fifth of those who sell, three fifths of all
        (lambda theta, posted: theta > 0.4, 1 / 3),  # noqa: ARG005
        (lambda theta, posted: theta < 0.4, 2.0),  # noqa: ARG005
        (lambda theta, posted: np.arange(theta.size) % 3 == 0, 1.0),  # noqa: ARG005 -- independent
    ],
)
def test_both_weightings_answer_a_wrong_share_of_the_truth(weighting, has_it, answered):
    """At ε so large that noise is nothing: the refuting trial of the page on answers, by the released values."""
    n = 4000
    certificate = smq.verify(smq.solve(smq.Market(np.full(n, 50.0), smq.Uniform(0, 1)), 0.25 * n), prove=False)
    posted = certificate.solution.thresholds
    rng, found = np.random.default_rng(2), []
    for _ in range(20):
        theta = rng.random(n)
        entries = has_it(theta, posted)
        outcome = smq.procure(certificate, theta)
        answer = smq.answer(smq.Count(weighting=weighting), entries[outcome.selected].astype(int), outcome, rng)
        found.append(answer.value / entries.sum())
    error = 4 * np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - answered) <= error + 1e-3
    assert error < 0.1
