"""Derivations kept on disk by content, so that formulas are derived once.

An entry is a JSON file, named for a hash of the formulas and of the program's own sources. It
repeats the formulas, which are compared whole; an entry that is of other formulas or sources, or
damaged, is not used, and is written anew.

The folder is that of the environment variable SMQOPT_CACHE, empty for none; else
`smqopt/derivations` in XDG_CACHE_HOME or ~/.cache.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from smqopt.algebra import Domain, Equation, Relation, SymbolRange, Verdict, ran_short
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._budget_price import BudgetPrice
from smqopt.derivation.argument._change_of_variables import ChangeOfVariables
from smqopt.derivation.argument._cone_curve import Cone, ConeCurve
from smqopt.derivation.argument._inversion import CostInverse, Form
from smqopt.derivation.argument._posted import PostedRule
from smqopt.derivation.statement._step import Step
from smqopt.derivation.storage._expression_json import UnknownPartError, from_data, to_data
from smqopt.files import write_text
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
    place = folder()
    if place is None:
        return make()
    try:
        about = {"kind": kind, "sources": _sources(), "of": to_data((formulas, rows), _RECORDS)}
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


def folder() -> Path | None:
    """Return the folder of the entries; None where the environment wants none."""
    given = os.environ.get("SMQOPT_CACHE")
    if given is not None:
        return Path(given) if given else None
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "smqopt" / "derivations"


def _read(path: Path, about: Mapping[str, Any]) -> Any:
    """Read an entry; None where there is none that can be used."""
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("about") != about or entry.get("hash") != _hash(entry.get("made")):
        return None
    try:
        return from_data(entry["made"], _RECORDS)
    except (UnknownPartError, TypeError, ValueError, RecursionError):
        return None


def _write(path: Path, about: Mapping[str, Any], made: object) -> None:
    """Write an entry, if it reads back as what was made and the folder allows it."""
    try:
        data = to_data(made, _RECORDS)
    except UnknownPartError:
        return
    if from_data(data, _RECORDS) != made:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps({"about": about, "hash": _hash(data), "made": data}, ensure_ascii=False))
    except OSError:  # without a place to keep it, it is made anew the next time
        return


def _hash(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def _sources() -> str:
    """Hash the sources that derivations depend on, and the versions of the libraries."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for package in _SOURCES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library} {importlib.metadata.version(library)}\n".encode())
    return digest.hexdigest()
