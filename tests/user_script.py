"""A user's script, and what a type checker must see of it; it needs the package and mypy alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

SCRIPT = """import numpy as np
import smqopt as smq

market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), groups={"city": ["a", "b", "a"]})
solution = smq.solve(market, 0.5, constraints=[smq.Coverage("city", "a", at_least=0.1)])
certificate = smq.verify(solution)
outcome = smq.procure(certificate, {"1": 0.1, "2": 0.1, "3": 0.1})
answer = smq.answer(smq.Count(), [1] * outcome.bought, outcome)
reveal_type(solution.thresholds)  # numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.float64]]
reveal_type(certificate)  # smqopt.verification.certificate._certificate.Certificate
reveal_type(certificate.valid)  # bool
reveal_type(smq.load_model("slack-market").budget)  # float
smq.solve(market, "x")  # error: call-overload
smq.Coverage("city", "a", at_leest=3)  # error: call-arg
smq.verify(market)  # error: call-overload
solution.to_frame("polars")
reveal_type(answer.value)  # int | float | tuple
reveal_type(smq.frontier(market).bounds([0.1])[0])  # numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.float64]]
smq.Market(np.ones(2), smq.Uniform(0, 1), owner_ids=np.array(["a", "b"]))
smq.BoughtOwners(np.ones(2)), smq.BoughtOwners([1.0, 2.0]), smq.AcceptanceRange(at_least=np.zeros(2))
smq.Histogram(np.linspace(0, 1, 3)), smq.PriceMenu(np.array([0.1])), smq.LinearRow(at_most=1.0, acceptance=[(0, 1.0)])
smq.OwnQuery("x", np.arange(2), [0.5], lambda entry, answer: 0.0)
smq.slove(market, 1.0)  # error: attr-defined
"""


def check_types(folder: Path, **environment: str) -> None:
    """Require that mypy finds in the script what its comments say, and nothing else."""
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "script.py"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(
        re.findall(r"^script\.py:(\d+): (?:error: .*\[|note: Revealed type is \")([^\]\"]+)", done.stdout, re.M)
    )
    expected = {
        str(number): line.partition("# ")[2].removeprefix("error: ").split("]")[0]
        for number, line in enumerate(SCRIPT.splitlines(), start=1)
        if "# " in line
    }
    assert found.keys() == expected.keys(), done.stdout
    for line, words in expected.items():
        assert found[line].startswith(words), (line, done.stdout)
