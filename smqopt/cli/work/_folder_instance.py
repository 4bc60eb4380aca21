"""The instance of a model, for a folder that was made from it."""

from __future__ import annotations

from smqopt.errors import InputError
from smqopt.market import Solution
from smqopt.model_files import Instance, make_instance, read_model


def instance_of(
    model_file: str, solution: Solution, data_file: str | None, seed: int | None, budget: float
) -> Instance:
    """Read a model and its owners, and make sure that they are the folder's.

    Raises
    ------
    InputError
        If the model is bad, or its market, budget or constraints are not those that were solved.
    """
    instance = make_instance(read_model(model_file), seed=seed, data_file=data_file)
    if instance.market.fingerprint != solution.market.fingerprint:
        raise InputError(
            model_file,
            "is not the market of the folder",
            remedy="give the model, the seed and the data that were solved",
        )
    written = instance.model.written
    if instance.budget != budget:
        raise InputError(
            written.where("budget"),
            f"is not the budget of the folder, {budget!r}",
            value=instance.budget,
            remedy="solve and verify the model again",
        )
    if [record.to_dict() for record in instance.model.constraints] != [r.to_dict() for r in solution.records]:
        raise InputError(
            written.where("constraint"),
            "says other constraints than those of the folder",
            remedy="solve and verify the model again",
        )
    if instance.model.objective.as_asked.to_dict() != solution.objective.as_asked.to_dict():
        raise InputError(
            written.where("objective"),
            "is another objective than that of the folder",
            remedy="solve and verify the model again",
        )
    return instance
