"""The package works from a zip, where nothing can be opened by its path."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "stridekit"
PROGRAM = """
import stridekit
assert "package.zip" in stridekit.__file__
print(stridekit.Layout((2, 3)).numel)
print(stridekit.diagnose("ValueError: step must be greater than zero").title)

from stridekit.widgets.offline import offline_page
box = stridekit.Diagnose("ValueError: step must be greater than zero")
print(box.found.title, "bringToLife" in offline_page([box]))

from stridekit.exercises import strides
print("def row" in str(strides.row.solution()))

from stridekit.lessons.gpu import gpu_results
from stridekit.lessons.records import RECORDED, read, recorded
path = min(RECORDED.iterdir(), key=lambda path: path.name)
name = next(iter(read(path)[1]))
print("recorded on" in recorded(name, [])[1], "recorded" in gpu_results().ratios)
"""


def test_the_package_works_from_a_zip(tmp_path):
    path = tmp_path / "package.zip"
    with zipfile.ZipFile(path, "w") as package:
        for file in PACKAGE.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                package.write(file, file.relative_to(PACKAGE.parent))
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
    )
    assert process.stdout.splitlines() == [
        "6",
        "a slice that runs backwards",
        "a slice that runs backwards True",
        "True",
        "True True",
    ], process.stderr
