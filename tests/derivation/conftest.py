"""Derivations are made anew in these tests."""

import pytest


@pytest.fixture(autouse=True)
def _made_anew(monkeypatch):
    monkeypatch.setenv("SMQOPT_CACHE", "")
