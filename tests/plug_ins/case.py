"""A plug-in to be tried: how it is made, what should become of it, and the truth about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from plug_ins.truth import Truth

__all__ = ["BORDERLINE", "BROKEN", "GOOD", "PlugIn", "called"]

GOOD = "good"
"""Must be accepted, and its market solved and certified."""
BORDERLINE = "borderline"
"""May be refused; where it is accepted it must be right."""
BROKEN = "broken"
"""Must be refused, by an error that names the fault."""


@dataclass(frozen=True)
class PlugIn:
    """One way to plug in a law."""

    text: str
    """How to make it by hand."""
    expected: str
    make: Callable[[], Any]
    """Gives the law, or raises."""
    truths: Callable[[Any], list[Truth]] | list[Truth] | None = None
    """What is true of each owner's law, one for all where the law is common; it may be told from the law that was accepted."""
    words: tuple[str, ...] = field(default=())
    """For a broken one: the refusal says one of these."""
    patience: float = 1.0
    """How many times as long as others it may take: where others' functions are slow, so is what uses them."""

    def told(self, law: Any) -> list[Truth]:
        """Give the truths about a law that was accepted."""
        assert self.truths is not None, "a broken plug-in has no truth"
        return self.truths(law) if callable(self.truths) else self.truths


def called(
    expected: str,
    function: Callable[..., Any],
    *args: Any,
    truths: Any = None,
    words: Any = (),
    shown: str = "",
    patience: float = 1.0,
    **named: Any,
) -> PlugIn:
    """Give the plug-in that a call makes."""
    inside = ", ".join([*map(_shown, args), *(f"{name}={_shown(value)}" for name, value in named.items())])
    words = (words,) if isinstance(words, str) else tuple(words)
    return PlugIn(
        shown or f"{function.__name__}({inside})", expected, lambda: function(*args, **named), truths, words, patience
    )


def _shown(value: object) -> str:
    text = value.tolist().__repr__() if hasattr(value, "tolist") else repr(value)
    return text if len(text) < 400 else text[:200] + " ... " + text[-100:]
