"""What a million owners cost: both payment rules beside each other, and a charge to a ledger that knows them."""

from __future__ import annotations

import numpy as np
import pytest
from measures import best_of

import smqopt as smq
from smqopt.mechanism._offers import posted_offers
from smqopt.mechanism.payments._payments import payments_of

OWNERS = 1_000_000


@pytest.fixture(scope="module")
def purchase():
    rng = np.random.default_rng(7)
    market = smq.Market(rng.random(OWNERS), smq.Uniform(0, 1))
    certificate = smq.verify(smq.solve(market, 0.2 * OWNERS))
    offers = posted_offers(certificate)
    return certificate, offers, offers.offered & (rng.random(OWNERS) <= offers.thresholds)


def in_copies(benchmark, what):
    """Print what a call took in copies of a million doubles."""
    one, _ = best_of(20, np.ones(OWNERS).copy)
    print(f"\n{what}: {benchmark.stats.stats.min / one:.0f} copies of epsilon")


@pytest.mark.parametrize("rule", ["posted", "ex-post-budget"])
def test_payments_of_a_million_owners(benchmark, purchase, rule):
    certificate, offers, selected = purchase
    owners = np.arange(OWNERS)
    payments = benchmark.pedantic(payments_of, (certificate, rule, offers, selected, owners), rounds=5, warmup_rounds=1)
    in_copies(benchmark, f"payments by the rule {rule}")
    assert payments.size == OWNERS
    if rule == "ex-post-budget":
        assert (
            smq.Outcome(
                certificate,
                offers.owner_ids,
                offers.epsilon,
                offers.thresholds,
                selected,
                payments,
                rule,
                owners,
                owners * 0 + 1,
            ).total_payment
            <= certificate.solution.budget
        )


def test_a_whole_purchase_of_a_million_owners(benchmark, purchase):
    certificate, _, _ = purchase
    reports = np.random.default_rng(8).random(OWNERS)
    outcome = benchmark.pedantic(smq.procure, (certificate, reports, "ex-post-budget"), rounds=3)
    in_copies(benchmark, "a purchase, ex-post-budget")
    assert outcome.total_payment <= certificate.solution.budget


def test_a_charge_to_many_owners(benchmark, purchase, tmp_path):
    _, offers, selected = purchase
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    ids = [offers.owner_ids[i] for i in np.flatnonzero(selected).tolist()]
    epsilon = offers.epsilon[selected]
    ledger.charge(ids, epsilon, "1/100")  # writes the group once
    benchmark.pedantic(ledger.charge, (ids, epsilon, "1/100"), rounds=3)
    in_copies(benchmark, f"a charge to {len(ids):,} owners")
    assert ledger.remaining_share(ids[0]) == 1 - len(ledger.charges) * smq.equal_shares(100)[0]
