"""The `[question]` table of a model file: what is asked of the market itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market import checked_budget
from smqopt.model_files._schema import names_of
from smqopt.model_files.toml._table import TomlTable


@dataclass(frozen=True)
class LeastBudgetQuestion:
    """The least budget that buys so much."""

    purchased_privacy: float
    """In units of ε."""


@dataclass(frozen=True, eq=False)
class FrontierQuestion:
    """What each budget would buy."""

    budgets: NDArray[np.float64] | None
    """In currency, shape (p,); None for those that `smq.frontier` takes."""


@dataclass(frozen=True)
class NecessaryPrivacyQuestion:
    """The purchased privacy without which no answer is within α of the truth with probability δ."""

    alpha: int
    delta: float


Question = LeastBudgetQuestion | FrontierQuestion | NecessaryPrivacyQuestion

QUESTIONS = ("least-budget", "frontier", "necessary-privacy")
"""What model files call the questions."""


def read_question(table: TomlTable) -> Question:
    """Read the table.

    Raises
    ------
    InputError
        If a key is unknown, missing or bad.
    """
    kind = table.choice("kind", QUESTIONS)
    table.refuse_unknown(names_of(f"question: {kind}"))
    return _READERS[kind](table)


def _least_budget(table: TomlTable) -> Question:
    key = "purchased_privacy"
    return LeastBudgetQuestion(checked_budget(table.number(key), table.where(key)))


def _frontier(table: TomlTable) -> Question:
    if "budgets" not in table:
        return FrontierQuestion(None)
    budgets = table.numbers("budgets")
    bad = np.flatnonzero(budgets < 0)
    if bad.size:
        raise InputError(
            table.where("budgets", int(bad[0])), "must be ≥ 0", value=float(budgets[bad[0]]), remedy="mend the budget"
        )
    return FrontierQuestion(budgets)


def _necessary(table: TomlTable) -> Question:
    delta = table.number("delta")
    if not 0 < delta < 1:
        raise InputError(table.where("delta"), "must lie in (0, 1)", value=delta, remedy="use, say, 0.95")
    return NecessaryPrivacyQuestion(table.whole("alpha"), delta)


_READERS: Mapping[str, Callable[[TomlTable], Question]] = {
    "least-budget": _least_budget,
    "frontier": _frontier,
    "necessary-privacy": _necessary,
}
