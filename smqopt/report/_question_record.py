"""What a report tells of a question that was asked of the market."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class QuestionAnswered:
    """A question in words, and its answer as a table."""

    words: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    """Cells as they are shown; as long as the header."""
