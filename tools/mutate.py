"""`make mutate`: plant defects in copies of the project, one at a time, and see the tests turn red.

    python tools/mutate.py [part of a name ...]

The defects stand in tests/defects.txt. The working tree is never touched. The tests must be green without
a defect; a defect that no test notices is a missing test, and makes the exit status 1.

A short pytest spends most of its time importing torch, so one process imports it and each run branches off
from there (where the system cannot do that, each run imports torch itself and takes longer). Short tests
come first: the first that fails ends the run.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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
        found = FAILURE.search(text)
        return found.group(1) if found else f"pytest ended with {run.exitcode}: {text[-500:]}"


class ShortTestsFirst:
    """A plugin of pytest: the first run of a file notes how long its tests take, and others go by that."""

    def __init__(self, notes: Path) -> None:
        self.notes, self.first = notes, not notes.exists()
        self.seconds = {} if self.first else json.loads(notes.read_text(encoding="utf-8"))

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Sort the tests; the cells of a notebook have an order of their own."""
        if not self.first and ".ipynb" not in self.notes.name:
            items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up the phases of a test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Leave the times to later runs."""
        if self.first:
            self.notes.write_text(json.dumps(self.seconds), encoding="utf-8")


def _processes() -> Any:
    """The context that starts processes: branched off from one with the slow imports done, if possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


PROCESSES = _processes()


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

    notes = root.parent / f"{'-'.join(tests).replace('/', '-')}.json"
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", ""]
    sys.exit(pytest.main([*options, *tests], plugins=[ShortTestsFirst(notes)]))


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

    @contextmanager
    def copy_to_use() -> Iterator[Copy]:
        copy = copies.get()
        try:
            yield copy
        finally:
            copies.put(copy)

    def control(tests: str) -> str:
        with copy_to_use() as copy:
            return copy.why_red([tests])

    def try_one(mutation: Mutation) -> str:
        with copy_to_use() as copy, copy.planted(mutation):
            return copy.why_red([mutation.tests])

    with tempfile.TemporaryDirectory(prefix="stridekit-mutate-") as folder:
        for k in range(count):
            copies.put(Copy(Path(folder) / str(k)))
        with ThreadPoolExecutor(count) as pool:
            suites = sorted({mutation.tests for mutation in mutations})
            for tests, red in zip(suites, pool.map(control, suites), strict=True):
                if red:
                    raise RuntimeError(f"{tests} is red without any defect: {red}")
            yield from zip((m.name for m in mutations), pool.map(try_one, mutations), strict=True)


def row(name: str, test: str, width: int) -> str:
    """One mutation's line: its name and the test that noticed it."""
    return f"{name:<{width}}  {test or 'SURVIVED: a test is missing'}"


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
        print(row(name, test, width), flush=True)
        noticed += bool(test)
    print(f"{noticed} of {len(chosen)} defects were noticed")
    return 0 if noticed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
