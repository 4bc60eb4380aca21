"""Objectives other than purchased privacy by the price search: against closed forms, a convex program written out here, and their own duality."""

import dataclasses
import json

import cvxpy as cp
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.errors import CertificateError, InputError, SolverError
from smqopt.market import OBJECTIVES, objective_from_dict

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "uniform from 1": smq.Uniform(1, 3),
    "power": smq.Power(2),
    "flat density at 0": smq.Power(0.5),
    "no density at the top": smq.Triangular(0, 0.5, 1),
    "truncated exponential": smq.TruncatedExponential(2),
    "irregular histogram": smq.PiecewiseUniform([0, 0.4, 0.9, 1], [0.1, 0.2, 0.7]),
    "atoms": smq.Discrete([1, 2, 3, 5], [1, 2, 3, 4]),
    "an atom at 0": smq.Discrete([0, 1], [1, 1]),
    "point mass": smq.PointMass(2.0),
}


def objectives(rng, n):
    weights = rng.random(n) * (rng.random(n) < 0.8)
    weights[0] = 0.7
    return (
        smq.InverseProbabilityVariance(),
        smq.InverseProbabilityVariance(weights=weights),
        smq.DiminishingReturns(scale=float(10 ** rng.uniform(-2, 1))),
        smq.DiminishingReturns(0.2, weights=weights),
    )


@st.composite
def instances(draw):
    """A small market, a budget as a share of the most that can be spent, and an objective."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(1, 9))
    epsilon = rng.random(n) * (rng.random(n) < 0.8)
    epsilon[0] = 0.5
    counts = rng.integers(1, 4, n) if rng.random() < 0.5 else None
    market = smq.Market(epsilon, LAWS[draw(st.sampled_from(list(LAWS)))], multiplicity=counts)
    objective = objectives(rng, n)[draw(st.integers(0, 3))]
    most = float(np.sum(market.high * (1 if counts is None else counts)))
    return market, most * float(10 ** rng.uniform(-3, 0.1)), objective


def certify(market, budget, objective):
    solution = smq.solve(market, budget, objective=objective)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    value, rounding = solution.objective_value, 1e-14  # the bounds are proved, the value is a sum of doubles
    assert certificate.lower_bound * (1 - rounding) <= value <= certificate.upper_bound * (1 + rounding)
    assert solution.total_spend <= budget
    return solution


@settings(max_examples=30)
@given(instances())
def test_random_instances_are_certified(instance):
    certify(*instance)


@pytest.mark.exhaustive
@settings(max_examples=1000)
@given(instances())
def test_a_thousand_random_instances_are_certified(instance):
    certify(*instance)


# --- independent oracles -------------------------------------------------------------------------------------------


def test_variance_against_its_closed_form_for_a_uniform_law():
    """With C = h q², −w²/q² meets −2λhq at q = (w²/(2λh))^(1/3), capped at 1; λ by bisection in 40 digits."""
    w, h, budget = [0.5, 1.0, 1.0, 4.0], [1.0, 1.0, 2.0, 0.5], 0.8
    market = smq.Market([0.1, 0.0, 1.0, 0.4], smq.Uniform(np.zeros(4), np.array(h)))
    solution = smq.solve(market, budget, objective=smq.InverseProbabilityVariance(weights=w))
    with mp.workdps(40):

        def acceptance(price):
            return [
                min(mp.cbrt(mp.mpf(a) ** 2 / (2 * price * mp.mpf(b))), mp.mpf(1)) for a, b in zip(w, h, strict=True)
            ]

        def over(price):
            return sum(mp.mpf(b) * q**2 for b, q in zip(h, acceptance(price), strict=True)) - mp.mpf(budget)

        price = mp.findroot(over, (mp.mpf("1e-3"), mp.mpf("1e3")), solver="anderson", tol=1e-60)
        expected = [float(q) for q in acceptance(price)]
        value = float(sum(mp.mpf(a) ** 2 / q for a, q in zip(w, acceptance(price), strict=True)))
    assert solution.acceptance == pytest.approx(expected, rel=1e-13)
    assert solution.budget_price == pytest.approx(float(price), rel=1e-12)
    assert solution.objective_value == pytest.approx(value, rel=1e-13)
    assert solution.offered.all()  # ε = 0 plays no part


def test_diminishing_returns_against_its_closed_form_for_a_uniform_law():
    """With C = q², x/(1 + xq) meets 2λq at q = (√(1 + 2x²/λ) − 1)/(2x)."""
    epsilon, scale, budget = [0.05, 0.3, 2.0, 0.0], 0.25, 0.6
    solution = smq.solve(smq.Market(epsilon, smq.Uniform(0, 1)), budget, objective=smq.DiminishingReturns(scale))
    with mp.workdps(40):

        def acceptance(price):
            x = [mp.mpf(e) / mp.mpf(scale) for e in epsilon]
            return [(mp.sqrt(1 + 2 * y**2 / price) - 1) / (2 * y) if y else mp.mpf(0) for y in x]

        price = mp.findroot(lambda p: sum(q**2 for q in acceptance(p)) - mp.mpf(budget), (0.01, 100), solver="anderson")
        expected = [float(q) for q in acceptance(price)]
    assert max(expected) < 1
    assert solution.acceptance == pytest.approx(expected, rel=1e-13)
    assert solution.budget_price == pytest.approx(float(price), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_lotteries_against_a_convex_program_over_the_atoms(seed):
    """Shares of no offer and of each atom, under the objective in cvxpy's own atoms; nothing of the project's statement."""
    rng = np.random.default_rng(seed)
    values, masses = np.array([1.0, 2.0, 4.0, 7.0]), rng.integers(1, 9, 4).astype(float)
    n, weights = 5, rng.random(5) + 0.1
    market = smq.Market(rng.random(n) + 0.05, smq.Discrete(values, masses))
    budget = float(rng.uniform(2, 30))
    heaped = np.cumsum(masses) / masses.sum()
    share = cp.Variable((n, 4), nonneg=True)
    q = share @ heaped
    rows = [cp.sum(share, axis=1) <= 1, cp.sum(share @ (values * heaped)) <= budget]
    variance = cp.Problem(cp.Minimize(cp.sum(cp.multiply(weights**2, cp.inv_pos(q)))), rows).solve(solver=cp.CLARABEL)
    logs = cp.Problem(cp.Maximize(cp.sum(cp.log(1 + cp.multiply(market.epsilon / 0.3, q)))), rows).solve(
        solver=cp.CLARABEL
    )
    for objective, expected in (
        (smq.InverseProbabilityVariance(weights=weights), variance),
        (smq.DiminishingReturns(scale=0.3), logs),
    ):
        assert certify(market, budget, objective).objective_value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", list(LAWS))
def test_no_grid_point_does_better(name):
    """Two owners: any split of acceptance on a grid that keeps the budget on the hull, spelt out by ironing a grid of the cost curve."""
    law = LAWS[name]
    grid = np.linspace(0, 1, 401)
    cost = grid * law.ppf(grid)
    hull = np.array([_least(grid, cost, k) for k in range(0, 401, 8)])
    q = grid[::8]
    budget = 0.4 * float(2 * law.high)
    market = smq.Market([0.2, 0.9], law)
    for objective in (smq.InverseProbabilityVariance(weights=[1.0, 3.0]), smq.DiminishingReturns(scale=0.3)):
        value = certify(market, budget, objective).objective_value
        first, second = np.meshgrid(q[1:], q[1:], indexing="ij")
        kept = hull[1:, None] + hull[None, 1:] <= budget
        if objective.smallest:
            best = np.min((1.0 / first + 9.0 / second)[kept])
            assert value <= best * (1 + 1e-12)
        else:
            best = np.max((np.log1p(0.2 / 0.3 * first) + np.log1p(0.9 / 0.3 * second))[kept])
            assert value >= best * (1 - 1e-12)
        assert value == pytest.approx(best, rel=0.1)


def _least(grid, cost, k):
    """The cheapest mixture of two grid points on either side that accepts as often as point k."""
    i, j = np.meshgrid(np.arange(0, k + 1, 8), np.arange(k, 401, 8), indexing="ij")
    share = (grid[k] - grid[i]) / np.where(i == j, 1.0, grid[j] - grid[i])
    return np.min(cost[i] + (cost[j] - cost[i]) * share)


def test_many_owners_by_tables_and_secants_as_few_by_search():
    """Past 8,192 rows of one law answers come from a table; each owner's must be what a search gives her alone at the same price."""
    from smqopt.market import choices

    rng = np.random.default_rng(5)
    epsilon = rng.random(9000) + 1e-3
    for law in (smq.Beta(2, 3), smq.Uniform(0.5, 2), smq.Power(2)):
        market = smq.Market(epsilon, law)
        for objective in (smq.InverseProbabilityVariance(weights=epsilon), smq.DiminishingReturns(0.1)):
            solution = certify(market, 2000.0, objective)
            few = smq.Market(epsilon[:40], law)
            own = objective.utility(market).take(slice(0, 40))
            alone = choices(
                few, own, solution.budget_price, np.full(40, 1e-300)
            )  # what is taken keeps the secants away
            assert solution.thresholds[:40] == pytest.approx(alone.thresholds, rel=1e-12)


# --- edges ---------------------------------------------------------------------------------------------------------


def test_without_a_budget():
    market = smq.Market([0.5, 0.0], smq.Uniform(0, 1))
    solution = smq.solve(market, 0.0, objective=smq.InverseProbabilityVariance())
    assert solution.status is smq.Status.INFEASIBLE
    assert solution.objective_value == np.inf
    assert "the budget" in solution.conflict
    assert "variance" in solution.conflict[1]
    assert not smq.verify(solution).valid
    for objective in (smq.DiminishingReturns(1.0), smq.InverseProbabilityVariance(weights=0.0)):
        solution = smq.solve(market, 0.0, objective=objective)
        assert solution.status is smq.Status.ZERO_BUDGET
        assert solution.objective_value == 0
        assert smq.verify(solution).valid


def test_slack_budgets_buy_all_who_are_wanted_and_no_others():
    market = smq.Market([0.5, 0.0, 0.2], smq.Power(2))
    logs = smq.solve(market, 2.0, objective=smq.DiminishingReturns(1.0, weights=[1, 1, 1]))
    assert (logs.status, logs.acceptance.tolist()) == (smq.Status.SLACK, [1.0, 0.0, 1.0])
    variance = smq.solve(market, 2.0, objective=smq.InverseProbabilityVariance(weights=[1, -2, 0]))
    assert (variance.status, variance.acceptance.tolist()) == (smq.Status.SLACK, [1.0, 1.0, 0.0])
    assert variance.objective_value == 5.0
    assert smq.verify(logs).valid
    assert smq.verify(variance).valid
    assert smq.solve(market, 2.0, objective=smq.InverseProbabilityVariance()).status is smq.Status.BINDING


def test_one_owner_spends_the_budget():
    for objective in (smq.InverseProbabilityVariance(), smq.DiminishingReturns(0.1)):
        solution = certify(smq.Market([0.3], smq.Uniform(0, 1)), 0.25, objective)
        assert solution.thresholds == pytest.approx([0.5], rel=1e-12)


def test_a_large_scale_is_purchased_privacy_and_a_small_one_proportional_fairness():
    market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    plain = smq.solve(market, 0.5)
    large = certify(market, 0.5, smq.DiminishingReturns(scale=1e9))
    assert large.acceptance == pytest.approx(plain.acceptance, rel=1e-8)
    fair = certify(market, 0.5, smq.DiminishingReturns(scale=1e-9))
    assert fair.acceptance == pytest.approx(np.full(3, np.sqrt(0.5 / 3)), rel=1e-6)


def test_scale_beyond_what_doubles_tell_from_a_straight_line():
    """φ is then straight to the last bit, and owners of one point mass are tied: what a jump leaves is spent part of the way."""
    market = smq.Market([0.5, 0.5, 0.25], smq.PointMass(1.0))
    certify(market, 1.3, smq.DiminishingReturns(scale=1e18))


def test_without_lotteries():
    rng = np.random.default_rng(2)
    market = smq.Market(rng.random(40) + 0.1, smq.Discrete([1.0, 2.0, 5.0], [1, 2, 1]))
    for objective in (smq.DiminishingReturns(0.3), smq.InverseProbabilityVariance()):
        drawn = certify(market, 90.0, objective)
        fixed = smq.solve(market, 90.0, objective=objective, lotteries=False)
        assert drawn.lottery is not None
        assert fixed.lottery is None
        assert fixed.total_spend <= 90.0
        certificate = smq.verify(fixed, gap_tolerance=0.2)
        assert certificate.valid, certificate.reasons
        assert 0 < certificate.privacy_forgone < 0.2 * certificate.upper_bound
    with pytest.raises(SolverError, match="finite value"):
        smq.solve(market, 5.0, objective=smq.InverseProbabilityVariance(), lotteries=False)


# --- units ---------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(instances(), st.integers(-26, 26))
def test_money_in_other_units_changes_nothing_but_the_price(instance, power):
    """For units that are powers of two, to the last bit."""
    market, budget, objective = instance
    unit = 2.0**power
    other = smq.Market(market.epsilon, market.valuation.rescale(unit), multiplicity=market.multiplicity)
    plain = smq.solve(market, budget, objective=objective)
    scaled = smq.solve(other, unit * budget, objective=objective)
    assert scaled.status is plain.status
    assert scaled.acceptance == pytest.approx(plain.acceptance, rel=1e-9)
    assert scaled.thresholds == pytest.approx(unit * plain.thresholds, rel=1e-9)
    assert scaled.objective_value == pytest.approx(plain.objective_value, rel=1e-9)
    assert scaled.budget_price == pytest.approx(plain.budget_price / unit, rel=1e-6)


@settings(max_examples=15)
@given(instances(), st.sampled_from([1e-8, 1e8]), st.sampled_from([1e-8, 1e8]))
def test_units_of_privacy_and_of_weights(instance, privacy, weight):
    market, budget, objective = instance
    other = smq.Market(privacy * market.epsilon, market.valuation, multiplicity=market.multiplicity)
    given_weights = np.broadcast_to(1.0 if objective.weights is None else objective.weights, (market.n,))
    changed = dataclasses.replace(objective, weights=weight * given_weights)
    if isinstance(objective, smq.DiminishingReturns):
        changed = dataclasses.replace(changed, scale=privacy * objective.scale)
    factor = weight**2 if objective.smallest else weight
    plain, scaled = certify(market, budget, objective), certify(other, budget, changed)
    assert scaled.acceptance == pytest.approx(plain.acceptance, rel=1e-9, abs=1e-15)
    assert scaled.objective_value == pytest.approx(factor * plain.objective_value, rel=1e-9)


# --- records, files, forgeries -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(OBJECTIVES))
def test_records_go_to_data_and_back(kind):
    given = {
        "diminishing-returns": {"scale": 0.3},
        "mean-squared-error": {"range": 2.0, "variance": 0.5},
        "worst-case-error": {"range": 2.0, "weights": [1, -2], "private": False},
        "worst-group": {"column": "city", "of": "privacy", "labels": ["Oslo", 3]},
        "weighted-objectives": {
            "terms": [{"kind": "worst-group", "column": "city", "weight": 2}, {"kind": "least-spend", "weight": 0.5}]
        },
    }.get(kind, {})
    weighed = kind in ("diminishing-returns", "inverse-probability-variance")
    for weights in ({}, {"weights": [1, 2.5]}, {"weights": 2}) if weighed else ({},):
        record = objective_from_dict({"kind": kind, **given, **weights})
        assert objective_from_dict(json.loads(json.dumps(record.to_dict()))) == record
        assert record.words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "key 'kind': is missing or unknown"),
        ({"kind": "diminishing-return"}, "did you mean 'diminishing-returns'"),
        ({"kind": "diminishing-returns"}, "key 'scale': is missing"),
        ({"kind": "diminishing-returns", "scale": 0}, "finite number > 0"),
        ({"kind": "diminishing-returns", "scale": True}, "finite number > 0"),
        ({"kind": "diminishing-returns", "scale": 10**400}, "finite number > 0"),
        ({"kind": "diminishing-returns", "scale": 1, "weights": [1, -1]}, "row 2: must be a finite number ≥ 0"),
        ({"kind": "inverse-probability-variance", "weights": "1"}, "must be a number, or a list"),
        ({"kind": "inverse-probability-variance", "weights": []}, "must be a number, or a list"),
        ({"kind": "inverse-probability-variance", "weights": [[1]]}, "must be a number, or a list"),
        ({"kind": "inverse-probability-variance", "weights": [None]}, "must be a number, or a list"),
        ({"kind": "inverse-probability-variance", "weights": float("nan")}, "must be a finite number"),
        ({"kind": "inverse-probability-variance", "weight": 1}, "did you mean 'weights'"),
        ("variance", "must be a table"),
    ],
)
def test_bad_data_is_refused(content, words):
    with pytest.raises(InputError, match=words):
        objective_from_dict(content)


def test_weights_must_fit_the_market():
    market = smq.Market([0.5, 0.2], smq.Uniform(0, 1))
    with pytest.raises(InputError, match="one weight for each of the 2 rows"):
        smq.solve(market, 1.0, objective=smq.InverseProbabilityVariance(weights=[1.0]))
    with pytest.raises(InputError, match="must be an objective record"):
        smq.solve(market, 1.0, objective="variance")
    with pytest.raises(InputError, match="the class"):
        smq.solve(market, 1.0, objective=smq.InverseProbabilityVariance)


@pytest.mark.parametrize("name", ["uniform", "atoms"])
def test_files_carry_the_objective(tmp_path, name):
    market = smq.Market([0.5, 0.2, 0.9], LAWS[name])
    solution = certify(market, 0.3 * float(market.high.sum()), smq.InverseProbabilityVariance(weights=[1, 2, 3]))
    solution.save(tmp_path)
    loaded = smq.Solution.load(tmp_path)
    assert loaded.objective == solution.objective
    assert loaded.objective_value == solution.objective_value
    assert "inverse-probability-variance" in repr(loaded)
    certificate = smq.verify(solution)
    certificate.save(tmp_path / "certificate.json")
    again = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert again.valid
    content = json.loads((tmp_path / "certificate.json").read_text())
    assert "variance" in content["objective"]
    assert content["purchased_privacy"] == solution.purchased_privacy
    for key, value in (("objective_value", 1.0), ("purchased_privacy", 9.0), ("objective", "purchased privacy")):
        (tmp_path / "forged.json").write_text(json.dumps({**content, key: value}))
        with pytest.raises(CertificateError, match=key):
            smq.Certificate.load(tmp_path / "forged.json", thresholds=tmp_path / "thresholds.csv")
    del content["solution"]["objective"]
    (tmp_path / "forged.json").write_text(json.dumps(content))
    with pytest.raises(CertificateError):
        smq.Certificate.load(tmp_path / "forged.json", thresholds=tmp_path / "thresholds.csv")


def test_the_judge_sees_a_wrong_objective_price_and_offer():
    market = smq.Market([0.5, 0.2, 0.9], smq.Uniform(0, 1))
    solution = smq.solve(market, 0.5, objective=smq.InverseProbabilityVariance())
    assert smq.verify(solution).valid
    for wrong in (
        {"objective": smq.DiminishingReturns(1.0)},
        {"objective": smq.InverseProbabilityVariance(weights=[1, 1, 2])},
        {"objective": smq.InverseProbabilityVariance(weights=[1, 1])},
        {"objective": smq.PurchasedPrivacy()},
        {"budget_price": solution.budget_price * 1.001},
        {"status": smq.Status.SLACK},
    ):
        assert not smq.verify(dataclasses.replace(solution, **wrong)).valid
    fewer = solution.acceptance * np.array([1, 1, 0.99])
    assert not smq.verify(dataclasses.replace(solution, acceptance=fewer, thresholds=fewer)).valid
    nobody = solution.acceptance * np.array([1, 1, 0])
    certificate = smq.verify(dataclasses.replace(solution, acceptance=nobody, thresholds=nobody))
    assert not certificate.valid
    assert certificate.upper_bound == np.inf


@settings(max_examples=25)
@given(instances(), st.floats(-3, 3))
def test_the_bound_holds_at_any_price(instance, decades):
    """Weak duality: whatever the price, no offers that keep the budget do better."""
    market, budget, objective = instance
    solution = smq.solve(market, budget, objective=objective)
    price = solution.budget_price or 1.0
    other = smq.verify(dataclasses.replace(solution, budget_price=price * 10**decades))
    if objective.smallest:
        assert other.lower_bound <= solution.objective_value * (1 + 1e-14)
    else:
        assert other.upper_bound >= solution.objective_value


def test_questions_about_purchased_privacy_refuse_another_objective():
    market = smq.Market([0.5, 0.2], smq.Uniform(0, 1))
    solution = smq.solve(market, 0.5, objective=smq.DiminishingReturns(1.0))
    with pytest.raises(InputError, match="buys as much privacy as can be"):
        smq.misspecification(solution, smq.Uniform(0, 2))


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Beta(2, 3), smq.Discrete([0.2, 0.5, 1.0], [1, 1, 1])])
def test_bought_owners_are_proved_without_constraints(law):
    solution = smq.solve(smq.Market([0.2, 0.5, 1.0], law), 0.5, objective=smq.BoughtOwners(weights=[1, 2, 0.5]))
    assert smq.verify(solution).grade == "proved"
