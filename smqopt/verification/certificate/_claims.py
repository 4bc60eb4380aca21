"""What a certificate claims against what its own numbers give.

Each field is compared, or it is unchecked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smqopt.errors import CertificateError, InputError
from smqopt.files import from_json_number
from smqopt.numeric import RECHECK
from smqopt.verification.checks._check import Check

_AGREEMENT = "agreement with "
"""How the names of checks begin that compare with another route's answer, which no file holds."""
_BOUNDS = ("lower_bound", "upper_bound", "gap")
"""Numbers that may differ by rounding; checks, proof and reasons are compared apart."""
_APART = {"digest", "unchecked", "checks", "proof", "reasons", *_BOUNDS}
_UNCHECKED = {
    "versions": dict,
    "agreement": list,
    "conflict": list,
    "solver": str,
    "prove": bool | None,
    "tables": list,
}
"""What a file may say that is not found again: who wrote it and found the thresholds, another
route's answer, which constraints cannot hold together, whether a proof was asked for, and the
digests of the tables that were read, which another version may make otherwise."""
UNCHECKED = tuple(_UNCHECKED)
"""The names of these fields, which `smqopt verify` prints."""
_IN_CURRENCY = ("budget", "budget spent")
"""Checks whose value is an amount of money."""
_ENCLOSURES = ("purchased_privacy", "spend", "over")
"""Pairs of a proof, the lower number first."""


def is_agreement(check: Check) -> bool:
    """Return whether a check compares with another route's answer.

    Such a check decides nothing.
    """
    return check.name.startswith(_AGREEMENT) and not check.required


def refuse_false_claims(claimed: Mapping[str, Any], found: Mapping[str, Any], where: str) -> None:
    """Compare what a certificate says with what verifying its solution anew gives.

    Bounds and values of checks may differ by rounding, and never by a lower bound above the upper
    one. All else must be the same to the letter, but for what stands under `unchecked`.

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
    _compare_keys(claimed, found, where)
    if not _same(claimed["gap_tolerance"], found["gap_tolerance"]):
        raise CertificateError(
            f"{where}: key 'gap_tolerance'",
            f"is not the one asked for, {found['gap_tolerance']!r}",
            value=claimed["gap_tolerance"],
            remedy="give it as gap_tolerance, or --gap-tolerance, if so far from the best will do",
        )
    for key in ("fingerprint", *(key for key in found if key not in _APART)):  # all else hangs on what is hashed
        if not _same(claimed[key], found[key]):
            raise _refusal(f"{where}: key {key!r}", claimed[key], found[key])
    bounds = {}
    for key in _BOUNDS:
        said, is_so = (from_json_number(side[key], f"{where}: key {key!r}") for side in (claimed, found))
        bounds[key] = said
        if type(claimed[key]) is not type(found[key]) or not _agree(said, is_so, 1.0 if key == "gap" else abs(is_so)):
            raise _refusal(f"{where}: key {key!r}", said, is_so)
    if claimed["valid"] is True and not 0 <= bounds["lower_bound"] <= bounds["upper_bound"]:
        raise _refusal(f"{where}: key 'lower_bound'", bounds["lower_bound"], bounds["upper_bound"])
    if not _alike(claimed["proof"], found["proof"]):
        raise _refusal(f"{where}: key 'proof'", claimed["proof"], found["proof"])
    _compare_checks(claimed, found, where)
    said_reasons = [line for check in claimed["checks"] if (line := Check.from_dict(check).reason)]
    if not _same(claimed["reasons"], said_reasons):
        raise _refusal(f"{where}: key 'reasons'", claimed["reasons"], said_reasons)


def _compare_keys(claimed: Mapping[str, Any], found: Mapping[str, Any], where: str) -> None:
    """Refuse keys that are missing or unknown."""
    for key in found:
        if key not in claimed:
            raise InputError(f"{where}: key {key!r}", "is missing", remedy="verify the solution again")
    for key in claimed:
        if key not in found:
            raise _refusal(f"{where}: key {key!r}", claimed[key], "no such key")
    refuse_other_kinds(claimed["unchecked"], where)


def refuse_other_kinds(unchecked: Any, where: str) -> None:
    """Refuse what is unknown, missing or of another kind under `unchecked`.

    A kind is that of JSON.
    """
    good = isinstance(unchecked, dict) and unchecked.keys() == _UNCHECKED.keys()
    if not good or not all(isinstance(unchecked[key], kind) for key, kind in _UNCHECKED.items()):
        raise _refusal(f"{where}: key 'unchecked'", unchecked, sorted(_UNCHECKED))
    if not all(isinstance(digest, str) for digest in unchecked["tables"]):
        raise _refusal(f"{where}: key 'unchecked'", unchecked["tables"], "digests of tables")
    for check in unchecked["agreement"]:
        good = isinstance(check, dict) and str(check.get("name")).startswith(_AGREEMENT)
        if not good or check.get("required") is not False or check.get("passed") not in (None, False):
            raise _refusal(f"{where}: key 'unchecked'", check, "a comparison that decides nothing")


def _compare_checks(claimed: Mapping[str, Any], found: Mapping[str, Any], where: str) -> None:
    checks = claimed["checks"]
    if not isinstance(checks, list):
        raise InputError(f"{where}: key 'checks'", "must be an array", remedy="verify the solution again")
    names = [check.get("name") if isinstance(check, dict) else None for check in checks]
    if names != (expected := [check["name"] for check in found["checks"]]):
        raise _refusal(f"{where}: key 'checks'", names, expected)
    for claim, check in zip(checks, found["checks"], strict=True):
        name = check["name"]
        if claim.keys() != check.keys():
            raise _refusal(f"{where}: check {name!r}", sorted(claim), sorted(check))
        for key in (key for key in check if key != "value"):
            if not _same(claim[key], check[key]):
                raise _refusal(f"{where}: check {name!r}, key {key!r}", claim[key], check[key])
        value, is_so = (
            from_json_number(side["value"], f"{where}: check {name!r}, key 'value'") for side in (claim, check)
        )
        if claim["passed"] is True and not value <= from_json_number(claim["tolerance"], f"{where}: check {name!r}"):
            raise _refusal(f"{where}: check {name!r}, key 'value'", value, is_so)
        scale = float(found["budget"]) if name in _IN_CURRENCY else 1.0
        if type(claim["value"]) is not type(check["value"]) or not _agree(value, is_so, max(scale, abs(is_so))):
            raise _refusal(f"{where}: check {name!r}, key 'value'", value, is_so)


def _agree(said: float, is_so: float, scale: float) -> bool:
    return said == is_so or abs(said - is_so) <= RECHECK.value * scale


def _same(said: object, is_so: object) -> bool:
    """Return whether two pieces of JSON are the same: 1 is neither 1.0 nor true."""
    said, is_so = (list(side) if isinstance(side, tuple) else side for side in (said, is_so))
    if type(said) is not type(is_so):
        return False
    if isinstance(said, dict) and isinstance(is_so, dict):
        return said.keys() == is_so.keys() and all(_same(said[key], is_so[key]) for key in is_so)
    if isinstance(said, list) and isinstance(is_so, list):
        return len(said) == len(is_so) and all(map(_same, said, is_so))
    return said == is_so


def _alike(said: object, is_so: object) -> bool:
    """Return whether numbers agree up to rounding, and all else to the letter.

    Enclosures agree in order.
    """
    if isinstance(said, dict) and isinstance(is_so, dict):
        ordered = all(_is_enclosure(said.get(key, [0, 0])) for key in _ENCLOSURES)
        return ordered and said.keys() == is_so.keys() and all(_alike(said[key], is_so[key]) for key in is_so)
    if isinstance(said, list) and isinstance(is_so, list):
        return len(said) == len(is_so) and all(map(_alike, said, is_so))
    if isinstance(said, float) and isinstance(is_so, float):
        return _agree(said, is_so, abs(is_so))
    return _same(said, is_so)


def _is_enclosure(pair: object) -> bool:
    match pair:
        case [float() | int() as low, float() | int() as high]:
            return low <= high
    return False


def _refusal(where: str, said: object, is_so: object) -> CertificateError:
    return CertificateError(where, f"its own numbers give {is_so!r}", value=said, remedy="verify the solution again")
