"""The hash of all that a certificate covers."""

from __future__ import annotations

import dataclasses
import json

import numpy as np

from smqopt.files import hash_parts
from smqopt.market import (
    Solution,
)


def content_hash(solution: Solution, market_hash: str = "") -> str:
    """Hash all that a certificate covers.

    Parameters
    ----------
    solution
        What it is of.
    market_hash
        The hash of its market, where it was worked out a moment ago.

    Returns
    -------
    str
        SHA-256 of market, claims and columns, each with its length; in hexadecimal digits.
    """
    drawn = () if solution.lottery is None else dataclasses.astuple(solution.lottery)
    columns = [np.asarray(x) for x in (solution.thresholds, solution.acceptance, solution.constraint_prices, *drawn)]
    said = {
        "budget": repr(solution.budget),
        "budget_price": repr(solution.budget_price),
        "status": solution.status.name,
        "solver": solution.solver,
        "claims_response": repr(solution.claims_response),
        "constraints": list(solution.constraints),
        "records": [record.to_dict() for record in solution.records],
        "objective": solution.objective.to_dict(),
        "columns": [f"{column.dtype} {column.shape}" for column in columns],
    }
    if solution.random_prices is not None:
        said["random_prices"] = solution.random_prices.to_dict()
    market = (market_hash or solution.market.content_hash()).encode()
    claims = json.dumps(said, sort_keys=True).encode()
    return hash_parts(
        b"smqopt certificate 2",
        market,
        claims,
        *(np.ascontiguousarray(column).reshape(-1).data.cast("B") for column in columns),
    )
