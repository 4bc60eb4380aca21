"""A model file: one procurement instance by name, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from smqopt.cli.constraints import read_constraints
from smqopt.cli.owners import Owners, read_owners
from smqopt.cli.query_table import read_query
from smqopt.cli.toml_table import read_toml
from smqopt.cli.valuation_table import ModelLaw, read_valuation
from smqopt.program.constraints.record import ConstraintRecord
from smqopt.program.numbers import checked_budget
from smqopt.query.base import PopulationQuery

__all__ = ["Model", "read_model"]

_KEYS = ("title", "source", "description", "budget", "seed", "owners", "valuation", "query", "constraint")


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file says; nothing is drawn yet."""

    path: Path
    title: str
    """The instance in a line; the file's name by default."""
    source: str
    """Where the instance comes from."""
    description: str
    budget: float
    """B, in currency."""
    seed: int | None
    """The seed of a simulation; None for a private release."""
    owners: Owners
    valuation: ModelLaw
    """The law of valuations, or the copula that gives it for each owner's requirement."""
    query: PopulationQuery | None
    """What is asked of the bought entries; None where the model only buys."""
    constraints: tuple[ConstraintRecord, ...] = ()
    """What must hold beyond OP2."""


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file.

    Raises
    ------
    InputError
        If the file is missing or is not TOML, or a key or a table of owners is unknown, missing or bad.
    """
    top = read_toml(Path(path))
    top.refuse_unknown(_KEYS)
    owners = read_owners(top.table("owners"))
    return Model(
        path=top.path,
        title=top.text("title", top.path.stem),
        source=top.text("source", ""),
        description=top.text("description", ""),
        budget=checked_budget(top.number("budget"), top.where("budget")),
        seed=top.whole("seed") if "seed" in top else None,
        owners=owners,
        valuation=read_valuation(top.table("valuation"), owners),
        query=read_query(top.table("query")) if "query" in top else None,
        constraints=read_constraints(top),
    )
