"""Cone forms by law; laws that have none, or not for all parameters given, are stated by pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import cvxpy as cp

from smqopt.program.cones.by_pieces import cost_by_pieces
from smqopt.program.cones.form import ConeForm, Floats, Stating
from smqopt.program.cones.hull import hull_cost
from smqopt.program.cones.logistic import logistic_cost
from smqopt.program.cones.pareto import pareto_cost
from smqopt.program.cones.power import power_cost
from smqopt.program.cones.special import beta_or_kumaraswamy_cost, gamma_or_weibull_cost
from smqopt.program.cones.triangular import triangular_cost
from smqopt.program.cones.truncated_exponential import truncated_exponential_cost
from smqopt.program.cones.uniform import uniform_cost
from smqopt.valuation.base import Valuation
from smqopt.valuation.beta import Beta
from smqopt.valuation.confined import Confined
from smqopt.valuation.discrete import Discrete
from smqopt.valuation.gamma import Gamma
from smqopt.valuation.kumaraswamy import Kumaraswamy
from smqopt.valuation.listed import Listed
from smqopt.valuation.logistic import Logistic
from smqopt.valuation.pareto import Pareto
from smqopt.valuation.piecewise_uniform import PiecewiseUniform
from smqopt.valuation.piecewise_uniform_by_owner import PiecewiseUniformByOwner
from smqopt.valuation.point_mass import PointMass
from smqopt.valuation.power import Power
from smqopt.valuation.triangular import Triangular
from smqopt.valuation.truncated_exponential import TruncatedExponential
from smqopt.valuation.uniform import Uniform
from smqopt.valuation.weibull import Weibull

__all__ = ["CONE_FORMS", "HULL_FORMS", "cone_forms"]

CONE_FORMS: Mapping[type[Valuation], Stating] = {
    Uniform: uniform_cost,
    Power: power_cost,
    TruncatedExponential: truncated_exponential_cost,
    Kumaraswamy: beta_or_kumaraswamy_cost,
    Beta: beta_or_kumaraswamy_cost,
    Gamma: gamma_or_weibull_cost,
    Weibull: gamma_or_weibull_cost,
    Pareto: pareto_cost,
    Triangular: triangular_cost,
    Logistic: logistic_cost,
    PiecewiseUniform: hull_cost,
    PiecewiseUniformByOwner: hull_cost,
    Discrete: hull_cost,
    PointMass: hull_cost,
    Listed: hull_cost,
    Confined: hull_cost,
}
"""A law's class → the function that states the cost curves of those owners for whose parameters there is an exact form."""
HULL_FORMS = tuple(law for law, form in CONE_FORMS.items() if form is hull_cost)
"""Classes of laws whose form is that of the convex hull of the cost curve, regular or not."""


def cone_forms(law: Valuation, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State the cost curves of owners whose laws are of one family.

    Exact forms are used where there is one for every owner. Where there is not, all are stated by straight pieces: a solver stalls on power and
    exponential cones beside pieces, and needs many times as long as with pieces alone.

    Parameters
    ----------
    law
        The laws of m owners, or one law common to them.
    q
        Acceptances, an affine expression of shape (m,).
    unit
        Units of currency, shape (m,).
    """
    stating: Stating = CONE_FORMS.get(type(law), cost_by_pieces)
    forms = list(stating(law, q, unit))
    return iter(forms) if sum(form.owners.size for form in forms) == q.size else cost_by_pieces(law, q, unit)
