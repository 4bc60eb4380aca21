"""The outcome of Algorithm 1: who was bought, and what each is paid."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.files import read_csv, write_csv
from smqopt.mechanism.certified import certified
from smqopt.mechanism.offers import posted_offers, redrawn
from smqopt.numeric.sums import exact_sum
from smqopt.program.numbers import numbers
from smqopt.verification.certificate import Certificate

__all__ = ["Outcome"]

Floats = NDArray[np.float64]

COLUMNS = ("owner", "epsilon", "threshold", "selected", "payment")


@dataclass(frozen=True, eq=False)
class Outcome:
    """Who sold and for how much, one entry an owner (N owners: rows counted with their multiplicity).

    Reported valuations are private: the record does not hold them.
    """

    certificate: Certificate
    """The valid certificate of the thresholds."""
    owner_ids: tuple[str, ...]
    """The owners' names; alike owners of one row are `id#1`, `id#2`, …"""
    epsilon: Floats
    """Privacy requirements ε_i, shape (N,)."""
    thresholds: Floats
    """The posted thresholds θ_i*, shape (N,), in currency; θ̲_i where there is no offer."""
    selected: NDArray[np.bool_]
    """Who was bought, shape (N,)."""
    payments: Floats
    """p_i, shape (N,), in currency; 0 to owners who were not bought."""
    rule: str
    """How payments are made: "posted" pays each bought owner her threshold."""

    @property
    def population(self) -> int:
        """The number N of owners in the market."""
        return len(self.owner_ids)

    @property
    def bought(self) -> int:
        """The number |S_c| of owners bought."""
        return int(np.count_nonzero(self.selected))

    @property
    def bought_epsilon(self) -> Floats:
        """The requirements of the owners bought, shape (|S_c|,), in the order of the owners."""
        return self.epsilon[self.selected]

    @property
    def bought_ids(self) -> tuple[str, ...]:
        """The names of the owners bought, in the order of the owners."""
        return tuple(self.owner_ids[i] for i in np.flatnonzero(self.selected).tolist())

    @property
    def total_payment(self) -> float:
        """Σ p_i, in currency, rounded once."""
        return exact_sum(self.payments)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one row an owner: id, requirement, threshold, selected (yes or no), payment; whole or not at all."""
        rows = zip(
            self.owner_ids,
            self.epsilon.tolist(),
            self.thresholds.tolist(),
            ["yes" if selected else "no" for selected in self.selected.tolist()],
            self.payments.tolist(),
            strict=True,
        )
        write_csv(path, COLUMNS, rows)

    @classmethod
    def load(cls, path: str | os.PathLike[str], certificate: Certificate) -> Outcome:
        """Read an outcome that `save` wrote, and check it against the certificate it was made under.

        Parameters
        ----------
        path
            The CSV file.
        certificate
            The valid certificate of its thresholds.

        Raises
        ------
        UncertifiedError
            If the certificate is not valid.
        InputError
            If a column is missing, or a row does not agree with the certificate or with posted payments.
        """
        offers = posted_offers(certified(certificate))
        table = read_csv(path)
        for name in COLUMNS:
            if name not in table:
                raise InputError(f"{path}: column {name!r}", "is missing", remedy=nearest(name, table))
        ids = offers.owner_ids
        if len(table["owner"]) != len(ids):
            raise InputError(
                str(path),
                f"must have one row for each of the {len(ids)} owners",
                value=len(table["owner"]),
                remedy="procure again",
            )
        _check_column(
            path, table, "owner", np.array(table["owner"]) != np.array(ids), "must be the certified market's owner"
        )
        selected = np.array([text == "yes" for text in table["selected"]], dtype=np.bool_)
        refused = np.array([text == "no" for text in table["selected"]], dtype=np.bool_)
        found = {name: numbers(table[name], f"{path}: column {name!r}") for name in ("epsilon", "threshold", "payment")}
        offers = redrawn(certificate, offers, found["threshold"])
        payments = np.where(selected, offers.thresholds, 0.0)
        for name, wrong, rule in (
            ("epsilon", found["epsilon"] != offers.epsilon, "must be the requirement in the certified market"),
            ("threshold", found["threshold"] != offers.thresholds, "must be the certified threshold"),
            ("selected", ~(selected | refused), "must be yes or no"),
            ("selected", selected & ~offers.offered, "must be no for an owner without an offer"),
            ("payment", found["payment"] != payments, "must be the threshold of an owner who was bought, and 0 else"),
        ):
            _check_column(path, table, name, wrong, rule)
        return cls(certificate, ids, offers.epsilon, offers.thresholds, selected, payments, "posted")

    def __repr__(self) -> str:
        bought = f"{self.bought} of {self.population} owners bought for {self.total_payment:.12g}"
        return f"Outcome({bought}, {self.rule} payments)"


def _check_column(
    path: str | os.PathLike[str], table: Mapping[str, Sequence[str]], name: str, wrong: NDArray[np.bool_], rule: str
) -> None:
    rows = np.flatnonzero(wrong)
    if rows.size:
        row = int(rows[0])
        raise InputError(
            f"{path}: column {name!r}, row {row + 1} (owner {table['owner'][row]!r})",
            rule,
            value=table[name][row],
            remedy="procure again",
        )
