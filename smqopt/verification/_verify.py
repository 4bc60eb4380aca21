"""The front door: verify a solution."""

from __future__ import annotations

from collections.abc import Callable

from smqopt.errors import InputError, check_kind
from smqopt.market import Solution
from smqopt.numeric import long_work
from smqopt.verification.certificate._best_price import with_price
from smqopt.verification.certificate._certificate import Certificate


def verify(
    solution: Solution,
    against: Solution | None = None,
    *,
    gap_tolerance: float | None = None,
    prove: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
    processes: int = 1,
) -> Certificate:
    """Check feasibility, weak-duality gap, and distance from the conditions.

    Where that takes but a moment, what was found in floating point is proved in ball arithmetic;
    `certificate.grade` is "proved" then, else "numerical", and `certificate.unproved` says why.

    Never raises on a wrong solution: `certificate.valid` is False then, and `certificate.reasons`
    says why.

    Parameters
    ----------
    solution
        What to verify; its solver's word is taken for nothing. Thresholds from elsewhere come
        through `Solution.from_thresholds`; the certificate's solution then has the price that makes
        the bound best.
    against
        A solution of the same program by another route; its distance in θ is reported.
    gap_tolerance
        The largest gap, relative to the upper bound, that passes; it is recorded in the
        certificate. By default 1e-10; 1e-6 where nothing is proved of a law but that F does not
        fall, so that the bound holds what it may hide between prices. Widen it where the spacing of
        floating-point thresholds is what keeps the gap open: tiny budgets on supports that start
        above 0. The check's note says so.
    prove
        Whether to prove it: True however long that takes, False never; by default any number of
        owners of common laws, and up to 3 million owners with one law each, which takes 30 to 180
        seconds a million; or a thousand where laws are irregular, some hundredths of a second each.
    progress
        Is told how many owners are enclosed, and how many there are: block by block where each has
        a law of her own, else once.
    processes
        How many may enclose them. With more than one, a script's own work must stand under `if
        __name__ == "__main__":`, since each process loads the script anew.

    Raises
    ------
    InputError
        If the tolerance is not a number in [0, 1], or processes are not counted from 1.

    Examples
    --------
    >>> import smqopt as smq
    >>> solution = smq.solve(smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), 0.5)
    >>> certificate = smq.verify(solution)
    >>> certificate.valid, round(certificate.lower_bound, 12), round(certificate.upper_bound, 12)
    (True, 0.80311892021, 0.80311892021)
    >>> certificate.grade
    'proved'
    """
    check_kind(solution, Solution, "verify: argument 'solution'", "a Solution", "give what `solve` returns")
    if against is not None:
        check_kind(against, Solution, "verify: argument 'against'", "a Solution", "give what `solve` returns")
    if gap_tolerance is not None and not 0 <= gap_tolerance <= 1:
        raise InputError(
            "verify: argument 'gap_tolerance'", "must lie in [0, 1]", value=gap_tolerance, remedy="use, say, 1e-10"
        )
    if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
        raise InputError("verify: argument 'processes'", "must be a whole number ≥ 1", value=processes, remedy="use 1")
    with long_work(progress, processes):
        return Certificate.of(with_price(solution), against, gap_tolerance, prove)
