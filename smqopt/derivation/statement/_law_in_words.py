"""A law in words: its name and its parameters."""

from __future__ import annotations

import numpy as np

from smqopt.document import shown
from smqopt.numeric import Floats
from smqopt.valuation import SampleLaw, Valuation


def law_in_words(law: Valuation) -> str:
    """Name a law and its parameters, a range where they differ by owner.

    Examples
    --------
    >>> import smqopt as smq
    >>> law_in_words(smq.Uniform(0, [1, 2, 3]))
    'uniform (low 0, high from 1 to 3)'
    """
    if isinstance(law, SampleLaw):
        return f"estimated by {law!r}"
    parts = [(part, owners) for part, owners in law.parts()]
    if len(parts) > 1 or parts[0][0] is not law:
        return "by owner: " + "; ".join(
            f"{law_in_words(part)} for {shown(_count(owners, law))}" for part, owners in parts
        )
    parameters = ", ".join(f"{name} {_range(law.arguments[name])}" for name in law.parameters)
    return f"{law.name.replace('-', ' ')} ({parameters})"


def _count(owners: slice | np.ndarray[tuple[int], np.dtype[np.intp]], law: Valuation) -> int:
    return len(range(law.size or 1)[owners]) if isinstance(owners, slice) else int(owners.size)


def _range(value: float | Floats) -> str:
    least, largest = float(np.min(value)), float(np.max(value))
    return shown(least) if least == largest else f"from {shown(least)} to {shown(largest)}"
