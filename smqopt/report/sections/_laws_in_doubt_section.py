"""Laws in doubt, and what the thresholds come to under each of them."""

from __future__ import annotations

import math

from smqopt.derivation import law_in_words
from smqopt.document import Section, column, shown
from smqopt.market import PurchasedPrivacy, Solution, under_each_law
from smqopt.numeric import exact_dot
from smqopt.report.sections._purchase_section import payment_deviation
from smqopt.valuation import possible_laws


def laws_in_doubt_section(solution: Solution) -> Section:
    """Name the laws, and set owners, spend and objective under each side by side."""
    laws = possible_laws(solution.market.valuation)
    assert laws is not None  # noqa: S101 -- its laws are in doubt
    each = under_each_law(solution)
    plain = isinstance(solution.objective, PurchasedPrivacy)
    weights = [] if laws.weights is None else laws.weights.tolist()
    columns = (
        [one.name for one in each],
        column([exact_dot(one.solution.acceptance, one.solution.market.weights) for one in each], 6),
        [shown(one.solution.total_spend, 8) for one in each],
        [shown(payment_deviation(one.solution), 3) for one in each],
        [shown(one.solution.objective_value, 8) for one in each],
        [shown(one.budget_price, 5) if math.isfinite(one.budget_price) else "–" for one in each],
    )
    return Section(
        "law",
        "The laws in doubt",
        "laws_in_doubt.html",
        {
            "laws": [
                (one.name, law_in_words(law), shown(100 * weight, 3) if weights else "")
                for one, law, weight in zip(each, laws.laws, weights or [0.0] * len(each), strict=True)
            ],
            "between": laws.between,
            "plain": plain,
            "smallest": solution.objective.smallest,
            "objective": solution.objective.words,
            "rows": list(zip(*columns, strict=True)),
            "budget": shown(solution.budget, 12),
        },
    )
