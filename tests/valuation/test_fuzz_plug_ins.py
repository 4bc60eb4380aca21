"""Random plug-ins: each is accepted, solved and certified, and found right by other means, or refused with a message that names the fault."""

from __future__ import annotations

import itertools
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
from plug_ins import BORDERLINE, BROKEN, GOOD, KINDS, PlugIn, plug_in
from plug_ins.truth import Truth

import smqopt as smq
from smqopt.errors import SmqoptError

COUNT = 2_210
"""Plug-ins of the full run: 130 of each kind."""
TENTH = COUNT // 10
SOME = 5 * len(KINDS)
TIME_LIMIT = 30.0
"""Seconds of work for one plug-in, whatever else the machine does."""
WAITING_LIMIT = 300.0
"""Seconds by the clock; the search for an antiderivative, in a process of its own, ends after 20."""
FEW = 0.03
"""Largest share of plug-ins that may be accepted and yet not certified; only ones on the edge."""
GRID = 400
"""Prices for each owner in the brute force."""


class OutOfTimeError(BaseException):
    """Not an `Exception`, so that nothing takes it for an error of its own."""


@contextmanager
def limited(working: float, waiting: float) -> Iterator[None]:
    """Stop what takes more seconds of work, or by the clock."""

    def stop(number: int, frame: object) -> None:
        raise OutOfTimeError

    assert threading.current_thread() is threading.main_thread()
    timers = ((signal.SIGPROF, signal.ITIMER_PROF, working), (signal.SIGALRM, signal.ITIMER_REAL, waiting))
    before = [signal.signal(sign, stop) for sign, _, _ in timers]
    for _, timer, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (sign, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0.0)
            signal.signal(sign, handler)


# --- what is true of an answer -------------------------------------------------------------------------------------


def check_law(law: smq.Valuation, truths: list[Truth]) -> None:
    """Compare F, and f where there is one, with the truth: in the support, at its ends, near the low end, and outside."""
    assert (law.size or 1) == len(truths)
    for owner, truth in enumerate(truths):
        one = OneOwner(law, owner)
        low, high = one.low, one.high
        assert (low, high) == (pytest.approx(truth.low, rel=1e-14, abs=0), pytest.approx(truth.high, rel=1e-14, abs=0))
        points = truth.points(24)
        expected = truth.cdf(points)
        found = one("cdf", points)
        assert np.all(np.abs(found - expected) <= truth.slack), worst("F", points, found, expected)
        assert np.all(np.diff(expected) >= -truth.slack), "the truth falls"
        assert np.all(np.diff(found) >= -1e-13), "F falls"
        assert abs(found[-1] - 1.0) <= 1e-12
        outside = one(
            "cdf",
            np.array([np.nextafter(low, -1.0), low - max(1.0, low), high + max(1.0, high), np.nextafter(high, np.inf)]),
        )
        assert outside.tolist() == [0.0, 0.0, 1.0, 1.0], outside
        if truth.pdf is not None:
            inner = np.array([t for t in points if low < t < high and not near(t, truth)])[::3]
            f, slope = one("pdf", inner), truth.pdf(inner)
            known = np.isfinite(slope)
            room = 1e4 * truth.slack * (np.abs(slope) + 1e-6 / (high - low))
            assert np.all((np.abs(f - slope) <= room)[known]), worst("f", inner, f, slope)


def near(t: float, truth: Truth) -> bool:
    """Tell whether a density may jump about here."""
    return any(abs(t - kink) <= 1e-6 * (truth.high - truth.low) for kink in truth.kinks)


def worst(what: str, points: np.ndarray, found: np.ndarray, expected: np.ndarray) -> str:
    k = int(np.nanargmax(np.abs(found - expected))) if np.any(np.isfinite(found - expected)) else 0
    return f"{what}({points[k]!r}) = {found[k]!r}, in truth {expected[k]!r}"


class OneOwner:
    """One owner's part of a law, evaluated at many points."""

    def __init__(self, law: smq.Valuation, owner: int) -> None:
        self.law, self.owner = law, owner
        self.low, self.high = (float(np.ravel(end)[0 if np.size(end) == 1 else owner]) for end in (law.low, law.high))

    def __call__(self, method: str, points: np.ndarray) -> np.ndarray:
        law = self.law if self.law.size is None else self.law.take(np.full(points.size, self.owner))
        return np.asarray(getattr(law, method)(points), dtype=float)


def accepted_share(truth: Truth, t: float) -> float:
    return float(truth.cdf(np.array([t]))[0]) if t < truth.high else 1.0


def check_optimum(solution: smq.Solution, truths: list[Truth]) -> float:
    """Check that the answer is feasible in truth, and within the grid's error of what brute force finds.

    Returns
    -------
    float
        The stated error: how far the two bounds of brute force are apart, relative to the upper one.
    """
    market = solution.market
    truths = truths * market.n if len(truths) == 1 else truths
    bought, spent = in_truth(solution, truths)
    slack = max(truth.slack for truth in truths) * 10 + 1e-9
    scale = float(np.sum(market.epsilon))
    assert abs(bought - solution.purchased_privacy) <= slack * scale, (bought, solution.purchased_privacy)
    most = sum(truth.high for truth in truths)
    assert spent <= solution.budget + slack * most, (spent, solution.budget)
    lower, upper = brute_force(market.epsilon, truths, solution.budget)
    # what the slack buys: at the price of the budget, no more than this
    room = slack * scale + solution.budget_price * slack * most if np.isfinite(solution.budget_price) else slack * scale
    assert solution.purchased_privacy >= lower - room, (solution.purchased_privacy, lower)
    assert solution.purchased_privacy <= upper + room, (solution.purchased_privacy, upper)
    return (upper - lower) / upper if upper > 0 else 0.0


def in_truth(solution: smq.Solution, truths: list[Truth]) -> tuple[float, float]:
    """Give the privacy bought and the money spent at the solution's thresholds, by the true laws."""
    offers = {
        i: [(1.0, float(t), float(q))]
        for i, (t, q) in enumerate(zip(solution.thresholds, solution.acceptance, strict=True))
    }
    if solution.lottery is not None:
        rows = solution.lottery
        for k, i in enumerate(rows.owner.tolist()):
            p = float(rows.probability_of_low[k])
            offers[i] = [
                (p, float(rows.low[k]), float(rows.low_acceptance[k])),
                (1 - p, float(rows.high[k]), float(rows.high_acceptance[k])),
            ]
    bought = spent = 0.0
    for i, truth in enumerate(truths):
        for chance, threshold, claimed in offers[i]:
            q = 0.0 if claimed == 0 else accepted_share(truth, threshold)  # acceptance 0 means no offer
            bought += chance * q * float(solution.market.epsilon[i])
            spent += chance * q * threshold
    return bought, spent


def brute_force(epsilon: np.ndarray, truths: list[Truth], budget: float) -> tuple[float, float]:
    """Bound the optimum over lotteries of posted prices from both sides, by a grid of prices for each owner.

    The linear program over the grid has one budget: it is solved by taking the pieces of each owner's convex hull in order of what a unit of
    money buys. Below: prices of the grid. Above: between t_j and t_{j+1} nobody accepts more often than at t_{j+1}, or is paid less than t_j.
    """
    bounds = []
    for above in (False, True):
        pieces: list[tuple[float, float, float]] = []
        for e, truth in zip(epsilon.tolist(), truths, strict=True):
            t = truth.points(GRID)
            q = np.clip(truth.cdf(t), 0.0, 1.0)
            q[-1] = 1.0
            paid = np.append(t[0], t[:-1]) if above else t
            if truth.kinks and above:  # at an atom itself the price is paid
                paid = np.where(np.isin(t, truth.kinks) & (truth.pdf is None), t, paid)
            pieces += hull_pieces(e, np.append(0.0, q), np.append(0.0, q * paid))
        pieces.sort(key=lambda piece: -piece[0])
        left, total = budget, 0.0
        for _, gain, cost in pieces:
            share = 1.0 if cost <= left else left / cost
            total += share * gain
            left -= share * cost
            if share < 1.0:
                break
        bounds.append(total)
    return bounds[0], bounds[1]


def hull_pieces(e: float, q: np.ndarray, cost: np.ndarray) -> list[tuple[float, float, float]]:
    """Give the pieces of the lower convex hull of (q, cost): gain per unit of money, gain, and cost."""
    hull: list[int] = []
    for k in np.lexsort((cost, q)).tolist():
        if hull and q[k] == q[hull[-1]]:
            continue
        while len(hull) > 1 and (cost[k] - cost[hull[-2]]) * (q[hull[-1]] - q[hull[-2]]) <= (
            cost[hull[-1]] - cost[hull[-2]]
        ) * (q[k] - q[hull[-2]]):
            hull.pop()
        hull.append(k)
    found = []
    for a, b in itertools.pairwise(hull):
        gain, paid = e * float(q[b] - q[a]), float(cost[b] - cost[a])
        if gain > 0:
            found.append((gain / paid if paid > 0 else np.inf, gain, max(paid, 0.0)))
    return found


# --- one plug-in ---------------------------------------------------------------------------------------------------


def outcome_of(case: PlugIn, rng: np.random.Generator) -> tuple[str, float]:
    """Try a plug-in to the end: give what became of it, and the error of the brute force.

    A law on the edge may be beyond what doubles can certify: neighbouring thresholds are too far apart, or the price underflows. Then the judge
    must have refused, and said why; `FEW` bounds how often.
    """
    try:
        law = case.make()
        n = law.size or int(rng.integers(3, 9))
        epsilon = rng.choice([0.0, 0.25, 0.5, 1.0, float(rng.uniform(0.05, 2))], n)
        epsilon[rng.integers(n)] = 1.0
        market = smq.Market(epsilon, law)
    except SmqoptError as error:
        check_refusal(case, error)
        return "refused", 0.0
    assert case.expected != BROKEN, f"accepted: {law!r}"
    truths = case.told(law)
    check_law(law, truths)
    share = float(rng.choice([0.0, 1.2, 1.0])) if rng.random() < 0.1 else float(rng.uniform(0.02, 0.95))
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    certificate = smq.verify(solution)
    if case.expected == BORDERLINE and not certificate.valid:
        check_verdict(certificate)
        return "not certified", 0.0
    assert certificate.valid, certificate.reasons
    return "accepted", check_optimum(solution, truths)


def check_verdict(certificate: smq.Certificate) -> None:
    """Check that a certificate that refuses says why, and lets nobody buy."""
    assert certificate.reasons
    assert all(len(reason) > 20 for reason in certificate.reasons)
    with pytest.raises(smq.UncertifiedError):
        smq.procure(certificate, np.full(certificate.solution.market.n, np.inf))


def check_refusal(case: PlugIn, error: SmqoptError) -> None:
    text = str(error)
    assert case.expected != GOOD, f"refused: {text}"
    assert len(text) > 20, text
    assert "\n" not in text, text
    if case.expected == BROKEN:
        assert case.words, "a broken plug-in says what its refusal must say"
        assert any(word in text for word in case.words), f"the refusal says none of {case.words}: {text}"


@cache
def tried(number: int) -> tuple[str, str, str, float]:
    """Try plug-in `number`; a failure says how to make it again."""
    kind, case, rng = plug_in(number)
    try:
        with limited(TIME_LIMIT * case.patience, WAITING_LIMIT * case.patience):
            outcome, error = outcome_of(case, rng)
    except BaseException as failure:
        failure.add_note(f"plug-in {number} ({kind}, {case.expected}): {case.text}\nagain: plug_ins.plug_in({number})")
        raise
    return kind, case.expected, outcome, error


def try_all(numbers: range, capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[tuple[str, str, str]] = Counter()
    errors = []
    for number in numbers:
        kind, expected, outcome, error = tried(number)
        counts[kind.removesuffix(" again"), expected, outcome] += 1
        if outcome == "accepted":
            errors.append(error)
    uncertified = sum(count for row, count in counts.items() if row[2] == "not certified")
    with capsys.disabled():
        for row, count in sorted(counts.items()):
            print("{:14}{:12}{:14}".format(*row), count)
        print(
            f"brute force: median error {np.median(errors):.1e}, largest {max(errors):.1e}, over {len(errors)} markets"
        )
    assert uncertified <= FEW * len(numbers)
    assert {row[0] for row in counts} == {kind.removesuffix(" again") for kind in KINDS}
    assert {row[1:] for row in counts} >= {(GOOD, "accepted"), (BROKEN, "refused")}


@pytest.mark.parametrize("number", range(SOME))
def test_a_plug_in(number):
    """One test each, so that this file is begun early where files run side by side."""
    tried(number)


def test_some(capsys):
    try_all(range(SOME), capsys)


@pytest.mark.slow
def test_a_tenth(capsys):
    try_all(range(TENTH), capsys)


@pytest.mark.exhaustive
def test_all(capsys):
    try_all(range(COUNT), capsys)
