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
PAUSE = 0.5  # seconds between two looks at the log
# Variables that any machine sets; all others could hide a fault.
KEPT = re.compile("PATH|LANG|LC_ALL|CI|TMPDIR|TERM|PIP_.*")
ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost):\d+/lab/tree/\S+token=\w+")


def clone_and_run(folder: Path, user: int | None, test_args: list[str]) -> None:
    """Clone the project into a folder, hand it to a user, and run both commands there."""
    project = folder / "stride kit"
    home = folder / "home"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(project)], check=True)
    home.mkdir()
    env = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    options: dict[str, Any] = {"cwd": project, "env": env | {"HOME": ""}}
    if user is None:
        user_name = f"user {os.geteuid()}"
    else:
        user_name = f"user {user}"
        folder.chmod(0o755)
        for path in (project, home, *project.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
        options |= {"user": user, "group": user, "extra_groups": []}
        options["env"] = env | {"HOME": str(home)}
    readme = (project / "README.md").read_text(encoding="utf-8")
    lab, test = re.findall(r"^make (?:lab|test)\b", readme, re.MULTILINE)
    open_and_close(lab.split(), folder / "lab.log", options)
    print(f"{user_name}: `{lab}` served the start page", flush=True)
    test_command = test.split()
    if test_args:
        test_command.append(f"TEST_ARGS={' '.join(test_args)}")
    subprocess.run(test_command, check=True, **options)
    print(f"{user_name}: `{test}` passed", flush=True)


def open_and_close(lab: list[str], log: Path, options: dict[str, Any]) -> None:
    """Run the command until its server answers with the start page, then stop it."""
    command = [*lab, "LAB_ARGS=--no-browser --port=0"]
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, stdout=output, stderr=output, start_new_session=True, **options
        )
    try:
        address = wait_for_address(server, log)
        with urllib.request.urlopen(address, timeout=60) as page:
            assert page.status == 200
            assert b"JupyterLab" in page.read()
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=30)


def wait_for_address(server: subprocess.Popen[bytes], log: Path) -> str:
    """Return the address of the start page, once the server has logged it."""
    end = time.monotonic() + START_SECONDS
    while True:
        text = log.read_text(errors="replace")
        if match := ADDRESS.search(text):
            return match[0]
        if time.monotonic() > end or server.poll() is not None:
            sys.exit(f"the server did not start:\n{text[-3000:]}")
        time.sleep(PAUSE)


def users() -> list[int | None]:
    """Return the users that run the commands: None is the one who called this script."""
    return [None, NOBODY] if os.geteuid() == 0 else [None]


def main(test_args: list[str]) -> None:
    """Clone and run as each user, in a folder of its own."""
    for user in users():
        with tempfile.TemporaryDirectory(prefix="a stranger's ") as name:
            clone_and_run(Path(name), user, test_args)


if __name__ == "__main__":
    main(sys.argv[1:])
