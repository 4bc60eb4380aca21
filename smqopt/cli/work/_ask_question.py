"""The answer to a model's question: for `question.json`, report and terminal."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smqopt.cli.outputs._folder import FRONTIER_FILE, QUESTION_FILE
from smqopt.cli.work._frontier_points import error_lines, errors_at, frontier_lines
from smqopt.document import column, shown
from smqopt.errors import InputError
from smqopt.files import to_json_number, write_json
from smqopt.market import MeanSquaredError, Status
from smqopt.model_files import FrontierQuestion, Instance, NecessaryPrivacyQuestion, locate_constraints
from smqopt.questions import (
    NECESSARY_QUERIES,
    ErrorBudget,
    ErrorFrontier,
    Frontier,
    LastingBudget,
    LeastBudget,
    NecessaryPrivacy,
    frontier,
    necessary_privacy,
)
from smqopt.report import QuestionAnswered


@dataclass(frozen=True, eq=False)
class Asked:
    """An answered question."""

    content: dict[str, Any]
    """What `question.json` holds."""
    lines: list[str]
    """For people, on the terminal."""
    shown: QuestionAnswered
    """For the report."""
    curve: Frontier | ErrorFrontier | None = field(default=None)
    """The frontier, where that was asked for: `frontier.csv`."""

    def save(self, folder: Path) -> None:
        """Write `question.json`, and `frontier.csv` where there is one."""
        write_json(folder / QUESTION_FILE, self.content)
        if self.curve is not None:
            self.curve.save(folder / FRONTIER_FILE)


def answer_question(instance: Instance) -> Asked | None:
    """Answer the model's question; None where it has none.

    Raises
    ------
    InputError
        If the question cannot be asked of the model: Lemma 1 speaks of counts and medians alone.
    """
    question, written = instance.model.question, instance.model.written
    if question is None:
        return None
    match instance.sought:
        case LeastBudget() as found:
            return _least_budget(found)
        case ErrorBudget() as found:
            return _error_budget(found)
        case LastingBudget() as found:
            return _lasting_budget(found)
    table = written.table("question")
    if isinstance(question, NecessaryPrivacyQuestion):
        kind = instance.model.query.name if instance.model.query is not None else None
        if kind not in NECESSARY_QUERIES:
            raise InputError(
                table.where("kind"), "needs a query that is a count or a median", value=kind, remedy="add [query]"
            )
        with table.locate_errors():
            return _necessary(
                necessary_privacy(kind, alpha=question.alpha, delta=question.delta, market=instance.market)
            )
    assert isinstance(question, FrontierQuestion)  # noqa: S101 -- the only one left
    objective = instance.model.objective
    with locate_constraints(written, instance.market):
        if isinstance(objective, MeanSquaredError):
            return _error_frontier(errors_at(instance.market, question.budgets, objective, instance.model.constraints))
        return _frontier(frontier(instance.market, question.budgets, constraints=instance.model.constraints))


def _least_budget(found: LeastBudget) -> Asked:
    content = {
        "question": "least-budget",
        "asked": found.purchased_privacy,
        "budget": found.budget,
        "lower_bound": found.lower_bound,
        "gap": found.gap,
        "budget_price": to_json_number(found.budget_price),
        "status": found.status.name,
    }
    told = (
        f"the least budget that buys {shown(found.purchased_privacy, 6)} of privacy is {shown(found.budget, 10)}; "
        f"no smaller one than {shown(found.lower_bound, 10)} is enough"
    )
    rows = [
        ("asked for", shown(found.purchased_privacy, 8)),
        ("enough", shown(found.budget, 12)),
        ("no smaller budget is enough than", shown(found.lower_bound, 12)),
        ("price λ there", shown(found.budget_price, 6)),
    ]
    words = (
        "How much must be spent to buy so much privacy? The thresholds of this report reach it; a tangent of the frontier shows that no smaller "
        "budget does (weak duality)."
    )
    return Asked(content, [told], QuestionAnswered(words, ("", "value"), rows))


def _error_budget(found: ErrorBudget) -> Asked:
    assert found.solution is not None  # noqa: S101 -- an instance has a budget
    content = {
        "question": "least-budget",
        "asked": found.error,
        "budget": found.budget,
        "lower_bound": found.lower_bound,
        "gap": found.gap,
        "error": found.solution.error,
        "status": found.status.name,
    }
    told = (
        f"the least budget for an error of {shown(found.error, 6)} is {shown(found.budget, 10)}; "
        f"no smaller one than {shown(found.lower_bound, 10)} is enough"
    )
    rows = [
        ("asked for, root mean squared error", shown(found.error, 8)),
        ("enough", shown(found.budget, 12)),
        ("no smaller budget is enough than", shown(found.lower_bound, 12)),
    ]
    words = "How much must be spent for an answer so near the truth, at the expected sums? A certificate below says that less is not enough."
    return Asked(content, [told], QuestionAnswered(words, ("", "value"), rows))


def _lasting_budget(found: LastingBudget) -> Asked:
    content = {
        "question": "lasting-budget",
        "money": found.money,
        "budget": found.solution.budget,
        "guaranteed": found.guaranteed,
        "most": found.most,
    }
    told = (
        f"paid while {shown(found.money, 8)} lasts, a purchase for the budget {shown(found.solution.budget, 8)} buys "
        f"{shown(found.guaranteed, 6)} of privacy at least in expectation; none buys more than {shown(found.most, 6)}"
    )
    rows = [
        ("the money, never exceeded", shown(found.money, 8)),
        ("the budget solved for", shown(found.solution.budget, 12)),
        ("bought at least, in expectation", shown(found.guaranteed, 8)),
        ("bought at most, by any purchase for the money", shown(found.most, 8)),
    ]
    words = "Offers are made one after the other, the most privacy for the money first. Which budget should the thresholds be for?"
    return Asked(content, [told], QuestionAnswered(words, ("", "value"), rows))


def _error_frontier(found: ErrorFrontier) -> Asked:
    columns = {"budget": found.budgets, "error": found.error, "error_bound": found.error_bound}
    content: dict[str, Any] = {"question": "frontier"} | {
        name: [to_json_number(value) for value in values.tolist()] for name, values in columns.items()
    }
    cells = [column(values.tolist(), 6) for values in columns.values()]
    words = "How far off would the answer be at each budget, as a root mean square at the expected sums?"
    header = ("budget", "error", "no purchase errs less than")
    return Asked(content, error_lines(found), QuestionAnswered(words, header, list(zip(*cells, strict=True))), found)


def _necessary(found: NecessaryPrivacy) -> Asked:
    content = {
        "question": "necessary-privacy",
        "query": found.query,
        "alpha": found.alpha,
        "delta": found.delta,
        "n": found.n,
        "level": found.level,
        "available": found.available,
        "status": None if found.status is None else found.status.name,
        "note": "necessary, and no guarantee",
    }
    rows = [
        ("accuracy α", shown(found.alpha)),
        ("probability δ", shown(found.delta)),
        ("necessary, never sufficient by itself", shown(found.level, 8)),
        ("what all owners have", "" if found.available is None else shown(found.available, 8)),
    ]
    reached = (
        "No budget reaches it." if found.status is Status.UNREACHABLE else "It is one of realised purchased privacy."
    )
    words = f"Without how much purchased privacy is no answer so accurate (Lemma 1)? The level guarantees nothing. {reached}"
    return Asked(content, [str(found)], QuestionAnswered(words, ("", "value"), rows))


def _frontier(found: Frontier) -> Asked:
    columns = {
        "budget": found.budgets,
        "purchased_privacy": found.purchased_privacy,
        "budget_price": found.budget_price,
        "spend": found.spend,
        "lower_bound": found.lower_bound,
        "upper_bound": found.upper_bound,
    }
    content: dict[str, Any] = {"question": "frontier"} | {
        name: [to_json_number(value) for value in values.tolist()] for name, values in columns.items()
    }
    content |= {"status": found.status_names, "conflict": list(found.conflict), "gap": found.gap}
    at = column(found.budgets.tolist(), 6)
    feasible = found.feasible.tolist()
    privacy, prices = (
        [shown(value, 6) for value in values.tolist()] for values in (found.purchased_privacy, found.budget_price)
    )
    rows = [
        (budget, V, price) if ok else (budget, status.lower(), "")
        for budget, V, price, ok, status in zip(at, privacy, prices, feasible, found.status_names, strict=True)
    ]
    words = "What would each budget buy?"
    if found.conflict:
        words += f" Where it says infeasible these cannot hold together: {'; '.join(found.conflict)}."
    return Asked(
        content, frontier_lines(found), QuestionAnswered(words, ("budget", "purchased privacy", "price λ"), rows), found
    )
