"""What a type checker sees of a user's script, and of the examples that we show."""

from __future__ import annotations

import doctest
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest
from user_script import check_types

import smqopt as smq

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/index.md", "docs/tutorial.md")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of both: what mypy knows after the first is not learnt again."""
    return {"MYPYPATH": str(ROOT), "MYPY_CACHE_DIR": str(tmp_path_factory.mktemp("mypy"))}


@pytest.mark.slow
def test_a_users_script_is_checked(tmp_path: Path, seen: dict[str, str]) -> None:
    check_types(tmp_path, **seen)


def public_examples() -> Iterator[tuple[str, str]]:
    """Yield every public name, and every method of one, whose docstring shows code; and the code."""
    for name in smq.__all__:
        public = getattr(smq, name)
        if inspect.isclass(public) or inspect.isfunction(public):
            yield name, public.__doc__ or ""
        if inspect.isclass(public):
            for method, member in vars(public).items():
                documented = inspect.isfunction(member) or isinstance(member, (property, classmethod, staticmethod))
                if documented and not method.startswith("_"):
                    yield f"{name}_{method}", member.__doc__ or ""
    for page in PAGES:
        yield Path(page).stem, (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.slow
def test_examples_are_typed(tmp_path: Path, seen: dict[str, str]) -> None:
    names = ", ".join(name for name in smq.__all__ if not name.startswith("_"))
    script = [f"import numpy as np\nimport smqopt as smq\nfrom smqopt import ({names})\n"]
    for name, text in public_examples():
        code = "".join(example.source for example in doctest.DocTestParser().get_examples(text))
        if code:
            script.append(f"def example_of_{name}() -> None:\n{indent(code, '    ')}")
    assert len(script) > 140
    (tmp_path / "examples.py").write_text("\n\n".join(script), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "examples.py"],
        cwd=tmp_path,
        env={**os.environ, **seen},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), (
        done.stderr
    )  # of the package itself, whose settings are not read here, nothing is asked
    assert [line for line in done.stdout.splitlines() if line.startswith("examples.py")] == []
