"""Tables that were made, law by law; laws do not change."""

from __future__ import annotations

import weakref

from smqopt.valuation.law._base import Valuation
from smqopt.valuation.table._proved_table import ProvedTable, tabulate_law


def proved_table(law: Valuation) -> ProvedTable | str:
    """Return the table of a common law, made once; or say why there is none."""
    if law not in _KNOWN:
        _KNOWN[law] = tabulate_law(law)
    return _KNOWN[law]


_KNOWN: weakref.WeakKeyDictionary[Valuation, ProvedTable | str] = weakref.WeakKeyDictionary()
