"""Thresholds from elsewhere, verified for a model's or a folder's market."""

from __future__ import annotations

from pathlib import Path

from smqopt.cli._exit_codes import CHECK_FAILED
from smqopt.cli.terminal._output import quiet_stdout, show
from smqopt.errors import InputError
from smqopt.files import to_json_number
from smqopt.market import SOLUTION_FILE, Market, PurchasedPrivacy, Solution
from smqopt.model_files import make_instance, read_model
from smqopt.numeric import THRESHOLD
from smqopt.verification import Certificate, verify


def verify_external(
    place: str,
    thresholds_file: str,
    gap_tolerance: float | None,
    data_file: str | None,
    seed: int | None,
    *,
    as_json: bool,
) -> int:
    """Verify a table of thresholds, show how good it is, and return the exit code.

    Parameters
    ----------
    place
        A model file, or a folder with a solution, whose market and budget count.
    thresholds_file
        A CSV table with columns `owner_id` (or `owner`) and `threshold`.
    gap_tolerance
        The largest gap to accept; None for the usual one.
    data_file, seed
        Of the model.

    Raises
    ------
    InputError
        If the place or the table is bad, or the model has side constraints.
    """
    with quiet_stdout():
        market, budget = _market_and_budget(place, data_file, seed)
        solution = Solution.from_thresholds(market, budget, Path(thresholds_file))
        certificate = verify(solution, gap_tolerance=gap_tolerance)
    record = _record(certificate)
    show(record, _lines(certificate, record), as_json=as_json)
    return 0 if certificate.valid else CHECK_FAILED


def _market_and_budget(place: str, data_file: str | None, seed: int | None) -> tuple[Market, float]:
    if Path(place).is_dir():
        for name, value in (("--data", data_file), ("--seed", seed)):
            if value is not None:
                raise InputError("command line", f"{name} belongs to a model", remedy="leave it out")
        if not (Path(place) / SOLUTION_FILE).is_file():
            raise InputError(
                f"{place}: file {SOLUTION_FILE!r}", "is missing", remedy="give a model, or a solved folder"
            )
        solved = Solution.load(place)
        market, budget, constraints = solved.market, solved.budget, len(solved.constraints)
        objective = solved.objective
    else:
        instance = make_instance(read_model(place), seed=seed, data_file=data_file)
        market, budget, constraints = instance.market, instance.budget, len(instance.model.constraints)
        objective = instance.model.objective
    if constraints:
        raise InputError(
            place,
            "has side constraints, and thresholds from elsewhere are verified for OP2 alone",
            value=constraints,
            remedy="drop the constraints, or solve the model",
        )
    if not isinstance(objective, PurchasedPrivacy):
        raise InputError(
            place,
            f"has another objective, {objective.words}, and thresholds from elsewhere are verified for OP2 alone",
            remedy="drop the objective, or solve the model",
        )
    return market, budget


def _record(certificate: Certificate) -> dict[str, object]:
    solution = certificate.solution
    checks = {check.name: check for check in certificate.checks}
    threshold = checks.get("threshold")
    distance = threshold.value if threshold is not None and threshold.norm == THRESHOLD.norm else None
    return {
        "valid": certificate.valid,
        "reasons": list(certificate.reasons),
        "keeps_budget": checks["budget"].passed,
        "spend": solution.total_spend,
        "budget": solution.budget,
        "purchased_privacy": solution.purchased_privacy,
        "upper_bound": to_json_number(certificate.upper_bound),
        "gap": to_json_number(certificate.gap),
        "gap_tolerance": certificate.gap_tolerance,
        "threshold_distance": None if distance is None else to_json_number(distance),
        "owners": solution.market.population,
    }


def _lines(certificate: Certificate, record: dict[str, object]) -> list[str]:
    solution = certificate.solution
    kept = "keeps" if record["keeps_budget"] else "breaks"
    bound = certificate.upper_bound
    share = solution.purchased_privacy / bound if bound > 0 else 1.0
    far = "as much as" if share == 1 else f"{100 * abs(1 - share):.3g} % {'less' if share < 1 else 'more'} than"
    return [
        f"thresholds from elsewhere: {'valid' if certificate.valid else 'not valid'} ({certificate.grade})",
        *(f"  {reason}" for reason in certificate.reasons),
        f"{kept} the budget: spends {solution.total_spend:.12g} of {solution.budget:.12g}",
        f"purchased privacy {solution.purchased_privacy:.12g}: {far} the {bound:.12g} that no mechanism within the budget exceeds",
        *(
            [f"largest distance of a threshold from the optimal one: {record['threshold_distance']:.6g} of the support"]
            if isinstance(record["threshold_distance"], float)
            else []
        ),
    ]
