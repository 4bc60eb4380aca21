"""Forged certificates before both checkers: any field changed, hashes mended or not, is refused.

A forger edits certificate.json or thresholds.csv anywhere, and writes every digest anew. Neither
checker may then call the files proved, nor end in anything but a verdict. What stands under
`unchecked` decides nothing, and is left out here.
"""

import contextlib
import copy
import csv
import io
import json
from collections import Counter

import numpy as np
import pytest

import smqopt as smq
from smqopt import second_checker
from smqopt.errors import SmqoptError
from smqopt.numeric import RECHECK
from smqopt.verification.certificate._file_integrity import digest

FORGERIES = 10_000
"""In full; a tenth by default."""
LAWS = {
    "uniform": (smq.Uniform(0, 1), 0.5),
    "histogram": (smq.PiecewiseUniform([0, 0.5, 1], [3, 1]), 0.95),
    "formula": (smq.from_cdf("theta**2*(3 - 2*theta)", low=0, high=1), 1.0),
}
"""Laws, and the share of forgeries after which the next one is taken: a formula is read in longer."""
ODD = (None, True, False, 0, 1, -1, 1.0, 1e400, -0.0, 10**400, "", "x", "inf", "nan", [], [1.0], {}, {"is": 1})
"""What may stand in the place of anything; 1e400 is written as Infinity."""


def leaves(node, path=()):
    yield path
    if isinstance(node, (dict, list)):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield from leaves(node[key], (*path, key))


def at(content, path):
    for key in path:
        content = content[key]
    return content


def near(rng, value):
    """Something else that is easily taken for a value."""
    if isinstance(value, bool) or value is None:
        return rng.choice([not value, int(bool(value))]).item()
    if isinstance(value, (int, float)):
        factor = float(1 + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-10, 0))
        changed = [value * factor, -value - 1, value + 1e-9, str(value), [value], bool(value)]
        return changed[rng.integers(len(changed))]
    if isinstance(value, str):
        return [value + "x", value[:-1], value.upper() + " ", [value]][rng.integers(4)]
    if isinstance(value, list):
        return [value + value[:1], value[:-1], value[::-1], {}][rng.integers(4)] if value else [1]
    return {**value, "more": 1} if rng.random() < 0.5 else dict(list(value.items())[1:])


def same(one, other):
    """Whether two pieces of JSON say the same; −0 is 0."""
    return json.dumps(one, sort_keys=True).replace("-0.0", "0.0") == json.dumps(other, sort_keys=True)


def is_printed(content, path):
    """Whether the second checker prints that it does not look at a field."""
    if path[:2] == ("proof", "regularity"):
        return len(path) == 4 and path[3] in {"rule", "law"}
    if path == ("checks",):  # in another order, or without one that decides nothing
        return True
    if path[0] != "checks":
        return False
    check = content["checks"][path[1]]
    other = check["name"] in second_checker.OTHERS[3:] or not check["required"]
    return path[-1] in {"value", "norm", "note", "tolerance"} or other


def edit(rng, content):
    """A certificate with one field changed, added, dropped or doubled, as text; and what was done."""
    forged = copy.deepcopy(content)
    paths = [path for path in leaves(forged) if path and path[0] not in ("unchecked", "digest")]
    path = paths[rng.integers(len(paths))]
    parent, value, how = at(forged, path[:-1]), at(forged, path), rng.choice(["near", "odd", "drop", "twice"])
    if how == "drop":
        del parent[path[-1]]
    elif how != "twice":
        parent[path[-1]] = near(rng, value) if how == "near" else ODD[rng.integers(len(ODD))]
        changed = parent[path[-1]]
        if same(changed, value) or (type(changed) is type(value) is float and abs(changed - value) <= RECHECK.value):
            return None
    with contextlib.suppress(ValueError):  # infinity has no digest
        if rng.random() < 0.8:
            forged["digest"] = digest(forged)
    text = json.dumps(forged)
    if how == "twice":
        key = str(path[0])
        text = "{" + f"{json.dumps(key)}: {json.dumps(near(rng, content[key]))}, " + text[1:]
    return text, (how, *path)


def edit_table(rng, text):
    """A table with one cell, column or row changed, added or dropped."""
    rows = list(csv.reader(io.StringIO(text)))
    line, column = rng.integers(len(rows)), rng.integers(len(rows[0]))
    how = rng.choice(["cell", "column", "row", "drop", "quote"])
    if how == "cell":
        cell = rows[line][column]
        rows[line][column] = (
            cell + "1" if rng.random() < 0.5 else ["", "nan", "1e400", "-1", "0x1", "１"][rng.integers(6)]
        )
    elif how == "column":
        rows = [[*row, "extra" if k == 0 else "1"] for k, row in enumerate(rows)]
    elif how == "row":
        rows.append(list(rows[-1]))
    elif how == "drop":
        del rows[line]
    else:
        return text.replace(",", ',"', 1), (how,)
    if how == "cell" and (rows[line][column] == cell or is_number(cell, rows[line][column])):
        return None
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue(), (how, int(line), int(column))


def is_number(cell, other):
    """Whether two cells are the same number, with more digits than a double has."""
    return other.isascii() and other.replace(".", "", 1).isdigit() and float(other) == float(cell)


def first(folder):
    try:
        read = smq.Certificate.load(folder / "certificate.json", thresholds=folder / "thresholds.csv")
    except SmqoptError:
        return False
    return read.valid


def forge(folder, count, seed):
    """The forgeries that one of the checkers let through, and how many were tried of each kind."""
    rng, tried, through = np.random.default_rng([seed, 15]), Counter(), []
    for name, (law, share) in LAWS.items():
        market = smq.Market([0.2, 0.5, 1.0], law, owner_ids=list("abc"), groups={"city": ["x", "y", "x"]})
        solution = smq.solve(market, 0.3)
        solution.save(folder)
        smq.verify(solution).save(folder / "certificate.json")
        files = [folder / "certificate.json", folder / "thresholds.csv"]
        honest = [path.read_text(encoding="utf-8") for path in files]
        assert first(folder), name
        assert second_checker.check(folder)[0] == "proved", name
        content = json.loads(honest[0])
        while sum(tried.values()) < count * share:
            place = int(rng.random() < 0.2)
            found = edit_table(rng, honest[1]) if place else edit(rng, content)
            if found is None:
                continue
            text, what = found
            files[place].write_text(text, encoding="utf-8")
            tried[what[0]] += 1
            verdicts = first(folder), second_checker.check(folder)[0] == "proved"
            files[place].write_text(honest[place], encoding="utf-8")
            if verdicts[0] or (verdicts[1] and (place or not is_printed(content, what[1:]))):
                through.append((name, what, verdicts, text if place else ""))
    return through, tried


def test_no_forgery_is_let_through(tmp_path):
    through, tried = forge(tmp_path, FORGERIES // 10, seed=0)
    assert through == []
    assert sum(tried.values()) == FORGERIES // 10
    assert min(tried[how] for how in ("near", "odd", "drop", "twice", "cell", "column", "row", "quote")) > 10


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(10))
def test_no_forgery_is_let_through_at_length(block, tmp_path):
    through, _ = forge(tmp_path, FORGERIES // 10, seed=1 + block)
    assert through == []
