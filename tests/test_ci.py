"""CI's script: what it runs, and that one red part is enough, whichever it is and however late."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LONG = ("test_export.py", "test_leaks.py", "test_restarts.py")
PARTS = {
    "lint": "lint",
    "notebooks": "refresh REFRESH_ARGS=--check",
    "tests": "test TEST_ARGS=--ignore=tests/browser",
    "long": f"test TEST_ARGS={' '.join(f'tests/browser/{name}' for name in LONG)}",
    "browser": "test TEST_ARGS=tests/browser "
    + " ".join(f"--ignore=tests/browser/{name}" for name in LONG),
}

STAND_IN = """\
#!/bin/sh
[ "$1" = --version ] && exit 0
echo "$*" >>asked
[ "$*" != "$RED" ] || exit 3
"""

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


@pytest.fixture
def ci(tmp_path):
    """Run the script with a `make` that only writes down what it is asked for."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "bin").mkdir()
    script = shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    for name in ("make", "git", "node", "chromium", "python3", "apt-get", "sudo"):
        (tmp_path / "bin" / name).write_text(STAND_IN if name == "make" else "#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(0o755)

    def run(red=""):
        env = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "RED": red}
        done = subprocess.run(["bash", script], env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, (tmp_path / "asked").read_text().splitlines()

    return run


def test_all_parts_are_run(ci):
    status, asked = ci()
    assert (status, sorted(asked)) == (0, sorted(PARTS.values()))
    assert asked[0] == "lint"


@pytest.mark.parametrize("part", PARTS)
def test_one_red_part_is_enough(ci, part):
    """And the others are run all the same, but after a red lint."""
    status, asked = ci(PARTS[part])
    assert status == 3
    assert len(asked) == (1 if part == "lint" else len(PARTS))


def test_what_is_run_is_there():
    assert [name for name in LONG if not (ROOT / "tests" / "browser" / name).is_file()] == []
