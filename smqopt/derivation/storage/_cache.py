"""Derivations kept on disk by content, so that formulas are derived once.

An entry is a JSON file, named for a hash of the formulas and of the program's own sources. It
repeats the formulas, which are compared whole; an entry that is of other formulas or sources, or
damaged, is not used, and is written anew.

`smqopt.cache` says where, and whether any are kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from smqopt.algebra import Domain, Equation, Relation, SymbolRange, Verdict, ran_short
from smqopt.cache import cache_folder, hash_of_sources, keep_file, read_kept, warn_of_damage
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._budget_price import BudgetPrice
from smqopt.derivation.argument._change_of_variables import ChangeOfVariables
from smqopt.derivation.argument._cone_curve import Cone, ConeCurve
from smqopt.derivation.argument._inversion import CostInverse, Form
from smqopt.derivation.argument._posted import PostedRule
from smqopt.derivation.statement._step import Step
from smqopt.derivation.storage._expression_json import UnknownPartError, from_data, to_data
from smqopt.valuation import LawFormulas, Row

T = TypeVar("T")

_RECORDS: Mapping[str, type] = {
    record.__name__: record
    for record in (
        *(Argument, BudgetPrice, ChangeOfVariables, Cone, ConeCurve, Domain, Equation, Form, SymbolRange, CostInverse),
        *(LawFormulas, PostedRule, Relation, Step, Verdict),
    )
}
"""All that an entry may be built of, beside expressions."""
_SOURCES = ("algebra", "derivation", "numeric", "valuation")
"""Packages on whose sources a derivation depends."""
_LIBRARIES = ("sympy", "python-flint")


def keep(kind: str, formulas: LawFormulas, rows: tuple[Row, ...], make: Callable[[], T]) -> T:
    """Return what was made of these formulas before, or make it and keep it.

    Parameters
    ----------
    kind
        What is made, in a word.
    formulas, rows
        What it is made of.
    make
        Makes it, from records and expressions alone.
    """
    place = cache_folder("derivations", observed=formulas.of_edges)
    sources = None if place is None else hash_of_sources(_SOURCES, _LIBRARIES)
    if place is None or sources is None:
        return make()
    try:
        about = {
            "kind": kind,
            "sources": sources,
            "of": to_data((formulas, rows), _RECORDS),
        }
    except UnknownPartError:  # what cannot be written exactly is not kept
        return make()
    path = place / f"{_hash(about)}.json"
    found = _read(path, about)
    if found is not None:
        return found  # type: ignore[no-any-return]
    made = make()
    if not ran_short():
        _write(path, about, made)
    return made


def _read(path: Path, about: Mapping[str, Any]) -> Any:
    """Read an entry; None where there is none that can be used."""
    content = read_kept(path)
    if content is None:
        return None
    try:
        entry = json.loads(content)
        if entry["about"] == about:
            return from_data(entry["made"], _RECORDS)
    except (UnknownPartError, TypeError, ValueError, KeyError, RecursionError):
        pass
    warn_of_damage(path)
    return None


def _write(path: Path, about: Mapping[str, Any], made: object) -> None:
    """Write an entry, if it reads back as what was made."""
    try:
        data = to_data(made, _RECORDS)
    except UnknownPartError:
        return
    if from_data(data, _RECORDS) == made:
        keep_file(path, json.dumps({"about": about, "made": data}, ensure_ascii=False).encode())


def _hash(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
