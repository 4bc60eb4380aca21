"""The certificate of a market in parts: bounds, and a manifest of the parts."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smqopt._version import __version__
from smqopt.files import to_json_number, write_json
from smqopt.scale._solution import ParquetSolution
from smqopt.scale.parts._part_records import PartFindings, root_of
from smqopt.verification import Check, digest

if TYPE_CHECKING:
    pass

FORMAT = "smqopt certificate in parts 1"


@dataclass(frozen=True, eq=False)
class ParquetCertificate:
    """Thresholds in parts, and what was found when they were verified."""

    solution: ParquetSolution
    checks: tuple[Check, ...]
    lower_bound: float
    """Purchased privacy of the thresholds, rounded down; 0 where they are not feasible."""
    upper_bound: float
    """Weak-duality bound on every mechanism's purchased privacy, rounded up."""
    gap: float
    """(upper − lower)/upper, rounded up."""
    gap_tolerance: float
    unproved: tuple[str, ...]
    """Why the grade is not "proved", one line each; empty where it is."""
    spend: tuple[float, float]
    """Two doubles that enclose the expected spend, in currency."""
    parts: tuple[PartFindings, ...]
    fingerprint: str
    """A hash of the solution, its list of parts included."""

    @property
    def valid(self) -> bool:
        """Whether every required check passed; an undecided one did not."""
        return bool(self.checks) and not any(check.fails for check in self.checks)

    @property
    def grade(self) -> Literal["proved", "numerical"]:
        """Whether spend, supports and gap are theorems about the doubles on disk."""
        return "proved" if self.valid and not self.unproved else "numerical"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not valid: one line for each required check that did not pass."""
        return tuple(check.reason for check in self.checks if check.fails)

    @property
    def manifest(self) -> list[dict[str, Any]]:
        """The parts: names, rows, hashes of owners and of files, partial sums."""
        return [
            {
                "name": part.name,
                "rows": part.rows,
                "owners": part.owners,
                "thresholds": part.thresholds,
                "low": [hex(total) for total in found.low],
                "high": [hex(total) for total in found.high],
                "rest": hex(found.rest),
                "worth": [hex(total) for total in found.worth],
                **({"strata": [sums.to_dict() for sums in found.strata]} if self.solution.constraints else {}),
            }
            for part, found in zip(self.solution.parts, self.parts, strict=True)
        ]

    @property
    def root(self) -> str:
        """The root of the Merkle tree over the lines of the manifest."""
        return root_of_manifest(self.manifest)

    def to_dict(self) -> dict[str, Any]:
        """Return all that is needed to derive the certificate again."""
        said = {key: value for key, value in self.solution.to_dict().items() if key not in ("parts", "passes")}
        market = said.pop("market")
        content = {
            "format": FORMAT,
            "valid": self.valid,
            "grade": self.grade,
            "unproved": list(self.unproved),
            "lower_bound": to_json_number(self.lower_bound),
            "upper_bound": to_json_number(self.upper_bound),
            "gap": to_json_number(self.gap),
            "gap_tolerance": self.gap_tolerance,
            "spend": [to_json_number(end) for end in self.spend],
            "owners": self.solution.rows,
            "drawing": self.solution.drawing,
            "checks": [check.to_dict() for check in self.checks],
            "reasons": list(self.reasons),
            "solution": said | {"market": {key: value for key, value in market.items() if key != "folder"}},
            "manifest": {"folder": market["folder"], "root": self.root, "parts": self.manifest},
            "unchecked": {
                "time": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                "passes": self.solution.passes,
                "versions": {"smqopt": __version__},
            },
        }
        return content | {"digest": digest(content)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate as JSON, whole or not at all."""
        write_json(path, self.to_dict())

    def __bool__(self) -> bool:
        """Refuse to be a truth value: that there is a certificate says nothing."""
        raise TypeError("a certificate is neither true nor false; ask certificate.valid")

    def __repr__(self) -> str:
        verdict = "valid" if self.valid else "not valid: " + "; ".join(self.reasons)
        bounds = f"{self.lower_bound:.12g} to {self.upper_bound:.12g}, gap {self.gap:.3g}"
        return f"ParquetCertificate({self.grade}, {bounds}, {len(self.parts)} parts, {verdict})"


def root_of_manifest(parts: Sequence[Mapping[str, Any]]) -> str:
    """Return the Merkle root over the lines of a manifest."""
    return root_of(json.dumps(part, sort_keys=True, ensure_ascii=False) for part in parts)


def fingerprint_of(solution: ParquetSolution) -> str:
    """Hash a solution with its list of parts."""
    return digest(solution.to_dict())
