"""Random markets for property tests, and the reference instances; shared by several test files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import smqopt as smq

REFERENCE = json.loads((Path(__file__).parent / "reference" / "op2.json").read_text(encoding="utf-8"))
FORMULAS = {
    "beta23": lambda: smq.from_cdf("6*theta**2 - 8*theta**3 + 3*theta**4", low=0, high=1),
    "kumaraswamy": lambda p, q: smq.from_cdf("1 - (1 - theta**p)**q", low=0, high=1, p=p, q=q),
}
NAMED = {"beta23": lambda: smq.Beta(2, 3), "kumaraswamy": smq.Kumaraswamy}
"""The same laws, by their names."""
LAWS = {"uniform": smq.Uniform, "power": smq.Power, "truncexp": smq.TruncatedExponential}


def reference_law(valuation: list[list[str]], others=FORMULAS):
    laws = [
        (LAWS[name] if name in LAWS else others[name])(*(float(parameter) for parameter in parameters))
        for name, *parameters in valuation
    ]
    return laws[0] if len(laws) == 1 else smq.ByOwner(laws)


def reference_market(instance: dict, others=FORMULAS):
    return smq.Market([float(e) for e in instance["epsilon"]], reference_law(instance["valuation"], others))


requirements = st.one_of(st.just(0.0), st.floats(1e-6, 1e3), st.sampled_from([0.25, 0.5, 1.0]))
"""Privacy requirements, with zeros and ties."""


@st.composite
def laws(draw, size: int | None, unit: float = 1.0, largest_low: float = 2.0):
    """A law of one of the three closed-form families; `size` None for a common law."""

    def parameter(low: float, high: float):
        if size is None:
            return draw(st.floats(low, high))
        return np.array(draw(st.lists(st.floats(low, high), min_size=size, max_size=size)))

    low = parameter(0.0, largest_low) if draw(st.booleans()) else 0.0 if size is None else np.zeros(size)
    width = parameter(0.25, 2.0)
    ends = {"low": low * unit, "high": (low + width) * unit}
    family = draw(st.sampled_from(["uniform", "power", "truncated-exponential"]))
    if family == "uniform":
        return smq.Uniform(**ends)
    if family == "power":
        return smq.Power(parameter(0.5, 8.0), **ends)
    return smq.TruncatedExponential(parameter(1e-6, 50.0) / unit, **ends)


@st.composite
def markets(draw, most: int = 12, *, common: bool = False):
    """A market with some privacy to sell."""
    epsilon = np.array(draw(st.lists(requirements, min_size=1, max_size=most).filter(any)))
    size = None if common or draw(st.booleans()) else epsilon.size
    counts = st.lists(st.integers(1, 5), min_size=epsilon.size, max_size=epsilon.size)
    return smq.Market(epsilon, draw(laws(size)), multiplicity=draw(st.one_of(st.none(), counts)))


shares = st.one_of(st.floats(1e-3, 1.1), st.sampled_from([0.0, 0.5, 1.0, 1.0 - 2.0**-53]))
"""Budgets as a share of the most that can be spent: zero, binding, at slack and one unit in the last place below it."""
