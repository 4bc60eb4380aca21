"""The conic route for every law of the registry: the certified gap before polishing, with nothing tuned.

    pytest tests/benchmarks/test_conic.py --benchmark-only -s

prints, law by law, the gap that a certificate gives the raw answer, the gap between tangents and chords, rounds and seconds.
"""

from __future__ import annotations

import importlib
import time

import numpy as np
import pytest
import scipy.stats

import smqopt as smq
from smqopt.program.cones import _cone_registry as registry
from smqopt.program.cones._cone_registry import cost_by_pieces
from smqopt.valuation import LAWS

OWNERS, SHARES = 1_000, (0.05, 0.3, 0.8)
GAP = 1e-7


def laws():
    """Give an example of every law of the registry, and of every way to make one, by name."""
    for name, (module, cls, example) in LAWS.items():
        yield name, getattr(importlib.import_module(module), cls)(**example)
    rng = np.random.default_rng(1)
    unit, requirements = smq.Uniform(0, 1), np.random.default_rng(0).random(OWNERS)
    normals = [smq.Normal(1.0, 0.25, 0.0, 3.0), smq.Normal(2.0, 0.125, 0.0, 3.0)]
    mixed = [smq.Beta(2, 3), unit, smq.Gamma(2, 1, 0, 5), smq.Beta(2, 0.5), smq.Discrete([1, 2, 5], [1, 2, 1])]
    yield "formula", smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1)
    yield "irregular formula", smq.from_cdf("((1 - 99*theta/100)**(-1/2) - 1)/9", 0, 1)
    yield "irregular beta", smq.Beta(2, 0.5)
    yield "beta by owner", smq.Beta(rng.uniform(1, 4, OWNERS), rng.uniform(1, 4, OWNERS))
    yield "mixture", smq.Mixture([unit, smq.Uniform(0, 4)], [1, 1])
    yield "irregular mixture", smq.Mixture(normals, [0.75, 0.25])
    yield "mixture with a gap", smq.Mixture([unit, smq.Uniform(2, 3)], [1, 1])
    yield "truncated", smq.Truncated(smq.Gamma(2, 1, 0, 5), 1, 4)
    yield "scipy", smq.from_scipy(scipy.stats.beta(2, 3))
    yield "samples", smq.from_samples(rng.beta(2, 3, 500), low=0, high=1)
    yield "copula", smq.GaussianCopula(valuation=unit, requirement=unit, correlation=-0.5).given(requirements)
    yield "by owner", smq.ByOwner([mixed[i % len(mixed)] for i in range(OWNERS)])


@pytest.mark.benchmark(group="conic, every law")
@pytest.mark.parametrize(("name", "law"), [pytest.param(name, law, id=name) for name, law in laws()])
def test_gap_before_polishing(benchmark, name, law):
    market = smq.Market(np.random.default_rng(0).random(OWNERS), law)
    found = []

    def solve_all():
        for share in SHARES:
            start = time.perf_counter()
            solution = smq.solve(market, share * market.most_that_can_be_spent, solver="conic")
            found.append((share, solution, time.perf_counter() - start))

    benchmark.pedantic(solve_all, rounds=1, iterations=1)
    for share, solution, seconds in found:
        raw = smq.verify(solution.raw, gap_tolerance=GAP)
        details = solution.details
        print(
            f"\n{name:22s} share {share:4}: gap {raw.gap:7.1e}, tangents to chords {details.get('two_sided_gap', 0.0):7.1e}, "
            f"{details.get('refinement_rounds', 1):2d} rounds, {seconds:5.1f} s, polished {smq.verify(solution).gap:7.1e}",
            end="",
        )
        assert raw.valid, raw.reasons


EXACT = {
    "triangular, mode at low": smq.Triangular(0, 0, 1),
    "pareto, a = 1": smq.Pareto(1, 1, 4),
    "pareto, a = 2": smq.Pareto(2, 1, 1.5),
    "weibull, shape 1": smq.Weibull(1, 1, 0, 3),
    "beta(1, 3)": smq.Beta(1, 3),
    "beta(2, 1)": smq.Beta(2, 1),
}


@pytest.mark.benchmark(group="conic, exact forms against pieces")
@pytest.mark.parametrize("law", EXACT.values(), ids=EXACT)
def test_exact_forms_against_pieces(benchmark, monkeypatch, law):
    market = smq.Market(np.random.default_rng(0).random(OWNERS), law)
    found = {}

    def solve_both():
        for how, forms in (("exact", registry.CONE_FORMS), ("pieces", {type(law): cost_by_pieces})):
            monkeypatch.setattr(registry, "CONE_FORMS", forms)
            for share in (0.001, *SHARES):
                start = time.perf_counter()
                solution = smq.solve(market, share * market.most_that_can_be_spent, solver="conic")
                found[how, share] = time.perf_counter() - start, smq.verify(solution.raw, gap_tolerance=GAP)

    benchmark.pedantic(solve_both, rounds=1, iterations=1)
    print(f"\n{law!r}:", end="")
    for share in (0.001, *SHARES):
        (exact, one), (pieces, other) = found["exact", share], found["pieces", share]
        print(
            f"\nshare {share:5}: exact {exact:5.2f} s, gap {one.gap:7.1e}; pieces {pieces:5.2f} s ({pieces / exact:.1f} times), gap {other.gap:7.1e}",
            end="",
        )
        assert one.valid, one.reasons
