"""A file that one writer at a time appends to; the lock dies with its holder."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import portalocker

from smqopt.errors import InputError, LedgerError

PATIENCE = 30.0
"""Seconds to wait for a lock: writers hold it for milliseconds, and who holds it longer hangs."""
_PAUSE = 0.01
"""Seconds between two tries."""


class LockedFile:
    """A file under lock."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path

    @property
    def identity(self) -> tuple[int, int]:
        """Device and number of the file, whatever its name."""
        status = os.fstat(self._descriptor)
        return status.st_dev, status.st_ino

    def read_from(self, offset: int) -> bytes:
        """Return all bytes from an offset on."""
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        pieces = []
        while piece := os.read(self._descriptor, 1 << 24):
            pieces.append(piece)
        return b"".join(pieces)

    @property
    def size(self) -> int:
        """In bytes."""
        return os.fstat(self._descriptor).st_size

    def append(self, data: bytes) -> None:
        """Write at the end, and come back when it is on disk; or take it back.

        Raises
        ------
        LedgerError
            If the disk does not take it. What was written of it is cut off again: nothing was
            released on it, so that no share is lost to a full disk.
        """
        before = self.size
        left = memoryview(data)
        try:
            os.lseek(self._descriptor, 0, os.SEEK_END)
            while left:
                left = left[os.write(self._descriptor, left) :]
            os.fsync(self._descriptor)
            if before == 0:  # the name of a new file has to be on disk too
                sync_folder(self._path.parent)
        except OSError as error:
            os.ftruncate(self._descriptor, before)
            raise LedgerError(
                str(self._path), f"could not be written ({error.strerror}); it is as it was", remedy="make room"
            ) from error


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked_file(
    path: str | os.PathLike[str], *, write: bool, create: bool = False, patience: float = PATIENCE
) -> Iterator[LockedFile | None]:
    """Open a file and wait for its lock.

    It is `flock` on the file itself, so that no second file can go missing.

    Parameters
    ----------
    path
        The file.
    write
        Whether it is opened for writing, alone; readers share the lock, and need no permission to
        write.
    create
        Whether to make it where it is not there; else None is given.
    patience
        How long to wait, in seconds.

    Raises
    ------
    InputError
        If the file cannot be opened, or is no regular file.
    LedgerError
        If another process holds the lock all the time.
    """
    end = time.monotonic() + patience
    while True:
        descriptor = _open(path, write=write, create=create)
        if descriptor is None:
            yield None
            return
        with os.fdopen(descriptor, "r+b" if write else "rb", buffering=0) as stream:
            kind = portalocker.LockFlags.EXCLUSIVE if write else portalocker.LockFlags.SHARED
            while True:
                try:
                    portalocker.lock(stream, kind | portalocker.LockFlags.NON_BLOCKING)
                    break
                except portalocker.exceptions.LockException as error:
                    if time.monotonic() >= end:
                        raise LedgerError(
                            str(path),
                            f"is held by {_holder(descriptor)}, for {patience:g} s now",
                            remedy="wait for it, or end it",
                        ) from error
                time.sleep(_PAUSE)
            try:
                if _is_at(descriptor, Path(path)):  # else it was replaced while we waited
                    yield LockedFile(descriptor, Path(path).resolve())
                    return
            finally:
                portalocker.unlock(stream)  # also for copies of the descriptor in children


def _open(path: str | os.PathLike[str], *, write: bool, create: bool) -> int | None:
    flags = (os.O_RDWR if write else os.O_RDONLY) | getattr(os, "O_BINARY", 0) | (os.O_CREAT if create else 0)
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # a pipe must not keep us waiting
    try:
        descriptor = os.open(path, flags, 0o644)
    except FileNotFoundError as error:
        if not create:
            return None
        raise InputError(str(path), "cannot be made", remedy=f"check the path: {error.strerror}") from error
    except OSError as error:
        raise InputError(str(path), "cannot be opened", remedy=f"check the path: {error.strerror}") from error
    except ValueError as error:  # a NUL
        raise InputError("ledger: path", "cannot be opened", value=str(path), remedy=f"correct it: {error}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(str(path), "is no regular file", remedy="name a ledger, or a file that is not there")
    return descriptor


def _holder(descriptor: int) -> str:
    """Name the process that holds the lock, where the system tells."""
    status = os.fstat(descriptor)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return "another process"
    numbers = [
        words[4] for words in map(str.split, lines) if len(words) > 5 and words[5] == place and "->" not in words
    ]
    return f"process {numbers[0]}" if numbers else "another process"


def _is_at(descriptor: int, target: Path) -> bool:
    status = os.fstat(descriptor)
    try:
        there = target.stat()
    except FileNotFoundError:
        return False
    return (status.st_dev, status.st_ino) == (there.st_dev, there.st_ino)
