"""What a derivation is asked of: a law with an example, or a model's market."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from smqopt.cli.work._frontier_points import frontier_of
from smqopt.derivation import derive
from smqopt.market import Market
from smqopt.model_files import Model, make_instance
from smqopt.report import DerivationRecord, what_is_left_out
from smqopt.solvers import solve
from smqopt.valuation import Valuation

_OWNERS = 10
_SHARE = 0.2
EXAMPLE = (
    f"An example: {_OWNERS} owners with requirements ε = 0.1, 0.2, …, 1 and a budget of {100 * _SHARE:g} % of what buying from all "
    "of them would cost."
)
"""The market beside which a law is shown that comes with none."""


def record_of_law(law: Valuation, title: str) -> DerivationRecord:
    """Derive a common law, and solve the example market for it."""
    epsilon = np.arange(1, _OWNERS + 1) / _OWNERS
    market = Market(epsilon, law)
    return _record(title, market, _SHARE * market.most_that_can_be_spent, EXAMPLE)


def record_of_model(
    model: Model, *, law: Valuation | None = None, seed: int | None = None, data_file: str | None = None
) -> DerivationRecord:
    """Derive the law of a model, and solve its market.

    Parameters
    ----------
    model
        The model.
    law
        A law to put in the place of the model's.
    seed, data_file
        As for `make_instance`.
    """
    given = model if law is None else replace(model, valuation=law)
    instance = make_instance(given, seed=seed, data_file=data_file)
    description = f"{model.description or model.title} {what_is_left_out(model.objective, model.constraints)}".rstrip()
    return _record(model.title, instance.market, instance.budget, description)


def _record(title: str, market: Market, budget: float, description: str) -> DerivationRecord:
    derivation = derive(market.valuation)
    solution = solve(market, budget)
    return DerivationRecord(title, derivation, solution, frontier_of(solution), description)
