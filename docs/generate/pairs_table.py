"""Write the table of what goes with what in docs/how-to/choose-an-objective.md anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marks import Tables, markdown_table, rewrite

import smqopt as smq
from smqopt.market import Objective

BUDGET = 1.0
OBJECTIVES: tuple[Objective, ...] = (
    smq.PurchasedPrivacy(),
    smq.BoughtOwners(),
    smq.DiminishingReturns(scale=0.3),
    smq.InverseProbabilityVariance(),
    smq.MeanSquaredError(range=2.0, variance=0.5),
    smq.WorstGroup("city"),
    smq.LeastSpend(),
    smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.5, smq.WorstGroup("city"))]),
    smq.WorstCaseError(range=1.0),
)


def _market(law: Any) -> smq.Market:
    return smq.Market([0.4, 0.6, 0.8, 1.0], law, groups={"city": ["a", "a", "b", "b"]})


def _under(*records: Any, **options: Any) -> Callable[[Objective], Any]:
    law = smq.Uniform([0.0] * 4, [1.0, 1.2, 1.0, 1.5])
    return lambda aim: smq.solve(_market(law), BUDGET, objective=aim, constraints=records, **options)


COVERAGE = smq.Coverage("city", "a", at_least=0.2)
DOUBT = smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 1.5)])
QUESTIONS: dict[str, Callable[[Objective], Any]] = {
    "linear rows": _under(COVERAGE),
    "`PriceMenu`": _under(smq.PriceMenu(prices=(0.2, 0.5, 0.9))),
    "`CommonPrice` over different laws": _under(smq.CommonPrice("city")),
    "one posted price each": _under(COVERAGE, lotteries=False),
    "`Scenarios`": lambda aim: smq.solve(_market(DOUBT), BUDGET, objective=aim),
    "`Program`": lambda aim: smq.solve(smq.Program(_market(smq.Uniform(0, 1)), BUDGET, objective=aim)),
    "`frontier`": lambda aim: _frontier(_market(smq.Uniform(0, 1)), aim),
    "`least_budget`": lambda aim: _least_budget(_market(smq.Uniform(0, 1)), aim),
    "`sensitivity`": lambda aim: smq.sensitivity(_under(COVERAGE)(aim)),
}
WHY = "[no](#what-does-not-go-with-what)"
"""A refusal, with its reason."""


def _frontier(market: smq.Market, aim: Objective) -> object:
    if isinstance(aim, smq.MeanSquaredError):
        return smq.error_frontier(market, [0.2, 0.5], aim)
    return smq.frontier(market, [0.2, 0.5], objective=aim)


def _least_budget(market: smq.Market, aim: Objective) -> object:
    if isinstance(aim, smq.MeanSquaredError):
        return smq.least_budget(market, error=smq.solve(market, 0.5, objective=aim).error, objective=aim)
    return smq.least_budget(market, smq.solve(market, 0.5, objective=aim).objective_value, objective=aim)


def cell(aim: Objective, ask: Callable[[Objective], Any]) -> str:
    """Say whether an objective goes with a question: yes, open, or no with a reason."""
    try:
        found = ask(aim)
    except smq.InputError:
        return WHY
    if not isinstance(found, smq.Solution):
        return "yes"
    return "yes" if smq.verify(found).valid else "open"


def pairs_table() -> str:
    """Write one row an objective, one column a question."""
    rows = [[f"`{type(aim).__name__}`", *(cell(aim, ask) for ask in QUESTIONS.values())] for aim in OBJECTIVES]
    return markdown_table(("objective", *QUESTIONS), rows)


TABLES: Tables = {"pairs": pairs_table}

if __name__ == "__main__":
    rewrite(TABLES, "how-to/choose-an-objective.md")
