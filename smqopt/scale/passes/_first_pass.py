"""The first pass over the owners: everything checked, counted and hashed."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from smqopt.errors import InputError
from smqopt.files import write_bytes
from smqopt.market import check_units
from smqopt.numeric import units_of_dot, units_of_sum
from smqopt.scale.parts._cluster import Progress, map_parts
from smqopt.scale.parts._folder import first_difference, parts_of_folder
from smqopt.scale.parts._laws import Kind, LawByColumns
from smqopt.scale.parts._part_files import hash_of_file, read_note, write_note
from smqopt.scale.parts._part_records import PartRecord, record_of
from smqopt.scale.parts._row_groups import ContentHash, numbers_of_ids
from smqopt.scale.parts._strata import refuse_many
from smqopt.scale.passes._id_search import refuse_repeats
from smqopt.scale.passes._sample import Sample, merge_samples
from smqopt.scale.passes._sketch import EpsilonCounts, merge_counts

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale.parts._parquet_market import ParquetMarket, RowGroup


@dataclass(frozen=True, eq=False)
class Overview:
    """The owners of some parts in few numbers."""

    parts: tuple[PartRecord, ...]
    counts: Mapping[Kind, EpsilonCounts]
    sample: Sample | None
    """Of owners whose parameters stand in columns."""
    most: int
    """Σ θ̄_i over the owners with ε_i > 0, in units of 2⁻¹⁰⁷⁴: from here on a budget is slack."""
    required: int
    """Σ ε_i, in the same units."""
    largest: tuple[float, float]
    """The largest ε_i, and the largest θ̄_i."""

    @property
    def rows(self) -> int:
        """The number of owners."""
        return sum(part.rows for part in self.parts)


def merge_overviews(every: list[Overview]) -> Overview:
    """Put together what is known of some parts."""
    keys = sorted({key for one in every for key in one.counts})
    samples = [one.sample for one in every if one.sample is not None]
    return Overview(
        tuple(part for one in every for part in one.parts),
        {key: merge_counts([one.counts[key] for one in every if key in one.counts]) for key in keys},
        merge_samples(samples) if samples else None,
        sum(one.most for one in every),
        sum(one.required for one in every),
        (max(one.largest[0] for one in every), max(one.largest[1] for one in every)),
    )


def first_pass(market: ParquetMarket, work: Path, client: Client, progress: Progress | None) -> Overview:
    """Look at every part, or take over what an earlier run noted of it.

    Raises
    ------
    InputError
        Naming file, row group and row of what is wrong; or the part that changed since an earlier
        run.
    """
    names, listed = parts_of_folder(market.folder), work / "parts.json"
    known = read_note(listed, {"definition": market.definition}, lambda content: list(map(_text, content["parts"])))
    if known is not None:
        refuse_other_parts(market, known)
    found = map_parts(
        client, _Look(market, work, known is None and market.owner_id is not None), names, merge_overviews, progress
    )
    check_units(*found.largest)
    refuse_many(len({stratum for _, stratum in found.counts}), str(market.folder))
    odd = next((part for part in found.parts if part.id_kind != found.parts[0].id_kind), None)
    if odd is not None:
        raise InputError(
            f"{market.folder / odd.name}: column {market.owner_id!r}",
            f"must hold ids as {found.parts[0].name} does: {found.parts[0].id_kind}", value=odd.id_kind,
            remedy="convert the column",
        )  # fmt: skip
    if known is None:
        if market.owner_id is not None:
            within = market.unique_ids != "everywhere"
            refuse_repeats(market, work, {part.name: part.rows for part in found.parts}, client, within_parts=within)
        write_note(listed, {"definition": market.definition}, {"parts": names})
        shutil.rmtree(work / "ids", ignore_errors=True)
    return found


def refuse_other_parts(market: ParquetMarket, known: Sequence[str]) -> None:
    """Refuse a folder whose parts are not those of the first pass.

    Raises
    ------
    InputError
        Naming the part that came or went.
    """
    error = first_difference(parts_of_folder(market.folder), known, market.folder)
    if error is not None:
        raise error


@dataclass(frozen=True)
class _Look:
    """Looks at one part."""

    market: ParquetMarket
    work: Path
    needs_ids: bool
    """Whether ids are yet to be searched for repeats."""

    def __call__(self, name: str) -> Overview:
        market, file = self.market, self.market.folder / name
        try:
            state = file.stat()
        except OSError as error:
            raise InputError(str(file), "is missing", remedy="put the part back, or begin anew") from error
        at = self.work / "sketch" / f"{name}.json"
        known = read_note(at, {"definition": market.definition}, partial(_from_note, at.with_suffix(".bin")))
        record = None if known is None else known.parts[0]
        if known is not None and record is not None and record.name == name and self._has_ids(record):
            if (record.size, record.modified) != (state.st_size, state.st_mtime_ns):
                raise InputError(
                    str(file), "was changed since an earlier run looked at it",
                    remedy=f"put it back, or give another folder of results than {self.work.parent}",
                )  # fmt: skip
            return known
        return self._look(name, state.st_size, state.st_mtime_ns, at)

    def _ids(self, name: str) -> Path:
        return self.work / "ids" / f"{name}.npy"

    def _has_ids(self, part: PartRecord) -> bool:
        path = self._ids(part.name)
        return not self.needs_ids or (path.is_file() and path.stat().st_size == 8 * part.rows)

    def _look(self, name: str, size: int, modified: int, at: Path) -> Overview:
        content, ids, kind = ContentHash(), [], ""
        counts: dict[Kind, list[EpsilonCounts]] = {}
        samples: list[Sample] = []
        most, required, largest = 0, 0, (0.0, 0.0)
        for group in self.market.row_groups(name):
            content.rows += group.epsilon.size
            for column, values in group.columns.items():
                content.add(column, values)
            if group.ids is not None:
                ids.append(numbers_of_ids(group.ids))
                kind = "text" if group.ids.type == pa.large_string() else "whole numbers"
            required += units_of_sum(group.epsilon)
            samples += _sample(self.market, group)
            for block in group.blocks:
                high = float(np.max(block.law.high))
                largest = max(largest[0], float(block.epsilon.max())), max(largest[1], high)
                sells = (block.epsilon > 0).astype(np.float64)
                most += units_of_dot(np.broadcast_to(np.asarray(block.law.high, dtype=np.float64), sells.shape), sells)
                if block.law.size is None:
                    counts.setdefault(block.kind, []).append(EpsilonCounts.of(block.epsilon))
        if ids:
            write_bytes(self._ids(name), np.sort(np.concatenate(ids)).tobytes())
        record = PartRecord(name, content.rows, content.digest(), size, modified, kind)
        found = Overview(
            (record,),
            {key: merge_counts(each) for key, each in counts.items()},
            merge_samples(samples) if samples else None,
            most,
            required,
            largest,
        )
        _note(found, self.market.definition, at)
        return found


def _sample(market: ParquetMarket, group: RowGroup) -> list[Sample]:
    columns = [group.columns[column] for column in sorted(_law_columns(market))]
    return [Sample.of(group.epsilon, np.column_stack(columns))] if columns else []


def _law_columns(market: ParquetMarket) -> set[str]:
    law = market.valuation
    return set(law.columns.values()) if isinstance(law, LawByColumns) else set()


def _note(found: Overview, definition: str, at: Path) -> None:
    arrays: dict[str, Any] = {}
    for k, (_, counted) in enumerate(sorted(found.counts.items())):
        arrays[f"keys{k}"], arrays[f"sums{k}"] = counted.keys, counted.sums
    if found.sample is not None:
        arrays |= {f"sample_{name}": array for name, array in vars(found.sample).items()}
    numbers = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    write_bytes(at.with_suffix(".bin"), numbers)
    content = {
        "part": asdict(found.parts[0]),
        "kinds": sorted(found.counts),
        "sample": found.sample is not None,
        "arrays": {name: [array.dtype.str, *array.shape] for name, array in arrays.items()},
        "numbers": hashlib.sha256(numbers).hexdigest(),
        "most": hex(found.most),
        "required": hex(found.required),
        "largest": found.largest,
    }
    write_note(at, {"definition": definition}, content)


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError("no text")
    return given


def _from_note(path: Path, known: Mapping[str, Any]) -> Overview:
    """Read what `_note` wrote; its errors say that it did not write it."""
    if not path.is_file() or hash_of_file(path) != known["numbers"]:
        raise ValueError("other numbers")
    numbers, arrays = path.read_bytes(), {}
    for name, (kind, *shape) in known["arrays"].items():
        held = np.frombuffer(numbers, kind, math.prod(shape)).reshape(shape)
        arrays[name], numbers = held, numbers[held.nbytes :]
    record = record_of(PartRecord, known["part"])
    counts = {
        (key, tuple(map(_text, stratum))): EpsilonCounts.from_columns(arrays[f"keys{k}"], arrays[f"sums{k}"])
        for k, (key, stratum) in enumerate(known["kinds"])
    }
    sample = Sample(*(arrays[f"sample_{name}"] for name in Sample.__dataclass_fields__)) if known["sample"] else None
    if sum(counted.owners for counted in counts.values()) != (0 if sample is not None else record.rows):
        raise ValueError("other owners")
    most, required = (int(known[name], 16) for name in ("most", "required"))
    largest = tuple(map(float, known["largest"]))
    if len(largest) != 2 or not all(map(math.isfinite, largest)) or not all(type(key) is int for key, _ in counts):
        raise ValueError("other figures")
    return Overview((record,), counts, sample, most, required, largest)
