"""An answer file: what may be published, and its check against the purchase."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smqopt.errors import CertificateError, InputError, nearest
from smqopt.files import from_json_number, read_json
from smqopt.mechanism import Outcome
from smqopt.model_files import QUERIES, make_query
from smqopt.query import NOISE_LEVEL, Answer, AnyQuery, Purchase, checked_share

_KEYS = ("value", "query", "n", "bought", "noise_half_width", "noise_level", "noise_unit", "simulation")
_AGAIN = "answer again"


def answer_to_dict(answer: Answer, seed: int | None) -> dict[str, Any]:
    """Return what may be published of an answer, and the seed of a simulation."""
    return answer.to_dict() | ({"seed": seed} if seed is not None else {})


def answer_lines(record: Mapping[str, Any]) -> list[str]:
    """Tell an answer in lines for people."""
    noise = f"noise at most {record['noise_half_width']:.6g} {record['noise_unit']} with probability {record['noise_level']:g}"
    value = record["value"]
    told = ", ".join(f"{one:.10g}" for one in (value if isinstance(value, list) else [value]))
    silent = record.get("excluded_owners")
    excluded = [f"silent about {silent} owners who could not be bought"] if silent else []
    spent = [f"spends {record['share']} of every requirement"] if "share" in record else []
    charged = [f"charged in the ledger as {record['charge']}"] if "charge" in record else []
    return [f"{record['query']}: {told}, {noise}", *excluded, *spent, *charged, str(record["note"])]


def check_answer(path: Path, outcome: Outcome) -> None:
    """Check the figures of an answer file against the purchase.

    The value itself cannot be checked: it was drawn from private entries.

    Raises
    ------
    InputError
        If the file cannot be read, or a key is missing or bad.
    CertificateError
        If a figure is not what the purchase gives.
    """
    content = read_json(path)
    for key in _KEYS:
        if key not in content:
            raise InputError(f"{path}: key {key!r}", "is missing", remedy=_AGAIN)
    value = content["value"]
    for number in value if isinstance(value, list) else [value]:
        if not math.isfinite(from_json_number(number, f"{path}: key 'value'")):
            raise InputError(f"{path}: key 'value'", "must be a finite number", value=value, remedy=_AGAIN)
    share = checked_share(content.get("share", "1"), f"{path}: key 'share'")
    purchase = Purchase.of(outcome).at(share)
    query = _query(path, content, purchase)
    expected = {
        **query.facts(),
        "n": outcome.population,
        "bought": outcome.bought,
        "noise_level": NOISE_LEVEL,
        "noise_unit": query.noise_unit,
        "simulation": "seed" in content,
        "noise_half_width": query.half_width(purchase.bought_epsilon, NOISE_LEVEL, outcome.population),
    }
    for key, figure in expected.items():
        if key not in content:
            raise InputError(f"{path}: key {key!r}", "is missing", remedy=_AGAIN)
        if type(content[key]) is not type(figure) or content[key] != figure:
            raise CertificateError(
                f"{path}: key {key!r}", f"the purchase gives {figure!r}", value=content[key], remedy=_AGAIN
            )


def _query(path: Path, content: Mapping[str, Any], purchase: Purchase) -> AnyQuery:
    kind = content["query"]
    if not isinstance(kind, str) or kind not in QUERIES:
        raise InputError(f"{path}: key 'query'", "is not a known query", value=kind, remedy=nearest(str(kind), QUERIES))
    known = QUERIES[kind]
    for name in known.required:
        if name not in content:
            raise InputError(f"{path}: key {name!r}", "is missing", remedy=_AGAIN)
    query = make_query(kind, **{name: content[name] for name in known.parameters if name in content})
    return query.asked_of(purchase)
