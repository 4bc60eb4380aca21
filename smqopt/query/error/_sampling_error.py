"""The error before noise: what a sample says of a population, under a prior."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.query._purchase import Purchase
from smqopt.query.error._entry_prior import EntryPrior
from smqopt.query.error._estimate import SCALED
from smqopt.query.queries._count import Count
from smqopt.query.queries._histogram import Histogram
from smqopt.query.queries._joint_histogram import JointHistogram
from smqopt.query.queries._median import Median
from smqopt.query.queries._quantile import Quantile
from smqopt.query.queries._query import PopulationQuery
from smqopt.query.queries._weighted_sum import Mean, Sum, WeightedSum

_REST_DRAWS = 200
"""Populations drawn about one sample."""
_RANK_DRAWS = 4000
"""Pairs of sample and population drawn for the error of a quantile."""


@singledispatch
def sampling_mse(
    query: PopulationQuery,
    assumption: EntryPrior,  # noqa: ARG001 -- the contract of the registered functions
    purchases: list[Purchase],  # noqa: ARG001
    rng: np.random.Generator,  # noqa: ARG001
) -> Floats:
    """Return the mean squared error before noise.

    One number for each of some simulated purchases, or their mean, shape (m,).

    Entries d_i are independent, with the assumed mean μ and variance σ². An estimate Σ a_i d_i of Σ
    w_i d_i then errs by σ² Σ (a_i − w_i)² + μ² (Σ (a_i − w_i))² in the mean square, given who was
    bought. For the paper's scaling that is n (n/k − 1) σ². With inverse-probability weights it is
    averaged over purchases in closed form: (σ² + μ²) Σ w_i² (1 − F_i)/F_i over the owners who can
    be bought, and the whole of the others.

    Raises
    ------
    InputError
        If the query has no error to speak of.
    """
    raise InputError(
        f"query {query.name!r}",
        "has no error that could be predicted",
        remedy="ask for a count, a sum, a mean, a quantile or a histogram",
    )


@sampling_mse.register
def _(query: Count, assumption: EntryPrior, purchases: list[Purchase], rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return _linear(np.ones(purchases[0].population), query.weighting, assumption, purchases)


@sampling_mse.register
def _(query: Sum, assumption: EntryPrior, purchases: list[Purchase], rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return _linear(np.ones(purchases[0].population), query.weighting, assumption, purchases)


@sampling_mse.register
def _(query: Mean, assumption: EntryPrior, purchases: list[Purchase], rng: np.random.Generator) -> Floats:  # noqa: ARG001
    n = purchases[0].population
    if query.weighting == SCALED:
        return _linear(np.full(n, 1.0 / n), query.weighting, assumption, purchases)
    able = purchases[0].acceptance > 0
    expected = able / max(int(np.count_nonzero(able)), 1)
    return _by_inverse_probability(np.full(n, 1.0 / n), expected, assumption, purchases[0])


@sampling_mse.register
def _(query: WeightedSum, assumption: EntryPrior, purchases: list[Purchase], rng: np.random.Generator) -> Floats:  # noqa: ARG001
    return _linear(query.weights, query.weighting, assumption, purchases)


@sampling_mse.register
def _(query: Median, assumption: EntryPrior, purchases: list[Purchase], rng: np.random.Generator) -> Floats:
    return _rank(Quantile(0.5, query.low, query.high), assumption, purchases, rng)


@sampling_mse.register
def _rank(query: Quantile, assumption: EntryPrior, purchases: list[Purchase], rng: np.random.Generator) -> Floats:
    """Draw counts of sample and rest by value, and compare their quantiles."""
    n, errors = purchases[0].population, np.empty(len(purchases))
    draws = max(1, _RANK_DRAWS // len(purchases))
    for j, purchase in enumerate(purchases):
        k = purchase.bought
        sample = rng.multinomial(k, assumption.chances, size=draws)
        whole = sample + rng.multinomial(n - k, assumption.chances, size=draws)
        found, truth = (
            assumption.values[np.argmax(np.cumsum(counts, axis=1) >= query.rank(size), axis=1)]
            for counts, size in ((sample, k), (whole, n))
        )
        errors[j] = np.mean((found - truth) ** 2)
    return errors


def expected_quantile(
    query: Quantile, assumption: EntryPrior, data: Floats, others: int, rng: np.random.Generator
) -> float:
    """Return the population's expected quantile, given a sample's entries."""
    sample = np.bincount(np.searchsorted(assumption.values, data), minlength=assumption.values.size)
    whole = sample + rng.multinomial(others, assumption.chances, size=_REST_DRAWS)
    place = np.argmax(np.cumsum(whole, axis=1) >= query.rank(data.size + others), axis=1)
    return float(np.mean(assumption.values[place]))


@sampling_mse.register(Histogram)
@sampling_mse.register(JointHistogram)
def _(
    query: Histogram | JointHistogram,
    assumption: EntryPrior,
    purchases: list[Purchase],
    rng: np.random.Generator,  # noqa: ARG001
) -> Floats:
    """Average over the bins."""
    place = query.entries(assumption.values, ["assumed"] * assumption.values.size)
    p = np.bincount(place, weights=assumption.chances, minlength=query.bins)
    n = purchases[0].population
    return np.array([n * (n / one.bought - 1.0) for one in purchases]) * float(np.mean(p * (1.0 - p)))


def _linear(weights: Floats, weighting: str, assumption: EntryPrior, purchases: list[Purchase]) -> Floats:
    if weighting != SCALED:
        expected = np.where(purchases[0].acceptance > 0, weights, 0.0)
        return _by_inverse_probability(weights, expected, assumption, purchases[0])
    errors = []
    for purchase in purchases:
        chosen = weights[purchase.selected]
        scale = weights.sum() / chosen.sum()
        rest = weights[~purchase.selected]
        errors.append(assumption.variance * float(((scale - 1.0) ** 2 * chosen**2).sum() + (rest**2).sum()))
    return np.array(errors)


def _by_inverse_probability(weights: Floats, expected: Floats, assumption: EntryPrior, purchase: Purchase) -> Floats:
    """Return the mean square where a_i is E a_i/F_i with chance F_i.

    It is (σ² + μ²) Σ Var a_i + σ² Σ (E a_i − w_i)² + μ² (Σ (E a_i − w_i))².
    """
    able = purchase.acceptance > 0
    q = purchase.acceptance[able]
    scatter = float((expected[able] ** 2 * (1.0 - q) / q).sum())
    off = expected - weights
    square = assumption.variance + assumption.mean**2
    return np.array(
        [square * scatter + assumption.variance * float((off**2).sum()) + assumption.mean**2 * float(off.sum()) ** 2]
    )
