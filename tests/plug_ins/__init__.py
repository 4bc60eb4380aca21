"""Random plug-ins by the number: good, borderline and broken ones, through every way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from plug_ins.case import BORDERLINE, BROKEN, GOOD, PlugIn
from plug_ins.columns import histograms, price_lists, samples
from plug_ins.combined import by_owner, copulas, mixtures, truncations
from plug_ins.files import model_files, tables
from plug_ins.foreign import third_party
from plug_ins.formulas import cdf_texts, hostile_texts, pdf_texts
from plug_ins.scipy_laws import scipy_laws

__all__ = ["BORDERLINE", "BROKEN", "GOOD", "KINDS", "PlugIn", "plug_in"]

SEED = 20_250

KINDS: Mapping[str, Callable[[np.random.Generator], PlugIn]] = {
    "cdf": cdf_texts,
    "scipy": scipy_laws,
    "third party": third_party,
    "pdf": pdf_texts,
    "samples": samples,
    "mixture": mixtures,
    "hostile text": hostile_texts,
    "truncated": truncations,
    "scipy again": scipy_laws,
    "by owner": by_owner,
    "copula": copulas,
    "price list": price_lists,
    "cdf again": cdf_texts,
    "histogram": histograms,
    "table": tables,
    "third party again": third_party,
    "model file": model_files,
}
"""Ways in; plug-in number k is of kind k modulo their number, so that any run of them holds all kinds."""


def plug_in(number: int) -> tuple[str, PlugIn, np.random.Generator]:
    """Give a plug-in by its number: its kind, itself, and a generator for the market that tries it."""
    kind = list(KINDS)[number % len(KINDS)]
    rng = np.random.default_rng([SEED, number])
    return kind, KINDS[kind](rng), rng
