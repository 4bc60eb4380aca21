"""Columns as a frame of the user's library."""

from __future__ import annotations

import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from smqopt.errors import InputError

__all__ = ["TabularRecord"]

_LIBRARIES = ("pandas", "polars", "pyarrow")


class TabularRecord(ABC):
    """A record that can be seen as a table."""

    __slots__ = ()

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]: ...

    def to_frame(self, library: str | None = None) -> Any:
        """Return a frame with a row a budget, or an owner.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow", or another that narwhals knows; by default the first of
            these three that has been imported, else that is installed.

        Raises
        ------
        InputError
            If the library, or narwhals, is not installed.
        """
        return _make_frame(self._columns(), library)


def _make_frame(columns: Mapping[str, Any], library: str | None) -> Any:
    remedy = 'run pip install "smqopt[tables]"'
    loaded = [name for name in _LIBRARIES if name in sys.modules]
    found = loaded or [name for name in _LIBRARIES if importlib.util.find_spec(name) is not None]
    if library is None and not found:
        raise InputError("to_frame", "needs pandas, polars or pyarrow", remedy=remedy)
    chosen: Any = found[0] if library is None else library
    try:
        import narwhals as nw  # noqa: PLC0415 -- an extra
    except ModuleNotFoundError as error:
        raise InputError("to_frame", "needs the package narwhals", remedy=remedy) from error
    try:
        return nw.from_dict(dict(columns), backend=chosen).to_native()
    except (ModuleNotFoundError, ValueError, TypeError, AttributeError) as error:
        rule = "must name a library of frames that is installed"
        raise InputError("to_frame: argument 'library'", rule, value=library, remedy="use, say, 'polars'") from error
