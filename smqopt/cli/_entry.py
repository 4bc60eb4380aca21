"""The entry point: finds the command, and turns errors into one line and an exit code.

Commands live in modules of their own, loaded when they are called, so that `smqopt --help` stays
quick.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence

import click

from smqopt._version import __version__
from smqopt.errors import InputError, IrregularLawError, SmqoptError, nearest

CHECK_FAILED = 1
INPUT_WRONG = 2
_INTERRUPTED = 130

COMMANDS: Mapping[str, str] = {
    "run": "Solve a model, verify, buy, answer, and report.",
    "solve": "Find the thresholds of a model.",
    "verify": "Check the files of a folder anew, or thresholds from elsewhere.",
    "audit": "Audit thresholds: the best lie of each owner, participation, and what is spent.",
    "procure": "Buy from the owners, under a valid certificate.",
    "answer": "Answer a query from the bought entries.",
    "derive": "Derive the optimal thresholds of a law, in checked steps.",
    "frontier": "Show what each budget would buy, as a table and a figure.",
    "predict": "Predict the error of the answer at each budget, before buying.",
    "models": "List the model library, or show one model.",
    "reproduce": "Run the paper's experiments, and judge its claims.",
}
"""Name of a command, and of its module in `smqopt.cli.commands` → what it does, in a line."""

_REPORT_EXTRA = ("jinja2", "markupsafe", "latex2mathml")
"""Modules that come with the extra `report`, and not with the package alone."""


class _LazyGroup(click.Group):
    """A group that loads a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        try:
            module = importlib.import_module(f"smqopt.cli.commands._{cmd_name}_command")
        except ModuleNotFoundError as error:
            if error.name not in _REPORT_EXTRA:
                raise
            raise InputError(
                f"command {cmd_name!r}",
                "needs the extra 'report'",
                value=f"no module {error.name}",
                remedy='run pip install "smqopt[report]"',
            ) from error
        command = getattr(module, cmd_name)
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise InputError(
                "command line", "there is no such command", value=args[0], remedy=nearest(args[0], COMMANDS)
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="smqopt")
def cli() -> None:
    """Buy private data at an auction: thresholds solved and certified, queries answered privately.

    Exit codes: 0 all well, 1 a check failed, 2 the input is wrong.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        What stands after the program's name; by default what the process was given.

    Returns
    -------
    int
        The exit code: 0 all well, 1 a check failed, 2 the input is wrong.
    """
    try:
        code = cli.main(args=None if arguments is None else list(arguments), prog_name="smqopt", standalone_mode=False)
    except (InputError, IrregularLawError) as error:
        return _refused(str(error), INPUT_WRONG)
    except SmqoptError as error:
        return _refused(str(error), CHECK_FAILED)
    except click.ClickException as error:
        return _refused(error.format_message(), INPUT_WRONG)
    except click.Abort:
        return _refused("interrupted", _INTERRUPTED)
    return code if isinstance(code, int) else 0


def _refused(message: str, code: int) -> int:
    click.echo(f"smqopt: error: {' '.join(message.split())}", err=True)
    return code
