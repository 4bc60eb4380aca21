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
MOST_SOLVE, MOST_VERIFY, MOST_PLAIN = 12, 60, 12
"""In times of solving for U(0,1): most that solving and proving may take, and proving for `PLAIN`."""
PLAIN = ("uniform", "power")
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


def of_every_kind():
    """The common laws of the registry, and laws made in other ways."""
    laws = {name: getattr(importlib.import_module(module), cls)(**given) for name, (module, cls, given) in LAWS.items()}
    rng = np.random.default_rng(18)
    laws["text"] = smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1)
    laws["truncated"] = smq.Truncated(smq.Beta(2, 3), 0.25, 0.75)
    laws["mixture"] = smq.Mixture([smq.Uniform(0, 1), smq.Beta(8, 2)], [1, 1])
    laws["samples"] = smq.from_samples(rng.beta(2, 3, 400))
    laws["discrete of 20"] = smq.Discrete(np.sort(rng.random(20)), rng.random(20) + 0.1)
    return laws


def seconds(work, *given):
    """Return what a call gives and the CPU time that it takes."""
    start = time.process_time()
    found = work(*given)
    return found, time.process_time() - start


def test_a_million_owners_of_every_law(benchmark):
    """Solve and verify, in times of solving for U(0,1) in the same run; what is made once a law is apart."""
    epsilon = np.random.default_rng(20).random(MILLION)

    def run(law):
        market = smq.Market(epsilon, law)
        budget = 0.2 * MILLION * float(np.max(law.high))
        solution, first_solve = seconds(smq.solve, market, budget)
        _, first_verify = seconds(smq.verify, solution)
        solution, solve = min((seconds(smq.solve, market, budget) for _ in range(3)), key=lambda found: found[1])
        certificate, verify = min((seconds(smq.verify, solution) for _ in range(3)), key=lambda found: found[1])
        return certificate, solve, verify, first_solve + first_verify - solve - verify

    run(smq.Uniform(0, 1))
    unit = benchmark.pedantic(lambda: min(run(smq.Uniform(0, 1))[1] for _ in range(3)), rounds=1)
    print(f"\nsolving for U(0,1) takes {1e3 * unit:.1f} ms; in times of that:")
    missed = []
    for name, law in of_every_kind().items():
        certificate, solve, verify, once = run(law)
        print(
            f"{name:22s} solve {solve / unit:7.1f}  verify {verify / unit:7.1f}  {certificate.grade}; once {once:.2f} s"
        )
        assert certificate.grade == "proved", (name, certificate.unproved)
        most = MOST_PLAIN if name in PLAIN else MOST_VERIFY
        missed += [name] * (solve > MOST_SOLVE * unit or verify > most * unit)
    print(f"beyond {MOST_SOLVE} to solve, {MOST_PLAIN} or {MOST_VERIFY} to verify: {', '.join(missed) or 'none'}")


@pytest.mark.parametrize("name", ["uniform", "beta", "normal"])
def test_tables_beside_balls(benchmark, name):
    """The rival verifier is Arb, owner by owner."""
    module, cls, example = LAWS[name]
    market = smq.Market(
        np.random.default_rng(21).random(10_000), getattr(importlib.import_module(module), cls)(**example)
    )
    solution = smq.solve(market, 0.2 * market.most_that_can_be_spent)
    prove(solution)  # makes the table
    ours, by_table = min((seconds(prove, solution) for _ in range(3)), key=lambda found: found[1])
    rival = benchmark.pedantic(prove, args=(solution,), kwargs={"limited": False, "precisions": (128,)}, rounds=1)
    by_balls = benchmark.stats.stats.min
    print(
        f"\n{name}: balls take {1e6 * by_balls / market.n:.1f} us an owner, {by_balls / by_table:.0f} times the table"
    )
    assert ours.holds
    assert rival.holds
    assert ours.upper_bound == pytest.approx(rival.upper_bound, rel=1e-11)


@pytest.mark.parametrize("name", ["kumaraswamy", "beta", "normal"])
def test_a_law_an_owner(benchmark, name):
    rng, n = np.random.default_rng(22), 100_000
    laws = {
        "kumaraswamy": lambda: smq.Kumaraswamy(1 + rng.random(n), 1 + rng.random(n)),
        "beta": lambda: smq.Beta(1 + rng.random(n), 1 + rng.random(n)),
        "normal": lambda: smq.Normal(rng.random(n), 0.5 + rng.random(n), 0, 2),
    }
    market = smq.Market(rng.random(n), laws[name]())
    solution, solve = seconds(smq.solve, market, 0.2 * market.most_that_can_be_spent)
    certificate = benchmark.pedantic(smq.verify, args=(solution,), rounds=1)
    print(f"\n{name}: solve {1e6 * solve / n:.1f} us an owner, verify {1e6 * benchmark.stats.stats.min / n:.1f} us")
    assert certificate.grade == "proved", certificate.unproved


@pytest.mark.parametrize("n", [10_000, 100_000, MILLION])
def test_certificates_in_files(benchmark, n, tmp_path):
    """Files, and the second checker's run over them, are linear in owners."""
    solution = smq.solve(smq.Market(np.random.default_rng(20).random(n), smq.Uniform(0, 1)), 0.2 * n)
    certificate = smq.verify(solution)
    _, save = seconds(lambda: (solution.save(tmp_path), certificate.save(tmp_path / "certificate.json")))
    _, load = seconds(
        lambda: smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    )
    verdict, _ = benchmark.pedantic(second_checker.check, args=(tmp_path,), rounds=1)
    check = benchmark.stats.stats.min
    print(
        f"\n{n} owners, us an owner: save {1e6 * save / n:.1f}, load {1e6 * load / n:.1f}, second checker {1e6 * check / n:.1f}"
    )
    assert verdict == "proved"
