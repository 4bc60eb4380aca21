"""The law of θ given ε from past pairs.

With no assumption on how they hang together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.valuation.estimation._rank_correlation import checked_pairs
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._owner_names import keep_names
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform
from smqopt.valuation.tabular._piecewise_uniform_by_owner import PiecewiseUniformByOwner

MOST_NODES = 64
FEWEST_NEIGHBOURS = 30


def histogram_law(x: Floats) -> PiecewiseUniform:
    """Smooth a sample into 2 m^(1/3) pieces of about equal mass.

    Scott 1992, section 3.2, for the rate.

    Parameters
    ----------
    x
        Shape (m,), not constant; its least and largest value become the ends of the support.
    """
    edges = _edges(x)
    return PiecewiseUniform(edges, np.histogram(x, edges)[0])


@dataclass(frozen=True, eq=False)
class EmpiricalConditional:
    """Histograms of θ among the past pairs whose ε is nearest in rank.

    Each node is a share of the ranks of ε, and holds the law of the k pairs nearest to its middle.
    To the k pairs comes one more, spread as all past θ are, so that no piece within the range of
    past valuations is empty.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> rng = np.random.default_rng(1)
    >>> requirement = rng.random(2000)
    >>> valuation = 1 - requirement + 0.1 * rng.random(2000)
    >>> law = smq.EmpiricalConditional.fit(requirement, valuation).given([0.1, 0.9])
    >>> law.cdf(0.5).round(2).tolist()
    [0.0, 1.0]
    """

    requirements: Floats
    """The past requirements, sorted, shape (m,)."""
    laws: tuple[PiecewiseUniform, ...]
    """One law a node, in order of ε."""
    neighbours: int
    """k, the pairs that each law rests on; the standard error of its cdf is at most 1/(2 √k),
    beside what ε blurs."""

    @classmethod
    def fit(cls, epsilon: ArrayLike, theta: ArrayLike, *, neighbours: int | None = None) -> EmpiricalConditional:
        """Estimate the law of θ given ε.

        Parameters
        ----------
        epsilon, theta
            Past pairs, shape (m,) each, m ≥ 3.
        neighbours
            k, from 1 to m; by default m^(2/3), at least 30.

        Raises
        ------
        InputError
            If the pairs are bad (see `GaussianCopula.fit`) or k is out of its range.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> e = rng.random(2000)
        >>> F = EmpiricalConditional.fit(e, 1 - e + 0.1 * rng.random(2000)).given([0.1, 0.9])
        >>> (F.cdf(0.5) > 0.5).tolist()
        [False, True]
        """
        e, t = checked_pairs(epsilon, theta)
        m = e.size
        k = min(m, max(FEWEST_NEIGHBOURS, round(m ** (2 / 3)))) if neighbours is None else neighbours
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= m:
            raise InputError(
                "empirical law given ε: argument 'neighbours'",
                f"must be a whole number from 1 to {m}",
                value=k,
                remedy="give the number of nearest pairs",
            )
        order = np.argsort(e, kind="stable")
        nodes = min(MOST_NODES, math.ceil(2 * m / k))
        middles = (np.arange(nodes) + 0.5) / nodes * m
        starts = np.clip(np.round(middles - 0.5 * k), 0, m - k).astype(np.intp)
        edges = _edges(t)
        everyone = np.histogram(t, edges)[0] / m
        near = [np.histogram(t[order[start : start + k]], edges)[0] for start in starts.tolist()]
        e = e[order]
        e.flags.writeable = False
        return cls(e, tuple(PiecewiseUniform(edges, counts + everyone) for counts in near), int(k))

    def given(self, epsilon: ArrayLike) -> Valuation:
        """Return the law of θ_i given ε_i.

        That of the node whose share of past ranks holds ε_i.

        Parameters
        ----------
        epsilon
            Announced requirements, shape (n,), or one number; those beyond the past ones get the
            outermost law.

        Raises
        ------
        InputError
            If an ε is not a number; names the owner.
        """
        array = np.asarray(epsilon, dtype=np.float64)
        bad = np.flatnonzero(np.isnan(np.atleast_1d(array)))
        if array.ndim > 1 or array.size == 0 or bad.size:
            where = "empirical law given ε: argument 'epsilon'"
            raise InputError(
                f"{where}, owner {bad[0] + 1}" if bad.size else where,
                "must be a number or hold numbers in shape (n,)",
                value="nan" if bad.size else array.shape,
                remedy="give one requirement an owner",
            )
        past, count = self.requirements, len(self.laws)
        rank = 0.5 * (np.searchsorted(past, array, side="left") + np.searchsorted(past, array, side="right"))
        node = np.minimum((rank / past.size * count).astype(np.intp), count - 1)
        if array.ndim == 0:
            return self.laws[int(node)]
        law = PiecewiseUniformByOwner(self.laws, node)
        return keep_names(law, epsilon, "empirical law given ε: argument 'epsilon'")


def _edges(x: Floats) -> Floats:
    """Return quantiles of a sample with about equal shares between them."""
    pieces = math.ceil(2.0 * x.size ** (1.0 / 3.0))
    return np.unique(np.quantile(x, np.linspace(0.0, 1.0, pieces + 1)))
