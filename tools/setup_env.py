"""Make .venv ready: `python3 tools/setup_env.py`. Silent when there is nothing to do.

Any Python 3 can read this file (please keep newer syntax out): an old one hands over to a newer one on
the PATH, or says in one line that it is too old. environment.py does the work.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

# The versions that torch 2.13 has builds for, and their commands, the best tested first.
OLDEST, NEWEST = (3, 11), (3, 14)
COMMANDS = ("python3.13", "python3.12", "python3.11", "python3.14")


def fits(version: "tuple[int, ...]") -> bool:
    """True if torch has builds for this version of Python."""
    return OLDEST <= version <= NEWEST


def starts(command: str) -> bool:
    """True if a command runs at all, which the stand-in of a version manager may not."""
    try:
        return subprocess.call([command, "-c", ""], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def other_python(
    on_path: "dict[str, str | None]", starts: "Callable[[str], bool]" = starts
) -> "str | None":
    """The path of the first of COMMANDS that is on the PATH and starts, or None."""
    paths = (on_path.get(command) for command in COMMANDS)
    return next((path for path in paths if path and starts(path)), None)


def no_python(version: "tuple[int, ...]") -> str:
    """The message for a Python that torch has no builds for."""
    return (
        "Python %d.%d to %d.%d is needed, this is %d.%d and there is no other on the PATH: install "
        "one, or name one: make PYTHON=/path/to/python3" % (OLDEST + NEWEST + version)
    )


def main() -> None:
    """Set up with this Python or another one, or say why neither will do."""
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
