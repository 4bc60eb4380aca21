"""The instance of a model, for a folder that was made from it."""

from __future__ import annotations

from smqopt.cli.instance import Instance, make_instance
from smqopt.cli.model import read_model
from smqopt.errors import InputError
from smqopt.program.market import Market

__all__ = ["instance_of"]


def instance_of(model_file: str, market: Market, data_file: str | None, seed: int | None) -> Instance:
    """Read a model and draw its owners, and make sure that they are the folder's.

    Raises
    ------
    InputError
        If the model is bad, or its market is not the one that was solved.
    """
    instance = make_instance(read_model(model_file), seed=seed, data_file=data_file)
    if instance.market.fingerprint != market.fingerprint:
        raise InputError(
            model_file,
            "is not the market of the folder",
            remedy="give the model, the seed and the data that were solved",
        )
    return instance
