"""Marks for tests that need a program: skipped, with the reason, where it is missing; never in CI."""

import os
import shutil

import pytest

from chromium import find_chromium

NODE = shutil.which("node")


def _needs(program, path):
    missing = path is None and not os.environ.get("CI")
    return pytest.mark.skipif(missing, reason=f"{program} is not installed; CI must run this")


needs_node = _needs("node", NODE)
needs_chromium = _needs("chromium", find_chromium())
