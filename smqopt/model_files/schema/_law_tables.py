"""`[valuation]`: one law, laws by group, a copula, or samples."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    Discriminator,
    Tag,
)

from smqopt.model_files.schema._table import Law, Table, Whole, key_field


class CopulaTable(Table):
    """`[valuation]` that depends on the requirement"""  # noqa: D400

    law: Literal["gaussian-copula"] = key_field(
        '"gaussian-copula"', "each owner's law is that of her valuation given her own ε", ...
    )
    correlation: float | None = key_field(
        "number in [−1, 1]", "Spearman's correlation of valuation and requirement; this or `pearson` is needed"
    )
    pearson: float | None = key_field("number in [−1, 1]", "Pearson's correlation of them, in place of `correlation`")
    valuation: Law = key_field("a law", "the law of all valuations", ...)
    requirement: Law | None = key_field("a law", "the law of all requirements; left out where they are drawn")


class GroupLawsTable(Table):
    """`[valuation]` by group"""  # noqa: D400

    law: Literal["by-group"] = key_field('"by-group"', "owners of one group share a law", ...)
    column: str = key_field("text", "the labelling of `[owners]` that tells them apart", ...)
    laws: dict[str, Law] = key_field(
        "table of laws", "label → law; every label must be there, as `[valuation.laws.Oslo]`", ...
    )


class SamplesTable(Table):
    """`[valuation]` from samples"""  # noqa: D400

    law: Literal["from-samples"] = key_field(
        '"from-samples"', "estimated from observed valuations: a histogram, and heaps as atoms", ...
    )
    table: str = key_field("text", "a CSV file of them; its path is relative to the model file", ...)
    column: str = key_field("text", "their column", ...)
    low: float | None = key_field("number ≥ 0", "the low end of the support; estimated where it is left out")
    high: float | None = key_field("number", "the high end; estimated where it is left out")
    pieces: Whole | None = key_field("whole number ≥ 1", "how many pieces; by Rice's rule where it is left out")
    heaps: list[float] | None = key_field(
        "list of numbers", "values to keep as atoms; those that many share where it is left out, none for []"
    )
    band: float | None = key_field(
        "number in (0, 1)", "its confidence: all laws in a band around the sample are in doubt; needs low and high"
    )
    laws: Whole | None = key_field("whole number ≥ 1", "of how many bands that are to hold together; 1 by default")


def _law_kind(value: object) -> str:
    """Tell laws that a model file adds from those of the registry."""
    keys = value if isinstance(value, dict) else {}
    match keys.get("law"):
        case "gaussian-copula" if "score" not in keys:
            return "<copula>"
        case "by-group":
            return "<groups>"
        case "from-samples" if "edges" not in keys:
            return "<samples>"
    return "<law>"


AnyLaw = Annotated[
    Annotated[CopulaTable, Tag("<copula>")]
    | Annotated[GroupLawsTable, Tag("<groups>")]
    | Annotated[SamplesTable, Tag("<samples>")]
    | Annotated[Law, Tag("<law>")],
    Discriminator(_law_kind),
]
