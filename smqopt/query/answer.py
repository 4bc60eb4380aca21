"""A private answer: drawn by the P-E mechanism, with what may be published about it."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.mechanism.genuine import genuine
from smqopt.mechanism.outcome import Outcome
from smqopt.query.base import Query
from smqopt.query.pe import VANISHED, pe_law
from smqopt.query.purchase import Purchase
from smqopt.query.release import draw, lowered
from smqopt.query.sealed import Sealed

__all__ = ["NOISE_LEVEL", "Answer", "answer"]

Floats = NDArray[np.float64]

NOISE_LEVEL = 0.95
"""The level of the half-width that is written beside an answer."""


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer and what is public of it.

    All fields are public. The entries it was drawn from are sealed inside and leave it with no `repr`, `asdict`, copy
    or pickle; only `distribution` opens them.
    """

    value: int | float
    """The answer; publishable unless `simulation`."""
    query: str
    """The name of the query."""
    population: int
    """n, the number of owners in the market."""
    bought: int
    """k = |S_c|, the number of entries the answer was drawn from."""
    simulation: bool
    """Whether the noise came from a generator that can be run again; then this is no private release."""
    noise_unit: str
    """The unit of `noise_half_width`."""
    asked: Query = field(repr=False)
    """The query itself."""
    epsilon: Floats = field(repr=False)
    """The requirements of the bought entries, shape (k,): public."""
    entries: InitVar[NDArray[np.int64]]

    def __post_init__(self, entries: NDArray[np.int64]) -> None:
        object.__setattr__(self, "_sealed", Sealed(entries))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_sealed"}

    @property
    def n(self) -> int:
        """The number of owners in the market."""
        return self.population

    def noise_half_width(self, level: float = NOISE_LEVEL) -> float:
        """Bound the noise: it is at most this with probability at least `level`.

        It is computed from public requirements alone, and speaks of the noise only, not of the sampling error.

        Parameters
        ----------
        level
            In (0, 1).

        Returns
        -------
        float
            In `noise_unit`. For a count, owners of the population, n/k times the bound on the bought entries. For a
            median, ranks among the bought entries: `Median.half_width` says why.

        Raises
        ------
        InputError
            If the level is not in (0, 1).
        """
        if not 0 < level < 1:
            raise InputError("argument 'level'", "must lie between 0 and 1", value=level, remedy="give, say, 0.95")
        return self.asked.half_width(self.epsilon, level, self.population)

    def distribution(self) -> tuple[NDArray[Any], Floats]:
        """Give the exact output law of the P-E mechanism on these entries. PRIVATE: for audits and simulations only.

        The law, its quantiles and its mode are functions of the private entries; to publish any of them is a leak
        (errata, "What may be published"). A draw follows this law up to the difference that `smqopt.query.release`
        bounds.

        Returns
        -------
        tuple
            Every value the answer can have, ascending, and its probability; each of shape (number of results,). Values
            beyond the first and the last whose probability is not 0 in double precision are left out.

        Raises
        ------
        InputError
            If this answer is a copy: copies do not carry the entries.
        """
        sealed = self.__dict__.get("_sealed")
        if sealed is None:
            raise InputError(
                "answer", "is a copy, and copies do not carry the entries", remedy="answer the query again"
            )
        score = self.asked.score(sealed.opened(), np.minimum(self.epsilon, VANISHED), VANISHED)
        possible = score.without_ends(VANISHED)
        return self.asked.values(possible.results, self.bought, self.population), pe_law(possible)

    def to_dict(self) -> dict[str, Any]:
        """Give what may be published, fit for JSON: never the law, the exact result or a seed."""
        note = "noise only, not sampling error"
        return {
            "value": self.value,
            "query": self.query,
            **self.asked.parameters(),
            "n": self.population,
            "bought": self.bought,
            "noise_half_width": self.noise_half_width(),
            "noise_level": NOISE_LEVEL,
            "noise_unit": self.noise_unit,
            "simulation": self.simulation,
            "note": f"{note}; simulation, not a private release" if self.simulation else note,
        }


def answer(query: Query, data: ArrayLike, outcome: Outcome, rng: np.random.Generator | None = None) -> Answer:
    """Answer a query on the bought entries by the P-E mechanism, so that each owner gets her own ε_i (`eqn:PDP`).

    The mechanism draws r with probability proportional to exp(½ σ_φ(d, r)) (`sec:prelim`). Without `rng` the random
    bits come from the operating system's cryptographic source. The draw itself is exact: whole-number weights, whole
    random numbers. Their law differs from the P-E law by a factor of at most exp(±(k+1) 2^−44) for every result with
    a score above −256, and it errs on the owners' side: it is ε_i-PDP for every ε_i as given, rounding included
    (`smqopt.query.release`).

    Parameters
    ----------
    query
        `Count()`, `Median(low, high)`, or another `Query`.
    data
        The k = |S_c| bought entries, shape (k,), in the order of the selected owners. Private.
    outcome
        Who was bought.
    rng
        Makes a simulation, not a private release, by the same draw from a generator that can be run again.

    Raises
    ------
    UncertifiedError
        If the outcome's certificate is not valid, or the outcome is not one that it allows.
    InputError
        If no entries were bought, the number of entries is not k, or an entry is not what the query takes; no error
        shows an entry.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([5.0, 5.0, 5.0, 5.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, budget=1.0)), [0.1, 0.2, 0.9, 0.3])
    >>> result = answer(smq.Count(), [1, 1, 0], outcome, rng=np.random.default_rng(0))
    >>> result.n, result.bought, result.noise_unit, result.simulation
    (4, 3, 'owners of the population', True)
    """
    if not isinstance(query, Query):
        raise InputError("argument 'query'", "must be a Query", value=type(query).__name__, remedy="give, say, Count()")
    if not isinstance(outcome, Outcome):
        raise InputError(
            "argument 'outcome'",
            "must be an Outcome",
            value=type(outcome).__name__,
            remedy="give what `procure` returns",
        )
    if not (rng is None or isinstance(rng, np.random.Generator)):
        raise InputError(
            "argument 'rng'",
            "must be a numpy Generator or None",
            value=type(rng).__name__,
            remedy="give numpy.random.default_rng(seed) for a simulation, or nothing for a private release",
        )
    genuine(outcome)
    epsilon = outcome.bought_epsilon
    k, n = outcome.bought, outcome.population
    if k == 0:
        raise InputError("argument 'outcome'", "no entries were bought", remedy="raise the budget")
    query = query.asked_of(Purchase.of(outcome))
    entries = query.entries(data, outcome.bought_ids)
    epsilon_used, ceiling = lowered(epsilon, query.rounding_of_cost)
    result = draw(query.score(entries, epsilon_used, ceiling), rng)
    return Answer(
        value=query.values(np.array([result]), k, n).item(),
        query=query.name,
        population=n,
        bought=k,
        simulation=rng is not None,
        noise_unit=query.noise_unit,
        asked=query,
        epsilon=epsilon,
        entries=entries,
    )
