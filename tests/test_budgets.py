"""What may not grow in passing: sizes, cells that nobody compares, modules, dependencies.

A limit that has to move is moved here, in the same commit, where a reviewer sees it. `make test` prints
where each of them stands. The seconds of the notebooks are in conftest.py, which sees their kernels.
"""

import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from stridekit import exercises
from stridekit.exercises import Exercise
from tests.test_exercises import EXERCISES
from tests.test_notebooks import IGNORED, PATHS
from tests.wrong_answers import WRONG

ROOT = Path(__file__).parent.parent

MOST_IGNORED = 4  # cells of one notebook whose outputs are not compared
LARGEST_NOTEBOOK = 845_000  # characters
FEWEST_EXERCISES, FEWEST_MISTAKES = 46, 6
# Modules that `import stridekit` adds to `import torch`: a count, as seconds belong to a machine.
MOST_MODULES = 40

# Lines: which folder, without which, which kinds of files, and how many at most. A limit only goes down: a
# part pays for what grows with other lines, and one that shrinks by more than SLACK lowers its limit.
OTHERS = ("audit/", "exercises/", "export/", "lessons/", "widgets/")
CONTENT = [f"{lesson}/" for lesson in exercises.__dir__()]
CONTENT += ["readers/", "confusions.py", "hardware.py"]
SIZES = {
    "the small package": ("stridekit", OTHERS, ("py",), 6_431),
    "audit": ("stridekit/audit", (), ("py",), 1_800),
    "lessons": ("stridekit/lessons", (), ("py",), 1_300),
    "export": ("stridekit/export", (), ("py", "js", "css"), 700),
    "exercises": ("stridekit/exercises", (), ("py",), 7_190),
    "the engine of exercises": ("stridekit/exercises", CONTENT, ("py",), 1_200),
    "Python of widgets": ("stridekit/widgets", (), ("py",), 3_001),
    "JavaScript of widgets": ("stridekit/widgets", (), ("js",), 8_507),
    "styles of widgets": ("stridekit/widgets", (), ("css",), 948),
    "labextension": ("labextension", (), ("js",), 118),
    "tests": ("tests", (), ("py", "mjs", "js"), 22_900),
    "rows of hands": ("tests/browser", (), ("txt",), 944),
    "planted defects, messages, rows of widgets": ("tests", ("browser/",), ("txt",), 3_548),
    "tools": ("tools", (), ("py",), 789),
}
SLACK = 100
LONGEST_MODULE = 500  # one story; what is longer has a reason, and its own limit
LONGER = {
    # One class, a short method for each operation, a third of it docstrings.
    "stridekit/layout.py": 1034,
    "stridekit/widgets/page/layout.js": 665,  # all of Python's Layout that a browser needs
}

DEPENDENCIES = {"": 7, "lab": 2, "export": 7, "test": 16}


def test_cells_that_are_not_compared(record_property):
    of_each = Counter(notebook for notebook, _ in IGNORED)
    record_property("summary", f"not compared: {dict(of_each)}, {MOST_IGNORED} a notebook at most")
    assert max(of_each.values()) <= MOST_IGNORED


def test_exercises_and_their_wrong_answers(record_property):
    mistakes = {task.name: len({m.hint for m in task.mistakes}) for task in EXERCISES}
    lessons = Counter(task.lesson_name for task in EXERCISES)
    record_property(
        "summary",
        f"exercises: {len(EXERCISES)} in {len(lessons)} lessons, {sum(mistakes.values())} named mistakes, "
        f"{len(WRONG)} other wrong answers",
    )
    assert all(isinstance(task, Exercise) for task in EXERCISES)
    assert len(EXERCISES) >= FEWEST_EXERCISES and len(lessons) == len(PATHS) - 1
    assert min(mistakes.values()) >= FEWEST_MISTAKES


def test_what_import_loads(record_property):
    code = (
        "import sys, time, torch; before = set(sys.modules); begun = time.perf_counter()\n"
        "import stridekit; took = time.perf_counter() - begun\n"
        "print(len(set(sys.modules) - before), took)"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    count, took = done.stdout.split()
    record_property(
        "summary",
        f"import stridekit: {count} modules after torch, {MOST_MODULES} at most; "
        f"{float(took) * 1e3:.0f} ms here",
    )
    assert int(count) <= MOST_MODULES


def test_sizes_of_notebooks(record_property):
    sizes = {path.stem: len(path.read_text(encoding="utf-8")) for path in PATHS}
    record_property(
        "summary", f"largest notebook: {max(sizes.values()):,} of {LARGEST_NOTEBOOK:,} characters"
    )
    assert {name: size for name, size in sizes.items() if size > LARGEST_NOTEBOOK} == {}


def lines(folder, kinds):
    """How many lines each file has, by its path."""
    files = [path for kind in kinds for path in sorted((ROOT / folder).rglob(f"*.{kind}"))]
    return {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in files
    }


@pytest.mark.parametrize("name", SIZES)
def test_lines_only_get_fewer(name, record_property):
    folder, without, kinds, most = SIZES[name]
    others = tuple(f"{folder}/{part}" for part in without)
    count = sum(n for path, n in lines(folder, kinds).items() if not path.startswith(others))
    record_property("summary", f"lines of {name}: {count:,} of {most:,}")
    assert count <= most, f"{name} grew by {count - most} lines: shorten it, its limit stays"
    assert count >= most - SLACK, f"{name} shrank: lower its limit in SIZES to {count:_}"


def test_lines_of_modules(record_property):
    found = lines("stridekit", ("py", "js", "css"))
    longest = max(found, key=found.get)
    record_property(
        "summary",
        f"modules: {len(found)}, the longest {longest}: {found[longest]} of {LONGEST_MODULE} lines",
    )
    assert {name: n for name, n in found.items() if n > LONGER.get(name, LONGEST_MODULE)} == {}


@pytest.mark.parametrize("extra", DEPENDENCIES)
def test_dependencies(extra, record_property):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = project["optional-dependencies"][extra] if extra else project["dependencies"]
    record_property(
        "summary",
        f"dependencies of {extra or 'stridekit itself'}: {len(listed)} of {DEPENDENCIES[extra]}",
    )
    assert len(listed) <= DEPENDENCIES[extra]
    assert set(project["optional-dependencies"]) == {name for name in DEPENDENCIES if name}
