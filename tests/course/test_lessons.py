"""The lessons for Colab and VS Code give nothing away, and are the same lessons."""

import ast
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import lessons
from stridekit import Predict
from stridekit.exercises.progress import _lesson
from stridekit.lessons import notebook as form

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder with the lessons of a fork."""
    folder = tmp_path_factory.mktemp("lessons") / "out"
    lessons.main(["-o", str(folder), "--repository", "Fork/kit"])
    return folder


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_nothing_is_given_away(written, path):
    """No output, no why, no answer of a card; the words below a card are folded."""
    lesson = form.parse(path.read_text("utf-8"))
    copy = form.parse((written / path.name).read_text("utf-8"))
    for before, after in zip(lesson.cells, copy.cells, strict=True):
        assert not after.get("outputs")
        assert "outputs_hidden" not in after.metadata.get("jupyter", {})
        if form.asks(before):
            call = ast.parse(after.source).body[0].value
            assert call.func.attr == "packed" and "why" not in after.source
        elif before.cell_type == "markdown" and before.metadata.get("jupyter"):
            assert after.source.startswith("<details>") and before.source in after.source
    install = (
        '%pip install -q "stridekit[widgets] @ git+https://github.com/Fork/kit" matplotlib pillow'
    )
    assert install in copy.cells[1].source


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_map_of_progress_finds_the_same_exercises_and_cards(written, path):
    before = _lesson(path)
    after = _lesson(written / path.name)
    assert before.exercises == after.exercises
    for first_line, question in zip(before.cards, after.cards, strict=True):
        assert question.startswith(first_line)


def test_the_readme_of_a_fork_has_a_badge_for_each_lesson(written):
    text = (written / "README.md").read_text("utf-8")
    assert text.startswith("# stridekit: the lessons") and text.count("They were not run") == 1
    links = re.findall(r"^- \[!.*\]\((https://colab\.\S*)\) (\S+)$", text, re.MULTILINE)
    folder = "https://colab.research.google.com/github/Fork/kit/blob/lessons/"
    assert links == [(folder + path.name, path.name) for path in PATHS]
    assert "(https://fork.github.io/kit/)" in text


def minutes(path):
    """Return the minutes of a lesson: for words, cells, and cards, and those that exercises state."""
    cells = form.parse(path.read_text("utf-8")).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    code = [cell for cell in cells if cell.cell_type == "code"]
    stated = sum(map(int, re.findall(r"\(about (\d+) minutes\)", text)))
    cards = sum(map(form.asks, code))
    words = len(re.findall(r"\w+", text))
    reading = words / 130 + 0.4 * len(code) + 0.6 * cards
    return 5 * round((reading + stated) / 5)


def rows(path, folder=""):
    """Return the rows of the table of lessons in a file, by the lesson that each links to."""
    text = path.read_text("utf-8").replace("\\n", "\n")
    links = re.findall(rf"\| \[[^|]*\]\({folder}(\w+)\.ipynb\) \| (.*) \|", text)
    return {name: cells.split(" | ") for name, cells in links}


def test_the_tables_of_lessons_agree_and_state_the_minutes():
    readme = rows(ROOT / "README.md", "notebooks/")
    assert [*readme] == [path.stem for path in PATHS]
    for name, cells in rows(ROOT / "notebooks" / "00_start.ipynb").items():
        assert cells[-1] == str(minutes(ROOT / "notebooks" / f"{name}.ipynb"))
        assert cells[:-1] == readme[name]


def test_a_packed_card_is_the_card():
    x = torch.arange(24).view(4, 6)
    source = 'Predict(\n    f"The stride of {x.dim()} dims?", x.t().stride(), why="It turns.")'
    book = form.nbformat.v4.new_notebook(cells=[form.nbformat.v4.new_code_cell(source)])
    packed = lessons.unspoilt(book).cells[0].source
    card = eval(packed, {"Predict": Predict, "x": x})
    assert card._problem["answer"] == [1, 6] and card._problem["why"] == "It turns."
    assert repr(card) == "Predict: The stride of 2 dims?"


def test_badges_are_those_of_the_fork(written):
    text = (written / "README.md").read_text("utf-8")
    assert "colab.research.google.com/github/Fork/kit/blob/lessons/01_strides.ipynb" in text
    assert "mybinder.org/v2/gh/Fork/kit/HEAD" in text and "https://fork.github.io/kit/" in text


def test_the_guard_says_how_to_install(capsys, monkeypatch):
    """In Colab it runs the line that installs; where stridekit is installed it does nothing."""
    lines = []
    names = {"get_ipython": lambda: SimpleNamespace(run_cell=lines.append)}
    exec(form.GUARD, names)
    assert capsys.readouterr().out == "" and lines == []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    exec(form.GUARD, names)
    install = '%pip install -q "..[lab]"'
    assert capsys.readouterr().out.splitlines()[-1] == install and lines == []
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    exec(form.GUARD, names)
    assert lines == [install]
