"""Blocks of owners enclosed by several processes, with the same bits as by one."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

from flint import arb, ctx

from smqopt.market import Solution
from smqopt.numeric import Ball, precision, work_limit
from smqopt.verification.proof._case import Case, case_of
from smqopt.verification.proof._tangent_points import TangentPoints
from smqopt.verification.proof._totals import Sums, enclose_block

_SUMS = ("privacy", "value", "spend", "bound")
_Exact = tuple[tuple[int, int], tuple[int, int]]
"""Middle and radius of a ball, each as mantissa and exponent."""


def enclose_on_cores(case: Case, paid: Ball, most: int, processes: int) -> Iterator[Sums]:
    """Enclose blocks of owners at the precision of the context; in their order.

    Parameters
    ----------
    case
        A plain one.
    paid
        λB, added to the bound of the first block.
    most
        Owners of a block.
    processes
        How many to start; each loads the package anew.
    """
    count = sum(1 for _ in case.blocks(most))
    context = multiprocessing.get_context("spawn")
    given = case.solution, case.tangent_points, most, ctx.prec
    with ProcessPoolExecutor(min(processes, count), context, _prepare, given) as pool:
        try:
            for number, found in enumerate(pool.map(_work, range(count))):
                privacy, value, spend, top = (arb(*one) for one in found)
                top = top if number else top + paid
                yield Sums(privacy, value, spend, top, contradict=bool(value > top))
        finally:
            pool.shutdown(cancel_futures=True)


_PREPARED: list[tuple[Case, int, int]] = []
"""What a process was given at its start."""


def _prepare(solution: Solution, chosen: TangentPoints, most: int, bits: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt ends the call, which ends its processes
    case = case_of(solution, chosen=chosen)
    assert isinstance(case, Case)  # noqa: S101 -- it was one where it came from
    _PREPARED[:] = [(case, most, bits)]


def _work(number: int) -> list[_Exact]:
    case, most, bits = _PREPARED[0]
    block = next(islice(case.blocks(most), number, None))
    with precision(bits), work_limit(case.solution.market.n):
        found = enclose_block(block, arb(0))
        return [_exact(getattr(found, name)) for name in _SUMS]


def _exact(ball: Ball) -> _Exact:
    (a, b), (c, d) = ball.mid().man_exp(), ball.rad().man_exp()
    return (int(a), int(b)), (int(c), int(d))
