"""What is known of each part: records without arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from smqopt.verification import BEYOND

THRESHOLDS = "thresholds"
"""The folder of thresholds, within that of results."""


@dataclass(frozen=True)
class PartRecord:
    """What is known of one part of the owners."""

    name: str
    rows: int
    digest: str
    """A hash of the columns that are read, row by row."""
    size: int
    """Of the file, in bytes."""
    modified: int
    """When it was, in nanoseconds."""


@dataclass(frozen=True)
class OfferRecord:
    """What one part was offered; sums are in units of 2⁻¹⁰⁷⁴, as hexadecimal text."""

    name: str
    rows: int
    owners: str
    """The hash of the part's owners."""
    thresholds: str
    """SHA-256 of the file of thresholds."""
    privacy: str
    """Σ ε q, with the lower price where a price is drawn."""
    spend: str
    """Σ θ q, likewise."""
    drawing: int
    """How many owners draw between two prices."""
    more_privacy: str
    """What the upper prices add."""
    more_spend: str


def total(records: Sequence[OfferRecord], name: str) -> int:
    """Add up one of the sums."""
    return sum(int(getattr(record, name), 16) for record in records)


@dataclass(frozen=True)
class PartFindings:
    """What was found of one part; sums are in units of 2⁻¹⁰⁷⁴."""

    name: str
    rows: int = 0
    fault: str = ""
    """Why the part is not what the solution says; empty where it is."""
    low: tuple[int, ...] = (0, 0, 0, 0)
    """At most purchased privacy and spend, and what upper prices add to each."""
    high: tuple[int, ...] = (BEYOND, BEYOND, 0, 0)
    rest: int = BEYOND
    """At least the sum of the owners' tops, less `worth`."""
    worth: tuple[int, ...] = (0, 0)
    """What offers buy, and what they spend: λ times that goes off it."""
    outside: float = 0.0
    drift: float = 0.0
    distance: float = 0.0
    unproved: tuple[str, ...] = ()


def root_of(leaves: Iterable[str]) -> str:
    """Return the root of a Merkle tree, leaves and nodes hashed apart (RFC 6962)."""
    level = [hashlib.sha256(b"\0" + leaf.encode()).digest() for leaf in leaves]
    while len(level) > 1:
        pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\1" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex() if level else hashlib.sha256().hexdigest()
