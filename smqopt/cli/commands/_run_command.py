"""`smqopt run`: the whole road, from a model file to an answer and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from smqopt.cli.outputs._answer_file import answer_lines, answer_to_dict
from smqopt.cli.outputs._facts import facts_of
from smqopt.cli.outputs._folder import (
    ANSWER_FILE,
    OUTCOME_FILE,
    REPORT_FILE,
    check_folder,
    check_kept_folder,
    whole_folder,
)
from smqopt.cli.outputs._public_folder import write_public
from smqopt.cli.outputs._reserve import RESERVE_FILE, reserve_lines
from smqopt.cli.terminal._options import (
    AS_JSON,
    COMPARED,
    DATA,
    LEDGER,
    MODEL,
    OUT,
    PAYMENTS,
    RESERVE,
    SEED,
    SHARE,
)
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.terminal._progress import Progress
from smqopt.cli.work._ask_question import answer_question
from smqopt.cli.work._frontier_points import frontier_of
from smqopt.cli.work._parts import run_in_parts
from smqopt.cli.work._second_route import second_route
from smqopt.cli.work._solve_model import solve_model
from smqopt.derivation import derive_within
from smqopt.files import write_json, write_text
from smqopt.market import PurchasedPrivacy
from smqopt.mechanism import POSTED, WHILE_IT_LASTS, procure
from smqopt.model_files import Instance, PartsOwners, make_instance, read_model
from smqopt.query import Answer, Ledger, answer as ask
from smqopt.report import RunRecord, compare_routes
from smqopt.verification import CERTIFICATE_FILE, Certificate, verify

_STAGES = 7
_CALLS = 3_000_000
"""What a report spends on its derivation: two or three seconds.

Beyond, claims are undecided; `smqopt derive` goes on."""


@click.command()
@MODEL
@OUT
@DATA
@PAYMENTS
@RESERVE
@LEDGER
@SHARE
@COMPARED
@SEED
@AS_JSON
def run(
    model_file: str,
    out: str,
    data_file: str | None,
    payments: str | None,
    reserve: float | None,
    ledger_file: str | None,
    share: str,
    compare: str,
    seed: int | None,
    *,
    as_json: bool,
) -> None:
    """Solve a model, verify, buy, answer, and report.

    MODEL is a file, or a name that `smqopt models` lists. Writes thresholds.csv, solution.json,
    certificate.json, outcome.csv, answer.json and report.html into DIR, all or none; and
    question.json, where the model asks one (for the frontier with frontier.csv). With --reserve
    also reserve.json. Owners in a folder of Parquet are handled part by part, and a run that was
    stopped goes on where it stopped: thresholds/, private/outcome/ and one certificate.json.
    """
    check_kept_folder(out)
    model = read_model(model_file)
    if isinstance(model.owners, PartsOwners):
        paid = None if payments in (None, POSTED.name) else payments
        refused = {
            "reserve": reserve,
            "data": data_file,
            "payments": paid,
            "compare": None if compare == "auto" else compare,
        }
        run_in_parts(model, out, refused, seed=seed, ledger_file=ledger_file, share=share, as_json=as_json)
        return
    from smqopt.report import run_report  # noqa: PLC0415 -- comes with an extra, that --help does not need

    check_folder(out)
    progress = Progress(_STAGES)
    with quiet_stdout():
        with progress.stage("read"):
            instance = make_instance(model, seed=seed, data_file=data_file)
            query = instance.needed_query
            reports, data = instance.require("reports"), instance.require("data")
        with progress.stage("derive"):
            laws = instance.market.valuation.parts()
            derivation = (
                derive_within(instance.market.valuation, _CALLS) if all(law.formula for law, _ in laws) else None
            )
        with progress.stage("solve"):
            solution, held = solve_model(instance, reserve)
        with progress.stage("verify"):
            second = second_route(
                instance.market,
                solution.budget,
                instance.model.constraints,
                solution.objective,
                "no" if instance.model.options else compare,  # the conic route draws between prices
            )
            certificate = verify(solution, second.solution)
            asked = answer_question(instance)
            frontier = frontier_of(solution) if isinstance(solution.objective, PurchasedPrivacy) else None
        owners = instance.model.written.table("owners")
        with progress.stage("procure"), owners.locate_errors():
            rule = payments or instance.payments
            outcome = procure(
                certificate,
                reports,
                rule,
                rng=instance.lottery,
                money=instance.money if rule == WHILE_IT_LASTS.name else None,
            )

        def publish(given: Answer) -> None:
            with progress.stage("report"):
                report = run_report(
                    RunRecord(
                        title=instance.model.title,
                        provenance=_provenance(instance),
                        certificate=certificate,
                        derivation=derivation,
                        outcome=outcome,
                        answer=given,
                        description=instance.model.description,
                        seed=instance.seed,
                        exact_law=None if instance.seed is None else given.drawable_law(),
                        routes=compare_routes(solution, derivation, second.solution, second.note),
                        frontier=frontier,
                        question=None if asked is None else asked.shown,
                    )
                )
                with whole_folder(out) as folder:
                    solution.save(folder)
                    if held is not None:
                        write_json(folder / RESERVE_FILE, held.to_dict())
                    certificate.save(folder / CERTIFICATE_FILE)
                    if asked is not None:
                        asked.save(folder)
                    outcome.save(folder / OUTCOME_FILE)
                    write_json(folder / ANSWER_FILE, answer_to_dict(given, instance.seed))
                    write_public(folder, solution, given)
                    write_text(folder / REPORT_FILE, report)

        with progress.stage("answer"), owners.locate_errors():
            ledger = None if ledger_file is None else Ledger(ledger_file)
            entries = data[outcome.selected]
            # The charge is confirmed when the folder is written: a full disk loses no answer.
            given = ask(query, entries, outcome, rng=instance.noise, ledger=ledger, share=share, deliver=publish)
        told = answer_to_dict(given, instance.seed)
    facts, fact_lines = facts_of(solution)
    show(
        {
            **told,
            **facts,
            "certificate": _verdict(certificate),
            "compared_with": "conic" if second.solution is not None else f"nothing: {second.note}",
            "budget": solution.budget,
            "money": outcome.money,
            "total_payment": outcome.total_payment,
            "rule": outcome.rule,
            **({} if held is None else {"reserve": held.to_dict()}),
            **({} if asked is None else {"question": asked.content}),
            "out": str(Path(out)),
        },
        [
            instance.model.title,
            f"certificate: valid ({certificate.grade}), {solution.objective.kind.replace('-', ' ')} {certificate.lower_bound:.12g}, gap {certificate.gap:.3g}",
            f"compared with the conic route: {f'no: {second.note}' if second.note else 'yes'}",
            f"bought {outcome.bought} of {outcome.population} entries for {outcome.total_payment:.8g}, budget {outcome.budget:.8g}",
            *fact_lines,
            *reserve_lines(held),
            f"payments: {outcome.rule}: {outcome.meaning}",
            *(f"note: {caveat}" for caveat in outcome.caveats),
            *([] if asked is None else asked.lines),
            *answer_lines(told),
            f"report: {Path(out) / REPORT_FILE}",
        ],
        as_json=as_json,
    )


def _provenance(instance: Instance) -> str:
    parts = [instance.model.source, f"Owners: {instance.source}."]
    return "\n\n".join(part for part in parts if part)


def _verdict(certificate: Certificate) -> dict[str, Any]:
    content = certificate.to_dict()
    return {key: content[key] for key in ("valid", "grade", "lower_bound", "upper_bound", "gap")}
