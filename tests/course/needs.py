"""Marks for tests that need a program: skipped, with the reason, where it is missing; never in CI."""

import os
import shutil

import pytest

from chromium import find_chromium

# Kinds of widgets that stand for all by day, where each kind takes long: one draws, one asks.
BY_DAY = ["StrideExplorer", "Predict"]
NODE = shutil.which("node")


def _needs(program, path):
    missing = path is None and not os.environ.get("CI")
    return pytest.mark.skipif(missing, reason=f"{program} is not installed; CI must run this")


def at_night_but(by_day, values):
    """Return values as parameters of a test: those that are not in `by_day` have the mark `long`."""
    long = pytest.mark.long
    return [value if value in by_day else pytest.param(value, marks=long) for value in values]


needs_node = _needs("node", NODE)
needs_chromium = _needs("chromium", find_chromium())
