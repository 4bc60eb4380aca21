"""Certificates that a judgement made in this process, unchanged since; all others are judged again before they open anything."""

from __future__ import annotations

import dataclasses
import hashlib
import weakref
from typing import Any, TypeVar

import numpy as np

C = TypeVar("C")

_SEALED: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
"""Certificate, by identity → hash of what it claimed when it was made. Copies and replacements are
not here."""


def sealed(certificate: C) -> C:
    """Note what a new certificate claims, and give it back."""
    _SEALED[certificate] = _claims(certificate)
    return certificate


def is_sealed(certificate: object) -> bool:
    """Say whether a certificate is the very one that a judgement made, with its claims as they were made. Its solution has a hash of its own."""
    return _SEALED.get(certificate) == _claims(certificate)


def _claims(certificate: Any) -> str:
    digest = hashlib.sha256()
    for field in dataclasses.fields(certificate):
        if field.name != "solution":
            digest.update(f"\n{field.name}\n".encode())
            _feed(digest, getattr(certificate, field.name))
    return digest.hexdigest()


def _feed(digest: Any, value: object) -> None:
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple):
        for item in value:
            _feed(digest, item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            _feed(digest, getattr(value, field.name))
    else:
        digest.update(repr(value).encode() + b"\0")
