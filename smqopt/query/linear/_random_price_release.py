r"""The release of what was bought at random prices: weights by the chance of sale.

The estimate of Σ w x is Σ w · middle + b/R (Σ_S a (x − middle) + Laplace(R)), a = s |w| R/(Q b)
with the sign of w: divided by a number that was fixed before anybody reported, not by what was
bought. All is whole numbers as in the linear release, so a change of one entry costs its owner at
most a ≤ ε, exactly.

What is protected is the entry, given reports and who sold: the law of what is released depends on
both. Weights are rounded down by a part of at most 2^−26 of the largest, which is all the bias that
numbers add.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import RECHECK, exact_sum
from smqopt.query._purchase import Purchase
from smqopt.query.linear._linear_release import LinearRelease, in_whole_numbers, places_of, steps_of
from smqopt.query.queries._query import PopulationQuery


def random_price_release(query: PopulationQuery, purchase: Purchase) -> LinearRelease:
    """Fit the release of a query to a purchase at random prices.

    Raises
    ------
    InputError
        If the query is not the weighted sum that the purchase was made for, or the chances of sale
        are below what the requirements need.
    """
    form, inverse = query.linear_form(purchase.population), purchase.inverse
    assert inverse is not None  # noqa: S101
    where = f"query {query.name!r}"
    w = inverse.weight
    largest = int(np.argmax(np.abs(w)))
    factor = form.weights[largest] / w[largest] if form is not None and w[largest] else 0.0
    if form is None or not factor or np.any(np.abs(form.weights - factor * w) > RECHECK.value * np.abs(form.weights)):
        raise InputError(
            where,
            "is not the weighted sum that the random prices were drawn for",
            remedy="ask for a count, sum or mean with the weights of the objective, or buy anew for this query",
        )
    if not inverse.scale:
        raise InputError(
            where,
            "cannot keep requirements: the purchase was made without them, with chances below what they need",
            remedy="solve with objective=smq.WorstCaseError(..., private=True)",
        )
    below = np.flatnonzero(inverse.loss > purchase.epsilon * (1.0 + RECHECK.value))
    if below.size:
        raise InputError(
            f"{where}: the owner in place {below[0] + 1}",
            "has a chance of sale below what her requirement needs",
            remedy="procure again from the certificate",
        )
    loss, steps = np.minimum(inverse.loss, purchase.epsilon), steps_of(form)
    bits, places = places_of(float(np.max(loss, initial=0.0)), purchase.population, steps)
    alpha = in_whole_numbers(loss, bits, places)
    spread = exact_sum(np.abs(form.weights))
    unit = Fraction(spread) * steps * (1 << places) / (Fraction(inverse.scale) * abs(Fraction(factor)))
    return LinearRelease(
        name=query.name,
        stated=query.parameters(),
        form=form,
        whole_weights=(alpha * np.sign(form.weights).astype(np.int64))[purchase.selected],
        places=places,
        steps=steps,
        total=exact_sum(form.weights),
        tau=0.0,
        variance=form.width**2 / 4,
        unit=unit,
        spread=spread,
    )
