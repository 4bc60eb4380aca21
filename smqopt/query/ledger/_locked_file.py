"""A file that one writer at a time appends to; the lock dies with its holder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import portalocker

from smqopt.errors import InputError


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
        """Write at the end, and come back when it is on disk."""
        new = self.size == 0
        left = memoryview(data)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        while left:
            left = left[os.write(self._descriptor, left) :]
        os.fsync(self._descriptor)
        if new and os.name == "posix":  # the name of a new file has to be on disk too
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


@contextmanager
def locked_file(path: str | os.PathLike[str], *, create: bool) -> Iterator[LockedFile | None]:
    """Open a file and wait for its lock.

    It is `flock` on the file itself, so that no second file can go missing.

    Parameters
    ----------
    path
        The file.
    create
        Whether to make it where it is not there; else None is given.

    Raises
    ------
    InputError
        If the file cannot be opened.
    """
    target = Path(path).resolve()
    while True:
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | (os.O_CREAT if create else 0)
        try:
            descriptor = os.open(target, flags, 0o644)
        except FileNotFoundError as error:
            if not create:
                yield None
                return
            raise InputError(str(path), "cannot be made", remedy=f"check the path: {error.strerror}") from error
        except OSError as error:
            raise InputError(str(path), "cannot be opened", remedy=f"check the path: {error.strerror}") from error
        with os.fdopen(descriptor, "r+b", buffering=0) as stream:
            portalocker.lock(stream, portalocker.LockFlags.EXCLUSIVE)
            try:
                if _is_at(descriptor, target):  # else it was replaced while we waited
                    yield LockedFile(descriptor, target)
                    return
            finally:
                portalocker.unlock(stream)  # also for copies of the descriptor in children


def _is_at(descriptor: int, target: Path) -> bool:
    status = os.fstat(descriptor)
    try:
        there = target.stat()
    except FileNotFoundError:
        return False
    return (status.st_dev, status.st_ino) == (there.st_dev, there.st_ino)
