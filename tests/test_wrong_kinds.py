"""What is no record of the right kind is refused with the family's error, by every public function."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import smqopt as smq

MARKET = smq.Market([0.2, 0.5, 1.0, 1.5], smq.Uniform(0, 1))
SOLUTION = smq.solve(MARKET, 0.5)
CERTIFICATE = smq.verify(SOLUTION)
GOOD = {
    "market": MARKET, "problem": MARKET, "solution": SOLUTION, "rule": SOLUTION, "of": SOLUTION, "certificate": CERTIFICATE,
    "outcome": smq.procure(CERTIFICATE, [0.01] * 4), "reported_valuations": [0.01] * 4, "data": [1] * 4, "labels": list("abab"),
    "query": smq.Count(), "law": smq.Uniform(0, 1), "assumption": smq.EntryPrior.share(0.5), "budget": 0.5, "money": 0.5, "budgets": [0.5],
    "purchased_privacy": 0.5, "probability": 0.1, "epsilon": [0.2, 0.5], "alphabet": [0, 1], "low": 0.1, "high": 0.5,
    "alpha": 1, "delta": 0.9, "theta": [0.1, 0.2], "path": "slack-market", "objective": smq.MeanSquaredError(range=1),
}  # fmt: skip
"""An argument of each name."""
OWN = {"query": "count"}  # of necessary_privacy, whose query is a word
RECORDS = re.compile(
    r"\b(Market|Solution|Certificate|Outcome|Valuation|PopulationQuery|EntryPrior|OutcomeRule|Program|Ledger|PathLike)\b"
)
FUNCTIONS = {name: one for name in smq.__all__ if inspect.isfunction(one := getattr(smq, name))}
CASES = [
    (name, parameter.name, wrong)
    for name, function in FUNCTIONS.items()
    for parameter in inspect.signature(function).parameters.values()
    if RECORDS.search(str(parameter.annotation)) and "Sequence" not in str(parameter.annotation)
    for wrong in (object(), 3.5, "text", MARKET, SOLUTION, smq.Uniform, [SOLUTION])
    if RECORDS.search(str(parameter.annotation)).group() not in type(wrong).__name__  # type: ignore[union-attr]
    and (name, wrong) != ("set_cache", "text")  # a folder of any name may be made
]


@pytest.mark.parametrize(("name", "argument", "wrong"), CASES)
def test_a_wrong_kind_is_refused(name: str, argument: str, wrong: Any) -> None:
    function = FUNCTIONS[name]
    needed = {
        one.name: GOOD[one.name]
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD and one.name != argument
    }
    if name == "necessary_privacy":
        needed |= OWN
    if isinstance(wrong, smq.Solution) and argument in ("of", "rule", "against"):
        pytest.skip("a solution is right")
    with pytest.raises(smq.SmqoptError):
        function(**needed, **{argument: wrong})
