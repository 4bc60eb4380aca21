"""The opening of a report: results, a figure, and caveats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.document import Figure, shown, shown_share
from smqopt.market import MeanSquaredError, Solution, under_each_law
from smqopt.mechanism import POSTED, Outcome
from smqopt.questions import expected_error
from smqopt.report._figures import thresholds_figure
from smqopt.report._of_op2 import is_in_doubt
from smqopt.report._run_record import RunRecord
from smqopt.report.sections._answer_section import answer_in_words
from smqopt.report.sections._purchase_section import expected_payment, payment_deviation


@dataclass(frozen=True)
class Tile:
    """One result: its name, value, note, and class of the style sheet."""

    name: str
    value: str
    note: str
    style: str = ""


def is_well_formed(solution: Solution) -> bool:
    """Tell whether each row has a finite threshold and acceptance to draw."""
    columns = (np.asarray(solution.thresholds), np.asarray(solution.acceptance))
    return all(column.shape == (solution.market.n,) and bool(np.isfinite(column).all()) for column in columns)


def tiles(run: RunRecord) -> list[Tile]:
    """List the results: the answer, what was bought, what was paid, the certificate."""
    solution, certificate = run.certificate.solution, run.certificate
    found: list[Tile] = []
    if run.answer is not None:
        value, half_width = answer_in_words(run.answer)
        note = f"noise at most {half_width} {run.answer.noise_unit} (95\u00a0%), noise only"
        found.append(Tile(f"Answer: {run.answer.query}", value, note))
    if run.outcome is not None:
        share = shown_share(run.outcome.bought, run.outcome.population)
        found.append(Tile("Entries bought", shown(run.outcome.bought), f"of {shown(run.outcome.population)} ({share})"))
        found.append(_paid(run.outcome))
    elif is_well_formed(solution):
        spend = max(one.solution.total_spend for one in under_each_law(solution))
        found.append(Tile("Expected spend", shown(spend, 6), f"budget {shown(solution.budget, 6)}"))
    if certificate.valid and isinstance(solution.objective, MeanSquaredError):
        error = expected_error(solution)
        note = f"at the expected sums; {error.over_sellers} over who sells"
        found.append(Tile("Error, root mean square", shown(error.at_expected_sums, 5), note))
    if certificate.valid:
        found.append(
            Tile("Certificate", "valid", f"{certificate.grade}, relative gap {shown(certificate.gap, 2)}", "good")
        )
    else:
        found.append(Tile("Certificate", "not valid", f"{certificate.grade}; see the reasons", "bad"))
    return found


def opening_figure(run: RunRecord) -> Figure | None:
    """Draw the thresholds, where they can be drawn."""
    solution = run.certificate.solution
    return thresholds_figure(solution) if is_well_formed(solution) else None


def caveats(run: RunRecord) -> list[str]:
    """Say what the results do not."""
    said = []
    if not run.certificate.valid:
        said.append("The certificate is not valid: the mechanism does not buy with these thresholds.")
    if run.outcome is not None:
        said += _of_payments(run.outcome)
    if run.answer is not None:
        said.append(
            "The half-width bounds the noise that privacy adds. It leaves out the error of asking those alone who sold."
        )
    if is_in_doubt(run.certificate.solution):
        said.append(
            "One of the laws in doubt is taken to be the true one, and valuations as independent under it. What is claimed holds under each."
        )
    else:
        said.append("The distributions of valuations are taken as given, and valuations as independent.")
    return said


def _paid(outcome: Outcome) -> Tile:
    """Set what was paid beside the budget; more than the budget is bad."""
    budget, excess = outcome.budget, _excess(outcome)
    expected = shown(expected_payment(outcome), 6)
    note = f"budget {shown(budget, 6)}, expected {expected}"
    if excess > 0:
        note = f"{shown(excess, 4)} over the budget of {shown(budget, 6)}; expected {expected}"
    return Tile("Paid", shown(outcome.total_payment, 6), note, "bad" if excess > 0 else "")


def _of_payments(outcome: Outcome) -> list[str]:
    solution = outcome.certificate.solution
    if outcome.rule != POSTED.name:
        return [text[:1].upper() + text[1:] + "." * (not text.endswith(".")) for text in outcome.caveats]
    deviation = (
        f"; the standard deviation of what is paid is {shown(payment_deviation(solution), 3)}"
        if outcome.is_whole and not is_in_doubt(solution)
        else ""
    )
    paid = f"this run paid {shown(outcome.total_payment, 6)}, the budget is {shown(solution.budget, 6)}"
    now = paid if _excess(outcome) > 0 else "another run may pay more"
    return [f"The budget holds in expectation: {now}{deviation}."]


def _excess(outcome: Outcome) -> float:
    return outcome.total_payment - outcome.budget
