"""Find the command, and turn errors into one line and an exit code.

Commands live in modules of their own, loaded when they are called, so that `smqopt --help` stays
quick.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence

import click

from smqopt._version import __version__
from smqopt.cli._exit_codes import CHECK_FAILED, INPUT_WRONG, INTERRUPTED
from smqopt.errors import InputError, IrregularLawError, SmqoptError, nearest

COMMANDS: Mapping[str, str] = {
    "run": "Solve a model, verify, buy, answer, and report.",
    "solve": "Find the thresholds of a model.",
    "verify": "Check the files of a folder anew, or thresholds from elsewhere.",
    "audit": "Audit thresholds: best misreports, participation, and what is spent.",
    "procure": "Buy from the owners, under a valid certificate.",
    "answer": "Answer a query from the bought entries.",
    "derive": "Derive the optimal thresholds of a law, in checked steps.",
    "frontier": "Show what each budget would buy, as a table and a figure.",
    "predict": "Predict the error of the answer at each budget, before buying.",
    "explore": "Write a page on which the budget can be moved over the certified frontier.",
    "models": "List the model library, or show one model.",
    "reproduce": "Run the paper's experiments, and check its claims.",
}
"""Name of a command → what it does, in a line."""

_LONGEST_NAME, _LONGEST_LINE = 200, 2_000
_REPORT_EXTRA = ("jinja2", "markupsafe", "latex2mathml")
"""Modules that come with the extra `report`, and not with the package alone."""


def _load(name: str) -> click.Command:
    """Load a command when it is called."""
    match name:
        case "run":
            from smqopt.cli.commands._run_command import run as command  # noqa: PLC0415
        case "solve":
            from smqopt.cli.commands._solve_command import solve as command  # noqa: PLC0415
        case "verify":
            from smqopt.cli.commands._verify_command import verify as command  # noqa: PLC0415
        case "audit":
            from smqopt.cli.commands._audit_command import audit as command  # noqa: PLC0415
        case "procure":
            from smqopt.cli.commands._procure_command import procure as command  # noqa: PLC0415
        case "answer":
            from smqopt.cli.commands._answer_command import answer as command  # noqa: PLC0415
        case "derive":
            from smqopt.cli.commands._derive_command import derive as command  # noqa: PLC0415
        case "frontier":
            from smqopt.cli.commands._frontier_command import frontier as command  # noqa: PLC0415
        case "predict":
            from smqopt.cli.commands._predict_command import predict as command  # noqa: PLC0415
        case "explore":
            from smqopt.cli.commands._explore_command import explore as command  # noqa: PLC0415
        case "models":
            from smqopt.cli.commands._models_command import models as command  # noqa: PLC0415
        case _:
            from smqopt.cli.commands._reproduce_command import reproduce as command  # noqa: PLC0415
    return command


class _LazyGroup(click.Group):
    """A group that loads a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        from smqopt.cli.terminal._time_limit import TIME_LIMIT  # noqa: PLC0415 -- --help stays quick

        command = _load(cmd_name)
        if all(one.name != TIME_LIMIT.name for one in command.params):
            command.params.append(TIME_LIMIT)
        return command

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
    """Buy private data at an auction, with certified thresholds and private answers.

    Exit codes: 0 all well, 1 a check failed, 2 the input is wrong.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    from smqopt.cli.terminal._output import drop_output, open_streams, speak_utf8  # noqa: PLC0415 -- --help stays quick

    speak_utf8()
    open_streams()
    code = run(arguments)
    drop_output()
    sys.exit(code)


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
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if any("\0" in argument for argument in given):
            raise InputError("command line", "holds a NUL character", remedy="leave it out")
        code = cli.main(args=given, prog_name="smqopt", standalone_mode=False)
    except SmqoptError as error:
        wrong = isinstance(error, InputError | IrregularLawError)
        return _refuse(str(error), INPUT_WRONG if wrong else CHECK_FAILED, given)
    except click.ClickException as error:
        return _refuse(error.format_message(), INPUT_WRONG, given)
    except ModuleNotFoundError as error:
        if error.name not in _REPORT_EXTRA:
            raise
        return _refuse(
            f"this needs the extra 'report' (no module {error.name}); run pip install \"smqopt[report]\"",
            INPUT_WRONG,
            given,
        )
    except OSError as error:  # a place that no check before the work could see
        place = "a file or standard output" if error.filename is None else str(error.filename)[:_LONGEST_NAME]
        return _refuse(f"{place}: {error.strerror}", CHECK_FAILED, given)
    except (click.Abort, KeyboardInterrupt):
        from smqopt.cli.terminal._time_limit import CLOCK  # noqa: PLC0415

        if not CLOCK.is_over:
            return _refuse("interrupted", INTERRUPTED, given)
        over = f"command line: took more than {CLOCK.seconds:g} s; raise --time-limit, or leave it out"
        return _refuse(over, CHECK_FAILED, given)
    finally:
        _stop_clock()
    return code if isinstance(code, int) else 0


def _stop_clock() -> None:
    """Stop the clock of `--time-limit`, if one was started."""
    module = sys.modules.get("smqopt.cli.terminal._time_limit")
    if module is not None:
        module.CLOCK.stop()


def _refuse(message: str, code: int, given: Sequence[str]) -> int:
    """Print an error in one line, and for machines as an object."""
    from smqopt.cli.terminal._output import printable, show  # noqa: PLC0415 -- --help stays quick

    line = printable(" ".join(message.split()))
    if len(line) > _LONGEST_LINE:  # a key or a name that is a text by itself
        line = f"{line[: _LONGEST_LINE // 2]} … {line[-_LONGEST_LINE // 2 :]}"
    click.echo(f"smqopt: error: {line}", err=True)
    if "--json" in given:
        with contextlib.suppress(SmqoptError):
            show({"error": line, "code": code}, [], as_json=True)
    return code
