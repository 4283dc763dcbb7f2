"""The tests of what the package does with tensors, on other versions of torch than the lessons' own.

    python3 tools/torch_versions.py 2.6.0 2.14.1

Each version gets an environment of its own, which is removed afterwards. pip may download several gigabytes
for it. What is skipped there is listed with its reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = (
    "layout views questions strided_set memory blocks aliasing relation explain view_error storage "
    "storage_trust diagnose audit audit_findings audit_report fuzz"
)
DOCTESTS = ("layout.py", "rules.py", "memory", "tensors", "auditing")
TESTS = [
    *(f"tests/test_{name}.py" for name in NAMES.split()),
    *(f"stridekit/{name}" for name in DOCTESTS),
]
PYTEST = [
    *("-q", "-rs", "--doctest-modules"),
    *("-p", "no:cacheprovider", "-o", "addopts=", "-m", "not long"),
    "--deselect=tests/test_fuzz.py::test_family[sdpa]",  # attention is that of the lessons' torch
]


def main() -> int:
    """Run the tests on each version that is named; print a line for each; return the exit status."""
    if not sys.argv[1:]:
        sys.exit(__doc__)
    says = {}
    for version in sys.argv[1:]:
        with tempfile.TemporaryDirectory(prefix="torch-") as folder:
            venv.create(folder, with_pip=True)
            python = Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
            says[version] = _installed(python, version) or tested(python)
    for version, what in says.items():
        print(f"torch {version}: {what or 'all pass'}")
    return 1 if any(says.values()) else 0


def _installed(python: Path, version: str) -> str:
    """Why a torch cannot be had with all that the tests need; "" if it is installed."""
    wanted = [f"torch=={version}", "-e", f"{ROOT}[export]"]
    wanted += ["pytest", "hypothesis", "einops", "safetensors", "onnx"]
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--no-cache-dir"]
    return "cannot be installed" if subprocess.run([*pip, *wanted], cwd=ROOT).returncode else ""


def tested(python: Path) -> str:
    """What a run of the tests by this Python says; "" if all of them pass or are skipped."""
    run = [str(python), "-m", "pytest", *PYTEST, *TESTS]
    return "fails" if subprocess.run(run, cwd=ROOT).returncode else ""


if __name__ == "__main__":
    sys.exit(main())
