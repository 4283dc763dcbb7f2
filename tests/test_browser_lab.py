"""What the browser tests start does not outlive the run that has started it, however that ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import browser_lab
from tests.needs import needs_chromium

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not tell of a parent's end"
)
TOOLS = str(Path(browser_lab.__file__).parent)
MARK = "STRIDEKIT_STARTED_BY"  # a variable that is inherited by all that a process starts
SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]
START_ONE = f"""\
import sys, time
sys.path.insert(0, {TOOLS!r})
from browser_lab import start
start({SLEEPER!r})
print(flush=True)
time.sleep(60)
"""
START_ALL = f"""\
import sys, time
from pathlib import Path
sys.path.insert(0, {TOOLS!r})
from browser_lab import running_browser, running_lab, write_notebook
root = Path(sys.argv[1])
write_notebook(root / "a.ipynb", ["1"])
with running_browser() as browser, running_lab(root, root / "scratch", browser) as lab:
    lab.open("a.ipynb")
    print(flush=True)
    time.sleep(600)
"""


def killed(mark, *command):
    """Run a command until it prints a line, and kill it: what ran then, and what runs a while later."""
    env = os.environ | {MARK: mark}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as starter:
        assert starter.stdout.readline() == "\n"
        before = running(mark)
        starter.kill()
    until = time.monotonic() + 60
    while (left := running(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return before, left


def running(mark):
    """The processes with this mark, by number: what each was called with."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().decode()
        except OSError:
            pass  # it has ended, or is somebody else's
    return found


def test_a_process_ends_with_the_one_who_started_it(tmp_path):
    """Even when that was killed, and could tidy nothing."""
    before, left = killed(str(tmp_path), sys.executable, "-c", START_ONE)
    assert len(before) == 2 and left == {}


@pytest.mark.long
@needs_chromium
def test_nothing_is_left_of_a_jupyterlab_and_a_browser(tmp_path):
    """Neither a server nor a kernel, nor a Chromium."""
    before, left = killed(str(tmp_path), sys.executable, "-c", START_ALL, str(tmp_path))
    for name in ("jupyterlab", "ipykernel", "--headless"):
        assert any(name in command for command in before.values()), name
    assert left == {}
