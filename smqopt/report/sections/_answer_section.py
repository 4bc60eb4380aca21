"""The answer: its value, and the half-width of the noise about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smqopt.document import DIGITS, Section, digits_down_to, shown

if TYPE_CHECKING:
    from smqopt.query import Answer

CONFIDENCE = 0.95
"""The probability that the noise stays within the half-width shown."""
_FEW = 12
"""So many numbers are written out."""
_FINENESS = 0.01
"""An answer that is no whole number is written to this share of its noise."""


def answer_section(answer: Answer) -> Section:
    """Tell the published answer and what may be said of its error."""
    value, half_width = answer_in_words(answer)
    return Section(
        "answer",
        "The answer",
        "answer.html",
        {
            "query": answer.query,
            "parameters": ", ".join(
                _words(name.replace("_", " "), value)
                for name, value in {**answer.asked.parameters(), **answer.asked.facts()}.items()
            ),
            "value": value,
            "half_width": half_width,
            "unit": answer.noise_unit,
            "confidence": shown(100 * CONFIDENCE),
            "share": None if answer.share == 1 else str(answer.share),
            "charged": answer.charge is not None,
            "bought": shown(answer.bought),
            "population": shown(answer.population),
        },
    )


def answer_in_words(answer: Answer) -> tuple[str, str]:
    """Write the answer's value and the half-width of its noise."""
    return value_in_words(answer.value, float(answer.noise_half_width(CONFIDENCE)))


def value_in_words(value: float | Sequence[float], half_width: float) -> tuple[str, str]:
    """Write a value and the half-width of its noise, rounded up.

    Whole answers are written in full, others to a hundredth of their noise.
    """
    numbers = value if isinstance(value, Sequence) else (value,)
    if all(isinstance(number, int) for number in numbers):
        return ", ".join(map(shown, numbers)), shown(half_width, DIGITS, rounding="up")
    told = [shown(float(number), digits_down_to(number, _FINENESS * half_width)) for number in numbers]
    return ", ".join(told), shown(half_width, 3, rounding="up")


def _words(name: str, value: object) -> str:
    """Write a public parameter; long ones by their number alone."""
    if isinstance(value, (int, float)):
        return f"{name} {shown(value)}"
    if isinstance(value, list):
        few = len(value) <= _FEW and all(isinstance(one, (int, float)) for one in value)
        return f"{name} {', '.join(map(shown, value))}" if few else f"{len(value)} {name}"
    return f"{name} {value}"
