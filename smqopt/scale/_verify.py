"""Verify thresholds in parts: what was found of the parts, put together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from smqopt.errors import InputError
from smqopt.market import Status
from smqopt.numeric import ACCEPTANCE, GAP, HIDDEN_GAP, ROUNDING, THRESHOLD, UNITS, doubles_around
from smqopt.scale._certificate import ParquetCertificate, fingerprint_of
from smqopt.scale._side_constraints import SideConstraints
from smqopt.scale._solution import ParquetSolution
from smqopt.scale.parts._cluster import Progress, map_parts, workers
from smqopt.scale.parts._folder import first_difference, parts_of_folder
from smqopt.scale.parts._laws import laws_of
from smqopt.scale.parts._part_records import THRESHOLDS, PartFindings
from smqopt.scale.passes._verify_pass import Verifier
from smqopt.verification import MOST_IN_BALLS, Check, may_hide, record_claims

if TYPE_CHECKING:
    from distributed import Client


def verify_parts(
    solution: ParquetSolution,
    client: Client | None = None,
    gap_tolerance: float | None = None,
    progress: Progress | None = None,
) -> ParquetCertificate:
    """Check thresholds on disk, part by part, and bound the optimum.

    Parameters
    ----------
    solution
        Whose thresholds; what is in memory of them is not looked at.
    client
        Of a Dask cluster; by default a pool of processes on this machine.
    gap_tolerance
        The largest gap, relative to the upper bound, that passes; as for `smq.verify`.
    progress
        Told how many parts are done of how many.

    Raises
    ------
    InputError
        If the tolerance is not a number in [0, 1).
    """
    if gap_tolerance is not None and not 0 <= gap_tolerance < 1:
        raise InputError("verify: argument 'gap_tolerance'", "must lie in [0, 1)", value=gap_tolerance)
    few = solution.rows <= MOST_IN_BALLS
    market, thresholds, beside = solution.market, solution.out / THRESHOLDS, SideConstraints.of(solution)
    if beside is None:
        task = Verifier(market, thresholds, solution.budget_price, few)
    else:
        task = Verifier(market.split_by(beside.columns), thresholds, solution.budget_price, few, beside.terms)
    with workers(client) as pool:
        found = map_parts(pool, task, solution.parts, _join, progress)
    return _assess(solution, tuple(found), beside, gap_tolerance)


def _join(every: list[list[PartFindings]]) -> list[PartFindings]:
    return [findings for one in every for findings in one]


def _assess(
    solution: ParquetSolution,
    found: tuple[PartFindings, ...],
    beside: SideConstraints | None,
    gap_tolerance: float | None,
) -> ParquetCertificate:
    """Put together what was found of the parts."""
    B, price = Fraction(solution.budget), solution.budget_price
    unproved = tuple(sorted({why for one in found for why in one.unproved}))
    low, high = (
        [sum(column) for column in zip(*(getattr(one, end) for one in found), strict=True)] for end in ("low", "high")
    )
    upper_share = Fraction(solution.probability_of_high)
    privacy = math.floor(low[0] + upper_share * low[2])
    least_spend, most_spend = math.floor(low[1] + upper_share * low[3]), math.ceil(high[1] + upper_share * high[3])
    over = Fraction(most_spend, UNITS) - B
    checks = _checks_of_parts(solution, found)
    checks.append(Check("budget", over <= 0, _nearest(over), 0.0, "expected spend minus budget, in currency"))
    checks += [] if beside is None else beside.checks(found)
    keeps = not any(check.fails for check in checks)
    if unproved:
        privacy -= math.ceil(abs(privacy) * Fraction(ROUNDING.value))
    lower = max(doubles_around(privacy, privacy)[0], 0.0) if keeps else 0.0
    upper = _upper_bound(solution, found) if beside is None else beside.upper_bound(found)
    gap = (
        math.inf
        if upper == math.inf
        else 0.0
        if upper == 0 == lower
        else -math.inf
        if upper <= 0
        else _up_to(lower, upper)
    )
    hides = any(may_hide(law) for law in laws_of(solution.market.valuation))
    tolerance = (HIDDEN_GAP if hides else GAP).value if gap_tolerance is None else gap_tolerance
    checks.append(Check("gap", 0 <= gap <= tolerance, gap, tolerance, GAP.norm))
    distance = max(one.distance for one in found) if price < math.inf else 0.0
    checks.append(Check("threshold", distance <= THRESHOLD.value, distance, THRESHOLD.value, THRESHOLD.norm))
    checks.append(_ids_check(solution))
    spend = doubles_around(least_spend, most_spend)
    fingerprint = fingerprint_of(solution)
    return record_claims(
        ParquetCertificate(solution, tuple(checks), lower, upper, gap, tolerance, unproved, spend, found, fingerprint)
    )


def _nearest(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf


def _up_to(lower: float, upper: float) -> float:
    """Return (upper − lower)/upper, rounded up."""
    exact = (Fraction(upper) - Fraction(lower)) / Fraction(upper)
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def _upper_bound(solution: ParquetSolution, found: Sequence[PartFindings]) -> float:
    """Return λB + Σ max_q {ε q − λ C(q)}, rounded up."""
    B, price = Fraction(solution.budget), solution.budget_price
    if not 0 <= price <= math.inf or (price == math.inf and B > 0):
        return math.inf
    bought, spent = (sum(one.worth[k] for one in found) for k in (0, 1))
    rest = sum(one.rest for one in found) + bought
    most = math.ceil(rest + Fraction(price) * (B * UNITS - spent)) if price < math.inf else rest
    return doubles_around(most, most)[1]


def _checks_of_parts(solution: ParquetSolution, found: Sequence[PartFindings]) -> list[Check]:
    faults = [one.fault for one in found if one.fault]
    folder = solution.market.folder
    try:
        differs = first_difference(parts_of_folder(folder), [part.name for part in solution.parts], folder)
    except InputError as error:
        differs = error
    if differs is not None:
        faults.append(str(differs))
    outside, drift = max(one.outside for one in found), max(one.drift for one in found)
    note = "; ".join(faults[:3]) + (f"; and {len(faults) - 3} more" if len(faults) > 3 else "")
    B = solution.budget
    status = {Status.ZERO_BUDGET: B == 0, Status.SLACK: B > 0 and solution.budget_price == 0}
    agrees = status.get(solution.status, solution.status is Status.BINDING and B > 0 and solution.budget_price > 0)
    share = solution.probability_of_high
    return [
        Check("parts", not faults, float(len(faults)), 0.0, "parts that are not what the solution says", note=note),
        Check("support", outside <= 0, outside, 0.0, "largest distance of a threshold from its support, in currency"),
        Check("acceptance", drift <= ACCEPTANCE.value, drift, ACCEPTANCE.value, ACCEPTANCE.norm),
        Check("lottery", 0 <= share <= 1, share, 1.0, "probability of the upper price"),
        Check(
            "status", agrees, 0.0 if agrees else 1.0, 0.0, "statuses that differ",
            note=f"{solution.status.name}: {solution.status}",
        ),
    ]  # fmt: skip


def _ids_check(solution: ParquetSolution) -> Check:
    market = solution.market
    known = market.owner_id is not None and market.unique_ids == "everywhere"
    note = "" if known else "owners have no ids" if market.owner_id is None else "looked for within parts alone"
    norm = "ids that stand twice, in whichever parts"
    return Check("distinct ids", True if known else None, 0.0, 0.0, norm, note=note, required=False)
