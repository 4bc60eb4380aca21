"""What rests on regularity, settled by the verdict on the law at hand."""

from __future__ import annotations

import functools
from dataclasses import replace

import sympy as sp

from smqopt.algebra import NO_REDUCTION, OUT_OF_WORK, Equation, J, Relation, Verdict
from smqopt.derivation.statement._step import Step
from smqopt.derivation.steps import _budget_step, _threshold_step
from smqopt.valuation import Index, Irregular, Regular, Undecided, Valuation

_NOTE = (
    "J falls somewhere on the support (step {number}), so what follows from J′ ≥ 0 does not hold for this law and is left out. The convex hull of "
    "the cost curve takes its place: where the two differ, a lottery over two thresholds does better than one threshold."
)
_OPEN_NOTE = (
    "Whether J falls is not decided (step {number}), so what follows from J′ ≥ 0 is left out, and the law is treated as irregular: the convex hull of "
    "the cost curve takes the place of the curve."
)

_IF_REGULAR = (_budget_step.ROOT, _threshold_step.ROOT)
"""Sentences that are left out too."""


def settle(step: Step, law: Valuation, owners: Index) -> Step:
    """Settle J′ ≥ 0 and what rests on it by `Valuation.regularity`, for these owners.

    A law irregular for its own numbers refutes J′ ≥ 0, whatever the letters allow.
    """
    rests = [claim for claim in step.claims if _rests_on_regularity(claim)]
    if all(claim.verdict is Verdict.PROVED for claim in rests):
        return step
    verdict = law.regularity()
    if isinstance(verdict, Irregular) and verdict.owner is not None and not isinstance(owners, slice):
        verdict = replace(verdict, owner=int(owners[verdict.owner]))
    equations = tuple(_settle(equation, verdict) if equation in rests else equation for equation in step.equations)
    note = step.note
    if not isinstance(verdict, Regular | Irregular) and any(_is_regularity(claim) for claim in rests):
        note = f"{note} The law is treated as irregular: {verdict.method}.".strip()
    return replace(step, equations=equations, note=note)


def without_regularity(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Leave out what needs J′ ≥ 0 where the regularity step does not show it.

    Parameters
    ----------
    steps
        All steps of a law, settled.
    """
    number, regularity = next(
        (k, step) for k, step in enumerate(steps, start=1) if any(map(_is_regularity, step.claims))
    )
    if regularity.verdict is Verdict.PROVED:
        return steps
    note = (_NOTE if regularity.verdict is Verdict.REFUTED else _OPEN_NOTE).format(number=number)
    return tuple(_without(step, note) for step in steps)


def _without(step: Step, note: str) -> Step:
    """Leave out the claims of a step that are shown given regularity."""
    equations = tuple(equation for equation in step.equations if not equation.needs_regularity)
    if equations == step.equations:
        return step
    own = functools.reduce(lambda text, sentence: text.replace(sentence, ""), _IF_REGULAR, step.note)
    return replace(step, equations=equations, note=" ".join(f"{own} {note}".split()))


def _rests_on_regularity(claim: Equation) -> bool:
    return claim.rests_on_regularity or _is_regularity(claim) or _is_joint(claim)


def _is_joint(claim: Equation) -> bool:
    """Tell whether a claim says that J does not fall where two pieces meet."""
    limits = isinstance(claim.left, sp.Limit) and isinstance(claim.right, sp.Limit)
    return limits and claim.relation is Relation.AT_LEAST


def _is_regularity(claim: Equation) -> bool:
    """Tell whether a claim says J′ ≥ 0."""
    slope, relation = claim.left, claim.relation
    is_slope = isinstance(slope, sp.Derivative) and isinstance(slope.expr, J)
    return is_slope and relation is Relation.AT_LEAST and claim.right == 0


def _settle(claim: Equation, verdict: Regular | Irregular | Undecided) -> Equation:
    if claim.verdict is Verdict.PROVED:
        return claim
    if isinstance(verdict, Irregular):
        if not _is_regularity(claim):
            return claim
        (a, b), (J_a, J_b) = verdict.witness, verdict.virtual_costs
        owner = "" if verdict.owner is None else f" for owner {verdict.owner + 1}"
        witness = f"J({a!r}) = {J_a!r} exceeds J({b!r}) = {J_b!r}{owner}: {verdict.method}"
        return replace(claim, verdict=Verdict.REFUTED, method=witness)
    if not isinstance(verdict, Regular):
        if claim.verdict is Verdict.REFUTED and (_is_joint(claim) or _is_regularity(claim)):  # no two doubles show it
            return replace(claim, verdict=Verdict.UNDECIDED, method=f"{verdict.method}; {claim.method}")
        return claim
    if claim.verdict is Verdict.REFUTED:  # at other parameters than those of the law at hand
        method = f"holds for the parameters at hand: {verdict.method}; fails at others: {claim.method}"
        return replace(claim, verdict=Verdict.UNDECIDED, method=method)
    method = claim.method.removeprefix(NO_REDUCTION).removeprefix(OUT_OF_WORK)
    shown = f"{verdict.method}; {method}" if _is_regularity(claim) else f"{method}; J is monotone: {verdict.method}"
    return replace(claim, verdict=Verdict.PROVED, method=shown)
