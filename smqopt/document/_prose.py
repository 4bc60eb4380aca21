"""Prose with indices in it, as in q_i."""

from __future__ import annotations

import re

_INDEX = re.compile(r"(?<=[A-Za-zΑ-ωεθλμγψφℓ′])_([a-z])\b")


def with_indices(escaped: str) -> str:
    """Set indices below the line in text that is already escaped.

    Examples
    --------
    >>> with_indices("Σ ε_i q_i, is_common")
    'Σ ε<sub>i</sub> q<sub>i</sub>, is_common'
    """
    return _INDEX.sub(r"<sub>\1</sub>", escaped)
