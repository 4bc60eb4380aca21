"""What machines read survives libraries that print."""

from __future__ import annotations

import os

import pytest

from smqopt.cli.terminal._output import quiet_stdout, show


def test_what_is_written_to_the_descriptor_meanwhile_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet_stdout():
        os.write(1, b"a solver's banner\n")
    show({"value": 1}, [], as_json=True)
    assert tuple(capfd.readouterr()) == ('{"value": 1}\n', "a solver's banner\n")


def test_standard_output_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), quiet_stdout():
        raise ZeroDivisionError
    show({}, ["for", "people"], as_json=False)
    assert capfd.readouterr().out == "for\npeople\n"


def test_json_for_machines_is_strict() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        show({"value": float("nan")}, [], as_json=True)
