"""A check refuses every variant of its solution, except those that do the same."""

import difflib
import re
import warnings
from pathlib import Path

import pytest

from stridekit._defaults import torch_defaults
from stridekit.exercises import core
from stridekit.exercises.mistakes import Formula
from stridekit.exercises.watch import Watch
from tests.course.test_exercises import EXERCISES
from tests.course.variants import plain, variants

EVERY = 5  # so many variants apart are those of the sample
EQUIVALENT = Path(__file__).with_name("equivalent_variants.txt")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Stop a variant without an end, which counts as wrong; restore what a variant warns about."""
    monkeypatch.setattr(core, "SECONDS", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def change_of(task, text):
    """Return the lines that differ between the solution and a variant, with their signs."""
    diff = difflib.unified_diff(
        plain(task.source).splitlines(), text.splitlines(), n=0, lineterm=""
    )
    lines = [line for line in diff if not line.startswith(("---", "+++", "@@"))]
    return tuple(f"{line[0]} {line[1:].strip()}" for line in lines)


def equivalent():
    """Return the reason of each change that does the same, by the exercise and its lines.

    The file has the name of an exercise, then reasons, each over its changes.
    """
    reasons = {}
    for block in re.split(r"\n\n+", EQUIVALENT.read_text(encoding="utf-8").strip()):
        name, reason, *lines = block.splitlines() or ("", "")
        for change in re.findall(r"(?:- .*\n)+(?:\+ .*\n)+", "\n".join([*lines, ""])):
            reasons[name, tuple(change.splitlines())] = reason
    return reasons


@torch_defaults()
def is_refused(task, text):
    """Return whether an answer is wrong in some case, or not made by the means of the task."""
    names = {**Formula(task.reference).answering("0").__globals__}
    exec(text, names)
    watch = Watch(task.means)
    for case in task.cases:
        # The solution runs first, without a time limit: it loads what torch imports on first use.
        expected = task._run_known(task.reference, case)
        if task._run(names[task.name], case, watch).facts != expected.facts:
            return True
    return bool(watch.other_calls) or not watch.is_used


@pytest.mark.parametrize("every", [EVERY, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("task", EXERCISES, ids=lambda task: task.name)
def test_every_variant_of_a_solution_is_refused_or_does_the_same(task, every):
    """A variant that passes shows that a case is missing."""
    known = equivalent()
    passing = []
    for text in variants(task.source)[::every]:
        is_known = (task.name, change_of(task, text)) in known
        if not is_known and not is_refused(task, text):
            passing.append("\n".join(change_of(task, text)))
    assert passing == []


def test_a_variant_that_does_the_same_still_exists_and_has_a_reason():
    known = equivalent()
    changes = set()
    for task in EXERCISES:
        changes |= {(task.name, change_of(task, text)) for text in variants(task.source)}
    assert known.keys() - changes == set()
    assert [change for change, reason in known.items() if len(reason) < 20] == []
