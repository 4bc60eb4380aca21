import pytest
from reference.make_op2 import instances
from strategies import REFERENCE


@pytest.mark.slow
def test_the_program_reproduces_the_file_to_its_digits():
    assert instances() == REFERENCE
