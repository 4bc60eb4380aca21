r"""The ledger: ε_i is spent across queries, and never beyond ε_i.

A release that spends the share s of requirements is ε̂-PDP with ε̂_i ≤ s ε_i. Releases compose:
together they are (Σ ε̂)-PDP, also if a later query depends on earlier answers (Jorgensen, Yu and
Cormode 2015, sequential composition). So an owner is safe if her shares add up to at most 1, which
is exact arithmetic and does not depend on ε_i.

The order of a release is: charge, wait until the charge is on disk, draw, keep the answer beside
the ledger, confirm. A crash leaves a charge without a release, or a release whose charge is there,
and never a release without its charge. A charge counts as spent whether it is confirmed or not; one
that is not confirmed is finished by the next release for the same purpose (`_release_record`).
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError, LedgerError
from smqopt.numeric import Floats, align, plain_array
from smqopt.query.ledger._accounts import Accounts, ChargeRecord, group_key
from smqopt.query.ledger._charge import Charge
from smqopt.query.ledger._journal import Journal
from smqopt.query.ledger._locked_file import PATIENCE, locked_file
from smqopt.query.ledger._release_record import AnswerFolder, Release
from smqopt.query.ledger._shares import Share, checked_share, part_of

EVERYBODY = "(all owners)"
"""One account of all owners of a market, each of whom is charged whenever one is."""
_LONGEST_SHOWN = 40
"""Digits of a denominator that an error shows."""


class Ledger:
    """An append-only file of charges, safe under concurrent writes and crashes.

    It holds owners' public ids and requirements, shares, and what a charge is for; no entry, no
    report, no answer. An owner has one account and one requirement, whatever purchase a release
    draws from.

    Parameters
    ----------
    path
        The file; the first charge makes it. Asking needs no permission to write it.
    patience
        Seconds to wait for a lock that another process holds; then an error names the process.

    Notes
    -----
    What it does not see: a file that was replaced by an older copy, or cut at the end of a line,
    while no `Ledger` had it open (compare `Charge.head` with `head`); a disk that says a line is
    written when it is not; file systems over a network without locks; and releases that are not
    charged.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/ledger.txt")
    >>> charge = ledger.charge(["ann", "bo"], [0.5, 1.0], "1/4", {"query": "count"})
    >>> ledger.confirm(charge)
    >>> ledger.remaining("ann"), ledger.remaining_share("bo"), ledger.remaining_share("cy")
    (Fraction(3, 8), Fraction(3, 4), Fraction(1, 1))
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = PATIENCE) -> None:
        self.path = Path(path)
        self.patience = patience
        self._journal = Journal(self.path)

    # --- charges ----------------------------------------------------------------------------------

    def charge(
        self,
        owner_ids: Sequence[str],
        epsilon: ArrayLike,
        share: Share = 1,
        note: Mapping[str, str | int | float] | None = None,
    ) -> Charge:
        """Charge a share of owners' requirements; on disk when this returns.

        Parameters
        ----------
        owner_ids
            Distinct public names, k ≥ 1.
        epsilon
            Their requirements ε_i ≥ 0, shape (k,).
        share
            In (0, 1]: a fraction, a text such as "1/3" or "0.1", or a float, taken as the double it
            is.
        note
            What the charge is for; public.

        Raises
        ------
        LedgerError
            If an owner has less than the share left, which is said with her name and what she has
            left; or if the file is damaged. Then nothing is charged.
        InputError
            If names repeat, shapes differ, a requirement is not a finite number ≥ 0 or not the one
            in the ledger, or the file cannot be opened.
        """
        return self._charge(owner_ids, epsilon, share, note, secrets.token_hex(16))

    @contextmanager
    def release(
        self,
        owner_ids: Sequence[str],
        epsilon: ArrayLike,
        share: Share = 1,
        note: Mapping[str, str | int | float] | None = None,
        *,
        room: int = 4096,
    ) -> Iterator[Release]:
        """Charge, keep the answer beside the ledger, confirm; or finish a release.

        An unconfirmed charge of the same owners, requirements, share and note is finished, not
        charged again. The charge is confirmed when the block ends without an error.

        Parameters
        ----------
        owner_ids, epsilon, share, note
            As for `charge`.
        room
            Bytes that the answer may need; taken on disk before anything is charged.

        Raises
        ------
        LedgerError, InputError
            As for `charge`; or if there is no room for the answer. Then nothing is charged.
        """
        exact = checked_share(share)
        names, requirements = _owners(owner_ids, epsilon)
        folder = AnswerFolder(self.path)
        with folder.alone(self.patience):
            folder.drop_rooms({charge.number for charge in self.charges if not charge.confirmed})
            number = self._open_charge(group_key(names, requirements), exact, _public(note))
            if number is not None:
                charge = Charge(number, exact, part_of(requirements, exact), self.head)
                if folder.answer_to(number) is None:
                    folder.take_room(number, room)
            else:
                number = secrets.token_hex(16)
                folder.take_room(number, room)
                try:
                    charge = self._charge(names, requirements, exact, note, number)
                except (InputError, LedgerError):  # nothing was charged
                    folder.drop_room(number)
                    raise
            yield Release(folder, charge)
            self.confirm(charge)

    def _open_charge(self, key: str, share: Fraction, note: Mapping[str, Any]) -> str | None:
        """Return the number of a charge of this purpose that nobody confirmed."""
        for charge in self.charges:
            if not charge.confirmed and (charge.group, charge.share, dict(charge.note)) == (key, share, dict(note)):
                return charge.number
        return None

    def _charge(
        self,
        owner_ids: Sequence[str],
        epsilon: ArrayLike,
        share: Share,
        note: Mapping[str, str | int | float] | None,
        number: str,
    ) -> Charge:
        exact = checked_share(share)
        names, requirements = _owners(owner_ids, epsilon)
        key = group_key(names, requirements)
        content = _public(note)
        with locked_file(self.path, write=True, create=True, patience=self.patience) as file:
            assert file is not None  # noqa: S101 -- it was to be made
            journal = self._journal
            journal.read(file)
            self._refuse(key, names, requirements, exact)
            journal.make_ready(file)
            if not journal.accounts.has_group(key):
                group = {"kind": "group", "group": key, "owners": list(names), "epsilon": requirements.tolist()}
                journal.append(file, group)
            part = f"{exact.numerator}/{exact.denominator}"
            journal.append(file, {"kind": "charge", "group": key, "share": part, "charge": number, "note": content})
            return Charge(number, exact, part_of(requirements, exact), journal.head)

    def confirm(self, charge: Charge) -> None:
        """Record that a release was made on a charge.

        Raises
        ------
        InputError
            If the charge is not in this ledger, or confirmed already.
        LedgerError
            If the file is damaged.
        """
        with locked_file(self.path, write=True, patience=self.patience) as file:
            self._journal.read(file)
            known = self._journal.accounts.charges.get(charge.number)
            if file is None or known is None or known.confirmed:
                rule = "is not in this ledger" if known is None else "is confirmed already"
                raise InputError(f"{self.path}: charge {charge.number}", rule, remedy="confirm each charge once")
            self._journal.make_ready(file)
            self._journal.append(file, {"kind": "confirm", "charge": charge.number})

    # --- questions --------------------------------------------------------------------------------

    def remaining_share(self, owner_id: str) -> Fraction:
        """Return the exact share of an owner's requirement that is not spent.

        1 for one who was never charged, and never below 0.
        """
        return max(Fraction(0), 1 - self._current().spent_share(owner_id))

    def remaining(self, owner_id: str) -> Fraction:
        """Return what is left of an owner's requirement, exactly, in units of ε.

        Raises
        ------
        InputError
            If she was never charged: the ledger does not know her requirement.
        """
        accounts = self._current()
        requirement = accounts.requirement(owner_id)
        if requirement is None:
            raise InputError(f"{self.path}: owner {owner_id!r}", "has no account", remedy="she was never charged")
        return Fraction(requirement) * max(Fraction(0), 1 - accounts.spent_share(owner_id))

    @property
    def owner_ids(self) -> tuple[str, ...]:
        """The owners with an account, in the order of their opening."""
        return self._current().owner_ids

    @property
    def charges(self) -> tuple[ChargeRecord, ...]:
        """All charges, in their order; those that were torn are counted, but not listed."""
        return tuple(self._current().charges.values())

    @property
    def head(self) -> str:
        """The hash of the last good line."""
        self._current()
        return self._journal.head

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _refuse(self, key: str, names: Sequence[str], requirements: Floats, share: Fraction) -> None:
        """Raise, if an owner has another requirement, or less than the share left."""
        accounts = self._journal.accounts
        if accounts.owner_ids and (EVERYBODY in names) != (accounts.requirement(EVERYBODY) is not None):
            kept, asked = ("single owners", "all at once") if EVERYBODY in names else ("all at once", "single owners")
            raise LedgerError(
                str(self.path), f"keeps accounts of {kept}, and the release is charged to {asked}",
                remedy="keep another ledger for a market in parts",
            )  # fmt: skip
        conflict = None if accounts.has_group(key) else accounts.conflict(names, requirements)
        if conflict is not None:
            raise InputError(
                f"{self.path}: owner {conflict!r}",
                f"has the requirement {accounts.requirement(conflict)!r} in the ledger, not the one given",
                remedy="an owner has one requirement; keep another ledger for other promises",
            )
        first_excess = accounts.first_excess(key, names, share)
        if first_excess is not None:
            name, left = first_excess
            raise LedgerError(
                f"{self.path}: owner {name!r}",
                f"has {_in_words(left)} of her requirement left, and the release would spend {_in_words(share)}",
                remedy="release less, or leave her out",
            )

    def _current(self) -> Accounts:
        with locked_file(self.path, write=False, patience=self.patience) as file:
            self._journal.read(file)
        return self._journal.accounts


def _owners(owner_ids: Sequence[str], epsilon: ArrayLike) -> tuple[tuple[str, ...], Floats]:
    names = tuple(str(name) for name in owner_ids)
    where = "ledger: argument"
    requirements = plain_array(align(epsilon, names, f"{where} 'epsilon'"), f"{where} 'epsilon'")
    if requirements.dtype.kind not in "iuf":
        raise InputError(f"{where} 'epsilon'", "must hold numbers", value=str(requirements.dtype), remedy="correct it")
    requirements = requirements.astype(np.float64)
    if not names or requirements.shape != (len(names),):
        raise InputError(
            f"{where} 'epsilon'",
            f"must have shape ({len(names)},), not empty",
            value=requirements.shape,
            remedy="correct it",
        )
    if len(set(names)) < len(names):
        again, _ = Counter(names).most_common(1)[0]
        raise InputError(f"{where} 'owner_ids'", "repeats an owner", value=again, remedy="charge each owner once")
    bad = np.flatnonzero(~((requirements >= 0) & (requirements < np.inf)))
    if bad.size:
        raise InputError(
            f"{where} 'epsilon', owner {names[bad[0]]!r}",
            "must be a finite number ≥ 0",
            value=float(requirements[bad[0]]),
            remedy="correct it",
        )
    return names, requirements + 0.0


def _public(note: Mapping[str, str | int | float] | None) -> dict[str, str | int | float]:
    content = dict(note or {})
    for key, value in content.items():
        if (
            not isinstance(key, str)
            or not isinstance(value, (str, int, float))
            or (isinstance(value, float) and not np.isfinite(value))
        ):
            raise InputError(
                "ledger: argument 'note'", "must hold texts and finite numbers", value=str(key), remedy="leave it out"
            )
    return content


def _in_words(share: Fraction) -> str:
    if share.denominator >= 10**_LONGEST_SHOWN:  # shares with many coprime denominators leave thousands of digits
        return f"about {share.numerator / share.denominator:.6g}"
    return "all" if share == 1 else "nothing" if share <= 0 else str(share)
