"""Offers as posted prices and their probabilities, law by law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.market._lottery import Lottery
from smqopt.market._offers import Offers
from smqopt.numeric import Floats, Indices
from smqopt.valuation import Valuation


@dataclass(frozen=True, eq=False)
class Posted:
    """What n owners are posted, by owner and price; the rest is no offer."""

    n: int
    owner: Indices
    price: Floats
    share: Floats

    @classmethod
    def of(cls, offers: Offers, n: int, laws: int) -> Posted:
        """Gather the offers to the rows of all laws, at prices that any accepts."""
        q, drawn = offers.acceptance, offers.lottery
        rows = np.flatnonzero(q[: laws * n] > 0)
        columns = rows, offers.thresholds[rows], np.ones(rows.size)
        if drawn is not None:
            alone = np.setdiff1d(rows, drawn.owner)
            row = np.repeat(drawn.owner[:, np.newaxis], drawn.prices.shape[1], axis=1)
            at = (drawn.acceptances > 0) & (drawn.probabilities > 0) & (row < laws * n)
            columns = (
                np.concatenate([alone, row[at]]),
                np.concatenate([offers.thresholds[alone], drawn.prices[at]]),
                np.concatenate([np.ones(alone.size), drawn.probabilities[at]]),
            )
        pairs = np.column_stack([(columns[0] % n).astype(np.float64), columns[1]])
        kinds, first = np.unique(pairs, axis=0, return_index=True)
        return cls(n, kinds[:, 0].astype(np.intp), kinds[:, 1], columns[2][first])

    def acceptance_of(self, law: Valuation) -> Floats:
        """Return F at each price: 0 below the owner's support and 1 above it."""
        few = law.take(self.owner)
        low, high = (
            np.broadcast_to(np.asarray(end, dtype=np.float64), self.owner.shape) for end in (few.low, few.high)
        )
        q = few.cdf(np.clip(self.price, low, high)) if self.owner.size else np.zeros(0)
        return np.where(self.price < low, 0.0, np.where(self.price >= high, 1.0, q))

    def mean(self, each: Floats) -> Floats:
        """Return the mean over an owner's draw; shape (n,)."""
        return np.bincount(self.owner, weights=self.share * each, minlength=self.n).astype(np.float64)

    def offers(self, F: Floats, low: Floats) -> Offers:
        """Return the offers where F is what is accepted of each price.

        A price that is never accepted is shown as no offer, at the low end of the support.
        """
        count = np.bincount(self.owner, minlength=self.n)
        total = np.bincount(self.owner, weights=self.share, minlength=self.n)
        q, thresholds = np.zeros(self.n), low.copy()
        accepted = F > 0
        sure = (count == 1) & (total == 1)
        alone = sure[self.owner] & accepted
        thresholds[self.owner[alone]], q[self.owner[alone]] = self.price[alone], F[alone]
        asked = np.bincount(self.owner, weights=accepted, minlength=self.n) > 0
        drawing = np.flatnonzero(asked & ~sure)
        if not drawing.size:
            return Offers(thresholds, q)
        width = int(count.max())
        shape = (self.n, width + 1)
        number = np.arange(self.owner.size) - np.searchsorted(self.owner, self.owner) + 1
        prices, accepts, shares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        prices[:] = low[:, np.newaxis]
        shares[:, 0] = np.maximum(1.0 - total, 0.0)
        at = self.owner, number
        prices[at] = np.where(accepted, self.price, low[self.owner])
        accepts[at], shares[at] = np.where(accepted, F, 0.0), self.share
        filled = np.arange(width + 1) <= count[:, np.newaxis]
        last = prices[np.arange(self.n), count], accepts[np.arange(self.n), count]
        prices, accepts = (
            np.where(filled, x, end[:, np.newaxis]) for x, end in zip((prices, accepts), last, strict=True)
        )
        lottery = Lottery(drawing, prices[drawing], accepts[drawing], shares[drawing])
        thresholds[drawing], q[drawing] = lottery.low, lottery.acceptance
        return Offers(thresholds, q, lottery)
