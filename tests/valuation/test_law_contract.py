"""The contract of every law and combinator: conformance, J three ways, inverses, units, files, sampling, ends.

What a law of atoms cannot have is said where it is left out, and what it promises instead is tested in its place.
Variants, more numbers for the same families, are of the slow tier.
"""

import json

import mpmath
import numpy as np
import pytest
from law_instances import INSTANCES, VARIANTS
from mpmath import mpf

import smqopt as smq
from smqopt.errors import InputError
from smqopt.valuation import LAWS, iron, valuation_from_dict
from smqopt.valuation.law._conformance import validate
from smqopt.valuation.law._law_registry import READERS

EPS = 2.0**-52
DIGITS = 30
MANY_DIGITS = 320
"""For second opinions that difference a formula, in which two thirds cancel."""
SHARES = np.array([2.0**-20, 1 / 64, 0.11, 0.27, 0.4375, 0.61, 0.83, 0.952, 1 - 2.0**-20])
MIDDLE = slice(1, -1)
STEP = 2.0**-10
"""Of the differences, in widths of the support."""

DENSE = [case for case in INSTANCES if not case.atoms]
ATOMS = [case for case in INSTANCES if case.atoms]
RARE = [pytest.param(case, marks=pytest.mark.slow) for case in VARIANTS]
CLEAR = (2.0**-20, 1e-3, 0.1, 0.25, 0.5, 0.75, 0.9, 1 - 2.0**-10)
"""Shares of the support away from its high end."""


def owners(law):
    return range(law.size or 1)


def column(value, law):
    """One value an owner."""
    return np.broadcast_to(np.asarray(value, dtype=float), law.size or 1)


def points(case):
    """Points of the support, shape (m, n) or (m,), moved off the places where the density jumps."""
    low, high, width = (column(end, case.law) for end in (case.law.low, case.law.high, case.law.width))
    theta = low + SHARES[:, None] * width
    room = 4 * STEP * width
    for kink in case.kinks:
        theta = np.where(np.abs(theta - kink) < room, kink + np.where(kink + room < high, room, -room), theta)
    return theta if case.law.size else theta[:, 0]


def rows(case, method, theta):
    """A method at points laid out as `points` gives them; shape (m, n)."""
    function = getattr(case.law, method)
    if case.law.size is None:
        return np.asarray(function(theta))[:, None]
    return np.stack([np.broadcast_to(function(row), case.law.size) for row in theta])


def test_all_are_here():
    """Every law of the registry, each with numbers for parameters one an owner too, and every combinator with its own reader."""
    names = {part.name for case in INSTANCES for part, _ in case.law.parts()} | {case.law.name for case in INSTANCES}
    assert (
        set(LAWS)
        | {"formula", "by-owner", "rescaled", "gaussian-copula", "truncated", "mixture", "from-samples", "scipy"}
        <= names
    )
    in_doubt = {"band", "scenarios"}  # no single cdf: their tests are of markets
    assert set(READERS) - in_doubt <= names
    assert len(INSTANCES) >= 30
    by_owner = {case.law.name for case in INSTANCES if case.law.size}
    tables = {"piecewise-uniform", "discrete"}  # one table is one law; by owner they stand in a `ByOwner`
    assert set(LAWS) - tables <= by_owner
    assert len({case.name for case in INSTANCES}) == len(INSTANCES)


@pytest.mark.parametrize("case", [*DENSE, *RARE], ids=repr)
def test_conforms(case):
    validate(case.law)
    assert case in INSTANCES or isinstance(case.law.regularity(), smq.Regular)


@pytest.mark.parametrize("case", [*INSTANCES, *RARE], ids=repr)
def test_no_probability_passes_0_or_1_beside_the_ends(case):
    """At the 32 doubles next to each end, inside the support: rounding may not lead out of [0, 1]."""
    law = case.law
    for end, other in ((law.low, law.high), (law.high, law.low)):
        theta = column(end, law) if law.size else np.asarray(float(end))
        for _ in range(32):
            F = law.cdf(theta)
            assert np.all((F >= 0) & (F <= 1))
            theta = np.nextafter(theta, other)


def test_a_triangular_probability_stays_below_1():
    """1 + 2⁻⁵² came out at half a width above the mode, and answers with it were not well formed."""
    law = smq.Triangular([0.4, 0.4], [0.75, 0.4], [1.1, 1.1])
    theta = law.high
    for _ in range(40):
        theta = np.nextafter(theta, 0.0)
        assert np.all(law.cdf(theta) <= 1)


@pytest.mark.parametrize("case", ATOMS, ids=repr)
def test_conformance_asks_for_a_density_and_atoms_keep_promises_of_their_own(case):
    """No density, so F′ = f cannot be asked: F steps up by the mass at each atom, and F⁻¹ is the least atom that F brings up to u."""
    with pytest.raises(InputError, match="must be"):
        validate(case.law)
    for owner, values in enumerate(case.atoms):
        F, _ = case.truth(owner)
        for value in values:
            for t in (np.nextafter(value, -1), value, np.nextafter(value, 99)):
                assert column(case.law.cdf(np.full(case.law.size or 1, t)), case.law)[owner] == float(F(t))
            for u in (float(F(np.nextafter(value, -1))), float(F(value))):
                least = next(v for v in values if float(F(v)) >= u)
                assert column(case.law.ppf(np.full(case.law.size or 1, u)), case.law)[owner] == least


@pytest.mark.parametrize("case", DENSE, ids=repr)
def test_virtual_cost_against_a_finite_difference(case):
    """J = θ + F/F′, F′ by central differences of two steps, combined (Richardson)."""
    theta = points(case)[MIDDLE]
    h_row = STEP * column(case.law.width, case.law)
    h = h_row if case.law.size else h_row[0]
    F = rows(case, "cdf", theta)

    def slope(step):
        return (rows(case, "cdf", theta + step * h) - rows(case, "cdf", theta - step * h)) / (2 * step * h_row)

    derivative = (4 * slope(0.5) - slope(1)) / 3
    J = rows(case, "virtual_cost", theta)
    seen = derivative * h_row > 1e-9  # elsewhere the difference is rounding, as in a gap
    assert seen.mean() > 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = theta.reshape(J.shape) + F / derivative
    assert J[seen] == pytest.approx(expected[seen], rel=2e-6)


@pytest.mark.parametrize("case", DENSE, ids=repr)
def test_virtual_cost_against_thirty_digits(case):
    """To a few roundings, of θ too: J may be ill-conditioned in θ where F/f changes fast."""
    theta = points(case)
    J = rows(case, "virtual_cost", theta)
    theta = np.broadcast_to(theta.reshape(len(theta), -1), J.shape)
    compared = 0
    with mpmath.workdps(DIGITS + 30):  # thirty are left after what cancels in the second opinion
        for owner in owners(case.law):
            F, f = case.truth(owner)

            def cost(t, F=F, f=f):
                return t + F(t) / f(t)

            for k in range(len(theta)):
                t = mpf(theta[k, owner])
                if f(t) == 0:
                    assert np.isposinf(J[k, owner])
                    continue
                exact = cost(t)
                nudge = t * mpf(2) ** -60
                moved = abs(cost(t + nudge) - cost(t - nudge)) * mpf(2) ** 59 / exact
                assert abs(mpf(J[k, owner]) / exact - 1) <= EPS * (64 + 8 * float(moved)), (
                    owner,
                    float(t),
                    J[k, owner],
                    float(exact),
                )
                compared += 1
    assert compared >= 0.6 * J.size


@pytest.mark.parametrize("case", DENSE, ids=repr)
def test_inverse_of_the_virtual_cost(case):
    """The threshold of the price J(θ) is θ; of a law that is not regular, where θ is on no flat piece of its hull."""
    theta = points(case)
    J = rows(case, "virtual_cost", theta)
    theta = theta.reshape(J.shape)
    known = np.isfinite(J)  # J is infinite where the density underflows, and in a gap
    assert known.mean() > 0.7
    room = 1e-13 * column(case.law.width, case.law) + 8 * np.spacing(theta) + 8 * np.spacing(np.where(known, J, 0.0))
    price = np.where(known, J, 0.0)
    if isinstance(case.law.regularity(), smq.Regular):
        back = rows(case, "inverse_virtual_cost", price if case.law.size else price[:, 0])
    else:
        back = np.empty_like(J)
        for part, which in case.law.parts():
            answers = iron(part)
            for k in range(len(J)):
                at = np.arange(J.shape[1])[which]
                back[k, at] = answers.offer(price[k, at])[0]
                for low, high, whose in flat_pieces_of(answers):
                    mine = at if part.size is None else at[whose : whose + 1]
                    known[k, mine] &= ~((low <= theta[k, mine]) & (theta[k, mine] <= high))
        assert known.mean() > 0.3
    assert np.all((np.abs(back - theta) <= room)[known])


def flat_pieces_of(answers):
    """The ends of the flat pieces of a law's hull, and whose they are; none where C is convex."""
    pieces = getattr(answers, "pieces", None)
    return [] if pieces is None else zip(pieces.low, pieces.high, pieces.owner, strict=True)


@pytest.mark.parametrize("case", INSTANCES, ids=repr)
def test_the_answer_to_a_price_is_the_best_one(case):
    """No threshold of a fine grid earns more than v q − θ q, regular or not, with a density or not; and the answers rise with the price."""
    for part, which in case.law.parts():
        answers = iron(part)
        size = part.size or 1
        low, width = column(part.low, part), column(part.width, part)
        grid = low + np.linspace(0, 1, 1025)[:, None] * width
        names = np.arange(case.law.size or 1)[which]
        atoms = [case.atoms[owner] for owner in names[:size]] if case.atoms else []
        if atoms:
            grid = np.concatenate(
                [grid, np.broadcast_to(np.array(max(atoms, key=len))[:, None], (len(max(atoms, key=len)), size))]
            )
        F = part.cdf(grid) if part.size else np.asarray(part.cdf(grid[:, 0]))[:, None]
        before = low
        for share in (0.05, 0.2, 0.5, 1.0, 1.7, 4.0, 30.0):
            v = low + share * (width if np.all(width) else 1.0)
            theta, q = answers.offer(v.copy())  # whose memory it may use
            earned = (v - theta) * q
            best = np.max((v - grid) * F, axis=0)
            assert np.all(earned >= best - 1e-12 * v)
            assert np.all(np.asarray(q) <= np.broadcast_to(part.cdf(theta), size))
            assert np.all(theta >= before - 8 * np.spacing(before))
            before = theta


@pytest.mark.parametrize("case", [*INSTANCES, *RARE], ids=repr)
def test_samples_follow_the_cdf(case):
    rng = np.random.default_rng(11)
    law = case.law
    m = 100 if law.size else 2000
    draws = np.stack([law.sample(rng) for _ in range(m)]) if law.size else law.sample(rng, m)[:, None]
    assert draws.shape == (m, law.size or 1)
    levels = rows(case, "cdf", draws if law.size else draws[:, 0])
    below = rows(case, "cdf", np.nextafter(draws, -1) if law.size else np.nextafter(draws, -1)[:, 0])
    for owner in owners(law):
        order = np.argsort(draws[:, owner], kind="stable")
        value, F, F_left = draws[order, owner], levels[order, owner], below[order, owner]
        at_most = np.searchsorted(value, value, side="right") / m
        less = np.searchsorted(value, value, side="left") / m
        distance = max(np.max(np.abs(at_most - F)), np.max(np.abs(less - F_left)))
        assert distance * np.sqrt(m) < 2.0  # Kolmogorov: exceeded once in 1,500 owners; fewer with atoms


@pytest.mark.parametrize("case", INSTANCES, ids=repr)
def test_ends_of_the_support_are_those_that_follow(case):
    """The ends that the parameters, the data or the parts imply; F, F⁻¹ and J there and beyond."""
    law, n = case.law, case.law.size or 1
    low, high = column(law.low, law), column(law.high, law)
    np.testing.assert_array_equal(low, np.broadcast_to(np.asarray(case.low, dtype=float), n))
    np.testing.assert_array_equal(high, np.broadcast_to(np.asarray(case.high, dtype=float), n))
    ends = (low, high) if law.size else (low[0], high[0])
    for at, F in ((ends[0] - 1, 0), (ends[1], 1), (ends[1] + 1, 1)):
        assert np.all(law.cdf(at) == F)
    outside = [law.pdf(ends[0] - 1), law.pdf(ends[1] + 1)]
    assert np.all(np.array([np.broadcast_to(x, n) for x in outside]) == 0)
    assert np.all(law.ppf(np.zeros(n)) == low)
    assert np.all(law.ppf(np.ones(n)) == high)
    assert np.all(law.inverse_virtual_cost(np.full(n, np.inf)) == high)
    assert np.all(law.inverse_virtual_cost(np.zeros(n)) == low)
    assert np.all(np.isnan(law.virtual_cost(ends[1] + 1)))
    if case.atoms:  # F(low) is the mass of the least atom, so the limits of a density mean nothing
        assert np.all(law.cdf(ends[0]) > 0)
        return
    assert np.all(law.cdf(ends[0]) == 0)
    assert np.all(law.virtual_cost(ends[0]) == low)
    top = column(law.virtual_cost(ends[1]), law)
    assert np.all(top >= high)
    with mpmath.workdps(DIGITS + 30):
        for owner in owners(law):
            F, f = case.truth(owner)
            b, a = mpf(high[owner]), mpf(low[owner])
            near = [b - (b - a) * mpf(2) ** -k for k in (90, 100)]
            limits = [float(t + F(t) / f(t)) for t in near]
            if limits[1] > 1e9:  # f(high) = 0
                assert top[owner] > 1e9
            elif abs(limits[1] - limits[0]) < 1e-9 * limits[1]:
                assert top[owner] == pytest.approx(limits[1], rel=1e-9)


def exact_functions(law, owner):
    """F, f and J of one owner, in mpmath, from the formula's text or the class's definition, written out anew."""
    pick = {
        name: mpmath.mpf(float(np.broadcast_to(getattr(law, name), law.size or 1)[owner])) for name in law.parameters
    }
    unit = pick.pop("unit", mpmath.mpf(1))
    if law.name == "formula":
        pick |= {"low": mpmath.mpf(law.to_dict()["low"]) if law.size is None else pick["low"] / unit}
        pick |= {"high": mpmath.mpf(law.to_dict()["high"]) if law.size is None else pick["high"] / unit}
    functions = {name: getattr(mpmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "erf")}
    functions["log"] = lambda x: mpmath.log(x) if x else -mpmath.inf
    text = law.to_dict()["cdf"] if law.name == "formula" else law.formula
    code = compile(text.replace("(-1/2)", "(-mpf(1)/2)"), "formula", "eval")

    def F(t):
        return eval(  # noqa: S307
            code, {"__builtins__": {}}, {**functions, **pick, "pi": mpmath.pi, "mpf": mpmath.mpf, "theta": t / unit}
        )

    def f(t):
        low = pick["low"] * unit
        step = min(abs(t - low), abs(pick["high"] * unit - t)) * mpmath.mpf(10) ** -20
        return (F(t + step) - F(t - step)) / (2 * step)

    return F, f, lambda t: t + F(t) / f(t)


def parts(law):
    """Pairs of a one-family law and the owner within it, for every owner."""
    for part, _ in law.parts():
        for owner in range(part.size or 1):
            yield part, owner


def ends(law, owner):
    return (float(np.broadcast_to(end, law.size or 1)[owner]) for end in (law.low, law.high))


def at(law, method, owner, x):
    value = getattr(law, method)(np.full(law.size, x) if law.size else x)
    return float(np.broadcast_to(value, law.size or 1)[owner])


@pytest.mark.parametrize(
    "case", [case for case in VARIANTS if all(part.formula for part, _ in case.law.parts())], ids=repr
)
def test_variants_agree_with_their_formulas(case):
    for part, owner in parts(case.law):
        low, high = ends(part, owner)
        with mpmath.workdps(MANY_DIGITS):
            F, f, J = exact_functions(part, owner)
            for share in CLEAR:
                t = low + share * (high - low)
                # the exponent's own rounding, where it is in the hundreds
                slack = 4e-15 * max(1.0, float(np.max(getattr(part, "rate", 0.0))) / 20)
                if f(mpmath.mpf(t)) == 0:  # so small that even the oracle's digits see nothing
                    continue
                # the condition number: what one rounding of θ alone would cost
                slack += 4.5e-16 * t * float(f(mpmath.mpf(t)) / F(mpmath.mpf(t)))
                assert at(part, "cdf", owner, t) == pytest.approx(float(F(mpmath.mpf(t))), rel=slack, abs=0)
                # a density that vanishes at high feels the rounding of t/unit
                steep = slack + 4e-16 * t / (high - t) if hasattr(part, "unit") else slack
                assert at(part, "pdf", owner, t) == pytest.approx(float(f(mpmath.mpf(t))), rel=steep, abs=0)
                cost = float(J(mpmath.mpf(t)))
                assert at(part, "virtual_cost", owner, t) == pytest.approx(cost, rel=steep, abs=0)


@pytest.mark.parametrize("case", VARIANTS, ids=repr)
def test_inverses_owner_by_owner(case):
    for part, owner in parts(case.law):
        low, high = ends(part, owner)
        width = high - low
        for share in CLEAR:
            t = low + share * width
            cost, level = at(part, "virtual_cost", owner, t), at(part, "cdf", owner, t)
            assert abs(at(part, "inverse_virtual_cost", owner, cost) - t) <= 1e-14 * width + 4 * np.spacing(t)
            slope = at(part, "pdf", owner, t) * width
            if level == 0:  # below the smallest double
                continue
            promised = 1e-14 * width if share > 2.0**-10 else 1e-13 * share * width
            room = 4 * np.spacing(t) + width * 4e-16 * level / slope + promised
            assert abs(at(part, "ppf", owner, level) - t) <= room


@pytest.mark.parametrize("case", [*DENSE, *VARIANTS], ids=repr)
def test_ends_and_outside(case):
    law = case.law
    low, high = np.asarray(law.low), np.asarray(law.high)
    n = law.size or 1
    assert np.all(law.cdf(low) == 0)
    assert np.all(law.cdf(high) == 1)
    assert np.all(law.cdf(low - 1) == 0)
    assert np.all(law.cdf(high + 1) == 1)
    assert np.all(law.pdf(low - 1) == 0)
    assert np.all(law.pdf(high + 1) == 0)
    assert np.all(law.virtual_cost(low) == low)
    assert np.all(law.virtual_cost(high) >= high)
    assert np.all(np.isnan(law.virtual_cost(high + 1)))
    assert np.all(law.ppf(np.zeros(n)) == low)
    assert np.all(law.ppf(np.ones(n)) == high)
    assert np.all(np.isnan(law.ppf(np.full(n, 1.5))))
    assert np.all(np.isnan(law.ppf(np.full(n, -0.5))))
    assert np.all(law.inverse_virtual_cost(np.full(n, np.inf)) == high)
    assert np.all(law.inverse_virtual_cost(np.zeros(n)) == low)
    if isinstance(law.regularity(), smq.Regular):  # else a lower threshold may earn more at that price
        assert np.all(law.inverse_virtual_cost(law.virtual_cost(high)) >= high - 2 * np.spacing(high))
    assert np.all(np.isnan(law.inverse_virtual_cost(np.full(n, np.nan))))


@pytest.mark.parametrize("case", [*DENSE, *RARE], ids=repr)
def test_thresholds_rise_with_the_price(case):
    law = case.law
    n = law.size or 1
    low, high = (np.broadcast_to(end, n) for end in (law.low, law.high))
    before = low
    for share in np.concatenate([10.0 ** np.arange(-9, 0), np.linspace(0.1, 4, 60)]):
        theta = np.broadcast_to(law.inverse_virtual_cost(low + share * (high - low)), n)
        assert np.all(theta >= before - 4 * np.spacing(before))
        assert np.all((theta >= low) & (theta <= high))
        before = theta


@pytest.mark.parametrize("case", [*DENSE, *RARE], ids=repr)
def test_other_units(case):
    law = case.law
    n = law.size or 1
    levels = np.linspace(0.1, 0.9, n)
    theta = np.broadcast_to(law.ppf(levels), n)
    for factor in (2.0**20, 2.0**-20, 3.0, 1e8, 1e-8):
        other = law.rescale(factor)
        same = np.array_equal if np.log2(factor).is_integer() else lambda a, b: np.allclose(a, b, rtol=1e-12, atol=0)
        assert same(other.low, factor * np.asarray(law.low))
        assert same(other.ppf(levels), factor * law.ppf(levels))
        assert same(other.cdf(factor * theta), law.cdf(theta))
        assert same(other.pdf(factor * theta), law.pdf(theta) / factor)
        assert same(other.virtual_cost(factor * theta), factor * law.virtual_cost(theta))
        cost = law.virtual_cost(theta)
        assert same(other.inverse_virtual_cost(factor * cost), factor * law.inverse_virtual_cost(cost))


@pytest.mark.parametrize("case", [*INSTANCES, *RARE], ids=repr)
def test_data_give_the_same_law_back(case):
    law = case.law
    n = law.size or 1
    for original in (law, law.rescale(3.0)):
        again = valuation_from_dict(json.loads(json.dumps(original.to_dict())))
        assert again.to_dict() == original.to_dict()
        assert np.array_equal(again.ppf(np.linspace(0, 1, n)), original.ppf(np.linspace(0, 1, n)))
        assert np.array_equal(again.high, original.high)


@pytest.mark.parametrize("case", [case for case in [*INSTANCES, *VARIANTS] if case.law.size], ids=repr)
def test_taking_owners(case):
    law = case.law
    levels = np.linspace(0.1, 0.9, law.size)
    some = np.array([law.size - 1, 0], dtype=np.intp)
    for index in (some, slice(1, None), slice(0, 1)):
        part = law.take(index)
        assert part.size == np.arange(law.size)[index].size
        assert np.array_equal(part.ppf(levels[index]), law.ppf(levels)[index])
        costs = law.virtual_cost(law.ppf(levels))
        assert np.array_equal(part.inverse_virtual_cost(costs[index]), law.inverse_virtual_cost(costs)[index])


@pytest.mark.parametrize(
    "laws",
    [
        [smq.Uniform(0, 1), smq.Uniform(1, 3)],
        [smq.Power(2), smq.Power(0.5, 1, 2)],
        [smq.TruncatedExponential(2), smq.TruncatedExponential(0.1, 1, 2)],
        [smq.from_cdf("theta**a", 0, 1, a=2.0), smq.from_cdf("theta**a", 0, 1, a=0.5).rescale(4.0)],
    ],
    ids=lambda laws: laws[0].name,
)
def test_stacking(laws):
    one = laws[0].stack(laws)
    assert one.size == 2
    assert one.family == laws[0].family
    assert one.ppf([0.3, 0.6]).tolist() == [float(laws[0].ppf(0.3)), float(laws[1].ppf(0.6))]
    assert laws[0].stack([laws[0], laws[0]]).size is None


@pytest.mark.parametrize("spread", [1e-8, 1e-4, 1.0, 36.0, 50.0, 700.0, 1e5])
@pytest.mark.parametrize("low", [0.0, 0.5])
def test_truncated_exponential_for_every_rate(spread, low):
    law = smq.TruncatedExponential(rate=spread / 2, low=low, high=low + 2)
    with mpmath.workdps(MANY_DIGITS):
        rate = mpmath.mpf(law.rate)
        for share in [*CLEAR, 1e-9 / max(spread, 1)]:
            t = low + 2 * share
            distance = mpmath.mpf(t) - mpmath.mpf(low)
            F = mpmath.expm1(-rate * distance) / mpmath.expm1(-rate * 2)
            assert float(law.cdf(t)) == pytest.approx(
                float(F), rel=1e-15 * (4 + float(rate * distance) / 1e3), abs=1e-300
            )
            J = mpmath.mpf(t) + mpmath.expm1(rate * distance) / rate
            if J < 1e300:
                back = float(law.inverse_virtual_cost(float(J)))
                assert abs(back - t) <= 4 * np.spacing(t) + 4e-16 * float(distance)
                assert float(law.virtual_cost(t)) == pytest.approx(float(J), rel=4e-16 * (4 + float(rate * distance)))
        for u in (1e-12, 0.3, 0.5, 0.999):
            want = mpmath.mpf(low) - mpmath.log1p(mpmath.mpf(u) * mpmath.expm1(-rate * 2)) / rate
            assert float(law.ppf(u)) == pytest.approx(float(want), rel=1e-15)
