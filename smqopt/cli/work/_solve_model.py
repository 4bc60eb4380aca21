"""A model solved for its budget, or for its budget less a reserve."""

from __future__ import annotations

from smqopt.errors import InputError
from smqopt.market import Solution
from smqopt.model_files import Instance, locate_constraints, require_feasible
from smqopt.questions import ReservedBudget, reserved_budget
from smqopt.solvers import solve


def solve_model(instance: Instance, probability: float | None) -> tuple[Solution, ReservedBudget | None]:
    """Solve a model; with a probability, for its budget less a reserve.

    Raises
    ------
    InputError
        If the probability does not lie between 0 and 1, or no budget keeps it.
    SmqoptError
        If no thresholds satisfy all constraints.
    """
    market, budget = instance.market, instance.budget
    constraints, objective = instance.model.constraints, instance.model.objective
    options, held = instance.model.options, None
    if probability is not None:
        require_lotteries(instance, "a reserve")
    with locate_constraints(instance.model.written, market):
        if probability is None:
            solution = solve(market, budget, objective=objective, constraints=constraints, **options)
        else:
            held = reserved_budget(market, budget, probability, constraints=constraints, objective=objective)
            solution = held.solution
    require_feasible(solution, instance.model.written)
    return solution, held


def require_lotteries(instance: Instance, what: str) -> None:
    """Refuse a model that posts one price each.

    Raises
    ------
    InputError
        If the model forbids lotteries, which what is asked for needs.
    """
    if instance.model.options:
        where, rule = instance.model.written.where("lotteries"), f"must be true for {what}"
        raise InputError(where, rule, value=False, remedy="leave it out of the model")
