"""What a type checker sees of a user's script."""

from __future__ import annotations

from pathlib import Path

import pytest
from user_script import check_types


@pytest.mark.slow
def test_a_users_script_is_checked(tmp_path: Path) -> None:
    check_types(tmp_path, MYPYPATH=str(Path(__file__).parents[1]))
