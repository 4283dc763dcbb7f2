"""Every public name has a contract, units, errors and an example, and is taught in a lesson."""

import ast
import dataclasses
import doctest
import inspect
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import nbformat
import pytest
import yaml

import stridekit
from stridekit.export.reference import public_names

ROOT = Path(__file__).parent.parent
HOMES = {name: module for _, module, name in public_names()}
NAMES = list(HOMES)


def find(name):
    """The object with a public name."""
    return getattr(import_module(HOMES[name]), name)


# These raise nothing: they hold or tell what was found. Of all others the docstring says what they raise.
RAISES_NOTHING = {
    "Explanation", "Relation", "Traffic", "WarpSectors", "Bandwidth", "Measurement", "Comparison",
    "Ratio", "Audit", "GpuResults", "Claim", "SelfCheck", "Clones", "machine", "why_no_cuda",
}  # fmt: skip
# One of these words tells what a number counts.
UNITS = r"elements?|bytes?|seconds?|dims?|steps?|shapes?|index|indices|ratios?|times|number of"
NUMBERS = r"\b(int|float)\b"


def doc(name):
    """The docstring of a name itself."""
    return inspect.cleandoc(find(name).__doc__ or "")


def fields(cls):
    """The names of a result's own fields."""
    if dataclasses.is_dataclass(cls):
        own = inspect.get_annotations(cls)
        return [f.name for f in dataclasses.fields(cls) if f.name in own and f.repr]
    return list(getattr(cls, "_fields", []))


def raised_in(name):
    """The exceptions that a function or a class raises by name in its own source."""
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(find(name))))
    raises = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    return {
        call.func.id
        for call in raises
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }


@pytest.mark.parametrize("name", NAMES)
def test_it_begins_with_its_contract(name):
    """One sentence that stands by itself."""
    first, *rest = doc(name).splitlines()
    assert re.search(r"[.:]$", first) and len(first) > 20
    assert not rest or rest[0] == ""


@pytest.mark.parametrize("name", NAMES)
def test_it_has_an_example_that_the_tests_run(name):
    """Doctest finds the example where pytest looks: in the module that defines the name."""
    found = find(name)
    tests = doctest.DocTestFinder().find(found, name, module=sys.modules[found.__module__])
    (own,) = [test for test in tests if test.name == name]
    assert any(example.want for example in own.examples)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_raises(name):
    """Either it can raise and says what, or it is listed as raising nothing."""
    says = re.search(r"\b[Rr]aise[sd]?\b", re.sub(r"^>>> .*", "", doc(name), flags=re.MULTILINE))
    assert bool(says) != (name in RAISES_NOTHING)


@pytest.mark.parametrize("name", NAMES)
def test_what_its_own_source_raises_is_named(name):
    """The docstring names the error, or refers to a name that does: "raises like `memset`"."""
    if isinstance(find(name), type):
        return  # what its methods raise, they say
    others = [doc(other) for other in re.findall(r"`(\w+)`", doc(name)) if other in NAMES]
    hidden = {kind for kind in raised_in(name) if kind not in "".join([doc(name), *others])}
    assert hidden == set()


@pytest.mark.parametrize("name", NAMES)
def test_where_numbers_go_in_their_unit_is_said(name):
    try:
        parameters = inspect.signature(find(name)).parameters.values()
    except ValueError:
        return  # an exception
    numbers = [p.name for p in parameters if re.search(NUMBERS, str(p.annotation))]
    words, _, _ = doc(name).partition(">>>")
    assert not numbers or re.search(rf"\b({UNITS})\b", words)


@pytest.mark.parametrize("name", NAMES)
def test_each_field_of_a_result_is_explained(name):
    found = find(name)
    missing = [field for field in fields(found) if not re.search(rf"\b{field}\b", doc(name))]
    assert missing == []


def taught(cells, name):
    """True if a learner meets a name in a notebook's cells.

    In code, in the words between backticks, or as the error that a cell shows. What a function
    returns is met where that function is called.
    """
    names = {name} | {maker for maker in NAMES if _returns(maker) == name}
    for cell in cells:
        if cell.cell_type == "markdown":
            found = {
                word for span in re.findall(r"`([^`]+)`", cell.source) for word in _words(span)
            }
            names_here = found & {name}
        else:
            shown = {output.get("ename") for output in cell.get("outputs", [])}
            names_here = (_names_in(cell.source) & names) | (shown & {name})
        if names_here:
            return True
    return False


def _words(text):
    return set(re.findall(r"\w+", text))


def _names_in(source):
    """The names that a piece of code uses; imports alone show nothing."""
    nodes = list(ast.walk(ast.parse(source)))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return used | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _returns(name):
    found = find(name)
    if isinstance(found, type):
        return None
    return inspect.signature(found).return_annotation


def test_every_public_name_appears_in_a_notebook():
    cells = [
        cell
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
    ]
    missing = {name for name in stridekit.__all__ if not taught(cells, name)}
    assert missing == set(), "teach them in a lesson, or make them private"


# Files for people ---------------------------------------------------------------------------------


def test_the_citation_repeats_the_project():
    """And its changelog: both have the date of the newest version, or neither has."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [cited[name] for name in ("version", "license", "keywords", "abstract")]
    assert own == [project[n] for n in ("version", "license", "keywords", "description")]
    assert {"message", "title", "authors"} <= set(cited) and cited["cff-version"] == "1.2.0"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, said = re.search(r"^## (\S+) \((.+)\)$", changelog, re.MULTILINE).groups()
    assert (version, said) == (cited["version"], str(cited.get("date-released", "unreleased")))


def test_the_page_for_teachers_names_only_what_is_there():
    page = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    lessons = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert set(re.findall(r"\.\./notebooks/(\w+)\.ipynb", page)) <= lessons
    for link in re.findall(r"\]\(([^)#:]+)\)", page):
        assert (ROOT / "docs" / link).exists(), link
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)", page):
        assert f"\n{target}: .venv/done" in makefile, target
