"""The proof of a certificate: balls of privacy, spend and bound.

The doubles of market, budget, price and thresholds are taken as exact numbers. Nothing of the
solver, and nothing of the laws' floating-point code, is relied upon; what is, is Arb, and that the
laws are regular where `regularity` says so with a proof. A comparison that a ball leaves open is
not decided, and nothing that is not decided is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb

from smqopt.market import PurchasedPrivacy, Solution, Statement
from smqopt.numeric import (
    GAP,
    SIDE_ROW,
    Ball,
    OutOfWorkError,
    precision,
    process_limit,
    report_progress,
    rounded_down,
    rounded_up,
    work_limit,
)
from smqopt.verification.checks._seen import Seen
from smqopt.verification.enclosures._tops_in_doubles import OpenLists, run_straight
from smqopt.verification.proof._case import Case, case_of, constraints_of, in_supports, obstacle
from smqopt.verification.proof._constraint_rows import KeptRow
from smqopt.verification.proof._owner_groups import LARGEST_COUNT, Regularity
from smqopt.verification.proof._rows_in_doubles import Charged, charge_owners, is_moderate
from smqopt.verification.proof._sums_in_doubles import lined_parts, sums_in_doubles
from smqopt.verification.proof._totals import Sums, enclose_block

BLOCK = 1 << 11
"""Owners whose balls are held at a time, where they are on their own."""
MANY_ROWS = 50_000
"""From so many owners on, processes are started where more than one is allowed."""
DOUBLES = 53
"""Bits of intervals between doubles, owners at once; tried first where all laws allow it."""
PRECISIONS = (DOUBLES, 128, 256, 512, 1024, 2048)
"""Bits of the balls: the next is tried where one leaves something open."""
NARROW = 2.0**-44
"""Balls of privacy and bound wider than this, relative to the bound, are worked out again with more
bits."""
MOST_ROWS = 3_000_000
"""Different owners whose balls are worked out one by one unless a proof is asked for: a minute or
three. Supports of irregular laws count as many."""


@dataclass(frozen=True)
class Proof:
    """What ball arithmetic found; infinite where nothing could be enclosed.

    With side constraints, what is proved of the offers is that each constraint is kept to within
    the recorded tolerance; the bound on the optimum is one on all that keep them exactly.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> proof = smq.verify(smq.solve(market, 0.5)).proof
    >>> if proof is not None:  # as it is where a law has no balls
    ...     proof.within_budget, proof.lower_bound <= proof.upper_bound
    (True, True)
    """

    purchased_privacy: tuple[float, float]
    """Two doubles that enclose Σ m ε F(θ), in units of ε."""
    spend: tuple[float, float]
    """Two doubles that enclose Σ m θ F(θ), in currency."""
    lower_bound: float
    """A double below the objective of the thresholds; where that is to be small, one below that of
    any mechanism within the constraints."""
    upper_bound: float
    """A double above λB + Σ m max_q {ε q − λ C(q)}, and so above what any mechanism buys within the
    budget and the constraints, in units of the objective; where that is to be small, one above that
    of the thresholds."""
    within_budget: bool | None
    """Whether spend ≤ B: proved, refuted, or not decided."""
    bits: int
    """Precision of the balls; 0 where none were worked out."""
    regularity: tuple[Regularity, ...]
    constraints: tuple[KeptRow, ...]
    """How well the thresholds keep each linear constraint."""
    bounds_kept: bool | None
    """Whether acceptances and prices keep to their bounds to within the recorded tolerance: proved,
    refuted, or not decided."""
    objective: str
    """What kind of objective is bounded."""
    unproved: tuple[str, ...]
    """Why the certificate is not proved, one line each; empty where it is."""
    contradict: bool = False
    """Whether the lower bound is proved to lie above the upper one by more than constraints broken
    within their tolerance explain."""
    tables: tuple[str, ...] = ()
    """The digests of the tables of laws that were read, in the order of the laws."""

    @property
    def holds(self) -> bool:
        """Whether everything that the grade "proved" says is decided."""
        return not self.unproved

    @property
    def refuted(self) -> bool:
        """Return whether something claimed is proved false, or the bounds contradict."""
        kept = self.within_budget, self.bounds_kept, *(row.kept for row in self.constraints)
        return self.contradict or False in kept

    @property
    def gap(self) -> float:
        """At least (upper bound − lower bound)/upper bound."""
        lower, upper = self.lower_bound, self.upper_bound
        if not upper < math.inf:
            return math.inf
        if upper <= 0:
            return 0.0
        with precision(PRECISIONS[-1]):
            return max(rounded_up((arb(upper) - arb(lower)) / arb(upper)), 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as data."""
        content: dict[str, Any] = {
            "purchased_privacy": list(self.purchased_privacy),
            "spend": list(self.spend),
            "upper_bound": self.upper_bound,
            "bits": self.bits,
            "regularity": [entry.to_dict() for entry in self.regularity],
        }
        if self.objective != PurchasedPrivacy.kind:
            content |= {"objective": self.objective, "lower_bound": self.lower_bound}
        if self.constraints:
            content["constraints"] = [row.to_dict() for row in self.constraints]
        return content


def prove(
    solution: Solution,
    gap_tolerance: float = GAP.value,
    *,
    limited: bool = True,
    precisions: Sequence[int] = PRECISIONS,
    form: Statement | None = None,
) -> Proof:
    """Enclose what a solution buys, spends, and leaves to be had.

    Parameters
    ----------
    solution
        A well-formed solution, its thresholds in their supports.
    gap_tolerance
        The largest gap that may be called proved, relative to the upper bound.
    limited
        Whether to stop where the balls of more than `MOST_ROWS` different owners would have to be
        worked out one by one.
    precisions
        Bits to try, one after the other.
    form
        What `stated` gives for the solution's market and records, where the caller has it.
    """
    try:
        with work_limit(solution.market.n) as allowance:
            return _prove(solution, gap_tolerance, limited, precisions, form)
    except OutOfWorkError:
        return no_proof(solution, f"its proof takes {allowance.words}")


def _prove(
    solution: Solution, gap_tolerance: float, limited: bool, precisions: Sequence[int], form: Statement | None
) -> Proof:
    quick = prove_in_doubles(solution, gap_tolerance, form=form) if DOUBLES in precisions else None
    if quick is not None and quick.holds:
        report_progress(solution.market.n, solution.market.n)
        return quick
    case = case_of(solution, form)
    if not isinstance(case, Case):
        return quick or no_proof(solution, *case)
    if limited and case.effort > MOST_ROWS:
        return quick or no_proof(
            solution,
            f"{case.size} different owners would be enclosed one by one, more than {MOST_ROWS}: ask for it with prove=True"
            if case.size > MOST_ROWS
            else f"the laws of {case.size} owners would be looked at cell by cell: ask for it with prove=True",
        )
    rules = tuple(part.regularity for part in case.parts)
    proof = quick or no_proof(solution, "no precision was given at which all laws are enclosed")
    for bits in (bits for bits in precisions if bits > DOUBLES):
        with precision(bits):
            proof = _read(solution, _enclose(case), rules, gap_tolerance, bits)
        if proof.holds:
            break
    return proof


def _enclose(case: Case) -> Sums:
    """Enclose all sums at the precision of the context, block by block."""
    paid = arb(0) if case.budget_is_zero else arb(case.solution.budget_price) * arb(case.solution.budget)
    processes, blocks = process_limit(), list(case.blocks(BLOCK))
    if processes > 1 and case.size >= MANY_ROWS and len(blocks) > 1:
        from smqopt.verification.proof._block_pool import enclose_on_cores  # noqa: PLC0415 -- loads multiprocessing

        every = enclose_on_cores(case, paid, BLOCK, processes)
    else:
        every = (enclose_block(block, arb(0) if number else paid) for number, block in enumerate(blocks))
    found = next(every)
    done = blocks[0].size
    report_progress(done, case.size)
    for block, own in zip(blocks[1:], every, strict=True):
        found = found.add(own)
        done += block.size
        report_progress(done, case.size)
    return found


def prove_in_doubles(
    solution: Solution, gap_tolerance: float, seen: Seen | None = None, form: Statement | None = None
) -> Proof | None:
    """Prove a solution all owners at once; None where that cannot be.

    `seen` is where to note what checks ask of the offers, `form` as above.
    """
    market = solution.market
    if not isinstance(solution.objective, PurchasedPrivacy) or market.population > LARGEST_COUNT:
        return None
    if obstacle(solution) or not in_supports(solution, None):
        return None
    constraints = constraints_of(solution, form)
    under: Charged | None = None
    pooled: Statement | None = None
    lists: OpenLists | None = None
    if constraints is not None:
        if isinstance(constraints, str) or not constraints.rows_alone or not solution.budget_price < math.inf:
            return None
        blocks = constraints.statement.blocks
        if blocks is not None and not run_straight(blocks):
            return None
        pooled = None if blocks is None else constraints.statement
        lists = OpenLists(constraints.bounds.listed, constraints.bounds.lists) if constraints.bounds.lists else None
        under = charge_owners(solution, constraints.rows, 0.0 if blocks is None else float(np.max(blocks.highest())))
        if not is_moderate(under):
            return None
    parts = lined_parts(market, solution.budget_price)
    if isinstance(parts, str):
        return None
    rules, rows = tuple(part.regularity for part in parts), () if constraints is None else constraints.rows
    for at_price in (False, True) if lists is None else (False,):  # what is offered stands on the lists
        with precision(PRECISIONS[1]):
            sums = sums_in_doubles(
                solution, parts, at_price=at_price, seen=seen, under=under, rows=rows, pooled=pooled, lists=lists
            )
            proof = _read(solution, sums, rules, gap_tolerance, DOUBLES)
        if proof.holds or proof.refuted or proof.gap <= gap_tolerance:
            break
    return replace(proof, tables=tuple(part.lines.digest for part in parts if part.lines.digest))


def no_proof(solution: Solution, *reasons: str) -> Proof:
    """Return a proof that proves nothing, for these reasons."""
    nothing = (0.0, math.inf)
    return Proof(nothing, nothing, -math.inf, math.inf, None, 0, (), (), None, solution.objective.kind, reasons)


def _read(solution: Solution, sums: Sums, rules: tuple[Regularity, ...], gap_tolerance: float, bits: int) -> Proof:
    """Round the balls outwards, and say what they decide."""
    smallest = solution.objective.smallest
    lower, upper = (-sums.bound, -sums.value) if smallest else (sums.value, sums.bound)
    within = True if sums.spend <= solution.budget else False if sums.spend > solution.budget else None
    unproved: list[str] = []
    if within is None:
        unproved.append(f"{bits} bits do not decide whether spend is within the budget")
    elif not within:
        unproved.append("the spend exceeds the budget, proved")
    unproved += _violations(sums, bits)
    width = lower.rad() + upper.rad()
    if sums.contradict:
        unproved.append("the lower bound lies above the upper one, proved")
    if not (lower.is_finite() and upper.is_finite() and width <= NARROW * abs(upper)):
        unproved.append(f"{bits} bits enclose {_what(solution)} and its bound too loosely")
    elif gap_tolerance < 1 and not upper - lower <= gap_tolerance * upper:  # lower is never below 0
        unproved.append(f"{bits} bits do not prove that the gap is at most {gap_tolerance:g}")
    proof = Proof(
        (max(rounded_down(sums.privacy), 0.0), rounded_up(sums.privacy)),
        (max(rounded_down(sums.spend), 0.0), rounded_up(sums.spend)),
        _least(lower),
        max(rounded_up(upper), 0.0),
        within,
        bits,
        rules,
        sums.rows,
        sums.within_bounds,
        solution.objective.kind,
        tuple(unproved),
        sums.contradict,
    )
    if proof.holds and not proof.gap <= gap_tolerance:
        return replace(proof, unproved=("doubles so near to 0 are too coarse for the bounds",))
    return proof


def _violations(sums: Sums, bits: int) -> list[str]:
    """Return which constraints are not proved to be kept."""
    tolerance = f"to within {SIDE_ROW.value:g}"
    found = [
        f"{bits} bits do not decide whether “{row.constraint}” is kept {tolerance}"
        if row.kept is None
        else f"“{row.constraint}” is not kept {tolerance}, proved"
        for row in sums.rows
        if not row.kept
    ]
    if sums.within_bounds is None:
        found.append(f"{bits} bits do not decide whether bounds of acceptance are kept {tolerance}")
    elif not sums.within_bounds:
        found.append(f"bounds of acceptance or of prices are not kept {tolerance}, proved")
    return found


def _least(lower: Ball) -> float:
    """Round down; all objectives that are proved are nowhere negative."""
    return max(rounded_down(lower), 0.0)


def _what(solution: Solution) -> str:
    return "purchased privacy" if isinstance(solution.objective, PurchasedPrivacy) else "the objective"
