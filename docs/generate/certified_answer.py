"""Print the `[answer]` table of models: their answers, to the digits that certificates show."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from smqopt.market import Market, MeanSquaredError, Status, WorstCaseError
from smqopt.model_files import Instance, PartsOwners, make_instance, read_model
from smqopt.questions import LastingBudget
from smqopt.solvers import solve
from smqopt.valuation import Valuation
from smqopt.verification import Certificate, verify

_DIGITS = 12
_PRICE_DIGITS = 7
_STEPS = (2.0**-8, 2.0**-12, 2.0**-16, 2.0**-20, 2.0**-22)
"""Distances to neighbouring budgets, relative: small ones see the slope, large ones see it through
rounding."""

Ends = tuple[float, float]


@dataclass(frozen=True, eq=False)
class AnswerBounds:
    """A certificate, and what it says of the answer."""

    certificate: Certificate
    budget: Ends | None
    """Of the least budget, where the question asks for it."""

    @property
    def status(self) -> Status:
        """How the program ends."""
        return self.certificate.solution.status

    @property
    def is_error(self) -> bool:
        """Whether an error is minimised: no price of money is stated.

        λ is that of a half-plane's program, no slope, or bounds are too far apart to show one.
        """
        return isinstance(self.certificate.solution.objective, (MeanSquaredError, WorstCaseError))

    @property
    def value(self) -> Ends:
        """Bounds on the optimum of the objective."""
        return self.certificate.lower_bound, self.certificate.upper_bound


def instance_of(name: str) -> Instance:
    """Load a model of the library; owners in Parquet, who are few there, into memory."""
    model = read_model(name)
    owners = model.owners
    if not isinstance(owners, PartsOwners):
        return make_instance(model)
    import pyarrow.parquet as pq  # noqa: PLC0415 -- comes with an extra

    assert isinstance(model.valuation, Valuation)  # noqa: S101 -- of the library
    assert model.budget is not None  # noqa: S101
    table = pq.read_table(owners.folder)
    groups = {name: np.array(table[name].to_pylist()) for name in owners.groups}
    market = Market(table[owners.epsilon].to_numpy(), model.valuation, groups=groups)
    return Instance(model, model.budget, None, model.seed, market, "parts", None, None, None)


def answer_bounds(instance: Instance) -> AnswerBounds:
    """Solve and certify an instance."""
    sought = instance.sought
    if sought is not None and not isinstance(sought, LastingBudget):
        assert sought.certificate is not None  # noqa: S101 -- an instance has a budget
        return AnswerBounds(sought.certificate, (sought.lower_bound, sought.budget))
    return AnswerBounds(_certified(instance, instance.budget), None)


def price_bounds(instance: Instance) -> Ends:
    """Bound the budget price λ, the slope of the concave optimal value V, by certified values at neighbouring budgets.

    (V(B + h) − V(B))/h ≤ λ ≤ (V(B) − V(B − h))/h for every h > 0. Where the two differ V has a
    corner, or h sees it from too far.
    """
    budget = instance.budget
    here, lowest, highest = _range(instance, budget), 0.0, math.inf
    for step in _STEPS:
        h = step * budget
        above, below = _range(instance, budget + h), _range(instance, budget - h)
        lowest = max(lowest, (above[0] - here[1]) / ((budget + h) - budget))
        highest = min(highest, (here[1] - below[0]) / (budget - (budget - h)))
    return lowest, highest


def answer_table(instance: Instance) -> str:
    """Give the `[answer]` table of a model."""
    found = answer_bounds(instance)
    lines = ["[answer]", f'status = "{found.status.name}"']
    if found.budget is not None:
        lines.append(f"budget = {digits_in_common(*found.budget, _DIGITS)}")
    own = found.certificate.solution.objective.kind == "purchased-privacy"
    name = "purchased_privacy" if own else "objective_value"
    lines.append(f"{name} = {digits_in_common(*found.value, _DIGITS)}")
    if found.is_error:
        return "\n".join(lines) + "\n"
    price = "0" if found.status is Status.SLACK else digits_in_common(*price_bounds(instance), _PRICE_DIGITS)
    if price is not None:
        lines.append(f"budget_price = {price}")
    return "\n".join(lines) + "\n"


def digits_in_common(lower: float, upper: float, most: int) -> str | None:
    """Write a number between two bounds > 0 to as many significant digits, at most `most`, as both round to.

    Examples
    --------
    >>> digits_in_common(3.14158, 3.14163, 12), digits_in_common(1.0, 2.0, 12)
    ('3.1416', None)
    """
    for digits in range(most, 0, -1):
        decimals = digits - 1 - math.floor(math.log10(upper)) if upper > 0 else 0
        if decimals < 0:
            return None
        if f"{lower:.{decimals}f}" == f"{upper:.{decimals}f}":
            return f"{lower:.{decimals}f}"
    return None


def _certified(instance: Instance, budget: float) -> Certificate:
    objective, constraints = instance.model.objective, instance.model.constraints
    return verify(solve(instance.market, budget, objective=objective, constraints=constraints), prove=False)


def _range(instance: Instance, budget: float) -> Ends:
    """Bound V at a budget; an objective that is to be small is taken with a minus sign."""
    found = _certified(instance, budget)
    lower, upper = found.lower_bound, found.upper_bound
    return (-upper, -lower) if found.solution.objective.smallest else (lower, upper)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(answer_table(instance_of(name)))
