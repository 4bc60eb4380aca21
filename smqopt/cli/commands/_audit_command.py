"""`smqopt audit`: truthfulness, participation and spend of thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from smqopt.cli._exit_codes import CHECK_FAILED
from smqopt.cli.terminal._completion import ModelFile
from smqopt.cli.terminal._options import AS_JSON, DATA, WHOLE
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.cli.work._audit_subject import Audited, audited_folder, audited_model, believed_law
from smqopt.errors import InputError
from smqopt.files import to_json_number
from smqopt.mechanism import (
    EX_POST_BUDGET,
    POSTED,
    Audit,
    ExPostBudget,
    OutcomeRule,
    PostedThresholds,
    audit as find_deviations,
)
from smqopt.verification import Check

_DRAWS = 200


@click.command()
@click.argument("place", metavar="DIR|MODEL.toml", type=ModelFile())
@click.option(
    "--belief",
    "belief_file",
    metavar="FILE",
    help="The model whose law of valuations is believed; PLACE's own by default.",
)
@click.option(
    "--marginal",
    is_flag=True,
    help="Post the thresholds of the marginal law, which ignore the correlation that MODEL.toml declares.",
)
@click.option(
    "--payments",
    type=click.Choice([POSTED.name, EX_POST_BUDGET.name]),
    default=POSTED.name,
    show_default=True,
    help="How owners are paid.",
)
@click.option(
    "--draws",
    type=WHOLE,
    default=_DRAWS,
    show_default=True,
    metavar="N",
    help="How many runs to simulate, where there is a seed.",
)
@click.option("--seed", type=WHOLE, help="Draw with this seed, not the model's.")
@DATA
@AS_JSON
def audit(
    place: str,
    belief_file: str | None,
    payments: str,
    draws: int,
    seed: int | None,
    data_file: str | None,
    *,
    marginal: bool,
    as_json: bool,
) -> int:
    """Audit thresholds: best misreports, participation, and what is spent.

    Takes the thresholds of DIR, certified or not, or solves MODEL.toml, and audits them under the
    law that valuations are believed to have: that of --belief, whose owners must be the same, or
    their own. With --marginal, or with a belief in another joint law, it measures what thresholds
    overspend that ignore how valuations hang together with requirements. Exit code 1 says that
    something does not hold.
    """
    with quiet_stdout():
        taken = _subject(place, seed, data_file, marginal=marginal)
        law = taken.law if belief_file is None else believed_law(belief_file, taken.solution.market, seed, data_file)
        rule = _rule(payments, taken)
        rng = None if taken.seed is None else np.random.default_rng(taken.seed)
        found = find_deviations(rule, belief=law, draws=draws if rng is not None else 0, rng=rng)
    record = _record(found, payments)
    show(record, _lines(found), as_json=as_json)
    return 0 if found.passes else CHECK_FAILED


def _subject(place: str, seed: int | None, data_file: str | None, *, marginal: bool) -> Audited:
    if not Path(place).is_dir():
        return audited_model(place, seed, data_file, marginal=marginal)
    if marginal:
        raise InputError(
            "command line", "--marginal belongs to a model", value=place, remedy="give --belief, or a model"
        )
    return audited_folder(place, seed)


def _rule(payments: str, taken: Audited) -> OutcomeRule:
    return PostedThresholds(taken.solution) if payments == POSTED.name else ExPostBudget(taken.solution)


def _record(found: Audit, payments: str) -> dict[str, Any]:
    return {
        "passes": found.passes,
        "reasons": list(found.reasons),
        "payments": payments,
        "owners": found.rule.n,
        "budget": found.rule.budget,
        "expected_spend": found.expected_spend,
        "expected_spend_error": found.expected_spend_error,
        "spend_share": to_json_number(found.spend_share),
        "overspending": found.overspending,
        "purchased_privacy": found.purchased_privacy,
        "runs": 0 if found.totals is None else int(found.totals.size),
        "checks": [check.to_dict() for check in found.checks],
    }


def _lines(found: Audit) -> list[str]:
    head = f"audit of {found.rule.name}, {found.rule.n} owners: {'passes' if found.passes else 'does not pass'}"
    checks = [
        f"  {_word(check)}: {check.name}: {check.norm} is {check.value:.6g}"
        + (f" ({check.note})" if check.note else "")
        for check in found.checks
    ]
    spend = (
        f"expected spend {found.expected_spend:.12g} of {found.rule.budget:.12g}, {found.spend_share:.4g} of the budget"
    )
    return [head, *checks, spend, f"expected purchased privacy {found.purchased_privacy:.12g}"]


def _word(check: Check) -> str:
    """Say how a check ended; one that is not required is reported."""
    if not check.required:
        return "reported" if check.passed is None else "holds" if check.passed else "does not hold"
    return "undecided" if check.passed is None else "passed" if check.passed else "FAILED"
