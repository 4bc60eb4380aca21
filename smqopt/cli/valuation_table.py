"""The `[valuation]` table of a model file: a law of valuations, or one that depends on the announced requirement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.cli.located import located
from smqopt.cli.owners import DatasetOwners, Owners
from smqopt.cli.toml_table import TomlTable
from smqopt.errors import InputError
from smqopt.valuation.base import Valuation
from smqopt.valuation.gaussian_copula import GaussianCopula
from smqopt.valuation.registry import valuation_from_dict

__all__ = ["ModelLaw", "law_of_owners", "read_valuation"]

ModelLaw = Valuation | GaussianCopula

_COPULA = "gaussian-copula"
_COPULA_KEYS = ("law", "valuation", "requirement", "correlation")


def read_valuation(table: TomlTable, owners: Owners) -> ModelLaw:
    """Read the table: any law that `valuation_from_dict` makes, or `law = "gaussian-copula"`, which is taken given each owner's ε.

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
    if table.content.get("law") != _COPULA or "score" in table:
        return _law(table)
    table.refuse_unknown(_COPULA_KEYS)
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
    with located(f"{table.path}: [{table.name}]"):
        return GaussianCopula(valuation, requirement, table.number("correlation"))


def law_of_owners(law: ModelLaw, epsilon: NDArray[np.float64]) -> Valuation:
    """Give the owners' law: for a copula that of θ_i given the announced ε_i, shape (n,) (errata E4)."""
    return law.given(epsilon) if isinstance(law, GaussianCopula) else law


def _law(table: TomlTable) -> Valuation:
    where = f"{table.path}: [{table.name}]"
    with located(where):
        return valuation_from_dict(table.content, where)
