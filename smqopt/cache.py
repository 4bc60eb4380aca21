"""Where what takes long to make is kept on disk, and whether it is.

The folder is the one that `set_cache` was given, else that of the environment variable
SMQOPT_CACHE, empty for none, else `smqopt` where the platform keeps such things. Without a place
that can be written to nothing is kept, and everything works as well.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

from smqopt._version import __version__
from smqopt.errors import InputError, SmqoptError
from smqopt.files import write_bytes

__all__ = ["cache_folder", "hash_of_sources", "keep_file", "read_kept", "set_cache", "warn_of_damage"]

MOST_FILES = 1_000
"""Of more entries in a room of the cache the oldest are deleted."""
_HASH = hashlib.sha256().digest_size * 2
_ASKED: dict[str, Path | bool | None] = {}
"""What `set_cache` was told."""
_SAID: set[Path] = set()
"""Entries of which it was said that they are damaged."""


def set_cache(folder: str | os.PathLike[str] | None, *, observed: bool = False) -> None:
    """Keep derivations and tables of laws in a folder, for this process; or nowhere.

    Without this call the folder is that of the environment variable SMQOPT_CACHE, empty for none,
    else `smqopt` in XDG_CACHE_HOME or ~/.cache, in ~/Library/Caches (macOS), or in LOCALAPPDATA
    (Windows).

    Parameters
    ----------
    folder
        Where to keep them, made when something is; None for nowhere.
    observed
        Whether to keep tables of laws with lists of values or of edges, too, which may be observed
        valuations, as those of `from_samples` are.

    Raises
    ------
    InputError
        If the folder is no path.

    Examples
    --------
    >>> import smqopt as smq
    >>> smq.set_cache(None)
    """
    if folder is not None and not _is_path(folder):
        raise InputError("set_cache: argument 'folder'", "must be a path", value=folder, remedy="give None for none")
    if not isinstance(observed, bool):
        raise InputError(
            "set_cache: argument 'observed'", "must be True or False", value=observed, remedy="leave it out"
        )
    _ASKED.update(folder=None if folder is None else Path(folder), observed=observed)


def _is_path(folder: object) -> bool:
    """Return whether files can be made in a folder of this name."""
    try:
        name = os.fspath(folder)  # type: ignore[call-overload]
        return isinstance(name, str) and bool(name) and "\0" not in name and bool(os.fsencode(name))
    except (TypeError, UnicodeEncodeError):
        return False


def cache_folder(room: str, *, observed: bool = False) -> Path | None:
    """Return the folder of one kind of entries; None where they are not to be kept.

    Parameters
    ----------
    room
        The kind of entries, in a word.
    observed
        Whether they may tell observed valuations.
    """
    if observed and not _ASKED.get("observed"):
        return None
    root = _ASKED["folder"] if "folder" in _ASKED else _folder_of_environment(os.environ)
    return root / room if isinstance(root, Path) else None


def _folder_of_environment(environment: Mapping[str, str]) -> Path | None:
    given = environment.get("SMQOPT_CACHE")
    if given is not None:
        return Path(given) if given else None
    try:
        home = Path.home()
    except RuntimeError:  # there is none
        return None
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "smqopt" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "smqopt"
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "smqopt"


def keep_file(path: Path, content: bytes) -> None:
    """Write an entry whole, its hash first; where it cannot be written, do nothing."""
    try:
        write_bytes(path, hashlib.sha256(content).hexdigest().encode() + content)
        entries = [entry for entry in path.parent.iterdir() if entry.suffix == path.suffix]
        if len(entries) > MOST_FILES:
            for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime)[:-MOST_FILES]:
                entry.unlink(missing_ok=True)
    except (OSError, SmqoptError):  # what is not kept is made anew the next time
        return


def read_kept(path: Path) -> bytes | None:
    """Read an entry; None where there is none, or, with a warning, a damaged one."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    said, rest = content[:_HASH], content[_HASH:]
    if said == hashlib.sha256(rest).hexdigest().encode():
        return rest
    warn_of_damage(path)
    return None


def warn_of_damage(path: Path) -> None:
    """Warn, once an entry, that it is not what was written."""
    if path not in _SAID:
        _SAID.add(path)
        warnings.warn(f"{path}: was damaged or changed; it is not used, and is made anew", RuntimeWarning, stacklevel=2)


@functools.lru_cache(maxsize=8)
def hash_of_sources(packages: tuple[str, ...], libraries: tuple[str, ...]) -> str | None:
    """Hash our version, the sources of some packages, and the versions of libraries.

    None where a library does not tell its version: what was made by it cannot be told from stale.
    """
    root = Path(__file__).resolve().parent
    digest = hashlib.sha256(f"smqopt {__version__}\n".encode())
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    try:
        for library in libraries:
            digest.update(f"{library} {importlib.metadata.version(library)}\n".encode())
    except importlib.metadata.PackageNotFoundError:
        return None
    return digest.hexdigest()
