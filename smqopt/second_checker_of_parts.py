"""Prove certificates in parts: `python -m smqopt.second_checker_of_parts DIR`.

It uses nothing of ours but `second_checker`. The manifest is added up in whole numbers, and the
bounds are derived from it. Then parts are read: three by default, which the root of the manifest
names, so that whoever wrote the files could not choose them; `--parts all` reads every one. Of a
part all hashes and sums are looked at, and rows one by one in ball arithmetic: a thousand by
default, named by the root too; `--rows all` takes every one. Verdicts: "proved" where all rows of
all parts were looked at, else "sampled" (exit code 0), "refused" (1), "not checked" (3).
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import itertools
import json
import math
import struct
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from flint import arb, ctx, fmpq

from smqopt.second_checker import (
    ACCEPTANCE,
    BITS,
    GAP,
    MOST,
    RECHECK,
    STATIONARITY,
    Verdict,
    ball,
    law_of,
    need as require,
    number,
    prove_regular,
    top,
)

UNITS, MISS = 1 << 1074, 1e-12  # sums are whole numbers over this; of sums in doubles, relative
ROUNDED = 2.0**-48
"""How far a requirement may be rounded, relative to the sum of its absolute terms."""
OF_PART = {"name", "rows", "owners", "thresholds", "low", "high", "rest", "worth"}
BITS_OF_ROWS, SIDE_ROW = 256, Fraction(1e-10)  # bits; what a row may be broken by, of its absolute terms


# ruff: noqa: D101, D103, E731
# fmt: off

def need(holds: object, why: str, verdict: str = "refused") -> None:
    require(bool(holds), why, verdict)

def sha(*content: bytes) -> bytes:
    return hashlib.sha256(b"".join(content)).digest()

def root_of(parts: list[Any]) -> str:  # leaves and nodes hashed apart (RFC 6962)
    level = [sha(b"\0", json.dumps(part, sort_keys=True, ensure_ascii=False).encode()) for part in parts]
    while len(level) > 1:
        pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
        level = [sha(b"\1", *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex()

def sample(root: str, name: str, n: int, many: int | None) -> list[int]:  # of n things, which the root names
    if many is None or many >= n:
        return list(range(n))
    drawn = (int.from_bytes(sha(f"{root} {name} {k}".encode()), "little") % n for k in itertools.count())
    return sorted(set(itertools.islice(drawn, many)))

def units(text: Any) -> int:
    need(isinstance(text, str), "a sum that is no text")
    return int(text, 16)

class SideRow(NamedTuple):  # Σ a q + Σ s b ≤ at_most, or the equation; by strata
    at_most: Fraction
    equal: bool
    a: dict[Any, Fraction]
    s: dict[Any, Fraction]

class Side(NamedTuple):  # constraints: columns of labels, rows, and what is taken off ε and added to λ, by strata
    columns: list[str]
    rows: list[SideRow]
    taken: dict[Any, Fraction]
    added: dict[Any, Fraction]

def rows_of(one: Any, columns: list[str], counts: dict[Any, int]) -> list[SideRow]:  # of one constraint
    column = one.get("column")
    group = {} if column is None else {column: one.get("label")} if isinstance(column, str) else column
    def carriers(wanted: dict[str, Any]) -> list[Any]:
        texts = {name: {str(x) for x in (label if isinstance(label, list) else [label])} for name, label in wanted.items()}
        found = [g for g in counts if all(g[columns.index(name)] in labels for name, labels in texts.items())]
        need(len(found) > 0, "a group without owners")
        return found
    def limit(key: str) -> Fraction:
        return Fraction(number(one[key]))
    if one["kind"] == "parity":
        need("of" not in one, "a parity of payments", "not checked")
        labels = one.get("labels") or sorted({g[columns.index(column)] for g in counts})
        within, mean = limit("within"), {}
        for label in labels:
            inside = carriers({column: label})
            mean[label] = dict.fromkeys(inside, Fraction(1, sum(counts[g] for g in inside)))
        pairs = itertools.permutations(labels, 2) if within else itertools.pairwise(labels)
        return [SideRow(within, not within, {**mean[x], **{g: -a for g, a in mean[y].items()}}, {}) for x, y in pairs]
    inside = carriers(group)
    if one["kind"] == "coverage":
        need("probability" not in one, "a coverage with a probability", "not checked")
        if "share" in one:
            return [SideRow(Fraction(0), False, {g: limit("share") - (g in inside) for g in counts}, {})]
        return [SideRow(-limit("at_least"), False, dict.fromkeys(inside, Fraction(-1)), {})]
    need(one["kind"] in ("group-budget", "expected-owners"), "a constraint of another kind", "not checked")
    ones = dict.fromkeys(inside, Fraction(1))
    return [SideRow(limit("at_most"), False, {}, ones) if one["kind"] == "group-budget" else SideRow(limit("at_most"), False, ones, {})]

def side_of(solution: Any) -> Side | None:
    if "constraints" not in solution:
        return None
    named = [one.get("column") for one in solution["constraints"]]
    columns = list(dict.fromkeys(x for name in named if name is not None for x in ([name] if isinstance(name, str) else name)))
    counts = {tuple(labels): owners for labels, owners in solution["strata"]}
    need(len(counts) == len(solution["strata"]) > 0 and all(len(g) == len(columns) for g in counts), "strata")
    rows = [row for one in solution["constraints"] for row in rows_of(one, columns, counts)]
    y = [Fraction(number(x)) for x in solution["constraint_prices"]]
    need(len(y) == len(rows) and all(x >= 0 or row.equal for x, row in zip(y, rows, strict=True)), "multipliers")
    def price_of(key: str) -> dict[Any, Fraction]:
        return {g: sum((x * getattr(row, key).get(g, 0) for x, row in zip(y, rows, strict=True)), Fraction(0)) for g in counts}
    return Side(columns, rows, price_of("a"), price_of("s"))

def side_totals(content: Any, side: Side, price: Fraction) -> Fraction:  # how rows are kept, and what bounds all but λB
    parts, counts = content["manifest"]["parts"], {tuple(g): n for g, n in content["solution"]["strata"]}
    for part in parts:
        for key, k in (("low", 0), ("high", 1)):
            need(sum(units(one["spend"][k]) for one in part["strata"]) == units(part[key][1]), "the spend of strata")
    every = [(tuple(one["stratum"]), one) for part in parts for one in part["strata"]]
    need({g: sum(one["rows"] for h, one in every if h == g) for g in {g for g, _ in every}} == counts, "owners of strata")
    def add(g: Any, key: str, k: int) -> Fraction:
        return Fraction(sum(units(one[key][k] if k >= 0 else one[key]) for h, one in every if h == g), UNITS)
    bound = sum((add(g, "rest", -1) + add(g, "worth", 0) - (price + side.added[g]) * add(g, "worth", 1) for g in counts), Fraction(0))
    for row, y in zip(side.rows, map(number, content["solution"]["constraint_prices"]), strict=True):
        ends = [sorted(c * add(g, key, k) for k in (0, 1)) for key, of in (("acceptance", row.a), ("spend", row.s)) for g, c in of.items()]
        low, high = (sum((end[k] for end in ends), -row.at_most) for k in (0, 1))
        over = max(high, -low if row.equal else high, Fraction(0))
        need(over <= SIDE_ROW * (abs(row.at_most) + sum(min(map(abs, end)) for end in ends)), "a constraint")
        bound += Fraction(y) * row.at_most + abs(Fraction(y)) * over
    return bound

def totals(content: Any, side: Side | None) -> None:  # the bounds follow from the manifest
    parts, solution = content["manifest"]["parts"], content["solution"]
    keys = OF_PART | ({"strata"} if side else set())
    need(all(set(part) == keys for part in parts) and len(parts) > 0, "a part of the manifest")
    need(len({part["name"] for part in parts}) == len(parts), "a part that stands twice")
    need(content["manifest"]["root"] == root_of(parts), "the root of the manifest")
    need(content["owners"] == sum(part["rows"] for part in parts), "the number of owners")
    def add(key: str, k: int) -> int:
        return sum(units(part[key][k]) for part in parts)
    budget, price = Fraction(number(solution["budget"])), number(solution["budget_price"])
    privacy, low, high = (Fraction(add(*at), UNITS) for at in (("low", 0), ("low", 1), ("high", 1)))
    need(0 <= low <= high <= budget, "a spend within the budget")
    bound = Fraction(sum(units(part["rest"]) for part in parts) + add("worth", 0), UNITS)
    need(price < math.inf or budget == 0, "a price of a budget")
    if side:
        need(price < math.inf, "a price beside constraints")
        bound = side_totals(content, side, Fraction(price)) + Fraction(price) * budget
    else:
        bound += Fraction(price) * (budget - Fraction(add("worth", 1), UNITS)) if price < math.inf else 0
    need(privacy <= bound and 0 <= content["lower_bound"] <= content["upper_bound"], "a lower bound below the upper one")
    gap = (bound - privacy) / bound if bound > 0 else Fraction(0)
    need(gap <= content["gap_tolerance"] <= GAP, "a gap within its tolerance")
    claims = (("lower_bound", privacy, bound), ("upper_bound", bound, bound), ("gap", gap, 1))
    for key, found, scale in claims:
        need(abs(Fraction(number(content[key])) - found) <= Fraction(RECHECK) * scale, f"the {key}")
    need(all(abs(Fraction(s) - end) <= Fraction(RECHECK) * budget for s, end in zip(content["spend"], (low, high), strict=True)), "the spend")
    status = {"ZERO_BUDGET": price == math.inf, "SLACK": price == 0, "BINDING": 0 < price < math.inf}
    need(status.get(solution["status"], False), "the status")

def column(table: pa.Table, name: str, *, numbers: bool) -> Any:  # doubles; or ids and labels
    array = table.column(name).combine_chunks()
    need(array.null_count == 0, "a null")
    if numbers:
        return np.ascontiguousarray(array.to_numpy(zero_copy_only=False), dtype=np.float64) + 0.0
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    whole = pa.types.is_integer(array.type) or pa.types.is_boolean(array.type)
    return array.cast(pa.int64() if whole else pa.large_string())

def owners_digest(rows: int, columns: dict[str, Any]) -> str:
    hashes = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray) or pa.types.is_integer(values.type):
            hashes[name] = sha(np.ascontiguousarray(values if isinstance(values, np.ndarray) else values.to_numpy()).tobytes())
        else:
            coded = [text.encode() for text in values.to_pylist()]
            hashes[name] = sha(struct.pack(f"<{rows}q", *map(len, coded)))
            hashes[f"{name}, bytes"] = sha(*coded)
    said = (struct.pack("<q", len(name.encode())) + name.encode() + digest for name, digest in sorted(hashes.items()))
    return sha(struct.pack("<q", rows), *said).hex()

def read_laws(work: list[int]) -> Any:  # a law of a text, and between which points it is regular
    return functools.lru_cache(maxsize=4096)(lambda text: (law := law_of(json.loads(text)), prove_regular(law, work)))

def laws(valuation: Any, columns: dict[str, Any], rows: list[int]) -> list[str]:  # of some rows, as text
    if "by_group" in valuation:
        labels = columns[valuation["by_group"]]
        return [json.dumps(valuation["laws"][str(labels[i].as_py())], sort_keys=True) for i in rows]
    if "by_columns" in valuation:
        given = valuation["by_columns"]
        named = {key for key, x in given.items() if key != "law" and isinstance(x, str)}
        return [json.dumps({k: float(columns[x][i]) if k in named else x for k, x in given.items()}, sort_keys=True) for i in rows]
    return [json.dumps(valuation, sort_keys=True)] * len(rows)

def strata_of(part: Any, side: Side | None, columns: dict[str, Any], q: Any) -> list[Any]:  # of each row, as counted
    if side is None or not side.columns:
        strata: list[Any] = [()] * q.size
    else:
        strata = list(zip(*(map(str, columns[x].to_pylist()) for x in side.columns), strict=True))
    for one in part["strata"] if side else []:
        inside = np.array([g == tuple(one["stratum"]) for g in strata])
        total, (low, high) = Fraction(math.fsum(q[inside].tolist())), (Fraction(units(x), UNITS) for x in one["acceptance"])
        need(one["rows"] == inside.sum() and low - Fraction(MISS) * total <= total <= high + Fraction(MISS) * total, "a stratum")
    return strata

def is_asked(law: Any, s: float, worth: Any, cost: Any, slack: float) -> bool:  # a threshold by its price
    least, most = (s + step * math.ulp(s) for step in (-8, 8))
    asked = least <= law.low or ((least + law.at(least)[1]) * cost <= worth * (1 + STATIONARITY) + slack)
    return bool(asked and (most >= law.high or worth <= 0 or ((most + law.at(most)[1]) * cost >= worth * (1 - STATIONARITY) - slack)))

def check_part(
    folder: Path, owners: Path, content: Any, part: Any, side: Side | None, rows: int | None, law_of_text: Any, work: list[int]
) -> bool:  # whether all rows were
    name, market, solution = part["name"], content["solution"]["market"], content["solution"]
    need(Path(name).name == name, "the name of a part")
    offers = folder / "thresholds" / name
    need(sha(offers.read_bytes()).hex() == part["thresholds"], f"{name}: the file of thresholds")
    valuation, known = market["valuation"], market["owner_id"]
    numbers = {market["epsilon"], *(x for k, x in valuation.get("by_columns", {}).items() if k != "law" and isinstance(x, str))}
    texts = {*market["groups"], *(side.columns if side else []), *([known] if known else []), *([valuation["by_group"]] if "by_group" in valuation else [])}
    table = pq.read_table(owners / name, columns=sorted(numbers | texts))
    posted = pq.read_table(offers)
    n = table.num_rows
    need(n == posted.num_rows == part["rows"], f"{name}: the number of rows")
    columns = {x: column(table, x, numbers=x in numbers) for x in numbers | texts}
    need(owners_digest(n, columns) == part["owners"], f"{name}: owners that are others, or lie in another order")
    need(not known or column(posted, "owner_id", numbers=False).equals(columns[known]), f"{name}: ids beside thresholds")
    e, t, q = columns[market["epsilon"]], *(column(posted, x, numbers=True) for x in ("threshold", "acceptance"))
    need(all(np.isfinite(x).all() and (x >= 0).all() for x in (e, t, q)) and q.max() <= 1, f"{name}: a number")
    for k, x in enumerate((e, t)):
        total = Fraction(math.fsum((x * q).tolist()))
        low, high = Fraction(units(part["low"][k]), UNITS), Fraction(units(part["high"][k]), UNITS)
        need(low - Fraction(MISS) * total <= total <= high + Fraction(MISS) * total, f"{name}: a sum of the manifest")
    strata = strata_of(part, side, columns, q)
    picked, price = sample(content["manifest"]["root"], name, n, rows), number(solution["budget_price"])
    work[0] += 100 * len(picked)
    privacy, spend, tops = arb(0), arb(0), arb(0)
    with ctx.workprec(BITS_OF_ROWS):
        lam = arb(price if price < math.inf else 0)
        for i, text in zip(picked, laws(valuation, columns, picked), strict=True):
            law, between = law_of_text(text)
            s, own = float(t[i]), float(e[i])
            g, worth, cost, slack = strata[i], arb(own), lam, 0.0
            if side:
                need(g in side.taken, f"{name}: a stratum")
                worth, cost = worth - ball(side.taken[g]), lam + ball(side.added[g])
                slack = ROUNDED * (own + abs(float(side.taken[g])))
            need(law.low <= s <= law.high, f"{name}: a threshold in its support")
            F = law.F(arb(s), Fraction(s))
            sold = F if q[i] > 0 else arb(0)
            need((abs(sold - float(q[i])) <= ACCEPTANCE) or (q[i] == 0 and s <= law.low), f"{name}: an acceptance that is F(θ)")
            privacy, spend = privacy + arb(own) * sold, spend + arb(s) * sold
            if worth > 0 and price < math.inf:
                tops += worth if cost == 0 else top(law, list(between), worth, cost, s)
            if cost > 0 and price < math.inf:
                need(is_asked(law, s, worth, cost, slack), f"{name}: a threshold that its price asks for")
        if len(picked) < n:
            return False
        def exact(text: str) -> Any:
            return arb(fmpq(units(text), UNITS))
        for k, found in enumerate((privacy, spend)):
            need((exact(part["low"][k]) <= found <= exact(part["high"][k])), f"{name}: a sum of the manifest")
        lines = [(one, lam + ball(side.added[tuple(one["stratum"])])) for one in part["strata"]] if side else [(part, lam)]
        said = sum((exact(one["rest"]) + exact(one["worth"][0]) - cost * exact(one["worth"][1]) for one, cost in lines), arb(0))
        need((said >= tops - MISS * (tops + 1)), f"{name}: the top of its Lagrangians")
    return True

def check(folder: str | Path, parts: int | None = 3, rows: int | None = 1000, owners: str | Path | None = None) -> tuple[str, str]:
    """Return the verdict on a folder, and why; None takes all parts, or rows."""
    try:
        content = json.loads((Path(folder) / "certificate.json").read_text(encoding="utf-8"))
        need(content["format"] == "smqopt certificate in parts 1", "the format")
        rest = {key: x for key, x in content.items() if key != "digest"}
        need(content["digest"] == sha(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hex(), "the digest")
        need(content["grade"] == "proved" and content["valid"] is True, "it does not claim to be proved", "not checked")
        need(content["drawing"] == 0, "lotteries", "not checked")
        need(all(one["passed"] is True or one["required"] is False for one in content["checks"]), "a check")
        side = side_of(content["solution"])
        totals(content, side)
        every, root = content["manifest"]["parts"], content["manifest"]["root"]
        place = Path(owners or content["manifest"]["folder"])
        held = sorted(path.name for path in place.glob("*.parquet") if not path.name.startswith((".", "_")))
        need(held == sorted(part["name"] for part in every), "parts that came or went")
        picked = [every[k] for k in sample(root, "parts", len(every), parts)]
        with ctx.workprec(BITS):
            work = [10 * MOST]  # counted, and linear in rows, as in the second checker
            law_of_text = read_laws(work)
            whole = [check_part(Path(folder), place, content, part, side, rows, law_of_text, work) for part in picked]
        names = ", ".join(part["name"] for part in picked)
        return ("proved" if all(whole) and len(picked) == len(every) else "sampled"), f"{len(picked)} of {len(every)} parts: {names}"
    except Verdict as error:
        return error.args[0], error.args[1]
    except Exception as error:  # noqa: BLE001 -- whatever hostile files do, they are refused
        return "refused", f"files that cannot be read: {error!r}"

def main() -> None:
    read = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    many = lambda text: None if text == "all" else int(text)
    read.add_argument("folder")
    read.add_argument("--parts", type=many, default=3, help="how many parts, or all")
    read.add_argument("--rows", type=many, default=1000, help="how many rows of each, or all")
    read.add_argument("--owners", help="where the owners lie, if they were moved")
    given = read.parse_args()
    answer = check(given.folder, given.parts, given.rows, given.owners)
    sys.stdout.write(": ".join(answer) + "\n")
    sys.exit({"proved": 0, "sampled": 0, "refused": 1, "not checked": 3}[answer[0]])

if __name__ == "__main__":
    main()
