"""Processes that the browser tests start end with the test run, even when it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.browser.lab import ROOT, Lab
from tests.needs import needs_chromium

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells of a parent's end"
)
MARK = "STRIDEKIT_STARTED_BY"  # a variable that all descendants of a process inherit
START_ONE = """
import sys
from tests.browser.lab import start
deaf = "from signal import *; signal(SIGTERM, SIG_IGN); print(flush=True); pause()"
start([sys.executable, "-c", deaf]).wait()
"""
START_ALL = """
import sys
from pathlib import Path
from chromium import running_browser
from tests.browser.lab import running_lab, write_notebook
root = Path(sys.argv[1])
write_notebook(root / "a.ipynb", ["1"])
with running_browser() as browser, running_lab(root, root / "scratch", browser) as lab:
    page = lab.open("a.ipynb")
    print(flush=True)
    page.wait_for_timeout(600_000)
"""


def running_after_a_kill(source, folder):
    """Run a program until it prints a line, and kill it: the commands that ran then, and that still run."""
    env, mark = os.environ | {MARK: str(folder)}, f"{MARK}={folder}".encode()
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tools")])
    command = [sys.executable, "-c", source, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as program:
        assert program.stdout.readline() == "\n"
        before = running(mark)
        program.kill()
    until = time.monotonic() + 60
    while (left := running(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return [*before.values()], [*left.values()]


def running(mark):
    """The command of each process with this mark in its environment, by process id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().decode()
        except OSError:
            pass  # it has ended, or belongs to another user
    return found


def test_a_process_ends_with_its_parent(tmp_path):
    """Even a killed parent, which cannot clean up, and a process that ignores SIGTERM."""
    before, left = running_after_a_kill(START_ONE, tmp_path)
    assert len(before) == 2 and left == []


@pytest.mark.long
@needs_chromium
def test_jupyterlab_kernel_and_browser_end_with_their_parent(tmp_path):
    before, left = running_after_a_kill(START_ALL, tmp_path)
    for name in ("jupyterlab", "ipykernel", "--headless"):
        assert any(name in command for command in before), name
    assert left == []


def test_what_jupyterlab_says_of_a_kernel_that_ends_is_no_error_of_the_page():
    lab = Lab("", "", None, None)
    canceled = "Canceled future for create_subshell_request message"
    for text in (canceled, f"Error: {canceled}", "x is undefined"):
        lab._note_error(text)
    assert lab.errors == ["x is undefined"]
