"""Lotteries with a part changed, for tests that forge them."""

from __future__ import annotations

from smqopt.market import Lottery

_PARTS = ("low", "high", "low_acceptance", "high_acceptance", "probability_of_high")


def lottery_with(lottery, **change):
    """The lottery between two prices, but for what is changed."""
    return Lottery.between(lottery.owner, **{name: change.get(name, getattr(lottery, name)) for name in _PARTS})
