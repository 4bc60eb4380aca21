"""The thresholds that are audited, and the law in which an auditor believes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from smqopt.cli.work._solve_model import solve_model
from smqopt.errors import InputError
from smqopt.market import SOLUTION_FILE, Market, Solution
from smqopt.model_files import make_instance, read_model
from smqopt.valuation import GaussianCopula, Valuation


@dataclass(frozen=True, eq=False)
class Audited:
    """Thresholds, and the law of valuations of the place they come from."""

    solution: Solution
    law: Valuation
    """Given the announced requirements; one an owner where alike owners are spread out."""
    seed: int | None
    """For simulated runs; None where there is none."""


def audited_folder(folder: str, seed: int | None) -> Audited:
    """Take a folder's thresholds as they are, certified or not.

    Raises
    ------
    InputError
        If the folder holds no solution that can be read.
    """
    if not (Path(folder) / SOLUTION_FILE).is_file():
        raise InputError(f"{folder}: file {SOLUTION_FILE!r}", "is missing", remedy="run smqopt solve first")
    solution = Solution.load(folder)
    return Audited(solution, solution.market.expand().valuation, seed)


def audited_model(model_file: str, seed: int | None, data_file: str | None, *, marginal: bool) -> Audited:
    """Solve a model; with `marginal` for the marginal law of valuations.

    Raises
    ------
    InputError
        If the model is bad, or declares no dependence that could be ignored.
    SolverError
        If its constraints cannot hold together.
    """
    instance = make_instance(read_model(model_file), seed=seed, data_file=data_file)
    model, market = instance.model, instance.market
    posted = market
    if marginal:
        if not isinstance(model.valuation, GaussianCopula):
            raise InputError(
                f"{model_file}: key 'valuation'",
                "declares no correlation that thresholds could ignore",
                remedy='leave --marginal out, or give law = "gaussian-copula"',
            )
        posted = Market(
            market.epsilon,
            model.valuation.valuation,
            owner_ids=market.owner_ids,
            groups=market.groups,
            multiplicity=market.multiplicity,
        )
    solution, _ = solve_model(dataclasses.replace(instance, market=posted), None)
    return Audited(solution, market.expand().valuation, instance.seed)


def believed_law(model_file: str, market: Market, seed: int | None, data_file: str | None) -> Valuation:
    """Return the law that a model declares for the same owners, given their ε.

    Raises
    ------
    InputError
        If the model is bad, or its owners are not those of the market.
    """
    believed = make_instance(read_model(model_file), seed=seed, data_file=data_file).market
    for what, same in (
        ("number of owners", believed.population == market.population),
        ("owners", believed.owner_ids == market.owner_ids),
        ("requirements", np.array_equal(believed.epsilon, market.epsilon)),
        ("multiplicities", believed.population == market.population and _counts(believed) == _counts(market)),
    ):
        if not same:
            raise InputError(
                model_file,
                f"must speak of the owners that are audited: the {what} differ",
                remedy="give the same owners and seed",
            )
    return believed.expand().valuation


def _counts(market: Market) -> list[int]:
    return [int(count) for count in market.weights.tolist()]
