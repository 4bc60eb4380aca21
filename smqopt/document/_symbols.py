"""The legend: each letter's meaning and unit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from smqopt.document._section import Section
from smqopt.notation import LEGEND


def symbols_section(formulas: Iterable[str] | None = None) -> Section:
    """List the letters of the paper and what they mean.

    Parameters
    ----------
    formulas
        Those of a page, in LaTeX; only letters that stand in one are listed. By default all are.
    """
    known = None if formulas is None else " ".join(formulas)
    rows = [
        (entry.latex, entry.meaning, entry.unit) for entry in LEGEND if known is None or _stands_in(entry.latex, known)
    ]
    return Section("symbols", "Symbols", "symbols.html", {"rows": rows})


def _stands_in(letter: str, formulas: str) -> bool:
    """Tell whether a letter is in formulas, with any index or none."""
    bare = letter.removesuffix("_i")
    return re.search(rf"(?<![A-Za-z\\]){re.escape(bare)}(?![A-Za-z])", formulas) is not None
