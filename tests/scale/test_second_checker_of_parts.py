"""The second checker on manifests: it agrees, samples what the root names, and refuses forgeries."""

import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smqopt as smq
from smqopt import second_checker_of_parts as second
from smqopt.scale.parts import _part_files
from smqopt.verification import digest

N = 60
RNG = np.random.default_rng(5)
COLUMNS = {
    "epsilon": RNG.uniform(0.2, 2.0, N),
    "id": np.array([f"o{i}" for i in range(N)]),
    "city": RNG.choice(["oslo", "tromsø"], N),
    "most": RNG.uniform(1.0, 2.0, N),
}
LAWS = {
    "uniform": smq.Uniform(0, 1),
    "beta": smq.Beta(2, 3),
    "by group": smq.LawsByGroup("city", {"oslo": smq.Uniform(0, 1), "tromsø": smq.Power(2)}),
    "by columns": smq.LawByColumns("uniform", low=0.0, high="most"),
}


@pytest.fixture
def certified(write, client, tmp_path):
    def make(law="uniform", budget=9.0, parts=5):
        market = smq.ParquetMarket(write(COLUMNS, parts), LAWS[law], owner_id="id", groups=["city"])
        solution = smq.solve(market, budget, client=client, out=tmp_path / "out")
        smq.verify(solution, client=client).save(solution.out / "certificate.json")
        return solution

    return make


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("budget", [9.0, 0.0, 500.0])
def test_it_proves_what_was_proved(certified, law, budget):
    out = certified(law, budget).out
    verdict, why = second.check(out, None, None)
    assert verdict == "proved", why
    verdict, why = second.check(out, 2, 5)
    assert verdict == "sampled", why
    assert why.startswith(("1 of 5 parts", "2 of 5 parts"))


def test_the_root_names_the_parts():
    first, second_time = (second.sample("ab" * 32, "parts", 1000, 10) for _ in range(2))
    assert first == second_time
    assert first != second.sample("cd" * 32, "parts", 1000, 10)
    assert second.sample("", "parts", 3, 5) == second.sample("", "parts", 3, None) == [0, 1, 2]


def forge(out, change):
    """Change a certificate, and make its root and its digest fit."""
    path = out / "certificate.json"
    content = json.loads(path.read_text())
    change(content)
    content["manifest"]["root"] = second.root_of(content["manifest"]["parts"])
    content["digest"] = digest(content)
    path.write_text(json.dumps(content))


def test_forged_claims_are_refused(certified):
    out = certified().out
    plain = (out / "certificate.json").read_text()

    def more(key, k):
        def change(content):
            part = content["manifest"]["parts"][1]
            part[key][k] = hex(int(part[key][k], 16) + second.UNITS)

        return change

    for change, said in (
        (more("low", 0), "lower"),
        (more("high", 1), "spend"),
        (more("worth", 1), "bound|gap"),
        (lambda content: content.update(upper_bound=1.0), "bound"),
        (lambda content: content["manifest"]["parts"].pop(), "number of owners"),
        (lambda content: content["solution"].update(budget=1.0), "budget"),
        (lambda content: content["solution"].update(status="SLACK"), "status"),
    ):
        forge(out, change)
        verdict, why = second.check(out, None, None)
        assert verdict == "refused"
        assert any(word in why for word in said.split("|")), why
        (out / "certificate.json").write_text(plain)


def test_thresholds_that_no_price_asks_for_are_refused(certified):
    """Their hashes, sums, root and digest all fit: the rows themselves tell."""
    solution = certified()
    path = solution.file_of(solution.parts[2])
    table = pq.read_table(path)
    theta = table["threshold"].to_numpy()
    theta = theta + np.where(np.arange(theta.size) % 2, 1e-6, -1e-6)  # the sums stay as they are, nearly
    _part_files.write_part(
        path, [table.set_column(1, "threshold", pa.array(theta)).set_column(2, "acceptance", pa.array(theta))]
    )

    def change(content):
        content["manifest"]["parts"][2]["thresholds"] = hashlib.sha256(path.read_bytes()).hexdigest()

    forge(solution.out, change)
    verdict, why = second.check(solution.out, None, None)
    assert verdict == "refused"
    assert "part-002.parquet" in why


@pytest.mark.parametrize("what", ["threshold", "owners", "order", "added", "manifest"])
def test_changed_files_are_refused_by_name(certified, what):
    solution = certified()
    owners = solution.market.folder / "part-001.parquet"
    path = {"threshold": solution.file_of(solution.parts[1]), "manifest": solution.out / "certificate.json"}.get(
        what, owners
    )
    if what in ("threshold", "manifest"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(bytes(content))
    elif what == "added":
        pq.write_table(pq.read_table(owners), solution.market.folder / "part-009.parquet")
    else:
        table = pq.read_table(owners)
        rows = np.arange(table.num_rows)[::-1].copy()
        changed = table.take(rows) if what == "order" else table.set_column(0, "epsilon", pa.array(np.ones(rows.size)))
        pq.write_table(changed, owners)
    verdict, why = second.check(solution.out, None, None)
    assert verdict == "refused"
    assert ("part-001.parquet" in why) == (what not in ("added", "manifest")), why


def test_what_it_does_not_check_it_says(write, client, tmp_path):
    law = smq.PiecewiseUniform([0, 1, 2, 3], [0.3, 0.6, 0.1])
    solution = smq.solve(
        smq.ParquetMarket(write({"epsilon": np.ones(40)}), law), 12.0, client=client, out=tmp_path / "out"
    )
    smq.verify(solution, client=client).save(solution.out / "certificate.json")
    assert second.check(solution.out) == ("not checked", "lotteries")
