"""Sums over the population: of any public weights, of ones, and the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.query._entries import bounded_entries
from smqopt.query._public_numbers import checked_clamp, checked_range, checked_weights, clamp_parameter
from smqopt.query._purchase import Purchase
from smqopt.query.error._estimate import (
    INVERSE_PROBABILITY,
    SCALED,
    Estimate,
    checked_weighting,
    estimate,
)
from smqopt.query.linear._linear_form import LinearForm
from smqopt.query.queries._query import PopulationQuery


@final
@dataclass(frozen=True, eq=False)
class WeightedSum(PopulationQuery):
    """Σ w_i d_i over the population, each entry within public bounds.

    Parameters
    ----------
    weights
        w_i, one for each of the N owners of the market, of either sign. Public.
    low, high
        The public range of entries, low < high.
    weighting
        From the bought entries to the population: "scaled", by Σ w/Σ w_c, refused unless the signs
        of weights agree; or "inverse-probability", by w_i/F_i(θ_i*), unbiased before noise over the
        owners who could be bought.
    step
        The distance of candidates for the sum of the bought entries; None takes one that is fine
        against the noise.
    clamp
        Whether entries out of the range are taken for the nearest end of it, instead of refused.

    Raises
    ------
    InputError
        If weights or bounds are bad, or the weighting is not known.

    Examples
    --------
    >>> import smqopt as smq
    >>> query = smq.WeightedSum([1.0, 0.5, 0.25], low=0, high=1)
    >>> query.low, query.high
    (0.0, 1.0)
    """

    weights: Floats = field(repr=False)
    low: float
    high: float
    weighting: str = field(default=SCALED, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    clamp: bool = field(default=False, kw_only=True)

    name = "weighted-sum"

    def __init__(
        self,
        weights: ArrayLike,
        low: float,
        high: float,
        *,
        weighting: str = SCALED,
        step: float | None = None,
        clamp: bool = False,
    ) -> None:
        weights = checked_weights(self.name, weights)
        given = {"weights": weights, "low": low, "high": high, "weighting": weighting, "step": step, "clamp": clamp}
        for key, value in given.items():
            object.__setattr__(self, key, value)
        _check(self)

    def parameters(self) -> dict[str, Any]:
        """Return weights, range, weighting and step."""
        return {"weights": self.weights.tolist(), **_range(self)}

    def asked_of(self, purchase: Purchase) -> Estimate:
        """Choose the weights of the bought entries.

        Raises
        ------
        InputError
            If there is not one weight an owner, or signs do not agree and the weighting needs them
            to.
        """
        _check_size(self, purchase.population)
        return _estimate(self, self.weights, purchase)

    def linear_form(self, population: int) -> LinearForm | None:
        """Return the weights as they are, where they are scaled."""
        _check_size(self, population)
        return _form(self, self.weights)


@final
@dataclass(frozen=True)
class Sum(PopulationQuery):
    """The sum of the population's entries within bounds; see `WeightedSum`.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, 0.5)), [0.1, 0.2, 0.3])
    >>> answer = smq.answer(smq.Sum(0, 10), [4, 8, 6], outcome, rng=np.random.default_rng(1))
    >>> answer.value
    26.25
    """

    low: float
    high: float
    weighting: str = field(default=SCALED, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    clamp: bool = field(default=False, kw_only=True)

    name = "sum"

    def __post_init__(self) -> None:
        _check(self)

    def parameters(self) -> dict[str, Any]:
        """Return range, weighting and step."""
        return _range(self)

    def asked_of(self, purchase: Purchase) -> Estimate:
        """Weigh each bought entry by n/|S_c|, or by 1/F_i(θ_i*)."""
        return _estimate(self, np.ones(purchase.population), purchase)

    def linear_form(self, population: int) -> LinearForm | None:
        """Return ones as weights."""
        return _form(self, np.ones(population))


@final
@dataclass(frozen=True)
class Mean(PopulationQuery):
    """The mean of the population's entries within bounds; see `WeightedSum`.

    By the weighting "scaled" it is the mean of the bought entries. By "inverse-probability" it is
    the mean over the owners who could be bought.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, 0.5)), [0.1, 0.2, 0.3])
    >>> answer = smq.answer(smq.Mean(0, 10), [4, 8, 6], outcome, rng=np.random.default_rng(1))
    >>> answer.value
    6.75
    """

    low: float
    high: float
    weighting: str = field(default=SCALED, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    clamp: bool = field(default=False, kw_only=True)

    name = "mean"

    def __post_init__(self) -> None:
        _check(self)

    def parameters(self) -> dict[str, Any]:
        """Return range, weighting and step."""
        return _range(self)

    def asked_of(self, purchase: Purchase) -> Estimate:
        """Weigh each bought entry by 1/|S_c|, or by 1/F_i(θ_i*) over those for sale."""
        inverse = self.weighting == INVERSE_PROBABILITY
        owners = int(np.count_nonzero(purchase.acceptance > 0)) if inverse else purchase.population
        return _estimate(self, np.full(purchase.population, 1.0 / max(owners, 1)), purchase)

    def linear_form(self, population: int) -> LinearForm | None:
        """Return 1/N as weights."""
        return _form(self, np.full(population, 1.0 / population))


def _check(query: WeightedSum | Sum | Mean) -> None:
    checked_weighting(query.name, query.weighting)
    checked_clamp(query.name, query.clamp)
    for key, value in zip(("low", "high"), checked_range(query.name, query.low, query.high), strict=True):
        object.__setattr__(query, key, value)


def _range(query: WeightedSum | Sum | Mean) -> dict[str, Any]:
    found: dict[str, Any] = {"low": query.low, "high": query.high, "weighting": query.weighting}
    return found | ({} if query.step is None else {"step": query.step}) | clamp_parameter(query.clamp)


def _check_size(query: WeightedSum, population: int) -> None:
    if query.weights.size != population:
        raise InputError(
            "weighted-sum: argument 'weights'",
            f"must hold one weight for each of the {population} owners",
            value=query.weights.size,
            remedy="give the weights of all owners of the market, bought or not",
        )


def _form(query: WeightedSum | Sum | Mean, weights: Floats) -> LinearForm | None:
    if query.weighting != SCALED or query.step is not None:
        return None

    def read(data: ArrayLike, owner_ids: Sequence[str]) -> Floats:
        return bounded_entries(data, owner_ids, query.low, query.high, clamp=query.clamp)

    return LinearForm(weights, query.low, query.high, read)


def _estimate(query: WeightedSum | Sum | Mean, weights: Floats, purchase: Purchase) -> Estimate:
    return estimate(
        query.name,
        query.parameters(),
        weights,
        query.low,
        query.high,
        weighting=query.weighting,
        step=query.step,
        clamp=query.clamp,
        purchase=purchase,
    )
