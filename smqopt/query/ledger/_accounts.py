"""What has been spent, owner by owner, as exact shares of her requirement."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import LedgerError
from smqopt.numeric import Floats
from smqopt.query.ledger._lines import TornCharge
from smqopt.query.ledger._shares import checked_share

_SMALL = 2**62
"""Sums of shares over a common denominator below this fit 64 bits."""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and 0 < len(value) == len(set(value))


def _are_requirements(value: object) -> bool:
    return isinstance(value, list) and all(type(one) in (int, float) and 0 <= one < math.inf for one in value)


def _is_tail(value: object) -> bool:
    if not isinstance(value, list):
        return value is None
    share = re.compile("[0-9]{1,40}/[0-9]{1,40}")
    return len(value) == 2 and all(map(_is_text, value)) and share.fullmatch(value[1]) is not None


_KEYS: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "group": {"group": _is_text, "owners": _are_names, "epsilon": _are_requirements},
    "charge": {"group": _is_text, "share": _is_text, "charge": _is_text, "note": lambda note: isinstance(note, dict)},
    "confirm": {"charge": _is_text},
    "torn": {"charged": _is_tail},
}
"""What a record of a kind must hold: its hash says who wrote it before whom, not that it is
right."""


def _first_bad_key(record: Mapping[str, Any], keys: Mapping[str, Callable[[Any], bool]]) -> str | None:
    return next((key for key, is_good in keys.items() if key not in record or not is_good(record[key])), None)


@dataclass(frozen=True)
class ChargeRecord:
    """A charge in a ledger."""

    number: str
    """Its name in the ledger."""
    group: str
    share: Fraction
    """The part of every owner's requirement that it spends."""
    note: Mapping[str, Any]
    confirmed: bool
    """Whether a release was recorded after it. It counts as spent either way."""


def group_key(owner_ids: Sequence[str], epsilon: Floats) -> str:
    """Name a group of owners by its content (SHA-256)."""
    content = json.dumps([list(owner_ids), epsilon.tolist()], ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(content.encode("ascii")).hexdigest()


class Accounts:
    """The state of a ledger, built up record by record."""

    def __init__(self) -> None:
        self.charges: dict[str, ChargeRecord] = {}
        self.pending: TornCharge | None = None
        """A charge in a torn tail that no later line has closed yet: counted."""
        self._place: dict[str, int] = {}
        self._epsilon: list[float] = []
        self._groups: dict[str, NDArray[np.intp]] = {}
        self._totals: dict[str, Fraction] = {}

    # --- records in -------------------------------------------------------------------------------

    def take(self, record: Mapping[str, Any], where: str) -> None:
        """Take one record of the ledger.

        Raises
        ------
        LedgerError
            If the record is of no known kind, speaks of an unknown group, or gives an owner a
            second requirement.
        """
        kind = record.get("kind")
        wrong = _first_bad_key(record, _KEYS.get(kind, {}) if isinstance(kind, str) else {})
        if wrong is not None:
            raise _damage(where, f"holds a record of kind {kind!r} without a good {wrong!r}")
        if kind == "group":
            owners, epsilon = record["owners"], np.array(record["epsilon"], dtype=np.float64)
            if len(owners) != epsilon.size:
                raise _damage(where, "names other than as many owners as requirements")
            if record["group"] in self._groups:
                raise _damage(where, "names a group again")
            self.open_group(record["group"], owners, epsilon, where)
        elif kind == "charge":
            share = checked_share(record["share"], where)
            if record["group"] not in self._groups:
                raise _damage(where, "charges a group that is not there")
            self._totals[record["group"]] += share
            number = record["charge"]
            if number in self.charges:
                raise _damage(where, "names a charge again")
            self.charges[number] = ChargeRecord(number, record["group"], share, record["note"], confirmed=False)
        elif kind == "confirm":
            charge = self.charges.get(record["charge"])
            if charge is None:
                raise _damage(where, "confirms a charge that is not there")
            self.charges[charge.number] = ChargeRecord(
                charge.number, charge.group, charge.share, charge.note, confirmed=True
            )
        elif kind == "torn":
            if record["charged"] is not None:
                self._take_tail(*record["charged"])
        else:
            raise _damage(where, f"holds a record of an unknown kind {kind!r}")

    def _take_tail(self, group: str, share: str) -> None:
        """Count a charge that was torn, if it names a group that is there.

        Else it was never on disk whole, nor released.
        """
        if group in self._groups:
            self._totals[group] += _torn_share(share)

    def open_group(self, key: str, owner_ids: Sequence[str], epsilon: Floats, where: str) -> None:
        """Open accounts for those of the owners who have none, and name them as a group."""
        conflict = self.conflict(owner_ids, epsilon)
        if conflict is not None:
            raise _damage(where, f"gives owner {conflict!r} a second requirement")
        places = self._place
        for name, requirement in zip(owner_ids, epsilon.tolist(), strict=True):
            if name not in places:
                places[name] = len(places)
                self._epsilon.append(requirement)
        self._groups[key] = np.array([places[name] for name in owner_ids], dtype=np.intp)
        self._totals[key] = Fraction(0)

    # --- questions --------------------------------------------------------------------------------

    def has_group(self, key: str) -> bool:
        """Whether a group is named already."""
        return key in self._groups

    def conflict(self, owner_ids: Sequence[str], epsilon: Floats) -> str | None:
        """Name an owner whose account is of another requirement; None where there is none."""
        places, held = self._place, self._epsilon
        for name, requirement in zip(owner_ids, epsilon.tolist(), strict=True):
            place = places.get(name)
            if place is not None and held[place] != requirement:
                return name
        return None

    def first_excess(self, key: str, owner_ids: Sequence[str], share: Fraction) -> tuple[str, Fraction] | None:
        """Name the first owner who has less than a share left, and what is left."""
        members = self._groups.get(key)
        if members is None:
            unknown = len(self._place)
            members = np.array([self._place.get(name, unknown) for name in owner_ids], dtype=np.intp)
        numerators, denominator = self._spent(members)
        limit = math.floor((1 - share) * denominator)
        over = np.flatnonzero(numerators > limit)
        if not over.size:
            return None
        first = int(over[0])
        return owner_ids[first], 1 - Fraction(int(numerators[first]), denominator)

    def spent_share(self, owner_id: str) -> Fraction:
        """Return the share of an owner's requirement that is spent."""
        place = self._place.get(owner_id)
        if place is None:
            return Fraction(0)
        numerators, denominator = self._spent(np.array([place], dtype=np.intp))
        return Fraction(int(numerators[0]), denominator)

    def requirement(self, owner_id: str) -> float | None:
        """Return an owner's requirement; None for one who has no account."""
        place = self._place.get(owner_id)
        return None if place is None else self._epsilon[place]

    @property
    def owner_ids(self) -> tuple[str, ...]:
        """All owners with an account, in the order of their opening."""
        return tuple(self._place)

    def _spent(self, members: NDArray[np.intp]) -> tuple[NDArray[Any], int]:
        """Return what each member has spent, over a common denominator."""
        totals = {key: total for key, total in self._totals.items() if total > 0}
        if self.pending is not None and self.pending.group in self._groups:
            group = self.pending.group
            totals[group] = totals.get(group, Fraction(0)) + _torn_share(self.pending.share)
        denominator = math.lcm(*(total.denominator for total in totals.values()))
        parts = {key: total.numerator * (denominator // total.denominator) for key, total in totals.items()}
        spent = np.zeros(len(self._place) + 1, dtype=np.int64 if sum(parts.values()) < _SMALL else object)
        for key, part in parts.items():
            spent[self._groups[key]] += part  # a group names each owner once
        return spent[members], denominator


def _torn_share(share: str) -> Fraction:
    """Read a share; what cannot be one spends all."""
    numerator, denominator = (int(part) for part in share.split("/"))
    return Fraction(numerator, denominator) if denominator > 0 else Fraction(1)


def _damage(where: str, what: str) -> LedgerError:
    return LedgerError(where, what, remedy="restore the file from a copy")
