"""Solutions of an ordinary program as those of the user's, and back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from smqopt.market._lottery import Lottery
from smqopt.market._market import Market
from smqopt.market._offers import Offers
from smqopt.market._status import Status
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.market.expansion._expansion import Expansion
from smqopt.market.expansion._make import BUDGET_WORDS
from smqopt.market.expansion._posted import Posted
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.solution._solution import Solution
from smqopt.numeric import Floats


def fold(
    e: Expansion, solution: Solution, market: Market, records: Sequence[ConstraintRecord], aim: Objective
) -> Solution:
    """Return a solution of the ordinary program as one of the user's."""
    posted = Posted.of(Offers(solution.thresholds, solution.acceptance, solution.lottery), e.n, len(e.base))
    offers = e.show(posted)
    price = solution.budget_price if 0 < solution.budget_price < math.inf else 0.0
    w = solution.details.get("law_weights", np.zeros(e.objective.laws if e.objective.laws > 1 else 0))
    multipliers = np.insert(solution.constraint_prices, e.budget_rows.stop, w)
    in_rows = e.budget_rows.stop > 0
    status, conflict = solution.status, solution.conflict
    of_budget = math.inf
    if status is Status.INFEASIBLE:
        user = {record.words for record in records} | {BUDGET_WORDS}
        known = dict.fromkeys(words for words in conflict if words in user)
        conflict = tuple(sorted(known, key=lambda words: words == BUDGET_WORDS))
    else:
        multipliers[e.budget_rows] += price
        of_budget = float(np.sum(multipliers[e.budget_rows])) if in_rows else price
        of_budget = of_budget if e.limit > 0 else math.inf
        status = Status.ZERO_BUDGET if e.limit == 0 else Status.BINDING if of_budget > 0 else Status.SLACK
    for column in (offers.thresholds, offers.acceptance, multipliers):
        column.flags.writeable = False
    return dataclasses.replace(
        solution,
        market=market,
        market_fingerprint=market.fingerprint,
        budget=e.limit,
        thresholds=offers.thresholds,
        acceptance=offers.acceptance,
        lottery=offers.lottery,
        budget_price=of_budget,
        status=status,
        constraints=tuple(record.words for record in records),
        records=tuple(records),
        constraint_prices=multipliers,
        conflict=conflict,
        objective=aim,
    )


def thin(e: Expansion, solution: Solution, share: float) -> Solution:
    """Return a user's solution with all chances of an offer less by a share."""
    posted = Posted.of(Offers(solution.thresholds, solution.acceptance, solution.lottery), e.n, 1)
    offers = e.show(dataclasses.replace(posted, share=posted.share * (1.0 - share)))
    for column in (offers.thresholds, offers.acceptance):
        column.flags.writeable = False
    return dataclasses.replace(
        solution, thresholds=offers.thresholds, acceptance=offers.acceptance, lottery=offers.lottery
    )


def unfold(e: Expansion, solution: Solution) -> Solution:
    """Return the user's solution as one of the ordinary program."""
    given = Offers(solution.thresholds, solution.acceptance, solution.lottery)
    posted = Posted.of(given, e.n, 1)
    each = [posted.offers(posted.acceptance_of(one.valuation), np.array(one.low)) for one in e.base]
    shares = np.zeros(e.step * e.units.size)
    shares[:: e.step] = e.shares(given)
    ends = np.full(shares.size, 0.0)
    pairs = Posted(shares.size, np.flatnonzero(shares > 0), np.zeros(int(np.sum(shares > 0))), shares[shares > 0])
    each.append(pairs.offers(np.ones(pairs.owner.size), ends))
    offers = _stack(each)
    infeasible = solution.status is Status.INFEASIBLE
    return dataclasses.replace(
        solution,
        market=e.market,
        market_fingerprint=e.market.fingerprint,
        budget=e.budget,
        thresholds=offers.thresholds,
        acceptance=offers.acceptance,
        lottery=offers.lottery,
        budget_price=math.inf if infeasible else 0.0 if e.budget_rows.stop else solution.budget_price,
        status=Status.SLACK if e.budget_rows.stop and not infeasible else solution.status,
        constraints=tuple(record.words for record in e.records),
        records=e.records,
        objective=e.objective,
    )


def _stack(each: Sequence[Offers]) -> Offers:
    """Put offers one after the other."""
    starts = np.cumsum([0, *(one.acceptance.size for one in each)])
    thresholds, q = (np.concatenate([getattr(one, name) for one in each]) for name in ("thresholds", "acceptance"))
    drawn = [(start, one.lottery) for start, one in zip(starts, each, strict=False) if one.lottery is not None]
    if not drawn:
        return Offers(thresholds, q)
    width = max(lottery.prices.shape[1] for _, lottery in drawn)
    columns: dict[str, list[Floats]] = {"prices": [], "acceptances": [], "probabilities": []}
    for _, lottery in drawn:
        for name, found in columns.items():
            x = getattr(lottery, name)
            last = x[:, -1:] if name != "probabilities" else np.zeros((x.shape[0], 1))
            found.append(np.hstack([x, *[last] * (width - x.shape[1])]))
    owner = np.concatenate([start + lottery.owner for start, lottery in drawn])
    return Offers(thresholds, q, Lottery(owner, *(np.vstack(found) for found in columns.values())))
