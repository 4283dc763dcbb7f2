"""`make mutate`: plant defects in copies of the project, one at a time, and see the tests turn red.

    python tools/mutate.py [part of a name ...]

The defects stand in tests/defects.txt. The working tree is never touched. The tests must be green without
a defect; a defect that no test notices is a missing test, and makes the exit status 1.

A short pytest spends most of its time importing torch, so one process imports it and each run branches off
from there. The first test that fails ends the run.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 600
IMPORTED = ["torch", "matplotlib.pyplot", "IPython.display", "nbformat", "ipywidgets"]
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+::Cell \d+|\S+)", re.MULTILINE)


class Mutation(NamedTuple):
    """A defect: its name, the file in which `new` replaces `old`, and the tests that have to notice."""

    name: str
    file: str
    old: str
    new: str
    tests: str


def read(text: str) -> list[Mutation]:
    r"""The mutations of a text in the form of tests/defects.txt.

    >>> read("a.py is held by b.py\n    a name\n    - x = 1\n    + x = 2\n")
    [Mutation(name='a name', file='a.py', old='x = 1', new='x = 2', tests='b.py')]
    """
    file, tests = "", ""
    rows: list[tuple[str, str, str, dict[str, list[str]]]] = []
    for line in text.splitlines():
        if line.startswith(("    -", "    +")):
            rows[-1][-1][line[4]].append(line[6:])
        elif line.startswith("    "):
            rows.append((line.strip(), file, tests, {"-": [], "+": []}))
        elif line and not line.startswith("#"):
            file, _, tests = line.partition(" is held by ")
    return [
        Mutation(name, file, "\n".join(quoted["-"]), "\n".join(quoted["+"]), tests)
        for name, file, tests, quoted in rows
    ]


MUTATIONS = read((ROOT / "tests" / "defects.txt").read_text(encoding="utf-8"))


class Copy:
    """A copy of the project in which defects are planted; its tests read it and nothing else."""

    def __init__(self, root: Path) -> None:
        self.root = root
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, root / name)

    @contextmanager
    def planted(self, mutation: Mutation) -> Iterator[None]:
        """Hold the defect in the copy while the block runs."""
        path = self.root / mutation.file
        text = path.read_text(encoding="utf-8")
        path.write_text(mutated(text, mutation), encoding="utf-8", newline="\n")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8", newline="\n")

    def why_red(self, tests: Sequence[str]) -> str:
        """The name of the first test that fails; "" if all pass."""
        said = self.root.with_suffix(".txt")
        run = PROCESSES.Process(target=_pytest, args=(self.root, said, tests))
        run.start()
        run.join(TIMEOUT)
        if run.is_alive():
            run.kill()
            run.join()
            return f"no end within {TIMEOUT} s"
        if run.exitcode == 0:
            return ""
        text = said.read_text(encoding="utf-8", errors="replace")
        failure = FAILURE.search(text)
        return failure[1] if failure else f"pytest ended with {run.exitcode}: {text[-500:]}"


# Where the system can, processes branch off from one with the slow imports done.
KIND = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PROCESSES: Any = multiprocessing.get_context(KIND)
PROCESSES.set_forkserver_preload(IMPORTED)


def _pytest(root: Path, said: Path, tests: Sequence[str]) -> None:
    """Run tests in a copy as `python -m pytest` would, with the output in a file."""
    with said.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(root)
    os.environ |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    sys.modules.pop("mutate", None)  # the copy has its own
    import pytest

    sys.exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-m", "", *tests]))


def mutated(text: str, mutation: Mutation) -> str:
    """The text with the defect in it. Raises ValueError unless it fits in exactly one place."""
    if text.count(mutation.old) != 1:
        raise ValueError(
            f"“{mutation.name}”: {mutation.file} has {text.count(mutation.old)} times what it "
            f"replaces: {mutation.old!r}"
        )
    return text.replace(mutation.old, mutation.new)


def caught(mutations: Sequence[Mutation], workers: int | None = None) -> Iterator[tuple[str, str]]:
    """Yield each mutation's name with the test that noticed it, or "" if none did, as soon as it is known.

    Raises RuntimeError if a test is red without any defect: it would prove nothing.
    """
    count = min(workers or os.cpu_count() or 1, len(mutations))
    copies: Queue[Copy] = Queue()

    def why_red(tests: str, mutation: Mutation | None = None) -> str:
        copy = copies.get()
        try:
            with copy.planted(mutation) if mutation else nullcontext():
                return copy.why_red([tests])
        finally:
            copies.put(copy)

    with (
        tempfile.TemporaryDirectory(prefix="stridekit-mutate-") as folder,
        ThreadPoolExecutor(count) as pool,
    ):
        for k in range(count):
            copies.put(Copy(Path(folder) / str(k)))
        suites = sorted({mutation.tests for mutation in mutations})
        for tests, red in zip(suites, pool.map(why_red, suites), strict=True):
            if red:
                raise RuntimeError(f"{tests} is red without any defect: {red}")
        reds = pool.map(why_red, [mutation.tests for mutation in mutations], mutations)
        yield from zip((mutation.name for mutation in mutations), reds, strict=True)


def main() -> int:
    """Try the defects that the command line names, or all; return the exit status."""
    wanted = sys.argv[1:]
    chosen = [m for m in MUTATIONS if not wanted or any(part in m.name for part in wanted)]
    if not chosen:
        print(f"no mutation has {' or '.join(wanted)} in its name", file=sys.stderr)
        return 2
    width = max(len(mutation.name) for mutation in chosen)
    noticed = 0
    for name, test in caught(chosen):
        print(f"{name:<{width}}  {test or 'SURVIVED: a test is missing'}", flush=True)
        noticed += bool(test)
    print(f"{noticed} of {len(chosen)} defects were noticed")
    return 0 if noticed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
