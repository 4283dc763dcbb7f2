"""The bug hunt and the puzzles in a real JupyterLab: a hand types repairs and answers into their cells."""

import pytest

from stridekit.exercises import bug_hunt, puzzles
from stridekit.exercises.mistakes import changed
from tests.course.browser.test_half_done import SAVE, STOP_KERNEL
from tests.course.bug_repairs import RIGHT, WRONG
from tests.course.needs import needs_chromium
from tests.course.puzzle_answers import RIGHT as RIGHT_ANSWERS
from tests.course.puzzle_answers import WRONG as WRONG_ANSWERS

pytestmark = [needs_chromium, pytest.mark.long]

SOURCES = """[...jupyterapp.shell.currentWidget.content.model.cells]
  .map((cell) => cell.sharedModel.source)"""
EDIT = """(number) => {
  const { content } = jupyterapp.shell.currentWidget;
  content.activeCellIndex = number;
  content.deselectAll();
  content.mode = 'edit';
  content.activeCell.editor.focus();
}"""
# The words of the outputs of some cells, once these cells have run.
RUN = """async (numbers) => {
  const { content } = jupyterapp.shell.currentWidget;
  for (const number of numbers) {
    content.activeCellIndex = number;
    content.deselectAll();
    await jupyterapp.commands.execute('notebook:run-cell');
  }
  await new Promise(requestAnimationFrame);
  return numbers.map((number) => content.widgets[number].outputArea.node.innerText);
}"""
SHOWN = (
    "(number) => jupyterapp.shell.currentWidget.content.widgets[number].outputArea.node.innerText"
)


class Notebook:
    """A notebook in JupyterLab, of which all cells have run once."""

    def __init__(self, lab, name):
        self.lab = lab
        self.path = f"notebooks/{name}.ipynb"
        self.page = lab.open(self.path)
        lab.run_all(self.page)
        self.sources = self.page.evaluate(SOURCES)

    def place(self, source):
        """Return the number of the cell that begins or ends with a source."""
        return next(k for k, cell in enumerate(self.sources) if source in cell)

    def type(self, number, source):
        """Put a source in place of all that a cell holds, by keys."""
        self.page.evaluate(EDIT, number)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self, *numbers):
        """Run cells; return what a reader sees below each, in one line."""
        return [in_one_line(text) for text in self.page.evaluate(RUN, numbers)]

    def shown(self, number):
        """Return what a reader sees below a cell, in one line."""
        return in_one_line(self.page.evaluate(SHOWN, number))

    def open_again(self):
        """Save the notebook, end its kernel, and open it again."""
        self.page.evaluate(SAVE)
        self.page.evaluate(STOP_KERNEL)
        self.lab.open(self.path, self.page)


def in_one_line(text):
    """Return a text without its line breaks, and without the backticks that a page shows as code."""
    return " ".join(text.replace("`", "").split())


@pytest.fixture(scope="module")
def hunt(lab):
    notebook = Notebook(lab, "10_bug_hunt")
    yield notebook
    lab.close(notebook.page)


@pytest.fixture(scope="module")
def book_of_puzzles(lab):
    notebook = Notebook(lab, "11_puzzles")
    yield notebook
    lab.close(notebook.page)


@pytest.mark.parametrize("name", bug_hunt.__all__)
def test_repairs_that_are_typed_into_the_cell_of_a_program(hunt, name):
    """Two honest ones pass, five others get their hint, and half a line changes nothing."""
    check = hunt.place(f"ex.{name}.check({name})")
    program, symptom = check - 2, check - 1
    as_reported = hunt.sources[program]
    for change, words in [*WRONG[name].items()][:5]:
        hunt.type(program, changed(as_reported, change))
        *_, report = hunt.run(program, symptom, check)
        assert f"✗ {name}: not yet" in report, report
        assert in_one_line(words) in report, report
    hunt.type(program, as_reported)
    assert f"✗ {name}: not yet" in hunt.run(check)[0]  # until the cell has run
    assert f"○ {name}: not attempted yet" in hunt.run(program, program, check)[-1]
    hunt.type(program, f"{as_reported} +")
    error, report = hunt.run(program, check)
    assert "SyntaxError" in error and f"○ {name}: not attempted yet" in report
    for change in RIGHT[name][:2]:
        hunt.type(program, changed(as_reported, change))
        *_, report = hunt.run(program, symptom, check)
        assert f"✓ {name}: right on all" in report, report
        assert "rule" in report and in_one_line(getattr(bug_hunt, name).test) in report, report


def test_a_hunt_that_is_left_half_done_is_there_again(hunt):
    first, second, *_ = (hunt.place(f"ex.{name}.check({name})") for name in bug_hunt.__all__)
    program = hunt.sources[first - 2]
    hunt.type(first - 2, changed(program, RIGHT["prepare"][0]))
    passed = hunt.run(first - 2, first)[-1]
    blank = hunt.shown(second)
    hunt.open_again()
    assert (hunt.shown(first), hunt.shown(second)) == (passed, blank)
    assert "NameError" in hunt.run(first)[0]  # a check before its program
    *_, report = hunt.run(1, 2, 3, first - 2, first)
    assert "✓ prepare: right on all" in report


@pytest.mark.parametrize("name", puzzles.__all__)
def test_answers_that_are_typed_in_place_of_the_dots(book_of_puzzles, name):
    cell = book_of_puzzles.place(f"ex.{name}.check(")
    blank = book_of_puzzles.sources[cell]
    wrong, words = next(iter(WRONG_ANSWERS[name].items()))
    book_of_puzzles.type(cell, blank.replace("...", wrong))
    report = book_of_puzzles.run(cell)[0]
    assert f"✗ {name}: not yet" in report and in_one_line(words) in report, report
    assert report.count("wanted") and report.count("yours")
    book_of_puzzles.type(cell, blank.replace("...", RIGHT_ANSWERS[name][0]))
    assert f"✓ {name}: right on all" in book_of_puzzles.run(cell)[0]
