"""A model file whole, with the answer that it states, and its JSON Schema."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    PlainValidator,
    WithJsonSchema,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from smqopt.errors import nearest
from smqopt.market import KINDS, OBJECTIVES, Coverage, Status
from smqopt.model_files._constraints import QUOTAS
from smqopt.model_files.schema._law_tables import AnyLaw, CopulaTable, GroupLawsTable, SamplesTable
from smqopt.model_files.schema._owners_tables import (
    AnyOwners,
    OwnersInArrays,
    OwnersInFile,
    OwnersInParquet,
    OwnersOfDataset,
)
from smqopt.model_files.schema._question_tables import (
    AnyQuery,
    FrontierQuestion,
    LastingBudgetQuestion,
    LeastBudgetQuestion,
    NecessaryPrivacyQuestion,
    Question,
)
from smqopt.model_files.schema._table import Table, Whole, key_field, of_kinds, refusal
from smqopt.model_files.toml._file import WrittenFloat


@dataclass(frozen=True)
class StatedNumber:
    """A number, known to the last digit that is written."""

    text: str
    """As it stands in the file."""

    @property
    def ends(self) -> tuple[Decimal, Decimal]:
        """The numbers that round to it: half a unit of its last digit either way."""
        number = Decimal(self.text)
        exponent = number.as_tuple().exponent
        half = Decimal(0) if not isinstance(exponent, int) or number == 0 else Decimal(5).scaleb(exponent - 1)
        return number - half, number + half

    def agrees(self, lower: float, upper: float) -> bool:
        """Tell whether all numbers between two bounds round to it.

        A bound that stands on a half has one thousandth of a unit of the last digit to spare.
        """
        least, most = self.ends
        slack = (most - least) / 1000
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return False
        return least - slack <= Decimal(lower) <= Decimal(upper) <= most + slack


def _stated_number(value: object) -> StatedNumber:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal("must be a number", "write it without quotes, as 1000.0")
    if not math.isfinite(value):
        raise refusal("must be a finite number", "correct it")
    return StatedNumber(value.text.replace("_", "") if isinstance(value, WrittenFloat) else str(value))


def _status(value: object) -> Status:
    if not isinstance(value, str) or value not in Status.__members__:
        raise refusal("is not known", nearest(str(value), Status.__members__))
    return Status[value]


Stated = Annotated[StatedNumber, PlainValidator(_stated_number), WithJsonSchema({"type": "number"})]


class StatedAnswer(Table):
    """`[answer]`"""  # noqa: D400

    status: Annotated[
        Status, PlainValidator(_status), WithJsonSchema({"type": "string", "enum": list(Status.__members__)})
    ] = key_field("name of a status", "how the program ends, as `BINDING`", ...)
    purchased_privacy: Stated | None = key_field("number", "V(B), to the digits that the certificate's bounds agree on")
    objective_value: Stated | None = key_field("number", "alike for another objective")
    budget_price: Stated | None = key_field("number", "λ, to digits that bounds at neighbouring budgets agree on")
    budget: Stated | None = key_field("number", "the least budget, where the question asks for it")


class ModelTable(Table):
    """the file itself"""  # noqa: D400

    title: str | None = key_field("text", "the instance in a line; the file's name where it is left out")
    source: str = key_field("text", "where the instance comes from; made-up numbers say so", "")
    teaches: str = key_field("text", "what the instance shows, in a line", "")
    description: str = key_field("text", "what is asked, and of whom", "")
    budget: float | None = key_field(
        "number ≥ 0",
        "B, in currency. Left out where the question asks for the least or the lasting budget, and only there",
    )
    seed: Whole | None = key_field("whole number ≥ 0", "a run with a seed is a simulation, and no private release")
    owners: AnyOwners = key_field("table", "who sells", ...)
    valuation: AnyLaw = key_field("table", "the law of valuations", ...)
    query: AnyQuery | None = key_field("table", "what is asked of the bought entries; a run needs it")
    question: Question | None = key_field("table", "what is asked of the market itself")
    objective: Annotated[dict[str, Any], of_kinds(OBJECTIVES)] | None = key_field(
        "table", "what is maximised; purchased privacy where it is left out"
    )
    constraint: list[Annotated[dict[str, Any], of_kinds({**KINDS, QUOTAS: Coverage})]] = key_field(
        "array of tables", "what must hold beyond OP2, one table a constraint", []
    )
    lotteries: bool = key_field(
        "true or false",
        "false posts one price to each owner; by default an owner may draw between prices",
        default=True,
    )
    gap: float | None = key_field(
        "number ≥ 0 and < 1",
        "without lotteries: how far from the best, relatively, the search may end; 1e-4 by default",
    )
    answer: StatedAnswer | None = key_field("table", "what a certificate has shown; tests compare")


TABLES: tuple[type[Table], ...] = (
    ModelTable,
    OwnersInArrays,
    OwnersInFile,
    OwnersInParquet,
    OwnersOfDataset,
    CopulaTable,
    GroupLawsTable,
    SamplesTable,
    LeastBudgetQuestion,
    LastingBudgetQuestion,
    FrontierQuestion,
    NecessaryPrivacyQuestion,
    StatedAnswer,
)
"""The tables whose keys the reference lists. Queries, objectives, constraints and laws have
registries of their own."""


class _Schema(GenerateJsonSchema):
    """TOML has no null: what may be left out may not be null."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """Let more than one kind fit: a law by name is also what a copula looks like."""
        kinds = super().tagged_union_schema(schema)
        return {"anyOf": kinds.pop("oneOf"), **kinds}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def model_schema() -> dict[str, Any]:
    """Write the JSON Schema of model files, for editors that complete and check TOML.

    Returns
    -------
    dict
        The schema, draft 2020-12.
    """
    schema = ModelTable.model_json_schema(schema_generator=_Schema)
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema, "title": "A model file of smqopt"}
