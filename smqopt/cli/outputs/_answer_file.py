"""An answer file: what may be published, and its check against the purchase."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from smqopt.cli.outputs._public_folder import PUBLIC_FOLDER, RELEASE_FILE
from smqopt.errors import CertificateError, InputError, nearest
from smqopt.files import from_json_number, read_json, read_text
from smqopt.mechanism import Outcome
from smqopt.model_files import QUERIES, make_query
from smqopt.query import (
    ESTIMATORS,
    NOISE_LEVEL,
    Answer,
    FittedQuery,
    Ledger,
    PopulationQuery,
    Purchase,
    Value,
    caution,
    checked_share,
    fit,
    is_possible,
    public_record,
)
from smqopt.report import value_in_words

_KEYS = ("value", "query", "n", "bought", "noise_half_width", "noise_level", "noise_unit", "simulation", "note")
_OPTIONAL = ("share", "charge", "ledger_head", "seed")
_AGAIN = "answer again"


def answer_to_dict(answer: Answer, seed: int | None) -> dict[str, Any]:
    """Return what may be published of an answer, and the seed of a simulation."""
    return answer.to_dict() | ({"seed": seed} if seed is not None else {})


def answer_lines(record: Mapping[str, Any]) -> list[str]:
    """Tell an answer in lines for people."""
    told, half_width = value_in_words(record["value"], record["noise_half_width"])
    noise = f"noise at most {half_width} {record['noise_unit']} with probability {record['noise_level']:g}"
    silent = record.get("excluded_owners")
    excluded = [f"silent about {silent} owners who could not be bought"] if silent else []
    spent = [f"spends {record['share']} of every requirement"] if "share" in record else []
    charged = [f"charged in the ledger as {record['charge']}"] if "charge" in record else []
    return [f"{record['query']}: {told}, {noise}", *excluded, *spent, *charged, str(record["note"])]


@dataclass(frozen=True)
class Refitted:
    """A query, fitted again to a purchase."""

    fitted: FittedQuery
    half_width: float
    """The bound on its noise."""
    publish: Callable[[Value], Mapping[str, Any]]
    """What may be published of a value."""


Refit = Callable[[PopulationQuery, Mapping[str, Any], float | None, Fraction], Refitted]
"""Takes a query, the file's content, its variance and its share."""


def check_answer(path: Path, outcome: Outcome, ledger_file: str | None = None) -> list[str]:
    """Check an answer and its release against a purchase, as `check_figures` does."""

    def refit(query: PopulationQuery, content: Mapping[str, Any], variance: float | None, share: Fraction) -> Refitted:
        purchase, estimator = Purchase.of(outcome).at(share), content.get("estimator", "P-E")
        known = isinstance(estimator, str) and (estimator in ESTIMATORS or purchase.inverse is not None)
        if not known:  # of drawn prices `fit` knows the one that may answer
            raise InputError(
                f"{path}: key 'estimator'", "is not known", value=estimator, remedy=nearest(str(estimator), ESTIMATORS)
            )
        fitted = fit(query, purchase, estimator, variance)
        half_width = fitted.half_width(purchase.bought_epsilon, NOISE_LEVEL, outcome.population)
        return Refitted(fitted, half_width, lambda value: public_record(query, fitted, purchase, value, NOISE_LEVEL))

    return check_figures(path, path.parent, outcome.population, outcome.bought, refit, ledger_file)


def check_figures(
    path: Path, folder: Path, population: int, bought: int, refit: Refit, ledger_file: str | None
) -> list[str]:
    """Check an answer file, and what is published of it, against the purchase.

    The value was drawn from private entries: what is checked of it is whether any entries give it.

    Parameters
    ----------
    path, folder
        The file, and the folder of results that it belongs to.
    population, bought
        n and k of the purchase.
    refit
        Fits the query to it.
    ledger_file
        The ledger that holds the charge; None where it is not at hand.

    Returns
    -------
    list of str
        The keys that could not be checked.

    Raises
    ------
    InputError
        If the file cannot be read, or a key is missing, unknown or bad.
    CertificateError
        If a figure is not what the purchase gives, the value is none that the query returns, or the
        ledger holds no such charge.
    """
    content = read_json(path)
    for key in _KEYS:
        if key not in content:
            raise InputError(f"{path}: key {key!r}", "is missing", remedy=_AGAIN)
    value = content["value"]
    for number in value if isinstance(value, list) else [value]:
        if not math.isfinite(from_json_number(number, f"{path}: key 'value'")):
            raise InputError(f"{path}: key 'value'", "must be a finite number", value=value, remedy=_AGAIN)
    share = checked_share(content.get("share", "1"), f"{path}: key 'share'")
    refitted = refit(*_question(path, content), share)
    query, half_width = refitted.fitted, refitted.half_width
    simulation = "seed" in content
    expected = {
        **query.parameters(),
        **query.facts(),
        "n": population,
        "bought": bought,
        "noise_level": NOISE_LEVEL,
        "noise_unit": query.noise_unit,
        "simulation": simulation,
        "noise_half_width": half_width,
        "note": caution(simulation=simulation),
    }
    for key, figure in expected.items():
        if key not in content:
            raise InputError(f"{path}: key {key!r}", "is missing", remedy=_AGAIN)
        if type(content[key]) is not type(figure) or content[key] != figure:
            raise CertificateError(
                f"{path}: key {key!r}", f"the purchase gives {figure!r}", value=content[key], remedy=_AGAIN
            )
    for key in content:
        if key not in (*expected, *_KEYS, *_OPTIONAL):
            raise InputError(f"{path}: key {key!r}", "is unknown", remedy=_AGAIN)
    if not is_possible(query, value, bought, population):
        raise CertificateError(
            f"{path}: key 'value'",
            "no entries of the owners bought give this answer",
            value=value,
            remedy=_AGAIN,
        )
    seed = content.get("seed", 0)
    if type(seed) is not int or seed < 0:
        raise InputError(f"{path}: key 'seed'", "must be a whole number ≥ 0", value=seed, remedy=_AGAIN)
    _check_public(folder, None if simulation else refitted.publish(tuple(value) if isinstance(value, list) else value))
    drawn = ["noise", "seed"] if simulation else ["noise"]  # the value is possible; what was drawn nobody can tell
    return drawn + _check_charge(path, content, ledger_file)


def _check_public(folder: Path, record: Mapping[str, Any] | None) -> None:
    """Check what lies in `public`: copies, and what the answer rounds to."""
    public = folder / PUBLIC_FOLDER
    for copy in sorted(public.iterdir()) if public.is_dir() else ():
        source = folder / copy.name
        if source.is_file() and source.read_bytes() != copy.read_bytes():
            raise CertificateError(str(copy), f"is no copy of {source}", remedy=_AGAIN)
    release = public / RELEASE_FILE
    if not release.is_file():
        return
    if record is None:
        raise CertificateError(
            str(release), "stands beside a simulation, of which nothing is released", remedy="delete it"
        )
    content, text = read_json(release), json.dumps
    for key in {**record, **content}:
        if key not in content or key not in record or text(content[key]) != text(record[key]):  # 1 is not true
            raise CertificateError(
                f"{release}: key {key!r}", "is not what the answer rounds to", value=content.get(key), remedy=_AGAIN
            )


def public_files(folder: Path, answer: Path) -> list[str]:
    """Return an answer file and the release beside it, where there is one."""
    release = Path(PUBLIC_FOLDER) / RELEASE_FILE
    return [str(answer), *([str(release)] if (folder / release).is_file() else [])]


def left_releases(folder: Path, checked: Sequence[str]) -> list[str]:
    """Return releases in a folder that no answer beside them explains."""
    found = (Path(RELEASE_FILE), Path(PUBLIC_FOLDER) / RELEASE_FILE)
    return [str(path) for path in found if str(path) not in checked and (folder / path).is_file()]


def _check_charge(path: Path, content: Mapping[str, Any], ledger_file: str | None) -> list[str]:
    """Look the charge up in the ledger; without one, return what stays unchecked."""
    digits = {"charge": 32, "ledger_head": 64}
    named = [key for key in digits if key in content]
    for key in named:
        if not isinstance(content[key], str) or re.fullmatch(f"[0-9a-f]{{{digits[key]}}}", content[key]) is None:
            raise InputError(f"{path}: key {key!r}", "is no name in a ledger", value=content[key], remedy=_AGAIN)
    if len(named) == 1:
        raise InputError(f"{path}: key {named[0]!r}", "stands without its other half", remedy=_AGAIN)
    if ledger_file is None:
        return named
    if not named:
        raise CertificateError(str(path), "was not charged to a ledger", remedy="leave out --ledger, or answer again")
    number, head = content["charge"], content["ledger_head"]
    share = Fraction(str(content.get("share", "1")))
    charged = any(one.number == number and one.share == share for one in Ledger(ledger_file).charges)
    if not charged or not any(number in line and line.startswith(head) for line in read_text(ledger_file).split("\n")):
        raise CertificateError(
            f"{path}: key 'ledger_head'",
            f"the ledger {ledger_file} holds no such charge",
            value=head,
            remedy="give the ledger that was charged",
        )
    return []


def _question(path: Path, content: Mapping[str, Any]) -> tuple[PopulationQuery, Mapping[str, Any], float | None]:
    """Return the query that a file names, the file's content, and its variance."""
    kind = content["query"]
    if not isinstance(kind, str) or kind not in QUERIES:
        raise InputError(f"{path}: key 'query'", "is not a known query", value=kind, remedy=nearest(str(kind), QUERIES))
    known = QUERIES[kind]
    for name in known.required:
        if name not in content:
            raise InputError(f"{path}: key {name!r}", "is missing", remedy=_AGAIN)
    query = make_query(kind, **{name: content[name] for name in known.parameters if name in content})
    variance = content.get("variance")
    if variance is not None:
        variance = from_json_number(variance, f"{path}: key 'variance'")
    return query, content, variance
