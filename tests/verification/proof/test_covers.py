"""Smooth laws that are not regular: arcs on which J rises, tops over the whole support, and certificates that are proved by them."""

from __future__ import annotations

import dataclasses
import functools
import math

import mpmath
import numpy as np
import pytest
from flint import arb
from law_instances import INSTANCES, own
from mpmath import mpf

import smqopt as smq
from smqopt import second_checker
from smqopt.numeric import precision, rounded_up
from smqopt.valuation import ORDER, ball_law, iron, piece_law
from smqopt.verification.enclosures import _monotone_cover as intervals
from smqopt.verification.enclosures._cover_terms import CoverCurve
from smqopt.verification.enclosures._monotone_cover import Shape, covers
from smqopt.verification.proof._proof import prove

IRREGULAR = (
    "irregular beta", "irregular kumaraswamy", "E1, irregular", "from_pdf, irregular", "truncated formula", "mixture, irregular",
    "mixture by owner", "mixture with a gap",
)  # fmt: skip
"""Instances with a second opinion in mpmath."""
REGULAR = ("beta", "triangular", "log-normal", "gamma", "truncated", "from_cdf in another unit", "power by owner")
"""Others, to which the same must apply."""
TIGHT = mpf(10) ** -12


def often(*names, rarely):
    """Parameters for the default run, and others for the long one."""
    return [*names, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in rarely)]


SLOW = ("mixture, irregular", "truncated formula", "mixture with a gap", *REGULAR)
INSTANCES_OFTEN = often(*(name for name in (*IRREGULAR, *REGULAR) if name not in SLOW), rarely=SLOW)


BY_NAME = {instance.name: instance for instance in INSTANCES}


@functools.cache
def tops_of(name):
    law = BY_NAME[name].law
    pieces = piece_law(law)
    assert not isinstance(pieces, str)
    return CoverCurve(law, ball_law(law), pieces, covers(law, pieces))


def ends(instance, owner):
    return tuple(float(own(end, owner)) for end in (instance.low, instance.high))


def owners(instance):
    return range(instance.law.size or 1)


# --- what is proved of a cell -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*IRREGULAR, *REGULAR])
def test_what_a_cover_says_of_a_cell_is_so(name):
    """J in mpmath rises or falls along each cell as its shape says, and no cell of the support is left out."""
    instance, tops = BY_NAME[name], tops_of(name)
    for owner in owners(instance):
        cover = tops.cover(owner)
        assert cover.complete
        assert (cover.cells[0].low, cover.cells[-1].high) == ends(instance, owner)
        assert all(a.high == b.low for a, b in zip(cover.cells, cover.cells[1:], strict=False))
        with mpmath.workdps(40):
            F, f = instance.truth(owner)
            for cell in cover.cells[:: max(1, len(cover.cells) // 24)]:
                points = [mpf(cell.low) + (mpf(cell.high) - mpf(cell.low)) * k / 4 for k in (1, 2, 3)]
                if cell.shape is Shape.UNKNOWN:
                    steps = F(mpf(cell.high)) - F(mpf(cell.low))
                    assert steps <= mpf(2) ** -50 or cell.high <= math.nextafter(cell.low, math.inf)
                elif all(f(t) == 0 for t in points):
                    assert cell.shape is Shape.CONCAVE
                elif cell.shape is not Shape.ALMOST_CONCAVE:
                    costs = [t + F(t) / f(t) for t in points]
                    rises = (costs[2] - costs[1], costs[1] - costs[0])
                    loose = mpf(10) ** -25 * costs[2]
                    assert all(r >= -loose if cell.shape is Shape.CONVEX else r <= loose for r in rises)


@pytest.mark.parametrize("name", [*IRREGULAR, *REGULAR])
def test_taylor_coefficients_are_those_of_the_law(name):
    instance, tops = BY_NAME[name], tops_of(name)
    for owner in owners(instance):
        with precision(192), mpmath.workdps(40):
            F, _ = instance.truth(owner)
            for piece in tops.pieces(owner):
                t, h = mpf(0.5 * (piece.low + piece.high)), mpf(2) ** -20 * (mpf(piece.high) - mpf(piece.low))
                given = [mpf(c.mid().str(40, radius=False)) for c in _at(piece, float(t))]
                for side in (-h, h):
                    around = mpmath.fsum(c * side**k for k, c in enumerate(given))
                    assert abs(around - F(t + side)) <= mpf(10) ** -30
                wide = piece.taylor(*(arb(piece.low + (piece.high - piece.low) * share) for share in (0.45, 0.55)))
                assert len(wide) == ORDER
                assert all(not w.is_finite() or w.overlaps(c) for w, c in zip(wide, _at(piece, float(t)), strict=True))


def _at(piece, t):
    return piece.taylor(arb(t), arb(t))


# --- tops ---------------------------------------------------------------------------------------------------------


def largest(F, v, low, high, kinks, law, owner):
    """max F(θ)(v − θ) over the support, in mpmath: every bump of a fine grid that comes near the top is climbed."""
    grid = np.unique(
        np.concatenate([np.linspace(low, min(high, max(v, low)), 3001), [k for k in kinks if low <= k <= high]])
    )
    own = law if law.size is None else law.take(np.array([owner]))
    heights = np.asarray(own.cdf(grid)) * (v - grid)
    best = max(mpf(0), mpf(v) - mpf(high))
    for k in np.flatnonzero(heights >= heights.max() - 1e-4 * abs(v)).tolist():
        if (k and heights[k - 1] > heights[k]) or (k + 1 < grid.size and heights[k + 1] > heights[k]):
            continue
        a, b = mpf(grid[max(k - 1, 0)]), mpf(grid[min(k + 1, grid.size - 1)])
        sides = [(a, mpf(grid[k])), (mpf(grid[k]), b)] if grid[k] in kinks else [(a, b)]
        best = max(best, *(climbed(lambda t: F(t) * (mpf(v) - t), *side) for side in sides))
    return best


def climbed(h, a, b):
    """The top of a bump, by golden section; flat there, so half the digits in θ are enough."""
    golden = (mpmath.sqrt(5) - 1) / 2
    x, y = b - golden * (b - a), a + golden * (b - a)
    at_x, at_y = h(x), h(y)
    for _ in range(75):
        if at_x >= at_y:
            b, y, at_y = y, x, at_x
            x = b - golden * (b - a)
            at_x = h(x)
        else:
            a, x, at_x = x, y, at_y
            y = a + golden * (b - a)
            at_y = h(y)
    return max(h(a), h(b), at_x, at_y)


def ratios(name, rng, count):
    """Values of ε/λ: at random, at the slopes of flat pieces, and where the top goes to an end."""
    instance = BY_NAME[name]
    found = []
    for owner in owners(instance):
        low, high = ends(instance, owner)
        hull = iron(instance.law)
        slopes = getattr(hull, "pieces", None)
        flat = [] if slopes is None else slopes.slope[slopes.owner == owner].tolist()
        drawn = (low + (high - low) * rng.uniform(0.0, 3.0, count)).tolist()
        found += [(owner, v) for v in [*flat, *drawn, low + 1e-6 * (high - low), high, 30 * high]]
    return found


def check_tops(name, rng, count):
    instance, tops = BY_NAME[name], tops_of(name)
    pairs = ratios(name, rng, count)
    place = np.array([owner for owner, _ in pairs], dtype=np.intp)
    v = np.array([value for _, value in pairs])
    with precision(128):
        found = dataclasses.replace(tops, _owners={}).each(place, v, np.ones(v.size), np.zeros(v.size), [None] * v.size)
        found = [rounded_up(top) for top in found]
    with mpmath.workdps(32):
        for (owner, value), bound in zip(pairs, found, strict=True):
            F, _ = instance.truth(owner)
            top = largest(F, value, *ends(instance, owner), instance.kinks, instance.law, owner)
            assert mpf(bound) >= top * (1 - mpf(10) ** -28), (name, owner, value)
            assert mpf(bound) <= top * (1 + TIGHT) + mpf(10) ** -28 * value, (name, owner, value)


@pytest.mark.parametrize("name", INSTANCES_OFTEN)
def test_tops_are_bounded_closely_from_above(name):
    check_tops(name, np.random.default_rng(61), 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*IRREGULAR, *REGULAR])
def test_tops_are_bounded_closely_from_above_at_many_prices(name):
    check_tops(name, np.random.default_rng(62), 40)


def test_tops_hold_where_two_bumps_are_all_but_level():
    """What leaves an arc unlooked at must not be the height of its cells' ends: of two bumps the lower may have the higher ones."""
    tops = tops_of("from_pdf, irregular")
    law = tops.law
    slopes = iron(law).pieces.slope
    v = (slopes[:, None] * (1 + np.linspace(-3e-4, 3e-4, 80))).ravel()
    grid = np.linspace(0.0, 1.0, 40_001)
    F = law.cdf(grid)
    true = np.array([np.max(F * (one - grid)) for one in v])
    zero = np.zeros(v.size, dtype=np.intp)
    with precision(128):
        found = [rounded_up(top) for top in tops.each(zero, v, np.ones(v.size), np.zeros(v.size), [None] * v.size)]
    assert np.all(np.array(found) >= true * (1 - 1e-14))


def test_tops_hold_wherever_they_are_touched():
    """Thresholds of another law to touch at leave the bound above the truth."""
    tops = tops_of("from_pdf, irregular")
    astray = dataclasses.replace(tops, law=smq.Power(3.0), _owners={})
    v = np.linspace(0.05, 4.0, 60)
    grid = np.linspace(0.0, 1.0, 20_001)
    true = np.max(tops.law.cdf(grid) * (v[:, None] - grid), axis=1)
    with precision(128):
        found = [
            rounded_up(top)
            for top in astray.each(np.zeros(60, dtype=np.intp), v, np.ones(60), np.zeros(60), [None] * 60)
        ]
    assert np.all(np.array(found) >= np.maximum(true, 0.0) * (1 - 1e-14))


def test_no_price_and_no_requirement():
    tops = tops_of("from_pdf, irregular")
    with precision(128):
        found = tops.each(
            np.zeros(4, dtype=np.intp),
            np.array([0.0, -1.0, 2.0, 0.5]),
            np.array([1.0, 1.0, 0.0, 0.0]),
            np.zeros(4),
            [None] * 4,
        )
    assert [float(top.mid()) for top in found] == [0.0, 0.0, 2.0, 0.5]


# --- certificates -------------------------------------------------------------------------------------------------

E1 = "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)"
LAWS = {
    "waves": lambda: smq.from_cdf("theta + 0.9*sin(6*pi*theta)/(6*pi)", low=0, high=1),
    "waves above 0": lambda: smq.from_cdf("theta - 1 + 0.9*sin(6*pi*(theta - 1))/(6*pi)", low=1, high=2),
    "E1": lambda: smq.from_cdf(E1, low=0, high=1, c=0.99),
    "kumaraswamy": lambda: smq.Kumaraswamy(2, 0.5),
    "kumaraswamy, infinite at both ends": lambda: smq.Kumaraswamy(0.1, 0.5, 1, 3),
    "beta": lambda: smq.Beta(0.5, 0.5),
    "heavy": lambda: smq.from_cdf("1 - (1 - theta)**k", low=0, high=1, k=0.05),
    "three normals": lambda: smq.Mixture([smq.Normal(m, 0.02, 0, 1) for m in (0.2, 0.5, 0.8)], [1, 2, 1]),
    "a gap": lambda: smq.Mixture([smq.Uniform(0, 0.3), smq.Uniform(0.7, 1)], [1, 1]),
    "triangles": lambda: smq.Mixture([smq.Triangular(0, 0.2, 0.5), smq.Triangular(0.4, 0.8, 1)], [1, 1]),
    "edges inside": lambda: smq.Mixture([smq.Uniform(0, 1), smq.Beta(2, 3, 0.25, 0.75)], [1, 2]),
    "cut mixture": lambda: smq.Truncated(smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0.5, 2)], [1, 3]), 0.25, 1.5),
    "log-normals in another unit": lambda: smq.Mixture([smq.LogNormal(0, 0.25, 0.5, 3), smq.LogNormal(1, 0.125, 0.5, 4)], [1, 1]).rescale(0.1),
    "by owner": lambda: smq.Kumaraswamy(2.0, [0.5, 2.0, 0.25, 0.5]),
}  # fmt: skip


def test_what_is_not_proved_not_to_fall_is_numerical_and_says_so():
    """Next to 0, where exp(1 − 1/θ) has no value, no enclosure shows that it rises."""
    certificate = smq.verify(smq.solve(smq.Market([0.3, 0.9], smq.from_cdf("exp(1 - 1/theta)", low=0, high=1)), 0.3))
    assert (certificate.valid, certificate.grade) == (True, "numerical")
    assert certificate.condition == "if F does not fall"
    assert certificate.unproved[0].startswith("if F does not fall: f ≥ 0 could not be proved")
    assert repr(certificate).startswith("Certificate(if F does not fall, numerical")
    gap = next(check for check in certificate.checks if check.name == "gap")
    assert gap.norm.startswith("if F does not fall: ")


@functools.cache
def law_of(name):
    return LAWS[name]()


QUICK = ("a gap", "edges inside", "kumaraswamy", "kumaraswamy, infinite at both ends")


@pytest.mark.parametrize("name", often(*QUICK, rarely=[name for name in LAWS if name not in QUICK]))
def test_irregular_laws_are_proved(name):
    market = smq.Market([0.3, 0.9, 0.6, 0.0], law_of(name))
    for share in (0.03, 0.45):
        certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
        assert certificate.valid, certificate.reasons
        assert certificate.grade == "proved", certificate.unproved
        assert certificate.gap <= 1e-12
        assert "proved in balls" in certificate.proof.regularity[0].rule


@pytest.mark.parametrize("name", often("a gap", rarely=["waves", "beta"]))
def test_budgets_at_the_edges(name):
    market = smq.Market([0.7], law_of(name))
    most = market.most_that_can_be_spent
    for budget in (0.0, 1e-12, math.nextafter(most, 0.0), most, math.nextafter(most, math.inf)):
        certificate = smq.verify(smq.solve(market, budget))
        assert certificate.grade == "proved", (budget, certificate.unproved, certificate.reasons)
        assert certificate.gap <= 1e-12


@pytest.mark.parametrize("name", often("waves", "a gap", rarely=["E1", "triangles"]))
def test_lotteries_at_a_flat_slope_are_proved(name):
    """All owners alike, so that some must draw wherever the budget lies inside a flat piece."""
    market = smq.Market([0.5, 0.5, 0.5], law_of(name))
    pieces = iron(market.valuation).pieces
    one = 1.5 * float(pieces.low[0] * pieces.low_acceptance[0] + pieces.high[0] * pieces.high_acceptance[0])
    solution = smq.solve(market, one)
    assert solution.lottery is not None
    certificate = smq.verify(solution)
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-12


@pytest.mark.parametrize("unit", [pytest.param(1e-12, marks=pytest.mark.exhaustive), 1e12])
def test_units(unit):
    market = smq.Market(np.geomspace(1e-12, 1.0, 5), law_of("edges inside").rescale(unit))
    for share in (0.01, 0.5):
        certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
        assert certificate.grade == "proved", certificate.unproved
        assert certificate.gap <= 1e-12


def test_a_thousand_owners_of_a_common_law():
    market = smq.Market(np.random.default_rng(63).uniform(0.05, 1.0, 1000), law_of("waves"))
    certificate = smq.verify(smq.solve(market, 0.3 * market.most_that_can_be_spent))
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-12


RECORDS = {
    "coverage": smq.Coverage("city", "a", at_least=0.8),
    "parity": smq.Parity("city", within=0.05),
    "group budget": smq.GroupBudget("city", "a", at_most=0.1),
}


@pytest.mark.parametrize("record", often("coverage", rarely=["parity", "group budget"]))
@pytest.mark.parametrize("name", often("a gap", rarely=["waves", "kumaraswamy", "edges inside"]))
def test_side_constraints(name, record):
    market = smq.Market([0.3, 0.9, 0.6, 0.5], law_of(name), groups={"city": ["a", "b", "b", "a"]})
    solution = smq.solve(market, 0.4 * market.most_that_can_be_spent, constraints=[RECORDS[record]])
    certificate = smq.verify(solution)
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-11


def test_another_objective():
    market = smq.Market([0.3, 0.9, 0.6], law_of("a gap"))
    solution = smq.solve(market, 0.4 * market.most_that_can_be_spent, objective=smq.DiminishingReturns(scale=0.5))
    certificate = smq.verify(solution)
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-12


# --- what is not proved -------------------------------------------------------------------------------------------


def moved(solution, rng, by):
    """Thresholds off by a share of the support, the spend kept within the budget."""
    width = solution.market.high - solution.market.low
    thresholds = np.clip(
        solution.thresholds - by * rng.uniform(0.5, 1.0, width.size) * width, solution.market.low, None
    )
    return dataclasses.replace(
        solution, thresholds=thresholds, acceptance=solution.market.valuation.cdf(thresholds), lottery=None
    )


@pytest.mark.parametrize("name", often("waves", "a gap", rarely=["E1", "three normals", "beta", "triangles"]))
def test_faults_are_not_proved(name):
    rng = np.random.default_rng(64)
    market = smq.Market([0.3, 0.9, 0.6], law_of(name))
    solution = smq.solve(market, 0.4 * market.most_that_can_be_spent)
    assert prove(solution).holds
    faults = [
        moved(solution, rng, 1e-3),
        moved(solution, rng, 1e-7),
        dataclasses.replace(solution, budget_price=solution.budget_price * 1.001),
        dataclasses.replace(solution, budget_price=solution.budget_price * 0.999),
        dataclasses.replace(solution, budget=solution.budget * (1 + 1e-8)),
        dataclasses.replace(solution, budget=solution.budget * (1 - 1e-8)),
        dataclasses.replace(solution, market=smq.Market(market.epsilon, smq.Uniform(0, 1))),
        smq.Solution.from_thresholds(market, solution.budget, np.full(3, 0.2), budget_price=solution.budget_price),
    ]
    for number, fault in enumerate(faults):
        proof = prove(fault, precisions=(128,))
        assert not proof.holds, number
        assert proof.unproved


def test_an_answer_at_a_lower_bump_is_not_proved():
    """All thresholds are tops of arcs, where J = ε/λ; one is that of the whole support."""
    tops = tops_of("from_pdf, irregular")
    law, one = tops.law, np.zeros(1, dtype=np.intp)
    v = 0.99 * float(iron(law).pieces.slope[0])
    with precision(128):
        top = rounded_up(tops.each(one, np.array([v]), np.ones(1), np.zeros(1), [None])[0])
    lower = []
    for run in tops.cover(0).runs(Shape.CONVEX):
        grid = np.linspace(run[0].low, run[-1].high, 2001)
        theta = float(grid[np.argmax(law.cdf(grid) * (v - grid))])
        F = float(law.cdf(theta))
        budget = theta * F * (1 + 2**-40)
        solution = smq.Solution.from_thresholds(smq.Market([1.0], law), budget, np.array([theta]), budget_price=1 / v)
        proof = prove(solution, precisions=(128,))
        if F * (v - theta) < top * (1 - 1e-4):
            lower.append(theta)
            assert not proof.holds
            assert proof.upper_bound >= budget / v + top / v
    assert lower


def test_the_grade_drops_where_precision_runs_out():
    solution = smq.solve(smq.Market([0.3, 0.9, 0.6], law_of("kumaraswamy")), 0.4)
    tight = dataclasses.replace(solution, budget=math.nextafter(prove(solution).spend[1], math.inf))
    assert prove(tight, precisions=(256,)).within_budget
    poor = prove(tight, precisions=(54,))
    assert poor.within_budget is None
    assert not poor.holds


def test_the_grade_drops_where_cells_run_out(monkeypatch):
    monkeypatch.setattr(intervals, "MOST_CELLS", 20)
    law = smq.from_cdf("theta + 0.85*sin(6*pi*theta)/(6*pi)", low=0, high=1)
    certificate = smq.verify(smq.solve(smq.Market([0.3, 0.9], law), 0.2))
    assert certificate.valid
    assert certificate.grade == "numerical"
    assert "do not settle" in certificate.unproved[0]


def test_many_different_laws_are_proved_on_demand(monkeypatch):
    monkeypatch.setattr("smqopt.verification.proof._proof.MOST_ROWS", 30_000)
    law = smq.Kumaraswamy(2.0, np.linspace(0.3, 0.9, 40))
    market = smq.Market(np.linspace(0.2, 1.0, 40), law)
    solution = smq.solve(market, 0.2 * market.most_that_can_be_spent)
    certificate = smq.verify(solution)
    assert certificate.grade == "numerical"
    assert "prove=True" in certificate.unproved[0]
    alike = smq.Market(np.linspace(0.2, 1.0, 40), smq.Kumaraswamy(2.0, np.repeat([0.3, 0.9], 20)))
    assert smq.verify(smq.solve(alike, 5.0), prove=True).grade == "proved"


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", often("kumaraswamy", rarely=["waves", "E1", "beta", "edges inside"]))
def test_such_a_certificate_is_read_again_and_left_alone_by_the_second_checker(name, tmp_path):
    market = smq.Market([0.3, 0.9], law_of(name))
    for share in (0.02, 0.4):
        certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
        certificate.save(tmp_path / "certificate.json")
        certificate.solution.save(tmp_path)
        again = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
        assert again.grade == "proved"
        assert second_checker.check(tmp_path)[0] == "not checked"
