"""Many owners who are alike: where acceptances jump they are all tied, and count as one."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.market import state
from smqopt.solvers.structured import _newton
from smqopt.solvers.structured._alike import merge_alike

LAWS = {
    "atoms": smq.Discrete([0.2, 0.5, 1.0], [1, 2, 1]),
    "pieces": smq.PiecewiseUniform([0, 0.4, 0.6, 1], [0.6, 0.1, 0.3]),
    "one price": smq.PointMass(0.5),
}
N = 40_000


def records(kind, n):
    return {
        "budget": [smq.GroupBudget("g", "a", at_most=0.05 * n)],
        "coverage": [smq.Coverage("g", "a", at_least=0.4 * n)],
        "parity": [smq.Parity("g", within=0.01)],
        "number": [smq.ExpectedOwners(at_most=0.3 * n)],
    }[kind]


def market(law, n, epsilon=0.5):
    return smq.Market(np.full(n, epsilon), law, groups={"g": np.array(["a", "b"])[np.arange(n) % 2]})


@pytest.mark.parametrize("kind", ["budget", "coverage", "parity", "number"])
@pytest.mark.parametrize("law", LAWS)
def test_owners_of_one_kind_are_as_two_that_count_for_half_each(law, kind):
    solution = smq.solve(market(LAWS[law], N), 0.3 * N, constraints=records(kind, N))
    certificate = smq.verify(solution)
    assert certificate.grade == "proved", certificate.reasons
    two = smq.Market([0.5, 0.5], LAWS[law], groups={"g": ["a", "b"]}, multiplicity=[N // 2, N // 2])
    of_two = smq.verify(smq.solve(two, 0.3 * N, constraints=records(kind, N)))
    assert of_two.grade == "proved"
    assert certificate.upper_bound == pytest.approx(of_two.upper_bound, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_some_of_many_are_alike(law):
    rng = np.random.default_rng(3)
    n = 150_000
    epsilon = np.where(rng.random(n) < 0.4, 0.5, rng.uniform(0.1, 1.0, n))
    for kind in ("coverage", "parity"):
        certificate = smq.verify(smq.solve(market(LAWS[law], n, epsilon), 0.3 * n, constraints=records(kind, n)))
        assert certificate.grade == "proved", certificate.reasons


def test_rows_that_differ_anywhere_stay_apart():
    n = 6000
    base = market(LAWS["atoms"], n)
    coefficients = [1.0] * n
    coefficients[7] = np.nextafter(1.0, 2.0)
    row = smq.LinearRow(0.3 * n, acceptance=list(enumerate(coefficients)))
    form = merge_alike(state(base, [smq.GroupBudget("g", "a", at_most=100.0), row]), smq.PurchasedPrivacy())
    assert form.reduced.n == 3
    assert np.bincount(form.row_of_owner).tolist() in (
        [3000, 2999, 1],
        [3000, 1, 2999],
        [2999, 3000, 1],
        [1, 3000, 2999],
    )
    alone = int(np.flatnonzero(np.bincount(form.row_of_owner) == 1)[0])
    assert np.flatnonzero(form.row_of_owner == alone).tolist() == [7]
    assert form.acceptance.sum() == pytest.approx(np.sum(coefficients))


def test_what_tells_kinds_apart():
    """Law, count, bounds and coefficients, each for itself."""
    n = 6000
    base, first = market(LAWS["atoms"], n), smq.LinearRow(0.5, acceptance=[(0, 1.0)])
    counts = np.full(n, 3)
    counts[5] = 2
    of_counts = smq.Market(base.epsilon, base.valuation, multiplicity=counts)
    form = merge_alike(state(of_counts, [first]), smq.PurchasedPrivacy())
    assert sorted(form.reduced.multiplicity.tolist()) == [2, 3, 3 * (n - 2)]
    bounds = smq.AcceptanceRange(at_most=np.where(np.arange(n) < 10, 0.5, 1.0))
    assert merge_alike(state(base, [first, bounds]), smq.PurchasedPrivacy()).reduced.n == 3
    laws = smq.ByOwner([LAWS["atoms"] if i % 3 else LAWS["pieces"] for i in range(n)])
    form = merge_alike(state(smq.Market(base.epsilon, laws), [smq.ExpectedOwners(at_most=9.0)]), smq.PurchasedPrivacy())
    assert sorted(form.reduced.multiplicity.tolist()) == [n // 3, 2 * n // 3]


def test_coefficients_that_add_up_alike_are_not_alike():
    """Two rows whose coefficients have one weighted sum, with the weights by which kinds are told apart."""
    n, weights = 6000, np.random.default_rng(0).random(2)
    rows = [
        smq.LinearRow(1e6, acceptance=[(i, float(weights[1 - k])) for i in range(k, n, 2)], name=f"row {k}")
        for k in (0, 1)
    ]
    form = state(market(LAWS["atoms"], n), rows)
    assert form.acceptance.shape[0] == 2
    assert merge_alike(form, smq.PurchasedPrivacy()) is form


def test_rows_all_unlike_and_few_rows_stay_as_they_are():
    rng = np.random.default_rng(0)
    for epsilon in (rng.uniform(0.1, 1.0, 5000), np.full(100, 0.5)):
        form = state(smq.Market(epsilon, LAWS["atoms"]), [smq.ExpectedOwners(at_most=9.0)])
        assert merge_alike(form, smq.PurchasedPrivacy()) is form
        assert merge_alike(form, smq.DiminishingReturns(0.3)) is form


def test_more_ties_than_a_box_may_hold_end_the_search(monkeypatch):
    """Tied by their slopes, but unlike in a row: no box is so small that it holds few."""
    monkeypatch.setattr(_newton, "_MOST_HINGES", 1 << 8)
    n = 5000
    use = np.random.default_rng(0).uniform(0, 1, n)
    row = smq.LinearRow(0.4 * n, acceptance=list(enumerate(use.tolist())))
    solution = smq.solve(smq.Market(np.full(n, 0.5), LAWS["atoms"]), 0.3 * n, constraints=[row])
    assert smq.verify(solution).valid


def test_many_owners_with_money_to_spare():
    """The budget's price is 0: an owner is at all points of her curve or none, as her net worth changes sign."""
    n = 30_000
    market = smq.Market(np.random.default_rng(3).random(n) + 0.01, smq.Uniform(0, 1))
    solution = smq.solve(market, 2.0 * n, constraints=[smq.ExpectedOwners(at_most=0.34567 * n)])
    assert solution.status is smq.Status.SLACK
    certificate = smq.verify(solution)
    assert certificate.grade == "proved", certificate.reasons
    best = np.sort(market.epsilon)[::-1]
    whole = int(0.34567 * n)
    assert certificate.upper_bound == pytest.approx(best[:whole].sum() + (0.34567 * n - whole) * best[whole], rel=1e-10)
