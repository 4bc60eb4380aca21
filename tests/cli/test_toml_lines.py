"""Where keys stand in a TOML file: every key that `tomllib` finds has a line, and it is the right one."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from smqopt.model_files import model_files
from smqopt.model_files.toml._lines import key_lines


def paths(value: Any, prefix: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path for key, entry in pairs for path in {(*prefix, key)} | paths(entry, (*prefix, key))}


@pytest.mark.parametrize("path", model_files(), ids=lambda path: path.stem)
def test_every_key_of_the_library_has_a_line(path: Any) -> None:
    text = path.read_text(encoding="utf-8")
    lines = key_lines(text)
    found = paths(tomllib.loads(text))
    assert set(lines) == found
    rows = text.splitlines()
    for keys, line in lines.items():
        if isinstance(keys[-1], str):
            assert keys[-1] in rows[line - 1]


STRINGS = st.sampled_from(
    ['"a]b"', "'c # d'", '"""e\n= f\n"""', "'''g\n[h]\n'''", '"i\\"j"', '""', "''", '"""k"l""m"""', '""""n"""""']
)
SCALARS = st.sampled_from(["1", "-2.5e3", "true", "1979-05-27 07:32:00", "inf", "0x1f"])
VALUES = st.recursive(
    STRINGS | SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda some: "[" + ", # one\n".join(some) + "\n]")
        | st.lists(inner.filter(lambda text: "\n" not in text), max_size=2).map(
            lambda some: "{ " + ", ".join(f"k{i} = {text}" for i, text in enumerate(some)) + " }"
        )
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["key", "head", "several", "dotted", "comment"]), VALUES), max_size=8))
def test_every_key_of_a_random_file_has_its_line(parts: list[tuple[str, str]]) -> None:
    rows: list[str] = []
    expected: dict[str, int] = {}
    for number, (kind, value) in enumerate(parts):
        at = "\n".join(rows).count("\n") + (1 if not rows else 2)
        if kind == "comment":
            rows.append('# "not [ a = key')
            continue
        name = f"name{number}"
        expected[name] = at
        rows.append(
            {
                "key": f"{name} = {value}",
                "head": f"[{name}]",
                "several": f"[[several]]\n{name} = {value}",
                "dotted": f'"{name}" . inner = {value}',
            }[kind]
        )
        expected[name] += kind == "several"
    text = "\n".join(rows) + "\n"
    found = paths(tomllib.loads(text))
    lines = key_lines(text)
    assert found == set(lines)
    for keys, line in lines.items():
        if isinstance(keys[-1], str) and keys[-1] in expected:
            assert line == expected[keys[-1]]


def test_deep_nesting_has_no_lines_of_its_own_but_ends_where_it_ends() -> None:
    text = "a = " + "[" * 40 + '"]"' + "]" * 40 + "\nb = 1\n"
    tomllib.loads(text)
    assert key_lines(text)["b",] == 2


def test_lines_count_through_other_line_ends() -> None:
    assert key_lines("a = 1\r\n\r\nb = 2\r\n")["b",] == 3
