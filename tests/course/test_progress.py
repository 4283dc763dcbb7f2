"""The learner's progress: answers that passed live in this kernel, the rest in a record of plain data."""

import errno
import json
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from stridekit import Predict
from stridekit.exercises import core, forget, progress
from stridekit.exercises import strides as ex
from stridekit.exercises.progress import _lesson
from stridekit.lessons import notebook
from stridekit.widgets import kept

ROOT = Path(__file__).parents[2]
DAY = '{"day": "2026-11-29"}\n'
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def record(tmp_path, monkeypatch):
    """The record of a kernel in a folder of its own, in which nothing has passed."""
    monkeypatch.setattr(kept, "path", lambda: tmp_path / "my_answers" / "record.jsonl")
    monkeypatch.setattr(core, "_passed", {})
    monkeypatch.setattr(kept, "_kernel", kept._Kernel())
    monkeypatch.setattr(kept, "today", lambda: date(2026, 11, 29))
    return tmp_path / "my_answers" / "record.jsonl"


def right(x, j):
    return ex.column.reference(x, j)


def answer(card, said):
    """Send what the page sends when a reader has seen the answer."""
    card.set_state({"_state": {"said": said, "shown": True}})


def test_mine_is_the_last_answer_that_passed_and_else_the_reference(record):
    assert ex.column.mine is ex.column.reference
    ex.column.check(lambda x, j: x[j])
    assert ex.column.mine is ex.column.reference
    ex.column.check(right)
    ex.column.check(lambda x, j: x[:, j])  # right, but not by as_strided
    assert ex.column.mine is right
    assert forget().headline == "forgotten: my_answers/record.jsonl removed"
    assert ex.column.mine is ex.column.reference and not record.parent.exists()
    assert forget().headline == "forgotten: nothing was on record"


def test_a_pass_says_how_far_the_lesson_is_and_what_comes_next(record, monkeypatch):
    well_done = "Well done: 1 of 11 in this lesson. Next: `diagonal`."
    assert ex.column.check(right).rows[-1].text == well_done
    core._passed.clear()  # another kernel, which has the record
    report = ex.row.check(lambda x, i: ex.row.reference(x, i))
    assert "2 of 11 in this lesson" in report.text and report.text.endswith("Next: `diagonal`.")
    core._passed.clear()
    monkeypatch.setattr(kept, "path", lambda: None)  # nothing is kept
    assert ex.column.check(right).rows[-1].text == well_done
    for task in ex.row.lesson:
        report = task.check(lambda *args, task=task: task.reference(*args))
    assert report.text.endswith("Well done: 11 of 11 in this lesson. That was the last.")


def test_what_comes_next_is_on_the_path_that_was_chosen(record):
    """A further exercise leaves the path of the essentials."""
    progress("essentials")
    assert ex.element.check(
        lambda index, stride: ex.element.reference(index, stride)
    ).text.endswith("Well done: 1 of 3 essential exercises in this lesson. Next: `address`.")
    assert ex.column.check(right).text.endswith(
        "Well done: 2 of 11 in this lesson. Next: `diagonal`."
    )
    progress("everything")
    assert ex.element.check(
        lambda index, stride: ex.element.reference(index, stride)
    ).text.endswith("Well done: 2 of 11 in this lesson. Next: `address`.")


def test_the_map_has_the_lessons_of_stridekit_where_no_notebook_is_beside_the_record(record):
    """As in Colab: without links, because there are no files to open."""
    ex.column.check(right)
    shown = progress()
    assert re.search(r"01 Strides +1 of 11 +element", repr(shown))
    assert len(shown.rows) == len(PATHS) and "<a " not in shown._repr_html_()


def test_nothing_is_kept_outside_of_a_kernel_and_where_a_variable_says_no(monkeypatch):
    shell = SimpleNamespace(starting_dir="/work", kernel=object())
    monkeypatch.setitem(kept.sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.delenv(kept.VARIABLE, raising=False)
    assert kept.path() == Path("/work/my_answers/record.jsonl")
    monkeypatch.setenv(kept.VARIABLE, "no")
    assert kept.path() is None
    monkeypatch.delenv(kept.VARIABLE)
    monkeypatch.delattr(shell, "kernel")
    assert kept.path() is None and kept.record() == [] and kept.remove() == ""
    assert notebook.ENVIRONMENT[kept.VARIABLE] == "no"
    assert "my_answers/" in (ROOT / ".gitignore").read_text().split()


def test_what_passed_and_what_the_page_answers_is_on_record_once(record):
    for _ in range(2):
        ex.column.check(right)
    ex.column.check(ex.column.reference)
    card = Predict("How many?", 40, remarks={5: "no"})
    card.committed = 40  # in Python, and not on the page
    card.committed = None
    answer(card, 40)
    answer(Predict("How many?", 40), 40)
    assert kept.record() == [{"passed": "strides_column"}, {"card": "How many?", "right": True}]


def words(report):
    """Return the text of a report, as if no line was wrapped."""
    return " ".join(report.text.split())


def replace(record, how):
    """Put something else in the place of the record; return a file that a link leads to."""
    record.parent.mkdir(exist_ok=True)
    elsewhere = record.parent.parent / "away" / record.name
    elsewhere.parent.mkdir()
    elsewhere.write_text('{"passed": "strides_row"}\n')
    if how == "FIFO":
        os.mkfifo(record)
    elif how == "link":
        record.symlink_to(elsewhere)
    elif how == "linked folder":
        record.parent.rmdir()
        record.parent.symlink_to(elsewhere.parent)
    elif how == "1 TB":
        with record.open("wb") as file:
            file.truncate(10**12)  # sparse
    else:
        record.write_bytes(b"\xff\xfe" * 9)
    return elsewhere


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("how", ["FIFO", "link", "linked folder", "1 TB", "bytes"])
def test_another_file_in_its_place_is_named_at_once_and_left_alone(record, how):
    """By the map, by a check and by forget, each of which says what to do; and a card works."""
    elsewhere = replace(record, how)
    before = elsewhere.read_text()
    cure = "Rename it, and a new record begins."
    assert re.fullmatch(f"· your progress cannot be read: .*{cure}", repr(progress()))
    report = ex.column.check(right)
    assert report.passed and "1 of 11 in this lesson" in words(report)
    assert "Your progress is not on record: " in words(report)
    card = Predict("How many?", 40)
    answer(card, 40)
    assert card.correct and card.shown
    assert re.fullmatch(f"the record was not removed: .*{cure}", forget().headline)
    assert elsewhere.read_text() == before and (record.exists() or record.is_symlink())


def test_the_cure_works(record):
    """The reader renames a folder in the place of the record, and all notes of the kernel follow."""
    record.mkdir(parents=True)
    ex.column.check(right)
    answer(Predict("How many?", 40), 40)
    assert repr(progress()).startswith("· your progress cannot be read: record.jsonl is no regular")
    record.rename(record.with_name("other"))
    assert "not on record" not in words(ex.column.check(right))
    assert written(record) == [{"passed": "strides_column"}, {"card": "How many?", "right": True}]


def written(record):
    """Return the lines of the record as JSON, but for the day that stands above them."""
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    return [line for line in lines if f"{json.dumps(line)}\n" != DAY]


def in_place_of_the_folder(record):
    record.parent.write_text("")


def in_place_of_the_record(record):
    record.mkdir(parents=True)


def as_full(record):
    record.parent.mkdir()
    record.write_text(" " * (kept.MOST_BYTES - 8))


TROUBLE = {
    in_place_of_the_folder: "my_answers is a file, where a folder of this name is needed. Rename the",
    in_place_of_the_record: "record.jsonl is no regular file. Rename it, and a new record begins.",
    as_full: "record.jsonl has reached 1,000,000 bytes. Rename it, and a new record begins.",
}


@pytest.mark.parametrize("put", TROUBLE)
def test_a_note_that_cannot_be_written_is_told_once_and_written_later(record, put):
    """First by a card, which shows it; by a check again only after a note has been written."""
    put(record)
    told = f"Your progress is not on record: {TROUBLE[put]}"
    cards = [Predict(f"How many {k}?", 40) for k in range(2)]
    for card in cards:
        answer(card, 40)
        assert card.correct and card.shown
    assert cards[0]._problem["trouble"].startswith(told)
    assert cards[0]._problem["trouble"].endswith("Until then only this kernel remembers it.")
    assert "trouble" not in cards[1]._problem
    report = ex.column.check(right)
    assert report.passed and "not on record" not in words(report)
    in_the_way = record.parent if record.parent.is_file() else record
    in_the_way.rename(in_the_way.with_name("other"))
    assert "2 of 11 in this lesson" in ex.row.check(lambda x, i: ex.row.reference(x, i)).text
    notes = [{"card": card._problem["question"], "right": True} for card in cards]
    notes += [{"passed": "strides_column"}, {"passed": "strides_row"}]
    assert written(record) == notes == kept.record()
    record.rename(record.with_name("written"))
    record.mkdir()
    assert "not on record" in words(ex.column.check(right))


@pytest.mark.parametrize(
    ("number", "cure"),
    {
        errno.ENOSPC: "the disk is full, or you may not use more of it. Make room there.",
        errno.EDQUOT: "the disk is full, or you may not use more of it. Make room there.",
        errno.EROFS: "no right to read or write my_answers/record.jsonl. Copy the lessons into",
        errno.EACCES: "no right to read or write my_answers/record.jsonl. Copy the lessons into",
        errno.ENOENT: "the folder of this notebook was moved or removed. Open the notebook again.",
        errno.EIO: "my_answers/record.jsonl: Input/output error. Mend that, or copy the lessons",
    }.items(),
)
def test_each_error_of_the_system_has_its_cure(record, monkeypatch, number, cure):
    """Of a check, and of forget, which removes nothing."""
    kept.note(passed="x")

    def fail(*arguments):
        raise OSError(number, os.strerror(number), str(record))

    monkeypatch.setattr(kept, "_append", fail)
    monkeypatch.setattr(Path, "unlink", fail)
    assert f"not on record: {cure}" in words(ex.column.check(right))
    assert forget().headline.startswith(f"the record was not removed: {cure}")
    assert written(record) == [{"passed": "x"}]


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="this system has no folder that is read-only")
def test_a_check_passes_in_a_folder_where_nobody_may_write(record, monkeypatch):
    monkeypatch.setattr(kept, "path", lambda: Path("/sys/my_answers/record.jsonl"))
    report = ex.column.check(right)
    assert report.passed and "Copy the lessons into a folder of your own." in words(report)
    assert repr(progress()).startswith("  lesson")  # this kernel's notes


TORN = '{"passed": "strides_col'
KNOWN = {"passed": "strides_row"}


@pytest.mark.parametrize(
    "text",
    [
        f'{TORN}\n{{"passed": "strides_row"}}\n',
        f'{{"passed": "strides_row"}}\n{TORN}',
        f'{TORN}{{"passed": "strides_row"}}\n',  # as a note was added before
        '\n\n{"passed": "strides_row"}\n \n',
        '{"passed": "strides_row"}',
        '\ufeff{"passed": "strides_row"}\r\n',
        f'\ufeff{TORN}\r\n{{"passed": "strides_row"}}\r\n\r\n',
        f'{{"passed": "strides_row"}}{TORN}\0\0\0',
    ],
)
def test_nothing_that_was_noted_is_lost(record, text):
    """Whatever an editor or a full disk left; nor is the next note, or anything that was in the file."""
    record.parent.mkdir()
    record.write_bytes(text.encode())
    assert kept.record() == [KNOWN]
    report = ex.column.check(right)
    assert words(report).endswith("Well done: 2 of 11 in this lesson. Next: `diagonal`.")
    assert kept.record() == [KNOWN, {"passed": "strides_column"}]
    after = record.read_bytes()
    assert after.startswith(text.encode()) and after.endswith(b'\n{"passed": "strides_column"}\n')
    forget()
    assert kept.record() == [] and not record.exists()


def test_a_file_with_one_torn_line_goes_on(record):
    record.parent.mkdir()
    record.write_text(TORN)
    assert repr(progress()).startswith("· nothing passed or predicted yet")
    assert "not on record" not in words(ex.column.check(right))
    assert record.read_text() == f'{TORN}\n{DAY}{{"passed": "strides_column"}}\n'


def test_forget_keeps_lines_that_are_no_notes_under_another_name(record):
    record.parent.mkdir()
    for number in (1, 2):
        record.write_text(f'{{"passed": "strides_row"}}\n{TORN}')
        name = f"my_answers/record-{number}.jsonl"
        assert forget().headline == (
            f"forgotten: my_answers/record.jsonl is now {name}, because it has lines that are no "
            "notes of stridekit. Delete that file if you do not need it"
        )
        assert kept.record() == [] and not record.exists()
        assert (record.parent.parent / name).read_text().endswith(TORN)
        assert forget().headline == "forgotten: nothing was on record"
    ex.column.check(right)
    assert written(record) == [{"passed": "strides_column"}]


def test_forget_forgets_what_was_not_written(record):
    record.mkdir(parents=True)
    ex.column.check(right)
    forget()
    record.rmdir()
    assert kept.record() == []
    ex.row.check(lambda x, i: ex.row.reference(x, i))
    assert written(record) == [{"passed": "strides_row"}]


WRITER = """
import sys
from pathlib import Path
from stridekit.widgets import kept

kept.path = lambda: Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for k in range(200):
    trouble = kept.note(card=f"{sys.argv[2]} {k} " + "long " * (k % 50), right=True)
    assert not trouble, trouble
"""


def test_four_kernels_write_at_once(record):
    """Each its 200 notes, behind a torn line: none is lost, torn or out of order."""
    record.parent.mkdir()
    record.write_text(TORN)
    command = [sys.executable, "-c", WRITER, str(record)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    kernels = [subprocess.Popen([*command, name], cwd=ROOT, **pipes) for name in "abcd"]
    for kernel in kernels:
        assert kernel.stdout.readline() == "ready\n"
    for kernel in kernels:
        kernel.stdin.write("\n")
        kernel.stdin.flush()
    assert [kernel.communicate()[0] for kernel in kernels] == [""] * 4
    assert [kernel.returncode for kernel in kernels] == [0] * 4
    lines = record.read_text().splitlines()
    assert lines[0] == TORN
    entries = [json.loads(line) for line in lines[1:] if line]
    notes = [entry["card"].split() for entry in entries if "card" in entry]
    for name in "abcd":
        assert [int(note[1]) for note in notes if note[0] == name] == [*range(200)]


FULL_DISK = """
import resource
import sys
from pathlib import Path
from stridekit.widgets import kept

kept.path = lambda: Path(sys.argv[1])
for k in range(3):
    assert kept.note(card=f"number {k}", right=True) == ""
room = Path(sys.argv[1]).stat().st_size + 10
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
assert kept.note(card="number 3", right=True).startswith("Your progress is not on record: the disk")
assert kept.note(card="number 4", right=True) == ""
assert Path(sys.argv[1]).stat().st_size == room
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert kept.note(card="number 5", right=True) == ""
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system limits no files")
def test_a_disk_that_has_room_again_gets_every_note(record):
    """The disk takes ten bytes of a note. The line that it tore stays, and loses nothing."""
    subprocess.run([sys.executable, "-c", FULL_DISK, str(record)], cwd=ROOT, check=True)
    assert [note["card"] for note in kept.record()] == [f"number {k}" for k in range(6)]
    torn = '{"card": "'
    assert record.read_text().splitlines()[4] == torn  # the first line is the day


def test_on_windows_a_note_is_written_under_a_lock(record, monkeypatch):
    """There, to append is to seek and then to write. The byte that is locked lies behind any record."""
    calls = []

    def locking(file, mode, nbytes):
        calls.append((mode, os.lseek(file, 0, os.SEEK_CUR), nbytes, len(record.read_bytes())))

    fake = SimpleNamespace(LK_LOCK="lock", LK_UNLCK="unlock", locking=locking)
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(kept.sys, "platform", "win32")
    kept.note(passed="x")
    lines = f'{DAY}{{"passed": "x"}}\n'.encode()
    assert calls == [("lock", 1 << 30, 1, 0), ("unlock", 1 << 30, 1, len(lines))]
    assert record.read_bytes() == lines and kept.MOST_BYTES < 1 << 30


NOTES = {  # a line, and whether it is a note
    '{"passed": "x"}': True,
    '{"card": "x", "right": true}': True,
    '{"card": "x", "right": false}': True,
    '{"right": null, "card": "x"}': True,
    '{"passed": ""}': True,
    '{"review": "x", "right": true}': True,
    '{"review": "x", "right": null}': False,
    '{"review": "x", "right": true, "card": "x"}': False,
    '{"path": "essentials"}': True,
    '{"path": 1}': False,
    '{"path": "essentials", "more": 1}': False,
    '{"day": "2026-13-01"}': False,
    '{"day": "today"}': False,
    '{"day": 20261129}': False,
    '{"day": "2026-11-29", "more": 1}': False,
    '{"passed": 1}': False,
    '{"passed": null}': False,
    '{"passed": ["x"]}': False,
    '{"card": "x"}': False,
    '{"card": "x", "right": 1}': False,
    '{"card": "x", "right": "true"}': False,
    '{"card": 1, "right": true}': False,
    '{"card": "x", "right": true, "more": 1}': False,
    '{"passed": "x", "right": true}': False,
    '{"Passed": "x"}': False,
    '"passed"': False,
    "null": False,
    "{}": False,
    "": False,
}


@pytest.mark.parametrize("line", NOTES)
def test_a_note_has_exactly_its_names_and_types(record, line):
    record.parent.mkdir()
    record.write_text(f'{line}\n{{"passed": "known"}}\n')
    known = {"passed": "known"}
    assert kept.record() == ([json.loads(line), known] if NOTES[line] else [known])
    is_kept = not NOTES[line] and line != ""
    assert ("is now my_answers/record-1.jsonl" in kept.remove()) == is_kept
    assert not record.exists()
    record.parent.mkdir(exist_ok=True)
    record.write_text(f"{line}\n")  # alone
    assert kept.record() == ([json.loads(line)] if NOTES[line] else [])


def test_notes_have_the_day_of_the_line_above_them(record, monkeypatch):
    """A day is written once, above its first note; notes of an old record have none."""
    record.parent.mkdir()
    record.write_text('{"passed": "old"}\n')
    kept.note(passed="new")
    kept.note(card="One?", right=True)
    kept.note(passed="old")
    monkeypatch.setattr(kept, "today", lambda: date(2026, 12, 1))
    kept.note(passed="newer")
    days = [(day and day.isoformat(), next(iter(note.values()))) for day, note in kept.history()]
    assert days == [
        (None, "old"),
        ("2026-11-29", "new"),
        ("2026-11-29", "One?"),
        ("2026-12-01", "newer"),
    ]
    assert [line.get("day") for line in map(json.loads, record.read_text().splitlines())] == [
        *(None, "2026-11-29", None, None, "2026-12-01", None)
    ]
    assert kept.remove() == "my_answers/record.jsonl removed"


def test_a_path_and_an_answer_in_a_review_are_noted_each_time(record):
    for path in ("essentials", "everything", "essentials"):
        kept.note(path=path)
    for is_right in (True, False, True):
        kept.note(review="One?", right=is_right)
    notes = kept.record()
    assert [note["path"] for note in notes[:3]] == ["essentials", "everything", "essentials"]
    assert [note["right"] for note in notes[3:]] == [True, False, True]
    assert written(record) == notes


def test_an_empty_record_is_a_record(record):
    record.parent.mkdir()
    record.write_text("")
    assert kept.record() == [] and not kept.remove() and record.exists()
    kept.note(passed="x")
    kept.note(passed="x")
    kept.note(passed="y")
    assert record.read_text() == f'{DAY}{{"passed": "x"}}\n{{"passed": "y"}}\n'


def test_a_file_is_read_up_to_its_bound(tmp_path):
    """In bytes, of which a letter may take several."""
    path = tmp_path / "file"
    for text in ("a" * 9, "é" * 4 + "a"):
        path.write_text(text, encoding="utf-8")
        assert kept.read(path, 9) == kept.read(path, 10) == text
        with pytest.raises(kept.Unreadable, match="file is larger than 8 bytes"):
            kept.read(path, 8)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(kept.Unreadable, match="link is a link"):
        kept.read(tmp_path / "link", 9)
    with pytest.raises(kept.Unreadable, match="is no regular file"):
        kept.read(tmp_path, 9)
    with pytest.raises(FileNotFoundError):
        kept.read(tmp_path / "none", 9)


def test_a_record_of_a_million_bytes_is_read(record):
    line = '{"passed": "x"}\n'
    record.parent.mkdir()
    record.write_text(line + "a" * (kept.MOST_BYTES - len(line)))
    assert kept.MOST_BYTES == 1_000_000 and kept.record() == [{"passed": "x"}]
    with record.open("a") as file:
        file.write("a")
    with pytest.raises(kept.RecordError, match=r"larger than 1,000,000 bytes\. Rename it"):
        kept.record()


@pytest.mark.parametrize("value", ["yes", "", "No", "0"])
def test_only_the_word_no_keeps_nothing(monkeypatch, value):
    shell = SimpleNamespace(starting_dir="/work", kernel=None)
    monkeypatch.setitem(kept.sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setenv(kept.VARIABLE, value)
    assert kept.path() == Path("/work/my_answers/record.jsonl")
    monkeypatch.delitem(kept.sys.modules, "IPython")
    assert kept.path() is None


def test_a_card_counts_as_right_first_time_by_its_first_answer(lessons):
    """An answer that came later, one to a skipped card, and one to a question that begins otherwise."""

    def predicted():
        return [texts[3:] for _, texts in progress().rows]

    kept.note(card="An unknown one?", right=True)
    assert predicted() == [("", ""), ("", "")]
    kept.note(card="One `a`?", right=None)
    assert predicted() == [("", ""), ("", "")]
    kept.note(card="One `a`?", right=True)
    assert predicted() == [("1 of 3", "0"), ("", "")]
    kept.note(card="Is it 2 or 3?", right=True)
    kept.note(card="Is it 2 or 3?", right=False)
    assert predicted() == [("2 of 3", "1"), ("", "")]
    kept.note(card="Skipped", right=True)  # shorter than the question
    assert predicted() == [("2 of 3", "1"), ("", "")]


def test_forget_leaves_all_other_files(record):
    ex.column.check(right)
    (record.parent / "notes.py").write_text("# mine\n")
    forget()
    assert [path.name for path in record.parent.iterdir()] == ["notes.py"]


@pytest.fixture
def lessons(record):
    """Two lessons and a notebook that has nothing to do, beside each other."""
    cards = ["Predict('One `a`?', 1)", "n = 2\nPredict(f'Is it {n} or {n + 1}?', 2)"]
    cards.append("Predict('Skipped?', 1)")
    checks = ["%magic", "column = None\n\nex.column.check(column)", "ex.row.check(row)"]
    begin = "from stridekit import Predict\nfrom stridekit.exercises import strides as ex, views"
    books = {
        "01_one": ["# 01 One: <first>", begin, *checks, *cards, "(", "x = 1"],
        "02 two": ["# 02 Two\n\nwords", "# Not this", begin, "views.memset_of.check(memset_of)"],
        "03_none": ["# None", "x = 1"],
        "odd": [],
    }
    folder = record.parent.parent
    for name, sources in books.items():
        cells = [
            nbformat.v4.new_markdown_cell(source)
            if source[0] == "#"
            else nbformat.v4.new_code_cell(source)
            for source in sources
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    (folder / "broken.ipynb").write_text("{")
    (folder / "other.ipynb").write_text('{"cells": [1]}')
    with (folder / "large.ipynb").open("wb") as file:
        file.truncate(100_000_000)
    (folder / "zero.ipynb").symlink_to("/dev/zero")


def test_the_map_shows_what_was_passed_and_predicted(lessons):
    nothing = "· nothing passed or predicted yet\n  Run this cell again after a lesson."
    assert repr(progress()) == nothing
    ex.column.check(right)
    for is_right in (False, True):  # as from two kernels
        kept.note(card="One `a`?", right=is_right)
    for said in (None, 1):  # skipped first, so not predicted
        answer(Predict("Skipped?", 1), said)
    for question, said in {"Is it 2 or 3?": 2, "Other": 1}.items():
        answer(Predict(question, 2), said)
    assert repr(progress()).splitlines() == [
        "  lesson           exercises passed  next       cards predicted  right first time",
        "  01 One: <first>  1 of 2            row        2 of 3           1",
        "  02 Two           0 of 1            memset_of",
    ]
    html = progress()._repr_html_()
    assert '<a href="01_one.ipynb">01 One: &lt;first&gt;</a>' in html
    assert '<a href="02%20two.ipynb">02 Two</a>' in html and html.count("<tr>") == 3


@pytest.fixture
def two_paths(record):
    """The lesson on strides with an essential and a further section, and a lesson that is further."""
    begin = "from stridekit.exercises import strides as ex"
    cells = [
        "# 01 Strides",
        begin,
        "## Memory is one line",
        "Predict('Essential?', 1)",
        "### Exercise 1: to a byte (about 20 minutes)",
        "ex.address.check(address)",
        "## The diagonal",
        "Predict('Further?', 1)",
        "### Exercise 2: the ladder (about 60 minutes)",
        "ex.row.check(row)",
    ]
    books = {"01_strides": cells, "04_more": ["# 04 More", "Predict('More?', 1)"]}
    for name, sources in books.items():
        kinds = [(notebook.HEADING.match(source), source) for source in sources]
        nodes = [
            nbformat.v4.new_markdown_cell(source) if heading else nbformat.v4.new_code_cell(source)
            for heading, source in kinds
        ]
        path = record.parent.parent / f"{name}.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=nodes), path)


def test_the_map_follows_the_path_that_was_chosen_last(two_paths, record):
    kept.note(card="Essential?", right=True)
    kept.note(card="Further?", right=True)
    everything = repr(progress()).splitlines()
    assert [line.split("  ")[1] for line in everything[1:3]] == ["01 Strides", "04 More"]
    assert "0 of 2" in everything[1] and "2 of 2" in everything[1]
    assert everything[3] == '  `progress("essentials")` keeps to the essentials, 20 minutes.'
    essentials = repr(progress("essentials")).splitlines()
    assert len(essentials) == 3 and "0 of 1" in essentials[1] and "1 of 1" in essentials[1]
    says = 'These are the essentials, 20 minutes. `progress("everything")` shows all lessons.'
    assert essentials[2] == f"  {says}"
    assert "These are the essentials, 20 minutes. <code>" in progress()._repr_html_()
    kept._kernel = kept._Kernel()  # another kernel
    assert repr(progress()).splitlines() == essentials
    assert repr(progress("everything")).splitlines() == everything
    progress("everything")
    assert [note["path"] for note in written(record) if "path" in note] == [
        *("essentials", "everything")
    ]


def test_a_path_has_a_name_and_one_of_another_version_is_skipped(two_paths, record):
    with pytest.raises(ValueError, match='choose "essentials" or "everything"'):
        progress("short")
    assert not record.exists()
    progress("essentials")
    with record.open("a") as file:
        file.write('{"path": "weekend"}\n')
    assert "These are the essentials" in repr(progress())


def test_a_path_that_cannot_be_noted_says_so(two_paths, record):
    record.parent.write_text("a file")
    assert "cannot be read" in repr(progress("essentials"))


def test_a_card_has_one_line_whatever_is_tried_again(record):
    """The first guess counts: a second try, and all that comes after "try again", add nothing."""
    card = Predict("How many?", 40)
    tries = [(5, None, False), (5, 40, True), (None, None, False), (None, 40, True)]
    for first, said, shown in tries:
        card.set_state({"_state": {"first": first, "said": said, "shown": shown}})
    Predict("Once?", 40).set_state({"_state": {"first": 5, "said": 40, "shown": True}})
    notes = [{"card": name, "right": False} for name in ("How many?", "Once?")]
    assert card.correct and kept.record() == notes
    with pytest.raises(ValueError, match="needs no second one"):
        card.set_state({"_state": {"first": 40, "said": None, "shown": False}})


def test_it_finds_the_cards_and_exercises_of_every_lesson():
    """A card's stored output begins with its question, and no other card begins like that."""
    beginnings = []
    questions = []
    for path in PATHS:
        lesson = _lesson(path)
        cells = json.loads(path.read_text("utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        texts = ["".join(output.get("data", {}).get("text/plain", "")) for output in outputs]
        shown = re.findall(r"^Predict: (.*)", "\n".join(texts), re.MULTILINE)
        assert len(lesson.cards) == len(shown)
        blanks = re.findall(r"^○ (\w+): not attempted", "\n".join(texts), re.MULTILINE)
        assert [*lesson.exercises.values()] == blanks
        beginnings += lesson.cards
        questions += shown
    for question in questions:
        assert sum(map(question.startswith, beginnings)) == 1
