"""What an owner was promised, and the worst that could come of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError, check_kind
from smqopt.files import write_csv
from smqopt.market import numbers
from smqopt.numeric import Floats, NumberList
from smqopt.query._purchase import Purchase
from smqopt.query.audit._exact_audit import Law, PrivacyAudit, audit_log_law, audit_privacy
from smqopt.query.exponential._exponential_law import VANISHED, log_pe_law, pe_law
from smqopt.query.exponential._release import lower_to_grid, whole_weights
from smqopt.query.exponential._score import Score
from smqopt.query.queries._query import AnyQuery, PopulationQuery

MOST_DATASETS = 200_000
"""The most data sets that are tried."""


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """The requirement and worst-case loss of each owner bought. Public.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, 0.5)), [0.1, 0.2, 0.3])
    >>> answer = smq.answer(smq.Count(), [1, 0, 1], outcome, rng=np.random.default_rng(1))
    >>> loss = answer.privacy
    >>> loss.promised.tolist(), bool((loss.given <= loss.promised).all())
    ([0.2, 0.5, 1.0], True)
    """

    promised: Floats = field(repr=False)
    """ε_i, shape (k,)."""
    given: Floats = field(repr=False)
    """The supremum, over all data sets, neighbours and answers, of the logarithm of the ratio of
    probabilities, or a bound on it; shape (k,)."""
    method: str
    """How `given` was come by."""

    @property
    def kept(self) -> bool:
        """Whether no owner got less privacy than she was promised."""
        return bool(np.all(self.given <= self.promised))

    def save(self, path: str | os.PathLike[str], owner_ids: Sequence[str]) -> None:
        """Write one row an owner bought as CSV: promised and worst case."""
        rows = zip(owner_ids, self.promised.tolist(), self.given.tolist(), strict=True)
        write_csv(path, ("owner", "promised", "given"), rows)


def given_by_trial(query: PopulationQuery, epsilon: ArrayLike, alphabet: NumberList) -> PrivacyLoss:
    """Compute the worst case over all data sets of a small finite range.

    It takes the whole-number law of the draw.

    Parameters
    ----------
    query
        Not yet fitted, or fitted to these requirements.
    epsilon
        Requirements ε_i, shape (k,).
    alphabet
        The values an entry can have.

    Raises
    ------
    InputError
        If there are too many data sets.
    """
    requirements = numbers(epsilon, "audit: argument 'epsilon'")
    fitted = _fit(query, requirements)
    audit = audit_privacy(released_law_of(fitted, requirements), requirements, _places(fitted, alphabet, requirements))
    return PrivacyLoss(requirements, audit.log_ratio, f"all {audit.datasets} data sets")


def audit_query(query: PopulationQuery, epsilon: ArrayLike, alphabet: NumberList) -> PrivacyAudit:
    """Audit a query's P-E law on every data set of a small range.

    Parameters
    ----------
    query
        A query of this package, or one's own.
    epsilon
        Requirements ε_i, shape (k,): everybody is taken to be bought.
    alphabet
        The values an entry can have, as the query takes them.

    Raises
    ------
    InputError
        If there are too many data sets.

    Examples
    --------
    >>> import smqopt as smq
    >>> audit_query(smq.Histogram([0, 1, 2, 3]), [0.5, 1.0], [0, 1, 2]).excess <= 1e-12
    True
    """
    check_kind(query, PopulationQuery, "audit_query: argument 'query'", "a Query", "give, say, Count()")
    requirements = numbers(epsilon, "audit: argument 'epsilon'")
    fitted = _fit(query, requirements)
    return audit_log_law(log_law_of(fitted, requirements), requirements, _places(fitted, alphabet, requirements))


def law_of(query: AnyQuery, epsilon: Floats) -> Law:
    """Return the P-E law as a function of checked entries."""
    at = np.minimum(query.share * epsilon, VANISHED)
    return lambda entries: _jointly(query.scores(entries, at, VANISHED), pe_law, np.multiply)


def log_law_of(query: AnyQuery, epsilon: Floats) -> Law:
    """Return the logarithms of the P-E law, of checked entries; costs uncut."""
    return lambda entries: _jointly(query.scores(entries, query.share * epsilon), log_pe_law, np.add)


def released_law_of(query: AnyQuery, epsilon: Floats) -> Law:
    """Return the law of the draw itself, from its whole numbers."""
    used, ceiling = lower_to_grid(query.share * epsilon, query.rounding_of_cost)

    def law(score: Score) -> Floats:
        weights = whole_weights(score.cost)
        total = sum(w * length for w, length in zip(weights, score.length.tolist(), strict=True))
        return np.repeat(np.array([w / total for w in weights]), score.length)

    return lambda entries: _jointly(query.scores(entries, used, ceiling), law, np.multiply)


def _jointly(
    scores: tuple[Score, ...], law: Callable[[Score], Floats], combine: np.ufunc
) -> tuple[list[tuple[int, ...]], Floats]:
    results = list(product(*(score.results.tolist() for score in scores)))
    return results, reduce(combine.outer, [law(score) for score in scores]).ravel()


def _fit(query: PopulationQuery, epsilon: Floats) -> AnyQuery:
    everybody = np.ones(epsilon.size)
    return query.asked_of(Purchase(everybody.astype(np.bool_), epsilon, everybody))


def _places(query: AnyQuery, alphabet: NumberList, epsilon: Floats) -> list[int]:
    found = sorted({int(place) for place in query.entries(list(alphabet), [str(value) for value in alphabet])})
    if len(found) ** epsilon.size > MOST_DATASETS:
        raise InputError(
            "audit: argument 'alphabet'",
            f"makes more than {MOST_DATASETS} data sets",
            value=f"{len(found)}^{epsilon.size}",
            remedy="try fewer values, or fewer owners",
        )
    return found
