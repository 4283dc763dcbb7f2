"""Settings of all tests: the notebooks' kernel, Hypothesis' profiles, the workers, and the summary."""

import gc
import os
import re
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]  # for the test of the fixture that the package brings

gc.set_threshold(2000, 10, 1000)  # a full collection visits all of torch, and takes 0.3 s

# The same examples in every run, and no deadline that a slow machine could miss. For another profile:
# `pytest --hypothesis-profile=long`.
settings.register_profile(
    "quick",
    max_examples=50,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", settings.get_profile("quick"), max_examples=1000)
settings.register_profile("fuzz", settings.get_profile("long"), derandomize=False, database=None)
settings.load_profile("quick")


def pytest_configure(config):
    """Let the tests start a kernel that is the same on all machines, in workers forked from one process.

    The tests of the core need no Jupyter: where it is missing, no kernel starts.
    """
    if not find_spec("ipykernel") or not find_spec("nbclient"):
        return
    from stridekit.lessons import notebook
    from tests.course import kernels

    folder = tempfile.TemporaryDirectory(prefix="stridekit-", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    if hasattr(config, "workerinput") and (address := os.environ.get(kernels.VARIABLE)):
        notebook.KERNEL["argv"][1:3] = ["-SP", kernels.__file__, address]
    notebook.use_repeatable_kernel(Path(folder.name))
    if config.getoption("numprocesses", None) and sys.platform == "linux":
        variables = notebook.ENVIRONMENT | {"MATPLOTLIBRC": f"{folder.name}/matplotlibrc"}
        config.add_cleanup(kernels.begin(f"{folder.name}/socket", variables))


def pytest_unconfigure(config):
    """Let a worker end without a search for garbage, in which pytest and Python visit all of torch."""
    if hasattr(config, "workerinput"):
        gc.freeze()


def pytest_collection_finish(session):
    """List matplotlib's fonts before a notebook does, in whose cell its message would be output."""
    if any(item.path.suffix == ".ipynb" for item in session.items):
        import matplotlib.font_manager  # noqa: F401


@pytest.fixture(autouse=True)
def recorded_speed():
    """Forget what bandwidth() measured, because the reports of later tests would show it."""
    yield
    if speed := sys.modules.get("stridekit.timing.speed"):
        speed._measured.clear()


# Several workers: `pytest -n auto` -----------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Return the number of processors, six at most. Each further worker would collect all tests again."""
    return min(os.cpu_count() or 1, 6)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes():
    """Give each worker one thread. With a thread for each processor, the tests took 10 % longer."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Let workers begin with what takes longest: the browser's tests, then TAKES_LONG."""
    for item in items:
        uses_lab = "lab" in getattr(item, "fixturenames", ())
        if uses_lab and _group(item.nodeid) != "JupyterLab":
            raise pytest.UsageError(f"{item.nodeid} would start another JupyterLab: see GROUPS")
    if hasattr(config, "workerinput"):
        groups = [*GROUPS, ""]
        items.sort(key=lambda x: "" if _group(x.nodeid) else str(x.path), reverse=True)
        items.sort(key=lambda x: not TAKES_LONG.search(str(x.path)))
        items.sort(key=lambda x: groups.index(_group(x.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep each file to one worker, and so all tests of JupyterLab, and of pages but for those of hands."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return _group(nodeid) or super()._split_scope(nodeid)

    config.option.loadscopereorder = False  # keep the order of the collection
    return Scheduler(config, log)


TAKES_LONG = re.compile(r"ipynb$|test_(worst|fuzz|exercises|export|diagnose|refresh)|_explorer")
# The tests of a group share a browser, and what takes long to start: a server, a site, a page.
# A group has the tests whose names it matches and no group above it.
GROUPS = {
    # those that ask for the fixture `lab`
    "JupyterLab": re.compile(
        "kinds_page"
        "|test_(in_jupyterlab|first_screen|reopening|half_done|hosts|leaks|class_room|practice)"
    ),
    "hands on StrideExplorer": re.compile("test_hands.py.*StrideExplorer"),
    "hands": re.compile("test_hands.py"),
    "site": re.compile("test_site|test_looks"),
    "pages": re.compile(""),
}


def _group(nodeid):
    """Return the group of a browser test; "" for other tests."""
    if not nodeid.startswith("tests/course/browser/"):
        return ""
    return next(group for group, names in GROUPS.items() if names.search(nodeid))


# The summary -------------------------------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter):
    """Print the lines that tests leave with `record_property("summary", line)`."""
    for report in terminalreporter.stats.get("passed", []):
        for name, line in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(line)
