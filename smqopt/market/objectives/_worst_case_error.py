"""The worst-case error of a purchase at random prices, whoever chooses to sell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.objectives._inverse_probability_variance import Inverse
from smqopt.market.objectives._objective_record import (
    RANGE_REMEDY,
    Objective,
    given_weights,
    positive_number,
    weights_of,
)
from smqopt.numeric import Floats, NumberList

_SMALL, _LARGE = 1e-60, 1e60
"""Squares of products stay doubles."""


@dataclass(frozen=True, kw_only=True)
class WorstCaseError(Objective):
    """The least error, at worst, of a purchase that no selection can bias.

    Each owner draws a price before she reports, and sells if her report is at most that. Her entry,
    measured from the middle of the public range, enters with weight s w/Q, Q the chance of sale
    that a report like hers has (Roth and Schoenebeck 2012; Chen, Immorlica, Lucier, Syrgkanis and
    Ziani 2018). Whatever ties entries to valuations and requirements, the estimate of Σ w x is off
    in the mean by at most R/2 · Σ |w| (1 − s), and not at all where nobody is shrunk.

    The error is (R/2)² [(Σ |w| (1 − s))² + Σ w² E(s²/Q − 2s + 1)] + 2b², b the scale of the noise:
    the worst mean squared error over all entries of the range, but for (R/2)² Σ w² (1 − s)², which
    it counts twice so that it is convex. Its bound holds for every rule that has such prices,
    weights and shrinkages, at the same b.

    Parameters
    ----------
    range
        R > 0, the width of the public range of entries; 1 for a count.
    weights
        w, one number for each row of the market, or one for all; 1 by default.
    private
        Whether each owner's requirement is kept: Q ≥ s |w| R/(ε b), and Laplace noise of scale b is
        added. Without it nothing is shrunk and nothing added, and `smq.answer` refuses.
    noise_scale
        b > 0, in units of the answer; by default it is searched for.

    Raises
    ------
    InputError
        If a number is not such.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market(np.ones(400), smq.Uniform(0, 1))
    >>> solution = smq.solve(market, 100.0, objective=smq.WorstCaseError(range=1.0, private=False))
    >>> certificate = smq.verify(solution)
    >>> certificate.valid, round(solution.error, 3), round(certificate.error_bound, 3)
    (True, 16.004, 16.004)
    >>> outcome = smq.procure(certificate, np.full(400, 0.3), rng=np.random.default_rng(1))
    >>> bool(np.all(outcome.payments[outcome.selected] >= 0.3))
    True
    """

    kind: ClassVar[str] = "worst-case-error"
    separable: ClassVar[bool] = False

    range: float
    weights: NumberList | float | None = None
    private: bool = True
    noise_scale: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", positive_number(self, "range", self.range, RANGE_REMEDY, _SMALL))
        object.__setattr__(self, "weights", given_weights(self, self.weights, least=-np.inf))
        if not isinstance(self.private, bool):
            raise InputError(self.where("private"), "must be True or False", value=self.private, remedy="give True")
        if self.noise_scale is not None:
            if not self.private:
                rule = "goes with requirements that are kept; without them there is no noise"
                raise InputError(self.where("noise_scale"), rule, value=self.noise_scale, remedy="leave it out")
            remedy = "give the scale of the noise, or none: then it is searched for"
            object.__setattr__(
                self, "noise_scale", positive_number(self, "noise_scale", self.noise_scale, remedy, _SMALL)
            )

    @property
    def smallest(self) -> bool:
        """It is minimised."""
        return True

    @property
    def words(self) -> str:
        """The objective in words."""
        kept = "under each requirement" if self.private else "without noise"
        return f"the worst-case squared error of random prices, range {self.range:g}, {kept}, as small as can be"

    def sizes(self, market: Market) -> Floats:
        """Return |w|, shape (n,).

        Raises
        ------
        InputError
            If there is another number of weights than of rows, or none is of a usable size.
        """
        return np.abs(self.signed_weights(market))

    def signed_weights(self, market: Market) -> Floats:
        """Return w, shape (n,)."""
        found = weights_of(self, self.weights, market)
        if not _SMALL < np.max(np.abs(found)) < _LARGE:
            rule = f"must hold a weight between {_SMALL:g} and {_LARGE:g} in size, and none beyond"
            raise InputError(self.where("weights"), rule, remedy="give weights in fitting units")
        return found

    def utility(self, market: Market) -> Inverse:
        """Return φ_i(q) = −w_i²/q, which a posted price would count for."""
        return Inverse(self.sizes(market))
