"""A small table in HTML, by which notebooks show records."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["html_table"]


def html_table(caption: str, rows: Iterable[tuple[str, object]]) -> str:
    """Write a table of two columns; numbers to nine digits, all text escaped.

    Examples
    --------
    >>> html_table("a <b>", [("spend", 0.5)])
    '<table><caption>a &lt;b&gt;</caption><tr><th scope="row">spend</th><td>0.5</td></tr></table>'
    """
    cells = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{_text(value)}</td></tr>' for name, value in rows)
    return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


def _text(value: object) -> str:
    return escape(f"{value:.9g}" if isinstance(value, float) else str(value))
