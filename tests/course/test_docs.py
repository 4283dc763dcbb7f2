"""Every public name has a contract, errors and an example, and is taught in a lesson."""

import ast
import dataclasses
import doctest
import inspect
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import stridekit
from stridekit.export.reference import public_names
from stridekit.lessons import notebook
from tests.course.test_notebooks import PATHS, book_of

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
PUBLIC = {name: getattr(import_module(module), name) for _, module, name in public_names()}
each_name = pytest.mark.parametrize("name", PUBLIC)

# The results, and two functions, that raise nothing. All other docstrings say what they raise.
RAISES_NOTHING = {
    "Explanation",
    "Relation",
    "Storages",
    "Traffic",
    "WarpSectors",
    "Bandwidth",
    "Measurement",
    "Comparison",
    "Ratio",
    "Audit",
    "GpuResults",
    "Claim",
    "SelfCheck",
    "Clones",
    "machine",
    "why_no_cuda",
}


@each_name
def test_it_begins_with_its_contract_and_has_an_example_that_the_tests_run(name):
    """One sentence stands by itself. Doctest looks in the module that defines the name."""
    first, *rest = inspect.getdoc(PUBLIC[name]).splitlines()
    assert re.search(r"[.:]$", first) and len(first) > 20
    assert not rest or rest[0] == ""
    module = sys.modules[PUBLIC[name].__module__]
    tests = doctest.DocTestFinder().find(PUBLIC[name], name, module=module)
    (own,) = [test for test in tests if test.name == name]
    assert any(example.want for example in own.examples)


@each_name
def test_it_says_what_it_raises(name):
    """Either it can raise and says what, or it is listed as raising nothing."""
    text = re.sub(r"^>>> .*", "", inspect.getdoc(PUBLIC[name]), flags=re.MULTILINE)
    names_errors = re.search(r"\b[Rr]aise[sd]?\b", text) is not None
    assert names_errors != (name in RAISES_NOTHING)


@each_name
def test_fields_of_results_are_explained(name):
    public = PUBLIC[name]
    fields = getattr(public, "_fields", [])
    if dataclasses.is_dataclass(public):
        own = inspect.get_annotations(public)
        fields = [f.name for f in dataclasses.fields(public) if f.name in own and f.repr]
    docstring = inspect.getdoc(public)
    assert [field for field in fields if not re.search(rf"\b{field}\b", docstring)] == []


def names_in(cell):
    """Return the names that a learner meets in a cell: in code, between backticks, or as an error."""
    if cell.cell_type == "markdown":
        return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", cell.source))))
    nodes = list(ast.walk(ast.parse(cell.source)))  # imports alone show nothing
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return used | {output.get("ename") for output in cell.outputs}


def test_every_public_name_appears_in_a_notebook():
    """A learner meets the result of a function where that function is called."""
    shown = set()
    for path in PATHS:
        for cell in book_of(path).cells:
            shown |= names_in(cell) & PUBLIC.keys()
    functions = [PUBLIC[name] for name in shown if not isinstance(PUBLIC[name], type)]
    shown |= {inspect.signature(function).return_annotation for function in functions}
    assert {*stridekit.__all__} - shown == set(), "teach them in a lesson, or make them private"


def test_the_citation_repeats_the_project():
    """The citation and the changelog have the date of the newest version, or neither has one."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    own = [cited[name] for name in ("version", "license", "keywords", "abstract", "authors")]
    assert own == [PROJECT[n] for n in ("version", "license", "keywords", "description", "authors")]
    assert {"message", "title", "type"} <= set(cited) and cited["cff-version"] == "1.2.0"
    assert cited["repository-code"] == cited["url"] == REPOSITORY == notebook.REPOSITORY
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.search(r"^## (\S+) \((.+)\)$", changelog, re.MULTILINE).groups()
    assert version == cited["version"]
    assert date == str(cited.get("date-released", "unreleased"))


def test_all_addresses_of_the_project_are_those_of_its_repository():
    assert all(address.startswith(REPOSITORY) for address in PROJECT["urls"].values())
    for address in PROJECT["urls"].values():
        _, _, path = address.partition("/blob/HEAD/")
        assert (ROOT / path).exists(), address


def test_each_link_of_the_long_description_leads_to_a_file_of_the_repository():
    """The index shows the README without its files; hatch-fancy-pypi-readme substitutes as is done here."""
    readme = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    assert readme["fragments"] == [{"path": "README.md"}]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    relative = re.findall(r"""(?:\]\(| src="| srcset=")(?!https:)(?:\.\./\.\./)?([\w./-]+)""", text)
    for substitution in readme["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    links = re.findall(r"""(?:\]\(|\ssrc="|\ssrcset=")([^)"]+)""", text)
    own = [link for link in links if link.startswith(f"{REPOSITORY}/")]
    assert all(link.startswith("https://") for link in links)
    assert len(own) == len(relative) >= 8
    for link in own:
        place, _, path = link.removeprefix(f"{REPOSITORY}/").partition("/v$HFPR_VERSION/")
        if place in ("blob", "raw"):
            assert (ROOT / path.partition("#")[0]).is_file(), link
            assert (place == "raw") == path.endswith(".png")
        else:
            assert place in ("tree/lessons#readme", "deployments/github-pages")


def test_the_page_for_teachers_names_only_what_is_there():
    page = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)\)", page):
        assert (ROOT / "docs" / link).exists(), link
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)", page):
        assert f"\n{target}: .venv/has-" in makefile, target
