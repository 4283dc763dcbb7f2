"""CI runs all that it has to, and pytest compares all that it runs."""

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_pytest_compares_everything():
    """Every cell, and the examples of docstrings and README; a warning is an error."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    wanted = {
        "--nbval",
        "--doctest-modules",
        "--doctest-glob=README.md",
        "--strict-markers",
    }
    assert wanted <= set(options["addopts"])
    assert options["filterwarnings"][0] == "error"
    assert options["xfail_strict"] is True
    assert options["testpaths"] == ["tests", "stridekit", "notebooks", "README.md", "docs"]


STAND_IN = """\
#!/bin/sh
[ "$1" = --version ] && exit 0
echo "$*" >>asked
[ "$*" != "$RED" ] || exit 3
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(("arguments", "target"), [([], "test"), (["test-all"], "test-all")])
def test_ci_runs_both_parts_and_one_red_is_enough(arguments, target, tmp_path):
    """Its `make` only records the targets."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "bin").mkdir()
    script = shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    for name in ("make", "git", "node", "npm", "chromium", "python3", "apt-get", "sudo"):
        command = tmp_path / "bin" / name
        command.write_text(STAND_IN if name == "make" else "#!/bin/sh\n")
        command.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    tests = f"-k {target}"
    cases = [  # the target that fails, the status of CI, and the targets that it makes
        ("", 0, ["lint", tests]),
        ("lint", 3, ["lint"]),
        (tests, 3, ["lint", tests]),
    ]
    for red, status, targets in cases:
        env = os.environ | {"PATH": path, "RED": red}
        ci = subprocess.run(["bash", script, *arguments], env=env, capture_output=True)
        assert ci.returncode == status
        asked = (tmp_path / "asked").read_text().splitlines()
        assert asked[-len(targets) :] == targets


def test_package_json_changes_no_other_package():
    """.venv lies below it, and node would read JupyterLab's own scripts as modules with this type."""
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    assert "type" not in package
