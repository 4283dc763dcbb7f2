"""The notebooks and the bug hunt show the same numbers on processors that round sums otherwise.

torch chooses its kernels by the instructions of the processor, and splits sums by the threads. Both
can be set from outside, so one machine stands for others.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.long

OLD = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
USUAL = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
MACHINES = {
    "without AVX, 16 threads": {**OLD, "OMP_NUM_THREADS": "16"},
    "AVX2, one thread": {**USUAL, "OMP_NUM_THREADS": "1"},
}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_do_not_depend_on_the_processor(machine):
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-pno:cacheprovider"]
    parts = ["notebooks", "tests/course/test_bug_hunt.py"]
    environment = {**os.environ, **MACHINES[machine]}
    run = subprocess.run(
        [*command, *parts], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
