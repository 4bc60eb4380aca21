"""The beta law."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import beta as beta_function, betainc, betaincc, betaincinv, betaln, gamma as gamma_function

from smqopt.numeric import Floats, count_work
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._hazard_rule import HazardRule
from smqopt.valuation.law._parameters import checked_law
from smqopt.valuation.law._verdict import Regular, Verdict
from smqopt.valuation.monotonicity._unbounded_density import falling_top
from smqopt.valuation.truncation._quantile import polish_quantile

MAX_TERMS = 100_000
"""The continued fraction needs a few times √max(a, b) terms."""
LARGE = 64.0
"""Above this a + b, powers and the beta function could underflow together."""
SERIES = 16.0
"""From here on Stirling's series is good to the last digit."""
STIRLING = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
"""Its coefficients, the highest first."""
SMALLEST = 1e-290
"""Below this, F or 1 − F may have lost digits to underflow."""


@final
class Beta(Valuation):
    """F(θ) = I_x(a, b), x = (θ − low)/(high − low): an incomplete beta function.

    The information rent is F/f = width · x (1 − x)/a · K, where K is the continued fraction of I_x
    (DLMF 8.17.22), in which nothing cancels or underflows. Regular exactly where b ≥ 1.

    Parameters
    ----------
    a, b
        Shapes, positive; scalars or shape (n,).
    low, high
        Ends of the support, in currency; scalars or shape (n,); 0 ≤ low < high.

    Raises
    ------
    InputError
        If a parameter is not a finite number, a ≤ 0, b ≤ 0, or the support is empty or negative.

    Examples
    --------
    >>> F = Beta(2, 3)
    >>> round(float(F.cdf(0.5)), 12), round(float(F.inverse_virtual_cost(F.virtual_cost(0.25))), 12)
    (0.6875, 0.25)
    """

    name = "beta"
    parameters = ("a", "b", "low", "high")
    in_currency = ("low", "high")

    a: float | Floats
    b: float | Floats

    def __init__(self, a: ArrayLike, b: ArrayLike, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> None:
        vars(self).update(checked_law("beta", ("a", "b"), a=a, b=b, low=low, high=high))

    @property
    def reads_table(self) -> bool:  # type: ignore[override]
        """Where a density is infinite at an end, K has fewer digits than a table."""
        return bool(np.any(np.minimum(self.a, self.b) < 1))

    def _cdf(self, theta: Floats) -> Floats:
        return _mass(self.a, self.b, *self._shares(theta))

    def _log_cdf(self, theta: Floats) -> Floats:
        x, y = self._shares(theta)
        return _log_share(np.asarray(self.a), np.asarray(self.b), x, y, self._cdf(theta), self._survival(x, y))

    def _log_survival(self, theta: Floats) -> Floats:
        x, y = self._shares(theta)
        return _log_share(np.asarray(self.b), np.asarray(self.a), y, x, self._survival(x, y), self._cdf(theta))

    def _pdf(self, theta: Floats) -> Floats:
        x, y = self._shares(theta)
        return _density(np.asarray(self.a), np.asarray(self.b), x, y) / self.width

    def _ppf(self, q: Floats) -> Floats:
        return polish_quantile(self, q, lambda u: np.asarray(self.low + self.width * betaincinv(self.a, self.b, u)))

    def _virtual_cost(self, theta: Floats) -> Floats:
        x, y = self._shares(theta)
        a, b, x, y = np.broadcast_arrays(self.a, self.b, x, y)
        growth = np.empty(x.shape)
        below = x * (a + b + 2.0) < a + 1.0  # there the fraction converges fast, and beyond it F is no longer small
        growth[below] = y[below] * _fraction(a[below], b[below], x[below])
        above = ~below
        a, b, x, y = a[above], b[above], x[above], y[above]
        upper = 1.0 / _density(a, b, x, y) - y / b * x * _fraction(b, a, y)
        growth[above] = np.where(y > 0, upper, np.where(b > 1.0, np.inf, np.where(b < 1.0, 0.0, 1.0 / a))) * a / x
        return theta + self.width * self._shares(theta)[0] / self.a * growth

    def _regularity(self) -> Verdict:
        bad = np.flatnonzero(np.atleast_1d(self.b) < 1.0)
        if bad.size == 0:
            return Regular(
                "b ≥ 1: where a ≥ 1 the density, and with it F, is log-concave; where a < 1 the density is non-increasing"
            )
        owner = None if self.size is None else int(bad[0] if isinstance(self.b, np.ndarray) else 0)
        a, b = (value[owner or 0] if isinstance(value, np.ndarray) else value for value in (self.a, self.b))

        def cost(theta: Any, ends: Any) -> Any:
            width, ball = ends[1] - ends[0], type(theta)
            x = (theta - ends[0]) / width
            F = x.beta_lower(ball(a), ball(b))  # times the beta function, as f is below
            return theta + width * F / (x ** ball(a - 1) * (1 - x) ** ball(b - 1))

        return falling_top(self.low, self.high, owner, cost, "b < 1: the density rises without bound towards high")

    def _has_falling_density(self) -> Any:
        return (np.asarray(self.a) <= 1) & (np.asarray(self.b) >= 1)

    def _turning_point(self) -> Floats:
        """f′ has the sign of (a − 1)(1 − x) − (b − 1)x."""
        a, b = np.asarray(self.a), np.asarray(self.b)
        x = (a - 1.0) / ((a - 1.0) + (b - 1.0))
        return self.low + self.width * np.where((x > 0) & (x < 1), x, np.nan)

    def _hazard_rule(self) -> HazardRule:
        return HazardRule(
            np.asarray(self.a) >= 1,
            "a ≥ 1: where b ≥ 1 the density is log-concave; where b < 1 it is non-decreasing",
            np.asarray(self.a) < 1,
        )

    def _survival(self, x: Floats, y: Floats) -> Floats:
        return _mass(self.b, self.a, y, x)

    def _shares(self, theta: Floats) -> tuple[Floats, Floats]:
        """Compute x and 1 − x."""
        return (theta - self.low) / self.width, (self.high - theta) / self.width


def _mass(a: float | Floats, b: float | Floats, x: Floats, y: Floats) -> Floats:
    """Compute I_x(a, b), where y = 1 − x: each is exact to the last digit near 0.

    The complement function takes fourteen times as long, and is asked only where a difference from
    1 would lose digits.
    """
    a, b, x, y = np.broadcast_arrays(a, b, x, y)
    found, below = np.empty(x.shape), np.asarray(x < 0.5)
    found[below] = betainc(a[below], b[below], x[below])
    a, b, y = a[~below], b[~below], y[~below]
    rest = betainc(b, a, y)
    above, small = 1.0 - rest, rest > 0.5
    above[small] = betaincc(b[small], a[small], y[small])
    found[~below] = above
    return found


def _density(a: Floats, b: Floats, x: Floats, y: Floats) -> Floats:
    """Compute x^(a−1) y^(b−1)/B(a, b), where y = 1 − x.

    At the ends it may be 0 or infinite.
    """
    a, b, x, y = np.broadcast_arrays(a, b, x, y)
    density = np.array(x ** (a - 1.0) * y ** (b - 1.0) / beta_function(a, b))
    large = a + b > LARGE
    if np.any(large):
        a, b, x, y = a[large], b[large], x[large], y[large]
        m, m_c = a / (a + b), b / (a + b)
        at_mean = _density_at_mean(a, b, m, m_c)
        left = np.where(a == 1.0, 0.0, (a - 1.0) * _log_ratio(x, m, np.where(m < 0.5, x - m, m_c - y)))
        right = np.where(b == 1.0, 0.0, (b - 1.0) * _log_ratio(y, m_c, np.where(m < 0.5, m - x, y - m_c)))
        density[large] = at_mean * np.exp(left + right)
    return density


def _density_at_mean(a: Floats, b: Floats, m: Floats, m_c: Floats) -> Floats:
    """Compute m^(a−1) m_c^(b−1)/B(a, b) at m = a/(a + b), a + b large.

    By Stirling's formula (Loader 2000).
    """
    n, small, large = a + b, np.minimum(a, b), np.maximum(a, b)
    error = _stirling_error(n) - _stirling_error(large)
    both = n / np.sqrt(2.0 * np.pi * m * m_c * n) * np.exp(error - _stirling_error(small))
    # a small shape keeps its own Γ: its Stirling error is no small number
    one = n * small**small / gamma_function(1.0 + small) * np.exp(error - small + 0.5 * np.log1p(small / large))
    return np.where(small < 1.0, one, both)


def _stirling_error(x: Floats) -> Floats:
    """Compute log Γ(x) − (x − ½) log x + x − ½ log 2π.

    The series of DLMF 5.11.1 from 16 on.
    """
    error, x = np.zeros(x.shape), x.copy()
    while np.any(x < SERIES):
        low = x < SERIES
        error[low] += (x[low] + 0.5) * np.log1p(1.0 / x[low]) - 1.0
        x[low] += 1.0
    square = 1.0 / x**2
    return error + np.polyval(STIRLING, square) / x


def _log_ratio(x: Floats, y: Floats, difference: Floats) -> Floats:
    """Compute log(x/y), with x − y at hand."""
    return np.where(np.abs(difference) < 0.5 * y, np.log1p(difference / y), np.log(x / y))


def _log(x: Floats, y: Floats) -> Floats:
    """Compute log x for x = 1 − y, to full relative accuracy at both ends."""
    return np.where(x < 0.5, np.log(x), np.log1p(-y))


def _log_share(a: Floats, b: Floats, x: Floats, y: Floats, share: Floats, rest: Floats) -> Floats:
    """Compute log I_x(a, b) from I_x and 1 − I_x, also where I_x underflows."""
    logarithm = np.where(share < 0.5, np.log(share), np.log1p(-rest))
    a, b, x, y, logarithm, share = (np.array(array) for array in np.broadcast_arrays(a, b, x, y, logarithm, share))
    tiny = (share < SMALLEST) & (x > 0)
    a, b, x, y = a[tiny], b[tiny], x[tiny], y[tiny]
    logarithm[tiny] = a * _log(x, y) + b * _log(y, x) - betaln(a, b) - np.log(a) + np.log(_fraction(a, b, x))
    return np.asarray(logarithm)


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """Compute K = a B(a, b) I_x/(x^a (1−x)^b) by its continued fraction.

    DLMF 8.17.22, evaluated from the front (Lentz 1976).

    Parameters
    ----------
    a, b, x
        Shape (m,); x ≤ (a + 1)/(a + b + 2), where convergence is fast.
    """
    result = np.ones(x.size)
    shape, active = x.shape, np.arange(x.size)
    a, b, x = (np.ravel(array) for array in (a, b, x))
    # K = 1/(1 + d₁/(1 + d₂/(1 + …))); c and d are the ratios of its numerators and denominators
    c: Floats = np.ones(x.size)
    d: Floats = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    value, change = d, np.ones(x.size)
    for m in range(1, MAX_TERMS):
        if active.size == 0:
            break
        count_work(active.size)
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            c, d = 1.0 + term / c, 1.0 / (1.0 + term * d)
            change = c * d
            value = value * change
        done = ~(np.abs(change - 1.0) > np.finfo(np.float64).eps)  # NaN too: it stays NaN
        if np.any(done):
            result[active[done]] = value[done]
            active = active[~done]
            a, b, x, c, d, value = (array[~done] for array in (a, b, x, c, d, value))
    result[active] = value
    return result.reshape(shape)
