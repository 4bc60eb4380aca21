"""The grid of the experiments: what varies, and what is noted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

CORRELATIONS = (0.0, -0.5, -1.0)
"""ρ, Pearson's, of the uniform ε and θ."""
BUDGET_SHARES = tuple(round(0.1 * k, 1) for k in range(1, 11))
"""B/(θ̄ n): both ends of the table and of the text (errata E13)."""
QUERIES = ("count", "median", "linear")
EVERYTHING = "everything"
"""A trial draws ε, θ, and so who is bought, and the noise (errata E14)."""
NOISE_ONLY = "noise"
"""A trial draws the noise alone, for one market (errata E14)."""
SMQ = ("smq-marginal", "smq-conditional", "uniform-price", "omniscient")
"""SMQ with the marginal law, as printed; with the law given ε (errata E4); a single price; and who
knows every θ."""


def fair_query_names(query: str) -> tuple[str, ...]:
    """Name the readings of FQ: rule (E6), noise (E7), sensitivity (E19).

    Examples
    --------
    >>> fair_query_names("count")
    ('fq-printed-scale', 'fq-printed-variance', 'fq-original-scale', 'fq-original-variance')
    """
    plain = [f"fq-{rule}-{noise}" for rule in ("printed", "original") for noise in ("scale", "variance")]
    if query == "count":
        return tuple(plain)
    return tuple(f"{name}-{sensitivity}" for name in plain for sensitivity in ("public", "sample"))


MECHANISMS: Mapping[str, tuple[str, ...]] = {
    "count": (*SMQ, *fair_query_names("count")),
    "median": (*SMQ, *fair_query_names("median")),
    "linear": (*SMQ, "fip"),
}
"""For each query, the mechanisms that answer it."""

METRICS = ("answer", "exact", "bought", "spend", "privacy", "spread")
"""Of each answer: itself; what it would be without noise; owners bought; payments; Σ ε of the
bought; standard deviation of the payments to the bought relative to their mean. NaN where a
mechanism gives no answer."""
DECILES = 10
"""Tenths of (0, 1) by which the share of owners bought is noted."""


def columns() -> list[tuple[str, str]]:
    """Return all pairs (query, mechanism), in order."""
    return [(query, mechanism) for query in QUERIES for mechanism in MECHANISMS[query]]


def budget_of(share: float, n: int) -> float:
    """Return B = share · θ̄ n, θ̄ = 1, rounded once."""
    return float(np.float64(share) * n)
