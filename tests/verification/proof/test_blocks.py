"""Owners with one law each: enclosed block by block, by one process or several, with the same bits."""

import dataclasses

import numpy as np
import pytest

import smqopt as smq
from smqopt.verification.proof import _proof

N = 40


def market(name):
    rng = np.random.default_rng(4)
    epsilon, k = rng.random(N), 1 + rng.random(N)
    laws = {
        "kumaraswamy": lambda: smq.Kumaraswamy(k, 2.0),
        "several": lambda: smq.ByOwner(
            [smq.Beta(2, float(b)) if i % 2 else smq.Power(float(b)) for i, b in enumerate(k)]
        ),
    }
    return smq.Market(epsilon, laws[name](), multiplicity=rng.integers(1, 4, N))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_proof, "BLOCK", 7)
    monkeypatch.setattr(_proof, "MANY_ROWS", 1)


@pytest.mark.parametrize("name", ["kumaraswamy", "several"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_blocks_are_the_whole(monkeypatch, name, share):
    owners = market(name)
    solution = smq.solve(owners, share * owners.most_that_can_be_spent)
    seen = []
    parts = smq.verify(solution, prove=True, progress=lambda done, total: seen.append((done, total)))
    monkeypatch.setattr(_proof, "BLOCK", 10 * N)
    whole = smq.verify(solution, prove=True)
    assert parts.grade == whole.grade == "proved"
    assert parts.upper_bound == pytest.approx(whole.upper_bound, rel=1e-15)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1] == (N, N)
    assert len(seen) >= N // 7


def test_a_false_bound_is_found_block_by_block():
    solution = smq.solve(market("kumaraswamy"), 3.0)
    wrong = dataclasses.replace(solution, thresholds=np.ones(N), acceptance=np.ones(N))
    assert not smq.verify(wrong, prove=True).valid


def test_processes_give_the_same_bits():
    solution = smq.solve(market("several"), 3.0)
    one, two = smq.verify(solution, prove=True), smq.verify(solution, prove=True, processes=2)
    assert one.proof == two.proof
    assert one.to_dict() == two.to_dict()


@pytest.mark.parametrize("processes", [0, -1, 1.5, True])
def test_processes_are_counted_from_one(processes):
    with pytest.raises(smq.InputError, match="whole number"):
        smq.verify(smq.solve(market("several"), 3.0), processes=processes)


def test_whoever_watches_is_told_of_one_bound_for_all():
    seen = []
    solution = smq.solve(smq.Market(np.ones(5), smq.Uniform(0, 1)), 1.0)
    assert smq.verify(solution, progress=lambda done, total: seen.append((done, total))).grade == "proved"
    assert seen == [(5, 5)]


def test_mixtures_one_an_owner_from_a_common_low_end():
    laws = smq.Mixture([smq.Uniform(0, 1), smq.Beta(8, np.array([1.5, 2.0, 3.0]))], [1, 1])
    certificate = smq.verify(smq.solve(smq.Market([0.2, 0.5, 1.0], laws), 0.3))
    assert certificate.grade == "proved"
