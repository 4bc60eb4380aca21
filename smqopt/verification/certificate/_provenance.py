"""Certificates made in this process and unchanged since."""

from __future__ import annotations

import dataclasses
import hashlib
import weakref
from typing import Any, TypeVar

import numpy as np

C = TypeVar("C")

_RECORDED: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
"""Certificate, by identity → hash of what it claimed when it was made. Copies and replacements are
not here."""


def record_claims(certificate: C) -> C:
    """Note what a new certificate claims, and give it back."""
    _RECORDED[certificate] = _claims(certificate)
    return certificate


def is_unchanged(certificate: object) -> bool:
    """Return whether this very certificate was made here, its claims unchanged."""
    return _RECORDED.get(certificate) == _claims(certificate)


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
