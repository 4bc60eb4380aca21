"""The gate: only a valid certificate opens the mechanism, by type."""

from __future__ import annotations

from smqopt.errors import UncertifiedError
from smqopt.verification.certificate import Certificate

__all__ = ["certified"]


def certified(certificate: object) -> Certificate:
    """Give the certificate back if it is one and it is valid.

    Raises
    ------
    UncertifiedError
        If it is anything but a `Certificate` whose `valid` is True, or its solution was changed after it was judged.
    """
    if not isinstance(certificate, Certificate):
        raise UncertifiedError(
            "argument 'certificate'",
            "must be a Certificate",
            value=type(certificate).__name__,
            remedy="verify the solution first, and give what `verify` returns",
        )
    if certificate.valid is not True:
        reasons = " and ".join(certificate.reasons) or "it is not valid"
        raise UncertifiedError(
            "argument 'certificate'",
            f"must be valid: {reasons}",
            remedy="solve the market again and verify the new solution",
        )
    if not certificate.covers(certificate.solution):
        raise UncertifiedError(
            "argument 'certificate'",
            "must cover the solution it holds, which was changed after it was judged",
            remedy="verify the solution again",
        )
    return certificate
