"""The legend: each letter's meaning and unit."""

from __future__ import annotations

from smqopt.document._section import Section
from smqopt.notation import LEGEND


def symbols_section() -> Section:
    """List the letters of the paper and what they mean."""
    rows = [(entry.latex, entry.meaning, entry.unit) for entry in LEGEND]
    return Section("symbols", "Symbols", "symbols.html", {"rows": rows})
