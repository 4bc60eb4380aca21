"""What may stand among constraints and is seldom tried: the right answer, or one clear error of the family."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import smqopt as smq
from smqopt.errors import InputError

MARKET = smq.Market([0.4, 0.27, 0.05, 0.27, 0.26], smq.Uniform(0, 1), groups={"h": list("aabac")})
G = np.array([[1.0, 1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 2.0, 0.0, 1.0]]) / 3


def solve(write, **options):
    program = smq.Program(MARKET, 1.0)
    program.constraints += [write(program)]
    return smq.solve(program, **options)


SPARSE = {
    "csr array": lambda q: sp.csr_array(G) @ q >= 0.35,
    "csr matrix": lambda q: sp.csr_matrix(G) @ q >= 0.35,
    "coordinates": lambda q: sp.coo_array(G) @ q >= 0.35,
    "from the right": lambda q: q @ sp.csr_array(G.T) >= 0.35,
    "a constant": lambda q: cp.Constant(sp.csr_array(G)) @ q >= 0.35,
    "an own variable": lambda q: sp.csr_array(G) @ q >= cp.Variable(2, nonneg=True) + 0.35,
}


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("solver", [None, "conic"])
def test_sparse_rows_say_what_dense_ones_say(name, solver):
    dense = solve(lambda program: G @ program.acceptance >= 0.35)
    solution = solve(lambda program: SPARSE[name](program.acceptance), solver=solver)
    assert solution.purchased_privacy == pytest.approx(dense.purchased_privacy, rel=1e-9)
    assert smq.verify(solution).valid


@pytest.mark.parametrize(
    ("sparse", "dense"),
    [
        (lambda q: cp.norm(sp.csr_array(G) @ q) <= 0.5, lambda q: cp.norm(G @ q) <= 0.5),
        (lambda q: cp.quad_form(q, sp.csc_array(np.eye(5))) <= 0.6, lambda q: cp.sum_squares(q) <= 0.6),
    ],
    ids=["norm", "quadratic form"],
)
def test_sparse_terms_that_are_not_linear(sparse, dense):
    one, other = (solve(lambda program, write=write: write(program.acceptance)) for write in (sparse, dense))
    assert one.purchased_privacy == pytest.approx(other.purchased_privacy, rel=1e-6)


@pytest.mark.parametrize("entry", [True, np.True_])
def test_what_always_holds_changes_nothing(entry):
    solution = solve(lambda _: entry)
    assert solution.purchased_privacy == pytest.approx(smq.solve(MARKET, 1.0).purchased_privacy, rel=1e-12)
    assert smq.verify(solution).valid


@pytest.mark.parametrize("entry", [False, np.False_])
def test_what_never_holds_is_the_conflict(entry):
    solution = solve(lambda _: entry)
    assert (solution.status, solution.conflict) == (smq.Status.INFEASIBLE, ("False",))


OTHER = smq.Program(MARKET, 1.0)


@pytest.mark.parametrize(
    ("write", "match"),
    [
        (lambda p: p.acceptance <= cp.Parameter(name="cap"), "parameter without a value"),
        (lambda p: cp.sum_squares(p.acceptance) <= cp.Parameter(nonneg=True), "parameter without a value"),
        (lambda p: G @ p.acceptance >= cp.Parameter(2), "parameter without a value"),
        (lambda _: cp.sum(OTHER.acceptance) <= 0.1, "about another program"),
        (lambda p: OTHER.acceptance[0] <= p.acceptance[0], "about another program"),
        (lambda _: cp.sum_squares(OTHER.spend) <= 0.1, "about another program"),
        (lambda p: 1e200 * cp.sum(p.acceptance) <= 1e200, "numbers up to 1e"),
        (lambda p: 1e308 * cp.sum(p.spend) <= 1.0, "numbers up to 1e"),
        (lambda p: np.inf * cp.sum(p.acceptance) <= 1.0, "finite numbers"),
        (lambda p: cp.sum(p.acceptance) <= np.inf, "finite numbers"),
    ],
)
def test_what_says_nothing_is_refused(write, match):
    with pytest.raises(InputError, match=match):
        solve(write)


@pytest.mark.parametrize("size", [1e-90, 1e-20, 1e20, 1e90])
def test_the_size_of_a_rows_numbers_does_not_matter(size):
    market = smq.Market([1.0, 0.5], smq.Uniform(0, 1))
    row = smq.LinearRow(0.5 * size, acceptance=((0, size), (1, size)))
    solution = smq.solve(market, 1.0, constraints=[row])
    assert solution.purchased_privacy == pytest.approx(0.5, rel=1e-9)
    assert smq.verify(solution).valid


def test_one_record_is_no_list():
    for solve_it in (smq.solve, smq.Program):
        with pytest.raises(InputError, match="must be a list of constraint records"):
            solve_it(MARKET, 1.0, constraints=smq.Coverage("h", "a", at_least=1))


def test_a_cap_on_owners_needs_its_number():
    with pytest.raises(InputError, match=r"expected-owners.*at_most"):
        smq.ExpectedOwners()


def test_a_range_of_acceptance_by_owner():
    least, most = [0.1, 0.2, 0.3, 0.1, 0.1], [0.6, 1, 1, 1, 1]
    solution = smq.solve(MARKET, 1.0, constraints=[smq.AcceptanceRange(least, most)])
    assert np.all(solution.acceptance >= np.array(least) - 1e-12)
    assert np.all(solution.acceptance <= np.array(most) + 1e-12)
    certificate = smq.verify(solution)
    assert (certificate.valid, certificate.grade) == (True, "proved"), certificate.reasons
    record = smq.AcceptanceRange(np.array(least), column="h", label="a")
    assert record.to_dict()["at_least"] == least
    assert smq.solve(MARKET, 1.0, constraints=[record]).acceptance[1] >= 0.2 - 1e-12
    with pytest.raises(InputError, match="one number for each of the 5 rows"):
        smq.solve(MARKET, 1.0, constraints=[smq.AcceptanceRange([0.1, 0.2])])
    with pytest.raises(InputError, match=r"must be at most 0\.2"):
        smq.AcceptanceRange([0.1, 0.3], [0.5, 0.2])


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda q: cp.norm(1e200 * q) <= 1, "must have numbers between"),
        (lambda q: cp.Variable(5, complex=True) == q, "must be real"),
        (lambda q: cp.real(1j * q[0]) <= 1, "must be real"),
    ],
)
def test_numbers_beyond_what_is_solved_are_refused(write, says):
    with pytest.raises(InputError, match=says):
        solve(lambda program: write(program.acceptance))


def test_a_constraint_without_entries_says_nothing():
    try:
        cp.Variable(3)[:0] <= 0.1  # noqa: B015
    except ValueError:
        pytest.skip("cvxpy before 1.9 cannot state one")
    solution = solve(lambda program: program.acceptance[:0] <= 0.1)
    assert smq.verify(solution).valid
    assert solution.constraints == ()
