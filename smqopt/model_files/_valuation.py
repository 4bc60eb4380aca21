"""The `[valuation]` table of a model file: the law of valuations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.files import read_csv
from smqopt.market import LawsByGroup
from smqopt.model_files._owners import DatasetOwners, GivenOwners, Owners, PartsOwners, no_column
from smqopt.model_files.schema._law_tables import AnyLaw, CopulaTable, GroupLawsTable, SamplesTable
from smqopt.model_files.toml._place import TomlTable
from smqopt.scale import LawByColumns
from smqopt.valuation import ByOwner, GaussianCopula, Valuation, from_samples, valuation_from_dict

ModelLaw = Valuation | GaussianCopula | LawsByGroup | LawByColumns


def read_valuation(tables: AnyLaw, owners: Owners, at: TomlTable) -> ModelLaw:
    """Read the law: of the registry, or one that a model file adds.

    Parameters
    ----------
    tables
        What the schema read.
    owners
        Who sells; the law of requirements that are drawn is known, so that the copula need not
        repeat it.
    at
        Where the table stands.

    Raises
    ------
    InputError
        If a law, a label or a table of samples is bad.
    """
    if isinstance(owners, PartsOwners):
        return _law_of_parts(tables, at)
    match tables:
        case CopulaTable():
            return _copula(tables, owners, at)
        case GroupLawsTable():
            return _by_group(tables, owners, at)
        case SamplesTable():
            return _from_samples(tables, at)
    return _law(at)


def law_of_owners(law: ModelLaw, epsilon: NDArray[np.float64], groups: Mapping[str, tuple[str, ...]]) -> Valuation:
    """Return the owners' law, shape (n,), given their ε or labels (errata E4).

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
    if isinstance(law, LawByColumns):
        raise InputError("valuation", "has parameters in columns", remedy="give owners in a folder of Parquet")
    if not isinstance(law, LawsByGroup):
        return law
    labels = np.array(groups[law.column], dtype=np.object_)
    if labels.shape != epsilon.shape:
        raise InputError(
            f"groups: {law.column}",
            f"must have one label for each of the {epsilon.size} rows",
            value=labels.size,
            remedy="correct its length",
        )
    return ByOwner.from_parts(
        [(np.flatnonzero(labels == label).tolist(), one) for label, one in law.laws.items()], "by-group"
    )


def _law_of_parts(tables: AnyLaw, at: TomlTable) -> Valuation | LawsByGroup | LawByColumns:
    """Read a common law, one by label, or one with parameters in columns."""
    match tables:
        case CopulaTable():
            raise InputError(at.where("law"), "is not supported for owners in Parquet", remedy="give laws by group")
        case GroupLawsTable():
            laws = at.table("laws")
            return LawsByGroup(tables.column, {label: _law(laws.table(label)) for label in tables.laws})
        case SamplesTable():
            return _from_samples(tables, at)
    columns = {key: value for key, value in at.content.items() if key not in ("law", "cdf")}
    if "law" in at.content and any(isinstance(value, str) for value in columns.values()):
        with at.locate_errors():
            return LawByColumns(str(at.content["law"]), **columns)
    return _law(at)


def _copula(tables: CopulaTable, owners: Owners, at: TomlTable) -> GaussianCopula:
    valuation = _law(at.table("valuation"))
    if tables.requirement is not None:
        requirement = _law(at.table("requirement"))
    elif isinstance(owners, DatasetOwners):
        requirement = owners.epsilon
    else:
        raise InputError(
            at.where("requirement"),
            "is missing: the law of requirements, which are not drawn here",
            remedy='give, say, requirement = { law = "uniform", low = 0, high = 1 }',
        )
    if (tables.correlation is None) == (tables.pearson is None):
        raise InputError(
            at.where("correlation"),
            "must be given, or 'pearson' in its place, and not both",
            remedy="give Spearman's as correlation, or Pearson's as pearson",
        )
    with at.locate_errors():
        if tables.pearson is not None:
            return GaussianCopula.from_pearson(valuation, requirement, tables.pearson)
        return GaussianCopula(valuation, requirement, tables.correlation or 0.0)


def _by_group(tables: GroupLawsTable, owners: Owners, at: TomlTable) -> LawsByGroup:
    groups = owners.groups if isinstance(owners, GivenOwners) else {}
    if tables.column not in groups:
        raise InputError(at.where("column"), "is not known", value=tables.column, remedy=nearest(tables.column, groups))
    laws = at.table("laws")
    labels = list(dict.fromkeys(groups[tables.column]))
    for label in tables.laws:
        if label not in labels:
            raise InputError(laws.where(label), "is unknown", remedy=nearest(label, labels))
    found: dict[str, Valuation] = {}
    for label in labels:
        if label not in tables.laws:
            raise InputError(laws.where(label), "is missing", remedy="add it to the file")
        found[label] = _law(laws.table(label))
        if found[label].size is not None:
            raise InputError(laws.where(label), "must be common to its group", remedy="give scalar parameters")
    return LawsByGroup(tables.column, found)


def _from_samples(tables: SamplesTable, at: TomlTable) -> Valuation:
    path = at.path.parent / tables.table
    with at.locate_errors():
        columns = read_csv(path)
    if tables.column not in columns:
        raise no_column(at, "column", path, tables.column, columns)
    with at.locate_errors():
        options: dict[str, Any] = {key: getattr(tables, key) for key in ("low", "high", "pieces", "heaps", "band")}
        law: Valuation = from_samples(columns[tables.column], **options, laws=1 if tables.laws is None else tables.laws)
        return law


def _law(at: TomlTable) -> Valuation:
    with at.locate_errors():
        return valuation_from_dict(at.content, at.header)
