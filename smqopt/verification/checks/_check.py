"""One thing looked at in a verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smqopt.files import from_json_number, to_json_number


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

    @property
    def reason(self) -> str:
        """Say in a line why it fails; empty where it does not."""
        if not self.fails:
            return ""
        note = f" ({self.note})" if self.note else ""
        return f"{self.name}: {self.norm} is {self.value:.6g}, allowed {self.tolerance:.6g}{note}"

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Check:
        """Read what `to_dict` wrote."""
        where = f"check {content['name']!r}"
        numbers = {key: from_json_number(content[key], where) for key in ("value", "tolerance")}
        return cls(**{**content, **numbers})

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
