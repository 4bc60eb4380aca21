"""Tables that were made, law by law; laws do not change."""

from __future__ import annotations

import weakref

from smqopt.valuation.law._base import Valuation
from smqopt.valuation.table._kept_tables import find_or_make_table
from smqopt.valuation.table._proved_table import ProvedTable
from smqopt.valuation.table._tabulated import Tabulated


def proved_table(law: Valuation) -> ProvedTable | str:
    """Return the table of a common law, made once and kept; or say why not."""
    if law not in _KNOWN:
        _KNOWN[law] = find_or_make_table(law)
    return _KNOWN[law]


def law_by_table(law: Valuation) -> Valuation:
    """Return a common law as its table tells it; the law itself where there is none."""
    table = proved_table(law)
    return law if isinstance(table, str) else Tabulated(law, table)


_KNOWN: weakref.WeakKeyDictionary[Valuation, ProvedTable | str] = weakref.WeakKeyDictionary()
