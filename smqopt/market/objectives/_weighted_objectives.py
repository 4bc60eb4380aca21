"""A weighted sum of objectives."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.objectives._linear_form import LinearTerms
from smqopt.market.objectives._objective_record import Objective


@dataclass(frozen=True)
class WeightedObjectives(Objective):
    """The largest weighted sum of objectives; of one that is minimised, less of it.

    Parameters
    ----------
    terms
        Pairs of a weight > 0 and an objective that is linear in acceptance and spend, or a minimum
        of such: `PurchasedPrivacy`, `BoughtOwners`, `WorstGroup`, `LeastSpend`.

    Raises
    ------
    InputError
        If there is no term, a weight is not a finite number > 0, or an objective is of another
        kind.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), groups={"city": ["Oslo", "Oslo", "Bergen"]})
    >>> aim = smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.5, smq.WorstGroup("city"))])
    >>> smq.solve(market, 0.5, objective=aim).acceptance.round(3).tolist()
    [0.24, 0.399, 0.532]
    """

    kind: ClassVar[str] = "weighted-objectives"
    separable: ClassVar[bool] = False

    terms: Sequence[tuple[float, Objective]]

    def __post_init__(self) -> None:
        where = self.where("terms")
        if isinstance(self.terms, (str, Mapping)) or not isinstance(self.terms, Sequence) or not self.terms:
            raise InputError(where, "must be a list of pairs", remedy="give [(1.0, smq.PurchasedPrivacy()), …]")
        checked = []
        for k, term in enumerate(self.terms, 1):
            weight, aim = term if isinstance(term, Sequence) and len(term) == 2 else (None, None)
            number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
            if not number or not 0 < float(weight) < np.inf:
                rule = "must begin with a finite weight > 0"
                raise InputError(f"{where}, term {k}", rule, value=repr(weight)[:60], remedy="give, say, (1.0, aim)")
            if (
                not isinstance(aim, Objective)
                or type(aim).linear_form is Objective.linear_form
                or isinstance(aim, type(self))
            ):
                shown = getattr(aim, "kind", type(aim).__name__)
                rule = "must be linear in acceptance and spend, or a minimum of such"
                raise InputError(f"{where}, term {k}", rule, value=shown, remedy="use, say, smq.PurchasedPrivacy()")
            checked.append((float(weight), aim))
        object.__setattr__(self, "terms", tuple(checked))

    @property
    def words(self) -> str:
        """The objective in words."""
        parts = (f"{'−' if aim.smallest else ''}{weight:g} × ({aim.words})" for weight, aim in self.terms)
        return " + ".join(parts)

    def linear_form(self, market: Market) -> LinearTerms:
        """Return the weighted sum of the terms."""
        return functools.reduce(LinearTerms.plus, (aim.linear_form(market).times(weight) for weight, aim in self.terms))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as data, a table for each term."""
        return {"kind": self.kind, "terms": [aim.to_dict() | {"weight": weight} for weight, aim in self.terms]}
