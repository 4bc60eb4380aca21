"""A law in words: its name and its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from smqopt.document import shown
from smqopt.numeric import Floats
from smqopt.valuation import SampleLaw, Valuation


def law_in_words(law: Valuation) -> str:
    """Name a law and its parameters, a range where they differ by owner.

    Examples
    --------
    >>> import smqopt as smq
    >>> law_in_words(smq.Uniform(0, [1, 2, 3]))
    'uniform (low 0, high from 1 to 3)'
    >>> law_in_words(smq.Mixture([smq.Uniform(0, 1), smq.Power(2)], [0.25, 0.75]))
    'mixture of 0.25 uniform (low 0, high 1) and 0.75 power (k 2, low 0, high 1)'
    """
    if isinstance(law, SampleLaw):
        return f"estimated by {law!r}"
    parts = [(part, owners) for part, owners in law.parts()]
    if len(parts) > 1 or parts[0][0] is not law:
        return "by owner: " + "; ".join(
            f"{law_in_words(part)} for {shown(_count(owners, law))}" for part, owners in parts
        )
    if law.name in _OF_OTHERS:
        return _OF_OTHERS[law.name](law)
    names = law.parameters or ("low", "high")
    parameters = ", ".join(f"{name} {_range(getattr(law, name))}" for name in names)
    return f"{name_in_words(law.name)} ({parameters})"


def name_in_words(name: str) -> str:
    """Write the name of a family as in a sentence.

    Examples
    --------
    >>> name_in_words("log-normal"), name_in_words("weibull")
    ('log normal', 'Weibull')
    """
    return name.capitalize() if name in _OF_PEOPLE else name.replace("-", " ")


_OF_PEOPLE = ("kumaraswamy", "pareto", "weibull")
"""Families that are named for somebody."""


def _mixture(law: Any) -> str:
    parts = [f"{shown(float(w))} {law_in_words(part)}" for w, part in zip(law.weights, law.laws, strict=True)]
    return f"mixture of {' and '.join(filter(None, (', '.join(parts[:-1]), parts[-1])))}"


def _truncation(law: Any) -> str:
    return f"{law_in_words(law.law)} truncated (low {_range(law.low)}, high {_range(law.high)})"


def _scenarios(law: Any) -> str:
    return f"one of {'; or '.join(map(law_in_words, law.laws))}"


def _band(law: Any) -> str:
    return f"any law in a band of {shown(100 * law.confidence)}\u00a0% round {shown(law.n)} valuations"


_OF_OTHERS = {"mixture": _mixture, "truncated": _truncation, "scenarios": _scenarios, "band": _band}


def _count(owners: slice | np.ndarray[tuple[int], np.dtype[np.intp]], law: Valuation) -> int:
    return len(range(law.size or 1)[owners]) if isinstance(owners, slice) else int(owners.size)


def _range(value: float | Floats) -> str:
    least, largest = float(np.min(value)), float(np.max(value))
    return shown(least) if least == largest else f"from {shown(least)} to {shown(largest)}"
