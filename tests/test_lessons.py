"""The lessons for Colab and VS Code give nothing away, and are the same lessons."""

import ast
import sys
from pathlib import Path

import pytest
import torch

import lessons
from stridekit import Predict
from stridekit.exercises.progress import _lesson
from stridekit.export import notebook as form

ROOT = Path(__file__).parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder with the lessons of a fork."""
    folder = tmp_path_factory.mktemp("lessons") / "out"
    lessons.main(["-o", str(folder), "--repository", "Fork/kit"])
    return folder


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_nothing_is_given_away(written, path):
    """No output, no why, no answer of a card; the words below it are folded; the map finds all of it."""
    old, new = (
        form.parse((folder / path.name).read_text("utf-8")) for folder in (path.parent, written)
    )
    assert len(old.cells) == len(new.cells)
    for k, (before, after) in enumerate(zip(old.cells, new.cells, strict=True)):
        assert not after.get("outputs") and "outputs_hidden" not in after.metadata.get(
            "jupyter", {}
        )
        if form.asks(before):
            call = ast.parse(after.source).body[0].value
            assert call.func.attr == "packed" and "why" not in after.source
            if words := form.explains(old.cells, k):
                folded = new.cells[old.cells.index(words)].source
                assert folded.startswith("<details>") and words.source in folded
    assert "git+https://github.com/Fork/kit" in new.cells[0].source
    before, after = _lesson(path), _lesson(written / path.name)
    assert (before.cards, before.exercises) == (after.cards, after.exercises)


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
    """In Colab it runs that line; where stridekit is installed it does nothing."""
    ran = []
    names = {"get_ipython": lambda: type("Shell", (), {"run_cell": staticmethod(ran.append)})}
    exec(form.GUARD, names)
    assert capsys.readouterr().out == "" and ran == []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    exec(form.GUARD, names)
    line = '%pip install -q "..[lab]"'
    assert capsys.readouterr().out.splitlines()[-1] == line and ran == []
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    exec(form.GUARD, names)
    assert ran == [line]
