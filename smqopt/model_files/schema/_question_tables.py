"""`[question]` and `[query]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import (
    Field,
    create_model,
    model_validator,
)

from smqopt.model_files._query_choice import QUERIES
from smqopt.model_files.schema._table import Numbers, Table, Whole, key_field, refusal


class LeastBudgetQuestion(Table):
    """`[question]`: the least budget"""  # noqa: D400

    kind: Literal["least-budget"] = key_field(
        '"least-budget"', "the least budget that buys so much; it is then spent", ...
    )
    purchased_privacy: Annotated[float, Field(ge=0)] | None = key_field(
        "number ≥ 0", "what is to be bought, in units of ε; this or `error` is needed"
    )
    error: Annotated[float, Field(gt=0)] | None = key_field(
        "number > 0", "the largest root mean squared error, where the objective is `mean-squared-error`"
    )

    @model_validator(mode="after")
    def _one_target(self) -> LeastBudgetQuestion:
        if (self.purchased_privacy is None) == (self.error is None):
            raise refusal("must say what is to be reached", "give purchased_privacy, or error")
        return self


class LastingBudgetQuestion(Table):
    """`[question]`: the budget of a purchase while the money lasts"""  # noqa: D400

    kind: Literal["lasting-budget"] = key_field(
        '"lasting-budget"', "the budget whose purchase is sure to buy most while the money lasts; so it is paid", ...
    )
    money: Annotated[float, Field(gt=0)] = key_field("number > 0", "what is never exceeded, in currency", ...)


class FrontierQuestion(Table):
    """`[question]`: the frontier"""  # noqa: D400

    kind: Literal["frontier"] = key_field(
        '"frontier"', "what each budget would buy, or how far off the answer would be", ...
    )
    budgets: Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1)] | None = key_field(
        "array of numbers ≥ 0", "100 up to what buying from everybody costs (20 for errors), where they are left out"
    )


class NecessaryPrivacyQuestion(Table):
    """`[question]`: the necessary privacy"""  # noqa: D400

    kind: Literal["necessary-privacy"] = key_field(
        '"necessary-privacy"', "Lemma 1: without so much no answer is so accurate; never a guarantee", ...
    )
    alpha: Whole = key_field("whole number ≥ 1", "an answer less than this away from the truth", ...)
    delta: Annotated[float, Field(gt=0, lt=1)] = key_field("number in (0, 1)", "with this probability", ...)


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
