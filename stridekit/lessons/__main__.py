"""Run all GPU experiments and write their record: `python -m stridekit.lessons results.json`."""

from __future__ import annotations

import sys
from pathlib import Path

from stridekit.lessons.gpu import run
from stridekit.timing.clocks import why_no_cuda

USAGE = """\
usage: python -m stridekit.lessons results.json

Run the GPU experiments of lesson 08, print their ratios and write every sample to results.json.
You need an NVIDIA GPU that does nothing else, stridekit, and torch 2.6 or newer.

To share the result, put it at stridekit/lessons/gpu_record.json and open a pull request: the lesson
then shows it, with the name of your GPU, wherever there is none."""


def main() -> int:
    """Read the command line; return the exit status."""
    arguments = sys.argv[1:]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    if why := why_no_cuda():
        print(why, file=sys.stderr)
        return 1
    path = Path(arguments[0])
    try:
        path.open("a").close()  # before anything is measured, since that takes a while
    except OSError as error:
        print(f"{path} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    results = run()
    print(results)
    path.write_text(results.to_json() + "\n", encoding="utf-8")
    return 0 if results.comparisons else 1


if __name__ == "__main__":
    sys.exit(main())
