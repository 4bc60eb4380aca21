"""A law for each label of a column of groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from smqopt.valuation import Valuation


@dataclass(frozen=True, eq=False)
class LawsByGroup:
    """A law of valuations for each label of a column.

    Examples
    --------
    >>> import smqopt as smq
    >>> sorted(smq.LawsByGroup("city", {"oslo": smq.Uniform(0, 1), "bergen": smq.Power(2)}).laws)
    ['bergen', 'oslo']
    """

    column: str
    laws: Mapping[str, Valuation]
    """By the text of the label; each with scalar parameters."""
