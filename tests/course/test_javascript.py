"""Run each file of tests/course/js by node: geometry, the state on its way, pages without a kernel."""

import subprocess
from pathlib import Path

import pytest

from tests.course.needs import NODE, needs_node

FILES = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))


@needs_node
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_file_passes(file):
    assert NODE, "node is not installed"
    run = subprocess.run([NODE, "--test", file], capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stdout
