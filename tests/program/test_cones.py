"""Each cone form against the cost curve C(q) = q F⁻¹(q), computed by other means."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

import smqopt as smq
from smqopt.program.cones._cone_registry import CONE_FORMS, LEAST_MASS, cone_forms, hull_cost
from smqopt.valuation import PiecewiseUniformByOwner, PriceBounded, PriceListed, Valuation
from smqopt.valuation.law._law_registry import LAWS as NAMES, READERS


def cost_by_solver(law: Valuation, q: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The least spend that the form allows at the given acceptances, in units."""
    acceptance, spend = cp.Variable(q.size), cp.Variable(q.size)
    constraints = [acceptance == q]
    covered = []
    for form in cone_forms(law, acceptance, unit):
        constraints += [form.cost <= spend[form.owners], *form.side]
        covered += form.owners.tolist()
    assert sorted(covered) == list(range(q.size))
    problem = cp.Problem(cp.Minimize(cp.sum(spend)), constraints)
    for step in (0.9, 0.8, 0.95):  # as in a solve: for one step or another Clarabel stalls now and then
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(solver=cp.CLARABEL, max_step_fraction=step, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
        if problem.status == cp.OPTIMAL:
            break
    assert problem.status == cp.OPTIMAL
    return spend.value


ACCEPTANCES = np.array([0.0, 1e-3, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999, 1.0])
N = ACCEPTANCES.size
LAWS = {
    "uniform": smq.Uniform(),
    "uniform, low > 0": smq.Uniform(3.0, 5.0),
    "uniform by owner": smq.Uniform(np.linspace(0, 1, N), np.linspace(2, 3, N)),
    "power 2": smq.Power(2),
    "power 1/2, low > 0": smq.Power(0.5, 1.0, 2.0),
    "power 1": smq.Power(1),
    "power 0.05": smq.Power(0.05),
    "power 50": smq.Power(50, 0.5, 1.0),
    "power beyond rounding": smq.Power(1e18, 0.5, 1.0),
    "power by owner": smq.Power(np.array([0.05, 0.2, 0.5, 1, 1.7, 2, 5, 1e18, 50]), np.linspace(0, 1, N), 2.0),
    "truncated exponential 2": smq.TruncatedExponential(2),
    "truncated exponential, low > 0": smq.TruncatedExponential(3, 0.5, 2.0),
    "truncated exponential, nearly by pieces": smq.TruncatedExponential(-np.log1p(-LEAST_MASS * np.linspace(1, 2, N))),
    "pareto, a = 1": smq.Pareto(1, 1, 4),
    "pareto, a = 1, high far above low": smq.Pareto(1, 1, 8),
    "pareto by owner": smq.Pareto([1, 1.5, 2, 3, 4, 1, 2, 3, 4], np.linspace(1, 1.5, N), np.linspace(1.3, 2.4, N)),
    "triangular with its mode at either end": smq.Triangular(
        np.linspace(0, 1, N), np.where(np.arange(N) % 2, np.linspace(0, 1, N), 2.0), 2.0
    ),
    "gamma that is exponential": smq.Gamma(1, 0.5, 0.25, 2.0),
    "weibull that is exponential": smq.Weibull(1, np.geomspace(0.1, 4, N), np.linspace(0, 1, N), 2.0),
    "beta that is a power": smq.Beta(np.linspace(0.5, 3, N), 1, 0.5, 2.0),
    "kumaraswamy that is a power": smq.Kumaraswamy(np.linspace(0.5, 3, N), 1, 0.5, 2.0),
    "regular histogram": smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 4, 1]),
    "truncated exponential by owner": smq.TruncatedExponential(np.geomspace(0.25, 10, N), np.linspace(0, 1, N), 2.0),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_form_is_the_cost_curve_ends_included(law):
    unit = np.full(N, 2.0)
    expected = ACCEPTANCES * law.ppf(ACCEPTANCES) / unit
    assert np.max(np.abs(cost_by_solver(law, ACCEPTANCES, unit) - expected)) < 1e-7


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_form_follows_the_unit(law):
    tiny = 2.0**-30
    unit = np.full(N, 2.0 * tiny)
    expected = ACCEPTANCES * law.ppf(ACCEPTANCES) / 2.0
    assert np.max(np.abs(cost_by_solver(law.rescale(tiny), ACCEPTANCES, unit) - expected)) < 1e-7


def test_a_steep_truncated_exponential_below_its_cap():
    law, q = smq.TruncatedExponential(50), np.array([0.0, 1e-3, 0.5, 0.99, 0.999])
    assert np.max(np.abs(cost_by_solver(law, q, np.ones(5)) - q * law.ppf(q))) < 1e-7


KUMARASWAMY = smq.Kumaraswamy(1.0, np.linspace(1.25, 16, N), np.linspace(0, 1, N), 2.0)


@pytest.mark.parametrize("law", [smq.Kumaraswamy(1, 3, 0.5, 2.0), KUMARASWAMY], ids=["common", "by owner"])
def test_a_kumaraswamy_law_below_the_end_where_its_slope_has_no_bound(law):
    q = np.array([0.0, 1e-3, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999])
    for unit in (1.0, 2.0):
        found = unit * cost_by_solver(law, q, np.full(N, unit))
        assert np.max(np.abs(found - q * law.ppf(q))) < 1e-7


HISTOGRAM = smq.PiecewiseUniform([0, 0.9, 1], [1, 1])
GAP = smq.PiecewiseUniform([0.5, 1, 2, 4], [3, 0, 1])
HULLS = {
    "irregular histogram": HISTOGRAM,
    "histogram with a gap": GAP,
    "histograms by owner": PiecewiseUniformByOwner(
        [HISTOGRAM, GAP, smq.PiecewiseUniform([0, 1], [1])], np.arange(N) % 3
    ),
    "atoms": smq.Discrete([1, 2, 5], [1, 2, 1]),
    "atoms, one of them dear": smq.Discrete([0, 4, 5], [1, 2, 7]),
    "one atom": smq.Discrete([2.0], [1]),
    "a price list": PriceListed(smq.Uniform(0, 2), [0.25, 0.5, 1.5, 2.0]),
    "a price list by owner": PriceListed(
        smq.Uniform(np.zeros(N), np.linspace(1.0, 2.0, N)), np.linspace(0.125, 2.0, 16)
    ),
    "a histogram between two prices": PriceBounded(HISTOGRAM, 0.0, 1.0),
    "point masses": smq.PointMass(np.linspace(0.5, 4.5, N)),
}


def lowest_chord(law: Valuation, q: float) -> float:
    """C̄(q) by brute force: the least expected payment of all lotteries between two of many posted prices, or a price and no offer."""
    edges = np.unique(
        np.concatenate(
            [
                np.ravel(getattr(law, name))
                for name in ("edges", "values", "prices", "low", "high")
                if hasattr(law, name)
            ]
        )
    )
    theta = np.unique(np.concatenate([edges, np.linspace(edges[0], edges[-1], 1501)]))
    p = np.append(0.0, np.unique(law.cdf(theta)))
    cost = p * law.ppf(p)
    below, above = np.flatnonzero(p <= q), np.flatnonzero(p >= q)
    with np.errstate(invalid="ignore"):
        share = np.where(p[above] > p[below][:, None], (q - p[below][:, None]) / (p[above] - p[below][:, None]), 0.0)
    return float(np.min((1 - share) * cost[below][:, None] + share * cost[above]))


@pytest.mark.parametrize("law", HULLS.values(), ids=HULLS)
def test_the_form_is_the_hull_of_the_cost_curve(law):
    unit = np.full(N, 4.0)
    found = unit * cost_by_solver(law, ACCEPTANCES, unit)
    parts = [law if law.size is None else law.take(np.array([i])) for i in range(N)]
    if isinstance(law, PiecewiseUniformByOwner):
        parts = [law.histograms[k] for k in law.which]
    expected = np.array([lowest_chord(part, q) for part, q in zip(parts, ACCEPTANCES, strict=True)])
    assert np.all(found <= expected + 1e-6)  # the brute force misses a little: it is never below
    assert np.all(found >= expected - 1e-5)


def test_every_registered_form_is_tried_here():
    assert {type(law) for law in (*LAWS.values(), *HULLS.values(), KUMARASWAMY)} == set(CONE_FORMS)
    assert {type(law) for law in HULLS.values()} == {law for law, form in CONE_FORMS.items() if form is hull_cost}
    named = set(CONE_FORMS) - {PriceListed, PriceBounded}  # which a constraint makes of a law that has a name
    assert {form.name for form in named} <= {*NAMES, *READERS}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_what_is_tried_here_has_an_exact_form(law):
    assert all(form.pieces is None for form in cone_forms(law, cp.Variable(N), np.ones(N)))


STATED_BY_PIECES = {
    "kumaraswamy": smq.Kumaraswamy([1.0, 2.0, 1.0], [3.0, 3.0, 1.0]),
    "kumaraswamy, b large": smq.Kumaraswamy(1, 40),
    "beta": smq.Beta(2, 3),
    "irregular beta of some": smq.Beta([1.0, 1.0], [2.0, 0.5]),
    "gamma of some": smq.Gamma([1.0, 2.0], 1, 0, 3),
    "pareto, a < 1": smq.Pareto([1.0, 0.5], 1, 4),
    "pareto, another root": smq.Pareto(2.5, 1, 4),
    "pareto, long tail": smq.Pareto([2.0, 1.0], 1, [100.0, 2.0]),
    "pareto, nearly uniform": smq.Pareto(2, 1, 1.0001),
    "truncated exponential, nearly uniform": smq.TruncatedExponential([2, 1e-8]),
    "triangular, mode inside": smq.Triangular(0.5, 1, 2),
    "logistic": smq.Logistic(1, 0.25, 0, 2),
}


@pytest.mark.parametrize("law", STATED_BY_PIECES.values(), ids=STATED_BY_PIECES)
def test_where_an_owner_has_no_exact_form_all_get_pieces(law):
    m = law.size or 3
    (form,) = cone_forms(law, cp.Variable(m), np.ones(m))
    assert form.pieces is not None
    np.testing.assert_array_equal(form.owners, np.arange(m))


@pytest.mark.parametrize(
    "law",
    [smq.Triangular(0.5, 1, 2), smq.Logistic(1, 0.25, 0, 2), smq.Pareto(2, 1, 1.5), smq.Gamma(1, 1, 0, 3)],
    ids=["triangular", "logistic", "pareto", "gamma"],
)
def test_the_raw_answer_is_certified_and_a_sweep_compiles_once(law):
    market = smq.Market(np.random.default_rng(0).random(50), law)
    program = smq.Program(market, 1.0)
    assert program.problem.is_dcp(dpp=True)
    chains = set()
    for share in (0.05, 0.3, 0.8):
        program.budget.value = share * market.most_that_can_be_spent
        solution = smq.solve(program)
        assert smq.verify(solution.raw, gap_tolerance=1e-7).valid
        dual = smq.solve(market, program.budget.value)
        assert abs(solution.purchased_privacy / dual.purchased_privacy - 1) < 1e-9
        chains.add(id(program.problem._sibling._cache.param_prog))
    assert len(chains) == 1


def test_a_law_without_a_form_is_stated_by_pieces():
    (form,) = cone_forms(smq.Beta(2, 3), cp.Variable(3), np.ones(3))
    assert form.pieces is not None
    assert form.cost is form.pieces.cost
    assert form.side == (form.pieces.constraint,)
