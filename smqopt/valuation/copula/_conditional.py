"""The law of θ given ε under a Gaussian copula (errata E4)."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri

from smqopt.errors import InputError, check_kind
from smqopt.numeric import Floats
from smqopt.valuation.copula._hazard import decide_copula_hazard
from smqopt.valuation.copula._inverse import uniform_inverse
from smqopt.valuation.copula._normal_scores import normal_score, valuation_at_score
from smqopt.valuation.copula._regularity import decide_copula_regularity
from smqopt.valuation.copula._shape import GaussianLink, bitangents, rent
from smqopt.valuation.families._uniform import Uniform
from smqopt.valuation.ironing._flat_pieces import flat_pieces_of_owners
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._ironed_law import Ironed
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._parameters import checked_parameters, require
from smqopt.valuation.law._verdict import CdfVerdict, Hazard, Verdict

SCORE_LIMIT = 8.2
"""Normal scores of ε are kept within ± this: beyond, G(ε) is within 2⁻⁵³ of 0 or 1."""
STEPS = 257
"""Thresholds of the grid on which an owner's flat pieces are looked for where θ is not uniform."""
CLOSE = 0.25
"""Where √(1 − r²) is below this, the law given ε is narrow and the grid grows finer in proportion.
"""
MOST_STEPS = 4097


@final
class CopulaConditional(Valuation):
    """The law of θ given ε under a Gaussian copula.

    F_i(t) = Φ((Φ⁻¹(F(t)) − r z_i)/√(1 − r²)) with z_i = Φ⁻¹(G(ε_i)) and r = 2 sin(πρ/6).

    Made by `GaussianCopula.given`. The density is that of the marginal law, f, times exp(½ (z² −
    w²))/√(1 − r²), w = (r x − z)/√(1 − r²), x the normal score of t; so it vanishes at both ends of
    the support unless f is infinite there, and J(θ̄) = ∞.

    Parameters
    ----------
    valuation
        F, the marginal law of θ: common, or one an owner.
    correlation
        ρ, with 0 < |ρ| < 1.
    score
        z, the normal scores of ε, within ± `SCORE_LIMIT`; a scalar or shape (n,).

    Raises
    ------
    InputError
        If ρ or a score is out of its range, or the sizes differ.

    Examples
    --------
    >>> F = CopulaConditional(Uniform(0, 1), -0.5, [-1.0, 0.0, 1.0])
    >>> F.cdf(0.5).round(6).tolist()
    [0.272589, 0.5, 0.727411]
    """

    name = "gaussian-copula"
    parameters = ("score",)

    score: float | Floats
    valuation: Valuation
    link: GaussianLink
    known_pieces: FlatPieces | None

    def __init__(self, valuation: Valuation, correlation: float, score: ArrayLike) -> None:
        given = checked_parameters(self.name, correlation=correlation, score=score)
        rho = given["correlation"]
        check_kind(valuation, Valuation, f"{self.name}: argument 'valuation'", "a law")
        if not isinstance(rho, float) or not 0 < abs(rho) < 1:
            raise InputError(
                f"{self.name}: parameter 'correlation'",
                "must be one number with 0 < |ρ| < 1",
                value=correlation,
                remedy="use GaussianCopula for any ρ in [−1, 1]",
            )
        z = given["score"]
        require(
            self.name,
            "score",
            z,
            np.abs(np.asarray(z)) <= SCORE_LIMIT,
            f"must lie within ± {SCORE_LIMIT}",
            "clip the normal scores",
        )
        size = z.size if isinstance(z, np.ndarray) else None
        if valuation.size is not None and valuation.size != size:
            raise InputError(
                f"{self.name}: argument 'score'",
                f"must have shape ({valuation.size},) like the law of valuations",
                value=np.shape(z),
                remedy="give one ε an owner",
            )
        self._fill(valuation, GaussianLink(rho), z)

    # --- the law ----------------------------------------------------------------------------------

    def _cdf(self, theta: Floats) -> Floats:
        return np.asarray(ndtr(self._standardise(theta)[1]))

    def _log_cdf(self, theta: Floats) -> Floats:
        return np.asarray(log_ndtr(self._standardise(theta)[1]))

    def _log_survival(self, theta: Floats) -> Floats:
        return np.asarray(log_ndtr(-self._standardise(theta)[1]))

    def _pdf(self, theta: Floats) -> Floats:
        inner = self.inside_of_ends(theta)
        f = self.valuation.pdf(inner)
        return np.where(f > 0, f * self._copula_density(normal_score(self.valuation, inner)), 0.0)

    def _ppf(self, q: Floats) -> Floats:
        return valuation_at_score(self.valuation, self.link.s * ndtri(q) + self.link.r * np.asarray(self.score))

    def _virtual_cost(self, theta: Floats) -> Floats:
        inner = self.inside_of_ends(theta)
        x, y = self._standardise(inner)
        cost = inner + rent(self.link, x, y, np.asarray(self.score)) / self.valuation.pdf(inner)
        return np.where(theta <= self.low, self.low, cost)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        shape = np.broadcast_shapes(v.shape, () if self.size is None else (self.size,))
        price = np.broadcast_to(v, shape)
        if self.size is not None and price.ndim > 1:
            return np.stack([self.inverse_virtual_cost(row) for row in price])
        pieces = self.flat_pieces()
        if isinstance(self.valuation, Uniform):
            return uniform_inverse(self, pieces, price)
        if not len(pieces):
            return super()._inverse_virtual_cost(price)
        return Ironed(self, pieces, self.size or 1).offer(price.ravel())[0].reshape(shape)

    def _is_proved_cdf(self) -> CdfVerdict:
        return self.valuation.is_proved_cdf()

    def _knots(self) -> Floats:
        return self.valuation.knots()

    def _regularity(self) -> Verdict:
        return decide_copula_regularity(self)

    def _turning_point(self) -> Floats | None:
        """The copula density is exp((z² − (r x − z)²/s²)/2)/s, x the price's score."""
        if not isinstance(self.valuation, Uniform):
            return None
        return np.asarray(self.low + self.valuation.width * ndtr(np.asarray(self.score) / self.link.r))

    def _monotone_hazard(self) -> Hazard:
        return decide_copula_hazard(self)

    def flat_pieces(self) -> FlatPieces:
        """Return the flat pieces of the hulls of C.

        Closed form up to roots for a uniform θ, found on a grid and refined for others.
        """
        if self.known_pieces is None:
            self.known_pieces = self._iron()
        return self.known_pieces

    @property
    def answers_on_hull(self) -> bool:
        """Whether `inverse_virtual_cost` is right on the hull where J falls."""
        return isinstance(self.valuation, Uniform)

    @property
    def hull_is_proved(self) -> bool:
        """Whether J is proved to rise outside the flat pieces: uniform θ (see `_shape`)."""
        return isinstance(self.valuation, Uniform)

    # --- owners -----------------------------------------------------------------------------------

    def _size(self) -> int | None:
        return self.score.size if isinstance(self.score, np.ndarray) else None

    @property
    def correlation(self) -> float:
        """Spearman's ρ: Pearson's of the uniform scores."""
        return self.link.correlation

    def _take(self, index: Index) -> CopulaConditional:
        scores = np.atleast_1d(np.asarray(self.score))
        law = self._make(self.valuation.take(index), scores[index])
        if self.known_pieces is not None:
            law.known_pieces = self.known_pieces.take(index, scores.size)
        return law

    def _family(self) -> Hashable:
        return (type(self), self.correlation, json.dumps(self.valuation.to_dict(), sort_keys=True))

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        scores = np.array([law.score for law in laws if isinstance(law, CopulaConditional)])
        if np.all(scores == scores[0]):
            return laws[0]
        scores.flags.writeable = False
        return self._make(self.valuation, scores)

    def _rescale(self, factor: float) -> CopulaConditional:
        return self._make(self.valuation.rescale(factor), self.score)

    def _to_dict(self) -> dict[str, Any]:
        return {
            "law": self.name,
            "valuation": self.valuation.to_dict(),
            "correlation": self.correlation,
            "score": self.score,
        }

    def __repr__(self) -> str:
        whose = "one owner" if self.size is None else f"{self.size} owners"
        return f"CopulaConditional({self.valuation!r}, correlation={self.correlation!r}, {whose})"

    # --- inside -----------------------------------------------------------------------------------

    def _iron(self) -> FlatPieces:
        if not isinstance(self.valuation, Uniform):
            return flat_pieces_of_owners(self, _costs_at_scores)
        found = bitangents(self.link, np.atleast_1d(np.asarray(self.score)))
        marginal = self.valuation if self.valuation.size is None else self.valuation.take(found.owner)
        low, high = valuation_at_score(marginal, found.low), valuation_at_score(marginal, found.high)
        slope = np.broadcast_to(marginal.low + marginal.width * found.slope, low.shape)
        seen = np.flatnonzero(low < high)  # else the whole piece lies between two doubles
        law = self if self.size is None else self._make(marginal, np.atleast_1d(self.score)[found.owner])
        low_q, high_q = law.cdf(low), law.cdf(high)
        return FlatPieces(found.owner[seen], *(column[seen] for column in (low, high, low_q, high_q, slope)))

    def _standardise(self, t: Floats) -> tuple[Floats, Floats]:
        """The normal score x of t, and y = (x − r z)/s."""
        x = normal_score(self.valuation, t)
        return x, (x - self.link.r * np.asarray(self.score)) / self.link.s

    def _copula_density(self, x: Floats) -> Floats:
        z = np.asarray(self.score)
        w = (self.link.r * x - z) / self.link.s
        return np.asarray(np.exp(0.5 * (z - w) * (z + w)) / self.link.s)

    def inside_of_ends(self, theta: Floats) -> Floats:
        """Move from an end with infinite marginal density to the double inside."""
        for end, inside in ((self.low, self.high), (self.high, self.low)):
            endless = (theta == end) & np.isinf(self.valuation.pdf(end))
            if np.any(endless):
                theta = np.where(endless, np.nextafter(end, inside), theta)
        return theta

    def _arguments(self) -> Mapping[str, float | Floats]:
        return {"score": self.score}

    def _with(self, /, **arguments: float | Floats) -> Self:
        return self._make(self.valuation, arguments["score"])

    def _make(self, valuation: Valuation, score: float | Floats) -> Self:
        law = object.__new__(type(self))
        law._fill(valuation, self.link, score)
        return law

    def _fill(self, valuation: Valuation, link: GaussianLink, score: float | Floats) -> None:
        self.valuation, self.link, self.score = valuation, link, score
        self.low, self.high = valuation.low, valuation.high
        self.known_pieces = None


def _costs_at_scores(law: Valuation) -> tuple[Floats, Floats, Floats]:
    """Return thresholds at even normal scores, with F and J; shape (m, n) each.

    The marginal law is asked once for all owners who share it.
    """
    assert isinstance(law, CopulaConditional)  # noqa: S101
    marginal, link, z = law.valuation, law.link, np.atleast_1d(np.asarray(law.score))
    steps = min(math.ceil(STEPS * max(1.0, CLOSE / link.s)), MOST_STEPS)
    x = np.concatenate([[-np.inf], np.linspace(-SCORE_LIMIT, SCORE_LIMIT, steps), [np.inf]])[:, None]
    if marginal.size is not None:
        x = np.broadcast_to(x, (x.size, marginal.size))
    theta = law.inside_of_ends(valuation_at_score(marginal, x))
    score = normal_score(marginal, theta)
    y = (score - link.r * z) / link.s
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rents = rent(link, score, y, z)
        J = theta + np.where(rents > 0, rents / marginal.pdf(theta), 0.0)
    return np.broadcast_to(theta, J.shape), ndtr(y), J
