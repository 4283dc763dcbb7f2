"""What a learner did is kept: answers that passed are used again, and what was predicted is on record."""

import inspect
import json
import linecache
import os
import re
import subprocess
import sys
from copy import copy
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from stridekit import Predict, _kept, notebook
from stridekit.exercises import exercise, forget, mine, panel, progress
from stridekit.exercises import strides as ex
from stridekit.exercises.alone import NotAlone, standing_alone
from stridekit.exercises.answers import read_number
from stridekit.exercises.progress import _lesson
from stridekit.exercises.running import Case

ROOT = Path(__file__).parent.parent
COLUMN = "def column(x, j):\n    return x.as_strided((x.size(0),), (x.stride(0),), {})\n"
RIGHT = COLUMN.format("x.storage_offset() + j * x.stride(1)")
WRONG = COLUMN.format("j")
numbers = count()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a kernel in a folder of its own keeps things, for a user with a secret of their own."""
    beside = tmp_path / "notebooks"
    beside.mkdir()
    monkeypatch.setattr(_kept, "running_shell", lambda: SimpleNamespace(starting_dir=str(beside)))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv(_kept.VARIABLE, raising=False)
    return beside / "my_answers"


@pytest.fixture
def file(folder):
    """The file of an answer to `column` that has passed."""
    assert check(fresh(), RIGHT).passed
    return folder / "strides_column.py"


def fresh(task=ex.column):
    """An exercise as a new kernel has it."""
    return copy(task)


def cell(source, **names):
    """The names of a notebook after a cell with this source has run in it."""
    name = f"<cell {next(numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names["__name__"] = "__main__"
    exec(compile(source, name, "exec"), names)
    return names


def check(task, source, name=None):
    """The report on a function that a cell defines."""
    return task.check(cell(source)[name or task.name])


def last_row(report):
    return report.rows[-1].text


# In this kernel, and in the next ----------------------------------------------------------------


def test_mine_is_the_last_answer_that_passed_and_else_the_reference():
    task, right = fresh(), cell(RIGHT)["column"]
    assert task.mine is task.reference
    check(task, WRONG)
    assert task.mine is task.reference
    task.check(right)
    check(task, WRONG)
    assert task.mine is right
    task.check(task.reference)
    assert task.mine is right


def test_an_answer_that_passed_is_used_by_the_next_kernel(folder, file):
    text = file.read_text("utf-8")
    assert text.startswith("# Your answer to `column`, as it passed its check.\n")
    assert text.endswith(f"\n\n{RIGHT}")
    own = fresh().mine
    assert own is not ex.column.reference and own.__code__.co_filename == str(file)
    assert inspect.getsource(own) == RIGHT
    assert oct((folder.parent.parent / "data" / "stridekit_secret").stat().st_mode)[-2:] == "00"


def test_the_report_says_where(file):
    says = "Kept in my_answers/strides_column.py: `ex.column.mine` is your own function now."
    report = check(fresh(), RIGHT)
    assert last_row(report) == says and report.rows[0].text == ex.column.takeaway
    # An answer that is right by other means, or wrong, is not kept.
    assert "Kept" not in check(fresh(), WRONG).text
    assert "Kept" not in check(fresh(), "def column(x, j):\n    return x[:, j]\n").text


def test_a_later_answer_takes_its_place(file):
    later = RIGHT.replace("    return", "    # by hand\n    return")
    check(fresh(), later)
    assert file.read_text("utf-8").endswith(later)
    check(fresh(), WRONG)
    assert file.read_text("utf-8").endswith(later)
    assert [path.name for path in sorted(file.parent.iterdir())] == ["record.jsonl", file.name]


def test_a_kernel_that_starts_anew_uses_it(tmp_path):
    """Two real kernels; the second has nothing but the files."""
    keeps = f"import os\nos.environ['JUPYTER_DATA_DIR'] = {str(tmp_path / 'data')!r}\n"
    keeps += f"del os.environ[{_kept.VARIABLE!r}]\nfrom stridekit.exercises import strides as ex\n"
    helper = "import torch\ndef start(x, j):\n    return x.storage_offset() + j * x.stride(1)\n"
    answers = COLUMN.format("start(x, j)")
    asks = "import inspect; print(inspect.getsource(ex.column.mine))\n"
    asks += "print(ex.column.mine(torch.arange(12).view(3, 4), 1))"
    printed = []
    for sources in ([keeps, helper, answers, "ex.column.check(column)"], [keeps, helper, asks]):
        book = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, sources)])
        notebook.run(book, tmp_path, store_widget_state=False)
        [output] = book.cells[-1].outputs
        printed.append(output.get("text") or output.data["text/plain"])
    assert "`ex.column.mine` is your own function now" in printed[0].replace("\n  ", " ")
    assert printed[1] == f"{answers}\ntensor([1, 5, 9])\n"


# Code from elsewhere ----------------------------------------------------------------------------

TAMPERED = {
    "a line more": lambda text: text + "open(__name__, 'w')\n",
    "a line before": lambda text: "open(__name__, 'w')\n" + text,
    "in the head": lambda text: text.replace("\n\n", "\nopen(__name__, 'w')\n\n", 1),
    "another answer": lambda text: text.replace("j *", "open(__name__, 'w') and j *"),
    "no signature": lambda text: text.partition("\n\n")[2] + "open(__name__, 'w')\n",
    "half of it": lambda text: text[:-20],
    "nothing": lambda text: "",
    "not text": lambda text: "\0",
}


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
def test_what_was_changed_by_hand_is_never_executed(file, change, monkeypatch):
    monkeypatch.setattr(mine, "_function", lambda *args: pytest.fail("executed"))
    file.write_text(change(file.read_text("utf-8")), "utf-8")
    task = fresh()
    with pytest.warns(
        UserWarning, match="was changed, or comes from another machine; it was not run"
    ):
        assert task.mine is task.reference


def test_what_was_changed_by_hand_is_the_learners_again_after_a_check(file):
    file.write_text("import nothing")
    check(fresh(), RIGHT)
    assert fresh().mine.__code__.co_filename == str(file)


def test_the_answer_of_another_user_or_to_another_exercise_is_not_executed(file, monkeypatch):
    other = file.with_name("strides_row.py")
    other.write_bytes(file.read_bytes())
    with pytest.warns(UserWarning, match=r"strides_row\.py was changed"):
        assert fresh(ex.row).mine is ex.row.reference
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(file.parent / "another user"))
    with pytest.warns(UserWarning, match=r"strides_column\.py was changed"):
        assert fresh().mine is ex.column.reference


@pytest.mark.parametrize("damaged", [b"", b"short"])
def test_a_damaged_secret_trusts_nobody(file, damaged):
    """An empty one would be easy to guess."""
    (secret,) = Path(os.environ["JUPYTER_DATA_DIR"]).iterdir()
    secret.write_bytes(damaged)
    with pytest.warns(UserWarning, match="was changed"):
        assert fresh().mine is ex.column.reference
    assert len(secret.read_bytes()) == 32


def test_line_ends_of_another_system_are_no_change(file):
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert fresh().mine is not ex.column.reference


def test_an_answer_that_the_check_now_refuses_is_not_used(file):
    """The check of a later version may know better."""
    task = fresh()
    task.cases = [Case("x = torch.zeros(2, 3); j = nothing")]
    with pytest.warns(UserWarning, match="no longer passes its check"):
        assert task.mine is task.reference


def test_no_name_leads_out_of_the_folder(folder):
    def odd(n):
        return n

    odd.__name__ = "../../odd"
    task = exercise(
        title="t", read=read_number, cases=["n = 1"], hints=["h"], otherwise="o", takeaway="t"
    )(odd)
    assert check(task, "def odd(n):\n    return 1\n", "odd").passed
    written = [path.name for path in folder.parent.parent.rglob("*") if path.is_file()]
    assert sorted(written) == ["record.jsonl", "stridekit_secret"]
    assert _kept.record() == [{"passed": "tests_______odd"}] and task.mine(1) == 1


def test_the_record_does_not_follow_a_link(folder, tmp_path):
    if not hasattr(os, "O_NOFOLLOW"):
        pytest.skip("this system cannot refuse a link")
    folder.mkdir()
    (folder / "record.jsonl").symlink_to(tmp_path / "elsewhere")
    report = check(fresh(), RIGHT)
    assert report.passed and "it cannot be written (" in last_row(report)
    assert not (tmp_path / "elsewhere").exists()


# What stands alone ------------------------------------------------------------------------------

HELPED = "{}\ndef first(n):\n    return {}\n"
ALONE = {
    "a module": ("import math", "math.prod((n, 2))"),
    "a module by another name": ("import numpy as np", "int(np.prod((n, 2)))"),
    "a part of a package": (
        "import torch as t, torch.nn.functional as F",
        "F.relu(t.tensor(2 * n)).item()",
    ),
    "a function of a module": ("from math import prod", "prod((n, 2))"),
    "one by another name": ("from math import prod as p", "p((n, 2))"),
    "what torch has": (
        "from torch import arange, int64",
        "int(arange(2 * n + 1, dtype=int64)[-1])",
    ),
    "a constant of a module": ("from math import pi", "round(2 * n * pi / pi)"),
    "a class": (
        "from torch import Tensor\nimport torch",
        "2 * int(Tensor.abs(torch.tensor(n)))",
    ),
    "a helper": ("def twice(n):\n    return 2 * n\n", "twice(n)"),
    "helpers of a helper": (
        "import math\ndef two():\n    return math.ceil(1.5)\ndef twice(n):\n    return two() * n\n",
        "(lambda m: [twice(m) for _ in 'a'][0])(n)",
    ),
    "helpers that call each other": (
        "def even(n):\n    return n == 0 or odd(n - 1)\n"
        "def odd(n):\n    return n != 0 and even(n - 1)\n",
        "2 * n if even(2 * n) else None",
    ),
    "itself": ("", "0 if n == 0 else 2 + first(n - 1)"),
    "a decorator": ("from functools import cache\n@cache", "2 * n"),
    "a decorator of its own": (
        "import functools\ndef told(fn):\n    @functools.wraps(fn)\n    def tells(n):\n"
        "        return fn(n)\n    return tells\n@told",
        "2 * n",
    ),
    "names of its own that the notebook has too": (
        "n, k = object(), object()",
        "sum(k for k in [n, n])",
    ),
    "a name of Python, defined anew": ("def sum(n):\n    return 2 * n\n", "sum(n)"),
    "a generator": ("from math import prod", "next(prod((m, 2)) for m in [n])"),
    "letters of all kinds": ("def zweimal(größe):\n    return 2 * größe  # ∀\n", "zweimal(n)"),
}


@exercise(title="t", read=read_number, cases=["n = 3"], hints=["h"], otherwise="o", takeaway="t")
def double(n):
    return 2 * n


@pytest.mark.parametrize("parts", ALONE.values(), ids=ALONE)
def test_what_an_answer_uses_goes_with_it(folder, parts):
    report = check(fresh(double), HELPED.format(*parts), "first")
    assert report.passed and "Kept in my_answers/tests_double.py" in last_row(report)
    assert fresh(double).mine(3) == 6
    assert (folder / "tests_double.py").read_text("utf-8").endswith("\n\n\ndouble = first\n")


NOT_ALONE = {
    "it is not written with `def`": "first = lambda n: 2 * n\n",
    "`first` is made inside another function": (
        "def made(k):\n    def first(n):\n        return k * n\n    return first\nfirst = made(2)\n"
    ),
    "it uses `k`, an int of the notebook": HELPED.format("k = 2", "k * n"),
    "it uses `t`, a Tensor of the notebook": HELPED.format(
        "import torch\nt = torch.tensor(2)", "int(t) * n"
    ),
    "it uses `Two`, a type of the notebook": HELPED.format(
        "class Two:\n    value = 2", "Two.value * n"
    ),
    "it calls `twice` by another name, `two`": HELPED.format(
        "def twice(n):\n    return 2 * n\ntwo = twice\ntwice = None", "two(n)"
    ),
    "it imports `beside` from the notebook's folder": HELPED.format(
        "import beside", "beside.twice(n)"
    ),
    "it imports `within` from the notebook's folder": HELPED.format(
        "from within.it import twice", "twice(n)"
    ),
    "without the notebook it gives other answers": HELPED.format(
        "sum = 1", "3 + n if 'sum' in globals() else 0"
    ),
    "without the notebook it stops with NameError": "from __future__ import annotations\n"
    "def first(n: nothing):\n    return 2 * n\n",
}


@pytest.mark.parametrize(("why", "source"), NOT_ALONE.items(), ids=NOT_ALONE)
def test_what_cannot_stand_alone_is_the_kernels_alone(folder, why, source, monkeypatch):
    twice = "def twice(n):\n    return 2 * n\n"
    (folder.parent / "beside.py").write_text(twice)
    (folder.parent / "within").mkdir()
    (folder.parent / "within" / "it.py").write_text(twice)
    monkeypatch.syspath_prepend(folder.parent)
    names, task = cell(source), fresh(double)
    report = task.check(names["first"])
    for module in ("beside", "within", "within.it"):
        sys.modules.pop(module, None)
    assert report.passed and why in last_row(report)
    assert "is your own function until the kernel ends; no file keeps it: " in last_row(report)
    assert task.mine is names["first"] and fresh(double).mine is double.reference
    assert [path.name for path in folder.iterdir()] == ["record.jsonl"]


@pytest.mark.parametrize(
    ("why", "name", "source"),
    [
        (
            "it uses two functions named `first`",
            "old",
            "def first(n):\n    return first(n)\nold = first\ndef first(n):\n    return 2 * n\n",
        ),
        (
            "the source of `first` cannot be found",
            "first",
            "exec('def first(n):\\n    return 2 * n')\n",
        ),
    ],
)
def test_what_was_defined_anew_or_without_a_cell_has_no_source(tmp_path, why, name, source):
    with pytest.raises(NotAlone, match=why):
        standing_alone(cell(source)[name], "first", tmp_path)


class Hostile:
    """Raises whatever is asked of it."""

    def __call__(self, n):
        return 2 * n

    def __getattr__(self, name):
        raise SystemExit(name)


@pytest.mark.parametrize("make", [Hostile, lambda: Hostile().__call__, lambda: (2).__mul__])
def test_no_callable_breaks_the_check(folder, make):
    task, fn = fresh(double), make()
    report = task.check(fn)
    assert report.passed and "until the kernel ends; no file keeps it" in last_row(report)
    assert task.mine is fn


# What it costs ----------------------------------------------------------------------------------


def test_an_answer_is_run_once_more_and_only_when_it_is_new(folder, monkeypatch):
    source = "calls = []\ndef double(n):\n    print('called')\n    return 2 * n\n"
    names, task = cell(source), fresh(double)
    runs, judge = [], type(task)._judge
    monkeypatch.setattr(type(task), "_judge", lambda *args: runs.append(args) or judge(*args))
    for kernel in (task, task, fresh(double)):
        kernel.check(names["double"])
    assert len(runs) == 3 + 1
    assert len(_kept.record()) == 1


def test_what_it_prints_is_printed_once(folder, capsys):
    check(fresh(double), "def double(n):\n    print('called')\n    return 2 * n\n")
    assert capsys.readouterr().out == "called\n"


def test_a_wrong_answer_costs_nothing(folder, monkeypatch):
    monkeypatch.setattr(mine, "keep", lambda *args: pytest.fail("looked at"))
    assert check(fresh(), WRONG).attempted
    assert not folder.exists()


def test_where_nothing_is_kept_nothing_is_written_or_read(file, monkeypatch):
    """So tests are the same for a reader who has answered everything, and change nothing of theirs."""
    monkeypatch.setenv(_kept.VARIABLE, "no")
    before = {path: path.stat().st_mtime_ns for path in file.parent.iterdir()}
    task = fresh()
    report = check(task, RIGHT.replace("j *", "1 * j *"))
    assert task.mine is not None and last_row(report) == task.takeaway
    assert fresh().mine is task.reference and mine.passed() == set()
    assert repr(progress()).startswith("· nothing passed")
    assert {path: path.stat().st_mtime_ns for path in file.parent.iterdir()} == before


def test_the_kernels_of_tests_and_pages_keep_nothing():
    assert notebook.ENVIRONMENT[_kept.VARIABLE] == "no"
    assert "my_answers/" in (ROOT / ".gitignore").read_text().split()


# When writing fails -----------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_breaks_no_check(folder):
    folder.write_text("a file is in its place")
    task = fresh()
    report = check(task, RIGHT)
    assert report.passed and "no file keeps it: it cannot be written (" in last_row(report)
    assert task.mine is not task.reference and fresh().mine is task.reference


def test_a_full_disk_leaves_what_was_there(file, monkeypatch):
    before = file.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(_kept.write, "__defaults__", (full,))
    report = check(fresh(), RIGHT.replace("j *", "1 * j *"))
    assert last_row(report).endswith(
        "no file keeps it: it cannot be written (No space left on device)."
    )
    assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == ["record.jsonl", file.name]


TWO = """\
import sys
from pathlib import Path
from types import SimpleNamespace
from stridekit import _kept
_kept.running_shell = lambda: SimpleNamespace(starting_dir=sys.argv[1])
for k in range(60):
    _kept.note(card=f"{sys.argv[2]} {k} " + "long " * 200, right=True)
    text = sys.argv[2] * 50_000
    _kept.write(_kept.folder() / "one.py", text.encode())
    found = (_kept.folder() / "one.py").read_text()
    assert found in ("a" * 50_000, "b" * 50_000), len(found)
    print(_kept.sign("one", "text"))
"""


def test_two_kernels_at_once_lose_nothing(folder):
    command = [sys.executable, "-c", TWO, str(folder.parent)]
    running = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "ab"
    ]
    signatures = {line for one in running for line in one.communicate()[0].split()}
    assert [one.returncode for one in running] == [0, 0]
    assert len(_kept.record()) == 120 and len(signatures) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["one.py", "record.jsonl"]


# Forgetting -------------------------------------------------------------------------------------


def test_forget_removes_what_was_kept_and_says_what(folder, file):
    task = fresh()
    check(task, RIGHT)
    (folder / "notes.py").write_text("# mine\n")
    card = forget()
    assert card.headline == "forgotten: 2 files removed"
    assert [row.text for row in card.rows] == ["my_answers/record.jsonl", f"my_answers/{file.name}"]
    assert [path.name for path in folder.iterdir()] == ["notes.py"]
    assert task.mine is task.reference and not task.solved
    (folder / "notes.py").unlink()
    assert forget().headline == "forgotten: nothing was kept" and folder.exists()
    check(task, RIGHT)
    forget()
    assert not folder.exists()


def test_it_forgets_a_file_that_was_edited_too(file):
    file.write_text(file.read_text() + "# a note\n")
    assert f"my_answers/{file.name}" in forget().text


# Predictions, and the map -----------------------------------------------------------------------


def answer(card, said):
    """What the page sends when a reader commits."""
    card.set_state({"_state": {"said": said, "shown": True}})


def test_what_the_page_answers_is_on_record(folder):
    card = Predict("How many?", 40, remarks={5: "no"})
    card.committed = 40  # in Python, and not on the page
    card.committed = None
    assert _kept.record() == []
    answer(card, 5)
    answer(card, 40)
    answer(Predict("How many?", 40), 40)
    with pytest.raises(ValueError, match="cannot be typed"):
        answer(Predict("How many?", 40), "x")
    assert _kept.record() == [
        {"card": "How many?", "right": False},
        {"card": "How many?", "right": True},
    ]


def test_a_card_works_where_nothing_can_be_written(folder):
    folder.write_text("a file is in its place")
    card = Predict("How many?", 40)
    answer(card, 40)
    assert card.correct


@pytest.fixture
def lessons(folder):
    """Two lessons and a notebook that has nothing to do, beside each other."""
    cards = [
        'Predict("One `a`?", 1)',
        "n = 2\nPredict(f'{n} or {n + 1}?', 2)",
        'Predict("Skipped?", 1)',
    ]
    checks = ["%magic", "column = None\n\nex.column.check(column)", "ex.row.check(row)"]
    begin = "from stridekit import Predict\nfrom stridekit.exercises import strides as ex, views"
    books = {
        "01_one": ["# One: <first>", begin, *checks, *cards],
        "02 two": ["# Two\n\nwords", "# Not this", begin, "views.memset_of.check(memset_of)"],
        "03_none": ["# None", "x = 1"],
        "odd": [],
    }
    for name, sources in books.items():
        cells = [
            nbformat.v4.new_markdown_cell(source) if source[0] == "#" else nbformat.v4.new_code_cell(source)
            for source in sources
        ]  # fmt: skip
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder.parent / f"{name}.ipynb")
    (folder.parent / "broken.ipynb").write_text("{")
    (folder.parent / "other.ipynb").write_text('{"cells": [1]}')


def test_the_map_shows_what_was_passed_and_predicted(lessons):
    assert (
        repr(progress())
        == "· nothing passed or predicted yet\n  Run this cell again after a lesson."
    )
    check(fresh(), RIGHT)
    for said in (2, 1):
        answer(Predict("One `a`?", 1), said)
    for question, said in {"2 or 3?": 2, "Skipped?": None, "Other": 1}.items():
        answer(Predict(question, 2), said)
    assert repr(progress()).splitlines() == [
        "  lesson           exercises passed  next       cards predicted  right first time",
        "  01 One: <first>  1 of 2            row        2 of 3           1",
        "  02 Two           0 of 1            memset_of",
    ]
    html = progress()._repr_html_()
    assert '<a href="01_one.ipynb">01 One: &lt;first&gt;</a>' in html
    assert '<a href="02%20two.ipynb">02 Two</a>' in html and html.count("<tr>") == 3


def test_a_card_that_was_skipped_first_was_not_right_first_time(lessons):
    for said in (None, 1):
        answer(Predict("Skipped?", 1), said)
    assert re.search(r"1 of 3 +0$", repr(progress()), re.MULTILINE)


def test_a_record_that_somebody_broke_is_read_as_far_as_it_goes(lessons, folder):
    folder.mkdir()
    lines = [
        "{",
        "[1]",
        '{"card": 1}',
        '{"passed": ["x"]}',
        "[" * 100_000,
        '{"passed": "strides_row"}',
    ]
    (folder / "record.jsonl").write_text("\n".join(lines))
    assert "1 of 2" in repr(progress())
    (folder / "record.jsonl").write_bytes(b"\xff")
    assert "nothing" in repr(progress())


PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_it_finds_the_cards_and_exercises_of_every_lesson():
    """A card's stored output begins with its question: that of no other card in all lessons."""
    patterns, questions = [], []
    for path in PATHS:
        lesson, cells = _lesson(path), json.loads(path.read_text("utf-8"))["cells"]
        outputs = [output for one in cells for output in one.get("outputs", [])]
        texts = ["".join(output.get("data", {}).get("text/plain", "")) for output in outputs]
        shown = re.findall(r"^Predict: (.*)", "\n".join(texts), re.MULTILINE)
        assert len(lesson.cards) == len(shown)
        blanks = re.findall(r"^○ (\w+): not attempted", "\n".join(texts), re.MULTILINE)
        assert [*lesson.exercises.values()] == blanks
        patterns += lesson.cards
        questions += shown
    for question in questions:
        assert sum(bool(re.fullmatch(pattern, question)) for pattern in patterns) == 1


def test_a_panel_counts_what_was_passed_in_other_kernels(folder, monkeypatch):
    lesson = [fresh(task) for task in ex.column.lesson]
    monkeypatch.setattr(type(ex.column), "lesson", lesson)
    for task in lesson:
        task.solved = False
    check(fresh(), RIGHT)
    parts = panel._parts(lesson[5], lesson[5].check(ex.row.reference))
    assert "2 of 10 in this lesson" in parts["says"] and parts["next"] == "diagonal"
