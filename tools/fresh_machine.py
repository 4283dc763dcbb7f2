"""A newcomer's first minutes: clone into a new folder and run the README's two commands, word for word.

    python3 tools/fresh_machine.py [test arguments ...]

The folder has a space in its name and HOME is empty. Root does it twice: as root, and as a user without
rights. Arguments are passed on to the tests. Needs git, make and a Python; the commands bring the rest.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOBODY = 65534
START_SECONDS = 900
# Variables that any machine sets; whatever else is set here could hide a fault.
KEPT = ("PATH", "LANG", "LC_ALL", "CI", "TMPDIR", "TERM")


def commands(readme: str) -> tuple[str, str]:
    r"""The README's commands that open the suite and test it.

    >>> commands("```\nmake lab     # opens\nmake test\n```")
    ('make lab', 'make test')
    """
    found = re.search(r"^```\n(make lab)\b.*\n(make test)\b.*\n```", readme, re.MULTILINE)
    if not found:
        raise SystemExit("the README has no block with the two commands `make lab` and `make test`")
    return found.group(1), found.group(2)


def main() -> int:
    """Try each kind of user that this machine can play; return the exit status."""
    users: list[int | None] = [None] if os.geteuid() else [None, NOBODY]
    for user in users:
        who = "root" if os.geteuid() == 0 and user is None else f"user {user or os.geteuid()}"
        with tempfile.TemporaryDirectory(prefix="a stranger's ") as folder:
            _clone_and_run(Path(folder), user, who, sys.argv[1:])
    return 0


def _clone_and_run(folder: Path, user: int | None, who: str, test_args: Sequence[str]) -> None:
    # git refuses to read another user's repository, so the clone comes first and is then handed over.
    project = folder / "stride kit"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(project)], check=True)
    lab, test = commands((project / "README.md").read_text(encoding="utf-8"))
    home = folder / "home"
    home.mkdir()
    env = {k: value for k, value in os.environ.items() if k in KEPT or k.startswith("PIP_")}
    env["HOME"] = "" if user is None else str(home)
    if user is not None:
        folder.chmod(0o755)
        for path in (project, home, *project.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
    begun = time.monotonic()
    _open_and_close(lab, project, env, user)
    took = time.monotonic() - begun
    print(f"{who}: `{lab}` served the start page after {took:.0f} s", flush=True)
    begun = time.monotonic()
    options = [f"TEST_ARGS={' '.join(test_args)}"] if test_args else []
    subprocess.run([*test.split(), *options], cwd=project, env=env, check=True, **_as(user))
    print(f"{who}: `{test}` passed after {time.monotonic() - begun:.0f} s", flush=True)


def _as(user: int | None) -> dict[str, Any]:
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def _open_and_close(lab: str, project: Path, env: dict[str, str], user: int | None) -> None:
    """Run the command until its server answers with the start page, then stop it."""
    log = project.parent / "lab.log"
    command = [*lab.split(), "LAB_ARGS=--no-browser --port=0"]
    options: dict[str, Any] = {"cwd": project, "env": env, "start_new_session": True}
    with log.open("wb") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, **options, **_as(user))
    try:
        url = _wait_for_url(log, server)
        with urllib.request.urlopen(url, timeout=60) as page:
            assert page.status == 200 and b"JupyterLab" in page.read(), url
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _wait_for_url(log: Path, server: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        text = log.read_text(encoding="utf-8", errors="replace")
        found = re.search(r"http://(?:127\.0\.0\.1|localhost):\d+/lab/tree/\S+token=\w+", text)
        if found:
            return found.group(0)
        time.sleep(0.5)
    raise SystemExit(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")


if __name__ == "__main__":
    if not shutil.which("git") or not shutil.which("make"):
        raise SystemExit("git and make are needed")
    sys.exit(main())
