"""Seconds and memory for the benchmarks: each of the call alone, whatever ran in this process before."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")
PEAK = f"""
with open({str(STATUS)!r}) as status:
    print(next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM:")))
"""
# not ru_maxrss: across exec a process keeps the largest size of the one that started it


def best_of(runs, action, clock=time.perf_counter):
    """Return the least seconds of some runs, and the last answer."""
    seconds = []
    for _ in range(runs):
        start = clock()
        answer = action()
        seconds.append(clock() - start)
    return min(seconds), answer


def peak_memory(action):
    """Return the most bytes that Python and NumPy held at a time during a call, beyond what they held before."""
    tracemalloc.start()
    action()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def peak_of_process(program):
    """Return the most bytes of memory of a new process that runs a program, compiled libraries included."""
    if not STATUS.exists():
        pytest.skip(f"no {STATUS} here to read the memory of a process from")
    run = subprocess.run([sys.executable, "-c", program + PEAK], check=True, capture_output=True, text=True)
    return int(run.stdout.splitlines()[-1])
