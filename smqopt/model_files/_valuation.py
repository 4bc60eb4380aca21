"""The `[valuation]` table of a model file: a law of valuations, or a rule that gives each owner hers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.files import read_csv
from smqopt.model_files._owners import DatasetOwners, Owners
from smqopt.model_files._schema import names_of
from smqopt.model_files.toml._table import TomlTable
from smqopt.valuation import ByOwner, GaussianCopula, Valuation, from_samples, valuation_from_dict


@dataclass(frozen=True, eq=False)
class LawsByGroup:
    """A law for each label of a column of groups."""

    column: str
    laws: Mapping[str, Valuation]


ModelLaw = Valuation | GaussianCopula | LawsByGroup

_COPULA = "gaussian-copula"
_BY_GROUP = "by-group"
_SAMPLES = "from-samples"


def read_valuation(table: TomlTable, owners: Owners) -> ModelLaw:
    """Read the table: any law that `valuation_from_dict` makes, or one of the three that a model file adds.

    `gaussian-copula` is taken given each owner's ε, `by-group` by each owner's label, and
    `from-samples` is estimated from a table.

    Parameters
    ----------
    table
        The table.
    owners
        Who sells; requirements that are drawn tell their law, so that the copula need not.

    Raises
    ------
    InputError
        If a key or a law is unknown, missing or bad.
    """
    kind = table.content.get("law")
    if kind == _COPULA and "score" not in table:
        return _copula(table, owners)
    if kind == _BY_GROUP:
        return _by_group(table, owners)
    if kind == _SAMPLES and "edges" not in table:
        return _from_samples(table)
    return _law(table)


def law_of_owners(law: ModelLaw, epsilon: NDArray[np.float64], groups: Mapping[str, tuple[str, ...]]) -> Valuation:
    """Give the owners' law, shape (n,): for a copula that of θ_i given the announced ε_i (errata E4), for laws by group that of her label.

    Parameters
    ----------
    law
        What the model file says.
    epsilon
        Announced requirements, shape (n,).
    groups
        Labellings of the owners.
    """
    if isinstance(law, GaussianCopula):
        return law.given(epsilon)
    if not isinstance(law, LawsByGroup):
        return law
    labels = np.array(groups[law.column], dtype=np.object_)
    if labels.shape != epsilon.shape:
        raise InputError(
            f"groups: {law.column}",
            f"must have one label for each of the {epsilon.size} rows",
            value=labels.size,
            remedy="mend its length",
        )
    return ByOwner.from_parts(
        [(np.flatnonzero(labels == label).tolist(), one) for label, one in law.laws.items()], "by-group"
    )


def _copula(table: TomlTable, owners: Owners) -> GaussianCopula:
    table.refuse_unknown(names_of("valuation: copula"))
    valuation = _law(table.table("valuation"))
    if "requirement" in table:
        requirement = _law(table.table("requirement"))
    elif isinstance(owners, DatasetOwners):
        requirement = owners.epsilon
    else:
        raise InputError(
            table.where("requirement"),
            "is missing: the law of requirements, which are not drawn here",
            remedy='give, say, requirement = { law = "uniform", low = 0, high = 1 }',
        )
    with table.located():
        return GaussianCopula(valuation, requirement, table.number("correlation"))


def _by_group(table: TomlTable, owners: Owners) -> LawsByGroup:
    table.refuse_unknown(names_of("valuation: by group"))
    groups = {} if isinstance(owners, DatasetOwners) else owners.groups
    column = table.choice("column", groups)
    laws = table.table("laws")
    found: dict[str, Valuation] = {}
    labels = dict.fromkeys(groups[column])
    laws.refuse_unknown(labels)
    for label in labels:
        found[label] = _law(laws.table(label))
        if found[label].size is not None:
            raise InputError(laws.where(label), "must be common to its group", remedy="give scalar parameters")
    return LawsByGroup(column, found)


def _from_samples(table: TomlTable) -> Valuation:
    table.refuse_unknown(names_of("valuation: samples"))
    path = table.path.parent / Path(table.text("table"))
    with table.located():
        columns = read_csv(path)
    name = table.text("column")
    if name not in columns:
        raise InputError(
            f"{table.where('column')}: {path}: column {name!r}", "is missing", remedy=nearest(name, columns)
        )
    low, high = (table.number(key) if key in table else None for key in ("low", "high"))
    pieces = table.whole("pieces") if "pieces" in table else None
    with table.located():
        return from_samples(columns[name], low, high, pieces=pieces)


def _law(table: TomlTable) -> Valuation:
    with table.located():
        return valuation_from_dict(table.content, table.header)
