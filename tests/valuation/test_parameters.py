import numpy as np
import pytest

from smqopt.errors import InputError
from smqopt.valuation.law._parameters import checked_parameters, checked_support


def test_scalars_become_floats_and_arrays_are_read_only():
    given = checked_parameters("law", a=1, b=[1, 2])
    assert given["a"] == 1.0
    assert isinstance(given["a"], float)
    assert given["b"].dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        given["b"][0] = 3


def test_the_caller_keeps_his_array():
    mine = np.array([1.0, 2.0])
    given = checked_parameters("law", a=mine)
    mine[0] = 9
    assert given["a"][0] == 1.0
    assert mine.flags.writeable


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": "1"}, "parameter 'a': must be a number"),
        ({"a": None}, "parameter 'a': must not be masked or missing"),
        ({"a": True}, "parameter 'a': must be a number"),
        ({"a": 1j}, "parameter 'a': must be a number"),
        ({"a": [[1.0]]}, "shape"),
        ({"a": []}, "shape"),
        ({"a": float("nan")}, "parameter 'a': must be finite"),
        ({"a": [1.0, float("inf")]}, "parameter 'a' of owner 2: must be finite"),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]}, "parameter 'b': must have 2 values"),
    ],
)
def test_bad_parameters(given, message):
    with pytest.raises(InputError, match=message) as error:
        checked_parameters("law", **given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (-1.0, 1.0, "parameter 'low': must not be negative"),
        (1.0, 1.0, "parameter 'high': must exceed low"),
        (2.0, 1.0, "parameter 'high': must exceed low"),
        (0.0, np.array([1.0, 0.0]), "parameter 'high' of owner 2: must exceed low"),
    ],
)
def test_bad_supports(low, high, message):
    with pytest.raises(InputError, match=message):
        checked_support("law", low, high)
