"""Private entries that travel with a record without showing in it."""

from __future__ import annotations

from typing import Never, final

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import PRIVATE, InputError


@final
class PrivateEntries:
    """Entries that neither print nor leave the process."""

    __slots__ = ("__entries",)

    def __init__(self, entries: NDArray[np.int64]) -> None:
        self.__entries = entries

    def reveal(self) -> NDArray[np.int64]:
        """Return the entries, shape (k,). PRIVATE."""
        return self.__entries

    def __reduce__(self) -> Never:
        raise InputError("private entries", "must not be copied or pickled", remedy="keep them where they are")

    def __repr__(self) -> str:
        return PRIVATE
