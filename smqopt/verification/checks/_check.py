"""One thing looked at in a verification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smqopt.files import to_json_number


@dataclass(frozen=True)
class Check:
    """One thing looked at; `passed` is None where it could not be decided."""

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
        """Return whether it keeps a certificate from being valid."""
        return self.required and self.passed is not True

    def to_dict(self) -> dict[str, Any]:
        """Return the check as data for a certificate file."""
        return {
            "name": self.name,
            "passed": self.passed,
            "value": to_json_number(self.value),
            "tolerance": to_json_number(self.tolerance),
            "norm": self.norm,
            "note": self.note,
            "required": self.required,
        }
