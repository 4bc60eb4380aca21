"""Laws by name: what model files, certificates and the contract test go by."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from smqopt.errors import InputError, nearest
from smqopt.valuation.law._base import Rescaled, Valuation
from smqopt.valuation.law._parameters import checked_parameters, require

LAWS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "uniform": ("smqopt.valuation.families._uniform", "Uniform", {"low": 0.0, "high": 1.0}),
    "power": ("smqopt.valuation.families._power", "Power", {"k": 2.0, "low": 0.0, "high": 1.0}),
    "truncated-exponential": (
        "smqopt.valuation.families._truncated_exponential",
        "TruncatedExponential",
        {"rate": 2.0, "low": 0.0, "high": 1.0},
    ),
    "triangular": ("smqopt.valuation.families._triangular", "Triangular", {"low": 0.0, "mode": 0.5, "high": 1.0}),
    "beta": ("smqopt.valuation.families._beta", "Beta", {"a": 2.0, "b": 3.0, "low": 0.0, "high": 1.0}),
    "kumaraswamy": (
        "smqopt.valuation.families._kumaraswamy",
        "Kumaraswamy",
        {"a": 2.0, "b": 3.0, "low": 0.0, "high": 1.0},
    ),
    "gamma": ("smqopt.valuation.families._gamma", "Gamma", {"shape": 2.0, "scale": 1.0, "low": 0.0, "high": 5.0}),
    "weibull": ("smqopt.valuation.families._weibull", "Weibull", {"shape": 2.0, "scale": 1.0, "low": 0.0, "high": 3.0}),
    "log-normal": (
        "smqopt.valuation.families._log_normal",
        "LogNormal",
        {"mu": 0.0, "sigma": 0.5, "low": 0.25, "high": 3.0},
    ),
    "normal": ("smqopt.valuation.families._normal", "Normal", {"mean": 0.5, "sd": 0.25, "low": 0.0, "high": 1.0}),
    "logistic": (
        "smqopt.valuation.families._logistic",
        "Logistic",
        {"mean": 1.0, "scale": 0.25, "low": 0.0, "high": 2.0},
    ),
    "pareto": ("smqopt.valuation.families._pareto", "Pareto", {"a": 1.0, "low": 1.0, "high": 4.0}),
    "piecewise-uniform": (
        "smqopt.valuation.tabular._piecewise_uniform",
        "PiecewiseUniform",
        {"edges": [0.0, 1.0, 2.0], "masses": [0.75, 0.25]},
    ),
    "point-mass": ("smqopt.valuation.tabular._point_mass", "PointMass", {"value": 1.0}),
    "discrete": (
        "smqopt.valuation.tabular._discrete",
        "Discrete",
        {"values": [1.0, 2.0, 5.0], "masses": [0.25, 0.5, 0.25]},
    ),
}
"""Name of a law → its module, its class, and the parameters of an example."""


READERS: Mapping[str, tuple[str, str]] = {
    "truncated": ("smqopt.valuation.composition._truncated", "truncated_from_dict"),
    "mixture": ("smqopt.valuation.composition._mixture", "mixture_from_dict"),
    "piecewise-uniform-by-owner": ("smqopt.valuation.tabular._piecewise_uniform", "histograms_from_dict"),
    "from-samples": ("smqopt.valuation.estimation._from_samples", "sample_law_from_dict"),
    "scipy": ("smqopt.valuation.scipy_laws._from_scipy", "scipy_law_from_dict"),
}
"""Name of a law that has more than numbers to it → the module and the function that read its table.
"""


MOST_OWNERS = 2**31
"""Numbers of owners beyond this are taken for mistakes."""


def law_names() -> tuple[str, ...]:
    """Give the names of the laws, in the registry's order."""
    return tuple(LAWS)


def valuation_from_dict(table: Mapping[str, Any], where: str = "valuation") -> Valuation:
    """Make a law from data, as `Valuation.to_dict` gives it and model files write it.

    Parameters
    ----------
    table
        Either `{"law": name, **parameters}`, or `{"cdf": formula, "low": …, "high": …, **named
        parameters}`.
    where
        What to call the table in an error.

    Raises
    ------
    InputError
        If the law or a key is unknown, a key is missing, or a parameter is bad.

    Examples
    --------
    >>> valuation_from_dict({"law": "uniform", "low": 0, "high": 2})
    Uniform(low=0.0, high=2.0)
    """
    if not isinstance(table, Mapping):
        raise InputError(
            where,
            "must be a table",
            value=type(table).__name__,
            remedy='give, say, {"law": "uniform", "low": 0, "high": 1}',
        )
    if "cdf" in table:
        if "law" in table:
            raise InputError(where, "has both 'law' and 'cdf'", remedy="keep one of them")
        return _from_cdf(table, where)
    name = table.get("law")
    if name == "by-owner":
        return _by_owner(table, where)
    if name == "rescaled":
        return _rescaled(table, where)
    if name == "gaussian-copula":
        return _gaussian_copula(table, where)
    if not isinstance(name, str):
        raise InputError(where, "must name a law", value=name, remedy='give law = "uniform" or cdf = "..."')
    if name in READERS:
        module, reader = READERS[name]
        law = getattr(importlib.import_module(module), reader)(table, where)
        assert isinstance(law, Valuation)  # noqa: S101
        return law
    if name not in LAWS:
        third_party = importlib.import_module("smqopt.valuation.law._third_party")
        law = third_party.third_party_law(table, name, (*LAWS, *READERS, "by-owner"), where)
        assert isinstance(law, Valuation)  # noqa: S101
        return law
    module, cls, example = LAWS[name]
    given = {key: value for key, value in table.items() if key != "law"}
    for key in given:
        if key not in example:
            raise InputError(
                f"{where}: key {key!r}", f"is not a parameter of the {name} law", remedy=nearest(key, example)
            )
    try:
        law = getattr(importlib.import_module(module), cls)(**given)
    except TypeError as error:
        missing = [key for key in example if key not in given]
        raise InputError(where, f"lacks a parameter of the {name} law", remedy=f"give {', '.join(missing)}") from error
    assert isinstance(law, Valuation)  # noqa: S101
    return law


def _from_cdf(table: Mapping[str, Any], where: str) -> Valuation:
    reader = importlib.import_module("smqopt.valuation.from_formula._from_cdf")
    given = {key: value for key, value in table.items() if key != "cdf"}
    for key in ("low", "high"):
        if key not in given:
            raise InputError(
                f"{where}: key {key!r}", "is missing: a cdf needs both ends of its support", remedy=f"give {key}"
            )
    law = reader.from_cdf(table["cdf"], **given)
    assert isinstance(law, Valuation)  # noqa: S101
    return law


def refuse_unknown_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Raise an `InputError` at the first key of a table that is none of the known ones."""
    for key in table:
        if key not in known:
            raise InputError(f"{where}: key {key!r}", "is not known here", remedy=nearest(str(key), known))


def _rescaled(table: Mapping[str, Any], where: str) -> Valuation:
    refuse_unknown_keys(table, ("law", "factor", "valuation"), where)
    for key in ("factor", "valuation"):
        if key not in table:
            raise InputError(f"{where}: key {key!r}", "is missing from a rescaled law", remedy=f"give {key}")
    factor = checked_parameters(where, factor=table["factor"])["factor"]
    require(
        where, "factor", factor, np.ndim(factor) == 0 and np.asarray(factor) > 0, "must be positive", "use factor > 0"
    )
    return Rescaled(valuation_from_dict(table["valuation"], where), float(factor))


def _gaussian_copula(table: Mapping[str, Any], where: str) -> Valuation:
    refuse_unknown_keys(table, ("law", "valuation", "correlation", "score"), where)
    for key in ("valuation", "correlation", "score"):
        if key not in table:
            raise InputError(f"{where}: key {key!r}", "is missing from a law given ε", remedy=f"give {key}")
    conditional = importlib.import_module("smqopt.valuation.copula._conditional").CopulaConditional
    law = conditional(valuation_from_dict(table["valuation"], where), table["correlation"], table["score"])
    assert isinstance(law, Valuation)  # noqa: S101
    return law


def _by_owner(table: Mapping[str, Any], where: str) -> Valuation:
    refuse_unknown_keys(table, ("law", "parts"), where)
    by_owner = importlib.import_module("smqopt.valuation.composition._by_owner")
    parts = [_part(part, where) for part in table["parts"]] if isinstance(table.get("parts"), list) else []
    law = by_owner.ByOwner.from_parts(parts, where)
    assert isinstance(law, Valuation)  # noqa: S101
    return law


def _part(part: object, where: str) -> tuple[list[int], Valuation]:
    """Read one part of a law by owner: whose it is, and which law."""
    if (
        not isinstance(part, Mapping)
        or not isinstance(part.get("valuation"), Mapping)
        or not isinstance(part.get("owners"), list)
    ):
        raise InputError(f"{where}: a part", "must have 'owners' and 'valuation'", remedy="give both")
    refuse_unknown_keys(part, ("owners", "valuation"), f"{where}: a part")
    owners = part["owners"]
    if not all(
        isinstance(owner, int) and not isinstance(owner, bool) and 0 <= owner <= MOST_OWNERS for owner in owners
    ):
        raise InputError(
            f"{where}: key 'owners'",
            f"must hold whole numbers from 0 to {MOST_OWNERS}",
            remedy="number the owners from 0",
        )
    return owners, valuation_from_dict(part["valuation"], where)
