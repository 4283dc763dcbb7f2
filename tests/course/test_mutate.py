"""The tests test: `make mutate` plants defects, one at a time, and they have to turn red.

The defects stand in tests/defects.txt, and are planted in a copy of the project. A defect that no test
notices is a missing test.
"""

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
TIMEOUT = 600
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+::Cell \d+|\S+)", re.MULTILINE)


class Mutation(NamedTuple):
    """A defect: its name, the file in which `new` replaces `old`, and the tests that have to notice."""

    name: str
    file: str
    old: str
    new: str
    tests: str


def read(text):
    """Return the mutations of a text in the form of tests/defects.txt."""
    mutations = []
    for part in re.split(r"^(?=\S.* is held by )", text, flags=re.MULTILINE)[1:]:
        file, tests = part.partition("\n")[0].split(" is held by ")
        for row in re.findall(r"^    [^-+\n].*\n(?:    [-+].*\n?)+", part, re.MULTILINE):
            name, *quoted = row.splitlines()
            old, new = ("\n".join(q[6:] for q in quoted if q[4] == sign) for sign in "-+")
            mutations.append(Mutation(name.strip(), file, old, new, tests))
    return mutations


MUTATIONS = read((ROOT / "tests" / "defects.txt").read_text(encoding="utf-8"))


def test_each_defect_has_a_name_and_still_its_place():
    """After a change of the source the list has to follow."""
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) <= 60
    lost = [
        mutation.name
        for mutation in MUTATIONS
        if (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) != 1
        or mutation.old == mutation.new
        or not (ROOT / mutation.tests).is_file()
    ]
    assert lost == []


@pytest.fixture(scope="session")
def copy(tmp_path_factory):
    """The files that git tracks or would track."""
    folder = tmp_path_factory.mktemp("copy") / "project"
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def first_failure(copy):
    """`first_failure(tests)` runs tests in the copy; returns the name of the first that fails, or ""."""
    # Importing torch takes most of a short run, so each run branches off from a process that has done it.
    kind = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    processes = multiprocessing.get_context(kind)
    processes.set_forkserver_preload(["torch", "matplotlib.pyplot", "nbformat", "ipywidgets"])

    def run(tests):
        said = copy.with_suffix(".txt")
        process = processes.Process(target=_pytest, args=(copy, said, tests))
        process.start()
        process.join(TIMEOUT)  # a defect may make a loop endless
        process.kill()
        process.join()
        text = said.read_text(encoding="utf-8", errors="replace")
        failure = FAILURE.search(text)
        return process.exitcode and (failure[1] if failure else f"{process.exitcode}: {text[-99:]}")

    return run


@pytest.fixture(scope="session")
def without_defect(first_failure):
    """The same without a defect, once for each file of tests."""
    return cache(first_failure)


def _pytest(root, said, tests):
    """Run tests in a copy as `python -m pytest` would, with the output in a file."""
    with said.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(root)
    os.environ |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "stridekit")]:
        del sys.modules[name]  # the copy has its own
    args = ["-x", "-q", "-p", "no:cacheprovider", *tests]
    code = pytest.main(args)
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:  # all of them are long
        code = pytest.main([*args, "-m", "not planted"])
    sys.exit(code)


def holders(mutation):
    """Return the tests that have to notice it; of the rows of hands, those of the widget in its folder."""
    folder = Path(mutation.file).parent.name
    if not mutation.tests.endswith("test_hands.py") or folder in ("page", "widgets"):
        return (mutation.tests,)
    return mutation.tests, "-k", folder.title().replace("_", "")


def name_of(mutation):
    """Return its name for `-k`, behind that of its test file: one worker plants all that a file holds."""
    return f"{Path(mutation.tests).stem}-" + re.sub(r"\W+", "_", mutation.name)


@pytest.mark.planted
@pytest.mark.parametrize("mutation", MUTATIONS, ids=name_of)
def test_defect_is_noticed(mutation, copy, first_failure, without_defect, record_property):
    tests = holders(mutation)
    assert not without_defect(tests), "red tests prove nothing"
    path = copy / mutation.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8", newline="\n")
    try:
        noticed = first_failure(tests)
    finally:
        path.write_text(text, encoding="utf-8", newline="\n")
    assert noticed, f"“{mutation.name}” survived: a test is missing"
    record_property("summary", f"{mutation.name}: {noticed}")
