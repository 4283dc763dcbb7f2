"""The JupyterLab of the browser tests does not outlive the run that has started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import browser_lab

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]
STARTER = f"""\
import sys, time
sys.path.insert(0, {str(Path(browser_lab.__file__).parent)!r})
from browser_lab import start
print(start({SLEEPER!r}).pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell of a parent's end")
def test_what_is_started_ends_with_the_one_who_started_it():
    """Even when that was killed, and could tidy nothing."""
    command = [sys.executable, "-c", STARTER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        started = int(starter.stdout.readline())
        assert is_running(started)
        starter.kill()
    until = time.monotonic() + 30
    while is_running(started):
        assert time.monotonic() < until, os.kill(started, signal.SIGKILL)
        time.sleep(0.05)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
