"""Programs before the second checker: what is honest is proved again, and what a forger mends is not."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from flint import arb, ctx

import smqopt as smq
from smqopt import second_checker
from smqopt.market import Lottery, solution_to_dict
from smqopt.market.constraints._sure_number import least_mean
from smqopt.verification import content_hash
from smqopt.verification.certificate._file_integrity import columns_to_dict, digest

LAWS = (
    smq.Uniform(0, 1),
    smq.Uniform(0.2, 1.4),
    smq.Beta(2, 3),
    smq.Power(2, 0, 1),
    smq.PiecewiseUniform([0, 0.3, 0.5, 1], [0.5, 0.3, 0.1]),
)


def drawn_market(rng):
    n = int(rng.integers(2, 10))
    labels = [f"g{k}" for k in np.append([0, 1], rng.integers(0, 3, n - 2))]
    many = rng.integers(1, 4, n) if rng.random() < 0.3 else None
    epsilon = np.round(rng.uniform(0.1, 2, n), 2)
    return smq.Market(epsilon, LAWS[rng.integers(len(LAWS))], groups={"h": labels}, multiplicity=many)


def drawn_records(rng, market):
    total, found = float(market.weights.sum()), []
    for label in sorted(set(market.groups["h"].tolist())):
        if rng.random() < 0.4:
            found.append(smq.Coverage("h", label, at_least=float(rng.uniform(0.01, 0.1)) * total))
        if rng.random() < 0.4:
            found.append(smq.GroupBudget("h", label, at_most=float(rng.uniform(0.01, 0.1)) * total))
    found.append(smq.ExpectedOwners(at_most=float(rng.uniform(0.2, 0.6)) * total))
    if rng.random() < 0.3:
        found.append(smq.Parity("h", within=float(rng.choice([0.0, 0.05]))))
    kind = rng.random()
    if kind < 0.3:
        found.append(smq.PriceMenu(np.unique(np.round(rng.uniform(0.05, 1.5, 4), 2)).tolist()))
    elif kind < 0.45:
        found.append(smq.AcceptanceRange(at_least=0.02, at_most=float(rng.uniform(0.3, 1))))
    elif kind < 0.6:
        found.append(smq.PriceRange(at_most=float(rng.uniform(0.3, 0.9))))
    if rng.random() < 0.3:
        found.append(smq.CommonPrice("h"))
    return found


def records_of_single_rows(rng, market):
    """Linear rows, floors on spend among them, bounds of one number a row, and surrogates of sure numbers."""
    n, found = market.n, []
    i, j = rng.choice(n, 2, replace=False).tolist()
    some, more = float(rng.uniform(0.05, 0.5)), tuple(rng.uniform(0.5, 1.0, n).tolist())
    row = rng.integers(5)
    if row == 0:
        of = (str(i + 1), 1.0), (j, float(rng.uniform(-0.5, 0.5)))
        found.append(smq.LinearRow(some, acceptance=of, spend=[(j, 0.3)]))
    elif row == 1:
        found.append(smq.LinearRow(0.0, acceptance=[(i, 1.0), (j, -1.0)], equal=True))
    elif row == 2:
        found.append(smq.LinearRow(-some, acceptance=[(i, -1.0)]))
    elif row == 3:
        found += [smq.LinearRow(-some, spend=[(i, -1.0)]), smq.PriceRange(at_most=float(rng.uniform(0.6, 2.5)))]
    else:
        found += [smq.Parity("h", within=0.05, of="payment"), smq.PriceRange(at_most=float(rng.uniform(0.6, 2.5)))]
    kind = rng.integers(6)
    if kind == 0 and row < 3:
        found.append(smq.AcceptanceRange(at_least=tuple(rng.uniform(0, 0.2, n).tolist()), at_most=more))
    elif kind == 1 and row < 3:
        found += [smq.PriceMenu((0.3, 0.6, 1.0, 1.6)), smq.PriceRange(at_least=float(rng.uniform(0, 0.6)))]
    elif kind == 2 and row < 3:
        found.append(smq.AcceptanceRange(at_most=more, column="h", label="g1"))
    elif kind == 3 and row < 3:
        found.append(smq.PriceRange(at_least=float(rng.uniform(0.2, 1.6))))
    elif kind == 4:
        found.append(smq.Coverage("h", "g0", at_least=1, probability=float(rng.uniform(0.1, 0.5))))
    return found


def solved(seed, records_of=drawn_records):
    """A random program, what solves it, and its certificate."""
    rng = np.random.default_rng([seed, 17])
    while True:
        market = drawn_market(rng)
        budget, records = float(rng.uniform(0.05, 0.4)) * float(market.weights.sum()), records_of(rng, market)
        solution = smq.solve(market, budget, constraints=records)
        if solution.status is not smq.Status.INFEASIBLE:
            return rng, solution, smq.verify(solution)


def verdict(solution, certificate, folder, **claims):
    """Save, with claims of another solution mended to be those of this one."""
    solution.save(folder)
    content = certificate.to_dict()
    content["solution"] = {k: x for k, x in solution_to_dict(solution).items() if k not in ("conflict", "solver")}
    content |= {"fingerprint": content_hash(solution), "columns": columns_to_dict(solution), **claims}
    content["budget"] = solution.budget
    content["digest"] = digest(content)
    (folder / "certificate.json").write_text(json.dumps(content), encoding="utf-8")
    return second_checker.check(folder)


@pytest.mark.parametrize("seed", [*range(10), 191, 310])  # kinks beside thresholds; a lower bound an ulp above
def test_what_is_honest_is_proved_again(seed, tmp_path):
    _, solution, certificate = solved(seed)
    assert certificate.grade == "proved", certificate.unproved
    assert verdict(solution, certificate, tmp_path)[0] == "proved"


@pytest.mark.parametrize("seed", range(14))
def test_rows_and_bounds_of_single_rows_are_proved_again(seed, tmp_path):
    rng, solution, certificate = solved(seed, records_of_single_rows)
    assert certificate.grade == "proved", certificate.unproved
    assert verdict(solution, certificate, tmp_path)[0] == "proved"
    forged = [*forgeries(rng, solution), *stricter(rng, solution)]
    for number, other in enumerate(forged):
        (tmp_path / str(number)).mkdir()
        found = verdict(other, certificate, tmp_path / str(number))[0]
        assert found != "proved" or smq.verify(other).valid, number


def stricter(rng, solution):
    """Records that ask for more than the answer keeps: of rows that bind the first."""
    for k in rng.permutation(len(solution.records)).tolist():
        record = solution.records[k]
        for name, factor in (("at_least", 1.001), ("at_most", 0.999)):
            value = getattr(record, name, None)
            if isinstance(value, (float, tuple)):
                by = 2.0 - factor if isinstance(value, float) and value < 0 else factor
                scaled = tuple(by * x for x in value) if isinstance(value, tuple) else by * value
                harder = dataclasses.replace(record, **{name: scaled})
                found = tuple(harder if j == k else one for j, one in enumerate(solution.records))
                yield dataclasses.replace(solution, records=found, constraints=tuple(one.words for one in found))


def forgeries(rng, solution):
    """Answers that are not what they say, and whether that is sure to be false."""
    market, q, theta = solution.market, solution.acceptance, solution.thresholds
    yield dataclasses.replace(solution, budget=solution.budget * 0.999)
    yield dataclasses.replace(solution, budget_price=solution.budget_price * 0.9)
    yield dataclasses.replace(solution, constraint_prices=0.7 * solution.constraint_prices)
    yield dataclasses.replace(solution, constraint_prices=-1.0 - solution.constraint_prices)
    other = np.clip(theta * 1.001, market.low, market.high)
    yield dataclasses.replace(solution, thresholds=other, acceptance=np.where(q > 0, market.valuation.cdf(other), q))
    yield dataclasses.replace(solution, acceptance=np.minimum(q * 1.0001, 1.0))
    yield dataclasses.replace(solution, acceptance=np.where(np.arange(q.size) == rng.integers(q.size), 0.0, q))
    yield dataclasses.replace(solution, constraints=(*solution.constraints, "at least 3 expected owners"))
    if solution.lottery is not None:
        lot, p = solution.lottery, solution.lottery.probabilities[:, ::-1].copy()
        again = Lottery(lot.owner, lot.prices, lot.acceptances, p)
        q = q.copy()
        q[lot.owner] = again.acceptance
        yield dataclasses.replace(solution, lottery=again, acceptance=q)


@pytest.mark.parametrize("seed", range(10))
def test_what_is_forged_is_not(seed, tmp_path):
    """Each claim is mended; the judge of what is true is the package's own verdict, with a tenth of the forged part."""
    rng, solution, certificate = solved(seed)
    for number, forged in enumerate([*forgeries(rng, solution), *stricter(rng, solution)]):
        (tmp_path / str(number)).mkdir()
        found = verdict(forged, certificate, tmp_path / str(number))[0]
        assert found != "proved" or smq.verify(forged).valid, number


def test_bounds_and_rows_that_are_said_to_be_better_are_refused(tmp_path):
    _, solution, certificate = solved(0)
    up, proof = certificate.upper_bound, certificate.proof.to_dict()
    for number, claims in enumerate(
        (
            {"upper_bound": up * (1 - 1e-6)},
            {"lower_bound": up * (1 + 1e-6)},
            {"proof": proof | {"upper_bound": up * (1 - 1e-6)}},
            {"proof": proof | {"constraints": proof["constraints"][1:]}},
            {"proof": proof | {"constraints": [one | {"exactly": 0} for one in proof["constraints"]]}},
            {"proof": proof | {"constraints": [one | {"over": []} for one in proof["constraints"]]}},
            {"proof": proof | {"constraints": [one | {"new": 0} for one in proof["constraints"]]}},
            {"gap_tolerance": 1e-3},
        )
    ):
        (tmp_path / str(number)).mkdir()
        assert verdict(solution, certificate, tmp_path / str(number), **claims)[0] == "refused"


def test_who_is_left_out_of_a_common_price_gives_it_away(tmp_path):
    """Who asks for next to nothing is not bought, so that the other's price is above what both may be paid."""
    budget, both = 0.5, 1.01
    market = smq.Market([1.0, both - 1.0], smq.Uniform(0, 1), groups={"h": ["a", "a"]})
    solution = smq.solve(market, budget, constraints=[smq.CommonPrice("h")])
    certificate = smq.verify(solution)
    assert verdict(solution, certificate, tmp_path)[0] == "proved"
    # privacy θ is the dual bound λB + (1.01)²/(4·2λ)·2 at the price λ whose answer θ is
    theta = float(np.sqrt(budget * both / (4.0 - 2.0 * both))) * (1.0 - 1e-13)
    price = both / (4.0 * theta)
    bound, spend = price * budget + both * theta / 2.0, theta * theta
    assert spend < budget
    assert solution.objective_value * (1.0 + 1e-5) < theta <= bound <= theta * (1.0 + 1e-12)
    forged = dataclasses.replace(
        solution, thresholds=np.full(2, theta), acceptance=np.array([theta, 0.0]), budget_price=price
    )
    proof = certificate.proof.to_dict() | {"purchased_privacy": [theta] * 2, "spend": [spend] * 2, "upper_bound": bound}
    claims = {"lower_bound": theta, "upper_bound": bound, "gap": (bound - theta) / bound, "proof": proof}
    assert verdict(forged, certificate, tmp_path, **claims)[0] == "refused"


@pytest.mark.parametrize(
    "record",
    [
        smq.PriceMenu(step=0.1),
        smq.ExpectedOwners(at_most=0.0, column="h", label="a"),
    ],
    ids=["steps", "rigid"],
)
def test_what_it_does_not_know_is_not_checked(record, tmp_path):
    market = smq.Market([0.2, 0.5, 1.0, 0.8], smq.Uniform(0, 1), groups={"h": list("aabb")})
    solution = smq.solve(market, 1.0, constraints=[record])
    assert verdict(solution, smq.verify(solution), tmp_path)[0] == "not checked"


def test_prices_that_contradict_one_another_are_not_checked(tmp_path):
    """No price is left, so that nobody gets an offer: that is no claim that this checker knows."""
    records = [smq.PriceRange(at_most=1.2), smq.PriceRange(at_least=1.5)]
    solution = smq.solve(smq.Market([0.2, 0.5], smq.Uniform(0, 1)), 1.0, constraints=records)
    assert verdict(solution, smq.verify(solution), tmp_path)[0] == "not checked"


def test_of_several_bounds_the_tightest_holds(tmp_path):
    records = [smq.AcceptanceRange(at_most=0.3), smq.AcceptanceRange(at_most=0.8), smq.PriceRange(at_most=0.9)]
    solution = smq.solve(smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), 0.25, constraints=records)
    certificate = smq.verify(solution)
    assert np.max(solution.acceptance) == pytest.approx(0.3)
    assert verdict(solution, certificate, tmp_path)[0] == "proved"


@pytest.mark.parametrize(("k", "n", "p"), [(1, 2, 0.5), (3, 7, 0.9), (5, 5, 0.2), (0, 4, 0.9), (2, 30, 0.3)])
def test_both_work_out_the_same_number_of_owners(k, n, p):
    assert second_checker.least_mean(k, n, p) == least_mean(k, n, p)


@pytest.mark.parametrize(("e", "p"), [(0.4, -0.5), (-0.3, -0.5), (-0.9, -0.5), (0.4, -0.01)])
def test_where_a_row_asks_for_more_spend_the_highest_price_bounds(e, p):
    sides = second_checker.Sides([], {}, [[0.0, 1.0, 0.0, 1.3]], [[0]])
    law = second_checker.law_of(smq.Uniform(0, 1).to_dict())
    with ctx.workprec(128):
        bound, _ = second_checker.top_of_unit([0], sides, [(law, 0.0, 1.0)], [1], [arb(e)], [arb(p)], 0.5)
    price = np.linspace(0, 1.3, 1301)
    assert float(bound) == pytest.approx(max(0.0, np.max((e - p * price) * np.clip(price, 0, 1))), abs=1e-9)
