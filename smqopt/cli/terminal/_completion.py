"""What a shell may complete: names of models and laws, and files."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


class ModelFile(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A model: a file, or a name of the library; or a law, where one is asked for."""

    name = "model"

    def __init__(self, *, laws: bool = False) -> None:
        self.laws = laws

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        from smqopt.model_files import model_files  # noqa: PLC0415 -- loaded when a shell asks
        from smqopt.valuation import LAWS  # noqa: PLC0415

        names = [*(LAWS if self.laws else ()), *(file.stem for file in model_files())]
        found = [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")]
