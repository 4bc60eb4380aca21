"""The errata as the documents show them: `python -m smqopt.paper.errata._markdown docs/theory.md` writes the tables anew."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smqopt.errors import InputError
from smqopt.files import write_text
from smqopt.paper.errata._entry import Entry
from smqopt.paper.errata._table import ERRATA, FACTS

TABLES: dict[str, tuple[tuple[str, str, str, str], tuple[Entry[Any], ...]]] = {
    "errata": (("#", "where", "as printed", "what holds"), ERRATA),
    "facts": (("#", "where", "tempting", "what holds"), FACTS),
}
"""By the name in a document's marks: header and entries."""


def markdown_table(header: Sequence[str], entries: Sequence[Entry[Any]]) -> str:
    r"""Give one row an entry, in Markdown.

    Examples
    --------
    >>> print(markdown_table(("#", "where", "as printed", "what holds"), ERRATA[6:7]))
    | # | where | as printed | what holds |
    |---|---|---|---|
    | E7 | FQ baseline | Laplace noise of variance n − k | of scale n − k, variance 2(n − k)² |
    """
    rows = [(entry.key, entry.where, entry.refuted.words, entry.held.words) for entry in entries]
    cells = [[cell.replace("|", r"\|") for cell in row] for row in (header, *rows)]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]])


def with_tables(text: str) -> str:
    """Replace what stands between `% errata` or `% facts` and the next `% end` by the table.

    Raises
    ------
    InputError
        If a mark is missing.
    """
    for name, (header, entries) in TABLES.items():
        before, mark, rest = text.partition(f"% {name}\n")
        _, end, after = rest.partition("% end\n")
        if not (mark and end):
            raise InputError(
                "document", f"must hold the lines '% {name}' and '% end'", remedy="put them round the table"
            )
        text = f"{before}{mark}\n{markdown_table(header, entries)}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    document = Path(sys.argv[1])
    write_text(document, with_tables(document.read_text(encoding="utf-8")))
