"""Files of every kind that are read again, edited and sealed anew: none is let through, none ends in a raw error.

The default suite tries a seeded twentieth, `pytest -m exhaustive tests/cli/test_forged_folders.py` a thousand edits.
"""

import contextlib
import copy
import dataclasses
import json
import random
import shutil
from collections import Counter

import numpy as np
import pytest

import smqopt as smq
from smqopt import cache
from smqopt.cli._entry import run
from smqopt.errors import SmqoptError
from smqopt.query.ledger._lines import START, hashed_line
from smqopt.valuation.table import _kept_tables as kept
from smqopt.valuation.table._proved_table import tabulate_law
from smqopt.verification.certificate._file_integrity import digest

pytestmark = pytest.mark.filterwarnings("ignore::smqopt.PrivacyWarning")
EDITS = 1_000
MODEL = """budget = 1.1
[owners]
ids = ["ann", "bo", "cy", "di"]
epsilon = [0.5, 1.0, 1.5, 2.0]
groups = { city = ["x", "y", "x", "y"] }
reports = [0.1, 0.2, 0.3, 0.05]
data = [1, 0, 1, 1]
[valuation]
law = "LAW"
LINES
[query]
KIND
"""
MODELS = (
    ("uniform", "low = 0.0\nhigh = 1.0", 'kind = "count"'),
    ("piecewise-uniform", "edges = [0.0, 0.5, 1.0]\nmasses = [1, 4]", 'kind = "histogram"\nedges = [0, 1, 2]'),
    ("power", "k = 2.0", 'kind = "median"\nlow = 0\nhigh = 5'),
)
FILES = ("solution.json", "certificate.json", "thresholds.csv", "outcome.csv", "answer.json", "public/release.json",
         "public/certificate.json", "reserve.json", "LEDGER")  # fmt: skip
ODD = (
    None,
    True,
    0,
    -1,
    1.5,
    1e300,
    10**400,
    "",
    "x",
    "inf",
    "nan",
    [],
    [1.0],
    {},
    {"is": 1},
    "0" * 64,
    "\x00",
    "=1+1",
    -0.5,
)
TEXTS = (
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "1e999",
    '"',
    "\n",
    "\x00",
    "{",
    "]",
    ",",
    "ann",
    "x" * 50_000,
    "[" * 3_000,
    "１",
    "\ufeff",
    "yes",
)


def leaves(node, path=()):
    yield path
    if isinstance(node, (dict, list)):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield from leaves(node[key], (*path, key))


def near(rng, value):
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return rng.choice([value + 1, -value - 1, value * (1 + 10 ** rng.uniform(-7, 0)) + 1e-6, str(value), [value]])
    if isinstance(value, str):
        return rng.choice([value + "x", value[:-1], value.swapcase() + "1", [value]])
    if isinstance(value, list):
        return rng.choice([[*value, *value[:1], 1], value[:-1] if value else [1], {}])
    return {**value, "more": 1}


def edit_json(rng, content):
    """Change, drop or add one entry; return it, and where."""
    edited = copy.deepcopy(content)
    *above, last = rng.choice([path for path in leaves(edited) if path])
    parent = edited
    for key in above:
        parent = parent[key]
    how = rng.choice(["near", "odd", "drop", "add"])
    if how == "drop":
        del parent[last]
    elif how == "add" and isinstance(parent, dict):
        parent["added"] = rng.choice(ODD)
    else:
        parent[last] = near(rng, parent[last]) if how == "near" else rng.choice(ODD)
    return edited, (*above, last)


def edit_text(rng, text):
    at, odd = rng.randrange(len(text) + 1), rng.choice(TEXTS)
    lines = text.split("\n")
    row = rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            return text[:at] + odd + text[at:]
        case 1:
            return text[:at] + text[at + rng.randrange(1, 9) :]
        case 2:
            lines[row] = lines[rng.randrange(len(lines))]
        case 3:
            cells = lines[row].split(",")
            cells[rng.randrange(len(cells))] = odd
            lines[row] = ",".join(cells)
        case _:
            return text[:at]
    return "\n".join(lines)


def sealed_ledger(rng, text):
    """Edit one line's record, and hash all lines anew."""
    records = [json.loads(line[65:]) for line in text.splitlines()]
    row = rng.randrange(len(records))
    records[row], _ = edit_json(rng, records[row])
    lines, head = [], START
    for record in records:
        line, head = hashed_line(record, head)
        lines.append(line.decode())
    return "".join(lines)


def sealed(name, content):
    """Give an edited file the digest that it should have."""
    if name.endswith("certificate.json") and isinstance(content, dict):
        with contextlib.suppress(ValueError, OverflowError, TypeError):  # infinity has no digest
            content["digest"] = digest(content)
    return json.dumps(content)


def forge(rng, name, text):
    """Return another text of a file, where the change stands, and whether it is sealed."""
    if name == "LEDGER":
        return (sealed_ledger(rng, text), (), True) if rng.random() < 0.7 else (edit_text(rng, text), (), False)
    if name.endswith(".csv") or rng.random() < 0.25:
        return edit_text(rng, text), (), False
    content, place = edit_json(rng, json.loads(text))
    return sealed(name, content), place, True


def means_the_same(name, text, forged, place):
    """Whether an edit changes nothing that is said: a blank line, 0.50, or what stands under `unchecked`."""
    if name.endswith(".json"):
        try:
            return place[:1] == ("unchecked",) or json.loads(forged) == json.loads(text)
        except (ValueError, RecursionError):
            return False

    def rows(table):
        return [[cell.strip() for cell in line.split(",")] for line in table.removeprefix("\ufeff").split("\n") if line]

    def number(cell):
        try:
            return float(cell) if cell.isascii() else cell
        except ValueError:
            return cell

    return [list(map(number, row)) for row in rows(forged)] == [list(map(number, row)) for row in rows(text)]


def honest(place, model):
    """Run a model, and return the folder of its results."""
    law, lines, kind = model
    text = MODEL.replace("LAW", law).replace("LINES", lines).replace("KIND", kind)
    place.mkdir()
    (place / "model.toml").write_text(text, encoding="utf-8")
    out, ledger = str(place / "out"), str(place / "ledger")
    assert (
        run(["run", str(place / "model.toml"), "--out", out, "--ledger", ledger, "--share", "1/2", "--reserve", "0.1"])
        == 0
    )
    assert run(["verify", out, "--ledger", ledger]) == 0
    return place


def tried(place, count, seed, captured):
    """Edit files of honest folders; return what was let through or ended in no clear error, and what was tried."""
    rng, wrong, kinds = random.Random(seed), [], Counter()  # noqa: S311 -- a seeded test
    folders = [honest(place / str(k), model) for k, model in enumerate(MODELS)]
    for number in range(count):
        folder, name = rng.choice(folders), FILES[number % len(FILES)]
        path = folder / "ledger" if name == "LEDGER" else folder / "out" / name
        text = path.read_text(encoding="utf-8")
        forged, where, is_sealed = forge(rng, name, text)
        if forged == text or (name != "LEDGER" and means_the_same(name, text, forged, where)):
            continue
        kinds[name] += 1
        captured()
        path.write_bytes(forged.encode("utf-8", "surrogatepass"))
        try:
            code = run(["verify", str(folder / "out"), "--ledger", str(folder / "ledger")])
        except Exception as error:  # noqa: BLE001 -- a raw error is what is looked for
            code = repr(error)
        path.write_bytes(text.encode())
        error = captured().err
        through = code == 0 and not (name == "LEDGER" and is_sealed)  # who writes a whole ledger is its keeper
        if name == "LEDGER" and code == 0 and not is_sealed:  # a torn tail, which counts no less
            through = not forged.startswith(text[: text.rindex("\n", 0, -1) + 1] if text.count("\n") > 1 else "")
        if (
            through
            or code not in (0, 1, 2)
            or "Traceback" in error
            or (code and "smqopt: error: " not in error and code != 1)
        ):
            wrong.append((name, where, code, error[-300:], forged[:200] if through else ""))
    return wrong, kinds


def test_no_edit_of_a_folder_is_let_through(tmp_path, capfd):
    wrong, kinds = tried(tmp_path, EDITS // 20, 0, capfd.readouterr)
    assert wrong == []
    assert len(kinds) == len(FILES)


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(10))
def test_no_edit_of_a_folder_is_let_through_at_length(tmp_path, capfd, block):
    assert tried(tmp_path, EDITS // 10, 1 + block, capfd.readouterr)[0] == []


def forged_table(rng, table):
    """Another table: one array changed."""
    name = str(rng.choice([one.name for one in dataclasses.fields(table)]))
    column = getattr(table, name)
    odd = [column[..., :-1], np.clip(column, -1.0, 1.0), column * np.nan, column[..., ::-1], column + 0.01, np.zeros(0),
           column.ravel()[:1], -column - 1.0, column * (1 + 1e-6)]  # fmt: skip
    return dataclasses.replace(table, **{name: odd[rng.integers(len(odd))]})


@pytest.mark.filterwarnings("ignore:.*is made anew:RuntimeWarning")
@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.exhaustive)])
def test_no_forged_table_is_believed(tmp_path, monkeypatch, count):
    """Whatever an entry says, F lies within what the table used encloses."""
    monkeypatch.setattr(cache, "_ASKED", {})
    monkeypatch.setenv("SMQOPT_CACHE", str(tmp_path))
    laws = (smq.Beta(2, 3), smq.Gamma(1.5, 0.4, 0, 2), smq.Mixture([smq.Uniform(0, 1), smq.Power(3)], [1, 2]))
    rng = np.random.default_rng(15)
    tables = [tabulate_law(law) for law in laws]
    monkeypatch.setattr(kept, "tabulate_law", lambda law: tables[laws.index(law)])
    for number in range(count):
        law = laws[number % len(laws)]
        shutil.rmtree(tmp_path / "tables", ignore_errors=True)
        kept.find_or_make_table(law)
        (path,) = (tmp_path / "tables").iterdir()
        entry = cache.read_kept(path)
        if rng.random() < 0.2:  # a bit of the numbers
            at = int(rng.integers(entry.index(b"\n") + 1, len(entry)))
            entry = entry[:at] + bytes([entry[at] ^ 1 << int(rng.integers(8))]) + entry[at + 1 :]
        else:
            entry = kept._bytes_of(forged_table(rng, tables[number % len(laws)]), entry[: entry.index(b"\n")])
        cache.keep_file(path, entry)
        table = kept.find_or_make_table(law)
        theta = np.linspace(float(law.low), float(law.high), 3001)
        low, high = table.enclose(theta)
        assert ((low - 1e-10 <= law.cdf(theta)) & (law.cdf(theta) <= high + 1e-10)).all(), number


def test_an_answer_that_was_kept_and_edited_is_refused(tmp_path):
    """The answer to a charge that was never confirmed lies beside the ledger: a value that cannot be is not delivered."""
    market = smq.Market([1.0, 1.0, 1.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy"])
    outcome = smq.procure(smq.verify(smq.solve(market, 9.0)), [0.1, 0.2, 0.3])
    ledger, rng = smq.Ledger(tmp_path / "ledger"), random.Random(15)  # noqa: S311 -- a seeded test
    seen = []

    def full(answer):
        seen.append(answer)
        raise OSError(28, "No space left on device")

    def ask():
        smq.answer(smq.Count(), [1, 0, 1], outcome, ledger=ledger, estimator="P-E", deliver=full)

    with pytest.raises(OSError, match="No space"):
        ask()
    (path,) = (one for one in (tmp_path / "ledger.answers").iterdir() if one.suffix == ".json")
    honest_text, refused = path.read_text(encoding="utf-8"), 0
    for _ in range(100):
        content, _ = edit_json(rng, json.loads(honest_text))
        path.write_text(json.dumps(content), encoding="utf-8")
        try:
            ask()
        except SmqoptError:
            refused += 1
        except OSError:
            assert seen[-1].value in (0, 1, 2, 3)
            assert len(seen[-1].charge.head) == 64
    assert refused > 5
    path.write_text(honest_text, encoding="utf-8")
    with pytest.raises(OSError, match="No space"):
        ask()
    assert seen[-1].value == seen[0].value
