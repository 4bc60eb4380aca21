"""Write the tables of errata and facts in docs/theory.md anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marks import Tables, markdown_table, rewrite

from smqopt.paper import ERRATA, FACTS, Entry

ERRATA_HEADER = ("#", "where", "as printed", "what holds")
FACTS_HEADER = ("#", "where", "tempting", "what holds")


def entry_table(header: Sequence[str], entries: Sequence[Entry[Any]]) -> str:
    """Write one row an entry."""
    return markdown_table(
        header, [(entry.key, entry.where, entry.refuted.words, entry.held.words) for entry in entries]
    )


TABLES: Tables = {
    "errata": lambda: entry_table(ERRATA_HEADER, ERRATA),
    "facts": lambda: entry_table(FACTS_HEADER, FACTS),
}

if __name__ == "__main__":
    rewrite(TABLES, "theory.md")
