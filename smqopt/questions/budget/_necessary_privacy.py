"""Lemma 1: the purchased privacy that accuracy needs (errata E10, E16).

A necessary level, and never a guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.errors import InputError, check_kind, nearest
from smqopt.market import Market, Status
from smqopt.numeric import exact_dot
from smqopt.verification import weights

NECESSARY_QUERIES = ("count", "median")
"""The queries of which Lemma 1 holds; for linear predictors with bounded entries it does not
(errata E16)."""


@dataclass(frozen=True)
class NecessaryPrivacy:
    """What an (α, δ)-accurate answer cannot do without; more may not be enough.

    Examples
    --------
    >>> import smqopt as smq
    >>> found = smq.necessary_privacy("count", alpha=5, delta=0.95, n=100)
    >>> round(found.level, 3)
    14.722
    """

    query: str
    alpha: int
    """The answer is to be less than this away from the truth,"""
    delta: float
    """with this probability."""
    n: int
    """The number of owners."""
    level: float
    """n/(4α) (ln δ − ln(1 − δ)), at least 0, in units of ε: necessary, not sufficient."""
    available: float | None
    """Σ m_i ε_i of the market, all that can be bought; None where no market was given."""
    status: Status | None
    """UNREACHABLE where the level exceeds what is available: no budget allows such an answer. None
    else."""

    @property
    def says_something(self) -> bool:
        """Whether the lemma says anything: for δ ≤ 1/2 it does not (errata E10)."""
        return self.level > 0

    def __str__(self) -> str:
        asked = f"an answer within {self.alpha} with probability {self.delta:g}"
        if not self.says_something:
            return f"for {asked} Lemma 1 says nothing: it needs a probability above 1/2"
        text = f"necessary for {asked}, and no guarantee of one: purchased privacy of at least {self.level:.6g}"
        return f"{text}; the owners have {self.available:.6g} in all" if self.status is Status.UNREACHABLE else text


def necessary_privacy(
    query: str, *, alpha: int, delta: float, n: int | None = None, market: Market | None = None
) -> NecessaryPrivacy:
    """Return the privacy that an (α, δ)-PAC answer needs (Lemma 1, `accuracy`).

    It is a level of the *realised* purchased privacy, of the owners who were bought. It is
    necessary and never a guarantee: a mechanism that buys more may still be less accurate.

    Parameters
    ----------
    query
        "count" or "median" (of distinct whole numbers).
    alpha
        The accuracy, a whole number with 1 ≤ α ≤ n/4.
    delta
        The probability, in (0, 1). For δ ≤ 1/2 the lemma says nothing, and the level is 0 (errata
        E10).
    n
        The number of owners; that of the market by default.
    market
        The market to compare with, if any.

    Raises
    ------
    InputError
        If the query is another one, α or δ is out of range, or there is neither n nor a market, or
        they disagree.

    Examples
    --------
    >>> round(necessary_privacy("count", alpha=5, delta=0.95, n=100).level, 6)
    14.722195
    >>> necessary_privacy("count", alpha=5, delta=0.5, n=100).says_something
    False
    """
    where = "necessary_privacy: argument"
    if query not in NECESSARY_QUERIES:
        raise InputError(
            f"{where} 'query'",
            "must be one of which Lemma 1 holds (errata E16)",
            value=query,
            remedy=nearest(str(query), NECESSARY_QUERIES),
        )
    if market is not None:
        check_kind(market, Market, f"{where} 'market'", "a Market", "make one of requirements and a law")
    owners = _owners(where, n, market)
    if isinstance(alpha, bool) or not isinstance(alpha, (int, np.integer)) or not 1 <= alpha <= owners / 4:
        raise InputError(
            f"{where} 'alpha'", f"must be a whole number from 1 to {owners // 4}", value=alpha, remedy="correct it"
        )
    if isinstance(delta, bool) or not isinstance(delta, (int, float, np.floating)) or not 0 < delta < 1:
        raise InputError(f"{where} 'delta'", "must lie in (0, 1)", value=delta, remedy="use, say, 0.95")
    level = max(0.0, owners / (4 * int(alpha)) * (math.log(delta) - math.log1p(-delta)))
    available = (
        None if market is None else exact_dot(market.epsilon, np.broadcast_to(weights(market), market.epsilon.shape))
    )
    status = Status.UNREACHABLE if available is not None and level > available else None
    return NecessaryPrivacy(query, int(alpha), float(delta), owners, level, available, status)


def _owners(where: str, n: int | None, market: Market | None) -> int:
    if n is None:
        if market is None:
            raise InputError(f"{where} 'n'", "is missing", remedy="give n, or a market")
        return market.population
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 4:
        raise InputError(f"{where} 'n'", "must be a whole number ≥ 4", value=n, remedy="give the number of owners")
    if market is not None and market.population != n:
        raise InputError(f"{where} 'n'", "must be the market's number of owners", value=n, remedy="leave it out")
    return int(n)
