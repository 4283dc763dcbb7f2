"""A newcomer's first minutes: clone into a new folder and run the README's two commands, word for word.

    python3 tools/fresh_machine.py [test arguments ...]

The folder has a space in its name and HOME is empty. Root runs them twice: as root, and as a user without
rights. Arguments go to the tests. Needs git, make and a Python; the commands bring the rest.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOBODY = 65534
START_SECONDS = 900
# Variables that any machine sets; all others could hide a fault.
KEPT = re.compile("PATH|LANG|LC_ALL|CI|TMPDIR|TERM|PIP_.*")
ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost):\d+/lab/tree/\S+token=\w+")


def clone_and_run(folder: Path, user: int | None, test_args: list[str]) -> None:
    """Clone the project into a folder, hand it to a user, and run both commands there."""
    project, home = folder / "stride kit", folder / "home"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(project)], check=True)
    home.mkdir()
    env = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    options: dict[str, Any] = {"cwd": project, "env": env | {"HOME": ""}}
    if user is not None:
        folder.chmod(0o755)
        for path in (project, home, *project.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
        options |= {"user": user, "group": user, "extra_groups": []}
        options["env"] = env | {"HOME": str(home)}
    readme = (project / "README.md").read_text(encoding="utf-8")
    lab, test = re.findall(r"^make (?:lab|test)\b", readme, re.MULTILINE)
    who = f"user {os.geteuid() if user is None else user}"
    open_and_close(lab.split(), folder / "lab.log", options)
    print(f"{who}: `{lab}` served the start page", flush=True)
    given = [f"TEST_ARGS={' '.join(test_args)}"] if test_args else []
    subprocess.run([*test.split(), *given], check=True, **options)
    print(f"{who}: `{test}` passed", flush=True)


def open_and_close(lab: list[str], log: Path, options: dict[str, Any]) -> None:
    """Run the command until its server answers with the start page, then stop it."""
    command = [*lab, "LAB_ARGS=--no-browser --port=0"]
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, stdout=out, stderr=out, start_new_session=True, **options
        )
    try:
        until = time.monotonic() + START_SECONDS
        while not (url := ADDRESS.search(log.read_text(errors="replace"))):
            if time.monotonic() > until or server.poll() is not None:
                sys.exit(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.5)
        with urllib.request.urlopen(url[0], timeout=60) as page:
            assert page.status == 200 and b"JupyterLab" in page.read()
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=30)


if __name__ == "__main__":
    for user in [None] if os.geteuid() else [None, NOBODY]:
        with tempfile.TemporaryDirectory(prefix="a stranger's ") as name:
            clone_and_run(Path(name), user, sys.argv[1:])
