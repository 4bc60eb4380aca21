"""Bounds of acceptance of owners who share a price, or may be paid more: rows with multipliers, proved as such."""

import dataclasses

import numpy as np
import pytest

import smqopt as smq

LAWS = (smq.Uniform(0, 1), smq.Power(2), smq.Uniform(0.2, 1.4), smq.Beta(2, 3), smq.Triangular(0, 0.3, 1))


def drawn(seed):
    """A program whose bounds of acceptance stand as rows, two owners of one kind among the others."""
    rng = np.random.default_rng([seed, 31])
    n = int(rng.integers(3, 8))
    labels = np.append(["a", "a", "b"], rng.choice(["a", "b"], n - 3))
    which = np.append([0, 0], rng.integers(0, len(LAWS), n - 2))
    epsilon = np.append([0.5, 0.5], rng.uniform(0.1, 1.0, n - 2))
    counts = {"multiplicity": rng.integers(1, 4, n)} if rng.random() < 0.3 else {}
    law = smq.ByOwner([LAWS[k] for k in which])
    market = smq.Market(epsilon, law, groups={"g": labels.tolist()}, **counts)
    least, most = (float(x) for x in (rng.uniform(0.01, 0.2), rng.uniform(0.4, 0.8)))
    records = [smq.AcceptanceRange(at_least=least, at_most=most)] if rng.random() < 0.5 else [
        smq.AcceptanceRange(at_least=tuple(rng.uniform(0, 0.15, n).tolist())),
        smq.AcceptanceRange(at_most=most, column="g", label="a"),
    ]  # fmt: skip
    if rng.random() < 0.6:
        records.append(smq.CommonPrice("g"))
    else:
        ceiling = float(rng.uniform(0.8, 2.0))
        records += [smq.PriceRange(at_most=ceiling), smq.Parity("g", within=0.05, of="payment")]
    return market, float(rng.uniform(0.1, 0.6)) * market.most_that_can_be_spent, records


def solved(seed):
    market, budget, records = drawn(seed)
    return smq.solve(market, budget, constraints=records)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(k, marks=pytest.mark.exhaustive) for k in range(4, 40))])
def test_bounds_of_who_shares_a_price_are_proved(seed):
    solution = solved(seed)
    if solution.status is smq.Status.INFEASIBLE:
        assert smq.verify(solution).valid
        return
    certificate = smq.verify(solution)
    assert (certificate.grade, certificate.reasons) == ("proved", ()), certificate.unproved
    numerical = smq.verify(solution, prove=False)
    assert certificate.upper_bound == pytest.approx(numerical.upper_bound, rel=1e-9)
    assert certificate.lower_bound <= numerical.upper_bound * (1 + 1e-12)
    multipliers = solution.constraint_prices
    for other in (1.1 * multipliers, np.where(multipliers > 0, 0.5 * multipliers, 0.01)):
        looser = smq.verify(dataclasses.replace(solution, constraint_prices=other))
        assert looser.upper_bound >= certificate.lower_bound  # any multipliers bound it from above
    ranges = [k for k, record in enumerate(solution.records) if record.kind == "acceptance-range"]
    for k in ranges:
        record = solution.records[k]
        narrow = float(np.max(solution.acceptance)) * (1 - 1e-6)
        if isinstance(record.at_most, tuple) or np.max(record.at_least) > narrow or record.column is not None:
            continue
        records = tuple(
            dataclasses.replace(record, at_most=narrow) if j == k else one for j, one in enumerate(solution.records)
        )
        forged = dataclasses.replace(solution, records=records, constraints=tuple(one.words for one in records))
        assert not smq.verify(forged).valid
