"""Make .venv ready: `python3 tools/setup_env.py`. Says and does nothing when it is.

Any Python 3 can read this file (please keep newer syntax out), so that an old one can hand over to
a newer one on the PATH, or say in one line that it is too old. environment.py does the work.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

# The versions that torch 2.13 has builds for, and their commands, the most widely tried first.
OLDEST, NEWEST = (3, 11), (3, 14)
COMMANDS = ("python3.13", "python3.12", "python3.11", "python3.14")


def fits(version: "tuple[int, ...]") -> bool:
    """True if torch has builds for this version of Python."""
    return OLDEST <= version <= NEWEST


def starts(command: str) -> bool:
    """True if a command runs at all: the stand-in of a version manager may not."""
    try:
        return subprocess.call([command, "-c", ""], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def other_python(
    on_path: "dict[str, str | None]", starts: "Callable[[str], bool]" = starts
) -> "str | None":
    """The first of COMMANDS that is on the PATH and starts, as its path."""
    paths = (on_path.get(command) for command in COMMANDS)
    return next((path for path in paths if path and starts(path)), None)


def no_python(version: "tuple[int, ...]") -> str:
    """Say which Python is needed, which one this is, and what to do."""
    return (
        "Python %d.%d to %d.%d is needed, this is %d.%d and there is no other on the PATH: install "
        "one, or name one: make PYTHON=/path/to/python3" % (OLDEST + NEWEST + version)
    )


def main() -> None:
    """Set up with this Python if it fits, else with another one, else say why not."""
    version = tuple(sys.version_info[:2])
    if fits(version):
        from environment import prepare

        sys.exit(prepare())
    other = other_python({command: shutil.which(command) for command in COMMANDS})
    if other is None:
        sys.exit(no_python(version))
    sys.stdout.flush()
    os.execv(other, [other, os.path.abspath(__file__)])


if __name__ == "__main__":
    main()
