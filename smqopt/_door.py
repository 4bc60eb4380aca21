"""Doors: a package lists what others may use.

Each name is loaded on first use (PEP 562).
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["higher", "open_door"]


def open_door(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Load on first use what a package's `__init__` imports for type checkers.

    The imports under `TYPE_CHECKING` are the one list: type checkers and import linters read it,
    and so does this function, so that `import smqopt` loads neither cvxpy nor sympy.

    Parameters
    ----------
    package
        Name of the package.
    file
        Its `__init__.py`.

    Returns
    -------
    tuple
        `__getattr__`, `__dir__` and `__all__` of the package.
    """
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    homes = {
        name.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
        if name.asname
    }

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(importlib.import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names, sorted(homes)


def higher(package: str, name: str) -> Callable[..., Any]:
    """Load a function of a higher package when a record's method is called.

    For methods that draw: the records know nothing of the drawing, and hand themselves over.
    """
    function: Callable[..., Any] = getattr(importlib.import_module(package), name)
    return function
