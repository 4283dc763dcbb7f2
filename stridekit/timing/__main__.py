"""Run all GPU experiments and write their record: `python -m stridekit.timing results.json`."""

from __future__ import annotations

import sys
from pathlib import Path

from stridekit.timing.clocks import why_no_cuda
from stridekit.timing.gpu import run


def main() -> int:
    """Read the command line; return the exit status."""
    arguments = sys.argv[1:]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m stridekit.timing results.json", file=sys.stderr)
        return 2
    if why := why_no_cuda():
        print(why, file=sys.stderr)
        return 1
    results = run()
    Path(arguments[0]).write_text(results.to_json() + "\n", encoding="utf-8")
    print(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
