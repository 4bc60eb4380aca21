"""The certificate: the only thing that opens the mechanism."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, Literal

import flint
import numpy as np

from smqopt._html_table import html_table
from smqopt._version import __version__
from smqopt.errors import InputError, UncertifiedError
from smqopt.files import read_json, to_json_number, write_json
from smqopt.market import (
    PurchasedPrivacy,
    Solution,
    WorstCaseError,
    error_objective,
    solution_from_parts,
    solution_to_dict,
)
from smqopt.numeric import (
    BUDGET_MARGIN,
    BUDGET_SHORTFALL,
    ERROR_GAP,
    GAP,
    HIDDEN_GAP,
    PRICE,
    ROUNDING,
    SIDE_ROW,
    STATIONARITY,
    TANGENT,
    THRESHOLD,
)
from smqopt.verification.certificate._assessment import IF_CDF, assess
from smqopt.verification.certificate._claims import is_agreement, refuse_false_claims, refuse_other_kinds
from smqopt.verification.certificate._content_hash import content_hash
from smqopt.verification.certificate._file_integrity import (
    columns_to_dict,
    digest,
    refuse_other_columns,
)
from smqopt.verification.certificate._provenance import record_claims
from smqopt.verification.certificate._threshold_bounds import ThresholdBounds, threshold_bounds
from smqopt.verification.checks._check import Check
from smqopt.verification.proof._proof import Proof

CERTIFICATE_FILE = "certificate.json"
FORMAT = "smqopt certificate 2"
_TOLERANCES = (
    GAP,
    ERROR_GAP,
    HIDDEN_GAP,
    THRESHOLD,
    PRICE,
    BUDGET_SHORTFALL,
    BUDGET_MARGIN,
    STATIONARITY,
    TANGENT,
    ROUNDING,
    SIDE_ROW,
)


@dataclass(frozen=True, eq=False)
class Certificate:
    """A solution and what was found when it was verified.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> certificate = smq.verify(smq.solve(market, 0.5))
    >>> certificate.valid, certificate.grade, certificate.gap <= certificate.gap_tolerance
    (True, 'proved', True)
    >>> [check.name for check in certificate.checks][:3]
    ['well formed', 'fingerprint', 'support']
    """

    solution: Solution
    checks: tuple[Check, ...]
    lower_bound: float
    """Purchased privacy of the thresholds, rounded down; 0 where they are not feasible. Of another
    objective its value, or where that is to be small the weak-duality bound on every mechanism's,
    rounded down."""
    upper_bound: float
    """Weak-duality bound on every mechanism's purchased privacy, rounded up. Of another objective
    alike; where that is to be small its value for the thresholds, rounded up, and +∞ where they are
    not feasible."""
    gap: float
    """(upper − lower)/upper."""
    fingerprint: str
    """SHA-256 of market, budget, price, status, solver, claim, thresholds and acceptances."""
    gap_tolerance: float = GAP.value
    """The largest gap that passed as valid."""
    proof: Proof | None = None
    """What ball arithmetic encloses; None where it was not asked, or the solution is not valid
    anyway."""
    prove: bool | None = None
    """Whether a proof was asked for: always, never, or (None) where it takes but a moment."""

    @property
    def grade(self) -> Literal["proved", "numerical"]:
        """What stands behind the verdict: "proved" or "numerical".

        Proved: spend ≤ B, thresholds in their supports, regularity and gap are theorems about the
        doubles given. Numerical: they were computed in floating point, with an allowance for
        rounding; `unproved` says why.
        """
        return "proved" if self.valid and self.proof is not None and self.proof.holds else "numerical"

    @property
    def unproved(self) -> tuple[str, ...]:
        """Why the grade is not "proved", one line each; empty where it is."""
        if not self.valid:
            return ("the certificate is not valid",)
        if self.solution.random_prices is not None:
            return ("random prices are verified in doubles",)
        return ("no proof was asked for",) if self.proof is None else self.proof.unproved

    @property
    def condition(self) -> str:
        """Return what every claim begins with.

        It is "if F does not fall" where no proof says so, else "".
        """
        return "" if self.solution.market.valuation.is_proved_cdf().is_proved else IF_CDF

    @property
    def valid(self) -> bool:
        """Whether every required check passed; an undecided one did not."""
        return bool(self.checks) and not any(check.fails for check in self.checks)

    @property
    def privacy_forgone(self) -> float:
        """Return upper minus lower bound, in units of ε or of the objective.

        For thresholds that were made with `lotteries=False` it is the price of forbidding
        lotteries: λ times what they leave of the budget, at most what one tied owner's jump buys.
        It is so to rounding where the hull is known; where nothing but a monotone F bounds what a
        law hides, it is up to 1e-6 of the upper bound more.
        """
        return self.upper_bound - self.lower_bound

    @property
    def error_bound(self) -> float:
        """A bound from below on the root mean squared error of all purchases and weights.

        In units of the answer: of the linear release at the expected sums, or the worst case of all
        random prices at the same noise.

        Raises
        ------
        InputError
            If the solution was made for another objective than an error.
        """
        if not isinstance(self.solution.objective, WorstCaseError):
            error_objective(self.solution.objective)
        return math.sqrt(self.lower_bound) * (1.0 - ROUNDING.value)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not valid: one line for each required check that did not pass."""
        return tuple(check.reason for check in self.checks if check.fails)

    @classmethod
    def of(
        cls,
        solution: Solution,
        against: Solution | None = None,
        gap_tolerance: float | None = None,
        prove: bool | None = None,
    ) -> Certificate:
        """Verify a solution and record what was found; `smq.verify` is this."""
        assessment = assess(solution, against, gap_tolerance, prove)
        return record_claims(
            cls(
                solution=solution,
                checks=assessment.checks,
                lower_bound=assessment.lower_bound,
                upper_bound=assessment.upper_bound,
                gap=assessment.gap,
                fingerprint=content_hash(solution, assessment.market_hash),
                gap_tolerance=assessment.gap_tolerance,
                proof=assessment.proof,
                prove=prove,
            )
        )

    def threshold_bounds(self) -> ThresholdBounds:
        """Enclose each owner's threshold of every optimal answer.

        Thresholds that keep the budget have them even where the gap is too large for a valid
        certificate; then they are not proved.

        Raises
        ------
        UncertifiedError
            If anything but the gap keeps the certificate from being valid, or it is one of a
            program with side constraints or another objective.
        """
        plain = not self.solution.constraints and isinstance(self.solution.objective, PurchasedPrivacy)
        feasible = bool(self.checks) and not any(check.fails and check.name != "gap" for check in self.checks)
        if not (feasible and plain and self.upper_bound < math.inf):
            raise UncertifiedError(
                "threshold bounds",
                "need thresholds of OP2 without side constraints that keep the budget",
                remedy="; ".join(self.reasons) or "solve without side constraints",
            )
        shortfall = math.nextafter(max(self.upper_bound - self.lower_bound, 0.0), math.inf)
        return threshold_bounds(self.solution, shortfall, proved=self.grade == "proved")

    def covers(self, solution: Solution) -> bool:
        """Whether a solution in hand is, to the last bit, the one that was verified."""
        return content_hash(solution) == self.fingerprint

    def to_dict(self) -> dict[str, Any]:
        """Return all that is needed to derive the certificate again."""
        content = {
            "format": FORMAT,
            "valid": self.valid,
            "grade": self.grade,
            "unproved": list(self.unproved),
            "lower_bound": to_json_number(self.lower_bound),
            "upper_bound": to_json_number(self.upper_bound),
            "gap": to_json_number(self.gap),
            "gap_tolerance": self.gap_tolerance,
            "budget": self.solution.budget,
            **self._objective(),
            "checks": [check.to_dict() for check in self.checks if not is_agreement(check)],
            "reasons": list(self.reasons),
            "proof": self.proof.to_dict() if self.proof is not None and self.proof.holds else None,
            "tolerances": [tolerance.to_dict() for tolerance in _TOLERANCES],
            "fingerprint": self.fingerprint,
            "columns": columns_to_dict(self.solution),
            "solution": {
                key: value
                for key, value in solution_to_dict(self.solution).items()
                if key not in ("conflict", "solver")
            },
            "unchecked": {
                "versions": {"smqopt": __version__, "numpy": np.__version__, "python-flint": flint.__version__},
                "agreement": [check.to_dict() for check in self.checks if is_agreement(check)],
                "conflict": list(self.solution.conflict),
                "solver": self.solution.solver,
                "prove": self.prove,
                "tables": list(self.proof.tables) if self.proof is not None and self.proof.holds else [],
            },
        }
        return content | {"digest": digest(content)}

    def _objective(self) -> dict[str, Any]:
        """Return an objective other than OP2's in words, with its value and OP2's."""
        if isinstance(self.solution.objective, PurchasedPrivacy):
            return {}
        return {
            "objective": self.solution.objective.words,
            "objective_value": to_json_number(self.solution.objective_value),
            "purchased_privacy": self.solution.purchased_privacy,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate as JSON, whole or not at all."""
        write_json(path, self.to_dict())

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, thresholds: str | os.PathLike[str], gap_tolerance: float | None = None
    ) -> Certificate:
        """Read a certificate, verify its solution anew, and compare the claims.

        Parameters
        ----------
        path
            `certificate.json`.
        thresholds
            `thresholds.csv` of the same solution.
        gap_tolerance
            The largest gap to accept, as for `verify`; a certificate that was made with another one
            is refused.

        Raises
        ------
        InputError
            If a file cannot be read or lacks a key.
        CertificateError
            If the file claims anything that its own numbers do not say: another verdict, bound,
            budget or fingerprint.
        """
        content = read_json(path)
        for key, kind in (("format", str), ("solution", dict), ("unchecked", dict)):
            if key not in content:
                raise InputError(f"{path}: key {key!r}", "is missing", remedy="verify the solution again")
            if not isinstance(content[key], kind):
                found = type(content[key]).__name__
                raise InputError(f"{path}: key {key!r}", "has the wrong type", value=found, remedy="verify it again")
        if content["format"] != FORMAT:
            raise InputError(
                f"{path}: key 'format'",
                f"must be {FORMAT!r}",
                value=content["format"],
                remedy="verify the solution again",
            )
        unchecked = content["unchecked"]
        refuse_other_kinds(unchecked, str(path))
        said = content["solution"] | {key: unchecked[key] for key in ("conflict", "solver")}
        solution = solution_from_parts(said, thresholds, f"{path}: solution")
        certificate = cls.of(solution, gap_tolerance=gap_tolerance, prove=unchecked["prove"])
        refuse_false_claims(content, certificate.to_dict(), str(path))
        refuse_other_columns(content, solution, thresholds)
        return certificate

    def __bool__(self) -> bool:
        """Refuse to be a truth value: that there is a certificate says nothing."""
        raise TypeError("a certificate is neither true nor false; ask certificate.valid")

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        rows = [
            ("valid", "yes" if self.valid else "no: " + "; ".join(self.reasons)),
            ("grade", self.grade),
            ("at least", self.lower_bound),
            ("at most", self.upper_bound),
            ("gap", self.gap),
            *(
                (check.name, "not checked" if check.passed is None else "passed" if check.passed else "FAILED")
                for check in self.checks
            ),
        ]
        return html_table("Certificate", rows)

    def __repr__(self) -> str:
        verdict = "valid" if self.valid else "not valid: " + "; ".join(self.reasons)
        condition = "" if self.condition == "" else f"{self.condition}, "
        return f"Certificate({condition}{self.grade}, {self.lower_bound:.12g} to {self.upper_bound:.12g}, gap {self.gap:.3g}, {verdict})"
