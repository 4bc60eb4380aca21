"""Laws that third parties bring.

Through the entry-point group `smqopt.valuations`, or by a class that this process has defined.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping
from typing import Any

from smqopt.errors import InputError, nearest
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._external import validate_foreign

GROUP = "smqopt.valuations"
"""The entry-point group: each entry's name is that of a law, its value a subclass of `Valuation`,
or a function that gives a law."""


def third_party_names() -> tuple[str, ...]:
    """Return the names of the laws that entry points bring."""
    return tuple(sorted({entry.name for entry in importlib.metadata.entry_points(group=GROUP)}))


def third_party_law(table: Mapping[str, Any], name: str, known: Iterable[str], where: str) -> Valuation:
    """Make a law of a third party, and run the conformance tests on it.

    It is none of the package's own.

    An entry point of that name comes first, then the newest class of that name that this process
    has defined.

    Parameters
    ----------
    table
        The law as data; all its keys but `law` go to the class as keyword arguments.
    name
        The law's name.
    known
        The names of the package's own laws, to point at in an error.
    where
        What to call the table in an error.

    Raises
    ------
    InputError
        If nothing goes by that name, the entry point cannot be loaded or gives no law, the
        parameters do not fit, or the law fails the conformance tests.
    """
    maker = _from_entry_point(name, where) or _from_this_process(name)
    if maker is None:
        names = (*known, *third_party_names())
        raise InputError(f"{where}: key 'law'", "is not a known law", value=name, remedy=nearest(name, names))
    given = {key: value for key, value in table.items() if key != "law"}
    try:
        law = maker(**given)
    except TypeError as error:
        raise InputError(
            where, f"the {name} law does not take these parameters: {error}", remedy="see its documents"
        ) from error
    if not isinstance(law, Valuation):
        raise InputError(
            where, f"the entry point {name!r} gives no law", value=type(law).__name__, remedy="fix the plug-in"
        )
    validate_foreign(law)
    return law


def _from_entry_point(name: str, where: str) -> Any:
    entries = list(importlib.metadata.entry_points(group=GROUP, name=name))
    if not entries:
        return None
    if len({entry.value for entry in entries}) > 1:
        brought = ", ".join(sorted(entry.value for entry in entries))
        raise InputError(
            f"{where}: key 'law'",
            f"more than one package brings the {name} law: {brought}",
            remedy="uninstall all but one",
        )
    try:
        maker = entries[0].load()
    except (ImportError, AttributeError) as error:
        raise InputError(
            where,
            f"the entry point of the {name} law cannot be loaded: {error}",
            value=entries[0].value,
            remedy="fix the plug-in",
        ) from error
    if not callable(maker):
        raise InputError(
            where, f"the entry point {name!r} gives no law", value=entries[0].value, remedy="fix the plug-in"
        )
    return maker


def _from_this_process(name: str) -> Any:
    """Return the newest class of that name that was defined outside the package."""
    package = __name__.partition(".")[0]
    found, left = None, [Valuation]
    while left:
        cls = left.pop(0)
        left += cls.__subclasses__()
        if cls.name == name and cls.__module__.partition(".")[0] != package:
            found = cls
    return found
