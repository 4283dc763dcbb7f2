"""What all tests share: the notebooks' kernel, Hypothesis' profiles, workers, and a closing summary."""

import os
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from stridekit import notebook

# The same examples on every run, and no verdict that depends on the speed of the machine. Another profile:
# `pytest --hypothesis-profile=long`.
settings.register_profile(
    "quick", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("quick"), max_examples=200)
settings.register_profile("long", settings.get_profile("quick"), max_examples=1000)
settings.load_profile("ci" if os.environ.get("CI") else "quick")

# CPU seconds that a notebook may take, its kernel's start included: four times what the slowest takes on
# an idle machine, so that only a notebook that has become slow is noticed, and no busy machine.
MOST_SECONDS = 60
SECONDS: dict[str, float] = defaultdict(float)


def pytest_configure(config):
    """Point every kernel that the tests start at one that is the same on all machines."""
    folder = tempfile.TemporaryDirectory(prefix="stridekit-", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    notebook.use_repeatable_kernel(Path(folder.name))


def pytest_collection_finish(session):
    """Get ready for notebooks only where there are some."""
    if any(item.path.suffix == ".ipynb" for item in session.items):
        notebook.list_fonts()


# Several workers: `pytest -n 2 --dist loadfile` -----------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Let workers begin with what takes longest for its number of tests: the browser, the notebooks."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (not _in_browser(item.nodeid), item.path.suffix != ".ipynb"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file is the work of one worker, and so is the whole browser: one JupyterLab, one Chromium."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return BROWSER if _in_browser(nodeid) else super()._split_scope(nodeid)

    config.option.loadscopereorder = False  # the order is that of the collection
    return Scheduler(config, log)


BROWSER = "tests/browser/"


def _in_browser(nodeid):
    return nodeid.startswith(BROWSER)


# What is said at the end --------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Count the CPU seconds of kernels: a process is counted when it has ended, with its notebook."""
    before = os.times()
    result = yield
    if item.path.suffix == ".ipynb":
        after = os.times()
        gone = after.children_user + after.children_system
        SECONDS[item.path.stem] += gone - before.children_user - before.children_system
    return result


def pytest_sessionfinish(session):
    """Fail where a notebook has become slow; a worker tells the process that has started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["seconds"] = dict(SECONDS)
    if any(seconds > MOST_SECONDS for seconds in SECONDS.values()) and session.exitstatus == 0:
        session.exitstatus = 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Add the seconds of a worker that has ended."""
    for name, seconds in getattr(node, "workeroutput", {}).get("seconds", {}).items():
        SECONDS[name] += seconds


def pytest_terminal_summary(terminalreporter):
    """Print what tests said with `record_property("summary", line)`."""
    if any(SECONDS.values()):
        taken = ", ".join(f"{name} {seconds:.1f}" for name, seconds in sorted(SECONDS.items()))
        terminalreporter.write_line(f"CPU seconds of notebooks: {taken}; {MOST_SECONDS} at most")
    for report in terminalreporter.stats.get("passed", []):
        for name, line in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(line)
