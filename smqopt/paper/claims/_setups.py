"""The setups that the paper's figures show, and readings of its baseline."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

from smqopt.paper.data_sets._population import DATA_SETS
from smqopt.paper.experiments._grid import BUDGET_SHARES, CORRELATIONS

PAPER_SHARES = BUDGET_SHARES[:-1]
"""0.1 to 0.9, as in the paper's text and figures (errata E13)."""
SMQ_PRINTED = "smq-marginal"
TITLES = {"adult": "Adult", "recs": "RECS 2009", "movielens": "MovieLens 1M"}


def every_setup(data_sets: tuple[str, ...] = tuple(DATA_SETS)) -> Iterator[tuple[str, float, float]]:
    """Return all (data set, ρ, budget)."""
    return product(data_sets, CORRELATIONS, PAPER_SHARES)


def budget_steps(data_sets: tuple[str, ...] = tuple(DATA_SETS)) -> Iterator[tuple[str, float, float, float]]:
    """Return all (data set, ρ, budget, next budget)."""
    return ((one, rho, *step) for one, rho, step in product(data_sets, CORRELATIONS, pairwise(PAPER_SHARES)))


def correlation_steps(data_sets: tuple[str, ...] = tuple(DATA_SETS)) -> Iterator[tuple[str, float, float, float]]:
    """Return all (data set, budget, ρ, the next smaller ρ)."""
    return ((one, share, *step) for one, share, step in product(data_sets, PAPER_SHARES, pairwise(CORRELATIONS)))


def reading_name(mechanism: str) -> str:
    """Say in words which reading of FQ a name stands for.

    Examples
    --------
    >>> reading_name("fq-printed-scale"), reading_name("fq-original-variance-sample")
    ('printed rule, noise by scale', 'original rule, noise by variance, sensitivity of the sample')
    """
    _, rule, noise, *sensitivity = mechanism.split("-")
    words = f"{rule} rule, noise by {noise}"
    if not sensitivity:
        return words
    return f"{words}, sensitivity of the {'public range' if sensitivity[0] == 'public' else 'sample'}"
