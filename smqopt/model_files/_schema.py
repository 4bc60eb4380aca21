"""The tables of a model file: what reads them and writes their JSON Schema."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from smqopt.errors import nearest
from smqopt.market import KINDS, OBJECTIVES, Coverage, Status
from smqopt.model_files._constraints import QUOTAS
from smqopt.model_files._query_choice import QUERIES
from smqopt.model_files.toml._file import WrittenFloat
from smqopt.valuation import LAWS

RULE = "rule"
"""The type of errors that bring their own rule and remedy, and may name a key within."""


def _refusal(rule: str, remedy: str, *keys: str) -> PydanticCustomError:
    return PydanticCustomError(RULE, rule, {"remedy": remedy, "keys": keys})


class Table(BaseModel):
    """A table of a model file: every key is known, and no value is converted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _know_every_key(cls, value: object) -> object:
        for key in value if isinstance(value, dict) else ():
            if key not in cls.model_fields:
                raise _refusal("is unknown", nearest(key, cls.model_fields), key)
        return value


def _key(words: str, meaning: str, default: Any = None) -> Any:
    """State what a key's value must be and means; `...` for one that is needed."""
    return Field(default, title=words, description=meaning)


def _name(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _refusal("must be a name", "write it in quotes")
    return str(value)


Whole = Annotated[int, Field(ge=0)]
Numbers = Annotated[list[float], Field(min_length=1)]
Name = Annotated[str, PlainValidator(_name), WithJsonSchema({"type": ["string", "integer"]})]
Names = Annotated[list[Name], Field(min_length=1)]
Law = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "properties": {"law": {"type": "string", "examples": list(LAWS)}, "cdf": {"type": "string"}},
            "anyOf": [{"required": ["law"]}, {"required": ["cdf"]}],
        }
    ),
]


def _of_kinds(kinds: Mapping[str, type]) -> WithJsonSchema:
    return WithJsonSchema(
        {"type": "object", "properties": {"kind": {"type": "string", "enum": list(kinds)}}, "required": ["kind"]}
    )


# -- owners ------------------------------------------------------------------------------------

_MULTIPLICITY = "how many alike owners a row stands for, whole numbers ≥ 1"
_REPORTS = (
    "reported valuations, private: one a row, for all its owners, or in an array one an owner; "
    "drawn from the law where they are left out"
)
_DATA = "entries, private; as `reports`, but never drawn"
_COLUMN = "name of a column"


class OwnersInArrays(Table):
    """`[owners]` as arrays"""  # noqa: D400 -- a heading of the reference

    epsilon: Numbers = _key("array of numbers ≥ 0", "privacy requirements ε, one a row", ...)
    ids: Names | None = _key("array of names", "distinct names; 1, 2, … where they are left out")
    groups: dict[str, Names] | None = _key(
        "table of arrays of names", 'labellings of the rows, as `groups = { city = ["Oslo", "Bergen"] }`'
    )
    multiplicity: Numbers | None = _key("array of numbers", _MULTIPLICITY)
    reports: Numbers | None = _key("array of numbers", _REPORTS)
    data: Numbers | None = _key("array of numbers", _DATA)


class OwnersInFile(Table):
    """`[owners]` from a table"""  # noqa: D400

    table: str = _key("text", "a CSV file with a header line; its path is relative to the model file", ...)
    epsilon: str = _key(_COLUMN, "privacy requirements ε ≥ 0; the column `epsilon` where it is left out", "epsilon")
    ids: str | None = _key(_COLUMN, "distinct names; 1, 2, … where they are left out")
    groups: Names | None = _key("array of names of columns", "labellings of the rows")
    multiplicity: str | None = _key(_COLUMN, _MULTIPLICITY)
    reports: str | None = _key(_COLUMN, _REPORTS)
    data: str | None = _key(_COLUMN, _DATA)


class OwnersInParquet(Table):
    """`[owners]` in a folder of Parquet"""  # noqa: D400

    folder: str = _key("text", "a folder of Parquet files, the parts; its path is relative to the model file", ...)
    epsilon: str = _key(_COLUMN, "privacy requirements ε ≥ 0; the column `epsilon` where it is left out", "epsilon")
    ids: str | None = _key(_COLUMN, "distinct ids, text or whole numbers; none where it is left out")
    groups: Names | None = _key("array of names of columns", "labellings that the certificate covers")
    unique_ids: Literal["everywhere", "within parts"] = _key(
        '"everywhere" or "within parts"', "where an id that stands twice is looked for", "everywhere"
    )
    reports: str | None = _key("text", "a folder of files of the same names: ids, and the column `report`, private")
    data: str | None = _key("text", "a folder of files of the same names: ids, and the column `entry`, private")


class OwnersOfDataset(Table):
    """`[owners]` from a data set"""  # noqa: D400

    dataset: Literal["adult"] = _key('"adult"', "a data set that the package knows", ...)
    column: Literal["age", "income_over_50k"] = _key('"age" or "income_over_50k"', "the entry of each person", ...)
    epsilon: Law = _key("a law", "what requirements are drawn from; this needs a seed", ...)


def _one_source(value: object) -> object:
    keys = value if isinstance(value, dict) else {}
    if "folder" in keys and ("table" in keys or "dataset" in keys):
        raise _refusal("cannot stand beside a table or a data set", "keep one of them", "folder")
    if "table" in keys and "dataset" in keys:
        raise _refusal("cannot stand beside 'table'", "keep one of them", "dataset")
    if "column" in keys and "table" not in keys and "dataset" not in keys:
        raise _refusal("belongs to a data set", 'give dataset = "adult", or drop it', "column")
    return value


def _owners_kind(value: object) -> str:
    keys = value if isinstance(value, dict) else {}
    known = ("dataset", "table", "folder")
    return next((f"<{key}>" for key in known if key in keys), "<arrays>")


AnyOwners = Annotated[
    Annotated[OwnersInArrays, Tag("<arrays>")]
    | Annotated[OwnersInFile, Tag("<table>")]
    | Annotated[OwnersInParquet, Tag("<folder>")]
    | Annotated[OwnersOfDataset, Tag("<dataset>")],
    Discriminator(_owners_kind),
    BeforeValidator(_one_source),
]

# -- the law of valuations ---------------------------------------------------------------------


class CopulaTable(Table):
    """`[valuation]` that depends on the requirement"""  # noqa: D400

    law: Literal["gaussian-copula"] = _key(
        '"gaussian-copula"', "each owner's law is that of her valuation given her own ε", ...
    )
    correlation: float | None = _key(
        "number in [−1, 1]", "Spearman's correlation of valuation and requirement; this or `pearson` is needed"
    )
    pearson: float | None = _key("number in [−1, 1]", "Pearson's correlation of them, in place of `correlation`")
    valuation: Law = _key("a law", "the law of all valuations", ...)
    requirement: Law | None = _key("a law", "the law of all requirements; left out where they are drawn")


class GroupLawsTable(Table):
    """`[valuation]` by group"""  # noqa: D400

    law: Literal["by-group"] = _key('"by-group"', "owners of one group share a law", ...)
    column: str = _key("text", "the labelling of `[owners]` that tells them apart", ...)
    laws: dict[str, Law] = _key(
        "table of laws", "label → law; every label must be there, as `[valuation.laws.Oslo]`", ...
    )


class SamplesTable(Table):
    """`[valuation]` from samples"""  # noqa: D400

    law: Literal["from-samples"] = _key(
        '"from-samples"', "estimated from observed valuations: a histogram, and heaps as atoms", ...
    )
    table: str = _key("text", "a CSV file of them; its path is relative to the model file", ...)
    column: str = _key("text", "their column", ...)
    low: float | None = _key("number ≥ 0", "the low end of the support; estimated where it is left out")
    high: float | None = _key("number", "the high end; estimated where it is left out")
    pieces: Whole | None = _key("whole number ≥ 1", "how many pieces; by Rice's rule where it is left out")
    heaps: list[float] | None = _key(
        "list of numbers", "values to keep as atoms; those that many share where it is left out, none for []"
    )


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

# -- questions and queries ---------------------------------------------------------------------


class LeastBudgetQuestion(Table):
    """`[question]`: the least budget"""  # noqa: D400

    kind: Literal["least-budget"] = _key('"least-budget"', "the least budget that buys so much; it is then spent", ...)
    purchased_privacy: Annotated[float, Field(ge=0)] | None = _key(
        "number ≥ 0", "what is to be bought, in units of ε; this or `error` is needed"
    )
    error: Annotated[float, Field(gt=0)] | None = _key(
        "number > 0", "the largest root mean squared error, where the objective is `mean-squared-error`"
    )

    @model_validator(mode="after")
    def _one_target(self) -> LeastBudgetQuestion:
        if (self.purchased_privacy is None) == (self.error is None):
            raise _refusal("must say what is to be reached", "give purchased_privacy, or error")
        return self


class LastingBudgetQuestion(Table):
    """`[question]`: the budget of a purchase while the money lasts"""  # noqa: D400

    kind: Literal["lasting-budget"] = _key(
        '"lasting-budget"', "the budget whose purchase is sure to buy most while the money lasts; so it is paid", ...
    )
    money: Annotated[float, Field(gt=0)] = _key("number > 0", "what is never exceeded, in currency", ...)


class FrontierQuestion(Table):
    """`[question]`: the frontier"""  # noqa: D400

    kind: Literal["frontier"] = _key(
        '"frontier"', "what each budget would buy, or how far off the answer would be", ...
    )
    budgets: Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1)] | None = _key(
        "array of numbers ≥ 0", "100 up to what buying from everybody costs (20 for errors), where they are left out"
    )


class NecessaryPrivacyQuestion(Table):
    """`[question]`: the necessary privacy"""  # noqa: D400

    kind: Literal["necessary-privacy"] = _key(
        '"necessary-privacy"', "Lemma 1: without so much no answer is so accurate; never a guarantee", ...
    )
    alpha: Whole = _key("whole number ≥ 1", "an answer less than this away from the truth", ...)
    delta: Annotated[float, Field(gt=0, lt=1)] = _key("number in (0, 1)", "with this probability", ...)


Question = Annotated[
    LeastBudgetQuestion | LastingBudgetQuestion | FrontierQuestion | NecessaryPrivacyQuestion,
    Field(discriminator="kind"),
]

_TYPES: Mapping[str, Any] = {
    "whole": int,
    "number": float,
    "numbers": Numbers,
    "rows": list[list[float]],
    "text": str,
    "flag": bool,
}
if TYPE_CHECKING:
    AnyQuery = Table
else:
    AnyQuery = Annotated[
        Union[  # noqa: UP007 -- of as many as there are
            tuple(
                create_model(
                    f"Query-{kind}",
                    __base__=Table,
                    kind=(Literal[kind], ...),
                    **{name: (_TYPES[how], ...) for name, how in made.required.items()},
                    **{name: (_TYPES[how] | None, None) for name, how in made.optional.items()},
                )
                for kind, made in QUERIES.items()
            )
        ],
        Field(discriminator="kind"),
    ]

# -- the known answer --------------------------------------------------------------------------


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
        raise _refusal("must be a number", "write it without quotes, as 1000.0")
    if not math.isfinite(value):
        raise _refusal("must be a finite number", "correct it")
    return StatedNumber(value.text.replace("_", "") if isinstance(value, WrittenFloat) else str(value))


def _status(value: object) -> Status:
    if not isinstance(value, str) or value not in Status.__members__:
        raise _refusal("is not known", nearest(str(value), Status.__members__))
    return Status[value]


Stated = Annotated[StatedNumber, PlainValidator(_stated_number), WithJsonSchema({"type": "number"})]


class StatedAnswer(Table):
    """`[answer]`"""  # noqa: D400

    status: Annotated[
        Status, PlainValidator(_status), WithJsonSchema({"type": "string", "enum": list(Status.__members__)})
    ] = _key("name of a status", "how the program ends, as `BINDING`", ...)
    purchased_privacy: Stated | None = _key("number", "V(B), to the digits that the certificate's bounds agree on")
    objective_value: Stated | None = _key("number", "alike for another objective")
    budget_price: Stated | None = _key("number", "λ, to digits that bounds at neighbouring budgets agree on")
    budget: Stated | None = _key("number", "the least budget, where the question asks for it")


# -- the file ----------------------------------------------------------------------------------


class ModelTable(Table):
    """the file itself"""  # noqa: D400

    title: str | None = _key("text", "the instance in a line; the file's name where it is left out")
    source: str = _key("text", "where the instance comes from; made-up numbers say so", "")
    teaches: str = _key("text", "what the instance shows, in a line", "")
    description: str = _key("text", "what is asked, and of whom", "")
    budget: float | None = _key(
        "number ≥ 0",
        "B, in currency. Left out where the question asks for the least or the lasting budget, and only there",
    )
    seed: Whole | None = _key("whole number ≥ 0", "a run with a seed is a simulation, and no private release")
    owners: AnyOwners = _key("table", "who sells", ...)
    valuation: AnyLaw = _key("table", "the law of valuations", ...)
    query: AnyQuery | None = _key("table", "what is asked of the bought entries; a run needs it")
    question: Question | None = _key("table", "what is asked of the market itself")
    objective: Annotated[dict[str, Any], _of_kinds(OBJECTIVES)] | None = _key(
        "table", "what is maximised; purchased privacy where it is left out"
    )
    constraint: list[Annotated[dict[str, Any], _of_kinds({**KINDS, QUOTAS: Coverage})]] = _key(
        "array of tables", "what must hold beyond OP2, one table a constraint", []
    )
    answer: StatedAnswer | None = _key("table", "what a certificate has shown; tests compare")


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
