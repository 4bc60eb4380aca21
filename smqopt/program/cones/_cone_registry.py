"""Cone forms by law; laws without one are stated by pieces."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import cvxpy as cp

from smqopt.numeric import Floats
from smqopt.program.cones._by_pieces import cost_by_pieces
from smqopt.program.cones._form import ConeForm, Stating
from smqopt.program.cones._hull import hull_cost
from smqopt.program.cones._logistic import logistic_cost
from smqopt.program.cones._pareto import pareto_cost
from smqopt.program.cones._power import power_cost
from smqopt.program.cones._special import beta_or_kumaraswamy_cost, gamma_or_weibull_cost
from smqopt.program.cones._triangular import triangular_cost
from smqopt.program.cones._truncated_exponential import truncated_exponential_cost
from smqopt.program.cones._uniform import uniform_cost
from smqopt.valuation import (
    Beta,
    Discrete,
    Gamma,
    Kumaraswamy,
    Logistic,
    Pareto,
    PiecewiseUniform,
    PiecewiseUniformByOwner,
    PointMass,
    Power,
    PriceBounded,
    PriceFloored,
    PriceListed,
    Triangular,
    TruncatedExponential,
    Uniform,
    Valuation,
    Weibull,
)

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
    PriceListed: hull_cost,
    PriceBounded: hull_cost,
}
"""A law's class → the function that states the cost curves of those owners for whose parameters
there is an exact form."""


def cone_forms(law: Valuation, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State the cost curves of owners whose laws are of one family.

    Exact forms are used where there is one for every owner. Where there is not, all are stated by
    straight pieces: a solver stalls on power and exponential cones beside pieces, and needs many
    times as long as with pieces alone.
    """
    if isinstance(law, PriceFloored):  # the larger of C(q) and the chord to the floor, which is below C beyond it
        for form in cone_forms(law.law, q, unit):
            chord = cp.multiply(law.floor / unit[form.owners], q[form.owners])
            yield dataclasses.replace(form, cost=cp.maximum(form.cost, chord))
        return
    stating: Stating = CONE_FORMS.get(type(law), cost_by_pieces)
    forms = list(stating(law, q, unit))
    yield from forms if sum(form.owners.size for form in forms) == q.size else cost_by_pieces(law, q, unit)
