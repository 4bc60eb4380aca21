"""Tables of laws kept on disk, so that a second run makes none.

An entry repeats the law and a hash of what tables are made by, which are compared whole. Tables of
laws with lists of values or of edges, which may be observed valuations, are kept only where that is
asked for.
"""

from __future__ import annotations

import hashlib
import io
import json
from zipfile import BadZipFile

import numpy as np

from smqopt.cache import cache_folder, hash_of_sources, keep_file, read_kept
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._external import laws_within
from smqopt.valuation.table._proved_table import COLUMNS, ProvedTable, tabulate_law
from smqopt.valuation.table._step_law import step_law

_SOURCES = ("algebra", "numeric", "valuation")
_LIBRARIES = ("numpy", "python-flint", "sympy")


def find_or_make_table(law: Valuation) -> ProvedTable | str:
    """Return the table of a common law from disk, or make it and keep it there."""
    lists_values = any(step_law(held) is not None for held in laws_within(law))
    place = cache_folder("tables", observed=lists_values)
    if place is None:
        return tabulate_law(law)
    about = json.dumps({"law": law.to_dict(), "made by": hash_of_sources(_SOURCES, _LIBRARIES)}, sort_keys=True)
    path = place / f"{hashlib.sha256(about.encode()).hexdigest()}.table"
    found = _read(read_kept(path), about)
    if found is not None:
        return found
    table = tabulate_law(law)
    if not isinstance(table, str):
        content = io.BytesIO()
        columns = {name: getattr(table, name) for name in COLUMNS}
        np.savez(content, about=np.frombuffer(about.encode(), dtype=np.uint8), **columns)
        keep_file(path, content.getvalue())
    return table


def _read(content: bytes | None, about: str) -> ProvedTable | None:
    """Read a table; None where the entry cannot be used."""
    if content is None:
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as entry:
            same = entry["about"].tobytes() == about.encode()
            return ProvedTable(*(entry[name] for name in COLUMNS)) if same else None
    except (OSError, ValueError, KeyError, BadZipFile):
        return None
