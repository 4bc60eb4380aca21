"""An instance beside its derivation: its numbers, and its marked threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smqopt.derivation import InstanceNumbers, Optimum, SolvedInstance, families_of, law_figures, numbers_of
from smqopt.document import Figure
from smqopt.market import Solution
from smqopt.valuation import Index, Valuation

if TYPE_CHECKING:
    from smqopt.derivation import Derivation


def instance_numbers(derivation: Derivation, solution: Solution) -> list[InstanceNumbers | None]:
    """Return each family's numbers: its law's parameters, λ, B and n."""
    market = solution.market
    found: list[InstanceNumbers | None] = []
    for family, owners in zip(families_of(derivation), _owners(derivation), strict=True):
        rows = np.arange(market.n)[owners]
        if family.argument is None or rows.size == 0:
            found.append(None)
            continue
        row = int(np.searchsorted(rows, representative(solution, rows)))
        found.append(
            numbers_of(
                family.argument,
                family.law,
                row=0 if family.law.size is None else row,
                price=solution.budget_price,
                budget=solution.budget,
                owners=market.n if market.multiplicity is None else None,
                instance=_instance_of(solution, family.law, rows, row),
            )
        )
    return found


def _instance_of(solution: Solution, law: Valuation, rows: NDArray[np.intp], owner: int) -> SolvedInstance:
    return SolvedInstance(
        law,
        owner,
        epsilon=solution.market.epsilon[rows],
        thresholds=solution.thresholds[rows],
        lower_multiplier=solution.lower_multiplier[rows],
        upper_multiplier=solution.upper_multiplier[rows],
        weights=solution.market.weights[rows],
        price=solution.budget_price,
        budget=solution.budget,
        whole=rows.size == solution.market.n,
    )


def instance_figures(derivation: Derivation, solution: Solution) -> list[tuple[str, Figure]]:
    """Draw the law of each family, with the threshold of one owner marked."""
    figures: list[tuple[str, Figure]] = []
    market, families = solution.market, families_of(derivation)
    for k, (family, owners) in enumerate(zip(families, _owners(derivation), strict=True), start=1):
        rows = np.arange(market.n)[owners]
        if rows.size == 0:
            continue
        row = representative(solution, rows)
        place = 0 if family.law.size is None else int(np.searchsorted(rows, row))
        ending = "" if len(families) == 1 else f"-{k}"
        figures += law_figures(family.law, place, _optimum(solution, row), ending=ending)
    return figures


def representative(solution: Solution, rows: NDArray[np.intp]) -> int:
    """Choose, among some rows, a middling one, if possible without lottery."""
    q = solution.acceptance[rows]
    inside = (q > 0) & (q < 1)
    if solution.lottery is not None:
        inside &= ~np.isin(rows, solution.lottery.owner)
    chosen = rows[inside] if inside.any() else rows
    return int(chosen[np.argsort(solution.market.epsilon[chosen], kind="stable")[chosen.size // 2]])


def _optimum(solution: Solution, row: int) -> Optimum | None:
    price, epsilon = solution.budget_price, float(solution.market.epsilon[row])
    if not 0 < price < math.inf or (solution.lottery is not None and row in solution.lottery.owner):
        return None
    return Optimum(float(solution.thresholds[row]), float(solution.acceptance[row]), epsilon / price)


def _owners(derivation: Derivation) -> list[Index]:
    return [part.owners for part in derivation.parts] or [slice(None)]
