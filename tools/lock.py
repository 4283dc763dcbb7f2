"""Write constraints.txt: one version of every package, for every system and Python.

`python tools/lock.py [--upgrade] [options of uv pip compile]`. Without --upgrade, locked versions stay
where they can.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "constraints.txt"

HEADER = """\
# One version of every package, for every system: made by `make lock` from pyproject.toml.
# The CUDA packages count only where pip takes a CUDA build of torch.
"""

# The lock must not name anything of the machine that writes it: no addresses, no paths.
COMPILE = [
    *("pip", "compile", "pyproject.toml", "--output-file=constraints.txt", "--extra=test"),
    *("--universal", "--python-version=3.11", "--strip-extras", "--no-annotate", "--no-header"),
    *("--no-emit-index-url", "--no-emit-find-links", "--quiet"),
]


def main() -> int:
    """Resolve with a temporary uv and put the header on top; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        bin_ = Path(folder) / ("Scripts" if os.name == "nt" else "bin")
        install = [str(bin_ / "python"), "-m", "pip", "install", "--quiet", "uv"]
        resolve = [str(bin_ / "uv"), *COMPILE, *sys.argv[1:]]
        for command in (install, resolve):
            if subprocess.run(command, cwd=ROOT).returncode:
                print("Lock: constraints.txt is as it was; the reason is above", file=sys.stderr)
                return 1
    LOCK.write_text(HEADER + LOCK.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
