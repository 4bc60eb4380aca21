"""The program as cvxpy states it, with the epigraph of the cost curve."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from smqopt.algebra import (
    ACCEPTANCE,
    COST_CURVE,
    DENSE,
    HEIGHT,
    NOT_FALLING,
    QUANTILE,
    SPEND,
    THETA,
    Equation,
    F,
    J,
    Relation,
    SymbolRange,
    Verdict,
    f,
    follows,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._cone_curve import Cone, ConeCurve
from smqopt.derivation.statement._step import Step
from smqopt.derivation.steps._regularity_step import not_falling

_ATOMS = {
    Cone.SECOND_ORDER: "The square of q is a convex atom: t ≥ q² is the second-order cone ‖(2q, t − 1)‖ ≤ t + 1.",
    Cone.POWER: "The power of q with an exponent of at least 1 is a convex atom for q ≥ 0: t ≥ q^(1 + 1/k) is the power cone "
    "(t, 1, q) with α = k/(k + 1), t^α ≥ q.",
    Cone.EXPONENTIAL: "With y = 1 − Zq, affine in q, −log y and −entr(y) = y log y are convex atoms: t ≥ −log y and t ≥ y log y are the "
    "exponential cones e^(−t) ≤ y and y e^(−t/y) ≤ 1, the second a perspective.",
    Cone.FALLING_POWER: "With y = 1 − q, affine in q, and 0 < 1/b ≤ 1, y^(1 + 1/b) and −y^(1/b) are convex atoms: t ≥ y^(1 + 1/b) is the power cone "
    "(t, 1, y) with α = b/(b + 1), and t ≤ y^(1/b) the power cone (y, 1, t) with α = 1/b.",
    Cone.INVERSE: "With y = 1 − Mq > 0, affine in q, 1/y is a convex atom: t ≥ 1/y is the second-order cone ‖(2, t − y)‖ ≤ t + y.",
}


def cvxpy_form(argument: Argument) -> Step:
    """Check the cost curve, and the sign, curvature and cones of its atoms."""
    theta, q, curve = argument.theta, ACCEPTANCE, argument.curve
    rate = sp.Derivative(F(theta), theta)
    common = (
        Equation(COST_CURVE(q), Relation.AT_MOST, SPEND, every_law=True),
        argument.claim(
            sp.Derivative(J(theta), theta) / rate, sp.Derivative(J(theta), theta) / f(theta), every_law=True
        ),
        *convexity(),
    )
    if _is_convex_by_segments(argument):
        return _step(
            (*common, *_segments(argument)),
            reason="On a piece of constant density f that begins at e, C rises by J(e) x + x²/f with x = q − F(e). With shares y_k of the "
            "pieces, 0 ≤ y_k ≤ 1, q is affine in them, and spend is affine in y_k plus non-negative multiples of their squares, which are "
            "convex atoms and second-order cones. As J does not fall from piece to piece, the cheapest way to a given q fills the pieces in their order.",
        )
    if curve is None:
        return _step(
            common,
            reason="The second derivative of C is J′/f, by one more division by dq/dθ = f. The objective Σ ε_i q_i and the budget Σ b_i ≤ B are affine.",
            note="No form in second-order, power or exponential cones was derived for all parameters of this law: its quantile is not low plus "
            "a power, and not a logarithm. For some parameters there may be one, as for Pareto laws with a ≥ 1. Elsewhere the program states C_i by "
            "straight pieces, tangents from below and chords from above, refined round the answer until both bounds meet.",
        )
    inside = argument.domain.with_intervals(SymbolRange(q, sp.Integer(0), sp.Integer(1)))
    claims = (
        Equation(QUANTILE(q), Relation.DEFINED, curve.quantile),
        argument.claim(F(QUANTILE(q)), q, domain=inside, where={F(QUANTILE(q)): F(curve.quantile)}),
        argument.claim(QUANTILE(F(theta)), theta, where={QUANTILE(F(theta)): curve.quantile.subs(q, F(theta))}),
        argument.claim(q * QUANTILE(q), curve.cost, domain=inside, where={QUANTILE(q): curve.quantile}),
        argument.claim(argument.law.low, sp.Integer(0), Relation.AT_LEAST),
        argument.claim(curve.weight, sp.Integer(0), Relation.AT_LEAST),
        *_made_of_atoms(argument, curve),
        *_atoms(argument, curve),
    )
    return _step(
        (*common, *(claim for claim in claims if not _is_of_numbers(claim))),
        reason="C_i is affine in q plus non-negative multiples of convex atoms of affine arguments, so C_i(q_i) ≤ b_i is convex ≤ affine, as "
        f"the rules of disciplined convex programming ask. {_ATOMS[curve.cone]} The objective Σ ε_i q_i and the budget Σ b_i ≤ B are affine.",
    )


def _is_of_numbers(claim: Equation) -> bool:
    """Tell whether a claim compares two numbers, as 1 ≥ 0 does, and is proved."""
    return claim.verdict is Verdict.PROVED and claim.left.is_number and claim.right.is_number


def _is_convex_by_segments(argument: Argument) -> bool:
    """Tell whether f is constant on each piece, and J falls from none to the next.

    Then C is convex by segments.
    """
    steps = bool(argument.pieces) and not any(piece.law.pdf.has(argument.theta) for piece in argument.pieces)
    return steps and all(claim.verdict is Verdict.PROVED for claim in not_falling(argument))


def convexity() -> tuple[Equation, ...]:
    """Claim that the second derivative of C is ≥ 0; it rests on regularity."""
    return (follows(sp.Derivative(J(THETA), THETA) / f(THETA), Relation.AT_LEAST, sp.Integer(0), NOT_FALLING, DENSE),)


def _segments(argument: Argument) -> tuple[Equation, ...]:
    """Claim that spend is a parabola in acceptance on every piece."""
    claims = []
    for piece in argument.pieces:
        theta, start = piece.theta, piece.law.low
        filled = F(theta) - F(start)
        parabola = start * F(start) + J(start) * filled + filled**2 / f(theta)
        here = (SymbolRange(theta, start, piece.law.high),)
        claim = piece.claim(theta * F(theta), parabola)
        stated = parabola if piece is argument.pieces[0] else parabola.xreplace({J(start): piece.cost_at_low})
        claims += [
            replace(claim, right=stated, domain=here),  # at a joint J is that of the piece before
            replace(piece.claim(1 / f(theta), sp.Integer(0), Relation.AT_LEAST), domain=here),
        ]
    return tuple(claims)


def _made_of_atoms(argument: Argument, curve: ConeCurve) -> tuple[Equation, ...]:
    """Claim that C is affine plus the weight times atoms, unless written so."""
    q, p, low, high = ACCEPTANCE, curve.parameter, argument.law.low, argument.law.high
    y = 1 - p * q
    written = {
        Cone.SECOND_ORDER: low * q + curve.weight * q**p,
        Cone.POWER: low * q + curve.weight * q**p,
        Cone.EXPONENTIAL: low * q + curve.weight * (y * sp.log(y) - sp.log(y)),
        Cone.FALLING_POWER: high * q + curve.weight * ((1 - q) ** (1 + p) - (1 - q) ** p),
        Cone.INVERSE: curve.weight * (1 / y - 1),
    }[curve.cone]
    inside = argument.domain.with_intervals(SymbolRange(q, sp.Integer(0), sp.Integer(1)))
    return () if curve.cost == written else (argument.claim(curve.cost, written, domain=inside),)


def _atoms(argument: Argument, curve: ConeCurve) -> tuple[Equation, ...]:
    q, t, y, zero, one = ACCEPTANCE, SPEND, HEIGHT, sp.Integer(0), sp.Integer(1)
    heights = argument.domain.with_intervals(
        SymbolRange(q, zero, one), SymbolRange(y, zero, None), SymbolRange(t, zero, None)
    )
    if curve.cone is Cone.SECOND_ORDER:
        cone = (t + 1) ** 2 - (t - 1) ** 2 - (2 * q) ** 2
        return (argument.claim(cone, 4 * (t - q**curve.parameter), domain=heights),)
    if curve.cone is Cone.POWER:
        p = curve.parameter
        return (
            argument.claim(p, one, Relation.AT_LEAST),
            argument.claim(1 / p, one, Relation.AT_MOST),
            argument.claim((q**p) ** (1 / p), q, domain=heights),
        )
    if curve.cone is Cone.FALLING_POWER:
        p = curve.parameter
        return (
            argument.claim(1 - q, zero, Relation.AT_LEAST, domain=heights),
            argument.claim(p, zero, Relation.AT_LEAST),
            argument.claim(p, one, Relation.AT_MOST),
            argument.claim(sp.Derivative(y ** (1 + p), y, y), zero, Relation.AT_LEAST, domain=heights),
            argument.claim(sp.Derivative(-(y**p), y, y), zero, Relation.AT_LEAST, domain=heights),
        )
    mass = curve.parameter
    if curve.cone is Cone.INVERSE:
        cone = (t + y) ** 2 - (t - y) ** 2 - 4
        return (
            argument.claim(1 - mass * q, zero, Relation.AT_LEAST, domain=heights),
            argument.claim(sp.Derivative(1 / y, y, y), zero, Relation.AT_LEAST, domain=heights),
            argument.claim(cone, 4 * y * (t - 1 / y), domain=heights),
        )
    return (
        argument.claim(1 - mass * q, zero, Relation.AT_LEAST, domain=heights),
        argument.claim(sp.Derivative(-sp.log(y), y, y), zero, Relation.AT_LEAST, domain=heights),
        argument.claim(sp.Derivative(y * sp.log(y), y, y), zero, Relation.AT_LEAST, domain=heights),
        argument.claim(sp.exp(sp.log(y), evaluate=False), y, domain=heights),
        argument.claim(y * sp.exp(-sp.log(y), evaluate=False), one, domain=heights),
    )


def _step(equations: tuple[Equation, ...], reason: str, note: str = "") -> Step:
    return Step(
        name="cvxpy-form",
        title="The program in cvxpy",
        claim="In acceptance q and spend b, OP2 reads: maximise Σ ε_i q_i subject to C_i(q_i) ≤ b_i, Σ b_i ≤ B, 0 ≤ q_i ≤ 1. The "
        "epigraph C_i(q_i) ≤ b_i is a convex set where J is non-decreasing, and at the optimum it loses nothing against b_i = C_i(q_i).",
        reason=reason,
        labels=("OP2", "Appendix D", "E1", "E3"),
        equations=equations,
        note=note,
    )
