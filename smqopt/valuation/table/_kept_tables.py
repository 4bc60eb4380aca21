"""Tables of laws kept on disk, so that a second run makes none.

An entry repeats the law and a hash of what tables are made by, which are compared whole; then come
the lengths of its two kinds of columns, and the numbers. Tables of laws with lists of values or of
edges, which may be observed valuations, are kept only where that is asked for; those of laws whose
data do not tell all of them never.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from smqopt.cache import cache_folder, hash_of_sources, keep_file, read_kept, warn_of_damage
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._external import is_foreign, laws_within
from smqopt.valuation.table._cells import DEGREE, ORDER
from smqopt.valuation.table._proved_table import ProvedTable, knots_and_ends, tabulate_law
from smqopt.valuation.table._smooth_pieces import piece_law
from smqopt.valuation.table._step_law import step_law

_SOURCES = ("algebra", "numeric", "valuation")
_LIBRARIES = ("numpy", "python-flint", "sympy")
_NUMBER = np.dtype("<f8")
_NEAR = 2.0**-36
"""F in doubles may be so far off."""


def find_or_make_table(law: Valuation) -> ProvedTable | str:
    """Return the table of a common law from disk, or make it and keep it there."""
    held = list(laws_within(law))
    place = cache_folder("tables", observed=any(step_law(one) is not None for one in held))
    made_by = None if place is None else hash_of_sources(_SOURCES, _LIBRARIES)
    if place is None or made_by is None or any(is_foreign(one) for one in held):
        return tabulate_law(law)
    about = json.dumps({"law": law.to_dict(), "made by": made_by}, sort_keys=True).encode()
    path = place / f"{hashlib.sha256(about).hexdigest()}.table"
    found = _read(path, about, law)
    if found is not None:
        return found
    table = tabulate_law(law)
    if not isinstance(table, str):
        keep_file(path, _bytes_of(table, about))
    return table


def _bytes_of(table: ProvedTable, about: bytes) -> bytes:
    columns = (table.edges, table.middle, table.coefficients, table.error, table.density_error, table.knots, table.ends)
    sizes = np.array([table.middle.size, table.knots.size], dtype=_NUMBER)
    return b"\n".join([about, b"".join(column.astype(_NUMBER).tobytes() for column in (sizes, *columns))])


def _read(path: Path, about: bytes, law: Valuation) -> ProvedTable | None:
    """Read a table; None where there is none that can be used."""
    content = read_kept(path)
    if content is None:
        return None
    found = _table(content[len(about) + 1 :]) if content.startswith(about + b"\n") else None
    if found is not None and _holds(found, law):
        return found
    warn_of_damage(path)
    return None


def _table(content: bytes) -> ProvedTable | None:
    """Read the numbers; None where they are those of no table."""
    if len(content) % _NUMBER.itemsize or len(content) < 2 * _NUMBER.itemsize:
        return None
    sizes, numbers = np.split(np.frombuffer(content, _NUMBER).astype(np.float64), [2])
    k, m = (int(size) if size.is_integer() else 0 for size in sizes.tolist())
    if not (k >= 1 and m >= 2 and (k + 1) + k + (DEGREE + 1) * k + k + k + m + 4 == numbers.size):
        return None
    lengths = [k + 1, k, (DEGREE + 1) * k, k, k, m]
    edges, middle, coefficients, error, density_error, knots, ends = np.split(numbers, np.cumsum(lengths))
    table = ProvedTable(edges, middle, coefficients.reshape(DEGREE + 1, k), error, density_error, knots, ends)
    return table if _is_table(table) else None


def _is_table(table: ProvedTable) -> bool:
    """Tell whether cells follow each other, and their numbers are of the right sign."""
    edges, middle = table.edges, table.middle
    finite = (edges, table.coefficients, table.error, table.knots, table.ends)
    return bool(
        all(np.isfinite(column).all() for column in finite)
        and np.all((edges[:-1] <= middle) & (middle <= edges[1:]) & (edges[:-1] < edges[1:]))
        and np.all(table.error >= 0)
        and np.all(table.density_error >= 0)
    )


def _holds(table: ProvedTable, law: Valuation) -> bool:
    """Tell whether a table has the law's knots, and its F within each cell."""
    if isinstance(piece_law(law, ORDER), str):
        return False
    knots, ends = knots_and_ends(law)
    if not (np.array_equal(table.knots, knots) and np.array_equal(table.ends, ends)):
        return False
    edges = table.edges
    theta = edges[:-1] + np.diff(edges) / 3.0
    low, high = table.enclose(theta)
    F = law.cdf(theta)
    within = np.all((low - _NEAR <= F) & (high + _NEAR >= F))
    return bool(within and edges[0] == knots[0] and edges[-1] == knots[-1])
