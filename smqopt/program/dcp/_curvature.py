"""Why cvxpy cannot prove a constraint convex, or an objective concave.

Which term, why, and what to write instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply
from cvxpy.atoms.quad_form import QuadForm

from smqopt.errors import InputError
from smqopt.program.dcp._hints import instead_of
from smqopt.program.dcp._wording import words_of

_TURN = "turn the inequality round, or bound what the term is made of: acceptance from below or above, spend from above"
_PRICE = "spend / acceptance is the price θ: a price of at most p is spend <= p * acceptance, and a floor on a price is a floor on acceptance, q >= F(p)"
_PAYMENT = "the expected payment θ F(θ) is `spend` itself, and F(θ) is `acceptance`: write one of them, not a product"


def require_convex(constraint: object) -> None:
    """Refuse a cvxpy constraint that could not be proved convex.

    The error names the term, why it is not allowed where it stands, and what to write instead. True
    and False can stand for one, for they are what cvxpy makes of a comparison of constants.
    """
    where = "program: an entry of program.constraints"
    if isinstance(constraint, cp.Expression):
        why = f"is the expression {_shown(constraint)}, which compares nothing"
        raise InputError(where, why, remedy="write a comparison: an expression <= another, >= another, or == another")
    if not isinstance(constraint, (cp.Constraint, bool, np.bool_)):
        value = f"{type(constraint).__name__} {constraint!r}"[:80]
        remedy = "compare program.acceptance or program.spend themselves; their .value are numbers"
        raise InputError(where, "is no cvxpy constraint", value=value, remedy=remedy)
    if not isinstance(constraint, cp.Constraint):
        return
    where = f"program: constraint {words_of(constraint)!r}"
    for variable in constraint.variables():
        if variable.attributes["boolean"] or variable.attributes["integer"]:  # no multipliers, and so no bound
            raise InputError(
                where,
                f"has the variable {variable.name()!r}, which may only be whole, so that the program is not convex",
                remedy="let acceptance speak for itself, as it is a probability; for prices from a list give PriceMenu",
            )
    if constraint.is_dcp():
        return
    rule = "could not be proved convex by cvxpy's rules"
    _refuse_unknown(where, rule, constraint.args)
    if isinstance(constraint, cp.constraints.Equality):
        term = next(side for side in constraint.args if not side.is_affine())
        why = f"the term {_shown(term)} is {_curvature(term)}, and in an equation all must be affine"
        raise InputError(where, f"{rule}: {why}", remedy="write an inequality, with the convex side ≤ the concave side")
    if isinstance(constraint, cp.constraints.Inequality):
        small, large = constraint.args
        term, needed = (small, "convex") if not small.is_convex() else (large, "concave")
        why = f"the term {_shown(term)} is {_curvature(term)}, and stands where a {needed} one must, for a convex side must be ≤ a concave one"
        raise InputError(where, f"{rule}: {why}", remedy=instead_of(term) or _TURN)
    raise InputError(where, rule, remedy="write a convex expression ≤ a concave one")


def require_concave(objective: cp.Maximize | cp.Minimize) -> None:
    """Refuse a cvxpy objective that could not be proved concave.

    Or convex where it is minimised.
    """
    if objective.is_dcp():
        return
    where, term = "program: objective", objective.args[0]
    needed, sense, other = "concave", "maximised", "cp.sqrt, cp.log1p or cp.min"
    if isinstance(objective, cp.Minimize):
        needed, sense, other = "convex", "minimised", "cp.square, cp.inv_pos or cp.max"
    rule = f"could not be proved {needed} by cvxpy's rules"
    _refuse_unknown(where, rule, [term])
    why = f"the term {_shown(term)} is {_curvature(term)}, and what is {sense} must be {needed}"
    raise InputError(where, f"{rule}: {why}", remedy=f"use a {needed} function of acceptance, such as {other}")


def _refuse_unknown(where: str, rule: str, terms: Sequence[cp.Expression]) -> None:
    term = next((one for one in map(_first_unknown, terms) if one is not None), None)
    if term is not None:
        why, remedy = _of_unknown(term)
        raise InputError(where, f"{rule}: the term {_shown(term)} {why}", remedy=remedy)


def _first_unknown(expression: cp.Expression) -> cp.Expression | None:
    """Find the innermost term of unknown curvature whose parts are all known."""
    if expression.is_convex() or expression.is_concave():
        return None
    inside = (_first_unknown(argument) for argument in expression.args)
    return next((one for one in inside if one is not None), expression)


def _of_unknown(term: cp.Expression) -> tuple[str, str]:
    """Say why a term has no known curvature, and what to write instead."""
    varying = [argument for argument in term.args if not argument.is_constant()]
    names = {variable.name() for variable in term.variables()}
    if isinstance(term, DivExpression):
        return "divides by what varies", _PRICE
    if isinstance(term, (multiply, MulExpression)) and len(varying) > 1:
        remedy = _PAYMENT if "acceptance" in names else "bound each factor, or the sum"
        return "is a product of two quantities that both vary", remedy
    if isinstance(term, QuadForm):
        return (
            "is a quadratic form of a matrix with eigenvalues of both signs",
            "use a matrix without negative eigenvalues, on the smaller side of ≤",
        )
    return (
        "mixes convex and concave parts",
        "split it: convex parts on the smaller side of ≤, concave parts on the larger; and state payments by `spend`, not by θ F(θ)",
    )


def _curvature(term: cp.Expression) -> str:
    return str(term.curvature).lower()


def _shown(term: cp.Expression) -> str:
    text = " ".join(str(term).split())
    return f"{text!r}" if len(text) <= 60 else f"{text[:59]!r}…"
