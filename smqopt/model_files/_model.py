"""A model file: one procurement instance by name, as data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smqopt.errors import InputError, check_kind
from smqopt.market import (
    ConstraintRecord,
    MeanSquaredError,
    Objective,
    PurchasedPrivacy,
    checked_budget,
    objective_from_dict,
)
from smqopt.model_files._constraints import read_constraints
from smqopt.model_files._library import model_path
from smqopt.model_files._owners import Owners, read_owners
from smqopt.model_files._query_choice import make_query
from smqopt.model_files._refusal import read_tables
from smqopt.model_files._valuation import ModelLaw, read_valuation
from smqopt.model_files.schema._model_table import ModelTable, StatedAnswer
from smqopt.model_files.schema._owners_tables import OwnersInParquet
from smqopt.model_files.schema._question_tables import (
    FrontierQuestion,
    LastingBudgetQuestion,
    LeastBudgetQuestion,
    Question,
)
from smqopt.model_files.schema._table import Table
from smqopt.model_files.toml._file import read_toml
from smqopt.model_files.toml._magnitudes import refuse_odd_sizes
from smqopt.model_files.toml._place import TomlTable
from smqopt.numeric import FrozenDict
from smqopt.query import PopulationQuery


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file says; nothing is drawn yet."""

    written: TomlTable = field(repr=False)
    """The file, for errors to say where in it."""
    title: str
    """The instance in a line; the file's name by default."""
    source: str
    """Where the instance comes from."""
    teaches: str
    """What it shows, in a line."""
    description: str
    budget: float | None
    """B, in currency; None where it is what the question asks for."""
    seed: int | None
    """The seed of a simulation; None for a private release."""
    owners: Owners
    valuation: ModelLaw
    """The law of valuations, or the copula that gives it for each owner's requirement."""
    query: PopulationQuery | None
    """What is asked of the bought entries; None where the model only buys."""
    question: Question | None
    """What is asked of the market itself."""
    objective: Objective
    """What is to be as good as the budget allows."""
    constraints: tuple[ConstraintRecord, ...]
    """What must hold beyond OP2."""
    options: Mapping[str, Any]
    """What `smqopt.solve` takes beside the objective and the constraints."""
    answer: StatedAnswer | None
    """What a certificate has shown."""

    @property
    def path(self) -> Path:
        """The file's path."""
        return self.written.path

    @property
    def name(self) -> str:
        """What the library calls it."""
        return self.path.stem


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model: a file, or by its name in the library.

    Raises
    ------
    InputError
        If the file is missing or is not TOML, or a key or a table of owners is unknown, missing or
        bad.
    """
    check_kind(path, (str, os.PathLike), "model", "a path, or a name of the library", "see smqopt models")
    file = read_toml(model_path(path))
    top = TomlTable(file, file.content)
    tables = read_tables(file)
    refuse_odd_sizes(file)
    owners = read_owners(tables.owners, top.table("owners"))
    objective = PurchasedPrivacy() if tables.objective is None else _read_objective(top)
    _check_question(top, tables.question, objective)
    return Model(
        written=top,
        title=file.path.stem if tables.title is None else tables.title,
        source=tables.source,
        teaches=tables.teaches,
        description=tables.description,
        budget=_read_budget(top, tables),
        seed=tables.seed,
        owners=owners,
        valuation=read_valuation(tables.valuation, owners, top.table("valuation")),
        query=None if tables.query is None else _read_query(top.table("query"), tables.query),
        question=tables.question,
        objective=objective,
        constraints=read_constraints(top),
        options=_read_options(top, tables),
        answer=tables.answer,
    )


def _read_query(at: TomlTable, table: Table) -> PopulationQuery:
    parameters = table.model_dump(exclude_none=True)
    with at.locate_errors():
        return make_query(parameters.pop("kind"), **parameters)


def _read_objective(top: TomlTable) -> Objective:
    table = top.table("objective")
    with table.locate_errors():
        return objective_from_dict(table.content, table.header)


def _check_question(top: TomlTable, question: Question | None, objective: Objective) -> None:
    """Refuse a question that is asked of another objective."""
    asked: tuple[type[Objective], ...] = (PurchasedPrivacy,)
    if isinstance(question, FrontierQuestion):
        asked = (PurchasedPrivacy, MeanSquaredError)
    elif isinstance(question, LeastBudgetQuestion) and question.error is not None:
        asked = (MeanSquaredError,)
    elif not isinstance(question, LeastBudgetQuestion | LastingBudgetQuestion):
        return
    if not isinstance(objective, asked):
        of = " or ".join(one.kind.replace("-", " ") for one in asked)
        raise InputError(
            top.table("question").where("kind"),
            f"is asked of {of}, and the objective is {objective.words}",
            remedy="drop the question, or change the objective",
        )


def _read_options(top: TomlTable, tables: ModelTable) -> Mapping[str, Any]:
    """Return how to solve: one posted price each, and to what gap."""
    if tables.gap is not None and (tables.lotteries or not 0 <= tables.gap < 1):
        rule = "goes with lotteries = false" if tables.lotteries else "must lie in [0, 1)"
        raise InputError(top.where("gap"), rule, value=tables.gap, remedy="correct it, or leave it out")
    if tables.lotteries:
        return FrozenDict()
    asked = type(tables.question)
    if asked in (FrontierQuestion, LeastBudgetQuestion, LastingBudgetQuestion) or isinstance(
        tables.owners, OwnersInParquet
    ):
        raise InputError(
            top.where("lotteries"),
            "must be true where owners stand in Parquet, or budgets are asked for",
            value=False,
            remedy="leave it out",
        )
    return FrozenDict({"lotteries": False} if tables.gap is None else {"lotteries": False, "gap": tables.gap})


def _read_budget(top: TomlTable, tables: ModelTable) -> float | None:
    if not isinstance(tables.question, LeastBudgetQuestion | LastingBudgetQuestion):
        if tables.budget is None:
            raise InputError(top.where("budget"), "is missing", remedy="add it to the file")
        return checked_budget(tables.budget, top.where("budget"))
    if tables.budget is not None:
        raise InputError(
            top.where("budget"), "is what the question asks for", remedy="drop it, or ask for the frontier"
        )
    return None
