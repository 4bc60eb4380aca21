"""Hostile inputs, each with the right value: markets of extreme size, hidden masses, twins, odd files."""

import json
import math

import numpy as np
import pytest
import scipy.stats

import smqopt as smq
from smqopt import second_checker
from smqopt.errors import SmqoptError
from smqopt.verification.certificate._file_integrity import digest


def best_of(law, epsilon, budget, price):
    """What one price buys, drawn with the chance that spends the budget, from the definition."""
    F = float(law.cdf(price))
    return epsilon * F * min(1.0, budget / (price * F))


# --- extreme magnitudes -------------------------------------------------------------------------------------------


def test_one_owner_of_a_tiny_requirement():
    market = smq.Market([1e-162], smq.PiecewiseUniform([0, 0.3, 0.6, 1], [1, 5, 2]))
    certificate = smq.verify(smq.solve(market, 0.34))
    assert (certificate.valid, certificate.grade) == (True, "proved")
    assert certificate.lower_bound <= certificate.upper_bound
    assert certificate.upper_bound == pytest.approx(0.627971146071e-162, rel=1e-9)


def rescaled(count, seed):
    """Histograms in other units of privacy and currency: what is not as without units, and how many were tried."""
    rng, wrong = np.random.default_rng([seed, 13]), []
    for _ in range(count):
        edges = np.sort(rng.random(rng.integers(3, 7)))
        masses, n = rng.integers(1, 9, edges.size - 1).astype(float), int(rng.integers(1, 4))
        epsilon, budget = rng.random(n), rng.uniform(0.05, 0.9) * n * edges[-1]
        privacy, currency = 10.0 ** rng.uniform(-165, 150), 10.0 ** rng.uniform(-150, 150)
        plain = smq.verify(smq.solve(smq.Market(epsilon, smq.PiecewiseUniform(edges, masses)), budget))
        law = smq.PiecewiseUniform(edges * currency, masses)
        found = smq.verify(smq.solve(smq.Market(epsilon * privacy, law), budget * currency))
        alike = math.isclose(found.upper_bound / privacy, plain.upper_bound, rel_tol=1e-9)
        if not (found.valid and found.grade == "proved" and alike and found.lower_bound <= found.upper_bound):
            wrong.append((edges, masses, epsilon, budget, privacy, currency, found))
    return wrong


def test_units_change_nothing_that_is_proved():
    assert rescaled(20, seed=0) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(9))
def test_units_change_nothing_that_is_proved_at_length(block):
    assert rescaled(300, seed=1 + block) == []


def test_thresholds_on_few_doubles_are_held_to_their_spacing():
    """On a support of 1e-6 next to 1 a spacing of doubles is 2e-10 of the width."""
    certificate = smq.verify(smq.solve(smq.Market([1.0], smq.Beta(1.5, 0.5, 1, 1 + 1e-6)), 0.5))
    assert certificate.valid, certificate.reasons
    assert certificate.gap <= 1e-12


# --- what a law hides between prices ------------------------------------------------------------------------------

A = 0.5001234567
HIDDEN = {
    "a narrow part": (smq.Mixture([smq.Uniform(0, 1), smq.Uniform(A, A + 1e-8)], [0.5, 0.5]), 0.1, 0.2504335),
    "a part that ends steeply": (smq.Mixture([smq.Beta(2, 0.05, 0, 0.2), smq.Uniform(0, 1)], [0.4, 0.6]), 0.08, 0.4079913),
}  # fmt: skip


@pytest.mark.parametrize("prove", [None, False])
@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_mixture_hides_is_in_the_bound(name, prove):
    law, budget, optimum = HIDDEN[name]
    certificate = smq.verify(smq.solve(smq.Market([1.0], law), budget), prove=prove)
    assert certificate.valid
    assert certificate.upper_bound >= optimum
    assert certificate.lower_bound == pytest.approx(optimum, rel=1e-6)
    assert certificate.gap_tolerance == (1e-10 if prove is None else 1e-6)


def test_a_bump_that_only_values_show_is_in_the_bound():
    class Bump(scipy.stats.rv_continuous):
        def _cdf(self, x):
            return 0.996 * x + 0.004 * np.clip((x - 0.51234567) / 1e-7, 0, 1)

    law = smq.from_scipy(Bump(a=0, b=1)(), low=0, high=1)
    certificate = smq.verify(smq.solve(smq.Market([1.0], law), 0.2))
    best = max(best_of(law, 1.0, 0.2, price) for price in (0.4463, 0.51234577, 0.6))
    assert certificate.upper_bound >= best
    assert certificate.condition == "if F does not fall"
    assert certificate.grade == "numerical"


def test_a_function_that_falls_is_refused():
    with pytest.raises(SmqoptError, match="must not fall"):
        smq.from_cdf("theta**2+0.5*exp(-(1000*(theta-0.3))**2)", low=0, high=1)


# --- fingerprints -------------------------------------------------------------------------------------------------


def test_no_two_markets_share_a_fingerprint():
    """Names that could run together: each list of ids and labels has its own hash."""
    rng = np.random.default_rng(8)
    pieces = ["a", "b", ",", '"', "\\", "null", "[", "]", "\n", "1", " ", "é", "group"]
    seen = {}
    for _ in range(2_000):
        n = int(rng.integers(1, 4))
        texts = ["".join(rng.choice(pieces, rng.integers(1, 4))) for _ in range(2 * n)]
        ids, labels = tuple(texts[:n]), tuple(texts[n:])
        if len(set(ids)) < n:
            continue
        name = str(rng.choice(pieces))
        groups = {name: labels} if rng.random() < 0.7 else {}
        counts = rng.integers(1, 3, n).tolist() if rng.random() < 0.3 else None
        try:
            market = smq.Market([0.5] * n, smq.Uniform(0, 1), owner_ids=ids, groups=groups, multiplicity=counts)
        except SmqoptError:
            continue
        plain = ids == tuple(str(i + 1) for i in range(n))
        said = (None if plain else ids, tuple(groups.items()), None if counts is None else tuple(counts), n)
        assert seen.setdefault(market.fingerprint, said) == said
    assert len(seen) > 1_000


def test_a_trailing_null_is_no_twin():
    plain = smq.Market([0.1, 0.2, 0.3], smq.Uniform(0, 1), owner_ids=["a", "b", "c"])
    try:
        other = smq.Market([0.1, 0.2, 0.3], smq.Uniform(0, 1), owner_ids=["a", "b", "c\0"])
    except SmqoptError:
        return  # refused at the door
    assert other.fingerprint != plain.fingerprint


# --- odd files ----------------------------------------------------------------------------------------------------


def test_a_whole_number_beyond_doubles_is_refused_in_a_table():
    with pytest.raises(SmqoptError, match="must be doubles"):
        smq.PiecewiseUniform([0, 10**400], [1.0])


CONSTANTS = ["NaN", "Infinity", "-Infinity", "1e400", "1" + "0" * 400, '"' + "-" * 100_000 + 'theta"']


@pytest.mark.parametrize("key", ["budget", "gap", "lower_bound", "cdf"])
@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda text: text[:12])
def test_no_constant_breaks_a_checker(key, constant, tmp_path):
    law = smq.from_cdf("theta**2*(3 - 2*theta)", low=0, high=1)
    solution = smq.solve(smq.Market([0.2, 0.5], law), 0.1)
    solution.save(tmp_path)
    content = smq.verify(solution).to_dict()
    place = content["solution"]["valuation"] if key == "cdf" else content
    place[key] = "PLACE"
    content["digest"] = digest(content)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(content).replace('"PLACE"', constant), encoding="utf-8")
    assert second_checker.check(tmp_path)[0] != "proved"
    with pytest.raises(SmqoptError):
        smq.Certificate.load(path, thresholds=tmp_path / "thresholds.csv")
