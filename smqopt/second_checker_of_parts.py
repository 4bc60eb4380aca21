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
from typing import Any

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
    law_of,
    need as require,
    number,
    prove_regular,
    top,
)

UNITS, MISS = 1 << 1074, 1e-12  # sums are whole numbers over this; of sums in doubles, relative
OF_PART = {"name", "rows", "owners", "thresholds", "low", "high", "rest", "worth"}
BITS_OF_ROWS = 256


# ruff: noqa: D103, E731
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

def totals(content: Any) -> None:  # the bounds follow from the manifest
    parts, solution = content["manifest"]["parts"], content["solution"]
    need(all(set(part) == OF_PART for part in parts) and len(parts) > 0, "a part of the manifest")
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

def check_part(folder: Path, owners: Path, content: Any, part: Any, rows: int | None, law_of_text: Any, work: list[int]) -> bool:  # whether all rows were
    name, market, solution = part["name"], content["solution"]["market"], content["solution"]
    need(Path(name).name == name, "the name of a part")
    offers = folder / "thresholds" / name
    need(sha(offers.read_bytes()).hex() == part["thresholds"], f"{name}: the file of thresholds")
    valuation, known = market["valuation"], market["owner_id"]
    numbers = {market["epsilon"], *(x for k, x in valuation.get("by_columns", {}).items() if k != "law" and isinstance(x, str))}
    texts = {*market["groups"], *([known] if known else []), *([valuation["by_group"]] if "by_group" in valuation else [])}
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
    picked, price = sample(content["manifest"]["root"], name, n, rows), number(solution["budget_price"])
    work[0] += 100 * len(picked)
    privacy, spend, tops = arb(0), arb(0), arb(0)
    with ctx.workprec(BITS_OF_ROWS):
        lam = arb(price if price < math.inf else 0)
        for i, text in zip(picked, laws(valuation, columns, picked), strict=True):
            law, between = law_of_text(text)
            s, own = float(t[i]), float(e[i])
            need(law.low <= s <= law.high, f"{name}: a threshold in its support")
            F = law.F(arb(s), Fraction(s))
            sold = F if q[i] > 0 else arb(0)
            need((abs(sold - float(q[i])) <= ACCEPTANCE) or (q[i] == 0 and s <= law.low), f"{name}: an acceptance that is F(θ)")
            privacy, spend = privacy + arb(own) * sold, spend + arb(s) * sold
            if own > 0:
                tops += arb(own) if price == 0 else top(law, list(between), arb(own), lam, s) if price < math.inf else arb(0)
            if 0 < price < math.inf:
                least, most = (s + step * math.ulp(s) for step in (-8, 8))
                asked = least <= law.low or ((least + law.at(least)[1]) * lam <= arb(own) * (1 + STATIONARITY))
                asked &= most >= law.high or own == 0 or ((most + law.at(most)[1]) * lam >= arb(own) * (1 - STATIONARITY))
                need(asked, f"{name}: a threshold that its price asks for")
        if len(picked) < n:
            return False
        def exact(text: str) -> Any:
            return arb(fmpq(units(text), UNITS))
        for k, found in enumerate((privacy, spend)):
            need((exact(part["low"][k]) <= found <= exact(part["high"][k])), f"{name}: a sum of the manifest")
        said = exact(part["rest"]) + exact(part["worth"][0]) - lam * exact(part["worth"][1])
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
        totals(content)
        every, root = content["manifest"]["parts"], content["manifest"]["root"]
        place = Path(owners or content["manifest"]["folder"])
        held = sorted(path.name for path in place.glob("*.parquet") if not path.name.startswith((".", "_")))
        need(held == sorted(part["name"] for part in every), "parts that came or went")
        picked = [every[k] for k in sample(root, "parts", len(every), parts)]
        with ctx.workprec(BITS):
            work = [10 * MOST]  # counted, and linear in rows, as in the second checker
            law_of_text = read_laws(work)
            whole = [check_part(Path(folder), place, content, part, rows, law_of_text, work) for part in picked]
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
