"""The second gate: a query needs an outcome that its certificate allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import UncertifiedError
from smqopt.mechanism._certificate_gate import check_certificate
from smqopt.mechanism._offers import posted_offers, recover_offers, wrong_chances
from smqopt.mechanism._outcome import Outcome


def check_outcome(outcome: Outcome) -> Outcome:
    """Return the outcome, if its certificate allows it.

    Owners, requirements and thresholds are the certified ones, and nobody sold without an offer.

    A requirement that was raised after the purchase would take privacy from its owner; so an answer
    asks here first. Payments are not looked at: no answer depends on them.

    Raises
    ------
    UncertifiedError
        If the certificate does not pass the first gate, or the outcome says anything else than it.
    """
    certificate = check_certificate(outcome.certificate)
    every = posted_offers(certificate)
    owners = outcome.owners
    if not (isinstance(owners, np.ndarray) and owners.ndim == 1 and owners.dtype == np.intp and owners.size):
        raise _refusal("the owners", "")
    if owners[0] < 0 or owners[-1] >= len(every.owner_ids) or np.any(np.diff(owners) <= 0):
        raise _refusal("the owners", ", each once and in their order")
    n = owners.size
    columns = (outcome.epsilon, outcome.thresholds, outcome.selected)
    kinds = (np.dtype(np.float64), np.dtype(np.float64), np.dtype(np.bool_))
    for name, column, kind in zip(("requirements", "thresholds", "selection"), columns, kinds, strict=True):
        if not isinstance(column, np.ndarray) or column.shape != (n,) or column.dtype != kind:
            raise _refusal(f"the {name}", f", in shape ({n},)")
    shown = every.thresholds.copy()
    shown[owners] = outcome.thresholds
    offers = recover_offers(certificate, every, shown).take(owners)
    ids = offers.owner_ids
    if tuple(outcome.owner_ids) != ids:
        raise _refusal("the owners", "")
    for name, wrong in (
        ("requirement", outcome.epsilon != offers.epsilon),
        ("threshold", outcome.thresholds != offers.thresholds),
        ("selection", outcome.selected & ~offers.offered),
    ):
        _refuse_rows(name, wrong, ids)
    if certificate.solution.random_prices is not None:
        chance = outcome.chance
        if not isinstance(chance, np.ndarray) or chance.shape != (n,) or chance.dtype != np.float64:
            raise _refusal("the chances of sale", f", in shape ({n},)")
        wrong = wrong_chances(certificate, owners, outcome.thresholds, outcome.selected, chance)
        _refuse_rows("chance of sale", wrong, ids)
    return outcome


def _refuse_rows(name: str, wrong: NDArray[np.bool_], ids: tuple[str, ...]) -> None:
    rows = np.flatnonzero(wrong)
    if rows.size:
        raise _refusal(f"the {name} of owner {ids[rows[0]]!r}", "")


def _refusal(what: str, rest: str) -> UncertifiedError:
    return UncertifiedError(
        "argument 'outcome'", f"must have {what} that its certificate gives{rest}", remedy="procure again"
    )
