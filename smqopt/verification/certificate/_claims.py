"""What a certificate claims against what its own numbers give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smqopt.errors import CertificateError, InputError
from smqopt.files import from_json_number
from smqopt.numeric import RECHECK

AGREEMENT = "agreement with "
"""How the names of checks begin that compare with another route's answer: no file holds that
answer, so they are not found again."""

_EXACT = ("gap_tolerance", "fingerprint", "valid", "grade", "prove", "budget", "tolerances", "columns")
_BOUNDS = ("lower_bound", "upper_bound", "gap")
_OBJECTIVE = ("objective", "objective_value", "purchased_privacy")
"""Present where the objective is another than OP2's own."""
_OF_A_CHECK = ("passed", "required", "tolerance", "norm", "note")
_IN_CURRENCY = ("budget", "budget spent")
"""Checks whose value is an amount of money."""


def refuse_false_claims(claimed: Mapping[str, Any], found: Mapping[str, Any], where: str) -> None:
    """Compare what a certificate says with what a new verification of its solution gives.

    Verdict, grade, budget, fingerprint, tolerances and all of a check but its value must be equal;
    bounds and values may differ by rounding. A check that compares with another route's answer is
    left alone, if it decides nothing.

    Parameters
    ----------
    claimed, found
        As `Certificate.to_dict` gives them.
    where
        The file or the argument that makes the claim.

    Raises
    ------
    CertificateError
        Naming the first claim that is not found again.
    InputError
        If a claim is not of the right kind.
    """
    for key in _EXACT:
        if key not in claimed or claimed[key] != found[key]:
            raise _refusal(f"{where}: key {key!r}", claimed.get(key, "absent"), found[key])
    for key in _OBJECTIVE:
        if claimed.get(key) != found.get(key):
            raise _refusal(f"{where}: key {key!r}", claimed.get(key, "absent"), found.get(key, "absent"))
    for key in _BOUNDS:
        said, is_so = (from_json_number(side[key], f"{where}: key {key!r}") for side in (claimed, found))
        if not _agree(said, is_so, 1.0 if key == "gap" else abs(is_so)):
            raise _refusal(f"{where}: key {key!r}", said, is_so)
    if not _alike(claimed.get("proof", "absent"), found["proof"]):
        raise _refusal(f"{where}: key 'proof'", claimed.get("proof", "absent"), found["proof"])
    _compare_checks(claimed, found, where)
    said_reasons, reasons = ([_name(reason) for reason in side.get("reasons", ())] for side in (claimed, found))
    if said_reasons != reasons:
        raise _refusal(f"{where}: key 'reasons'", said_reasons, reasons)


def _compare_checks(claimed: Mapping[str, Any], found: Mapping[str, Any], where: str) -> None:
    checks = claimed["checks"]
    if not isinstance(checks, list):
        raise InputError(f"{where}: key 'checks'", "must be an array", remedy="verify the solution again")
    said: dict[str, Mapping[str, Any]] = {}
    for check in checks:
        name = str(check.get("name")) if isinstance(check, dict) else "absent"
        if name in said or not isinstance(check, dict):
            raise _refusal(f"{where}: check {name!r}", "twice, or no object", "one object")
        said[name] = check
    for check in found["checks"]:
        name = check["name"]
        claim = said.pop(name, None)
        if claim is None:
            raise _refusal(f"{where}: check {name!r}", "absent", check["passed"])
        for key in _OF_A_CHECK:
            if key not in claim or claim[key] != check[key]:
                raise _refusal(f"{where}: check {name!r}, key {key!r}", claim.get(key, "absent"), check[key])
        value, is_so = (
            from_json_number(side.get("value"), f"{where}: check {name!r}, key 'value'") for side in (claim, check)
        )
        if claim["passed"] is True and not value <= from_json_number(claim["tolerance"], f"{where}: check {name!r}"):
            raise _refusal(f"{where}: check {name!r}, key 'value'", value, is_so)
        scale = float(found["budget"]) if name in _IN_CURRENCY else 1.0
        if not _agree(value, is_so, max(scale, abs(is_so))):
            raise _refusal(f"{where}: check {name!r}, key 'value'", value, is_so)
    for name, claim in said.items():
        decides = claim.get("required") is not False or claim.get("passed") not in (None, False)
        if not name.startswith(AGREEMENT) or decides:
            raise _refusal(f"{where}: check {name!r}", claim.get("passed"), "no such check")


def _agree(said: float, is_so: float, scale: float) -> bool:
    return said == is_so or abs(said - is_so) <= RECHECK.value * scale


def _alike(said: object, is_so: object) -> bool:
    """Return whether numbers agree up to rounding, and all else to the letter."""
    if isinstance(said, dict) and isinstance(is_so, dict):
        return said.keys() == is_so.keys() and all(_alike(said[key], is_so[key]) for key in is_so)
    if isinstance(said, list) and isinstance(is_so, list):
        return len(said) == len(is_so) and all(map(_alike, said, is_so))
    if isinstance(is_so, float):
        return isinstance(said, (int, float)) and not isinstance(said, bool) and _agree(said, is_so, abs(is_so))
    return type(said) is type(is_so) and said == is_so


def _name(reason: object) -> str:
    return str(reason).split(":", maxsplit=1)[0]


def _refusal(where: str, said: object, is_so: object) -> CertificateError:
    return CertificateError(where, f"its own numbers give {is_so!r}", value=said, remedy="verify the solution again")
