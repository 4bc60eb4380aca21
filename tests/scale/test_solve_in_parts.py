"""Thresholds of a market in parts: the same bits for any parts, and those of the market in memory."""

import json

import numpy as np
import pytest
from strategies import NAMED, REFERENCE, reference_law

import smqopt as smq
from smqopt.scale.passes import _sample, _sketch

RNG = np.random.default_rng(20)
HISTOGRAM = smq.PiecewiseUniform([0, 1, 2, 3], [0.3, 0.6, 0.1])
MANY = 18_000
"""More different requirements than are counted one by one."""
COLUMNS = {
    "epsilon": RNG.uniform(0.1, 2.0, MANY),
    "id": np.array([f"o{i}" for i in range(MANY)]),
    "few": RNG.choice([0.0, 0.1, 0.5, 1.0], MANY),
    "city": RNG.choice(["oslo", "bergen", "tromsø"], MANY),
    "most": RNG.choice([0.5, 1.0, 1.5, 2.0], MANY) + RNG.random(MANY) / 8,
}
BY_CITY = {"oslo": smq.Uniform(0, 1), "bergen": smq.Beta(2, 3), "tromsø": HISTOGRAM}


def relevant(certificate):
    """Return what a certificate says but for its time and its list of parts."""
    content = certificate.to_dict()
    return json.dumps({key: value for key, value in content.items() if key not in ("unchecked", "digest", "manifest")})


CASES = {
    "uniform": (smq.Uniform(0, 1), "epsilon", 0.2),
    "beta": (smq.Beta(2, 3), "epsilon", 0.2),
    "histogram": (HISTOGRAM, "epsilon", 0.2),
    "histogram, a jump": (HISTOGRAM, "epsilon", 0.31),
    "histogram, ties": (HISTOGRAM, "few", 0.54),
    "by group": (smq.LawsByGroup("city", BY_CITY), "epsilon", 0.3),
    "by columns": (smq.LawByColumns("uniform", low=0.0, high="most"), "epsilon", 0.2),
    "slack": (smq.Uniform(0, 1), "few", 2.0),
    "no budget": (smq.Uniform(0, 1), "epsilon", 0.0),
}


def in_memory(law, epsilon):
    n = epsilon.size
    if isinstance(law, smq.LawsByGroup):
        places = [(np.flatnonzero(COLUMNS["city"][:n] == label).tolist(), one) for label, one in law.laws.items()]
        return smq.Market(epsilon, smq.ByOwner.from_parts(places, "test"))
    if isinstance(law, smq.LawByColumns):
        return smq.Market(epsilon, smq.Uniform(0.0, COLUMNS["most"][:n]))
    return smq.Market(epsilon, law)


SLOW = [pytest.param(name, 600, marks=pytest.mark.slow) for name in ("beta", "histogram", "no budget")]
SLOW += [pytest.param(name, MANY, marks=pytest.mark.slow) for name in ("uniform", "histogram", "by columns")]
QUICK = ["uniform", "histogram, a jump", "histogram, ties", "by group", "by columns", "slack"]


@pytest.mark.parametrize(("name", "n"), [*((name, 600) for name in QUICK), *SLOW])
def test_any_parts_give_the_same_bits_as_the_market_in_memory(
    write, client, thresholds, tmp_path, monkeypatch, name, n
):
    if n < MANY:  # few owners are binned as many are
        monkeypatch.setattr(_sketch, "_FEW", 64)
        monkeypatch.setattr(_sample, "_ROWS", 64)
    law, epsilon, share = CASES[name]
    columns = {column: values[:n] for column, values in COLUMNS.items()}
    found = []
    for parts in (1, 7, 24):
        market = smq.ParquetMarket(write(columns, parts), law, epsilon=epsilon, owner_id="id", groups=["city"])
        solution = smq.solve(market, share * n, client=client, out=tmp_path / f"out{parts}")
        certificate = smq.verify(solution, client=client)
        assert certificate.valid, certificate
        found.append(
            (thresholds(solution).tobytes(), thresholds(solution, "acceptance").tobytes(), relevant(certificate))
        )
        assert solution.passes <= (8 if name == "by columns" else 3)
    assert found[0] == found[1] == found[2]
    reference = smq.solve(in_memory(law, columns[epsilon]), share * n)
    assert solution.status is reference.status
    theta = np.frombuffer(found[0][0])
    assert np.max(np.abs(theta - reference.thresholds) / np.max(reference.market.high)) <= 1e-12
    assert abs(solution.purchased_privacy - reference.purchased_privacy) <= 1e-12 * reference.purchased_privacy
    drawn = reference.lottery
    assert solution.drawing == (0 if drawn is None else drawn.owner.size)
    assert solution.drawing > 0 or name not in ("histogram, a jump", "histogram, ties") or n == MANY
    if drawn is not None:
        assert abs(solution.probability_of_high - drawn.probabilities[0, 1]) <= 1e-9


@pytest.mark.parametrize("instance", REFERENCE, ids=lambda instance: instance["name"])
def test_reference_cases(write, client, thresholds, tmp_path, instance):
    epsilon = np.array([float(e) for e in instance["epsilon"]])
    laws = [reference_law([law], NAMED) for law in instance["valuation"]]
    labels = [str(i) for i in range(epsilon.size)]
    law = laws[0] if len(laws) == 1 else smq.LawsByGroup("law", dict(zip(labels, laws, strict=True)))
    market = smq.ParquetMarket(write({"epsilon": epsilon, "law": labels}, 2), law)
    solution = smq.solve(market, float(instance["budget"]), client=client, out=tmp_path / "out")
    certificate = smq.verify(solution, client=client)
    assert certificate.valid
    assert certificate.grade == "proved"
    assert np.max(np.abs(thresholds(solution) - np.array([float(t) for t in instance["thresholds"]]))) <= 1e-12
    objective = float(instance["objective"])
    assert certificate.lower_bound <= objective * (1 + 1e-15)
    assert objective * (1 - 1e-15) <= certificate.upper_bound


def test_nobody_who_sells_anything(write, client, tmp_path):
    market = smq.ParquetMarket(write({"epsilon": np.zeros(3)}), smq.Uniform(1, 2))
    for k, budget in enumerate((0.0, 1.0)):
        solution = smq.solve(market, budget, client=client, out=tmp_path / f"out{k}")
        certificate = smq.verify(solution, client=client)
        assert (certificate.valid, certificate.upper_bound, solution.total_spend) == (True, 0.0, 0.0)


@pytest.mark.parametrize("law", [smq.PointMass(0.5), smq.Discrete([1, 2, 5], [0.25, 0.5, 0.25]), smq.Uniform(1, 1.001)])
@pytest.mark.parametrize("budget", [0.3, 1.0, 2.7])
def test_laws_with_jumps_and_narrow_supports(write, client, tmp_path, law, budget):
    epsilon = np.array([0.3, 0.3, 1.0, 0.7, 0.7, 0.7])
    market = smq.ParquetMarket(write({"epsilon": epsilon}, 3), law)
    solution = smq.solve(market, budget, client=client, out=tmp_path / "out")
    certificate = smq.verify(solution, client=client)
    reference = smq.verify(smq.solve(smq.Market(epsilon, law), budget))
    assert certificate.valid, certificate
    assert solution.passes <= 8
    assert abs(certificate.lower_bound - reference.lower_bound) <= 1e-12 * reference.upper_bound


@pytest.mark.parametrize("law", [smq.PointMass(0.5), smq.Discrete([1, 2, 5], [0.25, 0.5, 0.25])])
def test_small_chances_of_the_upper_price_keep_their_digits(write, client, tmp_path, law):
    market = smq.ParquetMarket(write({"epsilon": np.ones(6)}, 3), law)
    solution = smq.solve(market, 1e-9, client=client, out=tmp_path / "out")
    assert smq.verify(solution, client=client).valid
    assert abs(solution.total_spend / 1e-9 - 1) <= 1e-13
    assert 0 < solution.probability_of_high < 1e-8


def test_the_price_is_the_same_in_every_unit(write, client, tmp_path):
    """Scaling law and budget by a power of two scales thresholds exactly."""
    epsilon = COLUMNS["epsilon"][:50]
    found = []
    for scale in (1.0, 2.0**40):
        market = smq.ParquetMarket(write({"epsilon": epsilon}), smq.Uniform(0, scale))
        found.append(smq.solve(market, 10.0 * scale, client=client, out=tmp_path / f"{scale}").budget_price * scale)
    assert abs(found[0] - found[1]) <= 1e-14 * found[0]
