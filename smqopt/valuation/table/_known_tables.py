"""Tables that were made, law by law; laws do not change."""

from __future__ import annotations

import weakref

from smqopt.valuation.law._base import Valuation
from smqopt.valuation.table._proved_table import ProvedTable, tabulate_law
from smqopt.valuation.table._tabulated import Tabulated


def proved_table(law: Valuation) -> ProvedTable | str:
    """Return the table of a common law, made once; or say why there is none."""
    if law not in _KNOWN:
        _KNOWN[law] = tabulate_law(law)
    return _KNOWN[law]


def law_by_table(law: Valuation) -> Valuation:
    """Return a common law as its table tells it; the law itself where there is none."""
    table = proved_table(law)
    return law if isinstance(table, str) else Tabulated(law, table)


_KNOWN: weakref.WeakKeyDictionary[Valuation, ProvedTable | str] = weakref.WeakKeyDictionary()
