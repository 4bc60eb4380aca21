"""The outcome of Algorithm 1 for a market in parts, on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from smqopt.numeric import nearest_of_units

if TYPE_CHECKING:
    from smqopt.scale._certificate import ParquetCertificate

OUTCOME = Path("private") / "outcome"
"""The folder of outcomes, within that of results."""


@dataclass(frozen=True)
class PurchaseRecord:
    """What was bought of one part. Private."""

    name: str
    rows: int
    bought: int
    paid: str
    """In units of 2⁻¹⁰⁷⁴, as hexadecimal text."""
    file: str
    """SHA-256 of the file."""


@dataclass(frozen=True, eq=False)
class ParquetOutcome:
    """Who sold and for how much, one file a part in `private/outcome`. Private."""

    certificate: ParquetCertificate
    parts: Sequence[PurchaseRecord]
    rule: str = "posted"
    """How payments are made."""

    @property
    def population(self) -> int:
        """The number of owners."""
        return sum(part.rows for part in self.parts)

    @property
    def bought(self) -> int:
        """The number of owners bought."""
        return sum(part.bought for part in self.parts)

    @property
    def total_payment(self) -> float:
        """Σ p_i, in currency, rounded once."""
        return nearest_of_units(sum(int(part.paid, 16) for part in self.parts))

    def file_of(self, part: PurchaseRecord) -> Path:
        """Return where the outcome of a part lies."""
        return self.certificate.solution.out / OUTCOME / part.name

    def __repr__(self) -> str:
        bought = f"{self.bought} of {self.population} owners bought for {self.total_payment:.12g}"
        return f"ParquetOutcome({bought}, {len(self.parts)} parts)"
