"""One run: the structured route and Clarabel, or where laws jump a linear program over chords; floors of groups that go with ε, so that some bind.

    pytest tests/benchmarks/test_structured.py --benchmark-only -s

prints seconds and ratios; ratios, not seconds, are what the project claims.
"""

from __future__ import annotations

import inspect

import cvxpy as cp
import numpy as np
import pytest
from measures import best_of, peak_of_process
from scipy import sparse
from scipy.optimize import linprog

import smqopt as smq
from smqopt.market import state
from smqopt.solvers import StructuredSolver
from smqopt.valuation import PiecewiseUniformByOwner

MOST_BYTES = 2e9
OWNERS_OF_CHORDS = 4_000
"""So many that HiGHS takes seconds; at 20,000 it takes minutes."""


def instance(n, groups):
    """Who requires little privacy is in the first groups, of whom too few would sell."""
    rng = np.random.default_rng(5)
    epsilon = rng.random(n)
    noisy = np.clip(epsilon + 0.3 * rng.standard_normal(n), 0.0, 1.0 - 1e-9)
    labels = (noisy * groups).astype(int)
    market = smq.Market(epsilon, smq.Uniform(0, 1), groups={"group": labels})
    floors = 0.3 * np.bincount(labels, minlength=groups)
    records = [smq.Coverage("group", k, at_least=float(floor)) for k, floor in enumerate(floors)]
    return market, 0.15 * n, labels, floors, records


def peak_alone(making):
    """Return the most memory of a process that makes an instance and solves it."""
    imports = (
        "import numpy as np\nimport smqopt as smq\n"
        "from smqopt.valuation.tabular._piecewise_uniform_by_owner import PiecewiseUniformByOwner\n"
    )
    makers = inspect.getsource(instance) + inspect.getsource(with_jumps)
    return peak_of_process(f"{imports}{makers}{making}\nsmq.solve(market, budget, constraints=records)\n")


@pytest.mark.benchmark(group="side constraints")
def test_ten_groups_against_clarabel(benchmark):
    market, budget, labels, floors, records = instance(100_000, 10)

    def program():
        one = smq.Program(market, budget)
        one.constraints += [cp.sum(one.acceptance[labels == k]) >= floor for k, floor in enumerate(floors)]
        return one

    statement = state(market, records)
    proper, solution = best_of(5, lambda: StructuredSolver().solve(statement, budget, smq.PurchasedPrivacy()))
    whole, from_program = best_of(3, lambda: smq.solve(program()))
    conic, by_clarabel = best_of(1, lambda: smq.solve(program(), solver="conic"))
    benchmark.pedantic(
        StructuredSolver().solve, args=(statement, budget, smq.PurchasedPrivacy()), rounds=3, iterations=1
    )
    print(
        f"\nn = 100,000, 10 groups, {np.count_nonzero(solution.constraint_prices)} bind: solver proper {proper:.4f} s, "
        f"program to solution {whole:.3f} s, Clarabel {conic:.2f} s: {conic / proper:.0f} and {conic / whole:.0f} times faster"
    )
    assert (from_program.solver, by_clarabel.solver) == ("structured", "conic")
    assert 0 < np.count_nonzero(solution.constraint_prices) < 10
    assert solution.purchased_privacy == pytest.approx(by_clarabel.purchased_privacy, rel=1e-6)
    assert solution.details["gap"] <= 1e-9
    assert conic >= whole >= proper


@pytest.mark.benchmark(group="side constraints")
def test_a_million_owners_in_a_hundred_groups(benchmark):
    market, budget, _, _, records = instance(1_000_000, 100)
    seconds, solution = best_of(3, lambda: smq.solve(market, budget, constraints=records))
    benchmark.pedantic(smq.solve, args=(market, budget), kwargs={"constraints": records}, rounds=1, iterations=1)
    peak = peak_alone("market, budget, _, _, records = instance(1_000_000, 100)")
    print(f"\nn = 1,000,000, 100 groups, from records: {seconds:.2f} s, process at most {peak / 1e9:.2f} GB")
    assert solution.details["gap"] <= 1e-9
    assert peak <= MOST_BYTES


LAWS_WITH_JUMPS = ("one histogram", "twenty histograms", "price lists")


def with_jumps(n, groups, name, seed=5):
    """Rough laws of 50 bins or 20 prices; floors and two group budgets."""
    market, budget, labels, _, records = instance(n, groups)
    rng = np.random.default_rng(seed)
    edges, which = np.linspace(0, 1, 51), rng.integers(0, 20, n)
    if name == "price lists":
        lists = [smq.Discrete(np.linspace(0.05, 1, 20), masses) for masses in rng.dirichlet(np.full(20, 2.0), size=20)]
        law = smq.ByOwner([lists[k] for k in which])
    else:
        histograms = [smq.PiecewiseUniform(edges, masses) for masses in rng.dirichlet(np.full(50, 2.0), size=20)]
        law = histograms[0] if name == "one histogram" else PiecewiseUniformByOwner(histograms, which)
    sizes = np.bincount(labels, minlength=groups) / n
    caps = [smq.GroupBudget("group", groups - k, at_most=3.0 * budget * float(sizes[-k])) for k in (1, 2)]
    return smq.Market(market.epsilon, law, groups={"group": labels}), budget, [*records, *caps]


def over_chords(statement, budget):
    """Solve a linear program over all segments of the hulls, curved ones by their chord."""
    market, parts = statement.reduced, []
    for law, index in market.valuation.parts():
        rows, segments = np.arange(market.n)[index], law.hull_segments()
        chord = segments.slope + segments.curvature * segments.width
        if law.size is None:
            parts.append((np.repeat(rows, chord.size), np.tile(segments.width, rows.size), np.tile(chord, rows.size)))
        else:
            parts.append((rows[segments.owner], segments.width, chord))
    owner, width, slope = (np.concatenate(column) for column in zip(*parts, strict=True))
    rows = statement.acceptance[:, owner] + statement.spend[:, owner].multiply(slope)
    return -linprog(
        -market.epsilon[owner],
        A_ub=sparse.csr_array(sparse.vstack([slope[np.newaxis, :], rows])),
        b_ub=np.append(budget, statement.at_most),
        bounds=np.column_stack([np.zeros(width.size), width]),
    ).fun


@pytest.mark.benchmark(group="side constraints and jumps")
@pytest.mark.parametrize("name", LAWS_WITH_JUMPS)
def test_jumps_against_a_linear_program_over_all_chords(benchmark, name):
    market, budget, records = with_jumps(OWNERS_OF_CHORDS, 10, name)
    statement = state(market, records)
    proper, solution = best_of(3, lambda: StructuredSolver().solve(statement, budget, smq.PurchasedPrivacy()))
    program, value = best_of(1, lambda: over_chords(statement, budget))
    benchmark.pedantic(
        StructuredSolver().solve, args=(statement, budget, smq.PurchasedPrivacy()), rounds=1, iterations=1
    )
    print(
        f"\n{name}, n = {OWNERS_OF_CHORDS:,}, 10 groups, {np.count_nonzero(solution.constraint_prices)} rows bind, {len(solution.lottery)} draw: "
        f"{proper:.2f} s, chords in HiGHS {program:.1f} s: {program / proper:.0f} times faster, {solution.purchased_privacy / value - 1:.1e} more bought"
    )
    assert solution.details["gap"] <= 1e-11
    assert solution.purchased_privacy >= value * (1 - 1e-7)
    assert smq.verify(solution, prove=False).valid
    assert program >= proper


@pytest.mark.benchmark(group="side constraints and jumps")
@pytest.mark.parametrize("groups", [10, 100])
@pytest.mark.parametrize("name", LAWS_WITH_JUMPS)
def test_jumps_of_a_hundred_thousand(benchmark, name, groups):
    market, budget, records = with_jumps(100_000, groups, name)
    seconds, solution = best_of(2, lambda: smq.solve(market, budget, constraints=records))
    benchmark.pedantic(smq.solve, args=(market, budget), kwargs={"constraints": records}, rounds=1, iterations=1)
    peak = peak_alone(f"market, budget, records = with_jumps(100_000, {groups}, {name!r})")
    print(
        f"\n{name}, n = 100,000, {groups} groups, {np.count_nonzero(solution.constraint_prices)} rows bind, {len(solution.lottery)} draw: "
        f"{seconds:.2f} s, process at most {peak / 1e9:.2f} GB"
    )
    assert solution.details["gap"] <= 1e-11
    assert smq.verify(solution, prove=False).valid
    assert peak <= MOST_BYTES
