"""A model file: one procurement instance by name, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from smqopt.errors import InputError
from smqopt.market import ConstraintRecord, Objective, PurchasedPrivacy, checked_budget, objective_from_dict
from smqopt.model_files._constraints import read_constraints
from smqopt.model_files._known_answer import StatedAnswer, read_answer
from smqopt.model_files._library import model_path
from smqopt.model_files._owners import Owners, read_owners
from smqopt.model_files._query import read_query
from smqopt.model_files._question import (
    FrontierQuestion,
    LeastBudgetQuestion,
    Question,
    read_question,
)
from smqopt.model_files._schema import names_of
from smqopt.model_files._valuation import ModelLaw, read_valuation
from smqopt.model_files.toml._file import read_toml
from smqopt.model_files.toml._magnitudes import refuse_odd_sizes
from smqopt.model_files.toml._table import TomlTable
from smqopt.query import PopulationQuery


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file says; nothing is drawn yet."""

    written: TomlTable
    """The file, for errors to say where in it."""
    title: str
    """The instance in a line; the file's name by default."""
    source: str
    """Where the instance comes from."""
    teaches: str
    """What it shows, in a line."""
    description: str
    budget: float | None
    """B, in currency; None where the question asks for the least."""
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
    file = read_toml(model_path(path))
    top = TomlTable(file, file.content)
    top.refuse_unknown(names_of("model"))
    refuse_odd_sizes(file)
    owners = read_owners(top.table("owners"))
    question = read_question(top.table("question")) if "question" in top else None
    return Model(
        written=top,
        title=top.text("title", top.path.stem),
        source=top.text("source", ""),
        teaches=top.text("teaches", ""),
        description=top.text("description", ""),
        budget=_read_budget(top, question),
        seed=top.whole("seed") if "seed" in top else None,
        owners=owners,
        valuation=read_valuation(top.table("valuation"), owners),
        query=read_query(top.table("query")) if "query" in top else None,
        question=question,
        objective=_read_objective(top, question) if "objective" in top else PurchasedPrivacy(),
        constraints=read_constraints(top),
        answer=read_answer(top.table("answer")) if "answer" in top else None,
    )


def _read_objective(top: TomlTable, question: Question | None) -> Objective:
    table = top.table("objective")
    with table.located():
        objective = objective_from_dict(table.content, table.header)
    if isinstance(question, LeastBudgetQuestion | FrontierQuestion) and not isinstance(objective, PurchasedPrivacy):
        raise InputError(
            top.table("question").where("kind"),
            f"is asked of purchased privacy, and the objective is {objective.words}",
            remedy="drop the question, or the objective",
        )
    return objective


def _read_budget(top: TomlTable, question: Question | None) -> float | None:
    if not isinstance(question, LeastBudgetQuestion):
        return checked_budget(top.number("budget"), top.where("budget"))
    if "budget" in top:
        raise InputError(
            top.where("budget"), "is what the question asks for", remedy="drop it, or ask for the frontier"
        )
    return None
