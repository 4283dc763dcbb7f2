"""The worst inputs of every name end soon and in little memory, with an answer, Undecided or a refusal."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stridekit

if not sys.platform.startswith("linux"):
    pytest.skip("what a call takes is read as Linux has it", allow_module_level=True)

from tests.worst_inputs import ROWS

ROOT = Path(__file__).parent.parent
MOST_SECONDS, MOST_MEGABYTES = 2, 500  # CPU time of one process: no load of the machine counts


@pytest.fixture(scope="module")
def found():
    """The outcome of each call, by the number of its row."""
    run = [sys.executable, "-W", "ignore", "-m", "tests.worst_inputs"]
    env = os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    done = subprocess.run(run, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"row"')]
    return {line["row"]: line for line in lines}


def test_every_public_name_has_a_row():
    """Give a new one the worst that you can think of."""
    named = set(re.findall(r"\w+", " ".join(call for *_, call in ROWS)))
    aliases = {"Layout"} if "L" in named else set()
    assert set(stridekit.__all__) - named - aliases == set()


@pytest.mark.parametrize("k", range(len(ROWS)), ids=lambda k: ROWS[k][2][:60])
def test_it_answers_or_says_why_not(k, found):
    """In little time and memory: with an answer, or an error that a person can work with."""
    assert k in found, "stopped: it took all the time or memory that there was"
    assert found[k]["met"] == ROWS[k][0]
    assert found[k]["seconds"] < MOST_SECONDS
    assert found[k]["megabytes"] < MOST_MEGABYTES
