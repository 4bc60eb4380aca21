"""A model whose owners lie in a folder of Parquet, and the folder of its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smqopt.cli._exit_codes import CHECK_FAILED
from smqopt.cli.outputs._answer_file import Refitted, answer_lines, check_figures, left_releases, public_files
from smqopt.cli.outputs._public_folder import PRIVATE_NOTE, PUBLIC_FOLDER, RELEASE_FILE
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.terminal._progress import PartsProgress
from smqopt.errors import InputError
from smqopt.files import read_json, to_json_number, write_json, write_text
from smqopt.market import SOLUTION_FILE, PurchasedPrivacy
from smqopt.model_files import Model, PartsOwners, RandomStreams, read_model
from smqopt.query import Ledger, PopulationQuery
from smqopt.scale import (
    OUTCOME,
    ParquetMarket,
    answer as ask,
    load_certificate,
    load_outcome,
    procure,
    solve,
    verify,
    workers,
)
from smqopt.verification import CERTIFICATE_FILE

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale import ParquetAnswer, ParquetCertificate, ParquetSolution

_ANSWER = Path("private") / "answer.json"
_OURS = {"thresholds", "private", ".work", SOLUTION_FILE, CERTIFICATE_FILE, PUBLIC_FOLDER, PRIVATE_NOTE}
_NOTE = """\
The folder private is the broker's. Do not publish it: it names who sold and for how much, and holds the answer unrounded.
What may be published: thresholds, solution.json and certificate.json, which were fixed before anybody reported, and
public/release.json, whose figures are rounded to a grid that does not depend on who sold.
"""


def solve_in_parts(model: Model, out: str, refused: Mapping[str, Any], *, as_json: bool) -> None:
    """Write `thresholds/part-*.parquet` and `solution.json`."""
    _check(model, out, refused)
    with quiet_stdout(), workers(None) as client:
        solution = _solve(model, out, client, PartsProgress())
    show(_of_solution(solution, out), _lines_of_solution(solution, out), as_json=as_json)


def run_in_parts(
    model: Model,
    out: str,
    refused: Mapping[str, Any],
    *,
    seed: int | None,
    ledger_file: str | None,
    share: str,
    as_json: bool,
) -> None:
    """Solve, verify, buy and answer, part by part; go on where it stopped."""
    owners, query = _owners_of(model), _query_of(model)
    for key in ("reports", "data"):
        if getattr(owners, key) is None:
            raise InputError(model.written.table("owners").where(key), "is missing", remedy="name a folder")
    used = model.seed if seed is None else seed
    streams = None if used is None else RandomStreams.from_seed(used)
    place = Path(out)
    _check(model, out, refused)
    progress = PartsProgress()
    with quiet_stdout(), workers(None) as client:
        solution = _solve(model, out, client, progress)
        certificate = verify(solution, client=client, progress=progress)
        certificate.save(place / CERTIFICATE_FILE)
        assert owners.reports is not None  # noqa: S101 -- looked for above
        assert owners.data is not None  # noqa: S101
        lottery = None if streams is None else streams.lottery
        outcome = procure(certificate, owners.reports, rng=lottery, client=client, progress=progress)

        noise = None if streams is None else streams.noise
        ledger = None if ledger_file is None else Ledger(ledger_file)
        given = ask(
            query, owners.data, outcome, noise, ledger=ledger, share=share,
            deliver=lambda one: _deliver(place, one, used), client=client, progress=progress,
        )  # fmt: skip
        told = given.to_dict()
    show(
        {
            **told,
            "certificate": _verdict(certificate),
            "budget": solution.budget,
            "total_payment": outcome.total_payment,
            "rule": outcome.rule,
            "out": out,
        },
        [
            model.title,
            *_lines_of(certificate),
            f"bought {outcome.bought} of {outcome.population} entries for {outcome.total_payment:.8g}, budget {solution.budget:.8g}",
            *answer_lines(told),
            f"written: {out}",
        ],
        as_json=as_json,
    )


def _deliver(place: Path, answer: Any, seed: int | None) -> None:
    """Write an answer, and what may be published of it: nothing of a simulation."""
    write_json(place / _ANSWER, answer.to_dict() | ({} if seed is None else {"seed": seed}))
    if seed is None:
        write_json(place / PUBLIC_FOLDER / RELEASE_FILE, answer.publish())
        write_text(place / PRIVATE_NOTE, _NOTE)
    else:
        (place / PUBLIC_FOLDER / RELEASE_FILE).unlink(missing_ok=True)


def procure_in_parts(
    place: Path,
    reports: str | None,
    column: str,
    model_file: str | None,
    refused: Mapping[str, Any],
    *,
    seed: int | None,
    as_json: bool,
) -> None:
    """Buy part by part; go on where it stopped."""
    _refuse(refused)
    if (reports is None) == (model_file is None):
        raise InputError(
            "command line", "needs either --reports or --model", remedy="say in which folder the reports are"
        )
    used = seed
    if model_file is not None:
        model = read_model(model_file)
        reports, used = _named_folder(model, "reports"), model.seed if seed is None else seed
    assert reports is not None  # noqa: S101 -- one of the two was given
    progress, lottery = PartsProgress(), None if used is None else RandomStreams.from_seed(used).lottery
    with quiet_stdout(), workers(None) as client:
        certificate = _load_certificate(place, client, progress)
        outcome = procure(certificate, reports, rng=lottery, column=column, client=client, progress=progress)
        removed = [name for name in (_ANSWER, Path(PUBLIC_FOLDER) / RELEASE_FILE) if (place / name).is_file()]
        for name in removed:
            (place / name).unlink()
    show(
        {
            "bought": outcome.bought,
            "n": outcome.population,
            "total_payment": outcome.total_payment,
            "rule": outcome.rule,
            "budget": certificate.solution.budget,
            "removed": [str(name) for name in removed],
        },
        [
            f"bought {outcome.bought} of {outcome.population} entries for {outcome.total_payment:.12g}",
            f"written: {place / OUTCOME}",
            *(f"removed: {place / name}, of an earlier purchase" for name in removed),
        ],
        as_json=as_json,
    )


def answer_in_parts(
    place: Path,
    query: PopulationQuery | None,
    data: str | None,
    column: str,
    model_file: str | None,
    refused: Mapping[str, Any],
    *,
    seed: int | None,
    ledger_file: str | None,
    share: str,
    as_json: bool,
) -> None:
    """Answer from what a folder of parts bought."""
    _refuse(refused)
    used = seed
    if model_file is not None and data is None:
        model = read_model(model_file)
        data, used = _named_folder(model, "data"), model.seed if seed is None else seed
        query = _query_of(model) if query is None else query
    elif data is None or query is None or model_file is not None:
        raise InputError(
            "command line", "needs --data and --query, or --model",
            remedy="say in which folder the entries are, and what to ask",
        )  # fmt: skip
    progress, noise = PartsProgress(), None if used is None else RandomStreams.from_seed(used).noise
    ledger = None if ledger_file is None else Ledger(ledger_file)
    with quiet_stdout(), workers(None) as client:
        certificate = _load_certificate(place, client, progress)
        outcome = load_outcome(certificate, client=client, progress=progress)
        given = ask(
            query, data, outcome, noise, ledger=ledger, share=share, column=column,
            deliver=lambda one: _deliver(place, one, used), client=client, progress=progress,
        )  # fmt: skip
    told = given.to_dict() | ({} if used is None else {"seed": used})
    show(told, [*answer_lines(told), f"written: {place / _ANSWER}"], as_json=as_json)


def _load_certificate(place: Path, client: Client, progress: PartsProgress) -> ParquetCertificate:
    if not (place / CERTIFICATE_FILE).is_file():
        raise InputError(f"{place}: file {CERTIFICATE_FILE!r}", "is missing", remedy=f"run smqopt verify {place}")
    found: ParquetCertificate = load_certificate(place / CERTIFICATE_FILE, client=client, progress=progress)
    return found


def _named_folder(model: Model, key: str) -> str:
    """Return the folder that a model names.

    Raises
    ------
    InputError
        If it names none.
    """
    folder = getattr(model.owners, key) if isinstance(model.owners, PartsOwners) else None
    if folder is None:
        raise InputError(
            model.written.table("owners").where(key), "must name a folder of Parquet files", remedy="add it"
        )
    return str(folder)


def lies_in_parts(place: Path) -> bool:
    """Return whether a folder holds the results of a market in parts."""
    path = place / SOLUTION_FILE
    return path.is_file() and (place / "thresholds").is_dir() and "parts" in read_json(path)


def verify_in_parts(place: Path, ledger_file: str | None, *, as_json: bool) -> int:
    """Verify thresholds part by part; compare with the certificate, or write it.

    What was bought and answered is checked against it.
    """
    from smqopt.scale import ParquetSolution, refit  # noqa: PLC0415 -- loads pyarrow

    path, progress = place / CERTIFICATE_FILE, PartsProgress()
    checked, unchecked = [CERTIFICATE_FILE], []
    with quiet_stdout(), workers(None) as client:
        if path.is_file():
            certificate = load_certificate(path, client=client, progress=progress)
            if certificate.valid and (place / OUTCOME).is_dir():
                outcome = load_outcome(certificate, client=client, progress=progress)
                checked.append(str(OUTCOME))
                if (place / _ANSWER).is_file():
                    unchecked += check_figures(
                        place / _ANSWER, place, outcome.population, outcome.bought,
                        lambda query, _, v, share: _again(refit(query, outcome, v, share, client, progress)),
                        ledger_file,
                    )  # fmt: skip
                    checked += public_files(place, _ANSWER)
        else:
            certificate = verify(ParquetSolution.load(place), client=client, progress=progress)
            certificate.save(path)
    unchecked = [*certificate.to_dict()["unchecked"], *unchecked, *left_releases(place, checked)]
    told = {"reasons": list(certificate.reasons), "root": certificate.root, "checked": checked, "unchecked": unchecked}
    lines = [f"root of the parts: {certificate.root}", f"checked: {', '.join(checked)}"]
    lines.append(f"unchecked: {', '.join(unchecked)}")
    show(_verdict(certificate) | told, [*_lines_of(certificate), *lines], as_json=as_json)
    return 0 if certificate.valid else CHECK_FAILED


def _again(answer: ParquetAnswer) -> Refitted:
    return Refitted(answer.asked, answer.noise_half_width(), lambda value: replace(answer, value=value).publish())


def _owners_of(model: Model) -> PartsOwners:
    assert isinstance(model.owners, PartsOwners)  # noqa: S101 -- callers ask first
    return model.owners


def _query_of(model: Model) -> PopulationQuery:
    if model.query is None:
        raise InputError(model.written.where("query"), "is missing", remedy='add [query] with kind = "count", say')
    return model.query


def _check(model: Model, out: str, refused: Mapping[str, Any]) -> None:
    _refuse(refused)
    if model.question is not None or not isinstance(model.objective, PurchasedPrivacy) or model.budget is None:
        key = "question" if model.question is not None else "objective"
        raise InputError(
            model.written.where(key), "is not supported for owners in Parquet",
            remedy="leave it out, or read the owners into memory",
        )  # fmt: skip
    place = Path(out)
    strangers = sorted({path.name for path in place.iterdir()} - _OURS) if place.is_dir() else []
    if strangers or (place.exists() and not place.is_dir()):
        raise InputError(
            f"folder {out!r}", "must be new, or hold earlier outputs alone", value=(strangers or [out])[0],
            remedy="choose another folder",
        )  # fmt: skip


def _refuse(options: Mapping[str, Any]) -> None:
    for option, value in options.items():
        if value not in (None, False):
            raise InputError(f"option '--{option}'", "is not supported for owners in Parquet", remedy="leave it out")


def _solve(model: Model, out: str, client: Client, progress: PartsProgress) -> ParquetSolution:
    owners = _owners_of(model)
    with model.written.table("owners").locate_errors():
        market = ParquetMarket(
            owners.folder, model.valuation,  # type: ignore[arg-type]  # a copula was refused when it was read
            epsilon=owners.epsilon, owner_id=owners.ids, groups=owners.groups, unique_ids=owners.unique_ids,
        )  # fmt: skip
    assert model.budget is not None  # noqa: S101 -- looked for before
    found: ParquetSolution = solve(
        market, model.budget, constraints=model.constraints, out=Path(out), client=client, progress=progress
    )
    return found


def _of_solution(solution: ParquetSolution, out: str) -> dict[str, Any]:
    return {
        "status": solution.status.name,
        "budget": solution.budget,
        "budget_price": to_json_number(solution.budget_price),
        "purchased_privacy": solution.purchased_privacy,
        "spend": solution.total_spend,
        "owners": solution.rows,
        "parts": len(solution.parts),
        "out": out,
    }


def _lines_of_solution(solution: ParquetSolution, out: str) -> list[str]:
    return [
        f"{solution.status.name.lower().replace('_', ' ')}: {solution.status}",
        f"budget price {solution.budget_price:.12g}, spend {solution.total_spend:.12g} of {solution.budget:.12g}",
        f"purchased privacy {solution.purchased_privacy:.12g} of {solution.rows} owners in {len(solution.parts)} parts, not verified yet",
        f"written: {out}",
    ]


def _verdict(certificate: ParquetCertificate) -> dict[str, Any]:
    content = certificate.to_dict()
    return {key: content[key] for key in ("valid", "grade", "lower_bound", "upper_bound", "gap")}


def _lines_of(certificate: ParquetCertificate) -> list[str]:
    bounds = f"{certificate.lower_bound:.12g}, at most {certificate.upper_bound:.12g}, gap {certificate.gap:.3g}"
    return [
        f"certificate: {'valid' if certificate.valid else 'not valid'} ({certificate.grade}), {len(certificate.parts)} parts",
        *(f"  {reason}" for reason in certificate.reasons),
        f"purchased privacy {bounds}",
    ]
