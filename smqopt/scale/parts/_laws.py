"""The laws of a market in parts: common, by group, or by columns."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.market import LawsByGroup
from smqopt.numeric import Floats
from smqopt.valuation import LAWS, Valuation, valuation_from_dict


@dataclass(frozen=True, eq=False)
class LawByColumns:
    """One family of laws whose parameters stand in columns of numbers.

    Parameters
    ----------
    law
        Its name in model files, say "truncated-exponential".
    **parameters
        Each a number that holds for all owners, or the name of a column.

    Raises
    ------
    InputError
        If the law or a parameter is unknown or missing, or no parameter is a column.

    Examples
    --------
    >>> LawByColumns("uniform", low=0.0, high="most").columns
    {'high': 'most'}
    """

    law: str
    parameters: Mapping[str, float | str]

    def __init__(self, law: str, **parameters: float | str) -> None:
        where = "law by columns"
        if law not in LAWS:
            raise InputError(f"{where}: argument 'law'", "is unknown", value=law, remedy=nearest(str(law), LAWS))
        known = LAWS[law][2]
        for name in parameters:
            if name not in known:
                raise InputError(f"{where}: {name!r}", f"is not a parameter of {law}", remedy=nearest(name, known))
        missing = [name for name in known if name not in parameters]
        if missing:
            raise InputError(where, f"lacks {', '.join(missing)} of {law}", remedy="give a number or a column")
        for name, value in parameters.items():
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float | str)
                or (not isinstance(value, str) and math.isnan(value))
            ):
                rule = "must be a number or the name of a column"
                raise InputError(
                    f"{where}: {name!r}", rule, value=type(value).__name__, remedy='give, say, 1.0 or "most"'
                )
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "parameters", dict(parameters))
        if not self.columns:
            raise InputError(where, "has no parameter in a column", remedy="give the law itself, say Uniform(0, 1)")

    @property
    def columns(self) -> dict[str, str]:
        """Which parameters stand in which columns."""
        return {name: value for name, value in self.parameters.items() if isinstance(value, str)}

    def of(self, columns: Mapping[str, Floats]) -> Valuation:
        """Return the law of some owners, from their columns of shape (n,) each."""
        given = {k: columns[v] if isinstance(v, str) else v for k, v in self.parameters.items()}
        return valuation_from_dict({"law": self.law, **given})


AnyLaw = Valuation | LawsByGroup | LawByColumns
Kind = tuple[int, tuple[str, ...]]
"""Which law of the market, and which labels."""


@dataclass(frozen=True, eq=False)
class LawBlock:
    """Owners of one law within a row group."""

    law: Valuation
    key: int
    """Which law of the market: its place in `laws_of`; 0 where parameters stand in columns."""
    rows: slice | NDArray[np.intp]
    epsilon: Floats
    stratum: tuple[str, ...] = ()
    """The labels that side constraints name; none where there are no such."""

    @property
    def kind(self) -> Kind:
        """The key and the stratum: whose requirements are counted together."""
        return self.key, self.stratum


def check_law(valuation: object) -> AnyLaw:
    """Refuse what is no law of a market in parts."""
    where = "parquet market: argument 'valuation'"
    if isinstance(valuation, Valuation):
        common: Mapping[str, Valuation] = {"": valuation}
    elif isinstance(valuation, LawsByGroup):
        common = valuation.laws
    elif isinstance(valuation, LawByColumns):
        return valuation
    else:
        raise InputError(
            where,
            "must be a law, LawsByGroup or LawByColumns",
            value=type(valuation).__name__,
            remedy="give, say, Uniform(0, 1)",
        )
    for label, law in common.items():
        if law.size is not None:
            raise InputError(
                where if not label else f"{where}, group {label!r}",
                "must have scalar parameters",
                value=f"{law.size} values",
                remedy='name columns: LawByColumns("uniform", low=0.0, high="most")',
            )
    return valuation


def law_to_dict(valuation: AnyLaw) -> dict[str, Any]:
    """Return the law as data."""
    if isinstance(valuation, LawByColumns):
        return {"by_columns": {"law": valuation.law, **valuation.parameters}}
    if isinstance(valuation, LawsByGroup):
        return {"by_group": valuation.column, "laws": {k: v.to_dict() for k, v in sorted(valuation.laws.items())}}
    return valuation.to_dict()


def law_from_dict(content: Mapping[str, Any]) -> AnyLaw:
    """Read what `law_to_dict` wrote."""
    if "by_columns" in content:
        return LawByColumns(**content["by_columns"])
    if "by_group" in content:
        laws = {label: valuation_from_dict(law) for label, law in content["laws"].items()}
        return LawsByGroup(content["by_group"], laws)
    return valuation_from_dict(content)


@functools.lru_cache(maxsize=16)
def law_from_text(text: str) -> AnyLaw:
    """Read a law from JSON, once a process, so that what is derived of it is kept."""
    return law_from_dict(json.loads(text))


def laws_of(valuation: AnyLaw) -> list[Valuation]:
    """Return the common laws of a market; none where parameters stand in columns."""
    if isinstance(valuation, LawByColumns):
        return []
    return [valuation.laws[k] for k in sorted(valuation.laws)] if isinstance(valuation, LawsByGroup) else [valuation]
