"""Forged answers to random programs: none that breaks a row, or is not the optimum, is valid."""

from __future__ import annotations

import pytest
from forged_programs import fault_of_forgery


@pytest.mark.parametrize("seed", range(6000, 6010))
def test_no_forged_program_is_valid(seed):
    assert fault_of_forgery(seed)[1] is None


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(10))
def test_no_forged_program_is_valid_at_length(block):
    found = [fault_of_forgery(seed) for seed in range(6000 + 100 * block, 6100 + 100 * block)]
    assert [fault for _, fault in found if fault] == []
    assert sum(verdict.startswith("not valid") for verdict, _ in found) > 50
