"""Which estimator answers: the linear release or P-E, by the error of each."""

from __future__ import annotations

import math

import numpy as np

from smqopt.errors import InputError, nearest
from smqopt.numeric import Floats
from smqopt.query._purchase import Purchase
from smqopt.query.error._entry_prior import EntryPrior
from smqopt.query.linear._linear_form import LinearForm
from smqopt.query.linear._linear_release import (
    LINEAR,
    RANDOM_PRICES,
    LinearRelease,
    checked_variance,
    linear_release,
    sums_to_nothing,
)
from smqopt.query.linear._random_price_release import random_price_release
from smqopt.query.linear._release_weights import release_weights
from smqopt.query.queries._query import FittedQuery, PopulationQuery

PE = "P-E"
ESTIMATORS = {
    LINEAR: "weights of at most ε_i, one Laplace draw, scaled to the population",
    PE: "the paper's mechanism: each result with probability ∝ exp(½ σ)",
}
"""Name of an estimator → what it does."""
_FAR = 80.0
"""A cost at which nothing that matters is left of e^(−cost/2)."""
_POINTS = 4096


def fit(
    query: PopulationQuery, purchase: Purchase, estimator: str | None = None, variance: float | None = None
) -> FittedQuery:
    """Fit a query to a purchase, for one of the estimators.

    Parameters
    ----------
    query, purchase
        What is asked, and of whom.
    estimator
        One of `ESTIMATORS`; by default that of the smaller error, as public numbers foretell it.
    variance
        Of an entry, for the linear release; R²/4 by default.

    Raises
    ------
    InputError
        If the estimator is not known, or does not take the query.
    """
    if purchase.inverse is not None:
        if estimator not in (None, RANDOM_PRICES):
            rule = "would be biased by who chose to sell: the purchase was made at random prices"
            raise InputError("argument 'estimator'", rule, value=estimator, remedy="leave it out")
        return random_price_release(query, purchase)
    if estimator is not None and estimator not in ESTIMATORS:
        raise InputError(
            "argument 'estimator'", "is not known", value=estimator, remedy=nearest(str(estimator), ESTIMATORS)
        )
    if (estimator or better_estimator(query, purchase, variance)) == LINEAR:
        return linear_release(query, purchase, variance)
    return query.asked_of(purchase)


def fit_alike(fitted: FittedQuery, query: PopulationQuery, purchase: Purchase) -> FittedQuery:
    """Fit a query to another purchase, as it was fitted to one."""
    if purchase.inverse is not None:
        return random_price_release(query, purchase)
    if isinstance(fitted, LinearRelease):
        return linear_release(query, purchase, fitted.variance)
    return query.asked_of(purchase)


def variance_of(form: LinearForm, assumption: EntryPrior) -> float:
    """Return the variance of what is summed, under a prior; of bins their mean."""
    if form.sums is None:
        return assumption.variance
    place = form.read(assumption.values, ["assumed"] * assumption.values.size)
    p = np.bincount(place.astype(np.intp), weights=assumption.chances, minlength=form.sums)
    return float(np.mean(p * (1.0 - p)))


def better_estimator(query: PopulationQuery, purchase: Purchase, variance: float | None = None) -> str:
    """Return the estimator of the smaller error at the expected sums.

    It looks at requirements and acceptances, never at who sold: the choice tells nothing of it.
    """
    form = query.linear_form(purchase.population)
    if form is None:
        return PE
    sigma2 = checked_variance(query, form, variance)
    if sums_to_nothing(form):
        return LINEAR  # which refuses it
    linear = release_weights(
        form.weights, purchase.acceptance, purchase.epsilon, sigma2, form.width * form.sums_reached
    )
    return LINEAR if linear.error <= pe_error(form, purchase, sigma2) or not linear.error < math.inf else PE


def pe_error(form: LinearForm, purchase: Purchase, variance: float) -> float:
    """Foretell the mean squared error of P-E from public numbers.

    At the expected sums what was bought stands for all by c = W/Σ q_i w_i. To move the sum by d
    costs what the cheapest
    room costs: entry i has room |w_i| f R on one side and |w_i| (1 − f) R on the other, at ε_i for
    all of it, f as far from an end as the variance says. The noise's mean square is that of the law
    ∝ exp(−cost(d)/2).
    """
    w, q = form.weights, purchase.acceptance
    sold = float(q @ w)
    if not sold * float(w.sum()) > 0 or np.any(w * sold < 0):
        return math.inf
    c = float(w.sum()) / sold
    sampling = variance * float(q @ ((c - 1.0) * w) ** 2 + (1.0 - q) @ w**2)
    f = 0.5 - math.sqrt(max(0.25 - variance / form.width**2, 0.0))
    able = np.flatnonzero((q > 0) & (w != 0))
    rate = purchase.epsilon[able] / np.abs(w[able])
    order = able[np.argsort(rate, kind="stable")]
    room = q[order] * np.abs(w[order]) * form.width
    paid = q[order] * purchase.epsilon[order] / form.sums_reached
    mass, squares = [1.0], [0.0]
    for part in (f, 1.0 - f):
        if part <= 0:
            continue
        distance, cost = np.cumsum(part * room), np.cumsum(part * paid)
        d = _distances(distance, cost, float(distance[-1]), whole=form.whole)
        weight = np.exp(-0.5 * np.interp(d, np.append(0.0, distance), np.append(0.0, cost)))
        mass.append(float(weight.sum()))
        squares.append(float(weight @ d**2))
    return sampling + c**2 * math.fsum(squares) / math.fsum(mass)


def _distances(distance: Floats, cost: Floats, most: float, *, whole: bool) -> Floats:
    """Return distances at which the law is summed: whole ones, or many in equal steps."""
    enough = int(np.searchsorted(cost, _FAR))
    far = float(distance[enough]) if enough < distance.size else most
    if whole and far <= _POINTS:
        return np.arange(1.0, max(math.floor(far), 1) + 1.0)
    return far * np.arange(1, _POINTS + 1) / _POINTS
