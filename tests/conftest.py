"""Hypothesis profiles: the default suite is seeded, so that it is the same everywhere; long runs draw anew.

Derivations are kept for one run of the tests, not in the home of who runs them.
"""

import atexit
import os
import shutil
import tempfile

import pytest
import slow_list
from hypothesis import HealthCheck, settings

QUIET = [HealthCheck.too_slow]
settings.register_profile("default", deadline=None, max_examples=60, derandomize=True, suppress_health_check=QUIET)
settings.register_profile("anew", deadline=None, max_examples=600, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("SMQOPT_HYPOTHESIS", "default"))

# A cluster of one test may still speak while the next one reads standard error.
os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers share the folder of the process that started them
    os.environ["SMQOPT_CACHE"] = tempfile.mkdtemp(prefix="smqopt-tests-")
    atexit.register(shutil.rmtree, os.environ["SMQOPT_CACHE"], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what `slow.txt` lists, before markers are chosen; refuse names that differ from run to run."""
    passing = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if passing:
        raise pytest.UsageError(f"{passing[0]}: a place in memory names no test; give ids to its parameters")
    slow_list.mark(items, whole_files=not any("::" in str(argument) for argument in config.args))


CHROMIUM = os.environ.get("SMQOPT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium of the distribution."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium, or set SMQOPT_CHROMIUM to a program")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()
