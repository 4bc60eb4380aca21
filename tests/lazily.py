"""Values by name that are made when they are asked for: collecting the tests makes none."""

from collections.abc import Callable
from typing import Any


class Lazily(dict):
    """A dictionary of functions without arguments, which gives what they return."""

    def __init__(self, makers: dict[str, Callable[[], Any]]) -> None:
        super().__init__(makers)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = super().__getitem__(name)()
        return self._made[name]
