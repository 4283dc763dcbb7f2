"""A fixture for tests of your own: a run may copy no more than the last time.

A conftest.py takes it by `pytest_plugins = ["stridekit.pytest_plugin"]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stridekit.audit.result import Audit

FOLDER = "copies"  # beside the file of the test


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes baselines again."""
    group = parser.getgroup("stridekit")
    group.addoption(
        "--update-copies", action="store_true", help="write the baselines of copies_no_more again"
    )


@pytest.fixture
def copies_no_more(request: pytest.FixtureRequest) -> Callable[[Audit], None]:
    """Return a function that fails if an audit copied more than the baseline of this test.

    The baseline is `copies/<file>-<test>.json` beside the test; the name of a class stands before that of
    its test, and a second call in a test has a file that ends in -2. The first run writes it, and
    `pytest --update-copies` writes it again: keep it with the code.

        def test_my_model_copies_no_more(copies_no_more):
            copies_no_more(stridekit.audit(model, x))
    """
    path = request.node.path
    _, _, test = request.node.nodeid.partition("::")  # with its classes
    name = re.sub(r"[^\w.-]+", "-", f"{path.stem}-{test}").strip("-")
    update = request.config.getoption("--update-copies")
    calls = count(1)

    def check(audit: Audit) -> None:
        __tracebackhide__ = True
        number = next(calls)
        ending = f"-{number}" if number > 1 else ""
        audit.assert_no_more_than(path.parent / FOLDER / f"{name}{ending}.json", update=update)

    return check
