"""Valuations that depend on the announced requirement.

A Gaussian copula of θ and ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError, check_kind
from smqopt.numeric import Floats, plain_array
from smqopt.valuation.copula._conditional import SCORE_LIMIT, CopulaConditional
from smqopt.valuation.copula._normal_scores import normal_score, valuation_at_score
from smqopt.valuation.copula._pearson import pearson_range
from smqopt.valuation.copula._shape import GaussianLink
from smqopt.valuation.estimation._empirical_conditional import histogram_law
from smqopt.valuation.estimation._rank_correlation import checked_pairs, rank_correlation
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._owner_names import keep_names
from smqopt.valuation.tabular._point_mass import PointMass

NO_CORRELATION = 2.0**-60
"""Below this |ρ| the law given ε differs from the marginal law by less than the rounding of either.
"""


@dataclass(frozen=True, eq=False)
class GaussianCopula:
    """θ ~ F and ε ~ G whose normal scores are jointly normal.

    The mechanism's laws F_i must be those of θ_i given the announced ε_i: with the marginal law it
    breaks its own budget where the two are negatively correlated (errata E4).

    Parameters
    ----------
    valuation
        F, the marginal law of θ, in currency: common, or one an owner.
    requirement
        G, the marginal law of ε, in units of ε; any law of valuations serves.
    correlation
        Spearman's ρ in [−1, 1], which is Pearson's of the uniform scores F(θ) and G(ε), not of θ
        and ε; the Gaussian parameter is 2 sin(πρ/6). Where Pearson's is what is known, use
        `GaussianCopula.from_pearson`.
    standard_error
        Of ρ, where it was estimated.

    Raises
    ------
    InputError
        If an argument is no law, or ρ no number in [−1, 1].

    Examples
    --------
    >>> from smqopt import Uniform
    >>> copula = GaussianCopula(valuation=Uniform(0, 1), requirement=Uniform(0, 1), correlation=-0.5)
    >>> copula.given([0.1, 0.5, 0.9]).ppf(0.5).round(6).tolist()
    [0.746456, 0.5, 0.253544]
    """

    valuation: Valuation
    requirement: Valuation
    correlation: float
    standard_error: float | None = None

    def __post_init__(self) -> None:
        for name in ("valuation", "requirement"):
            law = getattr(self, name)
            check_kind(law, Valuation, f"Gaussian copula: argument {name!r}", "a law")
        rho = self.correlation
        if isinstance(rho, bool) or not isinstance(rho, (int, float, np.integer, np.floating)) or not -1 <= rho <= 1:
            raise InputError(
                "Gaussian copula: argument 'correlation'",
                "must be a number in [−1, 1]",
                value=rho,
                remedy="give Spearman's correlation; for Pearson's use from_pearson",
            )
        object.__setattr__(self, "correlation", float(rho))

    @classmethod
    def from_pearson(cls, valuation: Valuation, requirement: Valuation, pearson: float) -> GaussianCopula:
        """Make the copula under which Pearson's correlation of θ and ε is the one given.

        Parameters
        ----------
        valuation, requirement
            F and G, common laws.
        pearson
            Pearson's ρ of θ and ε themselves.

        Returns
        -------
        GaussianCopula
            Its `correlation` is Spearman's.

        Raises
        ------
        InputError
            If an argument is no common law, or no Gaussian copula of the two has that correlation.

        Examples
        --------
        >>> from smqopt import Power, Uniform
        >>> copula = GaussianCopula.from_pearson(Power(3), Uniform(0, 1), -0.5)
        >>> round(copula.correlation, 6), round(copula.pearson(), 9)
        (-0.511242, -0.5)
        """
        bare = cls(valuation, requirement, 0.0)
        if isinstance(pearson, bool) or not isinstance(pearson, (int, float, np.integer, np.floating)):
            raise InputError(
                "Gaussian copula: argument 'pearson'", "must be a number", value=pearson, remedy="give, say, -0.5"
            )
        r = pearson_range(bare.valuation, bare.requirement).gaussian_parameter(float(pearson))
        return cls(valuation, requirement, 6.0 / math.pi * math.asin(0.5 * r) if abs(r) < 1.0 else r)

    def pearson(self) -> float:
        """Compute Pearson's correlation of θ and ε themselves, where both laws are common."""
        return pearson_range(self.valuation, self.requirement).at(self.gaussian_parameter)

    @property
    def gaussian_parameter(self) -> float:
        """The correlation r = 2 sin(πρ/6) of the normal scores."""
        return GaussianLink(self.correlation).r

    def given(self, epsilon: ArrayLike) -> Valuation:
        """Return the law of θ_i given ε_i.

        An ε at an end of its support, an event of probability 0, is taken as one at probability
        2⁻⁵³ from it, and so are those beyond: the limits are point masses at the ends of the
        support of θ, which have no density.

        Parameters
        ----------
        epsilon
            The announced requirements, shape (n,), or one number.

        Returns
        -------
        Valuation
            One law an owner. For ρ = 0 the marginal law itself; for ρ = ±1 the point masses
            F⁻¹(G(ε)) or F⁻¹(1 − G(ε)).

        Raises
        ------
        InputError
            If an ε is not a number or lies outside the support of its law; names the owner.
        """
        announced = self._check_requirements(epsilon)
        if abs(self.correlation) < NO_CORRELATION:
            return self.valuation
        z = normal_score(self.requirement, announced)
        law: Valuation
        if abs(self.correlation) == 1.0:
            law = PointMass(_scalar(valuation_at_score(self.valuation, z if self.correlation > 0 else -z)))
        else:
            law = CopulaConditional(self.valuation, self.correlation, _scalar(np.clip(z, -SCORE_LIMIT, SCORE_LIMIT)))
        return keep_names(law, epsilon, "Gaussian copula given ε: argument 'epsilon'")

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        """Draw n independent pairs (ε, θ), each of shape (n,).

        Parameters
        ----------
        rng
            The source of randomness.
        n
            The number of pairs; where a marginal law is one an owner, its size.
        """
        link = GaussianLink(self.correlation)
        z, other = rng.standard_normal((2, n))
        x = link.r * z + link.s * other
        return valuation_at_score(self.requirement, z), valuation_at_score(self.valuation, x)

    @classmethod
    def fit(
        cls,
        epsilon: ArrayLike,
        theta: ArrayLike,
        *,
        valuation: Valuation | None = None,
        requirement: Valuation | None = None,
    ) -> GaussianCopula:
        """Estimate a copula from past pairs: ρ by ranks, which needs no marginal law.

        Parameters
        ----------
        epsilon, theta
            Past requirements and valuations, shape (m,), m ≥ 3; ties are given their mean rank.
        valuation, requirement
            The marginal laws where they are known; by default histograms of the pairs with pieces
            of equal mass, so that only requirements within the range of the past ones can be asked
            for.

        Returns
        -------
        GaussianCopula
            With the standard error of ρ, which rests on no assumption about the joint law.

        Raises
        ------
        InputError
            If the pairs are too few, not finite, or of different lengths, or one column is
            constant.

        Examples
        --------
        >>> from smqopt import Uniform
        >>> truth = GaussianCopula(Uniform(0, 1), Uniform(0, 1), -0.5)
        >>> fitted = GaussianCopula.fit(*truth.sample(np.random.default_rng(1), 4000))
        >>> bool(abs(fitted.correlation + 0.5) < 0.05), fitted.standard_error is None
        (True, False)
        """
        e, t = checked_pairs(epsilon, theta)
        found = rank_correlation(e, t)
        return cls(
            histogram_law(t) if valuation is None else valuation,
            histogram_law(e) if requirement is None else requirement,
            found.correlation,
            found.standard_error,
        )

    def _check_requirements(self, epsilon: ArrayLike) -> Floats:
        where = "Gaussian copula: argument 'epsilon'"
        array = plain_array(epsilon, where)
        if array.dtype.kind not in "iuf" or array.ndim > 1 or array.size == 0:
            raise InputError(
                where,
                "must be a number or hold numbers in shape (n,)",
                value=f"{array.dtype}, shape {array.shape}",
                remedy="give one requirement an owner",
            )
        array = array.astype(np.float64)
        for law in (self.valuation, self.requirement):
            if law.size is not None and array.shape != (law.size,):
                raise InputError(
                    where, f"must have shape ({law.size},)", value=array.shape, remedy="give one requirement an owner"
                )
        inside = (array >= self.requirement.low) & (array <= self.requirement.high)
        bad = np.flatnonzero(~np.atleast_1d(inside))
        if bad.size:
            raise InputError(
                f"{where}, owner {bad[0] + 1}",
                "must lie in the support of the law of requirements",
                value=float(np.atleast_1d(array)[bad[0]]),
                remedy="correct the requirement or the law",
            )
        return array


def _scalar(x: Floats) -> float | Floats:
    return float(x) if np.ndim(x) == 0 else x
