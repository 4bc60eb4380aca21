"""A market whose owners lie in a folder of Parquet files."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from smqopt.errors import InputError, check_kind, nearest
from smqopt.files import hash_parts
from smqopt.market import LawsByGroup
from smqopt.numeric import Floats
from smqopt.scale.parts._laws import AnyLaw, LawBlock, LawByColumns, check_law, law_from_text, law_to_dict, laws_of
from smqopt.scale.parts._strata import refuse_many

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class RowGroup:
    """The owners of one row group, checked."""

    where: str
    """File and row group, in words."""
    epsilon: Floats
    ids: pa.Array | None
    blocks: list[LawBlock]
    columns: Mapping[str, Floats | pa.Array]
    """All that a certificate speaks of, by name."""


@final
class ParquetMarket:
    """Owners in the Parquet files of a folder, one part a file.

    Nothing is opened before a verb asks for it.

    Parameters
    ----------
    folder
        Holds the parts, `*.parquet`, and nothing else but what begins with a dot or an underscore.
    valuation
        The law of valuations: common; `LawsByGroup`; or `LawByColumns`.
    epsilon
        The column of privacy requirements ε_i ≥ 0.
    owner_id
        The column of ids, text or whole numbers; None where owners are known by their place alone.
    groups
        Columns of labels that the certificate covers too.
    unique_ids
        "everywhere": an id that stands twice is found, in whichever parts; "within parts": across
        parts nobody looks, and the certificate says so.

    Raises
    ------
    InputError
        If an argument is not of its kind. What is wrong with the files is found by the first pass.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.ParquetMarket("owners", smq.Uniform(0, 1), owner_id="id", groups=["city"])
    >>> market.columns
    ('epsilon', 'id', 'city')
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        valuation: AnyLaw,
        *,
        epsilon: str = "epsilon",
        owner_id: str | None = None,
        groups: Sequence[str] = (),
        unique_ids: str = "everywhere",
    ) -> None:
        where = "parquet market: argument"
        check_kind(folder, (str, os.PathLike), f"{where} 'folder'", "a path", 'give, say, "owners/"')
        law = check_law(valuation)
        if unique_ids not in ("everywhere", "within parts"):
            raise InputError(
                f"{where} 'unique_ids'", "is unknown", value=unique_ids, remedy='give "everywhere" or "within parts"'
            )
        listed = isinstance(groups, Sequence) and not isinstance(groups, str)
        if not listed:
            raise InputError(
                f"{where} 'groups'", "must be a list of columns", value=groups, remedy='give, say, ["city"]'
            )
        for name, column in (("epsilon", epsilon), *([] if owner_id is None else [("owner_id", owner_id)])):
            check_kind(column, str, f"{where} {name!r}", "the name of a column", "give a text")
        for column in groups:
            check_kind(column, str, f"{where} 'groups'", "a list of names of columns", 'give, say, ["city"]')
        self.folder = Path(folder).absolute()
        self.epsilon, self.owner_id, self.groups, self.unique_ids = epsilon, owner_id, tuple(groups), unique_ids
        self._law_text = json.dumps(law_to_dict(law), sort_keys=True, allow_nan=False)
        self.strata: tuple[str, ...] = ()

    @property
    def valuation(self) -> AnyLaw:
        """The law of valuations."""
        return law_from_text(self._law_text)

    @property
    def definition(self) -> str:
        """A hash of what is said of the market: its law and its columns' names."""
        said = [self._law_text, self.epsilon, self.owner_id, self.groups, self.unique_ids]
        said += [self.strata] if self.strata else []
        return hash_parts(b"smqopt parquet market 3", json.dumps(said).encode())

    def split_by(self, columns: Sequence[str]) -> Self:
        """Return the market whose blocks of owners are split by columns of labels too."""
        split = copy.copy(self)
        split.strata = tuple(columns)
        return split

    @property
    def label_columns(self) -> tuple[str, ...]:
        """The columns that strata may be made of."""
        law = self.valuation
        return (*self.groups, *([law.column] if isinstance(law, LawsByGroup) else []))

    def to_dict(self) -> dict[str, Any]:
        """Return what it was made of, as data."""
        return {
            "folder": str(self.folder),
            "epsilon": self.epsilon,
            "owner_id": self.owner_id,
            "groups": list(self.groups),
            "unique_ids": self.unique_ids,
            "valuation": json.loads(self._law_text),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        rest = dict(content)
        law = law_from_text(json.dumps(rest.pop("valuation"), sort_keys=True))
        return cls(rest.pop("folder"), law, **rest)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        law = self.valuation
        more = [law.column] if isinstance(law, LawsByGroup) else []
        more += list(law.columns.values()) if isinstance(law, LawByColumns) else []
        first = [self.epsilon, *([] if self.owner_id is None else [self.owner_id])]
        return tuple(dict.fromkeys([*first, *more, *self.groups]))

    def row_groups(self, part: str) -> Iterator[RowGroup]:
        """Read a part, one row group at a time.

        Raises
        ------
        InputError
            Naming file, row group and row of what is wrong.
        """
        from smqopt.scale.parts._row_groups import PartFile, doubles, labels, names  # noqa: PLC0415 -- loads pyarrow

        law = self.valuation
        for where, table in PartFile(self.folder / part, self.columns).groups():
            if table.num_rows == 0:
                continue
            epsilon = doubles(table, self.epsilon, where)
            columns: dict[str, Floats | pa.Array] = {self.epsilon: epsilon}
            ids = None
            if self.owner_id is not None:
                columns[self.owner_id] = ids = names(table, self.owner_id, where)
            for group in self.groups:
                columns[group] = names(table, group, where)
            if isinstance(law, LawByColumns):
                given = {column: doubles(table, column, where) for column in law.columns.values()}
                columns |= given
                try:
                    blocks = [LawBlock(law.of(given), 0, slice(None), epsilon)]
                except InputError as error:
                    raise InputError(
                        where, str(error), remedy="correct the row, counted within the row group"
                    ) from error
            elif isinstance(law, LawsByGroup):
                columns[law.column] = names(table, law.column, where)
                blocks = _by_group(law, *labels(table, law.column, where), epsilon, where)
            else:
                blocks = [LawBlock(law, 0, slice(None), epsilon)]
            if self.strata:
                blocks = _by_stratum(blocks, [labels(table, column, where) for column in self.strata], where)
            yield RowGroup(where, epsilon, ids, blocks, columns)

    def __repr__(self) -> str:
        return f"ParquetMarket({str(self.folder)!r})"


def _by_stratum(blocks: list[LawBlock], columns: Sequence[tuple[Any, list[str]]], where: str) -> list[LawBlock]:
    """Split blocks by the labels of columns."""
    code = np.zeros(columns[0][0].size, dtype=np.int64)
    for numbers, texts in columns:
        code *= len(texts)
        code += numbers
        refuse_many(len(texts), where)
        known, code = np.unique(code, return_inverse=True)
        refuse_many(known.size, where)
    found = []
    for block in blocks:
        own = code[block.rows]
        for number in np.unique(own).tolist():
            inside = np.flatnonzero(own == number)
            rows = inside if isinstance(block.rows, slice) else block.rows[inside]
            stratum = tuple(texts[numbers[rows[0]]] for numbers, texts in columns)
            found.append(replace(block, rows=rows, epsilon=block.epsilon[inside], stratum=stratum))
    return found


def _by_group(law: LawsByGroup, numbers: Any, texts: list[str], epsilon: Floats, where: str) -> list[LawBlock]:
    known = {label: k for k, label in enumerate(sorted(law.laws))}
    unknown = [text for text in texts if text not in known]
    if unknown:
        row = int(np.argmax(numbers == texts.index(unknown[0])))
        raise InputError(
            f"{where}, row {row + 1}: column {law.column!r}",
            "has a label without a law",
            value=unknown[0],
            remedy=nearest(unknown[0], known),
        )
    place = np.array([known[text] for text in texts], dtype=np.int64)[numbers]
    laws = laws_of(law)
    blocks = []
    for key in np.unique(place).tolist():
        rows = np.flatnonzero(place == key)
        blocks.append(LawBlock(laws[key], key, rows, epsilon[rows]))
    return blocks
