"""What is committed about dependencies says what pyproject.toml says."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEVELOPERS = {"docs", "test", "dev"}


def declared(extras):
    return [*PROJECT["dependencies"], *(each for extra in extras for each in PROJECT["optional-dependencies"][extra])]


def test_the_lowest_versions_are_those_declared():
    lines = (ROOT / "tests" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    extras = PROJECT["optional-dependencies"].keys() - DEVELOPERS
    assert pins == sorted(each.split(",")[0].replace(">=", "==") for each in declared(extras))


def test_the_lock_file_pins_what_developers_install_and_names_no_address():
    text = (ROOT / ".ci" / "developers.lock").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE))
    needed = {re.split(r"[>=<\[]", each)[0] for each in declared(["report", "tables", *DEVELOPERS])} - {"smqopt"}
    assert needed <= pins.keys()
    assert not re.search(r"://|file:|\s/|index-url|find-links| @ ", text)
