"""The symbols of a derivation.

Each is named by the word of the legend, so that one table gives its letter.

Symbols without an index stand for one owner i; in sums over owners stand the indexed ones.
"""

from __future__ import annotations

import sympy as sp

EPSILON = sp.Symbol("epsilon", nonnegative=True)
LAMBDA = sp.Symbol("budget_price", positive=True)
MU = sp.Symbol("lower_multiplier", nonnegative=True)
GAMMA = sp.Symbol("upper_multiplier", nonnegative=True)
BUDGET = sp.Symbol("budget", positive=True)
ACCEPTANCE = sp.Symbol("acceptance", nonnegative=True)
SPEND = sp.Symbol("spend", nonnegative=True)
X = sp.Symbol("x", nonnegative=True)
"""x_i = ε_i/λ, the virtual cost at which owner i is bought, in currency."""

N = sp.Symbol("owners", integer=True, positive=True)
I = sp.Symbol("i", integer=True, positive=True)  # noqa: E741
# The label of an indexed symbol is a symbol too, so it must not be called as the one without an
# index.
EPSILONS = sp.IndexedBase("epsilons", nonnegative=True)
THETAS = sp.IndexedBase("thetas", nonnegative=True)
MUS = sp.IndexedBase("lower_multipliers", nonnegative=True)
GAMMAS = sp.IndexedBase("upper_multipliers", nonnegative=True)

F = sp.Function("cdf", real=True)
f = sp.Function("pdf", real=True)
J = sp.Function("virtual_cost", real=True)
COST_CURVE = sp.Function("cost_curve", real=True)
"""C(q) = q F⁻¹(q), expected payment as a function of acceptance."""
THRESHOLD = sp.Function("threshold", real=True)
"""θ*(x), the threshold as a function of x = ε/λ."""
LAGRANGIAN = sp.Symbol("lagrangian", real=True)
OWNER_LAGRANGIAN = sp.Function("owner_lagrangian", real=True)
QUANTILE = sp.Function("quantile", real=True)
CLIPPED_THRESHOLD = sp.Symbol("clipped_threshold", nonnegative=True)
"""The threshold rule with its cases at the ends of the support."""
PRICE = sp.Function("price", positive=True)
"""λ(B), the budget price as a function of the budget."""
VALUE = sp.Function("value", real=True)
"""V(B), the most privacy that a budget B buys."""

SPEND_CURVE = sp.Function("spend_curve", real=True)
"""θF(θ), spend as a function of the threshold."""
THRESHOLD_OF_SPEND = sp.Function("threshold_of_spend", real=True)
"""The inverse of `SPEND_CURVE`."""
INSIDE = sp.IndexedBase("inside", nonnegative=True)
"""1 for an owner in the set M, whose threshold is inside her support, else 0."""
AT_HIGH = sp.IndexedBase("at_high", nonnegative=True)
"""1 for an owner in the set H, whose threshold is the high end of her support, else 0."""
LEFT = sp.Symbol("left_over", positive=True)
"""R, what is left of the budget for the varying part of spend of the owners in M."""

REPORT = sp.Symbol("report", nonnegative=True)
OTHER = sp.Symbol("other_threshold", nonnegative=True)
"""t, a threshold beside θ."""
VARIABLE = sp.Symbol("variable", nonnegative=True)
"""s, a variable of integration."""
SHARE = sp.Symbol("share", nonnegative=True)
"""w, the probability of one of two thresholds."""
HEIGHT = sp.Symbol("height", nonnegative=True)
"""y, an affine function of acceptance, or the value of an atom, in a cone form."""
ALLOCATION = sp.Function("allocation", real=True)
"""Q(θ), the interim probability that an owner who reports θ sells."""
PAYMENT = sp.Function("expected_payment", real=True)
"""P(θ), the interim payment to an owner who reports θ."""
UTILITY = sp.Function("utility", real=True)
"""U(ψ, θ) = P(ψ) − θQ(ψ), the expected utility of report ψ at valuation θ."""
RENT = sp.Function("rent", real=True)
"""R(θ), the integral of Q from θ to the high end."""

TAKEN = frozenset(
    {
        symbol.name
        for symbol in (EPSILON, LAMBDA, MU, GAMMA, BUDGET, ACCEPTANCE, SPEND, X, N, I, LAGRANGIAN, CLIPPED_THRESHOLD)
    }
    | {symbol.name for symbol in (LEFT, REPORT, OTHER, VARIABLE, SHARE, HEIGHT)}
    | {"width"}
)
"""Names that a law's parameters cannot have beside these symbols."""
LETTERS = (
    ALLOCATION,
    AT_HIGH,
    COST_CURVE,
    EPSILONS,
    GAMMAS,
    INSIDE,
    MUS,
    OWNER_LAGRANGIAN,
    PAYMENT,
    PRICE,
    QUANTILE,
    RENT,
    SPEND_CURVE,
    THETAS,
    THRESHOLD,
    THRESHOLD_OF_SPEND,
    UTILITY,
    VALUE,
    F,
    J,
    f,
)
"""Functions and indexed symbols, which a file of expressions names."""


def over_owners(summand: sp.Expr) -> sp.Expr:
    """Sum over all owners i = 1 … n; a sum of nothing is 0."""
    return sp.Sum(summand, (I, 1, N)) if summand != 0 else sp.Integer(0)
