"""A test of independence, and what ignoring dependence costs (errata E4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from smqopt.errors import InputError
from smqopt.numeric import Floats, align_pairs
from smqopt.valuation.copula._gaussian_copula import GaussianCopula
from smqopt.valuation.estimation._empirical_conditional import histogram_law
from smqopt.valuation.estimation._rank_correlation import checked_pairs, mid_ranks, rank_correlation
from smqopt.valuation.law._base import Valuation

LEVEL = 0.05
"""A p-value below this speaks against independence."""
EQUAL = 2.0**-40
"""Correlations this near, relatively, are equal up to rounding."""
BLOCK = 1 << 20
"""Permuted ranks held at once."""


@dataclass(frozen=True)
class IndependenceTest:
    """What past pairs say of independence, and what ignoring it would spend.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> rng = np.random.default_rng(1)
    >>> found = smq.independence_test(rng.random(200), rng.random(200))
    >>> found.pairs, 0 <= found.p_value <= 1
    (200, True)
    """

    statistic: float
    """Spearman's ρ: the Pearson correlation of the uniform scores."""
    p_value: float
    """Two-sided, of ρ = 0. Dependence that is not monotone can escape it."""
    standard_error: float
    """Of ρ, whatever the joint law."""
    pairs: int
    method: str
    marginal_spend: float | None = None
    """Expected spend of the thresholds under the marginal law, in currency; None where no
    thresholds were given."""
    conditional_spend: float | None = None
    """Expected spend of the same thresholds under the fitted law of θ given ε, in currency."""
    conditional_spend_error: float | None = None
    """What one standard error of ρ changes in the conditional spend, in currency; the error of the
    margins is not in it."""

    @property
    def is_rejected(self) -> bool:
        """Whether independence is rejected at `LEVEL`."""
        return self.p_value < LEVEL

    @property
    def overspend(self) -> float | None:
        """Conditional spend over marginal spend.

        Above 1 the marginal law breaks its budget. None where it is not known.
        """
        if self.marginal_spend is None or self.conditional_spend is None or self.marginal_spend == 0:
            return None
        return self.conditional_spend / self.marginal_spend

    @property
    def text(self) -> str:
        """Say it in a few sentences."""
        found = f"Spearman's ρ of {self.pairs} past pairs is {self.statistic:.3f} ± {self.standard_error:.3f} (p = {self.p_value:.2g}, {self.method})."
        if self.is_rejected:
            verdict = (
                "Valuations depend on requirements: use the law of θ given ε, GaussianCopula.fit(…).given(epsilon)."
            )
        else:
            verdict = "This does not speak against independence, nor does it prove it."
        return f"{found} {verdict} {self._cost()}".rstrip()

    def _cost(self) -> str:
        if self.overspend is None:
            if not self.is_rejected:
                return ""
            if self.statistic < 0:
                return "Where thresholds rise with ε, a negative ρ makes the marginal law overspend: those who are offered more accept more often."
            return "Where thresholds rise with ε, a positive ρ makes the marginal law spend less than its budget."
        ratio, error = self.overspend, (self.conditional_spend_error or 0.0) / (self.marginal_spend or math.inf)
        says = (
            f"Under the fitted law these thresholds spend {ratio:.3f} ± {error:.3f} times what the marginal law expects"
        )
        if ratio - 2 * error > 1:
            return f"{says}: the marginal law would overspend."
        if ratio + 2 * error < 1:
            return f"{says}: the marginal law would leave budget unspent."
        return f"{says}: no clear difference."


def independence_test(
    epsilon: ArrayLike,
    theta: ArrayLike,
    *,
    announced: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    valuation: Valuation | None = None,
    rng: np.random.Generator | None = None,
    permutations: int = 9_999,
) -> IndependenceTest:
    """Test past pairs (ε, θ) for independence by ranks, and price the dependence.

    Parameters
    ----------
    epsilon, theta
        Past requirements and valuations, shape (m,) each, m ≥ 3.
    announced, thresholds
        The requirements and thresholds of a market, shape (n,) each, such as `market.epsilon` and
        `solution.thresholds`; then the spend under the marginal law and under the fitted copula are
        compared.
    valuation
        The marginal law of θ in use; by default estimated.
    rng
        With it, the p-value comes from `permutations` random permutations; without, from Student's
        t with m − 2 degrees of freedom (Zar 1972, *J. Am. Stat. Assoc.* 67), which is good from
        some tens of pairs on.
    permutations
        How many.

    Raises
    ------
    InputError
        If the pairs are bad (see `GaussianCopula.fit`), or one of `announced` and `thresholds` is
        missing or of another shape.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> e = rng.random(500)
    >>> independence_test(e, 1 - e + rng.random(500)).is_rejected
    True
    """
    e, t = checked_pairs(epsilon, theta)
    found = rank_correlation(e, t)
    if rng is None:
        method, p_value = "Student's t", _student(found.correlation, found.pairs)
    else:
        method, p_value = f"{permutations} permutations", _permute(e, t, found.correlation, rng, permutations)
    spends: tuple[float | None, float | None, float | None] = (None, None, None)
    if announced is not None or thresholds is not None:
        market_epsilon, theta_star = _market(announced, thresholds)
        marginal = histogram_law(t) if valuation is None else valuation
        spends = _spends(e, market_epsilon, theta_star, marginal, found.correlation, found.standard_error)
    return IndependenceTest(found.correlation, p_value, found.standard_error, found.pairs, method, *spends)


def _student(rho: float, pairs: int) -> float:
    if abs(rho) == 1.0:
        return 0.0 if pairs > 3 else 1.0 / 3.0  # three pairs agree or oppose by chance in 2 of 6 orders
    t = rho * math.sqrt((pairs - 2) / (1.0 - rho * rho))
    return float(2.0 * stdtr(pairs - 2, -abs(t)))


def _permute(e: Floats, t: Floats, rho: float, rng: np.random.Generator, permutations: int) -> float:
    """The share of permutations, this one among them, whose |ρ| is no less."""
    u, v = mid_ranks(e), mid_ranks(t)
    u, v = u - u.mean(), v - v.mean()
    scale = math.sqrt(float(u @ u) * float(v @ v))
    level = abs(rho) * scale * (1.0 - EQUAL)
    hits, left = 1, permutations
    while left > 0:
        rows = min(left, max(1, BLOCK // u.size))
        shuffled = rng.permuted(np.broadcast_to(v, (rows, v.size)), axis=1)
        hits += int(np.count_nonzero(np.abs(shuffled @ u) >= level))
        left -= rows
    return hits / (permutations + 1)


def _market(announced: ArrayLike | None, thresholds: ArrayLike | None) -> tuple[Floats, Floats]:
    given = align_pairs("independence test: argument 'thresholds'", announced, thresholds)
    columns = [np.asarray(column, dtype=np.float64) for column in given if column is not None]
    if len(columns) != 2 or columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        raise InputError(
            "independence test: arguments 'announced' and 'thresholds'",
            "must both be given, in one shape (n,)",
            value=[column.shape for column in columns],
            remedy="give market.epsilon and solution.thresholds",
        )
    return columns[0], columns[1]


def _spends(
    past: Floats, announced: Floats, thresholds: Floats, marginal: Valuation, rho: float, error: float
) -> tuple[float, float, float]:
    """Return spend under marginal and copula, and the latter's standard error."""
    requirement = histogram_law(past)
    within = np.clip(announced, requirement.low, requirement.high)

    def spend(correlation: float) -> float:
        copula = GaussianCopula(marginal, requirement, float(np.clip(correlation, -1.0, 1.0)))
        return math.fsum((thresholds * copula.given(within).cdf(thresholds)).tolist())

    expected = math.fsum((thresholds * marginal.cdf(thresholds)).tolist())
    return expected, spend(rho), 0.5 * abs(spend(rho + error) - spend(rho - error))
