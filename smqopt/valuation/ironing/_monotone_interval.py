"""The inverse of the virtual cost on an interval on which it rises."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, increasing_root
from smqopt.valuation.ironing._own_hull import AnswersOnHull, AnswersWithin
from smqopt.valuation.law._base import Valuation


def threshold_on_stretch(law: Valuation, v: Floats, low: Floats, high: Floats) -> Floats:
    """Return the threshold between low and high at which J = v, clipped to these.

    A law may give its own `inverse_virtual_cost_within(v, low, high)`, and with `answers_on_hull`
    says that its `inverse_virtual_cost` is right on every stretch of its hull.

    Parameters
    ----------
    law
        A common law, or one of as many owners as there are stretches.
    v, low, high
        In currency, shape (m,); J rises from low to high.
    """
    if isinstance(law, AnswersOnHull) and law.answers_on_hull:
        return np.clip(law.inverse_virtual_cost(v), low, high)
    at_low, at_high = law.virtual_cost(above_atom(law, low, high)), law.virtual_cost(high)
    if isinstance(law, AnswersWithin):
        root = law.inverse_virtual_cost_within(v, low, high)
    else:
        root = low.copy()
        k = np.flatnonzero(
            (at_low < v) & (v < at_high)
        )  # a search for what lies at an end would go to the last of the smallest doubles
        root[k] = increasing_root(lambda t, j: _excess(law, t, v, k[j]), low[k], high[k])
    root = np.where(at_low >= v, low, root)
    return np.where(at_high <= v, high, root)


def above_atom(law: Valuation, low: Floats, high: Floats) -> Floats:
    """Return the low ends of stretches of J, or the double above where F jumps at one.

    At an atom J is θ itself, and on the stretch above it begins far higher.
    """
    return np.where(law.is_atom(low), np.minimum(np.nextafter(low, np.inf), high), low)


def _excess(law: Valuation, t: Floats, v: Floats, k: NDArray[np.intp]) -> Floats:
    return (law if law.size is None else law.take(k)).virtual_cost(t) - v[k]
