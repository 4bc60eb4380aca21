"""Names in the text of a formula, exchanged for others."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["exchanged"]

_WORD = re.compile(r"(?<![\w.])[A-Za-z]\w*")


def exchanged(text: str, names: Mapping[str, str]) -> str:
    """Write other names for some names in a formula, all at once.

    Examples
    --------
    >>> exchanged("theta**a + exp(a)", {"theta": "low", "a": "b"})
    'low**b + exp(b)'
    """
    return _WORD.sub(lambda match: names.get(match.group(), match.group()), text)
