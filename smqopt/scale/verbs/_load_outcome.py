"""Outcomes of markets in parts, read anew from their folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale._certificate import ParquetCertificate
    from smqopt.scale._outcome import ParquetOutcome
    from smqopt.scale.parts._cluster import Progress


def load_outcome(
    certificate: ParquetCertificate, *, client: Client | None = None, progress: Progress | None = None
) -> ParquetOutcome:
    """Read who sold from `private/outcome`, and check it against the certificate.

    Parameters
    ----------
    certificate
        As `load_certificate` or `verify` returned it; the outcome lies in its folder of results.
    client, progress
        As for `verify`.

    Raises
    ------
    UncertifiedError
        If the certificate is not valid.
    InputError
        If a part is missing, or a row is none that the thresholds allow; names part and row.

    Examples
    --------
    >>> import smqopt as smq
    >>> load_outcome(smq.load_certificate("nowhere/certificate.json"))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    smqopt.errors.InputError: nowhere/certificate.json: cannot be read
    """
    from smqopt.scale._load_outcome import load_outcome_of_parts  # noqa: PLC0415 -- loads pyarrow

    return load_outcome_of_parts(certificate, client, progress)
