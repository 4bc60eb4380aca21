"""Side constraints by group totals of a market in parts: the optimum in memory, rows kept, forgeries refused."""

import json
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest

import smqopt as smq
from smqopt.scale.passes import _sketch
from smqopt.second_checker_of_parts import check
from smqopt.verification import digest

RNG = np.random.default_rng(21)
N = 300
COLUMNS = {
    "epsilon": RNG.uniform(0.1, 2.0, N),
    "id": np.arange(N),
    "city": RNG.choice(["a", "b", "c"], N, p=[0.6, 0.3, 0.1]),
    "sex": RNG.choice(["f", "m"], N),
    "floor": RNG.integers(0, 3, N),
}
GROUPS = ["city", "sex", "floor"]
UNIFORM = smq.Uniform(0, 1)
BY_CITY = smq.LawsByGroup("city", {"a": UNIFORM, "b": smq.Beta(2, 3), "c": smq.Uniform(0.2, 1.5)})
SHARE = smq.Coverage("city", "c", share=0.2)
CASES = {
    "share": (UNIFORM, [SHARE]),
    "number and budget": (
        UNIFORM,
        [smq.Coverage({"city": "c", "sex": "f"}, at_least=0.03 * N), smq.GroupBudget("city", "a", at_most=0.08 * N)],
    ),
    "surely enough": (UNIFORM, [smq.Coverage("city", ("b", "c"), at_least=50, probability=0.9)]),
    "parity": (UNIFORM, [smq.Parity("sex", within=0.0), smq.Parity("city", within=0.05)]),
    "cap": (smq.Beta(2, 3), [smq.ExpectedOwners(at_most=0.3 * N)]),
    "cap of a floor": (UNIFORM, [smq.ExpectedOwners("floor", (0, 2), at_most=0.2 * N)]),
    "laws by group": (BY_CITY, [SHARE, smq.GroupBudget("city", ["a", "b"], at_most=0.1 * N)]),
    "idle": (UNIFORM, [smq.ExpectedOwners(at_most=2.0 * N)]),
}


@pytest.fixture
def solved(write, client, tmp_path):
    """Solve and verify a case."""

    def solve(law, constraints, parts=2, budget=0.15 * N, columns=COLUMNS):
        market = smq.ParquetMarket(write(columns, parts), law, owner_id="id", groups=GROUPS)
        solution = smq.solve(market, budget, constraints=constraints, client=client, out=tmp_path / f"out{parts}")
        return solution, smq.verify(solution, client=client)

    return solve


def in_memory(law, constraints, budget=0.15 * N):
    if isinstance(law, smq.LawsByGroup):
        places = [(np.flatnonzero(COLUMNS["city"] == label).tolist(), one) for label, one in law.laws.items()]
        law = smq.ByOwner.from_parts(places)
    market = smq.Market(COLUMNS["epsilon"], law, groups={name: COLUMNS[name] for name in GROUPS})
    return smq.solve(market, budget, constraints=constraints)


@pytest.mark.parametrize("binned", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_optimum_in_memory(solved, thresholds, monkeypatch, name, binned):
    if binned:
        monkeypatch.setattr(_sketch, "_FEW", 8)
    law, constraints = CASES[name]
    solution, certificate = solved(law, constraints)
    reference = in_memory(law, constraints)
    assert certificate.valid, certificate
    assert certificate.grade == "proved"
    assert abs(solution.purchased_privacy - reference.purchased_privacy) <= 1e-11 * reference.purchased_privacy
    q, theta = thresholds(solution, "acceptance"), thresholds(solution)
    assert np.max(np.abs(theta - reference.thresholds)) <= 1e-6
    for record in constraints:
        for row in record.rows(reference.market):
            used = sum(
                Fraction(c) * Fraction(x)
                for (rows, values), amounts in ((row.acceptance, q), (row.spend, theta * q))
                for c, x in zip(values.tolist(), amounts[rows].tolist(), strict=True)
            )
            over = used - Fraction(row.at_most)
            assert (abs(over) if row.equal else over) <= (1e-12 if row.equal or row.rounded else 0)


@pytest.mark.parametrize(
    ("name", "budget"), [("number and budget", 0.15 * N), ("parity", 0.15 * N), ("a price in one city", 2.0 * N)]
)
def test_any_parts_give_the_same_bits(solved, thresholds, name, budget):
    found = []
    for parts in (1, 7):
        solution, certificate = solved(*{**CASES, **LEFT}[name], parts=parts, budget=budget)
        said = {k: v for k, v in certificate.to_dict().items() if k not in ("unchecked", "digest", "manifest")}
        found.append((thresholds(solution).tobytes(), json.dumps(said)))
    assert found[0] == found[1]


REFUSED = {
    "another kind": ([smq.PriceRange(at_most=0.5)], UNIFORM, 1.0, "not supported for a market in parts"),
    "a mask": ([smq.Coverage([True] * N, at_least=1)], UNIFORM, 1.0, "not supported for a market in parts"),
    "no such column": ([smq.Coverage("town", "a", at_least=1)], UNIFORM, 1.0, "not among the groups"),
    "jumps": ([SHARE], smq.PiecewiseUniform([0, 1, 2, 3], [0.3, 0.6, 0.1]), 1.0, "virtual cost rises"),
    "law by columns": ([SHARE], smq.LawByColumns("uniform", low=0.0, high="epsilon"), 1.0, "virtual cost rises"),
    "no budget": ([SHARE], UNIFORM, 0.0, "budget > 0"),
    "no list": (SHARE, UNIFORM, 1.0, "must be a list"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused_before_the_first_pass(client, tmp_path, name):
    constraints, law, budget, words = REFUSED[name]
    market = smq.ParquetMarket(tmp_path / "nowhere", law, groups=GROUPS)
    with pytest.raises(smq.InputError, match=words):
        smq.solve(market, budget, constraints=constraints, client=client)


FAILS = {
    "conflict": ([smq.Coverage("sex", "f", at_least=0.45 * N)], 0.1 * N, smq.SolverError, "cannot hold together"),
    "all of a group": ([smq.Coverage("city", "c", at_least=int(np.sum(COLUMNS["city"] == "c")))], 50.0, smq.InputError, "no choice"),
    "nothing for a group": ([smq.GroupBudget("city", "a", at_most=0.0)], 50.0, smq.InputError, "no choice"),
    "nobody": ([smq.Coverage("city", "x", at_least=1)], 50.0, smq.InputError, "must be a label"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILS)
def test_what_cannot_be_met_is_said(solved, name):
    constraints, budget, kind, words = FAILS[name]
    with pytest.raises(kind, match=words):
        solved(UNIFORM, constraints, budget=budget)


def test_more_strata_than_are_counted(solved):
    columns = {**COLUMNS, "city": np.array([f"c{i}" for i in range(N)])}
    with pytest.raises(smq.InputError, match="more than 256 combinations"):
        solved(UNIFORM, [smq.Coverage("city", "c1", at_least=0.1)], columns=columns)


@pytest.mark.parametrize("constraints", [CASES["idle"][1], [smq.GroupBudget("city", "a", at_most=20.0)]])
def test_a_slack_budget(solved, constraints):
    solution, certificate = solved(UNIFORM, constraints, budget=2.0 * N)
    assert (solution.status, certificate.valid) == (smq.Status.SLACK, True)
    reference = in_memory(UNIFORM, constraints, 2.0 * N)
    assert abs(solution.purchased_privacy - reference.purchased_privacy) <= 1e-11 * reference.purchased_privacy


LEFT = {
    "cap": (UNIFORM, [smq.ExpectedOwners(at_most=10.0)]),
    "cap below one owner": (UNIFORM, [smq.ExpectedOwners(at_most=0.3)]),
    "cap and parity": (smq.Beta(2, 3), [smq.ExpectedOwners("city", "a", at_most=70.5), smq.Parity("sex", within=0.0)]),
    "a price in one city": (
        BY_CITY,
        [smq.GroupBudget("city", "c", at_most=2.0), smq.ExpectedOwners("sex", "m", at_most=40.3), smq.Parity("sex", within=0.1)],
    ),
    "nothing to sell": (UNIFORM, [smq.Parity("city", within=0.0)]),
}  # fmt: skip


@pytest.mark.parametrize("binned", [False, True])
@pytest.mark.parametrize("name", LEFT)
def test_money_that_is_left(solved, monkeypatch, name, binned):
    if binned:
        monkeypatch.setattr(_sketch, "_FEW", 8)
    law, constraints = LEFT[name]
    solution, certificate = solved(law, constraints, budget=2.0 * N)
    assert (solution.status, solution.budget_price) == (smq.Status.SLACK, 0.0)
    assert (certificate.valid, certificate.grade) == (True, "proved"), certificate
    reference = in_memory(law, constraints, 2.0 * N)
    assert reference.status is smq.Status.SLACK
    assert abs(solution.purchased_privacy - reference.purchased_privacy) <= 1e-11 * reference.purchased_privacy
    certificate.save(solution.out / "certificate.json")
    assert check(solution.out, None, 10)[0] == "sampled"


def test_owners_tied_at_one_requirement(solved, thresholds):
    columns = {**COLUMNS, "epsilon": np.where(np.arange(N) < 5, 3.0, 1.0)}
    solution, certificate = solved(UNIFORM, [smq.ExpectedOwners(at_most=64.0)], budget=2.0 * N, columns=columns)
    assert certificate.valid, certificate
    q = thresholds(solution, "acceptance")
    assert np.all(q[:5] == 1.0)
    assert np.max(np.abs(q[5:] - 0.2)) <= 1e-12
    assert abs(solution.constraint_prices[0] - 1.0) <= 1e-12


@pytest.mark.parametrize("factor", [0.0, 0.999, 1.001, 2.0])
def test_other_multipliers_of_money_that_is_left_are_not_valid(solved, client, factor):
    solution, _ = solved(*LEFT["a price in one city"], budget=2.0 * N)
    forged = solution.to_dict() | {"constraint_prices": [factor * y for y in solution.constraint_prices]}
    assert not smq.verify(type(solution).from_dict(forged, solution.out, "forged"), client=client).valid


@pytest.mark.parametrize(
    "change",
    [
        {"constraint_prices": lambda prices: [1.5 * prices[0], *prices[1:]]},
        {"constraint_prices": lambda prices: [0.0 for _ in prices]},
        {"constraints": lambda records: [{**records[0], "share": 0.25}]},
        {"constraints": lambda records: records[:0]},
        {"strata": lambda strata: [[strata[0][0], strata[0][1] + 1], *strata[1:]]},
        {"budget_price": lambda price: 0.99 * price},
    ],
    ids=["multiplier", "no multipliers", "another share", "no constraint", "strata", "price"],
)
def test_forged_solutions_are_not_valid(solved, client, change):
    solution, _ = solved(UNIFORM, [SHARE])
    content = solution.to_dict()
    forged = content | {key: alter(content[key]) for key, alter in change.items()}
    again = type(solution).from_dict(forged, solution.out, "forged")
    assert not smq.verify(again, client=client).valid


@pytest.mark.parametrize("prices", [[], [-1.0], [float("nan")], [1.0, 2.0]])
def test_multipliers_of_other_rows_are_refused(solved, client, prices):
    solution, _ = solved(UNIFORM, [SHARE])
    again = type(solution).from_dict({**solution.to_dict(), "constraint_prices": prices}, solution.out, "forged")
    with pytest.raises(smq.InputError, match="constraint_prices"):
        smq.verify(again, client=client)


def test_a_certificate_is_read_again(solved, client):
    solution, certificate = solved(UNIFORM, [SHARE])
    certificate.save(solution.out / "certificate.json")
    again = smq.load_certificate(solution.out / "certificate.json", client=client)
    assert again.root == certificate.root
    outcome_of = type(solution).load(solution.out)
    assert outcome_of.constraints == (SHARE,)


def reseal(path, content):
    rest = {key: value for key, value in content.items() if key != "digest"}
    path.write_text(json.dumps(rest | {"digest": digest(rest)}), encoding="utf-8")


@pytest.mark.parametrize("name", ["number and budget", "parity", "laws by group"])
def test_the_second_checker_proves(solved, name):
    solution, certificate = solved(*CASES[name])
    certificate.save(solution.out / "certificate.json")
    assert check(solution.out, None, 40)[0] == "sampled"
    assert check(solution.out, 1, 1)[0] == "sampled"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["share", "number and budget", "parity", "cap", "laws by group"])
def test_the_second_checker_proves_every_row(solved, name):
    solution, certificate = solved(*CASES[name])
    certificate.save(solution.out / "certificate.json")
    assert check(solution.out, None, None)[0] == "proved"


def _more(text):
    return hex(int(text, 16) + (1 << 1070))


def _first_stratum(content):
    return content["manifest"]["parts"][0]["strata"][0]


FORGERIES = {
    "acceptance": lambda c: _first_stratum(c)["acceptance"].__setitem__(0, _more(_first_stratum(c)["acceptance"][0])),
    "spend": lambda c: _first_stratum(c)["spend"].__setitem__(0, _more(_first_stratum(c)["spend"][0])),
    "rest": lambda c: _first_stratum(c).__setitem__("rest", hex(int(_first_stratum(c)["rest"], 16) - (1 << 1073))),
    "rows": lambda c: _first_stratum(c).__setitem__("rows", _first_stratum(c)["rows"] + 1),
    "label": lambda c: _first_stratum(c).__setitem__("stratum", ["z"]),
    "counts": lambda c: c["solution"]["strata"][0].__setitem__(1, c["solution"]["strata"][0][1] + 1),
    "share": lambda c: c["solution"]["constraints"][0].__setitem__("share", 0.3),
    "multiplier": lambda c: c["solution"]["constraint_prices"].__setitem__(0, 1.1 * c["solution"]["constraint_prices"][0]),
    "negative": lambda c: c["solution"]["constraint_prices"].__setitem__(0, -1.0),
    "dropped": lambda c: c["solution"].pop("constraints"),
    "kind": lambda c: c["solution"]["constraints"][0].__setitem__("kind", "price-range"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_the_second_checker_refuses(solved, name):
    from smqopt.scale._certificate import root_of_manifest

    solution, certificate = solved(UNIFORM, [SHARE])
    content = json.loads(json.dumps(certificate.to_dict()))
    FORGERIES[name](content)
    content["manifest"]["root"] = root_of_manifest(content["manifest"]["parts"])
    reseal(solution.out / "certificate.json", content)
    assert check(solution.out, None, 50)[0] in ("refused", "not checked")


def test_the_second_checker_refuses_other_thresholds(solved):
    solution, certificate = solved(UNIFORM, [SHARE])
    certificate.save(solution.out / "certificate.json")
    path = solution.file_of(solution.parts[0])
    table = pq.read_table(path)
    pq.write_table(table.set_column(1, "threshold", [table["threshold"].to_numpy() * 0.999]), path)
    assert check(solution.out, None, 50)[0] == "refused"


def test_a_run_goes_on_where_it_stopped(solved, write, client, tmp_path, thresholds):
    solution, _ = solved(UNIFORM, [SHARE])
    whole = thresholds(solution).tobytes()
    solution.file_of(solution.parts[1]).unlink()
    again = smq.solve(solution.market, solution.budget, constraints=[SHARE], client=client, out=solution.out)
    assert thresholds(again).tobytes() == whole
    assert again.to_dict() == solution.to_dict()


def random_case(seed):
    """Draw columns, a law, a budget and one to three constraints."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 400))
    kinds = [rng.uniform(0.1, 2, n), rng.choice([0.0, 0.1, 0.5, 1.0, 2.0], n), np.exp(rng.normal(0, 2, n))]
    columns = {
        "epsilon": kinds[rng.integers(3)],
        "id": np.arange(n),
        "city": rng.choice(["a", "b", "c"], n),
        "sex": rng.choice(["f", "m"], n),
        "floor": np.zeros(n, dtype=int),
    }
    laws = [UNIFORM, smq.Beta(2, 3), smq.Uniform(0.5, 1), smq.Power(2), smq.Triangular(0, 0.4, 1)]
    budget = float(rng.uniform(0.02, 0.2) * n)
    drawn = [
        smq.Coverage("city", str(rng.choice(["a", "b", "c"])), share=float(rng.uniform(0.1, 0.6))),
        smq.Coverage("sex", "f", at_least=float(rng.uniform(0, 0.15) * n)),
        smq.GroupBudget("city", "a", at_most=float(rng.uniform(0.01, 0.3) * budget)),
        smq.Parity("sex", within=float(rng.choice([0.0, 0.02, 0.2]))),
        smq.Parity("city", within=float(rng.choice([0.0, 0.02, 0.2]))),
        smq.ExpectedOwners(at_most=float(rng.uniform(0.3, 1) * n)),
        smq.ExpectedOwners({"city": ("a", "b"), "sex": "m"}, at_most=float(rng.uniform(0.05, 0.5) * n)),
    ]
    constraints = [drawn[k] for k in rng.permutation(len(drawn))[: rng.integers(1, 4)]]
    return columns, laws[rng.integers(len(laws))], budget, constraints


@pytest.mark.parametrize(
    ("seed", "times"),
    [
        *((seed, 1) for seed in range(4)),
        *(pytest.param(seed, 1, marks=pytest.mark.slow) for seed in range(4, 26)),
        *(pytest.param(seed, 10, marks=pytest.mark.slow) for seed in range(24)),
    ],
)
def test_random_markets(solved, seed, times):
    columns, law, budget, constraints = random_case(seed)
    budget *= times
    market = smq.Market(columns["epsilon"], law, groups={name: columns[name] for name in GROUPS})
    reference = smq.solve(market, budget, constraints=constraints)
    if reference.status is smq.Status.INFEASIBLE:
        with pytest.raises(smq.SolverError, match="cannot hold together"):
            solved(law, constraints, budget=budget, columns=columns)
        return
    solution, certificate = solved(law, constraints, budget=budget, columns=columns)
    assert certificate.valid, certificate
    assert certificate.grade == "proved"
    assert abs(solution.purchased_privacy - reference.purchased_privacy) <= 1e-9 * reference.purchased_privacy
