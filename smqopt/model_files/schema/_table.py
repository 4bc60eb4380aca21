"""What all tables of a model file are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from smqopt.errors import nearest
from smqopt.valuation import LAWS

RULE = "rule"
"""The type of errors that bring their own rule and remedy, and may name a key within."""


def refusal(rule: str, remedy: str, *keys: str) -> PydanticCustomError:
    """Make an error that brings its rule and remedy."""
    return PydanticCustomError(RULE, rule, {"remedy": remedy, "keys": keys})


class Table(BaseModel):
    """A table of a model file: every key is known, and no value is converted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _know_every_key(cls, value: object) -> object:
        for key in value if isinstance(value, dict) else ():
            if key not in cls.model_fields:
                raise refusal("is unknown", nearest(key, cls.model_fields), key)
        return value


def key_field(words: str, meaning: str, default: Any = None) -> Any:
    """State what a key's value must be and means; `...` for one that is needed."""
    return Field(default, title=words, description=meaning)


def _name(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise refusal("must be a name", "write it in quotes")
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


def of_kinds(kinds: Mapping[str, type]) -> WithJsonSchema:
    """Say in the JSON Schema that a table has one of the kinds."""
    return WithJsonSchema(
        {"type": "object", "properties": {"kind": {"type": "string", "enum": list(kinds)}}, "required": ["kind"]}
    )
