"""The rate of `smqopt reproduce`: meant for half an hour on two processors; what this machine takes is printed.

SMQOPT_DATA=FOLDER pytest tests/benchmarks/test_reproduce.py -m realdata --benchmark-only -s
"""

from __future__ import annotations

import time

import pytest
from measures import peak_of_process

from smqopt.paper import DATA_SETS
from smqopt.paper.experiments._grid import BUDGET_SHARES, CORRELATIONS
from smqopt.paper.experiments._setting import Setting
from smqopt.paper.experiments._streams import Streams
from smqopt.paper.experiments._trial import outcomes

PROCESSORS = 2
TRIALS = 500
MEMORY = 4.0
"""GiB."""
ALONE = """
from smqopt.paper.experiments._grid import BUDGET_SHARES, CORRELATIONS
from smqopt.paper.data_sets._population import DATA_SETS
from smqopt.paper.experiments._setting import Setting
from smqopt.paper.experiments._streams import Streams
from smqopt.paper.experiments._trial import outcomes
settings = [Setting.of(load(), rho, BUDGET_SHARES) for load in DATA_SETS.values() for rho in CORRELATIONS]
for setting in settings:
    for trial in range(2):
        outcomes(setting, Streams.of(1, (trial,)))
"""


@pytest.mark.realdata
def test_the_whole_grid(benchmark):
    """Times a trial of every data set and ρ in processor time, which other work on the machine does not lengthen much."""
    settings = [Setting.of(load(), rho, BUDGET_SHARES) for load in DATA_SETS.values() for rho in CORRELATIONS]
    for setting in settings:
        outcomes(setting, Streams.of(1, (0,)))  # fills the price table

    def one_trial_each():
        start = time.process_time()
        for setting in settings:
            outcomes(setting, Streams.of(1, (1,)))
        return time.process_time() - start

    seconds = benchmark.pedantic(one_trial_each, rounds=3)
    whole = seconds * TRIALS / PROCESSORS
    peak = peak_of_process(ALONE) / 2**30
    print(
        f"\n{seconds:.2f} s of a processor for a trial of all settings; the whole grid {whole / 60:.1f} min; {peak:.2f} GiB"
    )
    assert peak * PROCESSORS < MEMORY
