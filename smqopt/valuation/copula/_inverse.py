"""Thresholds at a price for the conditional law of a uniform θ.

Newton's method in normal scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from smqopt.numeric import Floats
from smqopt.valuation.copula._normal_scores import normal_score, valuation_at_score
from smqopt.valuation.copula._protocol import Conditional
from smqopt.valuation.copula._shape import FARTHEST, GaussianLink, rent, slope_sign
from smqopt.valuation.ironing._flat_segments import FlatPieces

MOST_STEPS = 120
"""Newton takes about six; bisection alone reaches the last bit of a score within these."""
NEAR_ONE = 1.0 - 2.0**-10
"""The first guess stays below this level."""


def uniform_inverse(law: Conditional, pieces: FlatPieces, price: Floats) -> Floats:
    """Return the threshold where the ironed J equals a price, clipped.

    With j = (J − low)/width as a function of the score x, Newton's step is taken on log j, which is
    concave in the lower tail and convex in the upper one; where a step leaves the bracket it is
    halved instead. The bracket of an irregular owner is the rising stretch below her flat piece, or
    the one above it.

    Parameters
    ----------
    law
        Of uniform θ.
    pieces
        Its flat pieces, at most one an owner.
    price
        Shape (n,), or any shape for a law of one owner.
    """
    shape = price.shape
    v = price.ravel()
    marginal = law.valuation
    z, low, width = (
        np.broadcast_to(np.asarray(a, dtype=np.float64), shape).ravel()
        for a in (law.score, marginal.low, marginal.width)
    )
    with np.errstate(invalid="ignore"):
        goal = (v - low) / width
    bottom, top = _brackets(law, pieces, v)
    x = np.where(goal <= 0, -np.inf, np.where(np.isnan(goal), np.nan, np.inf))
    active = np.flatnonzero((goal > 0) & (goal < np.inf))
    x[active] = _newton(law.link, z[active], goal[active], bottom[active], top[active])
    theta = valuation_at_score(marginal, x.reshape(shape))
    return np.asarray(np.clip(theta, law.low, law.high))


def _brackets(law: Conditional, pieces: FlatPieces, v: Floats) -> tuple[Floats, Floats]:
    bottom, top = np.full(v.size, -FARTHEST), np.full(v.size, FARTHEST)
    if len(pieces):
        if law.size is None:
            owner, piece = np.arange(v.size), np.zeros(v.size, dtype=np.intp)
            marginal = law.valuation
        else:
            owner, piece = pieces.owner, np.arange(len(pieces))
            marginal = law.valuation.take(owner)
        beyond = v[owner] >= pieces.slope[piece]
        first, last = normal_score(marginal, pieces.low[piece]), normal_score(marginal, pieces.high[piece])
        bottom[owner] = np.where(beyond, np.minimum(last, FARTHEST), -FARTHEST)
        top[owner] = np.where(beyond, FARTHEST, np.minimum(first, FARTHEST))
    return bottom, top


def _newton(link: GaussianLink, z: Floats, goal: Floats, bottom: Floats, top: Floats) -> Floats:
    r, s = link.r, link.s
    x = np.clip(ndtri(np.minimum(goal / (1.0 + s * s), NEAR_ONE)), bottom, top)
    bottom, top = bottom.copy(), top.copy()
    active: NDArray[np.intp] = np.arange(x.size)
    for _ in range(MOST_STEPS):
        if active.size == 0:
            break
        here, zed, wanted = x[active], z[active], goal[active]
        y = (here - r * zed) / s
        u = ndtr(here)
        j = u + rent(link, here, y, zed)
        too_high = j >= wanted
        top[active] = np.where(too_high, here, top[active])
        bottom[active] = np.where(too_high, bottom[active], here)
        with np.errstate(all="ignore"):
            density = np.exp(-0.5 * here * here) / np.sqrt(2.0 * np.pi)
            step = np.log(j / wanted) * j / (density * slope_sign(link, y, zed))
        left, right = bottom[active], top[active]
        there = here - step
        there = np.where((there > left) & (there < right), there, 0.5 * (left + right))
        x[active] = there
        fine = 2.0 * np.spacing(np.abs(here))
        done = (np.abs(there - here) <= fine) | (j == wanted) | (right - left <= fine)
        x[active[j == wanted]] = here[j == wanted]
        active = active[~done]
    return x
