"""Which cases of a test are left to `pytest -m slow`."""

import pytest


def tiers(cases, *, slow):
    """Give the cases of a parametrised test, with those named in `slow` marked so."""
    cases = list(cases)
    assert set(slow) <= set(cases), f"no case: {set(slow) - set(cases)}"
    return [pytest.param(case, marks=pytest.mark.slow) if case in slow else case for case in cases]
