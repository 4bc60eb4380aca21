"""What stands in a folder of outputs, verified anew before it is used."""

from __future__ import annotations

from pathlib import Path

from smqopt.cli.outputs._folder import OUTCOME_FILE
from smqopt.errors import CertificateError, InputError
from smqopt.market import SOLUTION_FILE, THRESHOLDS_FILE, Solution
from smqopt.mechanism import Outcome
from smqopt.verification import CERTIFICATE_FILE, Certificate


def load_certificate(folder: Path, gap_tolerance: float | None = None) -> Certificate:
    """Read a folder's certificate, verify it, and compare it with the solution.

    One posted price each may be further from the best than the default tolerance allows: who reads
    it back says by how much it may be.

    Raises
    ------
    InputError
        If a file is missing or cannot be read.
    CertificateError
        If the certificate claims what its numbers do not give, or `solution.json` says something
        else than it.
    """
    if not (folder / CERTIFICATE_FILE).is_file():
        raise InputError(f"{folder}: file {CERTIFICATE_FILE!r}", "is missing", remedy=f"run smqopt verify {folder}")
    certificate = Certificate.load(
        folder / CERTIFICATE_FILE, thresholds=folder / THRESHOLDS_FILE, gap_tolerance=gap_tolerance
    )
    if (folder / SOLUTION_FILE).exists():
        solution = Solution.load(folder)
        same_market = solution.market_fingerprint == certificate.solution.market_fingerprint
        if not (same_market and certificate.covers(solution)):
            raise CertificateError(
                str(folder / SOLUTION_FILE),
                "is not the solution that the certificate covers",
                remedy="solve and verify again",
            )
    return certificate


def load_outcome(folder: Path, certificate: Certificate) -> Outcome:
    """Read a folder's outcome and check it against the certificate.

    Raises
    ------
    InputError
        If the file is missing, cannot be read, or disagrees with the certificate.
    """
    if not (folder / OUTCOME_FILE).is_file():
        raise InputError(f"{folder}: file {OUTCOME_FILE!r}", "is missing", remedy=f"run smqopt procure {folder}")
    return Outcome.load(folder / OUTCOME_FILE, certificate)
