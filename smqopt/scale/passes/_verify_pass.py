"""The pass that checks thresholds as they lie on disk."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from smqopt.errors import InputError
from smqopt.numeric import Floats, units_of_dot
from smqopt.scale.parts._part_files import hash_of_file
from smqopt.scale.parts._part_records import OfferRecord, PartFindings, StratumSums, join_strata
from smqopt.scale.parts._row_groups import ContentHash, PartFile, doubles, names
from smqopt.scale.parts._strata import Stratum, StratumTerms, is_tied
from smqopt.verification import distance_to_response, owner_sums, way_of

if TYPE_CHECKING:
    from smqopt.scale.parts._laws import LawBlock
    from smqopt.scale.parts._parquet_market import ParquetMarket, RowGroup

_SUMS = ("privacy", "spend", "more_privacy", "more_spend")


@dataclass(frozen=True, eq=False)
class OfferGroup:
    """The offers of one row group; upper prices are the lower where none is drawn."""

    threshold: Floats
    acceptance: Floats
    upper: Floats
    upper_acceptance: Floats


@dataclass(frozen=True)
class Verifier:
    """Checks one part."""

    market: ParquetMarket
    folder: Path
    """Of thresholds."""
    price: float
    few: bool
    terms: Mapping[Stratum, StratumTerms] | None = None
    """What side constraints make of ε and the price; None where there are none."""

    def __call__(self, part: OfferRecord) -> list[PartFindings]:
        """Look at a part; what is wrong with a file is a finding, and no error."""
        path = self.folder / part.name
        try:
            same = hash_of_file(path) == part.thresholds
            sums = _Sums(self)
            for group, offers in paired_groups(self.market, path, part):
                sums.count(group.epsilon, offers)
                for block in group.blocks:
                    sums.add(block, offers)
        except InputError as error:
            return [PartFindings(part.name, part.rows, fault=str(error))]
        if not same:
            return [PartFindings(part.name, part.rows, fault=f"{path}: was changed since it was written")]
        found = sums.findings(part)
        if sums.written != [int(getattr(part, name), 16) for name in _SUMS]:
            found = replace(found, fault=f"{path}: does not add up to what the solution says")
        return [found]


def paired_groups(market: ParquetMarket, path: Path, part: OfferRecord) -> Iterator[tuple[RowGroup, OfferGroup]]:
    """Yield owners with their offers, row group by row group.

    Raises
    ------
    InputError
        If the two do not have the same owners in the same order, or the owners were changed.
    """
    columns = ("threshold", "acceptance") + (("upper_threshold", "upper_acceptance") if part.drawing else ())
    ids = () if market.owner_id is None else ("owner_id",)
    offers, content = PartFile(path, (*ids, *columns)).groups(), ContentHash()
    for group in market.row_groups(part.name):
        content.rows += group.epsilon.size
        for column, values in group.columns.items():
            content.add(column, values)
        where, table = next(offers, ("", None))
        if table is None or table.num_rows != group.epsilon.size:
            raise InputError(str(path), "does not have the rows of its owners", remedy="solve again")
        if group.ids is not None:
            refuse_other_ids(names(table, "owner_id", where), group.ids, where)
        yield group, _offers(table, where, drawn=bool(part.drawing))
    if next(offers, None) is not None:
        raise InputError(str(path), "has more rows than its owners", remedy="solve again")
    if content.digest() != part.owners:
        raise InputError(
            str(market.folder / part.name), "was changed since it was solved, or its rows changed their order",
            remedy="put it back as it was, or solve again",
        )  # fmt: skip


def refuse_other_ids(found: pa.Array, known: pa.Array, where: str) -> None:
    """Refuse ids that are not those of the owners, row by row."""
    if found.equals(known):
        return
    if found.type != known.type:
        raise InputError(where, "has ids of another kind than the owners", value=str(found.type), remedy="convert them")
    row = next(k for k in range(len(known)) if k >= len(found) or found[k].as_py() != known[k].as_py())
    raise InputError(
        f"{where}, row {row + 1}",
        f"must be of owner {known[row].as_py()!r}",
        value=found[row].as_py() if row < len(found) else "no row",
        remedy="write it in the order of the owners, part by part under the same names: nothing is shuffled here",
    )


def _offers(table: pa.Table, where: str, *, drawn: bool) -> OfferGroup:
    theta, q = (doubles(table, name, where) for name in ("threshold", "acceptance"))
    if not drawn:
        return OfferGroup(theta, q, theta, q)
    some = ~np.asarray(table.column("upper_threshold").is_null())
    upper, upper_q = theta.copy(), q.copy()
    for column, values in (("upper_threshold", upper), ("upper_acceptance", upper_q)):
        values[some] = doubles(table.filter(pa.array(some)), column, where)
    return OfferGroup(theta, q, upper, upper_q)


@dataclass
class _Sums:
    """Sums and largest misses, as row groups pass by."""

    verifier: Verifier
    low: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    high: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    rest: int = 0
    worth: list[int] = field(default_factory=lambda: [0, 0])
    outside: float = 0.0
    drift: float = 0.0
    distance: float = 0.0
    unproved: set[str] = field(default_factory=set)
    strata: tuple[StratumSums, ...] = ()
    written: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    """What the solution says of the part, from the acceptances that lie on disk."""

    def count(self, epsilon: Floats, offers: OfferGroup) -> None:
        """Add up what is written, as it was when it was."""
        theta, q, upper, upper_q = vars(offers).values()
        self.written[0] += units_of_dot(epsilon, q)
        self.written[1] += units_of_dot(theta, q)
        if upper is not theta:
            e = np.flatnonzero((upper != theta) | (upper_q != q))
            self.written[2] += units_of_dot(epsilon[e], upper_q[e]) - units_of_dot(epsilon[e], q[e])
            self.written[3] += units_of_dot(upper[e], upper_q[e]) - units_of_dot(theta[e], q[e])

    def add(self, block: LawBlock, offers: OfferGroup) -> None:
        """Take in the owners of one law."""
        law, epsilon, price = block.law, block.epsilon, self.verifier.price
        theta, q, upper, upper_q = (values[block.rows] for values in vars(offers).values())
        terms = self._terms(block, drawn=offers.upper is not offers.threshold)
        if terms is not None:
            price, asked = terms.price, np.maximum(epsilon - terms.taken, 0.0)
        else:
            asked = epsilon
        way = way_of(law, few=self.verifier.few)
        if isinstance(way, str):
            self.unproved.add(way)
        low, high, plain = law.low, law.high, offers.upper is offers.threshold
        self.outside = max(self.outside, float(np.max(low - theta)), float(np.max(upper - high)))
        if terms is not None and price == 0:  # tied owners may be offered anything
            bound = ~is_tied(epsilon, terms.taken, terms.size)
            at = theta[bound]
            if at.size:
                self.distance = max(self.distance, distance_to_response(law, asked[bound], 0.0, at, at))
        elif 0 <= price < np.inf:
            self.distance = max(
                self.distance, distance_to_response(law, asked, price, theta, theta if plain else upper)
            )
        inside = np.clip(theta, low, high)
        if terms is None:
            found = owner_sums(law, way, epsilon, price, inside, q)
            self._add(0, found.privacy, found.spend)
        else:
            above = np.maximum(np.nextafter(epsilon - terms.taken_low, np.inf), 0.0)
            found = owner_sums(law, way, above, terms.price_low, inside, q)
            bought, sold = (owner_sums(law, way, each, math.nan, inside, q) for each in (epsilon, np.ones(theta.size)))
            self._add(0, bought.privacy, found.spend)
            sums = StratumSums(block.stratum, theta.size, sold.privacy, found.spend, found.rest, found.worth)
            self.strata = join_strata([*self.strata, sums])
        self.rest += found.rest
        self.worth = [one + other for one, other in zip(self.worth, found.worth, strict=True)]
        self.drift = max(self.drift, found.drift)
        drawn = np.flatnonzero(False if plain else (upper_q != q) | (upper != theta))
        if drawn.size:
            own, e = law if law.size is None else law.take(drawn), epsilon[drawn]
            more = owner_sums(own, way, e, math.nan, np.clip(upper[drawn], own.low, own.high), upper_q[drawn])
            less = owner_sums(own, way, e, math.nan, inside[drawn], q[drawn])
            self._add(2, more.privacy, more.spend)
            self._add(2, *((-high, -low) for low, high in (less.privacy, less.spend)))
            self.drift = max(self.drift, more.drift)

    def _terms(self, block: LawBlock, *, drawn: bool) -> StratumTerms | None:
        """Return what side constraints make of ε and the price; None without any."""
        every = self.verifier.terms
        if every is None:
            return None
        if drawn or block.stratum not in every:
            rule = "draws prices beside side constraints" if drawn else "has labels that the solution does not know"
            raise InputError(str(self.verifier.market.folder), rule, value=", ".join(block.stratum))
        return every[block.stratum]

    def _add(self, at: int, *sums: tuple[int, int]) -> None:
        for k, (low, high) in enumerate(sums):
            self.low[at + k] += low
            self.high[at + k] += high

    def findings(self, part: OfferRecord) -> PartFindings:
        """Return what was found."""
        return PartFindings(
            part.name, part.rows, "", tuple(self.low), tuple(self.high), self.rest, tuple(self.worth), self.outside,
            self.drift, self.distance, tuple(sorted(self.unproved)), self.strata,
        )  # fmt: skip
