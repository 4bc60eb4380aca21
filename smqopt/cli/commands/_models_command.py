"""`smqopt models`: the model library."""

from __future__ import annotations

from typing import Any

import click

from smqopt.cli.terminal._completion import ModelFile
from smqopt.cli.terminal._options import AS_JSON
from smqopt.cli.terminal._output import show
from smqopt.model_files import Model, model_files, read_model


@click.command()
@click.argument("name", metavar="[NAME]", required=False, type=ModelFile())
@AS_JSON
def models(name: str | None, *, as_json: bool) -> None:
    """List the model library, or show one model.

    NAME is a name of the list, or a file. The answers shown are those that the file states; `smqopt
    solve NAME` finds them anew.
    """
    if name is not None:
        model = read_model(name)
        show(_content(model), _in_full(model), as_json=as_json)
        return
    found = [read_model(path) for path in model_files()]
    show({"models": [_content(model) for model in found]}, _listing(found), as_json=as_json)


def _content(model: Model) -> dict[str, Any]:
    answer = model.answer
    stated = (
        {}
        if answer is None
        else {
            name: None if number is None else number.text
            for name, number in (
                ("purchased_privacy", answer.purchased_privacy),
                ("objective_value", answer.objective_value),
                ("budget_price", answer.budget_price),
                ("least_budget", answer.budget),
            )
        }
    )
    return {
        "name": model.name,
        "title": model.title,
        "teaches": model.teaches,
        "source": model.source,
        "description": model.description,
        "budget": model.budget,
        "constraints": [record.words for record in model.constraints],
        "status": None if answer is None else answer.status.name,
        **stated,
        "file": str(model.path),
    }


def _listing(found: list[Model]) -> list[str]:
    width = max(len(model.name) for model in found)
    statuses = [_status(model) for model in found]
    column = max(len(status) for status in statuses)
    lines = []
    for model, status in zip(found, statuses, strict=True):
        lines.append(f"{model.name.ljust(width)}  {status.ljust(column)}  {model.title}")
        if model.teaches:
            lines.append(f"{' ' * width}  {' ' * column}  {model.teaches}")
    return lines


def _status(model: Model) -> str:
    return "unanswered" if model.answer is None else model.answer.status.name.lower().replace("_", " ")


def _in_full(model: Model) -> list[str]:
    lines = [f"{model.name}: {model.title}"]
    lines += [f"teaches: {model.teaches}"] if model.teaches else []
    lines += [" ".join(model.description.split())] if model.description else []
    lines += [f"budget: {model.budget!r}"] if model.budget is not None else []
    lines += [f"constraint: {record.words}" for record in model.constraints]
    answer = model.answer
    if answer is not None:
        lines.append(f"status: {answer.status}")
        for name, number in (
            ("least budget", answer.budget),
            ("purchased privacy", answer.purchased_privacy),
            ("objective", answer.objective_value),
            ("budget price", answer.budget_price),
        ):
            lines += [] if number is None else [f"{name}: {number.text}"]
    lines += [f"source: {' '.join(model.source.split())}"] if model.source else []
    return [*lines, f"file: {model.path}"]
