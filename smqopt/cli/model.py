"""A model file: one procurement instance by name, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from smqopt.cli.located import located
from smqopt.cli.owners import Owners, read_owners
from smqopt.cli.query_choice import QUERIES, make_query
from smqopt.cli.toml_table import TomlTable, read_toml
from smqopt.program.market import checked_budget
from smqopt.query.base import Query
from smqopt.valuation.base import Valuation
from smqopt.valuation.registry import valuation_from_dict

__all__ = ["Model", "read_model"]

_KEYS = ("title", "source", "description", "budget", "seed", "owners", "valuation", "query")


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
    valuation: Valuation
    """The law of valuations."""
    query: Query | None
    """What is asked of the bought entries; None where the model only buys."""


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file.

    Raises
    ------
    InputError
        If the file is missing or is not TOML, or a key or a table of owners is unknown, missing or bad.
    """
    top = read_toml(Path(path))
    top.refuse_unknown(_KEYS)
    return Model(
        path=top.path,
        title=top.text("title", top.path.stem),
        source=top.text("source", ""),
        description=top.text("description", ""),
        budget=checked_budget(top.number("budget"), top.where("budget")),
        seed=top.whole("seed") if "seed" in top else None,
        owners=read_owners(top.table("owners")),
        valuation=_read_valuation(top.table("valuation")),
        query=_read_query(top.table("query")) if "query" in top else None,
    )


def _read_valuation(table: TomlTable) -> Valuation:
    where = f"{table.path}: [{table.name}]"
    with located(where):
        return valuation_from_dict(table.content, where)


def _read_query(table: TomlTable) -> Query:
    kind = table.choice("kind", QUERIES)
    table.refuse_unknown(("kind", *QUERIES[kind]))
    with located(f"{table.path}: [{table.name}]"):
        return make_query(kind, **{name: table.integer(name) for name in QUERIES[kind]})
