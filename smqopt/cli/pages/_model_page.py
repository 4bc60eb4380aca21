"""The model library and the keys of model files, as the documents show them: `python -m smqopt.cli.pages._model_page docs/models.md` writes both anew."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from smqopt.errors import InputError
from smqopt.files import write_text
from smqopt.market import KINDS, OBJECTIVES
from smqopt.model_files import QUERIES, TABLES, Model, model_files, read_model
from smqopt.valuation import LAWS


def model_table() -> str:
    """Give one row a model: what it teaches, how it ends, and its certified answer."""
    models = [read_model(path) for path in model_files()]
    header = ["model", "shows", "ends", "purchased privacy", "budget price λ"]
    return _table(header, [_row(model) for model in models])


def key_tables() -> str:
    """Give the keys of every table of a model file, from what the readers read."""
    parts = []
    for title, keys in TABLES.values():
        rows = [(f"`{key.name}`", key.kind, key.meaning + (" (needed)" if key.needed else "")) for key in keys]
        parts.append(f"### {title[0].upper()}{title[1:]}\n\n{_table(['key', 'value', 'meaning'], rows)}")
    laws = [(f"`{name}`", _names(example)) for name, (_, _, example) in LAWS.items()]
    parts.append(f"### Laws by name\n\n{_table(['`law`', 'parameters, a number or one a row'], laws)}")
    queries = [
        (f"`{name}`", _names(kind.required), _names(key for key in kind.parameters if key not in kind.required))
        for name, kind in QUERIES.items()
    ]
    parts.append(f"### `[query]`\n\n{_table(['`kind`', 'needed', 'may be left out'], queries)}")
    for title, registry in (("`[objective]`", OBJECTIVES), ("`[[constraint]]`", KINDS)):
        records = [_record(kind, record) for kind, record in registry.items()]
        parts.append(f"### {title}\n\n{_table(['`kind`', 'says', 'needed', 'may be left out'], records)}")
    return "\n\n".join(parts)


TABLE_OF: Mapping[str, Callable[[], str]] = {"models": model_table, "keys": key_tables}
"""Mark in a document → what stands below it."""


def with_tables(text: str) -> str:
    """Replace what stands between `% models` or `% keys` and the next `% end`.

    Raises
    ------
    InputError
        If a mark is missing.
    """
    for mark, made in TABLE_OF.items():
        before, begin, rest = text.partition(f"% {mark}\n")
        _, end, after = rest.partition("% end\n")
        if not (begin and end):
            raise InputError(
                "document", f"must hold the lines '% {mark}' and '% end'", remedy="put them round the table"
            )
        text = f"{before}{begin}\n{made()}\n\n{end}{after}"
    return text


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
    entries = dataclasses.fields(record)
    needed = [entry.name for entry in entries if entry.default is dataclasses.MISSING]
    says = (record.__doc__ or "").splitlines()[0]
    return (f"`{kind}`", says, _names(needed), _names(entry.name for entry in entries if entry.name not in needed))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in (header, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]])


def _names(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


if __name__ == "__main__":
    document = Path(sys.argv[1])
    write_text(document, with_tables(document.read_text(encoding="utf-8")))
