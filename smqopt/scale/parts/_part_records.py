"""What is known of each part: records without arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from smqopt.verification import BEYOND

THRESHOLDS = "thresholds"
"""The folder of thresholds, within that of results."""


T = TypeVar("T")
_IN_UNITS = ("privacy", "spend", "more_privacy", "more_spend", "paid")
"""Texts that are whole numbers."""


def record_of(kind: type[T], content: Any) -> T:
    """Make a record of texts and whole numbers from data.

    Raises
    ------
    ValueError
        If they are not those of such a record, of a file in a folder.
    """
    kinds = {field.name: int if field.type == "int" else str for field in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(content, Mapping) or set(content) != set(kinds):
        raise ValueError("a part")
    if any(type(content[name]) is not given for name, given in kinds.items()):
        raise ValueError("a part")
    if Path(content["name"]).name != content["name"]:
        raise ValueError(f"the name of a part, {content['name']!r}")
    for name in _IN_UNITS:
        int(content.get(name, "0"), 16)
    return kind(**content)


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
    id_kind: str = ""
    """Whether ids are text or whole numbers; empty without ids."""


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
class StratumSums:
    """What the owners of a stratum add up to, in units of 2⁻¹⁰⁷⁴."""

    stratum: tuple[str, ...]
    rows: int
    acceptance: tuple[int, int]
    """Σ q lies between these."""
    spend: tuple[int, int]
    """Σ θ q lies between these."""
    rest: int = 0
    worth: tuple[int, int] = (0, 0)
    """As of `PartFindings`, where multipliers are taken off ε and added to the price."""

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as data."""
        pairs = {name: [hex(end) for end in getattr(self, name)] for name in ("acceptance", "spend", "worth")}
        return {"stratum": list(self.stratum), "rows": self.rows, "rest": hex(self.rest), **pairs}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        acceptance, spend, worth = (
            (int(low, 16), int(high, 16)) for low, high in (content[name] for name in ("acceptance", "spend", "worth"))
        )
        stratum, rows = tuple(content["stratum"]), content["rows"]
        if type(rows) is not int or not all(isinstance(label, str) for label in stratum):
            raise ValueError("a stratum")
        return cls(stratum, rows, acceptance, spend, int(content["rest"], 16), worth)


def join_strata(every: Iterable[StratumSums]) -> tuple[StratumSums, ...]:
    """Add up stratum by stratum."""
    found: dict[tuple[str, ...], StratumSums] = {}
    for one in every:
        other = found.get(one.stratum, StratumSums(one.stratum, 0, (0, 0), (0, 0)))
        found[one.stratum] = StratumSums(
            one.stratum, one.rows + other.rows, _pair(one.acceptance, other.acceptance), _pair(one.spend, other.spend),
            one.rest + other.rest, _pair(one.worth, other.worth),
        )  # fmt: skip
    return tuple(found[stratum] for stratum in sorted(found))


def _pair(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


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
    strata: tuple[StratumSums, ...] = ()
    """Where there are side constraints."""


def root_of(leaves: Iterable[str]) -> str:
    """Return the root of a Merkle tree, leaves and nodes hashed apart (RFC 6962)."""
    level = [hashlib.sha256(b"\0" + leaf.encode()).digest() for leaf in leaves]
    while len(level) > 1:
        pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\1" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex() if level else hashlib.sha256().hexdigest()
