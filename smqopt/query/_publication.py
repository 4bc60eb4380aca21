"""What an answer may tell the world: nothing that says who sold.

An answer r n/k tells k, one in steps of n/A which weights add up to A, a weighted sum scaled by
Σ w/Σ w_c which weights were bought, a bound on the noise which requirements, a ledger's head whom
it charged. So a published value is rounded to
a grid that depends on the market alone, and its half-width to a power of two of that grid.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from smqopt.errors import InputError
from smqopt.query._purchase import Purchase
from smqopt.query.error._fit import fit_alike
from smqopt.query.queries._linear_predictor import LinearPredictor
from smqopt.query.queries._query import FittedQuery, PopulationQuery, Value

_FINER = 4
"""The grid is so much finer than the noise of a purchase of everybody, or up to twice as much: what
rounding adds to the error is at most 2 % of it."""
_PUBLIC_FACTS = ("excluded_owners", "excluded_weight", "estimator", "tau", "variance")
"""Facts of an answer that posted thresholds give, whoever sold."""


def public_grid(query: PopulationQuery, fitted: FittedQuery, purchase: Purchase, level: float) -> float:
    """Return the distance of publishable values, from public numbers alone.

    It is a power of two.

    Parameters
    ----------
    query
        As it was asked, not yet fitted.
    fitted
        The query as it was answered: by which estimator, not of whom.
    purchase
        Requirements, cut to the share spent, and posted acceptances; who sold is not looked at.
    level
        Of the half-width.
    """
    everyone = replace(purchase, selected=purchase.acceptance > 0)
    noise = fit_alike(fitted, query, everyone).half_width(everyone.bought_epsilon, level, purchase.population)
    return grid_of(noise)


def public_record(
    query: PopulationQuery, fitted: FittedQuery, purchase: Purchase, value: Value, level: float
) -> dict[str, Any]:
    """Return what may be published of an answer, fit for JSON.

    Raises
    ------
    InputError
        If the query's own parameters say who sold.
    """
    if isinstance(query, LinearPredictor):
        raise InputError(
            "answer", "cannot be published: its weights are those of the owners who sold", remedy="ask a WeightedSum"
        )
    width = fitted.half_width(purchase.bought_epsilon, level, purchase.population)
    grid = public_grid(query, fitted, purchase, level) if fitted.scales_to_population else None
    return record_on_grid(query, fitted, purchase.population, value, width, grid, level)


def grid_of(noise: float) -> float:
    """Return the distance of publishable values: fine against some noise."""
    return 2.0 ** math.floor(math.log2(noise / _FINER)) if noise > 0 else 1.0


def record_on_grid(
    query: PopulationQuery,
    fitted: FittedQuery,
    population: int,
    value: Value,
    width: float,
    grid: float | None,
    level: float,
) -> dict[str, Any]:
    """Return what may be published of an answer whose noise and grid are known.

    Parameters
    ----------
    query, fitted, population, value
        What was asked, how it was answered, of how many, and the answer.
    width
        The half-width of the noise.
    grid
        The distance of publishable values; None where values tell nothing of who sold.
    level
        Of the half-width.
    """
    record = {"query": query.name, **query.parameters(), "n": population}
    record |= {name: fact for name, fact in fitted.facts().items() if name in _PUBLIC_FACTS}
    if grid is not None:
        rounded = np.round(np.asarray(value, dtype=np.float64) / grid) * grid
        value = tuple(rounded.tolist()) if isinstance(value, tuple) else float(rounded)
        width += grid / 2
    unit = 1.0 if grid is None else grid
    width = unit * 2.0 ** math.ceil(math.log2(width / unit)) if width > 0 else 0.0
    return {
        "value": list(value) if isinstance(value, tuple) else value,
        **record,
        **({} if grid is None else {"grid": grid}),
        "half_width": width,
        "noise_level": level,
        "noise_unit": fitted.noise_unit,
        "note": "public: noise and rounding, not sampling error; it does not say who sold",
    }
