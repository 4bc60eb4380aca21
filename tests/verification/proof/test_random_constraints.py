"""Random markets, laws, constraints and objectives: honest answers are proved, and no fault in them is accepted."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import smqopt as smq
from smqopt import second_checker
from smqopt.errors import CertificateError, InputError, SolverError
from smqopt.market import AcceptanceRange, LinearRow, PriceRange
from smqopt.numeric import RECHECK, SIDE_ROW
from smqopt.verification import content_hash
from smqopt.verification.proof._constraint_rows import KeptRow
from smqopt.verification.proof._owner_groups import Regularity

TEN = 10.0
BLOCK = 100


def random_law(rng, n):
    low, u = float(rng.integers(0, 2) * rng.random()), rng.uniform(0.5, 3.0, 2)
    high = low + rng.uniform(0.5, 2.0)
    kinds = [
        lambda: smq.Uniform(low, high),
        lambda: smq.Power(u[0], low, high),
        lambda: smq.TruncatedExponential(u[0], low, high),
        lambda: smq.Kumaraswamy(1 + u[0], 1 + u[1], low, high),
        lambda: smq.Beta(1 + u[0], 1 + u[1], low, high),
        lambda: smq.Triangular(low, (low + high) / 2, high),
        lambda: smq.PiecewiseUniform([low, low + 0.9, low + 1], [1, 1]),
        lambda: smq.Discrete([0.5, 0.75, 1, 1.5], [1, 2, 3, 4]),
        lambda: smq.ByOwner(
            [[smq.Uniform(0, 1), smq.Power(2), smq.PiecewiseUniform([0, 0.9, 1], [1, 1])][i % 3] for i in range(n)]
        ),
        lambda: smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, 4)], [1, 1]),
    ]
    return kinds[rng.integers(len(kinds))]()


def random_records(rng, market):
    n, low, high = market.n, float(market.low.max()), float(market.high.min())
    kinds = [
        lambda: smq.Coverage("city", "Rome", at_least=float(rng.uniform(0.1, 1.0))),
        lambda: smq.Parity("city", within=float(rng.choice([0.0, 0.05, 0.2]))),
        lambda: smq.GroupBudget("city", "Oslo", at_most=float(rng.uniform(0.05, 1.5))),
        lambda: AcceptanceRange(float(rng.choice([0.0, 0.05])), float(rng.choice([0.5, 0.9]))),
        lambda: smq.ExpectedOwners(at_most=float(rng.uniform(0.2, n))),
        lambda: smq.CommonPrice("city"),
        lambda: PriceRange(at_most=float(low + rng.uniform(0.3, 1.0) * (high - low))),
        lambda: smq.PriceMenu(step=float((high - low) / 8)),
        lambda: LinearRow(at_most=float(rng.uniform(0.1, 1)), acceptance=((0, 1.0), (1, -0.5)), spend=((2, 0.7),)),
    ]
    return [kinds[k]() for k in rng.choice(len(kinds), rng.integers(1, 4), replace=False)]


def random_certificate(seed):
    """An honest certificate with constraints or another objective, or both; None where these do not go together, or leave nothing that could be."""
    rng = np.random.default_rng([seed, 11])
    n = int(rng.integers(3, 9))
    epsilon = rng.uniform(0.0, 2.0, n) * rng.choice([0.0, 1.0, 1.0, 1.0], n)
    epsilon[0] = 1.0
    more = {"multiplicity": rng.integers(1, 5, n)} if rng.random() < 0.3 else {}
    market = smq.Market(
        epsilon, random_law(rng, n), groups={"city": ["Rome"] * (n // 2) + ["Oslo"] * (n - n // 2)}, **more
    )
    objective = [
        None,
        smq.InverseProbabilityVariance(weights=rng.uniform(0.2, 2.0, n).tolist()),
        smq.DiminishingReturns(float(rng.choice([0.01, 0.2, 5.0]))),
    ][rng.integers(3)]
    records = [] if objective is not None and rng.random() < 0.3 else random_records(rng, market)
    budget = float(rng.choice([0.02, 0.2, 0.5, 0.9])) * market.most_that_can_be_spent
    try:
        solution = smq.solve(
            market, budget, constraints=records, **({} if objective is None else {"objective": objective})
        )
    except (InputError, SolverError):
        return None
    if solution.status is smq.Status.INFEASIBLE:
        return None
    certificate = smq.verify(solution)
    pooled = any("different laws" in reason for reason in certificate.unproved)
    return None if pooled else certificate


def with_solution(certificate, **changes):
    solution = dataclasses.replace(certificate.solution, **changes)
    return dataclasses.replace(certificate, solution=solution, fingerprint=content_hash(solution))


def with_proof(certificate, **changes):
    return dataclasses.replace(certificate, proof=dataclasses.replace(certificate.proof, **changes))


def other_multiplier(c):
    y = c.solution.constraint_prices.copy()
    if not np.any(y):
        return other_price(c)
    y[np.argmax(np.abs(y))] *= 1.5
    return with_solution(c, constraint_prices=y)


def other_price(c):
    price = c.solution.budget_price
    return with_solution(c, budget_price=1.5 * price if 0 < price < np.inf else 1.0)


def no_offer(c):
    """Take the dearest offer away."""
    solution, i = c.solution, int(np.argmax(c.solution.spend))
    theta, q = solution.thresholds.copy(), solution.acceptance.copy()
    theta[i], q[i] = solution.market.low[i], 0.0
    lottery = solution.lottery if solution.lottery is None or i not in solution.lottery.owner else None
    return with_solution(c, thresholds=theta, acceptance=q, lottery=lottery)


def harder_row(c):
    """Ask of the row that is kept most narrowly ten tolerances more than it gives."""
    solution = c.solution
    linear = [k for k, record in enumerate(solution.records) if isinstance(record, smq.Coverage)]
    if not linear:
        return tighter_budget(c)
    record, q = solution.records[linear[0]], solution.acceptance
    m = np.ones(solution.market.n) if solution.market.multiplicity is None else solution.market.multiplicity
    rome = solution.market.rows_of_group("city")["Rome"]
    asked = dataclasses.replace(
        record, at_least=float(m[rome] @ q[rome]) * (1 + 2 * TEN * SIDE_ROW.value) + TEN * SIDE_ROW.value
    )
    return with_solution(
        c, records=tuple(asked if k == linear[0] else other for k, other in enumerate(solution.records))
    )


def tighter_budget(c):
    return with_solution(c, budget=c.proof.spend[0] * (1 - TEN * RECHECK.value))


FAULTS = {
    "multiplier": other_multiplier,
    "price": other_price,
    "offer": no_offer,
    "row": harder_row,
    "budget": tighter_budget,
    "bound": lambda c: with_proof(c, upper_bound=(1 - TEN * RECHECK.value) * c.proof.upper_bound),
    "value": lambda c: with_proof(c, purchased_privacy=tuple((1 + TEN * RECHECK.value) * x + 1e-9 for x in c.proof.purchased_privacy)),
    "spend": lambda c: with_proof(c, spend=(c.proof.spend[0], (1 - TEN * RECHECK.value) * c.proof.spend[1])),
    "lower bound": lambda c: dataclasses.replace(c, lower_bound=(1 + TEN * RECHECK.value) * c.lower_bound),
    "gap": lambda c: dataclasses.replace(c, gap=c.gap - TEN * RECHECK.value),
    "rows": lambda c: with_proof(c, constraints=(*c.proof.constraints, *with_one_more(c))),
    "regularity": lambda c: with_proof(c, regularity=(Regularity("uniform", 1, "so it is said"),)),
    "grade": lambda c: dataclasses.replace(smq.verify(c.solution, prove=False), proof=c.proof),
}  # fmt: skip


def with_one_more(c):
    return c.proof.constraints[:1] or (KeptRow("nothing", (0.0, 0.0), kept=True, exactly=True),)


def accepted(certificate, folder):
    try:
        certificate.solution.save(folder)
        certificate.save(folder / "certificate.json")
        read = smq.Certificate.load(folder / "certificate.json", thresholds=folder / "thresholds.csv")
    except (CertificateError, InputError):
        return False
    own = read.valid and read.grade == "proved"
    assert second_checker.check(folder)[0] != ("refused" if own else "proved")
    return own


def honest_and_forged(seeds, folder):
    """Try each of some seeds; give how many honest certificates there were."""
    names, honest = list(FAULTS), 0
    for seed in seeds:
        certificate = random_certificate(seed)
        if certificate is None:
            continue
        honest += 1
        assert certificate.grade == "proved", (seed, certificate.reasons, certificate.unproved)
        assert certificate.gap <= 1e-10
        assert accepted(certificate, folder), seed
        name = names[honest % len(names)]
        assert not accepted(FAULTS[name](certificate), folder), (seed, name)
    return honest


def test_honest_answers_are_proved_and_faults_are_not_accepted(tmp_path):
    assert honest_and_forged(range(4), tmp_path) >= 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(16))
def test_honest_answers_are_proved_and_faults_are_not_accepted_at_length(block, tmp_path):
    assert honest_and_forged(range(1000 + BLOCK * block, 1000 + BLOCK * (block + 1)), tmp_path) >= BLOCK // 2
