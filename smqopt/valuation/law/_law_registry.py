"""Laws by name: what model files, certificates and the contract test go by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from smqopt.errors import InputError, nearest
from smqopt.valuation.families._beta import Beta
from smqopt.valuation.families._gamma import Gamma
from smqopt.valuation.families._kumaraswamy import Kumaraswamy
from smqopt.valuation.families._log_normal import LogNormal
from smqopt.valuation.families._logistic import Logistic
from smqopt.valuation.families._normal import Normal
from smqopt.valuation.families._pareto import Pareto
from smqopt.valuation.families._power import Power
from smqopt.valuation.families._triangular import Triangular
from smqopt.valuation.families._truncated_exponential import TruncatedExponential
from smqopt.valuation.families._uniform import Uniform
from smqopt.valuation.families._weibull import Weibull
from smqopt.valuation.law._base import Rescaled, Valuation
from smqopt.valuation.law._parameters import check_keys, checked_parameters, require
from smqopt.valuation.law._third_party import third_party_law
from smqopt.valuation.tabular._discrete import Discrete
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform, histograms_from_dict
from smqopt.valuation.tabular._point_mass import PointMass

Table = Mapping[str, Any]

_EXAMPLES: tuple[tuple[type[Valuation], Mapping[str, Any]], ...] = (
    (Uniform, {"low": 0.0, "high": 1.0}),
    (Power, {"k": 2.0, "low": 0.0, "high": 1.0}),
    (TruncatedExponential, {"rate": 2.0, "low": 0.0, "high": 1.0}),
    (Triangular, {"low": 0.0, "mode": 0.5, "high": 1.0}),
    (Beta, {"a": 2.0, "b": 3.0, "low": 0.0, "high": 1.0}),
    (Kumaraswamy, {"a": 2.0, "b": 3.0, "low": 0.0, "high": 1.0}),
    (Gamma, {"shape": 2.0, "scale": 1.0, "low": 0.0, "high": 5.0}),
    (Weibull, {"shape": 2.0, "scale": 1.0, "low": 0.0, "high": 3.0}),
    (LogNormal, {"mu": 0.0, "sigma": 0.5, "low": 0.25, "high": 3.0}),
    (Normal, {"mean": 0.5, "sd": 0.25, "low": 0.0, "high": 1.0}),
    (Logistic, {"mean": 1.0, "scale": 0.25, "low": 0.0, "high": 2.0}),
    (Pareto, {"a": 1.0, "low": 1.0, "high": 4.0}),
    (PiecewiseUniform, {"edges": [0.0, 1.0, 2.0], "masses": [0.75, 0.25]}),
    (PointMass, {"value": 1.0}),
    (Discrete, {"values": [1.0, 2.0, 5.0], "masses": [0.25, 0.5, 0.25]}),
)
_CLASSES = {cls.name: cls for cls, _ in _EXAMPLES}

LAWS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    cls.name: (cls.__module__, cls.__name__, example) for cls, example in _EXAMPLES
}
"""Name of a law → its module, its class, and the parameters of an example."""

MOST_OWNERS = 2**31
"""Numbers of owners beyond this are taken for mistakes."""


def valuation_from_dict(table: Table, where: str = "valuation") -> Valuation:
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
        return _read_from_cdf(table, where)
    name = table.get("law")
    if not isinstance(name, str):
        raise InputError(where, "must name a law", value=name, remedy='give law = "uniform" or cdf = "..."')
    if name in READERS:
        return READERS[name](table, where)
    if name not in LAWS:
        return third_party_law(table, name, (*LAWS, *READERS), where)
    example = LAWS[name][2]
    given = {key: value for key, value in table.items() if key != "law"}
    for key in given:
        if key not in example:
            raise InputError(
                f"{where}: key {key!r}", f"is not a parameter of the {name} law", remedy=nearest(key, example)
            )
    try:
        return _CLASSES[name](**given)
    except TypeError as error:
        missing = [key for key in example if key not in given]
        raise InputError(where, f"lacks a parameter of the {name} law", remedy=f"give {', '.join(missing)}") from error


def _read_from_cdf(table: Table, where: str) -> Valuation:
    from smqopt.valuation.from_formula._from_cdf import from_cdf  # noqa: PLC0415 (loads sympy)

    for key in ("low", "high"):
        if key not in table:
            raise InputError(
                f"{where}: key {key!r}", "is missing: a cdf needs both ends of its support", remedy=f"give {key}"
            )
    return from_cdf(**table)


def _read_rescaled(table: Table, where: str) -> Valuation:
    check_keys(table, ("factor", "valuation"), "a rescaled law", where)
    factor = checked_parameters(where, factor=table["factor"])["factor"]
    good = np.ndim(factor) == 0 and np.asarray(factor) > 0
    require(where, "factor", factor, good, "must be positive", "use factor > 0")
    return Rescaled(valuation_from_dict(table["valuation"], where), float(factor))


def _read_gaussian_copula(table: Table, where: str) -> Valuation:
    from smqopt.valuation.copula._conditional import CopulaConditional  # noqa: PLC0415 (loads flint)

    check_keys(table, ("valuation", "correlation", "score"), "a law given ε", where)
    return CopulaConditional(valuation_from_dict(table["valuation"], where), table["correlation"], table["score"])


def _read_truncated(table: Table, where: str) -> Valuation:
    from smqopt.valuation.composition._truncated import truncated_from_dict  # noqa: PLC0415 (loads sympy)

    return truncated_from_dict(table, where, valuation_from_dict)


def _read_mixture(table: Table, where: str) -> Valuation:
    from smqopt.valuation.composition._mixture import mixture_from_dict  # noqa: PLC0415 (loads sympy)

    return mixture_from_dict(table, where, valuation_from_dict)


def _read_from_samples(table: Table, where: str) -> Valuation:
    from smqopt.valuation.estimation._sample_law import sample_law_from_dict  # noqa: PLC0415 (rarely asked for)

    return sample_law_from_dict(table, where)


def _read_scipy(table: Table, where: str) -> Valuation:
    from smqopt.valuation.scipy_laws._from_scipy import scipy_law_from_dict  # noqa: PLC0415 (loads sympy)

    return scipy_law_from_dict(table, where)


def _read_scenarios(table: Table, where: str) -> Valuation:
    from smqopt.valuation.doubt._scenarios import scenarios_from_dict  # noqa: PLC0415 (rarely asked for)

    return scenarios_from_dict(table, where, valuation_from_dict)


def _read_band(table: Table, where: str) -> Valuation:
    from smqopt.valuation.doubt._band import band_from_dict  # noqa: PLC0415 (rarely asked for)

    return band_from_dict(table, where)


def _read_by_owner(table: Table, where: str) -> Valuation:
    from smqopt.valuation.composition._by_owner import ByOwner  # noqa: PLC0415 (rarely asked for)

    check_keys(table, ("parts",), "a law by owner", where)
    parts = [_read_part(part, where) for part in table["parts"]] if isinstance(table["parts"], list) else []
    return ByOwner.from_parts(parts, where)


def _read_part(part: object, where: str) -> tuple[list[int], Valuation]:
    """Read one part of a law by owner: whose it is, and which law."""
    if (
        not isinstance(part, Mapping)
        or not isinstance(part.get("valuation"), Mapping)
        or not isinstance(part.get("owners"), list)
    ):
        raise InputError(f"{where}: a part", "must have 'owners' and 'valuation'", remedy="give both")
    check_keys(part, ("owners", "valuation"), "a part", f"{where}: a part")
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


READERS: Mapping[str, Callable[[Table, str], Valuation]] = {
    "truncated": _read_truncated,
    "mixture": _read_mixture,
    "piecewise-uniform-by-owner": histograms_from_dict,
    "from-samples": _read_from_samples,
    "scipy": _read_scipy,
    "by-owner": _read_by_owner,
    "rescaled": _read_rescaled,
    "gaussian-copula": _read_gaussian_copula,
    "scenarios": _read_scenarios,
    "band": _read_band,
}
"""Name of a law that has more than numbers to it → what reads its table."""
