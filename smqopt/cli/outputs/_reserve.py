"""The reserve that a folder was solved with, and its check."""

from __future__ import annotations

from pathlib import Path

from smqopt.errors import CertificateError, InputError
from smqopt.files import from_json_number, read_json
from smqopt.market import Solution
from smqopt.questions import ReservedBudget, checked_probability, reserve

RESERVE_FILE = "reserve.json"
_KEYS = ("budget", "solved_for", "reserve", "probability", "amount")
_AGAIN = "solve again"


def reserve_lines(held: ReservedBudget | None) -> list[str]:
    """Tell a reserve in lines for people; none where there is none."""
    if held is None:
        return []
    spared = f"reserve {held.reserve:.8g} of the budget {held.budget:.8g}: solved for {held.solution.budget:.8g}"
    promise = f"posted payments exceed {held.budget:.8g} with probability at most {held.probability:g}, if owners are independent"
    return [f"{spared}; {promise}"]


def budget_in_hand(folder: Path, solution: Solution) -> float:
    """Return the budget that a folder was solved for, with its reserve.

    Raises
    ------
    InputError
        If the file of the reserve cannot be read.
    CertificateError
        If it speaks of another solution.
    """
    if not (folder / RESERVE_FILE).exists():
        return solution.budget
    return _figures(folder / RESERVE_FILE, solution)["budget"]


def check_reserve(path: Path, solution: Solution) -> None:
    """Compute the reserve of a folder anew, and compare.

    Raises
    ------
    InputError
        If the file cannot be read, or a key is missing or bad.
    CertificateError
        If a figure is not what the solution gives, or the bound does not hold.
    """
    figures = _figures(path, solution)
    probability = checked_probability(figures["probability"], f"{path}: key 'probability'")
    expected = {"reserve": figures["budget"] - solution.budget, "amount": reserve(solution, probability).amount}
    for key, figure in expected.items():
        if figures[key] != figure:
            raise CertificateError(
                f"{path}: key {key!r}", f"the solution gives {figure!r}", value=figures[key], remedy=_AGAIN
            )
    if not figures["amount"] <= figures["budget"]:
        raise CertificateError(
            f"{path}: key 'amount'", "must be at most the budget", value=figures["amount"], remedy=_AGAIN
        )


def _figures(path: Path, solution: Solution) -> dict[str, float]:
    content = read_json(path)
    for key in _KEYS:
        if key not in content:
            raise InputError(f"{path}: key {key!r}", "is missing", remedy=_AGAIN)
    for key in content:
        if key not in _KEYS:
            raise InputError(f"{path}: key {key!r}", "is unknown", remedy=_AGAIN)
    figures = {key: from_json_number(content[key], f"{path}: key {key!r}") for key in _KEYS}
    if figures["solved_for"] != solution.budget:
        raise CertificateError(
            f"{path}: key 'solved_for'",
            f"the solution's budget is {solution.budget!r}",
            value=figures["solved_for"],
            remedy=_AGAIN,
        )
    return figures
