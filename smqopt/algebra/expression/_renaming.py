"""Names in the text of a formula, exchanged for others.

And how long a text may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_LENGTH = 2_000
"""Characters in a formula that is read."""

_WORD = re.compile(r"(?<![\w.])[A-Za-z]\w*")


def rename_symbols(text: str, names: Mapping[str, str]) -> str:
    """Write other names for some names in a formula, all at once.

    Examples
    --------
    >>> rename_symbols("theta**a + exp(a)", {"theta": "low", "a": "b"})
    'low**b + exp(b)'
    """
    return _WORD.sub(lambda match: names.get(match.group(), match.group()), text)


def if_readable(text: str) -> str:
    """Return a joined formula, or "" where it is too long to be read.

    Examples
    --------
    >>> if_readable("theta**2"), if_readable("theta" + " + theta" * 300)
    ('theta**2', '')
    """
    return text if len(text) <= MAX_LENGTH else ""
