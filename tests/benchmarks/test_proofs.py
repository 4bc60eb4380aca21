"""What a proof costs: a million uniform owners, and the cost of an owner for every law, by both checkers.

pytest tests/benchmarks/test_proofs.py --benchmark-only -s
"""

from __future__ import annotations

import importlib
import time

import numpy as np
import pytest
from measures import peak_of_process

import smqopt as smq
from smqopt import second_checker
from smqopt.valuation import LAWS
from smqopt.verification.proof._proof import prove

MILLION = 1_000_000
MOST_BYTES = 1e9
OWNERS = 2_000
ALONE = """
import numpy as np
import smqopt as smq
market = smq.Market(np.random.default_rng(20).random(1_000_000), smq.Uniform(0, 1))
assert smq.verify(smq.solve(market, 200_000)).grade == "proved"
"""


def test_a_million_uniform_owners_are_proved(benchmark):
    market = smq.Market(np.random.default_rng(20).random(MILLION), smq.Uniform(0, 1))
    solution = smq.solve(market, 0.2 * MILLION)
    start = time.process_time()
    certificate = benchmark.pedantic(smq.verify, args=(solution,), rounds=1)
    seconds = time.process_time() - start
    start = time.process_time()
    proof = prove(solution)
    alone = time.process_time() - start
    memory = peak_of_process(ALONE)
    print(
        f"\nverified and proved in {seconds:.2f} s of CPU, of which the proof takes {alone:.2f} s; at most {memory / 1e9:.2f} GB"
    )
    assert certificate.grade == "proved", certificate.unproved
    assert proof.holds
    assert certificate.gap <= 1e-12
    assert memory <= MOST_BYTES


@pytest.mark.parametrize("name", LAWS)
def test_cost_of_an_owner(benchmark, name, tmp_path):
    module, cls, example = LAWS[name]
    law = getattr(importlib.import_module(module), cls)(**example)
    market = smq.Market(np.random.default_rng(21).random(OWNERS), law)
    solution = smq.solve(market, 0.2 * market.most_that_can_be_spent)
    solution.save(tmp_path)
    smq.verify(solution, prove=True).save(tmp_path / "certificate.json")
    start = time.process_time()
    verdict, _ = second_checker.check(tmp_path)
    second = (time.process_time() - start) / OWNERS
    start = time.process_time()
    proof = benchmark.pedantic(prove, args=(solution,), kwargs={"limited": False}, rounds=1)
    first = (time.process_time() - start) / OWNERS
    print(f"\n{name:22s} {1e6 * first:7.1f} us at {proof.bits} bits; second checker {1e6 * second:7.1f} us ({verdict})")
    assert proof.holds
