"""Convex rows of many kinds, under budgets from all to a hundred thousandth: every certificate is valid.

A seeded tenth by default; `pytest -m exhaustive tests/solvers/test_convex_rows_at_all_budgets.py` runs 600.
"""

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array

import smqopt as smq
from smqopt.solvers.conic.cuts._dual_cones import outside, push_inside

LAWS = (
    smq.Uniform(0, 1),
    smq.Uniform(0.2, 1.2),
    smq.Power(2.0),
    smq.Power(1.5, high=2.0),
    smq.Beta(2, 3),
    smq.Triangular(0, 0.4, 1),
)
SHARES = (1e-4, 1e-3, 0.03, 0.2, 0.5, 2.0)
"""Of what all would cost at their highest prices."""


def rows_of(rng, q, b, groups, budget):
    """One or two convex rows, of random kinds."""
    n, g = q.size, groups.shape[0]
    for _ in range(int(rng.integers(1, 3))):
        c = float(rng.choice([0.1, 0.3, 0.5, 0.8]))
        mixed = rng.normal(size=(int(rng.integers(1, 4)), n)).round(2)
        kinds = (
            lambda c=c: cp.norm(csr_array(groups) @ q) <= c * n / np.sqrt(g),
            lambda c=c, mixed=mixed: cp.norm(mixed @ q) <= c,
            lambda c=c: cp.norm(q - c) <= 0.3 * np.sqrt(n),
            lambda c=c: cp.sum_squares(q) <= c * n,
            lambda c=c: cp.norm(q, "inf") <= c,
            lambda c=c, mixed=mixed: cp.norm1(mixed @ q) <= c,
            lambda c=c: cp.log_sum_exp(3 * q) <= np.log(n) + 3 * c,
            lambda c=c: cp.sum(cp.exp(q)) <= n * np.exp(c),
            lambda c=c: cp.norm(b) <= c * budget,
            lambda c=c: cp.max(csr_array(groups) @ q) <= 0.5 * c * n,
            lambda c=c: cp.norm(cp.hstack([q, n * b / budget])) <= c * np.sqrt(n),
        )
        yield kinds[int(rng.integers(len(kinds)))]()


def certificate_of(seed):
    rng = np.random.default_rng([seed, 5])
    n = int(rng.choice([1, 2, 3, 4, 6, 10, 20]))
    epsilon = rng.uniform(0.1, 2.0, n).round(3)
    law = LAWS[int(rng.integers(len(LAWS)))]
    labels = [f"g{k}" for k in rng.integers(3, size=n)]
    market = smq.Market(epsilon, law, groups={"group": labels})
    budget = float(market.high.sum()) * float(rng.choice(SHARES))
    mine = smq.Coverage("group", labels[0], at_least=0.2 * labels.count(labels[0]))
    program = smq.Program(market, budget, constraints=[mine] if rng.random() < 0.3 else [])
    groups = np.array([[float(label == one) for label in labels] for one in sorted(set(labels))])
    program.constraints += list(rows_of(rng, program.acceptance, program.spend, groups, budget))
    solution = smq.solve(program)
    return None if solution.status is smq.Status.INFEASIBLE else smq.verify(solution)


@pytest.mark.parametrize("seed", [*range(60), *(pytest.param(k, marks=pytest.mark.exhaustive) for k in range(60, 600))])
def test_certificates_are_valid_at_all_budgets(seed):
    certificate = certificate_of(seed)
    assert certificate is None or certificate.valid, certificate.reasons


def test_a_row_touches_a_face_where_many_offers_are_as_good():
    """The optimum of 2 x + y on the circle of radius 1/2: √5/2, whoever of each group sells."""
    market = smq.Market([0.5, 1.0, 2.0, 0.3], smq.Uniform(0, 1))
    program = smq.Program(market, 0.8)
    sums = csr_array(np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]))
    program.constraints += [cp.norm(sums @ program.acceptance) <= 0.5]
    certificate = smq.verify(smq.solve(program))
    assert certificate.valid, certificate.reasons
    assert certificate.gap < 1e-9  # it was 1.1e-7
    assert certificate.lower_bound == pytest.approx(np.sqrt(5.0) / 2.0, rel=1e-9)


@pytest.mark.parametrize("share", [1e-3, 1e-4])
@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_small_budgets_are_solved_in_their_own_units(law, share):
    market = smq.Market([0.3, 0.7, 1.2], law)
    budget = float(market.high.sum()) * share
    plain = smq.solve(market, budget)
    program = smq.Program(market, budget)
    program.constraints += [cp.norm(program.acceptance) <= 0.9 * np.linalg.norm(plain.acceptance)]
    certificate = smq.verify(smq.solve(program))
    assert certificate.valid, certificate.reasons
    assert 0.8 < certificate.lower_bound / plain.purchased_privacy < 1


def test_a_row_in_which_spend_hardly_counts_is_kept():
    """A row in which spend hardly counts was left out, as it stuck out of its cone by a rounding."""
    market = smq.Market(np.full(10, 0.5), smq.Triangular(0, 0.4, 1))
    program = smq.Program(market, 20.0)
    q, b = program.acceptance, program.spend
    program.constraints += [cp.norm(cp.hstack([q, b / 20.0])) <= 0.1 * np.sqrt(10)]
    certificate = smq.verify(smq.solve(program))
    assert certificate.valid, certificate.reasons
    assert len(certificate.solution.records[-1].cuts) == 1


@pytest.mark.parametrize("row", [lambda q: cp.geo_mean(q, approx=False) >= 0.1, lambda q: cp.norm(q) <= 0.5])
def test_one_owner_has_rows_whose_slopes_are_plain_numbers(row):
    program = smq.Program(smq.Market([1.0], smq.Uniform(0, 1)), 0.16)
    program.constraints += [row(program.acceptance)]
    certificate = smq.verify(smq.solve(program))
    assert certificate.valid, certificate.reasons
    assert certificate.lower_bound == pytest.approx(0.4, rel=1e-9)


def test_rows_of_two_constraints_are_sought_anew_together():
    """Their prices stand in the order of the constraints."""
    market = smq.Market(np.full(4, 0.5), smq.Uniform(0, 1))
    program = smq.Program(market, 2.0)
    q = program.acceptance
    program.constraints += [
        cp.norm1(np.array([[1.3, 0.3, -0.3, -0.6]]) @ q) <= 0.1,
        cp.sum(cp.exp(q)) <= 4 * np.exp(0.3),
    ]
    certificate = smq.verify(smq.solve(program))
    assert certificate.valid, certificate.reasons
    assert 0.5 < certificate.lower_bound <= 0.6  # 2 · 0.3, were it not for the first


@pytest.mark.parametrize("budget", [0.7, 2.0])
def test_a_range_of_one_acceptance_behind_a_common_price_is_an_equation(budget):
    laws = smq.ByOwner([smq.Uniform(0.1, 0.6), smq.Triangular(0, 0.4, 1), smq.Uniform(0, 1)])
    market = smq.Market([0.9, 1.6, 0.4], laws, groups={"h": ["a", "a", "a"], "s": ["x", "y", "x"]})
    fixed = smq.AcceptanceRange(at_least=0.3, at_most=0.3, column="s", label="x")
    for objective in (None, smq.DiminishingReturns(scale=0.3)):
        solution = smq.solve(market, budget, constraints=[smq.CommonPrice("h"), fixed], objective=objective)
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert certificate.gap < 1e-9
        assert solution.acceptance[[0, 2]] == pytest.approx(0.3, abs=1e-9)
        assert np.max(np.abs(solution.constraint_prices)) < 1e3


def test_chords_meet_the_hull_inside_a_flat_piece():
    """Straight pieces end at both ends of the piece of an irregular law on which an owner draws."""
    law = smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0.5, 0.6)], [0.7, 0.3])
    market = smq.Market([0.137, 0.431, 0.172, 1.143], law)
    program = smq.Program(market, 0.12, ironed=True)
    program.constraints += [cp.norm(program.acceptance) <= 0.8]
    certificate = smq.verify(smq.solve(program))
    assert certificate.valid, certificate.reasons
    plain = smq.solve(market, 0.12)
    assert plain.acceptance[3] > 0.27  # she draws, and the row takes nothing
    assert certificate.lower_bound == pytest.approx(plain.purchased_privacy, rel=1e-9)


@pytest.mark.parametrize(
    ("cones", "z"),
    [
        ({"soc": [3]}, [1.0, 0.6, 0.8 + 1e-12]),
        ({"exp": 1}, [-1.0, np.log(2.0) - 1e-12 - 1.0, 0.5]),
        ({"soc": [2], "exp": 1, "nonneg": 1}, [1.0, 1.0, 1.0 + 1e-12, -2.0, -2.0 - 2 * np.log(1.5) - 1e-12, 3.0]),
    ],
)
def test_what_sticks_out_of_a_cone_by_a_rounding_is_moved_inside(cones, z):
    dims = SimpleNamespace(**{"zero": 0, "nonneg": 0, "soc": [], "psd": [], "exp": 0, "p3d": [], "pnd": [], **cones})
    moved = np.array(z)
    before = outside(moved, dims)
    push_inside(moved, dims)
    assert before > 1e-13
    assert outside(moved, dims) <= 2.0**-52
    assert np.max(np.abs(moved - z)) <= 1e-11
