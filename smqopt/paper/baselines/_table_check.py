"""How far the shared price table is from the optimum of one market."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Market
from smqopt.paper.experiments._grid import budget_of
from smqopt.paper.experiments._setting import Setting
from smqopt.paper.experiments._streams import Streams
from smqopt.paper.experiments._trial import market
from smqopt.solvers import solve
from smqopt.valuation import GaussianCopula, Uniform
from smqopt.verification import verify

CHECKED = ("budget_share", "expected_spend", "privacy", "upper_bound", "valid")
"""Columns: B/(θ̄ n); E[Σ p]/B under each owner's own law; Σ ε F; the certified upper bound on it; 1
where the certificate is valid."""
CHECKED_SHARES = (0.1, 0.3, 0.5, 0.9)


def table_check(setting: Setting, streams: Streams) -> NDArray[np.float64]:
    """Compare the table's prices with the certified solution of the whole market.

    Returns
    -------
    ndarray
        A row a budget, shape (m, 5), with the columns `CHECKED`.
    """
    n = setting.population.n
    epsilon, _ = market(setting.correlation, n, streams.market)
    law = GaussianCopula(Uniform(0, 1), Uniform(0, 1), setting.correlation).given(epsilon)
    whole = Market(epsilon, law)
    rows = []
    assert setting.table is not None  # noqa: S101
    for share in CHECKED_SHARES:
        budget = budget_of(share, n)
        threshold = setting.table.offer(epsilon, budget).threshold
        accepted = law.cdf(threshold)
        certificate = verify(solve(whole, budget), prove=False)
        spend, privacy = float((threshold * accepted).sum()), float((epsilon * accepted).sum())
        rows.append((share, spend / budget, privacy, certificate.upper_bound, float(certificate.valid)))
    return np.array(rows)
