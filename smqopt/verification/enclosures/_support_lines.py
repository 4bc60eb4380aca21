"""What lies below the cost curves of the owners of a law, if anything is known."""

from __future__ import annotations

import weakref

from smqopt.numeric import OutOfWorkError, work_limit
from smqopt.valuation import Discrete, PointMass, Power, SampleLaw, Uniform, Valuation
from smqopt.verification.enclosures._atom_lines import atom_lines
from smqopt.verification.enclosures._closed_lines import PowerLines, UniformLines
from smqopt.verification.enclosures._line_protocol import SupportLines
from smqopt.verification.enclosures._table_lines import table_lines

HIGHEST_POWER = 4
"""Powers up to this are worked out by multiplication; tables lose less of others."""


def support_lines(given: Valuation, *, at_any_cost: bool = True) -> SupportLines | str:
    """Return the lines of a law's owners, or why none are known.

    Parameters
    ----------
    given
        Of one family (see `Valuation.parts`), proved not to fall.
    at_any_cost
        Whether to make what takes up to seconds to make; what is known already is used anyhow.
    """
    law = given.law if isinstance(given, SampleLaw) else given
    if isinstance(law, Uniform):
        return UniformLines(law)
    if isinstance(law, Power) and isinstance(law.k, float) and law.k <= HIGHEST_POWER and (2 * law.k).is_integer():
        return PowerLines(law, int(2 * law.k))
    if law.size is not None:
        return f"the {law.name} law has parameters by owner: they are enclosed one by one"
    if isinstance(law, Discrete | PointMass):
        return atom_lines(law)
    if law not in _KNOWN:
        if not at_any_cost:
            return "a table does not pay for so few owners"
        try:
            with work_limit(0) as allowance:
                _KNOWN[law] = table_lines(law)
        except OutOfWorkError:
            _KNOWN[law] = f"its table takes {allowance.words}"
    return _KNOWN[law]


_KNOWN: weakref.WeakKeyDictionary[Valuation, SupportLines | str] = weakref.WeakKeyDictionary()
"""Lines of laws with a table; laws do not change."""
