"""Cone forms by law; a law that has none, or is irregular, is stated by pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import cvxpy as cp

from smqopt.program.cones.by_pieces import cost_by_pieces
from smqopt.program.cones.form import ConeForm, Floats
from smqopt.program.cones.hull import hull_cost
from smqopt.program.cones.kumaraswamy import kumaraswamy_cost
from smqopt.program.cones.pareto import pareto_cost
from smqopt.program.cones.power import power_cost
from smqopt.program.cones.truncated_exponential import truncated_exponential_cost
from smqopt.program.cones.uniform import uniform_cost
from smqopt.valuation.base import Valuation
from smqopt.valuation.confined import Confined
from smqopt.valuation.discrete import Discrete
from smqopt.valuation.kumaraswamy import Kumaraswamy
from smqopt.valuation.listed import Listed
from smqopt.valuation.pareto import Pareto
from smqopt.valuation.piecewise_uniform import PiecewiseUniform
from smqopt.valuation.piecewise_uniform_by_owner import PiecewiseUniformByOwner
from smqopt.valuation.point_mass import PointMass
from smqopt.valuation.power import Power
from smqopt.valuation.regularity import Regular
from smqopt.valuation.truncated_exponential import TruncatedExponential
from smqopt.valuation.uniform import Uniform

__all__ = ["CONE_FORMS", "HULL_FORMS", "cone_forms", "has_exact_form"]

CONE_FORMS: Mapping[type[Valuation], Callable[[Any, cp.Expression, Floats], Iterator[ConeForm]]] = {
    Uniform: uniform_cost,
    Power: power_cost,
    TruncatedExponential: truncated_exponential_cost,
    Kumaraswamy: kumaraswamy_cost,
    Pareto: pareto_cost,
    PiecewiseUniform: hull_cost,
    PiecewiseUniformByOwner: hull_cost,
    Discrete: hull_cost,
    PointMass: hull_cost,
    Listed: hull_cost,
    Confined: hull_cost,
}
"""A law's class → the function that states its cost curve."""
HULL_FORMS = tuple(law for law, form in CONE_FORMS.items() if form is hull_cost)
"""Classes of laws whose form is that of the convex hull of the cost curve, regular or not."""


def has_exact_form(law: Valuation) -> bool:
    """Say whether the hull of a law's cost curve has an exact cone form, for some owners at least.

    Parameters
    ----------
    law
        Of one family (see `Valuation.parts`).
    """
    return isinstance(law, HULL_FORMS) or (type(law) in CONE_FORMS and isinstance(law.regularity(), Regular))


def cone_forms(law: Valuation, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State the cost curves of owners whose laws are of one family.

    Parameters
    ----------
    law
        The laws of m owners, or one law common to them.
    q
        Acceptances, an affine expression of shape (m,).
    unit
        Units of currency, shape (m,).
    """
    return (CONE_FORMS[type(law)] if has_exact_form(law) else cost_by_pieces)(law, q, unit)
