"""The schema of certificates describes what is written, key by key, and refuses what is not."""

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import smqopt as smq
from smqopt.market import Status

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema" / "certificate.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)
MODELS = [
    "fair-coverage",
    "irregular-lotteries",
    "minimum-variance",
    "parity",
    "random-prices",
    "slack-market",
    "two-kinds-of-owners",
]


def certified(name, **asked):
    model = smq.load_model(name)
    return smq.verify(
        smq.solve(model.market, model.budget, objective=model.objective, constraints=model.constraints), **asked
    )


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["properties"]["solution"]["properties"]["status"]["enum"]) == {status.name for status in Status}


@pytest.mark.parametrize("name", MODELS)
def test_certificates_of_models_fit(name):
    written = json.loads(json.dumps(certified(name).to_dict()))
    VALIDATOR.validate(written)
    assert (written["proof"] is None) == (written["grade"] == "numerical")


@pytest.mark.parametrize("budget", [0.0, 5.0])
def test_certificates_at_the_ends_fit(budget):
    solution = smq.solve(smq.Market([0.5, 1.0], smq.Uniform(0, 1)), budget)
    VALIDATOR.validate(json.loads(json.dumps(smq.verify(solution, prove=False).to_dict())))


def test_certificates_that_are_not_valid_fit():
    market = smq.Market(np.array([0.5, 1.0]), smq.Uniform(0, 1))
    solution = smq.Solution(
        market, 0.1, np.array([0.9, 0.9]), np.array([0.9, 0.9]), 1.0, Status.BINDING, "mine", market.fingerprint
    )
    written = json.loads(json.dumps(smq.verify(solution).to_dict()))
    VALIDATOR.validate(written)
    assert not written["valid"]


@pytest.mark.parametrize(
    "change",
    [
        {"valid": "yes"},
        {"unheard": 1},
        {"grade": "sure"},
        {"digest": "0"},
        {"checks": [{"name": "gap"}]},
        {"budget": -1},
    ],
)
def test_other_files_do_not_fit(change):
    written = json.loads(json.dumps(certified("slack-market", prove=False).to_dict()))
    assert not VALIDATOR.is_valid(written | change)


@pytest.mark.parametrize("key", SCHEMA["required"])
def test_nothing_required_may_be_left_out(key):
    written = json.loads(json.dumps(certified("slack-market", prove=False).to_dict()))
    assert not VALIDATOR.is_valid({name: value for name, value in written.items() if name != key})
