"""Whether the cost curves of a market may be stated as convex ones.

They are, or their hulls are asked for.
"""

from __future__ import annotations

import numpy as np

from smqopt.errors import IrregularLawError
from smqopt.market._market import Market
from smqopt.valuation import Irregular, PriceBounded, PriceFloored, PriceListed, Regular, Undecided


def require_convex_costs(market: Market, *, ironed: bool) -> None:
    """Refuse a law that is not proved regular, unless its hull is asked for.

    Raises
    ------
    IrregularLawError
        If a law is irregular or undecided and hulls are not asked for.
    """
    for law, index in market.valuation.parts():
        # who asks for a price list, a floor or a ceiling asks for the hull of what it leaves
        verdict = (law.law if isinstance(law, PriceBounded | PriceFloored) else law).regularity()
        if ironed or isinstance(verdict, Regular) or isinstance(law, PriceListed):
            continue
        owner = market.owner_ids[int(np.arange(market.n)[index][verdict.owner or 0])]
        raise IrregularLawError(
            f"program: owner {owner!r}, law {law.name!r}",
            _what_is_known(verdict),
            remedy="pass ironed=True to state the convex hull of its cost curve, which lotteries reach",
        )


def _what_is_known(verdict: Irregular | Undecided) -> str:
    if isinstance(verdict, Undecided):
        return f"could not be proved regular, so that OP2 may not be convex: Undecided ({verdict.method})"
    (first, second), (before, after) = verdict.witness, verdict.virtual_costs
    return f"is irregular, so that OP2 is not convex: J({first!r}) = {before!r} > J({second!r}) = {after!r} ({verdict.method})"
