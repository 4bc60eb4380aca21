"""The pass that writes thresholds: what all owners answer to a price."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from smqopt.errors import InputError
from smqopt.market import Status
from smqopt.numeric import Bracket, Floats, units_of_dot, units_of_sum
from smqopt.scale.parts._cluster import Progress, map_parts
from smqopt.scale.parts._part_files import hash_of_file, read_note, write_note, write_part
from smqopt.scale.parts._part_records import (
    THRESHOLDS,
    OfferRecord,
    PartRecord,
    StratumSums,
    join_strata,
    record_of,
)
from smqopt.scale.parts._row_groups import ContentHash
from smqopt.scale.parts._strata import Stratum, is_tied
from smqopt.scale.passes._first_pass import refuse_other_parts
from smqopt.scale.passes._sketch import owner_part
from smqopt.solvers import answers, tied_pieces

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale.parts._laws import LawBlock
    from smqopt.scale.parts._parquet_market import ParquetMarket, RowGroup


@dataclass(frozen=True)
class Price:
    """What is posted to everybody."""

    status: str
    x: float
    """1/λ."""
    above: float
    """The next larger x, where who is on a flat piece between the two may draw; else `x` itself."""
    strata: tuple[tuple[Stratum, float, float, float, float], ...] = ()
    """Of side constraints: strata, what is taken off ε there, the sum of its absolute terms, 1 over
    the price there, and the acceptance of tied owners, who are there where the price is 0."""


@dataclass(frozen=True)
class OffersOfPart:
    """What was posted to one part."""

    record: OfferRecord
    strata: tuple[StratumSums, ...]
    """Where there are side constraints."""

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read what was noted."""
        return cls(record_of(OfferRecord, content["record"]), tuple(map(StratumSums.from_dict, content["strata"])))

    def is_of(self, part: PartRecord, strata: Collection[Stratum]) -> bool:
        """Tell whether these may be the offers of a part, whose owners are in some strata."""
        record = self.record
        return (
            (record.name, record.rows, record.owners) == (part.name, part.rows, part.digest)
            and {one.stratum for one in self.strata} <= set(strata)
            and sum(one.rows for one in self.strata) == (part.rows if strata else 0)
        )


def offers_pass(
    market: ParquetMarket,
    out: Path,
    parts: Sequence[PartRecord],
    price: Price,
    client: Client,
    progress: Progress | None,
) -> list[OffersOfPart]:
    """Write the thresholds of every part, or take over those of an earlier run.

    Raises
    ------
    InputError
        If a part was changed, added or removed since the first pass; names it.
    SmqoptError
        If the disk is full.
    """
    refuse_other_parts(market, [part.name for part in parts])
    return map_parts(client, _Post(market, out, price), list(parts), _join, progress)


def _join(every: list[list[OffersOfPart]]) -> list[OffersOfPart]:
    return [record for one in every for record in one]


@dataclass(frozen=True)
class _Post:
    """Posts thresholds to one part."""

    market: ParquetMarket
    out: Path
    price: Price

    def __call__(self, part: PartRecord) -> list[OffersOfPart]:
        path = self.out / THRESHOLDS / part.name
        at = self.out / ".work" / "offers" / f"{part.name}.json"
        price: dict[str, Any] = {"status": self.price.status, "x": self.price.x.hex(), "above": self.price.above.hex()}
        if self.price.strata:
            price["strata"] = [[stratum, *map(float.hex, numbers)] for stratum, *numbers in self.price.strata]
        key = {"definition": self.market.definition, "price": price, "owners": part.digest}
        known = read_note(at, key, OffersOfPart.from_dict)
        fits = known is not None and known.is_of(part, [stratum for stratum, *_ in self.price.strata])
        if known is not None and fits and path.is_file() and hash_of_file(path) == known.record.thresholds:
            return [known]
        writing = _Writing(self.market, self.price, ContentHash())
        digest = write_part(path, writing.tables(part))
        record = OfferRecord(
            part.name, part.rows, part.digest, digest, hex(writing.privacy), hex(writing.spend), writing.drawing,
            hex(writing.more_privacy), hex(writing.more_spend),
        )  # fmt: skip
        strata = join_strata(writing.strata)
        content = {"record": asdict(record), "strata": [one.to_dict() for one in strata]}
        write_note(at, key, content)
        return [OffersOfPart(record, strata)]


@dataclass
class _Writing:
    """Sums, as row groups pass by."""

    market: ParquetMarket
    price: Price
    content: ContentHash
    privacy: int = 0
    spend: int = 0
    drawing: int = 0
    more_privacy: int = 0
    more_spend: int = 0
    strata: list[StratumSums] = field(default_factory=list)

    def tables(self, part: PartRecord) -> Iterator[pa.Table]:
        """Yield one table of offers a row group; refuse a part that is not what it was."""
        for group in self.market.row_groups(part.name):
            self.content.rows += group.epsilon.size
            for column, values in group.columns.items():
                self.content.add(column, values)
            yield self._table(group)
        if self.content.digest() != part.digest:
            raise InputError(
                str(self.market.folder / part.name), "was changed since the first pass",
                remedy="put it back, or begin anew in another folder of results",
            )  # fmt: skip

    def _table(self, group: RowGroup) -> pa.Table:
        n = group.epsilon.size
        theta, q = np.empty(n), np.empty(n)
        upper, upper_q = np.full(n, np.nan), np.full(n, np.nan)
        for block in group.blocks:
            theta[block.rows], q[block.rows] = offered = self._answers(block)
            if self.price.strata:
                sold, paid = units_of_sum(offered[1]), units_of_dot(*offered)
                self.strata.append(StratumSums(block.stratum, block.epsilon.size, (sold, sold), (paid, paid)))
            if self.price.above > self.price.x:
                part = owner_part(block.law, block.epsilon)
                tied = tied_pieces([part], Bracket(self.price.x, 0.0, self.price.above, 1.0, 0))
                if tied is not None:
                    rows = np.arange(n)[block.rows][tied.owner]
                    theta[rows], q[rows] = tied.low, tied.low_acceptance
                    upper[rows], upper_q[rows] = tied.high, tied.high_acceptance
        self.privacy += units_of_dot(group.epsilon, q)
        self.spend += units_of_dot(theta, q)
        columns: dict[str, pa.Array] = {} if group.ids is None else {"owner_id": group.ids}
        columns |= {"threshold": pa.array(theta), "acceptance": pa.array(q)}
        if self.price.above > self.price.x:
            drawn = ~np.isnan(upper)
            self.drawing += int(np.count_nonzero(drawn))
            e = group.epsilon[drawn]
            self.more_privacy += units_of_dot(e, upper_q[drawn]) - units_of_dot(e, q[drawn])
            self.more_spend += units_of_dot(upper[drawn], upper_q[drawn]) - units_of_dot(theta[drawn], q[drawn])
            columns |= {
                "upper_threshold": pa.array(upper, mask=~drawn),
                "upper_acceptance": pa.array(upper_q, mask=~drawn),
            }
        return pa.table(columns)

    def _answers(self, block: LawBlock) -> tuple[Floats, Floats]:
        n, sells = block.epsilon.size, block.epsilon > 0
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), n) for end in (block.law.low, block.law.high))
        if self.price.status == Status.SLACK.name and not self.price.strata:
            return np.where(sells, high, low), sells.astype(np.float64)
        if self.price.status == Status.ZERO_BUDGET.name:  # an atom at 0 sells for nothing
            return low, np.where((low == 0) & sells, block.law.cdf(low), 0.0)
        epsilon, x = block.epsilon, self.price.x
        if self.price.strata:
            known = {stratum: numbers for stratum, *numbers in self.price.strata}
            if block.stratum not in known:
                raise InputError(
                    str(self.market.folder), "was changed since the first pass", value=", ".join(block.stratum),
                    remedy="put it back, or begin anew in another folder of results",
                )  # fmt: skip
            taken, size, x, share = known[block.stratum]
            found = answers([owner_part(block.law, np.maximum(epsilon - taken, 0.0))], x, n)
            if x == math.inf:
                tied = is_tied(epsilon, taken, size)
                theta = block.law.ppf(share)
                q = block.law.cdf(theta) if share > 0 else 0.0
                return np.where(tied, theta, found.thresholds), np.where(tied, q, found.acceptance)
            return found.thresholds, found.acceptance
        found = answers([owner_part(block.law, epsilon)], x, n)
        return found.thresholds, found.acceptance
