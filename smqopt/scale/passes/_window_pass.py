"""The pass that counts requirements one by one where a sketch has to be exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smqopt.scale.parts._cluster import Progress, map_parts
from smqopt.scale.parts._laws import Kind
from smqopt.scale.passes._first_pass import Overview, refuse_other_parts
from smqopt.scale.passes._sketch import EpsilonCounts, Sketch, Window, merge_counts

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale.parts._parquet_market import ParquetMarket


def open_windows(
    market: ParquetMarket,
    sketch: Sketch,
    windows: Mapping[Kind, list[Window]],
    overview: Overview,
    client: Client,
    progress: Progress | None,
) -> Sketch:
    """Return the sketch with the requirements within some windows one by one.

    Raises
    ------
    InputError
        If a part was added or removed since the first pass; names it.
    """
    names = [part.name for part in overview.parts]
    refuse_other_parts(market, names)
    inside = map_parts(client, _CountWindows(market, windows), names, _merge_windows, progress)
    return sketch.open(inside, windows)


@dataclass(frozen=True)
class _CountWindows:
    """Counts the requirements of one part that lie in windows, one by one."""

    market: ParquetMarket
    windows: Mapping[Kind, list[Window]]

    def __call__(self, name: str) -> dict[Kind, EpsilonCounts]:
        found: dict[Kind, list[EpsilonCounts]] = {}
        for group in self.market.row_groups(name):
            for block in group.blocks:
                for low, high in self.windows.get(block.kind, ()):
                    inside = block.epsilon[(block.epsilon >= low) & (block.epsilon < high)]
                    keys, counts = np.unique(inside.view(np.int64), return_counts=True)
                    found.setdefault(block.kind, []).append(EpsilonCounts(keys, counts[:, None].astype(np.int64)))
        return {key: _once(each) for key, each in found.items()}


def _once(every: list[EpsilonCounts]) -> EpsilonCounts:
    return merge_counts(every, limit=False)


def _merge_windows(every: list[dict[Kind, EpsilonCounts]]) -> dict[Kind, EpsilonCounts]:
    return {key: _once([one[key] for one in every if key in one]) for key in {key for one in every for key in one}}
