"""`smqopt verify`: check thresholds of a folder, and what was made from them."""

from __future__ import annotations

import os
from pathlib import Path

import click

from smqopt.cli._exit_codes import CHECK_FAILED
from smqopt.cli.outputs._answer_file import check_answer, left_releases, public_files
from smqopt.cli.outputs._facts import facts_of
from smqopt.cli.outputs._folder import ANSWER_FILE, OUTCOME_FILE
from smqopt.cli.outputs._load import load_certificate, load_outcome
from smqopt.cli.outputs._reserve import RESERVE_FILE, check_reserve
from smqopt.cli.terminal._completion import ModelFile
from smqopt.cli.terminal._options import AS_JSON, COMPARED, DATA, GAP_TOLERANCE, SEED
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.terminal._progress import work_progress
from smqopt.cli.work._external_thresholds import verify_external
from smqopt.cli.work._parts import lies_in_parts, verify_in_parts
from smqopt.cli.work._second_route import second_route
from smqopt.errors import InputError
from smqopt.market import SOLUTION_FILE, Solution
from smqopt.numeric import long_work
from smqopt.verification import CERTIFICATE_FILE, UNCHECKED, Certificate, verify as certify


@click.command()
@click.argument("place", metavar="DIR|MODEL.toml", type=ModelFile())
@click.option(
    "--thresholds",
    "thresholds_file",
    metavar="FILE",
    help="Verify thresholds from elsewhere: a CSV table with columns owner_id and threshold.",
)
@GAP_TOLERANCE
@DATA
@SEED
@click.option("--ledger", "ledger_file", metavar="FILE", help="Look the charge of answer.json up in this ledger.")
@COMPARED
@AS_JSON
def verify(
    place: str,
    thresholds_file: str | None,
    gap_tolerance: float | None,
    data_file: str | None,
    seed: int | None,
    ledger_file: str | None,
    compare: str,
    *,
    as_json: bool,
) -> int:
    """Check the files of a folder anew, or thresholds from elsewhere.

    Checks thresholds.csv of DIR from its own numbers and compares with certificate.json, or writes
    that file where there is none yet; then checks outcome.csv, answer.json and what public/ holds
    against it, where they are there. With --thresholds checks that table for the market and the
    budget of MODEL.toml, or of DIR: how far it is from optimal, and whether it keeps the budget; no
    file is written. Exit code 1 says that something does not hold.
    """
    if thresholds_file is not None:
        if ledger_file is not None:
            raise InputError("command line", "--ledger does not go with --thresholds", remedy="leave it out")
        return verify_external(place, thresholds_file, gap_tolerance, data_file, seed, as_json=as_json)
    for name, value in (("--data", data_file), ("--seed", seed)):
        if value is not None:
            raise InputError("command line", f"{name} belongs to --thresholds", remedy="leave it out")
    if lies_in_parts(Path(place)):
        if gap_tolerance is not None:
            raise InputError(
                "command line", "--gap-tolerance does not go with owners in Parquet", remedy="leave it out"
            )
        return verify_in_parts(Path(place), ledger_file, as_json=as_json)
    return _verify_folder(Path(place), ledger_file, compare, gap_tolerance, as_json=as_json)


def _verify_folder(
    place: Path, ledger_file: str | None, compare: str, gap_tolerance: float | None, *, as_json: bool
) -> int:
    with quiet_stdout():
        with long_work(work_progress(), os.cpu_count() or 1):
            certificate = _folder_certificate(place, compare, gap_tolerance)
        checked, unchecked = [CERTIFICATE_FILE], list(UNCHECKED)
        if (place / RESERVE_FILE).exists():
            check_reserve(place / RESERVE_FILE, certificate.solution)
            checked.append(RESERVE_FILE)
        if certificate.valid and (place / OUTCOME_FILE).exists():
            outcome = load_outcome(place, certificate)
            checked.append(OUTCOME_FILE)
            if (place / ANSWER_FILE).exists():
                unchecked += check_answer(place / ANSWER_FILE, outcome, ledger_file)
                checked += public_files(place, Path(ANSWER_FILE))
        unchecked += left_releases(place, checked)
    facts, fact_lines = facts_of(certificate.solution) if certificate.valid else ({}, [])
    record = {
        "valid": certificate.valid,
        "reasons": list(certificate.reasons),
        "gap": certificate.to_dict()["gap"],
        "checked": checked,
        "unchecked": unchecked,
        **facts,
    }
    condition = f"{certificate.condition}: " if certificate.condition else ""
    aim = certificate.solution.objective.kind.replace("-", " ")
    lines = [
        f"certificate: {'valid' if certificate.valid else 'not valid'} ({certificate.grade})",
        *(f"  {reason}" for reason in certificate.reasons),
        f"{condition}{aim} {certificate.lower_bound:.12g}, at most {certificate.upper_bound:.12g}, gap {certificate.gap:.3g}",
        *fact_lines,
        f"checked: {', '.join(checked)}",
        f"unchecked: {', '.join(unchecked)}",
    ]
    show(record, lines, as_json=as_json)
    return 0 if certificate.valid else CHECK_FAILED


def _folder_certificate(folder: Path, compare: str, gap_tolerance: float | None) -> Certificate:
    if (folder / CERTIFICATE_FILE).exists():
        return load_certificate(folder, gap_tolerance)
    if not (folder / SOLUTION_FILE).is_file():
        raise InputError(f"{folder}: file {SOLUTION_FILE!r}", "is missing", remedy="run smqopt solve first")
    solution = Solution.load(folder)
    second = second_route(solution.market, solution.budget, solution.records, solution.objective, compare)
    certificate = certify(solution, second.solution, gap_tolerance=gap_tolerance)
    if certificate.solution is not solution:  # thresholds that came without a price
        certificate.solution.save(folder)
    certificate.save(folder / CERTIFICATE_FILE)
    return certificate
