r"""The linear release: Σ_S a_i x_i and one Laplace draw, scaled to the population.

With weights 0 ≤ a_i ≤ ε_i that are public and the same whoever sells, and x_i measured from the
middle of its public range of width R, the estimate of Σ w_i x_i is

    W · middle + (W/A) (Σ_S a_i (x_i − middle) + Laplace(R)),   W = Σ w_i, A = Σ_S a_i,

clamped to the public range. A change of entry i moves the weighted sum by at most a_i R, so it
changes the logarithm of any result's probability by at most a_i ≤ ε_i. In a histogram a change
moves two sums, so each bears Laplace(2R).

All of it is whole numbers: a_i ≈ α_i 2^−k, rounded down, x_i = low + δ_i R/D with δ_i = 0, …, D.
The sum Σ α_i (2δ_i − D) moves by at most 2 D α_i, and the noise is discrete Laplace with the whole
number t = 2^(k+1) D as its scale: α_i 2D/t = α_i 2^−k ≤ a_i, exactly. Nothing is left to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats, Integers, exact_sum
from smqopt.query._purchase import Purchase
from smqopt.query.linear._discrete_laplace import DiscreteLaplace, bound_of
from smqopt.query.linear._linear_form import LinearForm
from smqopt.query.linear._release_weights import release_weights
from smqopt.query.queries._query import Draw, FittedQuery, PopulationQuery, Value

_ROUNDING = 2.0**-40
"""Allowance for roundings, relative; a sum of weights below it is taken as 0."""

LINEAR = "linear"
RANDOM_PRICES = "random-prices"
_SUM_BITS = 60
"""Weighted sums stay below 2 to this power."""
_WEIGHT_BITS = 20
"""Of the largest weight, and of an entry that is no whole number."""
_LARGEST_EXPONENT = 1000


@final
@dataclass(frozen=True, eq=False)
class LinearRelease(FittedQuery):
    """A query answered by the linear release, fitted to a purchase."""

    name: str
    stated: dict[str, Any]
    """The parameters of the query that was asked."""
    form: LinearForm
    whole_weights: Integers = field(repr=False)
    """α_i of the owners bought, shape (k,)."""
    places: int
    """k: a_i ≈ α_i 2^−k."""
    steps: int
    """D: an entry is one of low + δ R/D."""
    total: float
    """W, the sum of the population's weights."""
    tau: float
    variance: float
    """σ², which the weights were chosen for."""
    unit: Fraction | None = None
    """What the noisy sum is divided by, in steps, if not by the weights bought: `random_prices`."""
    spread: float = 0.0
    """Σ |w_i|, which goes with `unit`."""

    @property
    def noise_unit(self) -> str:  # type: ignore[override]  # it depends on what is asked
        """The unit of `half_width`, in words."""
        return "owners of the population" if self.form.whole else "units of the answer"

    @property
    def figures(self) -> int:
        """How many numbers an answer holds."""
        return self.form.sums or 1

    @property
    def scale(self) -> int:
        """t, the scale of the noise in steps of the weighted sum."""
        return (2 * self.steps * self.form.sums_reached) << self.places

    @property
    def most(self) -> int:
        """The largest size of the weighted sum."""
        return int(np.abs(self.whole_weights).sum()) * self.steps

    @property
    def whole(self) -> Fraction:
        """What the noisy sum is divided by: it says how much one step moves the figure."""
        return Fraction(self.most) if self.unit is None else self.unit

    @property
    def estimator(self) -> str:
        """By which estimator it is answered."""
        return LINEAR if self.unit is None else RANDOM_PRICES

    @property
    def reach(self) -> float:
        """The width of the sum's public range over R."""
        return abs(self.total) if self.unit is None else self.spread

    def parameters(self) -> dict[str, Any]:
        """Return what was asked."""
        return self.stated

    def facts(self) -> dict[str, Any]:
        """Return how it was answered, and from what public numbers."""
        if self.unit is not None:
            return {"estimator": RANDOM_PRICES}
        found: dict[str, Any] = {"estimator": LINEAR, "tau": self.tau, "variance": self.variance}
        return found | ({} if self.most else {"nothing": "no weight was bought: the answer is the public midpoint"})

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check the entries; return δ_i, or the number of the sum that each is counted in."""
        read = self.form.read(data, owner_ids)
        if self.form.sums is not None:
            return read.astype(np.int64)
        place = np.rint((read.astype(np.float64) - self.form.low) / self.form.width * self.steps)
        return np.clip(place, 0, self.steps).astype(np.int64)

    def centres(self, entries: NDArray[np.int64]) -> list[int]:
        """Return the weighted sum before noise, one for each sum. PRIVATE."""
        alpha, whole = self.whole_weights, int(self.whole_weights.sum())
        if self.form.sums is None:
            return [2 * int(alpha @ entries) - whole * self.steps]
        inside = [int(alpha[entries == place].sum()) for place in range(self.form.sums)]
        return [2 * one - whole for one in inside]

    def draws(self, entries: NDArray[np.int64], epsilon: Floats) -> tuple[Draw, ...]:  # noqa: ARG002 -- it is in the weights
        """Return one draw a sum."""
        return self.draws_at(self.centres(entries))

    def draws_at(self, centres: Sequence[int]) -> tuple[Draw, ...]:
        """Return one draw for each weighted sum before noise. PRIVATE."""
        return tuple(DiscreteLaplace(centre, self.scale).draw for centre in centres)

    def laws(
        self,
        entries: NDArray[np.int64],
        epsilon: Floats,  # noqa: ARG002 -- it is in the weights
        bought: int,  # noqa: ARG002
        population: int,  # noqa: ARG002
    ) -> tuple[tuple[NDArray[Any], Floats], ...]:
        """Return the exact law of each sum's figure. PRIVATE.

        Raises
        ------
        InputError
            If it has more values than can be listed.
        """
        if min(2 * self.most, 1500 * self.scale) > 1 << 24:
            raise InputError("answer", "has too many possible values to list its law", remedy="simulate it")
        most = self.most if self.unit is None else math.floor(self.unit) + 1
        laws = [DiscreteLaplace(centre, self.scale).law_in_range(most) for centre in self.centres(entries)]
        return tuple((np.array([self._figure(int(r)) for r in results]), p) for results, p in laws)

    def value(self, results: Sequence[int], bought: int, population: int) -> Value:  # noqa: ARG002
        """Return W · middle + W R r/(2 D A), clamped, each rounded once."""
        figures = [self._figure(one) for one in results]
        return figures[0] if self.form.sums is None else tuple(figures)

    def _figure(self, result: int) -> float:
        whole, form = self.whole, self.form
        share = min(max(Fraction(result), -whole), whole) / (2 * whole) if whole else Fraction(0)
        middle = (Fraction(form.low) + Fraction(form.high)) / 2
        spread = Fraction(self.total if self.unit is None else self.spread)
        return float(Fraction(self.total) * middle + spread * Fraction(form.width) * share)

    def is_possible(self, value: float) -> bool:
        """Tell whether some draw gives a figure."""
        form = self.form
        if not self.whole or not math.isfinite(value):
            return value == self._figure(0)
        middle = (Fraction(form.low) + Fraction(form.high)) / 2
        spread = Fraction(self.total if self.unit is None else self.spread)
        near = round((Fraction(value) - Fraction(self.total) * middle) / spread / Fraction(form.width) * 2 * self.whole)
        return any(self._figure(near + off) == value for off in (-1, 0, 1))

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:  # noqa: ARG002 -- in the weights
        """Return a bound on noise and rounding, that all sums keep at once.

        The clamp only brings an answer nearer.
        """
        form = self.form
        largest = self.reach * form.width
        if not self.whole:
            return largest / 2.0
        noise = float(bound_of(self.scale, 1.0 - (1.0 - level) / self.figures) / (2 * self.whole))
        rounding = 0.0 if form.whole else 0.5 / self.steps
        return min(largest * (noise + rounding) * (1.0 + _ROUNDING), largest)

    def worst_losses(self, epsilon: Floats) -> Floats:  # noqa: ARG002 -- it is in the weights
        """Return α_i 2^−k, exactly."""
        return np.ldexp(np.abs(self.whole_weights).astype(np.float64), -self.places)

    @property
    def noise_deviation(self) -> float:
        """The standard deviation of a figure's noise, before it is clamped."""
        if not self.whole:
            return 0.0
        return self.reach * self.form.width * math.sqrt(2.0) * float(self.scale / (2 * self.whole))


def linear_release(query: PopulationQuery, purchase: Purchase, variance: float | None = None) -> LinearRelease:
    """Fit the linear release of a query to a purchase.

    Parameters
    ----------
    query
        A count, sum, mean, weighted sum or histogram.
    purchase
        Requirements, cut to the share spent, acceptances, and who was bought. The weights depend on
        the first two alone.
    variance
        σ² ≥ 0 of an entry; R²/4 by default, which is the most it can be.

    Raises
    ------
    InputError
        If the query is no weighted sum of entries, the weights sum to 0, or the variance is not a
        number that an entry of the range can have.
    """
    form = query.linear_form(purchase.population)
    if form is None:
        raise InputError(
            f"query {query.name!r}",
            "has no linear release as it is asked",
            remedy="take estimator='P-E', or ask for a count, sum, mean, weighted sum or histogram weighted by 'scaled'",
        )
    total = exact_sum(form.weights)
    if sums_to_nothing(form):
        raise InputError(
            f"query {query.name!r}",
            "has weights that sum to 0, so that no sum of what was bought stands for them all",
            value=total,
            remedy="ask for the positive and the negative part, or take weighting='inverse-probability'",
        )
    sigma2 = checked_variance(query, form, variance)
    noise = form.width * form.sums_reached
    chosen = release_weights(form.weights, purchase.acceptance, purchase.epsilon, sigma2, noise)
    steps = steps_of(form)
    bits, places = places_of(float(np.max(chosen.weights, initial=0.0)), purchase.population, steps)
    alpha = in_whole_numbers(chosen.weights, bits, places)
    return LinearRelease(
        name=query.name,
        stated=query.parameters(),
        form=form,
        whole_weights=alpha[purchase.selected],
        places=places,
        steps=steps,
        total=total,
        tau=chosen.tau,
        variance=sigma2,
    )


def sums_to_nothing(form: LinearForm) -> bool:
    """Return whether W is 0, or all but 0."""
    return bool(abs(form.weights.sum()) <= _ROUNDING * np.abs(form.weights).sum())


def checked_variance(query: PopulationQuery, form: LinearForm, variance: float | None) -> float:
    """Return σ² of an entry, R²/4 by default.

    Raises
    ------
    InputError
        If it is not a number that an entry of the range can have.
    """
    sigma2 = form.width**2 / 4 if variance is None else float(variance)
    if not 0 <= sigma2 <= form.width**2 / 2:
        raise InputError(
            f"query {query.name!r}: the variance of an entry",
            f"must lie between 0 and {form.width**2 / 2:g}, half the square of the public range's width",
            value=sigma2,
            remedy="give a prior on the public range, or none",
        )
    return sigma2


def steps_of(form: LinearForm) -> int:
    """Return D, the number of steps between the ends of an entry's range."""
    return 1 if form.whole else 1 << _WEIGHT_BITS


def places_of(largest: float, population: int, steps: int) -> tuple[int, int]:
    """Return the bits of the largest weight, and k: a_i ≈ α_i 2^−k."""
    bits = min(_SUM_BITS - population.bit_length() - steps.bit_length(), 2 * _WEIGHT_BITS)
    places = max(min(bits - math.frexp(largest)[1], _LARGEST_EXPONENT), 0) if largest > 0 else 0
    return bits, places


def in_whole_numbers(weights: Floats, bits: int, places: int) -> Integers:
    """Return α_i, rounded down, shape (k,)."""
    return np.floor(np.ldexp(np.minimum(weights, 2.0**bits), places)).astype(np.int64)
