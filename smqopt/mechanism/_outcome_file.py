"""Outcomes on file: one row an owner, checked when they are read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.files import read_csv, write_csv
from smqopt.market import numbers
from smqopt.mechanism._batch import positions_of
from smqopt.mechanism._certificate_gate import check_certificate
from smqopt.mechanism._offers import PostedOffers, posted_offers, recover_offers, wrong_chances
from smqopt.mechanism.payments._payment_rules import WHILE_IT_LASTS
from smqopt.mechanism.payments._payments import checked_rule, payments_of
from smqopt.mechanism.payments._while_it_lasts import spend_in_order
from smqopt.numeric import Floats
from smqopt.verification import Certificate

COLUMNS = ("owner", "epsilon", "threshold", "selected", "payment", "rule", "batch", "batch_size")
STEP_COLUMNS = ("step", "skipped", "money")
"""Three more, by the rule "while-it-lasts"."""
CHANCE_COLUMN = "chance"
"""One more, of random prices."""
_AGAIN = "procure again"


class Columns(NamedTuple):
    """The columns of an outcome, as `Outcome` holds them."""

    owner_ids: tuple[str, ...]
    epsilon: Floats
    thresholds: Floats
    selected: NDArray[np.bool_]
    payments: Floats
    rule: str
    owners: NDArray[np.intp]
    batch: NDArray[np.int64]
    step: NDArray[np.int64] | None = None
    skipped: NDArray[np.bool_] | None = None
    money: float | None = None
    chance: Floats | None = None


def write_outcome(outcome: Columns, path: str | os.PathLike[str]) -> None:
    """Write the columns of an outcome, whole or not at all."""
    sizes = np.bincount(outcome.batch)[outcome.batch]
    columns = [
        outcome.owner_ids,
        outcome.epsilon.tolist(),
        outcome.thresholds.tolist(),
        ["yes" if selected else "no" for selected in outcome.selected.tolist()],
        outcome.payments.tolist(),
        [outcome.rule] * len(outcome.owner_ids),
        outcome.batch.tolist(),
        sizes.tolist(),
    ]
    header: tuple[str, ...] = COLUMNS
    if outcome.step is not None and outcome.skipped is not None:
        columns += [outcome.step.tolist(), ["yes" if skipped else "no" for skipped in outcome.skipped.tolist()]]
        columns.append([outcome.money] * len(outcome.owner_ids))
        header += STEP_COLUMNS
    if outcome.chance is not None:
        columns.append(outcome.chance.tolist())
        header += (CHANCE_COLUMN,)
    write_csv(path, header, zip(*columns, strict=True))


def read_outcome(path: str | os.PathLike[str], certificate: Certificate) -> Columns:
    """Read the columns of an outcome and check them; `Outcome.load` says against what."""
    every = posted_offers(check_certificate(certificate))
    table = read_csv(path)
    for name in COLUMNS:
        if name not in table:
            raise InputError(f"{path}: column {name!r}", "is missing", remedy=nearest(name, table))
    owners = _owners(path, table, every.owner_ids)
    rule = checked_rule(table["rule"][0], f"{path}: column 'rule', row 1")
    _check(path, table, "rule", np.array([text != rule for text in table["rule"]]), "must be one rule for all")
    batch = _batches(path, table)
    selected = np.array([text == "yes" for text in table["selected"]], dtype=np.bool_)
    refused = np.array([text == "no" for text in table["selected"]], dtype=np.bool_)
    found = {name: numbers(table[name], f"{path}: column {name!r}") for name in ("epsilon", "threshold", "payment")}
    shown = every.thresholds.copy()
    shown[owners] = found["threshold"]
    offers = recover_offers(certificate, every, shown).take(owners)
    for name, wrong, text in (
        ("epsilon", found["epsilon"] != offers.epsilon, "must be the requirement in the certified market"),
        ("threshold", found["threshold"] != offers.thresholds, "must be the certified threshold"),
        ("selected", ~(selected | refused), "must be yes or no"),
        ("selected", selected & ~offers.offered, "must be no for an owner without an offer"),
    ):
        _check(path, table, name, wrong, text)
    payments = np.empty(owners.size)
    order = np.argsort(batch, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(batch[order])) + 1):
        payments[members] = payments_of(certificate, rule, offers.take(members), selected[members], owners[members])
    _check(path, table, "payment", found["payment"] != payments, f"must be what the rule {rule!r} pays")
    lasting = rule == WHILE_IT_LASTS.name
    step, skipped, money = _steps(path, table, offers, selected, batch) if lasting else (None, None, None)
    chance = None
    if certificate.solution.random_prices is not None:
        if CHANCE_COLUMN not in table:
            raise InputError(f"{path}: column {CHANCE_COLUMN!r}", "is missing", remedy=_AGAIN)
        chance = numbers(table[CHANCE_COLUMN], f"{path}: column {CHANCE_COLUMN!r}")
        wrong = wrong_chances(certificate, owners, offers.thresholds, selected, chance)
        _check(path, table, CHANCE_COLUMN, wrong, "must be a chance that the certified prices give")
    return Columns(
        offers.owner_ids,
        offers.epsilon,
        offers.thresholds,
        selected,
        payments,
        rule,
        owners,
        batch,
        step=step,
        skipped=skipped,
        money=money,
        chance=chance,
    )


def _steps(
    path: str | os.PathLike[str],
    table: Mapping[str, Sequence[str]],
    offers: PostedOffers,
    selected: NDArray[np.bool_],
    batch: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.bool_], float]:
    """Read the log of a purchase in an order; check that money covered each step."""
    for name in STEP_COLUMNS:
        if name not in table:
            raise InputError(f"{path}: column {name!r}", "is missing", remedy=_AGAIN)
    step, money = (numbers(table[name], f"{path}: column {name!r}") for name in ("step", "money"))
    _check(path, table, "money", ~((money == money[0]) & (money >= 0)), "must be one amount ≥ 0 for all")
    order = np.lexsort((step, batch))
    ranks = np.empty(step.size)
    for members in np.split(order, np.flatnonzero(np.diff(batch[order])) + 1):
        ranks[members] = np.arange(1, members.size + 1)
    _check(path, table, "step", step != ranks, "must be the places 1, 2, … of a batch's order, each once")
    found = spend_in_order(offers, selected, order, float(money[0]), np.empty(0))
    said = np.array(table["skipped"])
    _check(path, table, "skipped", said != np.where(found.skipped, "yes", "no"), "must be what the money left gives")
    _check(path, table, "selected", selected & found.skipped, "must be no for an owner who was passed over")
    return step.astype(np.int64), found.skipped, float(money[0])


def _owners(path: str | os.PathLike[str], table: Mapping[str, Sequence[str]], ids: Sequence[str]) -> NDArray[np.intp]:
    if len(table["owner"]) == len(ids):
        different = np.array(table["owner"]) != np.array(ids)
        _check(path, table, "owner", different, "must be the certified market's owner")
        return np.arange(len(ids), dtype=np.intp)
    owners = positions_of(table["owner"], ids, f"{path}: column 'owner'")
    _check(path, table, "owner", np.append(False, np.diff(owners) < 0), "must be in the order of the market")
    return owners


def _batches(path: str | os.PathLike[str], table: Mapping[str, Sequence[str]]) -> NDArray[np.int64]:
    """Read the batches, numbered from 1, each with as many rows as it says."""
    columns = [numbers(table[name], f"{path}: column {name!r}") for name in ("batch", "batch_size")]
    rows = len(table["owner"])
    for name, column in zip(("batch", "batch_size"), columns, strict=True):
        wrong = ~((column >= 1) & (column <= rows) & (column == np.floor(column)))
        if name == "batch_size":
            wrong &= column != np.floor(column)
        _check(path, table, name, wrong, "must be a whole number from 1 on")
    batch, size = columns[0].astype(np.int64), columns[1]
    counted = np.bincount(batch)
    gaps = np.flatnonzero(counted[1:] == 0)
    if gaps.size:
        raise InputError(f"{path}: column 'batch'", f"has no row of batch {gaps[0] + 1}", remedy=_AGAIN)
    short = np.flatnonzero(counted[batch] != size)
    if short.size:
        k = int(batch[short[0]])
        raise InputError(
            f"{path}: batch {k}",
            f"must have one row for each of its {size[short[0]]:g} owners",
            value=int(counted[k]),
            remedy=_AGAIN,
        )
    return batch


def _check(
    path: str | os.PathLike[str], table: Mapping[str, Sequence[str]], name: str, wrong: NDArray[np.bool_], rule: str
) -> None:
    rows = np.flatnonzero(wrong)
    if rows.size:
        row = int(rows[0])
        raise InputError(
            f"{path}: column {name!r}, row {row + 1} (owner {table['owner'][row]!r})",
            rule,
            value=table[name][row],
            remedy=_AGAIN,
        )
