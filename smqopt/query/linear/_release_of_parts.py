r"""The linear release of owners in parts: its weights, from few public numbers.

Where all owners count alike the weights are a_i = min(ε_i, τ) (`_release_weights`), and τ hangs on
Σ q_i over owners of about one ε alone. So τ is found from points that stand for many owners each,
and then every owner's whole-number weight from her own ε: τ costs accuracy where it is off, and no
privacy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats, Integers
from smqopt.query.linear._linear_form import LinearForm
from smqopt.query.linear._linear_release import LinearRelease, in_whole_numbers, places_of, steps_of
from smqopt.query.linear._release_weights import release_weights
from smqopt.query.queries._query import PopulationQuery
from smqopt.query.queries._weighted_sum import Mean, WeightedSum


@final
@dataclass(frozen=True)
class ReleaseOfParts:
    """How a query is answered by the linear release, whoever sold. Public."""

    query: PopulationQuery
    population: int
    tau: float
    variance: float
    largest: float
    """The largest ε that may be spent."""

    @classmethod
    def of(
        cls,
        query: PopulationQuery,
        population: int,
        epsilon: Floats,
        acceptance: Floats,
        largest: float,
        variance: float | None,
    ) -> Self:
        """Choose the weights that err least at the expected sums.

        Parameters
        ----------
        query
            A count, sum, mean or histogram that is scaled to the population.
        population
            N.
        epsilon, acceptance
            Points, shape (m,): requirements, and the sum of q_i over the owners for whom one
            stands.
        largest
            The largest requirement.
        variance
            σ² ≥ 0 of an entry; R²/4 by default.

        Raises
        ------
        InputError
            If the query has no linear release, or not of owners who count alike.
        """
        form = form_of_one(query)
        sigma2 = form.width**2 / 4 if variance is None else variance
        noise = form.width * form.sums_reached
        found = release_weights(np.ones(epsilon.size), acceptance, epsilon, sigma2, noise)
        return cls(query, population, found.tau, sigma2, largest)

    def weights(self, epsilon: Floats) -> Integers:
        """Return the whole-number weights α_i of owners, shape (n,)."""
        return in_whole_numbers(np.minimum(epsilon, self.tau), *self._places)

    @property
    def _places(self) -> tuple[int, int]:
        return places_of(min(self.largest, self.tau), self.population, steps_of(form_of_one(self.query)))

    def fit(self, weights: Integers) -> LinearRelease:
        """Return the release of owners with these weights.

        One number may stand for the sum of many weights, but not where entries are summed.
        """
        form = form_of_one(self.query)
        return LinearRelease(
            name=self.query.name,
            stated=self.query.parameters(),
            form=form,
            whole_weights=weights,
            places=self._places[1],
            steps=steps_of(form),
            total=1.0 if isinstance(self.query, Mean) else float(self.population),
            tau=self.tau,
            variance=self.variance,
        )

    def fit_total(self, total: int) -> LinearRelease:
        """Return the release of owners whose weights sum to a number."""
        return self.fit(np.array([total], dtype=np.int64))


def form_of_one(query: PopulationQuery) -> LinearForm:
    """Return the linear form, for one owner, of a query in which all count alike.

    Raises
    ------
    InputError
        If there is none.
    """
    form = None if isinstance(query, WeightedSum) else query.linear_form(1)
    if form is None:
        raise InputError(
            f"query {query.name!r}",
            "is not answered of a market in parts",
            remedy="ask for a count, sum, mean or histogram scaled to the population, or a quantile",
        )
    return replace(form, weights=np.ones(1))
