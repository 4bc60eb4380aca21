"""Tables in Markdown, put between marks of a document: `% NAME` and the next `% end`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

Tables = Mapping[str, Callable[[], str]]
"""Name of a mark → what stands below it."""


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in (header, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]])


def fill(text: str, tables: Tables) -> str:
    """Replace what stands between each mark and its end.

    Raises
    ------
    ValueError
        If a mark is missing.
    """
    for name, table in tables.items():
        before, mark, rest = text.partition(f"% {name}\n")
        _, end, after = rest.partition("% end\n")
        if not (mark and end):
            raise ValueError(f"the document must hold the lines '% {name}' and '% end'")
        text = f"{before}{mark}\n{table()}\n\n{end}{after}"
    return text


def rewrite(tables: Tables, document: str) -> None:
    """Fill a document anew: the one that the command line names, or the one given, in docs."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / document
    path.write_text(fill(path.read_text(encoding="utf-8"), tables), encoding="utf-8", newline="\n")
