"""The argument for formulas, found once for laws that differ in numbers alone."""

from __future__ import annotations

from smqopt.algebra import remember
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._build import argue, has_closed_form
from smqopt.derivation.storage._cache import keep
from smqopt.valuation import LawFormulas, Row


@remember
def find_argument(formulas: LawFormulas, rows: tuple[Row, ...]) -> Argument:
    """Find all parts of the argument, or read them from the cache."""
    return keep("argument", formulas, rows, lambda: argue(formulas, rows))


@remember
def find_closed_form(formulas: LawFormulas) -> tuple[bool, bool]:
    """Tell whether there are closed forms of J and C, or read it from the cache."""
    return keep("closed form", formulas, (), lambda: has_closed_form(formulas))
