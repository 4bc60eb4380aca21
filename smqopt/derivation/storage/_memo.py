"""The argument for formulas, found once: laws that differ in numbers alone share it."""

from __future__ import annotations

import functools

from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._build import argue
from smqopt.derivation.law._law_formulas import LawFormulas, Row
from smqopt.derivation.storage._cache import kept


@functools.lru_cache(maxsize=128)
def argued(formulas: LawFormulas, rows: tuple[Row, ...]) -> Argument:
    """Find all parts of the argument, as `argue` does, or take them from what is kept; nothing is checked yet."""
    return kept("argument", formulas, rows, lambda: argue(formulas, rows))
