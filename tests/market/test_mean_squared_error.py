"""The least mean squared error: figures of the issue, bounds from both sides, and what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

import smqopt as smq
from smqopt.market import best_cap, least_corner
from smqopt.questions.error._expected_error import enclose_expectation

VARIANCE = 0.24 * 0.76


def spread(n):
    return (np.arange(1, n + 1) - 0.5) / n


@pytest.mark.parametrize(
    ("law", "n", "share", "error"),
    [
        (smq.Beta(2, 3), 2_000, 0.3, 17.5264),
        pytest.param(smq.Uniform(0, 1), 32_561, 0.2, 91.0038, marks=pytest.mark.slow),
        pytest.param(smq.Uniform(0, 1), 32_561, 0.5, 54.4467),
        pytest.param(smq.Uniform(0, 1), 32_561, 0.9, 25.6865, marks=pytest.mark.slow),
    ],
)
def test_errors_of_reference(law, n, share, error):
    """Found by another program, with bounds 2e-7 below."""
    market = smq.Market(spread(n), law)
    solution = smq.solve(market, share * n, objective=smq.MeanSquaredError(range=1, variance=VARIANCE))
    assert solution.error == pytest.approx(error, abs=5e-5)  # the digits that are known
    certificate = smq.verify(solution)
    assert certificate.valid
    assert certificate.grade == "proved"
    assert certificate.error_bound <= solution.error
    assert certificate.gap <= 1e-6
    plain = smq.solve(market, share * n)
    assert solution.error < math.sqrt(solution.objective.value(market, plain.acceptance))


@settings(max_examples=15)
@given(
    rows=st.lists(st.tuples(st.floats(0.01, 2), st.floats(0.2, 3)), min_size=1, max_size=5),
    share=st.floats(0.02, 0.98),
    variance=st.floats(0.01, 0.25),
)
def test_nothing_beats_the_bound(rows, share, variance):
    """Any thresholds within the budget, with their own best weights, err at least as much."""
    epsilon, high = (np.array(column) for column in zip(*rows, strict=True))
    market = smq.Market(epsilon, smq.Uniform(0.0, high))
    budget = share * high.sum()
    aim = smq.MeanSquaredError(range=1, variance=variance)
    solution = smq.solve(market, budget, objective=aim)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    rng = np.random.default_rng(0)

    def error(q):
        scaled = np.clip(q, 1e-9, 1)
        spent = float(high @ scaled**2)
        return aim.value(market, scaled * min(1.0, math.sqrt(budget / spent)))

    starts = [solution.acceptance, *rng.random((3, epsilon.size))]
    found = [minimize(error, start, method="Nelder-Mead", options={"maxiter": 200}).fun for start in starts]
    assert min(found) >= certificate.lower_bound * (1 - 1e-9)


@given(st.lists(st.tuples(st.floats(0, 4), st.floats(0, 1)), min_size=1, max_size=9), st.floats(1e-6, 1e6))
def test_the_cap_solves_its_equation(rows, kappa):
    epsilon, q = (np.array(column) for column in zip(*rows, strict=True))
    if not q @ epsilon > 1e-6:
        return
    tau = best_cap(epsilon, q, kappa)
    a = np.minimum(epsilon, tau)
    assert q @ (a * (tau - a)) == pytest.approx(kappa, rel=1e-9)


@given(
    planes=st.lists(st.tuples(st.floats(0, 9), st.floats(0.1, 9)), min_size=1, max_size=7),
    Y=st.floats(0, 50),
    part=st.floats(0.01, 1),
)
def test_no_point_of_the_polygon_errs_less_than_its_corner(planes, Y, part):
    planes = [*planes, (0.0, 5.0)]
    corner = least_corner(planes, 0.2, 1.0, 10)
    X = part * min(U + mu * Y for mu, U in planes)
    error = 100 * (Fraction(0.2) * Fraction(Y) + 2) / Fraction(X) ** 2 - 10 * Fraction(0.2)
    assert Fraction(corner.error) <= error * (1 + Fraction(1, 2**40))
    assert least_corner(planes[:-1], 0.2, 1.0, 10).error <= corner.error


def test_it_is_saved_and_loaded_and_forged_half_planes_are_caught(tmp_path):
    market = smq.Market(spread(60), smq.Uniform(0, 1))
    solution = smq.solve(market, 12.0, objective=smq.MeanSquaredError(range=1))
    certificate = smq.verify(solution)
    solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    assert smq.Solution.load(tmp_path).error == solution.error
    again = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert (again.error_bound, again.grade) == (certificate.error_bound, "proved")
    aim = solution.objective
    for planes in (
        aim.half_planes[:1],  # the polygon has no end
        tuple((mu, 3 * price) for mu, price in aim.half_planes),  # bounds that hold, and are no good
        (),
        ((0.1,),),
    ):
        try:
            forged = dataclasses.replace(solution, objective=aim.with_half_planes(planes))
        except smq.InputError:
            continue
        assert not smq.verify(forged).valid
    cheap = dataclasses.replace(solution, thresholds=solution.thresholds / 2, acceptance=solution.acceptance / 2)
    assert not smq.verify(cheap).valid


def test_the_second_checker_says_that_it_does_not_check_it(tmp_path):
    certificate = smq.verify(
        smq.solve(smq.Market(spread(6), smq.Uniform(0, 1)), 1.0, objective=smq.MeanSquaredError(range=1))
    )
    certificate.solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    ran = subprocess.run(
        [sys.executable, "-m", "smqopt.second_checker", tmp_path], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, "not checked" in ran.stdout + ran.stderr) == (3, True)


def test_constraints_programs_and_lotteries_go_with_it():
    market = smq.Market(spread(60), smq.Uniform(0, 1), groups={"city": ["Oslo"] * 30 + ["Bergen"] * 30})
    aim = smq.MeanSquaredError(range=1)
    free = smq.solve(market, 8.0, objective=aim)
    held = smq.solve(market, 8.0, objective=aim, constraints=[smq.Coverage("city", "Oslo", at_least=12)])
    assert smq.verify(held).grade == "proved"
    assert held.acceptance[:30].sum() >= 12 * (1 - 1e-9)
    assert held.error > free.error
    program = smq.Program(market, 8.0, objective=aim)
    stated = smq.solve(program)
    assert smq.verify(stated).valid
    assert stated.error == pytest.approx(free.error, rel=1e-6)
    assert program.objective_record == aim
    odd = smq.Market(spread(40), smq.PiecewiseUniform([0, 0.3, 0.6, 1], [1, 5, 1]))
    assert smq.verify(smq.solve(odd, 6.0, objective=aim)).valid
    alike = smq.Market([0.2, 0.9], smq.Uniform(0, 1), multiplicity=[30, 30])
    rows = smq.solve(alike, 8.0, objective=aim)
    apart = smq.solve(alike.expand(), 8.0, objective=aim)
    assert rows.error == pytest.approx(apart.error, rel=1e-6)


@pytest.mark.parametrize("budget", [0.0, 1e-9, 60.0, 1e6])
def test_edges_of_the_budget(budget):
    market = smq.Market(spread(60), smq.Uniform(0, 1))
    solution = smq.solve(market, budget, objective=smq.MeanSquaredError(range=1))
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert (solution.error == math.inf) == (budget == 0.0)
    assert certificate.error_bound <= solution.error


def test_the_population_may_be_larger_than_the_market():
    market = smq.Market(spread(60), smq.Uniform(0, 1))
    one, two = (smq.solve(market, 9.0, objective=smq.MeanSquaredError(range=1, population=n)).error for n in (60, 6000))
    assert two > 50 * one


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"range": 1, "variance": 0.0}, "'variance': must be a finite number > 0"),
        ({"range": 1, "variance": -1}, "'variance': must be a finite number > 0"),
        ({"range": 1, "variance": 0.6}, "'variance': must be at most 0.5"),
        ({"range": None}, "'range': must be a finite number > 0.*public width"),
        ({"range": math.nan}, "'range': must be a finite number > 0"),
        ({"range": True}, "'range': must be a finite number > 0"),
        ({"range": 1, "population": 0.5}, "'population': must be a whole number"),
        ({"range": 1, "population": 59}, "'population': must be at least the 60 owners"),
    ],
)
def test_refused_in_one_line(arguments, message):
    market = smq.Market(spread(60), smq.Uniform(0, 1))
    with pytest.raises(smq.InputError, match=message):
        smq.solve(market, 9.0, objective=smq.MeanSquaredError(**arguments))


@pytest.mark.parametrize("epsilon", [[1e-200, 1e-200], [1e200, 1.0]])
def test_requirements_whose_squares_are_no_doubles_are_refused(epsilon):
    with pytest.raises(smq.InputError, match="the largest must be 0, or lie between 1e-100 and 1e\\+100"):
        smq.solve(smq.Market(epsilon, smq.Uniform(0, 1)), 0.3, objective=smq.MeanSquaredError(range=1))


def test_where_nobody_has_privacy_to_sell_that_is_proved():
    certificate = smq.verify(
        smq.solve(smq.Market([0.0, 0.0], smq.Uniform(0, 1)), 0.3, objective=smq.MeanSquaredError(range=1))
    )
    assert (certificate.grade, certificate.error_bound) == ("proved", math.inf)


def test_an_error_next_to_the_largest_double_is_bounded():
    market = smq.Market([0.5, 1.0], smq.Uniform(0, 1))
    for budget in (1e-200, 1e-300):
        certificate = smq.verify(smq.solve(market, budget, objective=smq.MeanSquaredError(range=1)))
        assert 1e90 < certificate.error_bound <= certificate.solution.error


def test_other_solutions_speak_of_no_error():
    solution = smq.solve(smq.Market(spread(6), smq.Uniform(0, 1)), 1.0)
    for ask in (lambda: solution.error, lambda: smq.verify(solution).error_bound, lambda: smq.expected_error(solution)):
        with pytest.raises(smq.InputError, match="made for another objective"):
            ask()


# --- in expectation --------------------------------------------------------------------------------------------------


def by_enumeration(a, q, variance, noise):
    total = 0.0
    for sold in itertools.product([0, 1], repeat=a.size):
        s = np.array(sold)
        if s @ a > 0:
            total += np.prod(np.where(s, q, 1 - q)) * (variance * (s @ a**2) + noise) / (s @ a) ** 2
    return total


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(1e-3, 3), st.floats(0.01, 1)), min_size=1, max_size=7),
    st.floats(0.01, 0.25),
    st.floats(0.1, 2),
)
def test_the_expectation_is_enclosed(rows, variance, noise):
    a, q = (np.array(column) for column in zip(*rows, strict=True))
    (lower, upper), nobody = enclose_expectation(a, q, np.ones(a.size), variance, noise)
    exact = by_enumeration(a, q, variance, noise)
    assert lower <= exact * (1 + 1e-9)
    assert exact <= upper * (1 + 1e-9)
    assert upper <= 1.02 * lower
    assert nobody == pytest.approx(np.prod(1 - q))


def test_twelve_owners_by_all_their_subsets():
    rng = np.random.default_rng(2)
    a, q = rng.random(12) + 0.1, rng.random(12)
    (lower, upper), _ = enclose_expectation(a, q, np.ones(12), 0.2, 2.0)
    exact = by_enumeration(a, q, 0.2, 2.0)
    assert lower <= exact <= upper <= 1.01 * lower


def test_the_expected_error_may_lie_on_either_side():
    """60 sure owners at .25, and one at q = ½ with 15: .0614 at the expected sums, .0394 in expectation."""
    a, q, m = np.array([0.25, 15.0]), np.array([1.0, 0.5]), np.array([60.0, 1.0])
    (lower, upper), _ = enclose_expectation(a, q, m, 0.25, 2.0)
    X, Y = m @ (a * q), m @ (a**2 * q)
    at_expected_sums = (0.25 * Y + 2.0) / X**2
    assert at_expected_sums == pytest.approx(0.0614, abs=5e-5)
    assert lower - 1e-9 <= 0.5 * (0.25 * 3.75 + 2) / 15**2 + 0.5 * (0.25 * 228.75 + 2) / 30**2 <= upper + 1e-9
    assert 0.039 < lower <= upper < 0.0398
    (lower, _), _ = enclose_expectation(a, q, m, 0.0, 2.0)
    assert lower > 2.0 / X**2  # of noise alone there is more in expectation


def test_weights_next_to_nothing_leave_bounds_that_hold():
    for budget in (0.5, 6.0):
        market = smq.Market([0.0, 1e-300, 0.5], smq.Uniform(0.2, 1))
        found = smq.expected_error(smq.solve(market, budget, objective=smq.MeanSquaredError(range=1)))
        assert 0 <= found.lower <= found.upper


def test_many_owners_are_enclosed_and_simulated():
    market = smq.Market(spread(300), smq.Uniform(0, 1))
    solution = smq.solve(market, 40.0, objective=smq.MeanSquaredError(range=1, variance=VARIANCE))
    found = smq.expected_error(solution)
    a = np.minimum(market.epsilon, solution.objective.sums(market, solution.acceptance)[2])
    sold = np.random.default_rng(8).random((20_000, 300)) < solution.acceptance
    X, Y = sold @ a, sold @ a**2
    errors = 300**2 * (VARIANCE * Y + 2) / X**2 - 300 * VARIANCE
    spread_of_mean = 4 * errors.std() / math.sqrt(errors.size)
    assert found.lower**2 - spread_of_mean <= errors.mean() <= found.upper**2 + spread_of_mean
    assert found.upper <= 1.001 * found.lower
    assert found.lower > found.at_expected_sums
