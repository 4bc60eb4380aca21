"""What a derivation costs, in processor time of a process of its own: with nothing kept, and with all of it kept on disk.

pytest tests/benchmarks/test_derivations.py --benchmark-only -s
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from smqopt.valuation import LAWS

NAMED = {
    name: f"valuation_from_dict({ {'law': name, **LAWS[name][2]}!r})"
    for name in LAWS
    if name not in ("point-mass", "discrete")
}
COMPOSED = {
    "mixture of powers": "smq.Mixture([smq.Power(1), smq.Power(2)], [0.3, 0.7])",
    "mixture of normals": "smq.Mixture([smq.Normal(0.4, 0.3, 0, 1), smq.Normal(0.7, 0.2, 0, 1)], [0.5, 0.5])",
    "truncated triangular law": "smq.Truncated(smq.Triangular(0, 0.3, 1), 0.1, 0.9)",
    "text in erf": "smq.from_cdf('erf(a*(theta/7))/erf(a)', 0, 7, a=0.37)",
}
ALONE = """
import time
import smqopt as smq
from smqopt.valuation import valuation_from_dict
{work}
print(time.process_time())
"""


def seconds(work, kept):
    """Measure a process of its own; starting the interpreter counts."""
    code, environment = ALONE.format(work=work), {**os.environ, "SMQOPT_CACHE": str(kept)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return float(done.stdout)


@pytest.mark.parametrize("laws", [NAMED, COMPOSED], ids=["laws of the registry", "compositions and texts"])
def test_seconds_of_a_derivation(benchmark, tmp_path, laws):
    def run():
        for k, (name, law) in enumerate(laws.items()):
            work = f"assert smq.derive({law}).verdict.name in ('PROVED', 'UNDECIDED')"
            yield name, *(seconds(work, tmp_path / str(k)) for _ in ("cold", "warm"))

    loading = min(seconds("import sympy, scipy.special", "") for _ in range(3))
    found = benchmark.pedantic(lambda: list(run()), rounds=1)
    print(f"\nprocessor time of a process of its own; loading SymPy and SciPy takes {loading:.2f} s of it")
    for name, cold, warm in found:
        print(f"{name}: {cold:.2f} s with nothing kept, {warm:.2f} s with the derivation kept")
        assert warm < cold
