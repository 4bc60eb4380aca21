"""What a model file may say, table by table: the readers refuse every other key, and the reference of model files is made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """A key of a table."""

    name: str
    kind: str
    """What its value must be, in words."""
    meaning: str
    needed: bool = False


_MODEL = (
    Key("title", "text", "the instance in a line; the file's name where it is left out"),
    Key("source", "text", "where the instance comes from; made-up numbers say so"),
    Key("teaches", "text", "what the instance shows, in a line"),
    Key("description", "text", "what is asked, and of whom"),
    Key(
        "budget", "number ≥ 0", "B, in currency. Left out where the question asks for the least budget, and only there"
    ),
    Key("seed", "whole number ≥ 0", "a run with a seed is a simulation, and no private release"),
    Key("owners", "table", "who sells", needed=True),
    Key("valuation", "table", "the law of valuations", needed=True),
    Key("query", "table", "what is asked of the bought entries; a run needs it"),
    Key("question", "table", "what is asked of the market itself"),
    Key("objective", "table", "what is maximised; purchased privacy where it is left out"),
    Key("constraint", "array of tables", "what must hold beyond OP2, one table a constraint"),
    Key("answer", "table", "what a certificate has shown; tests compare"),
)

_OF_ROWS = (
    ("multiplicity", "how many alike owners a row stands for, whole numbers ≥ 1"),
    (
        "reports",
        "reported valuations, private: one a row, for all its owners, or in an array one an owner; drawn from the law where they are left out",
    ),
    ("data", "entries, private; as `reports`, but never drawn"),
)

_ARRAYS = (
    Key("epsilon", "array of numbers ≥ 0", "privacy requirements ε, one a row", needed=True),
    Key("ids", "array of names", "distinct names; 1, 2, … where they are left out"),
    Key("groups", "table of arrays of names", 'labellings of the rows, as `groups = { city = ["Oslo", "Bergen"] }`'),
    *(Key(name, "array of numbers", meaning) for name, meaning in _OF_ROWS),
)

_FILE = (
    Key("table", "text", "a CSV file with a header line; its path is relative to the model file", needed=True),
    Key("epsilon", "name of a column", "privacy requirements ε ≥ 0; the column `epsilon` where it is left out"),
    Key("ids", "name of a column", "distinct names; 1, 2, … where they are left out"),
    Key("groups", "array of names of columns", "labellings of the rows"),
    *(Key(name, "name of a column", meaning) for name, meaning in _OF_ROWS),
)

_DATASET = (
    Key("dataset", '"adult"', "a data set that the package knows", needed=True),
    Key("column", '"age" or "income_over_50k"', "the entry of each person", needed=True),
    Key("epsilon", "a law", "what requirements are drawn from; this needs a seed", needed=True),
)

_COPULA = (
    Key("law", '"gaussian-copula"', "each owner's law is that of her valuation given her own ε", needed=True),
    Key("correlation", "number in [−1, 1]", "Pearson's correlation of valuation and requirement", needed=True),
    Key("valuation", "a law", "the law of all valuations", needed=True),
    Key("requirement", "a law", "the law of all requirements; left out where they are drawn"),
)

_BY_GROUP = (
    Key("law", '"by-group"', "owners of one group share a law", needed=True),
    Key("column", "text", "the labelling of `[owners]` that tells them apart", needed=True),
    Key("laws", "table of laws", "label → law; every label must be there, as `[valuation.laws.Oslo]`", needed=True),
)

_SAMPLES = (
    Key("law", '"from-samples"', "estimated from observed valuations, a histogram", needed=True),
    Key("table", "text", "a CSV file of them; its path is relative to the model file", needed=True),
    Key("column", "text", "their column", needed=True),
    Key("low", "number ≥ 0", "the low end of the support; estimated where it is left out"),
    Key("high", "number", "the high end; estimated where it is left out"),
    Key("pieces", "whole number ≥ 1", "how many pieces; by Rice's rule where it is left out"),
)

_LEAST_BUDGET = (
    Key("kind", '"least-budget"', "the least budget that buys so much; it is then spent", needed=True),
    Key("purchased_privacy", "number ≥ 0", "what is to be bought, in units of ε", needed=True),
)
_FRONTIER = (
    Key("kind", '"frontier"', "what each budget would buy", needed=True),
    Key("budgets", "array of numbers ≥ 0", "100 up to what buying from everybody costs, where they are left out"),
)
_NECESSARY = (
    Key(
        "kind",
        '"necessary-privacy"',
        "Lemma 1: without so much no answer is so accurate; never a guarantee",
        needed=True,
    ),
    Key("alpha", "whole number ≥ 1", "an answer less than this away from the truth", needed=True),
    Key("delta", "number in (0, 1)", "with this probability", needed=True),
)

_ANSWER = (
    Key("status", "name of a status", "how the program ends, as `BINDING`", needed=True),
    Key("purchased_privacy", "number", "V(B), to the digits that the certificate's bounds agree on"),
    Key("objective_value", "number", "alike for another objective"),
    Key("budget_price", "number", "λ, to digits that bounds at neighbouring budgets agree on"),
    Key("budget", "number", "the least budget, where the question asks for it"),
)

TABLES: Mapping[str, tuple[str, tuple[Key, ...]]] = {
    "model": ("the file itself", _MODEL),
    "owners: arrays": ("`[owners]` as arrays", _ARRAYS),
    "owners: table": ("`[owners]` from a table", _FILE),
    "owners: dataset": ("`[owners]` from a data set", _DATASET),
    "valuation: copula": ("`[valuation]` that depends on the requirement", _COPULA),
    "valuation: by group": ("`[valuation]` by group", _BY_GROUP),
    "valuation: samples": ("`[valuation]` from samples", _SAMPLES),
    "question: least-budget": ("`[question]`: the least budget", _LEAST_BUDGET),
    "question: frontier": ("`[question]`: the frontier", _FRONTIER),
    "question: necessary-privacy": ("`[question]`: the necessary privacy", _NECESSARY),
    "answer": ("`[answer]`", _ANSWER),
}
"""Name of a table → what it is, and its keys. Queries, objectives, constraints and laws have
registries of their own."""


def names_of(*tables: str) -> tuple[str, ...]:
    """Give the names of the keys of some tables, each once."""
    return tuple(dict.fromkeys(key.name for table in tables for key in TABLES[table][1]))
