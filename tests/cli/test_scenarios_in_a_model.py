"""A model under laws in doubt: valuations are drawn from one of them, the same for all owners."""

from pathlib import Path

import numpy as np

import smqopt as smq
from smqopt.model_files import make_instance, read_model

MODEL = """
title = "two scenarios"
budget = 4
seed = 1

[owners]
epsilon = [0.2, 0.5, 1.0, 0.9]

[valuation]
law = "scenarios"
laws = [{ law = "uniform", low = 0, high = 1 }, { law = "uniform", low = 5, high = 6 }]
"""


def test_one_scenario_is_drawn_for_all_owners(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(MODEL, encoding="utf-8")
    drawn = [make_instance(read_model(str(path)), seed=seed).reports for seed in range(20)]
    below = [bool(np.all(reports <= 1)) for reports in drawn]
    assert all(low or np.all(reports >= 5) for low, reports in zip(below, drawn, strict=True))
    assert 0 < sum(below) < 20
    model = smq.load_model(path)
    assert smq.verify(smq.solve(model.market, model.budget)).valid
