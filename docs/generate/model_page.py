"""Write the model library and the keys of model files in docs/models.md anew, and their schema."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path

from marks import Tables, markdown_table, rewrite

from smqopt.market import KINDS, OBJECTIVES
from smqopt.model_files import QUERIES, TABLES as FILE_TABLES, Model, model_files, model_schema, read_model
from smqopt.valuation import LAWS

SCHEMA = Path(__file__).parents[1] / "schema" / "model.schema.json"


def model_table() -> str:
    """Give one row a model: what it teaches, how it ends, and its certified answer."""
    models = [read_model(path) for path in model_files()]
    header = ["model", "shows", "ends", "purchased privacy", "budget price λ"]
    return markdown_table(header, [_row(model) for model in models])


def key_tables() -> str:
    """Give the keys of every table of a model file, from what the readers read."""
    parts = []
    for table in FILE_TABLES:
        rows = [
            (f"`{name}`", str(key.title), str(key.description) + (" (needed)" if key.is_required() else ""))
            for name, key in table.model_fields.items()
        ]
        title = str(table.__doc__)
        parts.append(f"### {title[0].upper()}{title[1:]}\n\n{markdown_table(['key', 'value', 'meaning'], rows)}")
    laws = [(f"`{name}`", _names(example)) for name, (_, _, example) in LAWS.items()]
    parts.append(f"### Laws by name\n\n{markdown_table(['`law`', 'parameters, a number or one a row'], laws)}")
    queries = [
        (f"`{name}`", _names(kind.required), _names(key for key in kind.parameters if key not in kind.required))
        for name, kind in QUERIES.items()
    ]
    parts.append(f"### `[query]`\n\n{markdown_table(['`kind`', 'needed', 'may be left out'], queries)}")
    for title, registry in (("`[objective]`", OBJECTIVES), ("`[[constraint]]`", KINDS)):
        records = [_record(kind, record) for kind, record in registry.items()]
        parts.append(f"### {title}\n\n{markdown_table(['`kind`', 'says', 'needed', 'may be left out'], records)}")
    return "\n\n".join(parts)


def schema_text() -> str:
    """Write the JSON Schema of model files."""
    return json.dumps(model_schema(), indent=2, ensure_ascii=False) + "\n"


TABLES: Tables = {"models": model_table, "keys": key_tables}


def _row(model: Model) -> tuple[str, ...]:
    answer = model.answer
    if answer is None:
        return (f"`{model.name}`", model.teaches, "", "", "")
    value = "" if answer.purchased_privacy is None else answer.purchased_privacy.text
    if answer.objective_value is not None:
        value = f"(objective {answer.objective_value.text})"
    if answer.budget is not None:
        value = f"{value} for {answer.budget.text}"
    price = "" if answer.budget_price is None else answer.budget_price.text
    return (f"`{model.name}`", model.teaches, answer.status.name.lower().replace("_", " "), value, price)


def _record(kind: str, record: type) -> tuple[str, str, str, str]:
    entries = [entry for entry in dataclasses.fields(record) if entry.name != "half_planes"]
    needed = [entry.name for entry in entries if entry.default is dataclasses.MISSING]
    says = (record.__doc__ or "").splitlines()[0]
    return (f"`{kind}`", says, _names(needed), _names(entry.name for entry in entries if entry.name not in needed))


def _names(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


if __name__ == "__main__":
    rewrite(TABLES, "models.md")
    SCHEMA.parent.mkdir(exist_ok=True)
    SCHEMA.write_text(schema_text(), encoding="utf-8", newline="\n")
