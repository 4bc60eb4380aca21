"""One thing looked at in a judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smqopt.files import to_json_number


@dataclass(frozen=True)
class Check:
    """One thing looked at. `passed` is None where it does not apply or could not be decided."""

    name: str
    passed: bool | None
    value: float
    tolerance: float
    norm: str
    """What the value measures, and in which unit."""
    note: str = ""
    required: bool = True
    """Whether a valid certificate needs it passed."""

    @property
    def fails(self) -> bool:
        """Whether it keeps a certificate from being valid: a required check must have passed."""
        return self.required and self.passed is not True

    def to_dict(self) -> dict[str, Any]:
        """Give the check as data for a certificate file."""
        return {
            "name": self.name,
            "passed": self.passed,
            "value": to_json_number(self.value),
            "tolerance": to_json_number(self.tolerance),
            "norm": self.norm,
            "note": self.note,
            "required": self.required,
        }
