"""The gate: only a valid certificate opens the mechanism, by type and content."""

from __future__ import annotations

import math

from smqopt.errors import SmqoptError, UncertifiedError, check_kind
from smqopt.market import Market, Solution
from smqopt.verification import Certificate, Check, Proof, content_hash, is_unchanged, refuse_false_claims

_WHERE = "argument 'certificate'"


def check_certificate(certificate: object, *, market: Market | None = None, budget: float | None = None) -> Certificate:
    """Return the certificate, if it is valid and of what is in hand.

    A certificate that is not, to the bit, what a verification in this process made (a copy, or one
    with a field replaced) is taken for a mere claim: its solution is verified again, and the claim
    must be what comes of it.

    Parameters
    ----------
    certificate
        What is shown at the gate.
    market
        The market in hand; None where there is none but the certificate's.
    budget
        The budget in hand, in currency; None likewise.

    Raises
    ------
    UncertifiedError
        If it is anything but a `Certificate` whose `valid` is True; if its solution, or what it
        says of it, was changed after it was verified; or if it is of another market or budget than
        those in hand.
    """
    if type(certificate) is not Certificate:  # a subclass may say anything
        raise UncertifiedError(
            _WHERE,
            "must be a Certificate",
            value=type(certificate).__name__,
            remedy="verify the solution first, and give what `verify` returns",
        )
    _check_parts(certificate)
    if certificate.valid is not True:
        reasons = " and ".join(certificate.reasons) or "it is not valid"
        raise UncertifiedError(
            _WHERE,
            f"must be valid: {reasons}",
            remedy="solve the market again and verify the new solution",
        )
    if content_hash(certificate.solution) != certificate.fingerprint:
        raise UncertifiedError(
            _WHERE,
            "must cover the solution it holds, which was changed after it was verified",
            remedy="verify the solution again",
        )
    if not is_unchanged(certificate):
        _verify_again(certificate)
    _compare_with_what_is_in_hand(certificate, market, budget)
    return certificate


def _check_parts(certificate: Certificate) -> None:
    """Refuse a certificate whose fields have types that no verification gives."""
    numbers = (certificate.lower_bound, certificate.upper_bound, certificate.gap, certificate.gap_tolerance)
    good = (
        isinstance(certificate.solution, Solution)
        and isinstance(certificate.checks, tuple)
        and all(type(check) is Check for check in certificate.checks)
        and all(isinstance(number, (int, float)) for number in numbers)
        and 0 <= certificate.gap_tolerance <= 1
        and (certificate.proof is None or isinstance(certificate.proof, Proof))
        and (certificate.prove is None or isinstance(certificate.prove, bool))
    )
    if not good:
        raise UncertifiedError(
            _WHERE,
            "must hold a solution, checks, and bounds that are numbers",
            remedy="verify the solution, and give what `verify` returns",
        )


def _verify_again(certificate: Certificate) -> None:
    again = Certificate.of(certificate.solution, gap_tolerance=certificate.gap_tolerance, prove=certificate.prove)
    claimed, found = certificate.to_dict(), again.to_dict()
    try:
        refuse_false_claims(claimed, found, _WHERE)
    except SmqoptError as error:
        raise UncertifiedError(
            _WHERE,
            f"must say what its solution says, and was changed after it was verified: {error}",
            remedy="verify the solution again",
        ) from error


def _compare_with_what_is_in_hand(certificate: Certificate, market: Market | None, budget: float | None) -> None:
    certified_market, certified_budget = certificate.solution.market, certificate.solution.budget
    if market is not None:
        check_kind(market, Market, "argument 'market'", "a Market", "give the market in hand")
    if market is not None and market.content_hash() != certified_market.content_hash():
        raise UncertifiedError(
            _WHERE,
            f"must be of the market in hand: {_difference(market, certified_market)}",
            remedy="solve and verify the market in hand",
        )
    if budget is not None and not (math.isfinite(budget) and budget == certified_budget):
        raise UncertifiedError(
            _WHERE,
            f"must be of the budget in hand, and is of {certified_budget!r}",
            value=budget,
            remedy="solve and verify for the budget in hand",
        )


def _difference(one: Market, other: Market) -> str:
    """Say what differs, for the error."""
    if one.n != other.n:
        return f"it has {other.n} rows, the market in hand {one.n}"
    if one.owner_ids != other.owner_ids:
        row = next(i for i, pair in enumerate(zip(one.owner_ids, other.owner_ids, strict=True)) if pair[0] != pair[1])
        return f"its owner in row {row + 1} is {other.owner_ids[row]!r}, that in hand {one.owner_ids[row]!r}"
    if one.epsilon.tobytes() != other.epsilon.tobytes():
        return "its requirements differ"
    return "its law, multiplicities or groups differ"
