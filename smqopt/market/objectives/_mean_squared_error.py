r"""The mean squared error of the linear release, at the expected sums.

With X = Σ m_i a_i q_i, Y = Σ m_i a_i² q_i and weights 0 ≤ a_i ≤ ε_i it is

    e(X, Y) = N² (σ² Y + 2 R²)/X² − N σ²,

falling in X and rising in Y. For every μ ≥ 0 all weights and purchases have X − μY ≤ U(μ), the
optimum of OP2 with r_i(μ) = max {a − μ a²: 0 ≤ a ≤ ε_i} in place of ε_i: that is ε_i − μ ε_i² up to
ε_i = 1/(2μ), and 1/(4μ) beyond. So OP2 at one μ is what is left to be solved, and half-planes at
several μ bound the error from below (`_error_polygon`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.objectives._objective_record import RANGE_REMEDY, Objective, positive_number
from smqopt.market.objectives._utility import Linear
from smqopt.numeric import Floats, exact_dot

_LEAST = 1e-100
"""Products of three of the numbers stay doubles."""

_UP = 1.0 + 2.0**-49
"""Bears the roundings of r(μ): three products and a difference that is at least ½."""
_MOST_STEPS = 200
_LARGEST_POPULATION = 2**53


@dataclass(frozen=True, kw_only=True)
class MeanSquaredError(Objective):
    """The least mean squared error of the linear release.

    Of a count, a sum or a histogram. At the expected sums, for entries that depend neither on
    requirements nor on valuations. Weights and purchase are chosen together: `smq.answer` takes
    weights min(ε_i, τ).

    Parameters
    ----------
    range
        R > 0, the width of the public range of entries; 1 for a count. For a histogram 2, with
        `variance`: each bin counts zeros and ones, and has noise of scale 2.
    variance
        σ² > 0 of an entry, from public knowledge; R²/4 by default, the most it can be.
    population
        N, of how many owners the error speaks; the market's by default, and not fewer. `smq.answer`
        speaks of the market's n: a count or sum times N/n is that of all N.
    half_planes
        What bounds the error of a solution from below, for each half-plane μ, the budget price and
        the constraints' prices; that of the solution's own thresholds first. `smq.solve` fills it.

    Raises
    ------
    InputError
        If a number is not such.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market(np.linspace(0.1, 1.0, 50), smq.Uniform(0, 1))
    >>> solution = smq.solve(market, 12.5, objective=smq.MeanSquaredError(range=1.0))
    >>> certificate = smq.verify(solution)
    >>> certificate.valid, round(solution.error, 3), round(certificate.error_bound, 3)
    (True, 6.288, 6.288)
    """

    kind: ClassVar[str] = "mean-squared-error"

    range: float
    variance: float | None = None
    population: int | None = None
    half_planes: Sequence[Sequence[float]] = ()

    def __post_init__(self) -> None:
        width = positive_number(self, "range", self.range, RANGE_REMEDY, _LEAST)
        object.__setattr__(self, "range", width)
        if self.variance is not None:
            remedy = "give the variance of an entry from public knowledge, or none: then it is range²/4"
            variance = positive_number(self, "variance", self.variance, remedy, _LEAST)
            if variance > width**2 / 2:
                rule = f"must be at most {width**2 / 2:g}: no entry of the range varies more"
                raise InputError(self.where("variance"), rule, value=variance, remedy=remedy)
            object.__setattr__(self, "variance", variance)
        if self.population is not None:
            n = self.population
            whole = isinstance(n, (int, np.integer)) and not isinstance(n, bool)
            if not whole or not 1 <= n <= _LARGEST_POPULATION:
                remedy = "give the number of owners that the answer speaks of"
                raise InputError(self.where("population"), "must be a whole number ≥ 1", value=n, remedy=remedy)
            object.__setattr__(self, "population", int(n))
        object.__setattr__(self, "half_planes", self._planes())

    def _planes(self) -> tuple[tuple[float, ...], ...]:
        planes: Any = self.half_planes
        listed = isinstance(planes, (list, tuple)) and all(isinstance(plane, (list, tuple)) for plane in planes)
        numbers = [] if not listed else [number for plane in planes for number in plane]
        known = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in numbers)
        good = listed and known and all(math.isfinite(one) for one in numbers)
        if not good or any(len(plane) < 2 or min(plane[:2]) < 0 for plane in planes):
            rule = "must be lists of finite numbers, μ ≥ 0 and the prices"
            raise InputError(self.where("half_planes"), rule, value=repr(planes)[:60], remedy="solve again")
        return tuple(tuple(float(one) for one in plane) for plane in planes)

    @property
    def smallest(self) -> bool:
        """It is minimised."""
        return True

    @property
    def words(self) -> str:
        """The objective in words."""
        variance = "" if self.variance is None else f", entries of variance {self.variance:g}"
        of = "" if self.population is None else f", for {self.population} owners"
        return f"the mean squared error of the linear release, range {self.range:g}{variance}{of}, as small as can be"

    @property
    def sigma2(self) -> float:
        """σ²: as given, or R²/4."""
        return self.range**2 / 4.0 if self.variance is None else self.variance

    def owners(self, market: Market) -> int:
        """Return N.

        Raises
        ------
        InputError
            If it is smaller than the market, or no square of requirements is a double.
        """
        largest = float(np.max(market.epsilon))
        if largest and not _LEAST <= largest <= 1.0 / _LEAST:
            raise InputError(
                "market: epsilon",
                f"the largest must be 0, or lie between {_LEAST:g} and {1.0 / _LEAST:g} for an objective that squares it",
                value=largest,
                remedy="state requirements in fitting units",
            )
        if self.population is None:
            return market.population
        if self.population < market.population:
            raise InputError(
                self.where("population"),
                f"must be at least the {market.population} owners of the market",
                value=self.population,
                remedy="count those too who are not in the market, or leave it out",
            )
        return self.population

    @property
    def shrinkage(self) -> float:
        """μ of the solution's own thresholds; 0 before there are any."""
        return self.half_planes[0][0] if self.half_planes else 0.0

    @property
    def as_asked(self) -> MeanSquaredError:
        """The record without half-planes."""
        return self.with_half_planes(())

    def utility(self, market: Market) -> Linear:
        """Return φ_i(q) = r_i(μ) q, at the solution's own μ."""
        self.owners(market)
        return Linear(privacy_after_shrinkage(market.epsilon, self.shrinkage))

    def sums(self, market: Market, acceptance: Floats) -> tuple[float, float, float]:
        """Return X, Y and τ at the weights min(ε_i, τ) that err least."""
        q = acceptance * market.weights
        tau = best_cap(market.epsilon, q, 2.0 * self.range**2 / self.sigma2)
        a = np.minimum(market.epsilon, tau)
        return exact_dot(a, q), exact_dot(a * a, q), tau

    def value(self, market: Market, acceptance: Floats) -> float:
        """Return the mean squared error at the best weights; +∞ where X = 0."""
        X, Y, _ = self.sums(market, acceptance)
        return self.error_at(self.owners(market), X, Y)

    def error_at(self, population: int, X: float, Y: float) -> float:
        """Return e(X, Y)."""
        s, R = self.sigma2, self.range
        scale = population / X if X > 0 else math.inf
        return scale * scale * (s * Y + 2.0 * R * R) - population * s if scale < math.inf else math.inf

    def market_at(self, market: Market, mu: float, bend: float = 1.0) -> Market:
        """Return the market with r_i(μ), rounded up, in place of ε_i.

        With a − κ μ a² for a `bend` κ other than 1.
        """
        return Market(
            privacy_after_shrinkage(market.epsilon, mu, bend),
            market.valuation,
            owner_ids=market._ids,  # noqa: SLF001 -- None stays None: names of a million rows take a second
            groups=market.groups,
            multiplicity=market.multiplicity,
        )

    def with_half_planes(self, planes: tuple[tuple[float, ...], ...]) -> MeanSquaredError:
        """Return the record with what bounds a solution's error."""
        return dataclasses.replace(self, half_planes=planes)


def error_objective(objective: Objective) -> MeanSquaredError:
    """Return an objective, if it is the mean squared error.

    Raises
    ------
    InputError
        If it is another one.
    """
    if not isinstance(objective, MeanSquaredError):
        raise InputError(
            "solution",
            "was made for another objective, and speaks of no error",
            value=objective.kind,
            remedy="solve with objective=smq.MeanSquaredError(range=...), or ask smq.predict",
        )
    return objective


def privacy_after_shrinkage(epsilon: Floats, mu: float, bend: float = 1.0) -> Floats:
    """Return r_i(μ) = max {a − μ a²: 0 ≤ a ≤ ε_i}, rounded up; shape (n,).

    With a − κ μ a² for a `bend` κ other than 1, at the same a.
    """
    if mu == 0:
        return epsilon
    with np.errstate(over="ignore"):
        a = np.minimum(epsilon, 0.5 / mu)
    return a * (1.0 - bend * (mu * a)) * _UP


def best_cap(epsilon: Floats, acceptance: Floats, kappa: float) -> float:
    """Return τ with Σ q_i a_i (τ − a_i) = κ, a_i = min(ε_i, τ).

    The left side is convex and rises in pieces; Newton's steps come down from its last piece.

    Parameters
    ----------
    epsilon, acceptance
        ε_i and q_i, counted with multiplicities; shape (n,).
    kappa
        2b²/σ², b the scale of the noise.
    """
    sold = acceptance * epsilon
    squares = sold * epsilon
    first, second = float(sold.sum()), float(squares.sum())
    if not first > 0:
        return float(np.max(epsilon))
    tau = (kappa + second) / first
    for _ in range(_MOST_STEPS):
        below = epsilon < tau
        first, second = float(sold[below].sum()), float(squares[below].sum())
        step = (kappa + second) / first if first > 0 else tau
        if not step < tau:
            break
        tau = step
    return tau
