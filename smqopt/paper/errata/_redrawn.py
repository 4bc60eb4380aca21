"""E14: what a trial draws anew."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from smqopt.numeric import GAP
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.query import Count, pe_law

ByMarket = Sequence[tuple[float, float]]
"""For each market that can come about, its probability and the mean squared error over the noise
alone."""
Overall = Callable[[ByMarket], float]
"""From these to the mean squared error where each trial draws everything anew."""

ENTRIES = np.array([1, 0, 1, 1, 0])
EPSILON = np.array([0.25, 0.5, 0.5, 1.0, 1.0])
ACCEPTANCE = (0.25, 0.5, 0.5, 0.75, 1.0)
"""The last owner always sells, so that there is always an answer."""


def any_market_will_do(by_market: ByMarket) -> float:
    """Take one market for all."""
    return by_market[0][1]


def mean_over_markets(by_market: ByMarket) -> float:
    """Average over the markets."""
    return math.fsum(weight * error for weight, error in by_market)


def _trial(overall: Overall) -> Finding:
    """Compute the error with everything drawn anew from the answer's law."""
    truth = int(ENTRIES.sum())
    query = Count()
    answers: defaultdict[Fraction, float] = defaultdict(float)
    by_market = []
    for sells in product((True, False), repeat=ENTRIES.size):
        chance = math.prod(q if sold else 1 - q for q, sold in zip(ACCEPTANCE, sells, strict=True))
        if chance == 0:
            continue
        bought = np.array(sells)
        score = query.score(ENTRIES[bought], EPSILON[bought])
        law = pe_law(score).tolist()
        values = [Fraction(int(r) * ENTRIES.size, int(bought.sum())) for r in score.results]
        by_market.append((chance, math.fsum(p * float(v - truth) ** 2 for v, p in zip(values, law, strict=True))))
        for value, p in zip(values, law, strict=True):
            answers[value] += chance * p
    mean = math.fsum(p * float(v) for v, p in answers.items())
    variance = math.fsum(p * (float(v) - mean) ** 2 for v, p in answers.items())
    exact = (mean - truth) ** 2 + variance
    claimed = overall(by_market)
    least, most = min(error for _, error in by_market), max(error for _, error in by_market)
    told = (
        f"RMSE {math.sqrt(claimed):.3f} claimed, {math.sqrt(exact):.3f} with everything drawn anew; "
        f"{math.sqrt(least):.3f} to {math.sqrt(most):.3f} with the noise alone, by market"
    )
    return Finding(abs(claimed - exact) <= GAP.value * exact, told)


REDRAWN = Entry(
    "E14",
    '"500 trials"',
    Claim("not said what is redrawn, as if it did not matter", any_market_will_do),
    Claim(
        "two schemes: everything, or the noise only, whose mean squared errors average to the first's",
        mean_over_markets,
    ),
    _trial,
)
