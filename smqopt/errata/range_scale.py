"""E8: the scale of the P-E mechanism's range."""

from __future__ import annotations

import numpy as np

from smqopt.errata.entry import Entry, Evidence

__all__ = ["RANGE_SCALE"]


def _check() -> Evidence:
    q = np.array([1, 0, 1, 0, 0])
    bought = q == 1
    as_printed = q.sum() / q[bought].sum()
    meant = q.size / bought.sum()
    truth = 4  # all but one entry is 1; of the two bought, both are
    return Evidence(
        as_printed == 1.0,
        abs(meant * 2 - truth) < abs(as_printed * 2 - truth),
        f"printed scale {as_printed:g}, n/|S_c| = {meant:g}",
    )


RANGE_SCALE = Entry(
    8,
    "Query types, Range of P-E",
    "Counts are scaled by Σ_{s_i ∈ S} q_i / Σ_{s_i ∈ S_c} q_i.",
    "q_i is 0 off S_c, so that ratio is always 1; n/|S_c| is meant.",
    _check,
)
