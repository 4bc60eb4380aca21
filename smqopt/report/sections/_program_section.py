"""The program: OP2 with this instance's numbers."""

from __future__ import annotations

import numpy as np

from smqopt.derivation import law_in_words
from smqopt.document import Section, column, shown, shown_latex
from smqopt.market import Market, PurchasedPrivacy, Solution
from smqopt.numeric import exact_dot, exact_sum
from smqopt.report._of_op2 import is_in_doubt
from smqopt.valuation import possible_laws


def program_section(solution: Solution, description: str, *, brief: bool = False) -> Section:
    """State the program that was solved: owners, budget and law.

    In brief it is OP2 with its numbers, below a law that the page has named; the argument is that
    of every law.
    """
    market = solution.market
    common = market.valuation.size is None
    return Section(
        "program",
        "The program",
        "program.html",
        {
            "description": description,
            "alike": market.multiplicity is not None,
            "common": common,
            "F": "F_{is}" if is_in_doubt(solution) else "F" if common else "F_i",
            "of_laws": _of_laws(market),
            "owners": shown_latex(market.population),
            "rows": shown_latex(market.n),
            "budget": shown_latex(solution.budget, 12),
            "low": shown_latex(float(market.low[0])) if common else "",
            "high": shown_latex(float(market.high[0])) if common else "",
            "facts": _facts(market, solution.budget, named=brief),
            "brief": brief,
            "requirements": _requirements(market),
            "constraints": solution.constraints,
            "objective": "" if isinstance(solution.objective, PurchasedPrivacy) else solution.objective.words,
        },
    )


def _of_laws(market: Market) -> str:
    """Write what the objective takes over laws in doubt; nothing where the law is one."""
    laws = possible_laws(market.valuation)
    return "" if laws is None else r"\min_s" if laws.weights is None else r"\sum_s w_s"


def _facts(market: Market, budget: float, *, named: bool) -> list[tuple[str, str]]:
    most = market.most_that_can_be_spent
    facts = [("Owners", shown(market.population))]
    if market.multiplicity is not None:
        facts.append(("Rows of alike owners", shown(market.n)))
    share = "" if most == 0 else f" ({shown(100 * budget / most, 3)}\u00a0% of what buying from all would cost)"
    law = [] if named else [("Law of valuations", law_in_words(market.valuation))]
    return [
        *facts,
        ("Budget, in currency", shown(budget, 12) + share),
        ("Highest valuations of all owners with ε > 0, together", shown(most, 12)),
        *law,
    ]


def _requirements(market: Market) -> list[tuple[str, str]]:
    weights = market.weights
    total = exact_dot(market.epsilon, weights)
    count = exact_sum(weights)
    ranked = np.argsort(market.epsilon, kind="stable")
    middle = ranked[int(np.searchsorted(np.cumsum(weights[ranked]), count / 2))]
    values = [
        float(market.epsilon.min()),
        float(market.epsilon[middle]),
        total / count,
        float(market.epsilon.max()),
    ]
    names = ("least", "median", "mean", "largest")
    return [*zip(names, column(values, 5), strict=True), ("sum", shown(total, 8))]
