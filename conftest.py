"""What all tests share: the notebooks' kernel, hypothesis' profiles, a closing summary."""

import os
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from stridekit import notebook

# The same examples on every run, and no verdict that depends on the speed of the machine.
settings.register_profile(
    "stridekit", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("stridekit-ci", settings.get_profile("stridekit"), max_examples=200)
settings.load_profile("stridekit-ci" if os.environ.get("CI") else "stridekit")

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
    """Fail where a notebook has become slow."""
    if any(seconds > MOST_SECONDS for seconds in SECONDS.values()) and session.exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter):
    """Print what tests said with `record_property("summary", line)`."""
    if any(SECONDS.values()):
        taken = ", ".join(f"{name} {seconds:.1f}" for name, seconds in sorted(SECONDS.items()))
        terminalreporter.write_line(f"CPU seconds of notebooks: {taken}; {MOST_SECONDS} at most")
    for report in terminalreporter.stats.get("passed", []):
        for name, line in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(line)
