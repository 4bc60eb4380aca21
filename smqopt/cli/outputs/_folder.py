"""A folder of outputs that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from smqopt.cli.outputs._public_folder import PRIVATE_NOTE, PUBLIC_FOLDER
from smqopt.cli.outputs._reserve import RESERVE_FILE
from smqopt.errors import InputError
from smqopt.files import unwritable
from smqopt.market import SOLUTION_FILE, THRESHOLDS_FILE
from smqopt.verification import CERTIFICATE_FILE

_LONGEST_NAME = 200
OUTCOME_FILE = "outcome.csv"
ANSWER_FILE = "answer.json"
REPORT_FILE = "report.html"
QUESTION_FILE = "question.json"
FRONTIER_FILE = "frontier.csv"
OUTPUTS = (THRESHOLDS_FILE, SOLUTION_FILE, CERTIFICATE_FILE, OUTCOME_FILE, ANSWER_FILE, REPORT_FILE)
"""All files that the command line writes into a folder, in the order of the stages; with a reserve
there is one more, of the first stage."""
OF_A_QUESTION = (QUESTION_FILE, FRONTIER_FILE)
"""Files that a run writes besides, where its model asks a question."""


def check_folder(out: str | os.PathLike[str]) -> None:
    """Check, before any work, that a folder of outputs can be put at `out`.

    Raises
    ------
    InputError
        If `out` is a file, or holds files that are not outputs.
    """
    target = Path(out).absolute()
    where = f"folder {str(out)[:_LONGEST_NAME]!r}"
    _check_place(target, where)
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise InputError(where, "must be a folder, or not be there yet", remedy="choose another name")
    ours = (*OUTPUTS, *OF_A_QUESTION, RESERVE_FILE, PUBLIC_FOLDER, PRIVATE_NOTE)
    strangers = sorted(entry.name for entry in target.iterdir() if entry.name not in ours) if target.exists() else []
    if strangers:
        raise InputError(
            where, "must be new, or hold earlier outputs alone", value=strangers[0], remedy="choose another folder"
        )


def check_files(out: Sequence[str], kinds: Sequence[str], *, option: str = "--out") -> None:
    """Check, before any work, that files can be written, and what they are to hold.

    Raises
    ------
    InputError
        If a name has another ending than `kinds`, or its place takes no file.
    """
    for file in out:
        if Path(file).suffix not in kinds:
            listed = " or ".join(kinds)
            value = file[:_LONGEST_NAME]
            raise InputError(f"option {option!r}", f"must end in {listed}", value=value, remedy="rename it")
        check_file(file)


def check_file(file: str) -> None:
    """Check, before any work, that a file can be written.

    Raises
    ------
    InputError
        If its place takes no file.
    """
    target = Path(file).absolute()
    _check_place(target, f"file {file[:_LONGEST_NAME]!r}")
    if target.is_dir():
        raise InputError(f"file {file!r}", "is a folder", remedy="choose another name")


def check_kept_folder(out: str | os.PathLike[str]) -> None:
    """Check, before any work, that a folder takes files beside those it holds.

    Raises
    ------
    InputError
        If it is no folder, or takes none.
    """
    where = f"folder {str(out)[:_LONGEST_NAME]!r}"
    target = Path(out).absolute()
    if os.path.exists(target) and not target.is_dir():  # noqa: PTH110 -- False, too, for what no name can be
        raise InputError(where, "must be a folder, or not be there yet", remedy="choose another name")
    _check_place(target / "file", where)


def _check_place(target: Path, where: str) -> None:
    """Make a folder where the target is to be, and remove it again."""
    try:
        with contextlib.suppress(FileNotFoundError):
            target.lstat()
        parent = next(place for place in target.parents if place.exists())
        probe = parent / f".{secrets.token_hex(8)}.part"
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise InputError(where, f"cannot be made: {error.strerror}", remedy="choose another place") from error


@contextmanager
def whole_folder(out: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder beside `out`, which replaces it if the body ends well.

    Parameters
    ----------
    out
        The folder to make. If it is there it must hold nothing but earlier outputs, which are
        replaced.

    Raises
    ------
    InputError
        If `out` is a file, holds other files, or cannot be made.
    """
    target = Path(out).absolute()
    check_folder(out)
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        beside.mkdir(parents=True)
    except OSError as error:
        raise unwritable(out, error) from error
    try:
        yield beside
        check_folder(out)
        _put_in_place(beside, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def drop_later(folder: Path, stage_file: str) -> list[str]:
    """Remove the outputs of the stages after the one that wrote `stage_file`.

    Returns
    -------
    list of str
        The names of the files removed.
    """
    later = [name for name in OUTPUTS[OUTPUTS.index(stage_file) + 1 :] if (folder / name).exists()]
    for name in later:
        (folder / name).unlink()
    if stage_file != ANSWER_FILE and (folder / PUBLIC_FOLDER).is_dir():
        shutil.rmtree(folder / PUBLIC_FOLDER)
        later.append(PUBLIC_FOLDER)
    return later


def _put_in_place(beside: Path, target: Path) -> None:
    if not target.exists():
        beside.rename(target)
        return
    old = beside.with_suffix(".old")
    target.rename(old)
    try:
        beside.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old)
