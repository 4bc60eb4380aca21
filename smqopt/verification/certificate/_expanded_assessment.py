"""Checks and bounds of a program with laws in doubt, or minima in its objective.

It is stated as an ordinary one, and its offers as offers there: rows, prices and the bound by weak
duality are those of the ordinary program. The value and the spend under each law are worked out
from the prices alone.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from smqopt.errors import InputError
from smqopt.market import Expansion, Offers, Solution, Statement, Status, at_budget, expansion_of, state, unfold
from smqopt.numeric import ACCEPTANCE, GAP, HIDDEN_GAP, ROUNDING, exact_dot
from smqopt.verification.certificate._bounds import bounds
from smqopt.verification.certificate._gap_check import NEARLY
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._feasibility import checks_of_claim, status_with_constraints
from smqopt.verification.checks._hidden import hides, tops_from_cdf
from smqopt.verification.checks._side_constraints import checks_of_constraints, side_bound
from smqopt.verification.checks._weak_duality import Tops, tops
from smqopt.verification.proof._proof import Proof, no_proof, prove
from smqopt.verification.proof._utility import proved_over_laws

_ANEW = ("budget", "fingerprint", "acceptance", "status", "side constraints", "regularity")
"""Checks that are made of the user's own program."""
_NO_WEIGHTS = "the multipliers weigh no law"


@dataclass(frozen=True)
class Findings:
    """What is found of a program that is stated as another one."""

    checks: list[Check]
    bounds: tuple[float, float]
    gap: float
    gap_tolerance: float
    proof: Proof | None = None


def assess_expansion(solution: Solution, gap_tolerance: float | None, proving: bool | None) -> Findings:
    """Check a well-formed solution.

    Raises
    ------
    InputError
        If objective or constraints do not fit the market.
    """
    e = _expand(solution)
    own = unfold(e, solution)
    form = at_budget(state(e.market, e.records), e.budget)
    claims = [check for check in checks_of_claim(own, form.ceilings()) if check.name not in _ANEW]
    sides = [check for check in checks_of_constraints(own, form) if check.name not in {"constraint: the objective"}]
    sides = [check for check in sides if not check.name.startswith("constraint: the budget")]
    checks = [*_of_user(solution, e), *claims, *sides]
    keeps = not any(check.fails for check in checks)
    hidden = hides(e.market)
    stated, mean = _Stated(e, own, form), _mean_of_laws(solution, e) if e.bends else None
    upper = _upper_bound(stated, mean, tops_from_cdf if hidden else tops)
    value, rounding = e.value(_offers(solution))
    lower = value - rounding if keeps else -math.inf
    seen = hidden and keeps and e.gap(lower, _upper_bound(stated, mean, tops)) <= NEARLY  # balls may close the rest
    if e.is_cost:
        upper = min(upper, 0.0)
    if solution.budget == 0:
        upper = min(upper, math.fsum(e.value_for_nothing()))
    tolerance = gap_tolerance if gap_tolerance is not None else HIDDEN_GAP.value if hidden else GAP.value
    if solution.objective.smallest:
        lower, upper = -upper, -lower
    lower = max(lower, 0.0) if e.never_negative else lower
    gap = e.gap(lower, upper)
    words = solution.objective.words
    beside = ", beside what the spend that is told apart costs" if e.worths[0].price else ""
    norm = f"upper minus lower bound on the objective ({words}), relative to the upper bound{beside}"
    note = "" if keeps else "the thresholds are not feasible"
    check = Check("gap", 0 <= gap <= tolerance, gap, tolerance, norm, note=note)
    found = Findings([*checks, check], (lower, upper), gap, tolerance)
    nothing = lower == 0 and abs(upper) <= NEARLY * exact_dot(e.market.epsilon, e.market.weights)
    if proving is False or not keeps or not (check.passed or abs(gap) <= NEARLY or nothing or seen):
        return found
    stated = mean or stated
    bound = -lower if solution.objective.smallest else upper
    share = tolerance if e.bends else tolerance * e.size(lower, upper) / max(bound + e.shift, math.ulp(0.0))
    proof = _prove(solution, e, stated, min(share, 1.0), limited=proving is None)
    if proof.holds:
        lower, upper = _outward(proof, stated.e.shift, smallest=not e.bends and solution.objective.smallest)
        gap = e.gap(lower, upper)
        if not gap <= tolerance:
            proof = dataclasses.replace(proof, unproved=("minima are kept too loosely for the gap",))
    if not check.passed:  # what roundings in doubles leave open balls may close
        if not proof.holds:
            return found
        check = dataclasses.replace(check, passed=True, value=gap)
    checks.append(check)
    return Findings(checks, (lower, upper), gap, tolerance, proof)


def _expand(solution: Solution) -> Expansion:
    """State the ordinary program.

    Where spend counts, for offers that are worth as much as a solution's.
    """
    of_user, at = (solution.market, solution.budget, solution.records, solution.objective), _offers(solution)
    e = expansion_of(*of_user, at=at)
    if e is None:
        raise InputError("objective", "is an ordinary one", remedy="assess it as such")
    if e.bends or not e.worths[0].price or solution.status is Status.INFEASIBLE:
        return e
    value, rounding = e.value(at)
    return expansion_of(*of_user, at=at, above=value - rounding) or e


def _prove(solution: Solution, e: Expansion, stated: _Stated, tolerance: float, *, limited: bool) -> Proof:
    """Prove a program as it is stated; of objectives that bend the mean at weights."""
    own, kind = stated.own, stated.own.objective.kind
    if e.bends:
        if stated.e is e:
            return no_proof(own, _NO_WEIGHTS)
        aim = proved_over_laws(stated.e, solution.objective, worst=e.weights is None)
        own, kind = dataclasses.replace(own, objective=aim), solution.objective.kind
    proof = dataclasses.replace(prove(own, tolerance, limited=limited, form=stated.form), objective=kind)
    if stated.e.budget_rows.stop:
        proof = _under_each_law(proof, stated.e)
    if proof.holds and not e.bends:
        least = math.nextafter(proof.lower_bound - _bound_overstatement(proof, e), -1.0)
        proof = dataclasses.replace(proof, lower_bound=max(least, 0.0))
    return proof


@dataclass(frozen=True, eq=False)
class _Stated:
    """An ordinary program, and a solution's offers there."""

    e: Expansion
    own: Solution
    form: Statement


def _upper_bound(stated: _Stated, mean: _Stated | None, tops_of: Tops) -> float:
    """Bound the objective from above, in the direction of maximising."""
    e, own = stated.e, stated.own
    upper = side_bound(stated.form, e.budget, own.budget_price, own.constraint_prices, tops_of) - e.shift
    if mean is not None:
        of_mean = bounds(mean.own, mean.form, keeps=True, tops_of=tops_of)[1]
        upper = min(upper, of_mean + ROUNDING.value * abs(of_mean))
    return upper + ROUNDING.value * abs(e.shift)


def _mean_of_laws(solution: Solution, e: Expansion) -> _Stated | None:
    """State a mean over laws, which bounds the worst, at a solution's weights.

    None where they are no weights.
    """
    prices, w, first = solution.constraint_prices, e.shown, e.budget_rows.stop
    if e.weights is None:
        w, prices = prices[first : first + w.size], np.delete(prices, np.s_[first : first + w.size])
        if not (np.all(w >= 0) and 0 < np.sum(w) < math.inf):
            return None
        w = w / np.sum(w)
    mean = expansion_of(solution.market, solution.budget, solution.records, solution.objective, shares=w.tolist())
    assert mean is not None  # noqa: S101
    own = unfold(mean, dataclasses.replace(solution, constraint_prices=prices))
    return _Stated(mean, own, at_budget(state(mean.market, mean.records), mean.budget))


def _bound_overstatement(proof: Proof, e: Expansion) -> float:
    """Bound by how much the objective may be overstated, where minima are rounded."""
    heaviest = max([1.0, *(abs(one.weight) for worth in e.worths for one in worth.least), abs(e.worths[0].price)])
    rows = [(record.read_from_prices, row) for record in e.records for row in record.rows(e.market)]
    total = 0.0
    for (is_minimum, row), kept in zip(rows, proof.constraints, strict=True):
        if is_minimum:
            size = 3.0 * abs(row.at_most) + float(np.sum(np.abs(row.acceptance[1])))  # what is spent is at most B
            total += max(kept.over[1], 0.0) * size
    return heaviest * total * (1.0 + ROUNDING.value)


def _under_each_law(proof: Proof, e: Expansion) -> Proof:
    """Return a proof that speaks of each law, if the budget is kept under each."""
    if proof.holds and not all(row.exactly for row in proof.constraints[e.budget_rows]):
        return dataclasses.replace(proof, unproved=("it is not proved that the budget is kept under each law",))
    most = exact_dot(e.base[0].epsilon, e.base[0].weights, up=True)
    return dataclasses.replace(proof, purchased_privacy=(0.0, most), spend=(0.0, e.limit))


def _outward(proof: Proof, shift: float, *, smallest: bool) -> tuple[float, float]:
    """Return proved bounds on the user's objective, rounded outwards."""
    lower, upper = proof.lower_bound - shift, proof.upper_bound - shift
    if shift:
        lower, upper = math.nextafter(lower, -math.inf), math.nextafter(upper, math.inf)
    return (-upper, -lower) if smallest else (lower, upper)


def _offers(solution: Solution) -> Offers:
    return Offers(solution.thresholds, solution.acceptance, solution.lottery)


def _of_user(solution: Solution, e: Expansion) -> list[Check]:
    """Check what is shown: market, acceptances, and the spend under each law."""
    market, shown = solution.market, e.shown_offers(_offers(solution))
    hashed = market.content_hash()
    same = solution.market_fingerprint == hashed == market.fingerprint
    drift = float(np.max(np.abs(shown.acceptance - solution.acceptance)))
    if (shown.lottery is None) != (solution.lottery is None):
        drift = 1.0
    elif shown.lottery is not None and solution.lottery is not None:
        apart = shown.lottery.acceptances.shape != solution.lottery.acceptances.shape
        apart = apart or not np.array_equal(shown.lottery.owner, solution.lottery.owner)
        drift = (
            1.0
            if apart
            else max(drift, float(np.max(np.abs(shown.lottery.acceptances - solution.lottery.acceptances))))
        )
    status = status_with_constraints(solution)
    unrecorded = sum(words not in {record.words for record in solution.records} for words in solution.constraints)
    checks = [
        Check("fingerprint", same, 0.0 if same else 1.0, 0.0, "hashes of the market that differ"),
        Check(
            "acceptance", drift <= ACCEPTANCE.value, drift, ACCEPTANCE.value, f"{ACCEPTANCE.norm}, the mean over laws"
        ),
        Check("status", status, 0.0 if status else 1.0, 0.0, "statuses that differ", note=str(solution.status)),
        Check(
            "side constraints",
            unrecorded == 0,
            float(unrecorded),
            0.0,
            "constraints that the bound does not cover",
            note="; ".join(solution.constraints),
        ),
    ]
    for label, spend in zip(e.labels, e.spends(_offers(solution)).tolist(), strict=True):
        over = spend - solution.budget
        checks.append(Check(f"budget{label}", over <= 0, over, 0.0, "expected spend minus budget, in currency"))
    return checks
