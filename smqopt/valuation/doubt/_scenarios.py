"""Scenarios: one of several laws is the true one of all owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError, check_kind, locate_errors
from smqopt.numeric import Floats
from smqopt.valuation.doubt._in_doubt import InDoubt
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._parameters import check_keys, checked_parameters

_FEWEST, _MOST = 2, 64
"""Each scenario is a row of the budget, and another law for each owner."""


@final
class Scenarios(InDoubt):
    """Laws in doubt: one of them holds for all owners, and which one is not known.

    Where a market takes a law it takes scenarios. The budget and every constraint then hold under
    each of them, for one offer to each owner. The objective is that of the worst scenario, or where
    `weights` are given their weighted mean.

    Scenarios are joint: one law of the list holds for all owners. Laws that differ by owner are
    given as `ByOwner`, or with arrays of parameters, in each scenario.

    Parameters
    ----------
    laws
        2 to 64 laws, all common or all for as many owners.
    weights
        What each counts in the objective, > 0; they are divided by their sum. By default the worst
        scenario alone counts.

    Raises
    ------
    InputError
        If there are fewer than 2 or more than 64 laws, one is no law or in doubt itself, they are
        of different numbers of owners, or a weight is not a finite number > 0.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.4, 1.0], smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 2)]))
    >>> certificate = smq.verify(smq.solve(market, 0.5))
    >>> certificate.valid, round(certificate.lower_bound, 4)
    (True, 0.3833)
    """

    name = "scenarios"
    joint: ClassVar[bool] = True
    """One of the laws is that of all owners: it is not the law of one of them."""

    def __init__(self, laws: Sequence[Valuation], weights: ArrayLike | None = None) -> None:
        check_kind(laws, Sequence, "scenarios: argument 'laws'", "a list of laws", "give [F1, F2]")
        if not _FEWEST <= len(laws) <= _MOST:
            raise InputError(
                "scenarios: argument 'laws'",
                f"must hold {_FEWEST} to {_MOST} laws",
                value=len(laws),
                remedy="give each scenario its law",
            )
        for k, law in enumerate(laws, 1):
            where = f"scenarios: law {k}"
            check_kind(law, Valuation, where, "a law of valuations")
            if isinstance(law, InDoubt):
                raise InputError(where, "must have a cdf", value=law.name, remedy="list its `laws` in its place")
        sizes = {law.size for law in laws} - {None}
        if len(sizes) > 1:
            raise InputError(
                "scenarios: argument 'laws'",
                "must be common, or for the same number of owners",
                value=sorted(map(str, sizes)),
                remedy="give each scenario one law an owner",
            )
        self.laws, self.weights = tuple(laws), None
        if weights is not None:
            self.weights = _checked_weights(weights, len(laws))
        self._set_ends()

    def _take(self, index: Index) -> Scenarios:
        return Scenarios([law.take(index) for law in self.laws], self.weights)

    def _rescale(self, factor: float) -> Scenarios:
        return Scenarios([law.rescale(factor) for law in self.laws], self.weights)

    def _to_dict(self) -> dict[str, Any]:
        weights = {} if self.weights is None else {"weights": self.weights}
        return {"law": self.name, "laws": [law.to_dict() for law in self.laws], **weights}

    def __repr__(self) -> str:
        of = "" if self.weights is None else f", weights={self.weights.tolist()}"
        return f"Scenarios([{', '.join(map(repr, self.laws))}]{of})"


def _checked_weights(weights: ArrayLike, count: int) -> Floats:
    where = "scenarios: argument 'weights'"
    given = np.atleast_1d(checked_parameters("scenarios", weights=weights)["weights"])
    if given.size != count:
        raise InputError(where, f"must hold {count} numbers, one a law", value=given.size, remedy="give one a law")
    if not np.all(given > 0):
        bad = int(np.flatnonzero(~(given > 0))[0])
        raise InputError(
            f"{where}, entry {bad + 1}",
            "must be > 0",
            value=float(given[bad]),
            remedy="give a small weight to a scenario that only the budget must bear",
        )
    shares: Floats = given / given.sum()
    shares.flags.writeable = False
    return shares


def scenarios_from_dict(table: Mapping[str, Any], where: str, read: Any) -> Scenarios:
    """Make the law that `Scenarios.to_dict` described.

    Raises
    ------
    InputError
        If a key is missing, unknown or bad.
    """
    check_keys(table, ("laws", *(["weights"] if "weights" in table else [])), "scenarios", where)
    if not isinstance(table["laws"], list):
        raise InputError(f"{where}: key 'laws'", "must be an array of laws", remedy='give [{law = "uniform", …}, …]')
    laws = []
    for k, one in enumerate(table["laws"], 1):
        with locate_errors(f"{where}: key 'laws', law {k}"):
            laws.append(read(one, f"{where}: key 'laws', law {k}"))
    return Scenarios(laws, table.get("weights"))
