"""Refuse what rests on chances of sale under laws in doubt."""

from __future__ import annotations

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.valuation import possible_laws


def require_one_law(market: Market, where: str) -> None:
    """Refuse a market under laws in doubt.

    The acceptances that a solution shows are then a mean over laws, and no chance of a sale.

    Parameters
    ----------
    market
        Whose law is looked at.
    where
        What asks, with its argument.

    Raises
    ------
    InputError
        If there is more than one possible law.
    """
    if possible_laws(market.valuation) is not None:
        raise InputError(
            where,
            "needs one law, for under laws in doubt nobody knows how likely an owner is to sell",
            value=market.valuation.name,
            remedy="solve for one of its laws",
        )
