"""Write the table of laws in docs/laws.md anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from marks import Tables, markdown_table, rewrite

from smqopt.valuation import (
    LAWS,
    Beta,
    ByOwner,
    GaussianCopula,
    Irregular,
    Mixture,
    PiecewiseUniform,
    Power,
    Truncated,
    Undecided,
    Uniform,
    Valuation,
    Verdict,
    from_cdf,
    from_pdf,
    from_samples,
    valuation_from_dict,
)

HEADER = ("law", "regularity", "method", "monotone hazard (A2)", "its method")
E1 = "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)"


def example_laws() -> Iterator[tuple[str, Valuation]]:
    """List a label and a law for every law of the registry, and every other way to make one."""
    for name, (_, _, example) in LAWS.items():
        yield f"{name}: {_listed(example)}", valuation_from_dict({"law": name, **example})
    yield "beta: a = 2, b = 0.5", Beta(2, 0.5)
    yield "piecewise-uniform: edges = [0, 0.9, 1], masses = [1, 1]", PiecewiseUniform([0, 0.9, 1], [1, 1])
    yield "`from_cdf`: 3θ² − 2θ³", from_cdf("3*theta**2 - 2*theta**3", 0, 1)
    for c in (0.85, 0.99):
        yield f"`from_cdf`: the law of errata E1, c = {c}", from_cdf(E1, 0, 1, c=c)
    yield "`from_pdf`: 1 + 0.9 cos 6πθ", from_pdf("1 + 0.9*cos(6*pi*theta)", 0, 1)
    yield (
        "`from_samples`: 1, 2, 2, 3, 4 in two pieces on [0, 5]",
        from_samples([1, 2, 2, 3, 4], low=0, high=5, pieces=2),
    )
    yield "`Truncated`: Beta(2, 3) on [0.25, 0.75]", Truncated(Beta(2, 3), 0.25, 0.75)
    yield "`Mixture`: Uniform(0, 1) and Uniform(0, 4) alike", Mixture([Uniform(0, 1), Uniform(0, 4)], [1, 1])
    yield "`Mixture`: Uniform(0, 1) and Uniform(0.5, 1) alike", Mixture([Uniform(0, 1), Uniform(0.5, 1)], [1, 1])
    unit = Uniform(0, 1)
    for rho, epsilon in ((-0.5, 0.5), (-0.5, 0.01)):
        law = GaussianCopula(valuation=unit, requirement=unit, correlation=rho).given(epsilon)
        yield f"`GaussianCopula`: uniform θ and ε, ρ = {rho}, given ε = {epsilon}", law
    yield "`ByOwner`: Uniform(0, 1), Power(2), Beta(2, 0.5)", ByOwner([unit, Power(2), Beta(2, 0.5)])


def law_table() -> str:
    """Write one row a law: its regularity and its hazard rate, each with method and witness."""
    return markdown_table(HEADER, (_row(label, law) for label, law in example_laws()))


def _row(label: str, law: Valuation) -> tuple[str, str, str, str, str]:
    verdict, hazard = law.regularity(), law.monotone_hazard()
    fall = ""
    if hazard.witness is not None and hazard.hazards is not None:
        fall = f"; h falls from {hazard.hazards[0]:.4g} to {hazard.hazards[1]:.4g}"
    answer = {True: "yes", False: "no", None: "undecided"}[hazard.monotone]
    return (
        label,
        f"{type(verdict).__name__}{_whose(verdict)}",
        f"{verdict.method}{_witness(verdict)}",
        answer if hazard.owner is None else f"{answer}, owner {hazard.owner + 1}",
        f"{hazard.method}{fall}",
    )


def _whose(verdict: Verdict) -> str:
    owner = verdict.owner if isinstance(verdict, (Irregular, Undecided)) else None
    return "" if owner is None else f", owner {owner + 1}"


def _witness(verdict: Verdict) -> str:
    if not isinstance(verdict, Irregular):
        return ""
    (a, b), (at_a, at_b) = verdict.witness, verdict.virtual_costs
    return f"; J({a!r}) = {at_a:.4g}, J({b!r}) = {at_b:.4g}"


def _listed(example: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {np.asarray(value).tolist()}" for name, value in example.items())


TABLES: Tables = {"laws": law_table}

if __name__ == "__main__":
    rewrite(TABLES, "laws.md")
