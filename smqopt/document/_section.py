"""A section of a page: its place, its name, and what its template shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Section:
    """One numbered section."""

    anchor: str
    """Its id on the page."""
    title: str
    template: str
    """The file under `templates/sections/` that shows it."""
    content: Mapping[str, Any]
    """What the template shows; numbers are already text."""
    folded: bool = False
    """Whether the page shows the section closed at first: long proofs, and lists."""
