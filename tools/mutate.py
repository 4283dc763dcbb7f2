"""Plant defects one at a time, and run the tests that reach them: if none turns red, a test is missing.

    python tools/mutate.py PART [--count 50] [--seed 7] [--workers 2]

PART is a part of `make sizes`, such as "core" or "widgets, JavaScript"; a path; "all"; or "written" for the
defects of tests/defects.txt. The others come from the syntax tree (defects.py), and the seed says which of
them are planted. A defect is planted in a copy of the project. tests/equivalent_defects.txt lists defects
that change nothing which a user could notice, each with its reason; they are not planted.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

import pytest

from defects import LANGUAGES, Defect, defects_in
from sizes import PARTS, files_of

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = ROOT / "tests" / "defects.txt"
EQUIVALENT = ROOT / "tests" / "equivalent_defects.txt"
TIMEOUT = 300  # seconds: a defect may make a loop endless
# Imports that take most of a short run.
PRELOADED = ["torch", "matplotlib.pyplot", "nbformat", "ipywidgets"]
FIRST = 60  # so many tests run before all others that reach a defect
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+::Cell \d+|\S+)", re.MULTILINE)


class Planted(NamedTuple):
    """A defect in a file, and the tests that have to notice it; no tests: those that reach its line."""

    file: str
    name: str
    old: str
    new: str
    start: int = -1
    line: int = 0
    tests: tuple[str, ...] = ()

    def in_text(self, text: str) -> str:
        """Return the text of the file with the defect."""
        if self.start < 0:
            return text.replace(self.old, self.new)
        return Defect(self.name, self.start, self.line, self.old, self.new).planted_in(text)


# Which defects -------------------------------------------------------------------------------------


def written_defects() -> list[Planted]:
    """Return the defects of tests/defects.txt."""
    defects = []
    text = WRITTEN.read_text(encoding="utf-8")
    for block in re.split(r"^(?=\S.* is held by )", text, flags=re.MULTILINE)[1:]:
        file, tests = block.partition("\n")[0].split(" is held by ")
        for row in re.findall(r"^    [^-+\n].*\n(?:    [-+].*\n?)+", block, re.MULTILINE):
            name, *quoted = row.splitlines()
            old = "\n".join(line[6:] for line in quoted if line[4] == "-")
            new = "\n".join(line[6:] for line in quoted if line[4] == "+")
            defects.append(Planted(file, name.strip(), old, new, tests=_holders(file, tests)))
    return defects


def _holders(file: str, tests: str) -> tuple[str, ...]:
    """Return the tests that hold a file; of the rows of hands, those of the widget in its folder."""
    folder = Path(file).parent.name
    if not tests.endswith("test_hands.py") or folder in ("page", "widgets"):
        return (tests,)
    return tests, "-k", folder.title().replace("_", "")


def _browser_tests(file: str) -> tuple[str, ...]:
    """Return the browser's tests that `make test` runs and that a file may turn red."""
    browser = "tests/course/browser"
    if file.startswith("labextension/"):
        names = ("test_extension", "test_first_screen", "test_half_done", "test_reopening")
        return tuple(f"{browser}/{name}.py" for name in names)
    if file.startswith("stridekit/export/"):
        return (f"{browser}/test_site.py",)
    if file.startswith("stridekit/widgets/"):
        return _holders(file, f"{browser}/test_hands.py")
    if file.startswith("tools/"):
        return (f"{browser}/test_photos.py",)
    return ()


def _other_browser_tests(file: str) -> tuple[str, ...]:
    """Return the tests of what a script does besides its states: motion, pictures, words that are heard."""
    if not file.startswith("stridekit/widgets/") or not file.endswith(".js"):
        return ()
    names = ("test_vector", "test_motion", "test_stillness", "test_heard", "test_on_demand")
    return tuple(f"tests/course/browser/{name}.py" for name in names)


def generated_defects(part: str) -> list[Planted]:
    """Return all defects of a part that the generator makes and that are not listed as equivalent."""
    if part == "all":
        return [defect for name in PARTS if name != "tests" for defect in generated_defects(name)]
    if part in PARTS:
        paths = list(files_of(*PARTS[part]))
    else:
        paths = [
            path
            for path in sorted((ROOT / part).parent.rglob("*"))
            if path.is_relative_to(ROOT / part)
        ]
    known = equivalent()
    defects = []
    for path in paths:
        if path.suffix not in LANGUAGES:
            continue
        file = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        for defect in defects_in(source, path.suffix):
            planted = Planted(
                file, defect.operator, defect.old, defect.new, defect.start, defect.line
            )
            if change_of(planted, source) not in known:
                defects.append(planted)
    return defects


def change_of(planted: Planted, source: str) -> tuple[str, str, str]:
    """The file, and the lines that a defect changes, before and after, with spaces between words alone."""
    before, after = source.splitlines(), planted.in_text(source).splitlines()
    first = 0
    while before[first : first + 1] == after[first : first + 1]:
        first += 1
    last = -1
    while before[last] == after[last] and min(len(before), len(after)) + last > first:
        last -= 1
    stop = [len(lines) + last + 1 for lines in (before, after)]
    old = " ".join(" ".join(before[first : stop[0]]).split())
    new = " ".join(" ".join(after[first : stop[1]]).split())
    return planted.file, old, new


@cache
def equivalent() -> dict[tuple[str, str, str], str]:
    """The changes that tests/equivalent_defects.txt lists, with their reasons."""
    reasons = {}
    for block in EQUIVALENT.read_text(encoding="utf-8").split("\n\n"):
        if not block.startswith("#") and block.strip():
            file, old, new, *reason = block.strip().splitlines()
            reasons[file, old.strip()[2:], new.strip()[2:]] = " ".join(" ".join(reason).split())
    return reasons


# Which tests ---------------------------------------------------------------------------------------


class Reach(NamedTuple):
    """The tests that pass, by their seconds, and by the lines of Python and the scripts that they reach."""

    seconds: dict[str, float]
    lines: dict[tuple[str, int], set[str]]
    scripts: dict[str, set[str]]

    def tests_of(self, planted: Planted) -> list[str]:
        """Return the tests that reach a defect: one of each file first, the quickest first."""
        if planted.file.endswith(".js"):
            tests = self.scripts.get(planted.file, set())
        else:
            span = range(planted.line, planted.line + planted.old.count("\n") + 1)
            tests = set().union(*(self.lines.get((planted.file, line), set()) for line in span))
            # Where an import runs the line, or a process of its own, whoever uses the file may notice.
            if "" in tests or not tests:
                used = [names for (file, _), names in self.lines.items() if file == planted.file]
                tests = tests.union(*used) - {""}
        by_file = defaultdict(list)
        for name in sorted(tests & self.seconds.keys(), key=lambda name: self.seconds[name]):
            by_file[name.partition("::")[0]].append(name)
        rounds: dict[str, int] = {}
        for names in by_file.values():
            rounds |= {name: turn for turn, name in enumerate(names)}
        return sorted(rounds, key=lambda name: (rounds[name], self.seconds[name]))

    def groups_of(self, planted: Planted) -> list[Sequence[str]]:
        """Return those tests in the order in which they run: a few, all others, those of a browser."""
        tests = self.tests_of(planted)
        in_browser = [_browser_tests(planted.file), _other_browser_tests(planted.file)]
        return [tests[:FIRST], tests[FIRST:], *in_browser]


class Watch:
    """A plugin of pytest that notes what each test reaches."""

    def __init__(self, root: Path) -> None:
        import coverage

        self.root = root
        self.seconds: dict[str, float] = {}
        self.scripts: dict[str, set[str]] = defaultdict(set)
        self.failed: set[str] = set()
        self.running = ""
        self.coverage = coverage.Coverage(
            data_file=None, source=[str(root / "stridekit"), str(root / "tools")], config_file=False
        )
        self.coverage.start()
        self._watch_engine()

    def _watch_engine(self) -> None:
        from stridekit.widgets import assets, engine

        ask = engine.Script._ask

        def asking(script: Any, *args: Any) -> Any:
            for file in assets.files(script._file):
                self.scripts[f"stridekit/widgets/{file}"].add(self.running)
            return ask(script, *args)

        engine.Script._ask = asking  # type: ignore

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Name the test that runs."""
        self.running = item.nodeid
        self.coverage.switch_context(item.nodeid)
        begun = time.perf_counter()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.perf_counter() - begun
            self.coverage.switch_context("")
            self.running = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note tests that are red or skipped without a defect: they prove nothing."""
        if not report.passed:
            self.failed.add(report.nodeid)

    def reach(self) -> Reach:
        """Return what was noted."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines: dict[tuple[str, int], set[str]] = defaultdict(set)
        for path in data.measured_files():
            file = Path(path).relative_to(self.root).as_posix()
            for line, names in data.contexts_by_lineno(path).items():
                lines[file, line].update(names)
        passed = {name: took for name, took in self.seconds.items() if name not in self.failed}
        return Reach(passed, dict(lines), dict(self.scripts))


# An answer that is stopped while coverage holds its lock would keep the lock.
STOPPED = "tests/course/test_hostile_answers.py"
TEST_GROUPS = (
    ["tests/core", "--ignore=tests/core/test_timing.py"],
    [
        *("tests/course", "tests/core/test_timing.py"),
        *("--ignore=tests/course/browser", f"--ignore={STOPPED}"),
    ],
    ["stridekit"],
)


def measure_reach(copies: Queue[Path]) -> Reach:
    """Run all tests but those of notebooks and browsers once, and note what each reaches."""
    with ThreadPoolExecutor(copies.qsize()) as pool:
        parts = list(pool.map(lambda tests: _measure_group(copies, tests), TEST_GROUPS))
    whole = Reach({}, {}, {})
    for part in parts:
        whole.seconds.update(part.seconds)
        for key, names in part.lines.items():
            whole.lines[key] = whole.lines.get(key, set()) | names
        for script, names in part.scripts.items():
            whole.scripts[script] = whole.scripts.get(script, set()) | names
    for test, scripts in _node_tests():
        for script in scripts:
            whole.scripts[script] = whole.scripts.get(script, set()) | {test}
    return whole


def _measure_group(copies: Queue[Path], tests: list[str]) -> Reach:
    with taken_from(copies) as copy:
        file = copy / "reach.pickle"
        _, output = run_in_process(_watch, copy, tests, file, timeout=3600)
        if not file.exists():
            sys.exit(f"the tests of {tests[0]} did not end: {output[-2000:]}")
        return Reach(*pickle.loads(file.read_bytes()))


def _watch(root: Path, log: Path, tests: list[str], file: Path) -> None:
    _enter(root, log)
    watch = Watch(root)
    pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[watch])
    file.write_bytes(pickle.dumps(tuple(watch.reach())))


def _node_tests() -> Iterator[tuple[str, set[str]]]:
    """Each test that node runs, and the scripts that it imports or reads."""
    for test in sorted((ROOT / "tests" / "course" / "js").glob("*.test.mjs")):
        scripts: set[str] = set()
        todo = [test]
        while todo:
            path = todo.pop()
            for name in re.findall(
                r'(?:from |import\(|new URL\()["`](\.[^"`?]+)', path.read_text(encoding="utf-8")
            ):
                imported = (path.parent / name).resolve()
                script = imported.relative_to(ROOT).as_posix()
                if script not in scripts:
                    scripts.add(script)
                    todo.append(imported)
        yield f"tests/course/test_javascript.py::test_file_passes[{test.name}]", scripts


# Planting ------------------------------------------------------------------------------------------


@contextmanager
def taken_from(copies: Queue[Path]) -> Iterator[Path]:
    """Lend one of the copies."""
    copy = copies.get()
    try:
        yield copy
    finally:
        copies.put(copy)


def copy_project(folder: Path) -> None:
    """Copy the files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


@cache
def _processes() -> Any:
    """Processes that branch off from one that has imported what PRELOADED names."""
    kind = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    processes = multiprocessing.get_context(kind)
    processes.set_forkserver_preload(PRELOADED)
    return processes


def run_in_process(
    target: Any, copy: Path, *args: Any, timeout: float = TIMEOUT
) -> tuple[int, str]:
    """Run `target(copy, log, *args)` in a process of its own; return its exit code and its output."""
    log = copy.with_suffix(".txt")
    process = _processes().Process(target=target, args=(copy, log, *args))
    process.start()
    process.join(timeout)
    process.kill()
    process.join()
    assert process.exitcode is not None
    return process.exitcode, log.read_text(encoding="utf-8", errors="replace")


def _enter(root: Path, log: Path) -> None:
    """Go into a copy, as `python -m pytest` there would, with the output in a file."""
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(root)
    os.environ |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    own = ("tests", "stridekit", "conftest", "sizes", "defects", "mutate")
    for name in [name for name in sys.modules if name.partition(".")[0] in own]:
        del sys.modules[name]  # the copy has its own


def _run_tests(root: Path, log: Path, tests: list[str]) -> None:
    _enter(root, log)
    args = ["-x", "-q", "-p", "no:cacheprovider", *tests]
    code = pytest.main(args)
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:  # all of them are long
        code = pytest.main([*args, "-m", ""])
    sys.exit(code)


def first_failure(copy: Path, tests: list[str]) -> str:
    """Run tests in a copy; return the name of the first that fails, or "" if none does."""
    code, output = run_in_process(_run_tests, copy, tests)
    if code == 0:
        return ""
    failure = FAILURE.search(output)
    return failure[1] if failure else f"exit code {code}: {output[-99:]}"


def plant(planted: Planted, groups: Iterable[Sequence[str]], copies: Queue[Path]) -> str:
    """Plant a defect; return the first test that notices it, or "" if none of the groups does."""
    with taken_from(copies) as copy:
        path = copy / planted.file
        text = path.read_text(encoding="utf-8")
        path.write_text(planted.in_text(text), encoding="utf-8", newline="\n")
        try:
            for group in groups:
                if group and (noticed := first_failure(copy, [*group])):
                    return noticed
            return ""
        finally:
            path.write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    """Plant the defects that the arguments name, and print what became of each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("part", help=f"one of {', '.join(PARTS)}; a path; all; or written")
    parser.add_argument("--count", type=int, default=50, help="how many defects (50)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (0)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--reach", type=Path, help="a file that keeps which test reaches which line"
    )
    options = parser.parse_args()
    if options.part == "written":
        sample = written_defects()
    else:
        defects = generated_defects(options.part)
        sample = random.Random(options.seed).sample(defects, min(options.count, len(defects)))
    with tempfile.TemporaryDirectory(prefix="stridekit-") as folder:
        copies: Queue[Path] = Queue()
        for k in range(options.workers):
            copy_project(Path(folder) / f"copy{k}")
            copies.put(Path(folder) / f"copy{k}")
        reach = Reach({}, {}, {})
        if options.part != "written":
            reach = _reach(options.reach, copies)

        def noticed_by(planted: Planted) -> str:
            groups = [planted.tests] if planted.tests else reach.groups_of(planted)
            noticed = plant(planted, groups, copies)
            quoted = f"{_short(planted.old)} -> {_short(planted.new)}"
            verdict = f"noticed by {noticed}" if noticed else "SURVIVED"
            print(f"{planted.file}:{planted.line} {planted.name}: {quoted}: {verdict}", flush=True)
            return noticed

        with ThreadPoolExecutor(options.workers) as pool:
            verdicts = list(pool.map(noticed_by, sample))
    survivors = Counter(
        planted.file for planted, noticed in zip(sample, verdicts, strict=True) if not noticed
    )
    noticed = len(sample) - survivors.total()
    print(f"{options.part}: {noticed} of {len(sample)} defects were noticed (seed {options.seed})")
    for file, count in survivors.most_common():
        print(f"  {count} survived in {file}")
    sys.exit(noticed < 0.9 * len(sample))


def _reach(file: Path | None, copies: Queue[Path]) -> Reach:
    """Return what the tests reach: from the file, or measured and kept there."""
    with taken_from(copies) as copy:
        digest = _digest(copy)
    if file and file.exists():
        kept_digest, *parts = pickle.loads(file.read_bytes())
        if kept_digest != digest:
            # A test that is gone ends pytest with an error, as a defect that is noticed does.
            sys.exit(f"{file} was measured on other files than these: remove it to measure anew")
        return Reach(*parts)
    reach = measure_reach(copies)
    if file:
        file.write_bytes(pickle.dumps((digest, *reach)))
    return reach


def _digest(folder: Path) -> str:
    """Return a digest of all files in a folder, with their names."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(repr((path.relative_to(folder), path.read_bytes())).encode())
    return digest.hexdigest()


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


if __name__ == "__main__":
    main()
