import pytest

from smqopt.errata.table import ERRATA


@pytest.mark.parametrize("entry", ERRATA, ids=lambda entry: f"E{entry.number}")
def test_the_printed_statement_fails_and_the_corrected_one_holds(entry):
    evidence = entry.check()
    assert evidence.printed_fails, evidence.detail
    assert evidence.corrected_holds, evidence.detail


def test_numbers_are_distinct_and_ordered():
    numbers = [entry.number for entry in ERRATA]
    assert numbers == sorted(set(numbers))
