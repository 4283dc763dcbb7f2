"""The marks of sections and exercises, and the two paths that follow them."""

import ast
import builtins
import json
from importlib import import_module
from pathlib import Path

import pytest

import refresh
from stridekit import exercises
from stridekit.exercises import lesson as reading
from stridekit.exercises import marks, paths
from stridekit.lessons import notebook as form

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BY_NAME = {path.stem: path for path in PATHS}


def lesson_of(path):
    return reading.read(path.read_text("utf-8"), path.stem)


def test_every_exercise_has_a_mark_and_shows_it():
    keys = set()
    for name in exercises._LESSONS:
        package = import_module(f"stridekit.exercises.{name}")
        for task in (getattr(package, task_name) for task_name in package.__all__):
            keys.add(task.key)
            mark = marks.EXERCISES[task.key]
            assert 1 <= mark.dots <= 3
            assert repr(task).splitlines()[0].endswith(f": {task.title} · {mark}")
    assert keys == {*marks.EXERCISES}


def test_a_mark_reads_as_a_word_and_three_dots():
    assert str(marks.Mark(1, is_essential=True)) == "essential · ●○○"
    assert str(marks.Mark(3)) == "further · ●●●"


@pytest.mark.parametrize("name", marks.ESSENTIAL_SECTIONS)
def test_every_essential_section_is_in_its_lesson(name):
    """A heading that changes in the notebook has to change in the table, too."""
    marked = [
        section.heading
        for section in lesson_of(BY_NAME[name]).sections
        if section.is_essential and not section.exercises
    ]
    assert marked == [*marks.ESSENTIAL_SECTIONS[name]]


def test_the_essentials_take_about_two_hours_and_say_so():
    numbered = [lesson_of(path) for path in PATHS if path.stem != marks.START]
    total = reading.minutes(lesson.essentials for lesson in numbered)
    assert 110 <= total <= 130
    everything = reading.minutes(numbered)
    lines = repr(paths()).splitlines()
    assert lines[1].startswith(f"  essentials  {total} minutes in 3 lessons: ")
    assert lines[2].startswith(f"  everything  {everything} minutes in {len(numbered)} lessons: ")
    assert everything > 5 * total


def names_in(source, context):
    """Return the names that a source reads or binds, at any depth, with imports and definitions."""
    tree = ast.parse(source)
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names = {node.id for node in nodes if isinstance(node.ctx, context)} - parameters
    if context is ast.Store:
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
    return names


@pytest.mark.parametrize("name", marks.ESSENTIAL_SECTIONS)
def test_no_essential_cell_needs_a_further_one(name):
    """If an earlier cell binds a name that an essential section reads, that cell is essential, too."""
    cells = json.loads(BY_NAME[name].read_text("utf-8"))["cells"]
    sections = iter(lesson_of(BY_NAME[name]).sections)
    section = next(sections)
    binders = {}  # a name: the heading of the section that bound it last, and whether it is essential
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            for piece in reading.pieces(source):
                if reading.HEADING.match(piece):
                    section = next(sections)
            continue
        is_on_path = section.is_essential or not section.heading
        bound = names_in(source, ast.Store)
        if is_on_path:
            for read in names_in(source, ast.Load) - bound - {*dir(builtins)}:
                heading, is_essential = binders.get(read, ("", True))
                assert is_essential, f"{section.heading} reads {read} of {heading}"
        for bound_name in bound:
            binders[bound_name] = (section.heading, is_on_path)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_no_heading_has_the_tag_of_another_mark(path):
    """JupyterLab shows the tag. If it is wrong, the marks changed without `make refresh`."""
    book = form.parse(path.read_text("utf-8"))
    present = [[*cell.metadata.get("tags", [])] for cell in book.cells]
    refresh.mark_sections(book, lesson_of(path))
    for tags, cell in zip(present, book.cells, strict=True):
        assert {*tags} <= {*cell.metadata.get("tags", [])}, cell.source
