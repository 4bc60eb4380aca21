"""Thresholds of a market in parts: where they lie, and what they cost."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from smqopt.errors import InputError
from smqopt.files import from_json_number, read_json, to_json_number, write_json
from smqopt.market import SOLUTION_FILE, ConstraintRecord, Status, constraint_from_dict
from smqopt.numeric import UNITS
from smqopt.scale.parts._parquet_market import ParquetMarket
from smqopt.scale.parts._part_records import THRESHOLDS, OfferRecord, record_of, total
from smqopt.scale.parts._strata import Stratum

FORMAT = "smqopt solution in parts 2"


@dataclass(frozen=True, eq=False)
class ParquetSolution:
    """Thresholds of a market in parts, one file a part in `out/thresholds`."""

    market: ParquetMarket
    out: Path
    """The folder of results."""
    budget: float
    """B, in currency."""
    budget_price: float
    """λ ≥ 0, privacy per unit of currency; +∞ only at a zero budget."""
    status: Status
    probability_of_high: float
    """With which everybody who draws is offered her upper price; small ones keep their digits."""
    parts: tuple[OfferRecord, ...]
    passes: int
    """How often thresholds were written: the price was corrected one time less."""
    constraints: tuple[ConstraintRecord, ...] = ()
    """Side constraints."""
    constraint_prices: tuple[float, ...] = ()
    """Their multipliers, one a linear row."""
    strata: tuple[tuple[Stratum, int], ...] = ()
    """The labels that side constraints tell apart, and how many owners carry them."""

    @property
    def rows(self) -> int:
        """The number of owners."""
        return sum(part.rows for part in self.parts)

    @property
    def drawing(self) -> int:
        """How many owners draw between two prices."""
        return sum(part.drawing for part in self.parts)

    @property
    def total_spend(self) -> float:
        """Σ θ_i* q_i, in currency, rounded once."""
        return self._total("spend")

    @property
    def purchased_privacy(self) -> float:
        """Σ ε_i q_i, the objective of OP2, rounded once."""
        return self._total("privacy")

    def _total(self, name: str) -> float:
        share = Fraction(self.probability_of_high)
        return float((total(self.parts, name) + share * total(self.parts, f"more_{name}")) / UNITS)

    def file_of(self, part: OfferRecord) -> Path:
        """Return where the thresholds of a part lie."""
        return self.out / THRESHOLDS / part.name

    def to_dict(self) -> dict[str, Any]:
        """Return all that is not in the files of thresholds, as data."""
        beside = {
            "constraints": [record.to_dict() for record in self.constraints],
            "constraint_prices": list(self.constraint_prices),
            "strata": [[list(stratum), owners] for stratum, owners in self.strata],
        }
        return {
            "format": FORMAT,
            "market": self.market.to_dict(),
            "budget": self.budget,
            "budget_price": to_json_number(self.budget_price),
            "status": self.status.name,
            "probability_of_high": self.probability_of_high,
            "passes": self.passes,
            **(beside if self.constraints else {}),
            "parts": [asdict(part) for part in self.parts],
        }

    def save(self) -> None:
        """Write `solution.json` into the folder of results, whole or not at all."""
        write_json(self.out / SOLUTION_FILE, self.to_dict())

    @classmethod
    def load(cls, out: str | os.PathLike[str]) -> Self:
        """Read a solution that `solve` left in its folder of results.

        Raises
        ------
        InputError
            If a file is missing, or a key is bad.
        """
        path = Path(out).absolute() / SOLUTION_FILE
        return cls.from_dict(read_json(path), path.parent, str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], out: Path, where: str) -> Self:
        """Read what `to_dict` wrote."""
        if content.get("format") != FORMAT:
            raise InputError(
                f"{where}: key 'format'", f"must be {FORMAT!r}", value=content.get("format"), remedy="solve it again"
            )
        try:
            budget, price, high = _figures(content, where)
            return cls(
                market=ParquetMarket.from_dict(content["market"]),
                out=out,
                budget=budget,
                budget_price=price,
                status=Status[content["status"]],
                probability_of_high=high,
                parts=tuple(record_of(OfferRecord, part) for part in content["parts"]),
                passes=int(content["passes"]),
                constraints=tuple(constraint_from_dict(one, where) for one in content.get("constraints", [])),
                constraint_prices=tuple(map(float, content.get("constraint_prices", []))),
                strata=tuple((tuple(map(str, labels)), int(owners)) for labels, owners in content.get("strata", [])),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(where, f"lacks or garbles {error}", remedy="solve it again") from error

    def __repr__(self) -> str:
        return (
            f"ParquetSolution({self.status.name}, {self.rows} owners in {len(self.parts)} parts, budget {self.budget:g}, "
            f"purchased privacy {self.purchased_privacy:.12g}, budget price {self.budget_price:.12g})"
        )


def _figures(content: Mapping[str, Any], where: str) -> list[float]:
    found = [from_json_number(content[key], where) for key in ("budget", "budget_price", "probability_of_high")]
    if not (math.isfinite(found[0]) and math.isfinite(found[2])) or math.isnan(found[1]) or not content["parts"]:
        raise ValueError("a number, or its parts")
    return found
