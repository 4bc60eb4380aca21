"""What posted payments come to in one run: mean, variance and tail."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from smqopt.errors import InputError, check_kind
from smqopt.market import Solution, checked_budget, require_one_law
from smqopt.numeric import Floats, exact_dot, exact_sum
from smqopt.questions.payment._posted_offers import OffersMade, offers_of

_BLOCK = 1 << 20
"""Draws made at a time."""


@dataclass(frozen=True, eq=False)
class RealisedPayments:
    """The law of the total that is paid, owners truthful and independent.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.realised_payments(smq.solve(market, 0.5), amount=0.8)
    >>> round(found.mean, 9), 0 <= found.bernstein_bound <= 1
    (0.5, True)
    """

    mean: float
    """Σ of expected payments, in currency."""
    variance: float
    """In currency squared: Σ m θ² F (1 − F), and what lotteries add."""
    amount: float
    """The amount that is asked about, in currency: the budget by default."""
    bernstein_bound: float
    """The chance that more than the amount is paid is at most this, whatever the market's size
    (Bernstein)."""
    normal_approximation: float
    """That chance if the total were normal: an approximation, no bound."""
    simulated: Floats | None = field(repr=False)
    """Totals of simulated runs, sorted, in currency; None where none were drawn."""

    @property
    def standard_deviation(self) -> float:
        """In currency."""
        return math.sqrt(self.variance)

    @property
    def simulated_chance(self) -> float:
        """The share of simulated runs that paid more; NaN where none were drawn."""
        return math.nan if self.simulated is None else float(np.mean(self.simulated > self.amount))

    @property
    def simulation_error(self) -> float:
        """Half the width of a 95 % band about it (Hoeffding); NaN without draws."""
        return math.nan if self.simulated is None else math.sqrt(math.log(2.0 / 0.05) / (2 * self.simulated.size))

    def quantile(self, probability: float) -> float:
        """Return the amount that a share of the runs did not exceed, in currency.

        Raises
        ------
        InputError
            If nothing was simulated, or the probability does not lie in [0, 1].
        """
        if self.simulated is None:
            raise InputError("quantile", "needs simulated runs", remedy="give `draws` and a generator")
        if not 0 <= probability <= 1:
            raise InputError(
                "quantile: argument 'probability'", "must lie in [0, 1]", value=probability, remedy="use, say, 0.99"
            )
        return float(np.quantile(self.simulated, probability, method="higher"))


def realised_payments(
    solution: Solution,
    *,
    amount: float | None = None,
    draws: int = 0,
    rng: np.random.Generator | None = None,
) -> RealisedPayments:
    """Return mean, variance and tail of what a solution pays in one run.

    Each owner is paid her threshold if she sells, so the total is a sum of independent payments, θ
    with probability F(θ) and 0 else; an owner with a lottery draws her threshold first, and each of
    the m owners of a row draws on her own.

    Parameters
    ----------
    solution
        Thresholds for a market.
    amount
        The amount asked about, ≥ 0, in currency; the budget by default.
    draws
        How many runs to simulate; with more than 0, `rng` is needed.
    rng
        Draws the runs.

    Raises
    ------
    InputError
        If the amount is not a finite number ≥ 0, `draws` is not a whole number ≥ 0, or `rng` is
        missing.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> solution = smq.solve(smq.Market([1.0, 1.0], smq.Uniform(0, 1)), 0.5)
    >>> paid = realised_payments(solution, draws=1000, rng=np.random.default_rng(1))
    >>> round(paid.mean, 9), round(paid.variance, 9), paid.simulated_chance <= paid.bernstein_bound
    (0.5, 0.125, True)
    """
    where = "realised_payments: argument"
    check_kind(solution, Solution, f"{where} 'solution'", "a Solution", "give what `solve` returns")
    require_one_law(solution.market, f"{where} 'solution'")
    asked = solution.budget if amount is None else checked_budget(amount, f"{where} 'amount'")
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 0:
        raise InputError(f"{where} 'draws'", "must be a whole number ≥ 0", value=draws, remedy="use, say, 10_000")
    if draws and not isinstance(rng, np.random.Generator):
        raise InputError(
            f"{where} 'rng'",
            "must be a numpy Generator",
            value=type(rng).__name__,
            remedy="give numpy.random.default_rng(seed)",
        )
    offers = offers_of(solution)
    counts = solution.market.weights
    mean, variance = _moments(offers, counts)
    return RealisedPayments(
        mean=mean,
        variance=variance,
        amount=asked,
        bernstein_bound=_bernstein(mean, variance, offers, asked),
        normal_approximation=_normal(mean, variance, asked),
        simulated=None if rng is None or not draws else _simulate(offers, counts, int(draws), rng),
    )


def _moments(offers: OffersMade, counts: Floats) -> tuple[float, float]:
    """Return mean and variance of the total, without cancellation.

    Σ m E p and Σ m (E p² − (E p)²), for one price θ² F (1 − F).
    """
    sells = offers.chance * offers.acceptance
    paid = np.bincount(offers.row, weights=sells * offers.threshold, minlength=counts.size).astype(np.float64)
    mean = exact_dot(paid, counts)
    # E p² − (E p)² = Σ_k c_k q_k θ_k (θ_k − E p), of which a single price is θ² q (1 − q)
    alone = np.bincount(offers.row, minlength=counts.size)[offers.row] == 1
    single = offers.threshold * (1.0 - sells)
    spread = np.where(alone, single, offers.threshold - paid[offers.row])
    return mean, max(0.0, exact_sum(sells * offers.threshold * spread * counts[offers.row]))


def _bernstein(mean: float, variance: float, offers: OffersMade, amount: float) -> float:
    """Bound P(total > amount) by Bernstein (1924).

    exp(−t²/2/(variance + M t/3)), t = amount − mean, no payment more than M above its mean.
    """
    t = amount - mean
    if t <= 0:
        return 1.0
    largest = float(np.max(offers.threshold, initial=0.0))
    spread = variance + largest * t / 3.0
    return math.exp(-0.5 * t * t / spread) if spread > 0 else 0.0


def _normal(mean: float, variance: float, amount: float) -> float:
    if variance == 0:
        return 1.0 if amount < mean else 0.0
    return 0.5 * math.erfc((amount - mean) / math.sqrt(2.0 * variance))


def _simulate(offers: OffersMade, counts: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Draw runs: how many of each row are posted each price, and how many sell."""
    totals = np.zeros(draws)
    order = np.argsort(offers.row, kind="stable")
    row, theta, chance, q = (getattr(offers, name)[order] for name in ("row", "threshold", "chance", "acceptance"))
    first = np.append(True, row[1:] != row[:-1]) if row.size else np.empty(0, dtype=np.bool_)
    owners = counts[row].astype(np.int64)
    lines = max(1, row.size)
    for start in range(0, draws, max(1, _BLOCK // lines)):
        size = min(max(1, _BLOCK // lines), draws - start)
        sold = rng.binomial(owners, np.where(first, chance * q, 0.0), size=(size, row.size))
        again = np.flatnonzero(~first)  # the second price of a lottery: of those who did not sell at the first
        if again.size:
            left = owners[again] - sold[:, again - 1]
            with np.errstate(divide="ignore", invalid="ignore"):
                among = chance[again] * q[again] / (1.0 - chance[again - 1] * q[again - 1])
            sold[:, again] = rng.binomial(left, np.clip(np.nan_to_num(among), 0.0, 1.0))
        totals[start : start + size] = sold @ theta
    return np.sort(totals)
