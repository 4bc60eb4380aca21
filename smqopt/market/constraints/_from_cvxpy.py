"""Convex constraints that a user stated in cvxpy, as data.

Their words, rows that follow from them, and by how much the offers break them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import (
    ConstraintRecord,
    Rows,
    checked_limit,
    shorten,
)
from smqopt.market.constraints._linear_row import LinearRow
from smqopt.numeric import Floats


@dataclass(frozen=True)
class StatedInCvxpy(ConstraintRecord):
    """Constraints that cvxpy knows, and files do not.

    All offers that satisfy them satisfy the cuts, which are linear rows.

    A convex constraint lies within each of its tangents; a cone constraint G(x) ∈ K has ⟨z, G(x)⟩ ≥
    0 for every z of the dual cone. With the cuts the weak-duality bound is that of linear rows.
    That the cuts follow, and that the offers satisfy the constraints, is the conic solver's and
    cvxpy's word.

    Parameters
    ----------
    texts
        The constraints in words. Several stand together where they share variables of the user's
        own.
    cuts
        Σ a_i q_i + Σ s_i b_i ≤ r, each as (r, pairs of row and a, pairs of row and s), as of
        `LinearRow`.
    residual
        What the offers break the constraints by, relative to the sum of their absolute terms.
    digest
        A hash of all that is said, and of the acceptances and spends of which it is said.
    """

    kind: ClassVar[str] = "in-cvxpy"
    by_word: ClassVar[bool] = True

    texts: tuple[str, ...]
    cuts: tuple[tuple[float, tuple[tuple[int, float], ...], tuple[tuple[int, float], ...]], ...]
    residual: float
    digest: str

    def __post_init__(self) -> None:
        super().__post_init__()
        for argument in ("texts", "cuts"):
            self.set_list(argument)
        if not self.texts or not all(isinstance(text, str) for text in self.texts):
            raise InputError(self.where("texts"), "must hold text", value=shorten(self.texts), remedy="solve again")
        digest: Any = self.digest
        if not isinstance(digest, str):
            raise InputError(self.where("digest"), "must be text", value=shorten(digest), remedy="solve again")
        if self.residual != math.inf:
            checked_limit(self.residual, self.where("residual"))
        given: Any = self.cuts
        for cut in given:
            if not isinstance(cut, (list, tuple)) or len(cut) != 3:
                rule = "must hold triples of a limit, pairs for acceptance and pairs for spend"
                raise InputError(self.where("cuts"), rule, value=shorten(cut), remedy="solve again")
        plain = (self._of(row) for row in self._linear())
        object.__setattr__(self, "cuts", tuple(plain))

    @classmethod
    def of(
        cls, texts: Sequence[str], cuts: Sequence[LinearRow], residual: float, acceptance: Floats, spend: Floats
    ) -> StatedInCvxpy:
        """Record what was found for offers, by acceptance and spend; shape (n,) each."""
        open_record = cls(tuple(texts), tuple(cls._of(row) for row in cuts), float(residual), "")
        return cls(open_record.texts, open_record.cuts, open_record.residual, open_record._hash(acceptance, spend))

    @property
    def recorded(self) -> tuple[str, ...]:
        """The constraints in words."""
        return self.texts

    def describe(self) -> str:
        return "; ".join(self.texts)

    def rows(self, market: Market) -> Rows:
        for row in self._linear():
            yield from row.rows(market)

    def is_of(self, acceptance: Floats, spend: Floats) -> bool:
        """Whether it is as it was made, and was made for these offers, shape (n,) each."""
        return self.digest == self._hash(acceptance, spend)

    def _linear(self) -> Iterator[LinearRow]:
        for number, (limit, acceptance, spend) in enumerate(self.cuts, 1):
            yield LinearRow(limit, acceptance, spend, name=f"{self.words}, cut {number}")

    @staticmethod
    def _of(row: LinearRow) -> Any:
        return float(row.at_most), row.acceptance, row.spend

    def _hash(self, acceptance: Floats, spend: Floats) -> str:
        said = json.dumps([self.name, self.texts, self.cuts, repr(self.residual)])
        digest = hashlib.sha256(said.encode())
        for column in (acceptance, spend):
            digest.update(np.ascontiguousarray(column, dtype="<f8").tobytes())
        return digest.hexdigest()
