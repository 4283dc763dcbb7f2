"""Notebooks are run, tidied and refreshed: a second run changes no byte."""

import base64
import io
import json
import os
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import v4
from PIL import Image, ImageFilter

import refresh
from stridekit.exercises import lesson as reading
from stridekit.lessons import notebook as form
from stridekit.lessons import records
from stridekit.lessons.records import Record
from stridekit.timing import Ratio
from tests.course.needs import needs_chromium
from tests.course.test_notebooks import PATHS

code = v4.new_code_cell
words = v4.new_markdown_cell
output = v4.new_output
IGNORED = {"tags": ["nbval-ignore-output"]}
SLIDER = """\
import time

import ipywidgets
import matplotlib.pyplot as plt

from stridekit import Predict, StrideExplorer

ipywidgets.IntSlider(description='stride')"""
RAISES = {"tags": ["raises-exception"], "collapsed": True}
CELLS = {
    "title": words("# All kinds of outputs\r\n"),
    "slider": code(SLIDER),
    "prints": code("for line in range(3):\n    print(line, flush=True)"),
    "picture": code("plt.plot([1, 3, 2])\nplt.show()"),
    "clock": code("time.perf_counter_ns()", metadata=IGNORED),
    "again": code("time.perf_counter_ns()", metadata=IGNORED),
    "raises": code("import torch\n\ntorch.ones(2, 3).t().view(6)", metadata=RAISES),
    "hash": code("{word for word in 'a set of words has no order of its own'.split()}"),
    "explorer": code("StrideExplorer()"),
    "card": code("Predict('What is `1 + 1`?', 2)"),
}


def book(*cells):
    return v4.new_notebook(cells=list(cells))


def tidied(*cells):
    notebook = book(*cells)
    form.tidy(notebook)
    return notebook


@pytest.fixture(scope="module", autouse=True)
def kernel():
    """The kernel of all tests, which a refresh replaces for its process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", os.environ["JUPYTER_PATH"])
        yield


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory):
    """A notebook with every kind of output, after one refresh."""
    path = tmp_path_factory.mktemp("a folder") / "kinds.ipynb"
    path.write_text(nbformat.writes(book(*CELLS.values())))
    assert refresh.main([str(path)]) == 0
    return path


@pytest.fixture
def cells(refreshed):
    """The cells of the refreshed notebook, by name."""
    return dict(zip(CELLS, form.parse(refreshed.read_text()).cells, strict=True))


@pytest.mark.long
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_lessons_are_as_the_refresh_leaves_them(path):
    assert refresh.main(["--check", str(path)]) == 0


@needs_chromium
def test_every_kind_of_output_is_stored_in_the_committed_form(refreshed, cells):
    """Texts without views, prints joined, errors without the frames, which name files of one machine."""
    (slider,) = cells["slider"].outputs
    assert dict(slider.data) == {"text/plain": "IntSlider(value=0, description='stride')"}
    assert "image/png" in cells["picture"].outputs[0].data
    assert [printed.text for printed in cells["prints"].outputs] == ["0\n1\n2\n"]
    (error,) = cells["raises"].outputs
    assert error.traceback == [f"{error.ename}: {error.evalue}"]
    assert "not compatible" in error.evalue
    text = refreshed.read_bytes()
    assert b"\r" not in text and b"widget-view" not in text and text.endswith(b"}\n")
    content = form.parse(text.decode())
    assert content.metadata == form.METADATA
    assert len({cell.id for cell in content.cells}) == len(CELLS)
    assert cells["clock"].metadata == IGNORED
    assert cells["raises"].metadata == {"tags": ["raises-exception"]}
    nbformat.validate(content)


@needs_chromium
def test_a_widget_gets_a_picture_with_words(cells):
    for name, first in (("explorer", "StrideExplorer: torch"), ("card", "Predict: What is")):
        (result,) = cells[name].outputs
        assert sorted(result.data) == ["image/png", "text/plain"]
        metadata = result.metadata["image/png"]
        assert metadata["width"] == 900
        assert metadata["alt"].startswith(f"Still picture of {first}")
        image = decoded(result.data["image/png"])
        assert image.width == 900 and image.height > 150


def test_a_cell_that_fails_is_named_and_ends_the_refresh(tmp_path, capfd):
    """One line on stderr: the notebook, the cell and the reason. Nothing is written."""
    path = tmp_path / "small.ipynb"
    path.write_text(nbformat.writes(book(code("1"), code("1 / 0"))))
    before = path.read_bytes()
    assert refresh.main([str(path), str(tmp_path / "never read")]) == 1
    reason = "ZeroDivisionError: division by zero"
    assert capfd.readouterr().err == f'{path}, cell 2 ("1 / 0"): {reason}\n'
    assert path.read_bytes() == before


ENDS = {
    "NameError: name 'x'": CellExecutionError("", "NameError", "name 'x'\nmore"),
    "the kernel died": DeadKernelError("Kernel died"),
    "it ran longer than 7 s": CellTimeoutError("late"),
}


@pytest.mark.parametrize("message", ENDS)
def test_each_end_of_a_cell_has_a_message_of_its_own(message, tmp_path, monkeypatch):
    notebook = book(code("1"), code("2\n3"))
    client = form.client(notebook, tmp_path, 7)

    def execute():
        client.on_cell_execute(cell=notebook.cells[1], cell_index=1)
        raise ENDS[message]

    monkeypatch.setattr(client, "execute", execute)
    monkeypatch.setattr(form, "client", lambda *args, **options: client)
    with pytest.raises(form.NotebookError) as raised:
        form.run(notebook, tmp_path, 7)
    assert str(raised.value) == f'cell 2 ("2"): {message}'
    assert client.timeout == 7


def test_the_kernel_is_the_same_on_every_machine(tmp_path):
    """Hashes, threads, a GPU, and the user's own settings would differ."""
    form.use_repeatable_kernel(tmp_path)
    env = json.loads((tmp_path / "kernels" / "python3" / "kernel.json").read_text())["env"]
    wanted = dict.fromkeys(["PYTHONSTARTUP", "PYTHONWARNINGS", "CUDA_VISIBLE_DEVICES"], "")
    wanted |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
    wanted["PYTHONHASHSEED"] = "0"
    assert env.items() >= wanted.items()
    assert all(str(tmp_path) in env[name] for name in ("IPYTHONDIR", "MATPLOTLIBRC"))
    assert Path(env["MATPLOTLIBRC"]).read_text() == ""


def test_a_fold_that_an_author_made_by_hand_stays_on_code_alone():
    """Words and outputs are folded where they answer a card; that is seen in every lesson."""
    folded = {"jupyter": {"source_hidden": True}}
    guard, prose = tidied(code("1", metadata=folded), words("So?", metadata=folded)).cells
    assert (guard.metadata, prose.metadata) == (folded, {})


def test_an_ignored_output_is_kept_with_the_number_of_its_cell_until_the_cell_is_edited():
    """A cell inserted above would otherwise leave In [2] with Out [1]."""

    def executed(*sources):
        data = {"text/plain": f"run {len(sources)}"}
        cells = []
        for k, source in enumerate(sources, start=1):
            result = output("execute_result", data, execution_count=k)
            cells.append(code(source, metadata=IGNORED, execution_count=k, outputs=[result]))
        return tidied(*cells)

    for source, text in (("clock()", "run 1"), ("clock()  # in ns", "run 2")):
        stored = executed("clock()")
        new = executed("6 * 7", source)
        refresh.keep_what_cannot_repeat(stored, new)
        kept = new.cells[1]
        assert kept.outputs[0].data["text/plain"] == text
        assert kept.execution_count == kept.outputs[0].execution_count == 2
        assert stored.cells[0].outputs[0].execution_count == 1  # it is a copy that was changed


def encoded(image):
    """Return a picture in base64."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def decoded(text):
    """Return the picture of a text in base64."""
    return Image.open(io.BytesIO(base64.b64decode(text)))


def grey(shade, size=40, **dots):
    image = Image.new("RGB", (size, size), (shade,) * 3)
    image.putpixel((3, 5), (dots.get("dot", shade),) * 3)
    return encoded(image)


# A flat grey picture in a new run, its words, its metadata, and whether the stored picture is kept.
# Processors differ in the shade of a smoothed edge, but one dot makes another picture.
MEASURED = {"measured": True}
PICTURES = {
    "another edge": (grey(110), "flat", {}, True),
    "another shade": (grey(160), "flat", {}, False),
    "another size": (grey(100, 41), "flat", {}, False),
    "another dot": (grey(100, dot=200), "flat", {}, False),
    "measured again": (grey(200), "flat", MEASURED, True),
    "measured otherwise": (grey(200), "steep", MEASURED, False),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_that_means_the_same_is_kept(kind):
    """Its size is kept, too; new metadata, such as a white background, come in."""
    new_png, text, about_png, is_kept = PICTURES[kind]

    def plotted(png, text, width, **metadata):
        data = {"text/plain": text, "image/png": png}
        metadata["image/png"] = about_png | {"width": width}
        return tidied(code("plot()", outputs=[output("execute_result", data, metadata=metadata)]))

    stored = plotted(grey(100), "flat", 100)
    new = plotted(new_png, text, 101, needs_background="light")
    refresh.keep_what_cannot_repeat(stored, new)
    (result,) = new.cells[0].outputs
    assert result.data["image/png"] == (grey(100) if is_kept else new_png)
    assert result.metadata["image/png"]["width"] == (100 if is_kept else 101)
    assert result.metadata["needs_background"] == "light"


@needs_chromium
def test_a_picture_of_another_state_is_another_picture(cells):
    """Paler letters, as in another machine's font, do not make another picture; other words do."""
    (stored,) = cells["explorer"].outputs
    image = decoded(stored.data["image/png"]).convert("RGB")

    def is_the_same(picture, text=stored.data["text/plain"]):
        new = deepcopy(stored)
        new.data |= {"image/png": encoded(picture), "text/plain": text}
        return refresh.shows_the_same(stored, new)

    assert is_the_same(image.filter(ImageFilter.BoxBlur(1)))
    assert is_the_same(image.resize((900, image.height + 20)))
    assert not is_the_same(image, "other words")
    ringed = image.copy()
    ringed.paste("#16191d", (400, 200, 446, 234))  # another element is selected
    assert not is_the_same(ringed)
    assert not is_the_same(image.resize((900, 2 * image.height)))


# The steps of a refresh, without a kernel ----------------------------------------------------------

QUIET = Record({"a": 1.0}, {"b": Ratio(2.0, 1.9, 2.1)})


def test_noise_is_what_a_machine_at_rest_does_not_show():
    """Runs have none, and claims about pages and caches are never free of some."""
    signs = ("9 threads were busy", "a call took new pages", "b is far from its best sample", "odd")
    entries = {"quiet": QUIET, "runs": [1.0, 2.0], "loud": replace(QUIET, noise=signs)}
    lines = ["loud, noisy: 9 threads were busy", "loud, noisy: odd"]
    assert list(refresh.noise(entries)) == lines
    assert list(refresh.noise({"at rest": replace(QUIET, noise=signs[1:3])})) == []


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """The folder of records, and the runs of lessons, each of which records an entry."""
    monkeypatch.setattr(refresh, "RECORDED", tmp_path / "recorded")
    (tmp_path / "recorded").mkdir()
    runs = []

    def run(notebook, folder, seconds=0):
        runs.append((notebook.cells[0].source, folder, seconds))
        records.add(Path(os.environ[records.WRITES]), "new", eval(notebook.cells[0].source)[1])

    monkeypatch.setattr(form, "run", run)
    return runs


def lesson(tmp_path, source):
    """Return the path of a lesson with one cell."""
    path = tmp_path / "lesson.ipynb"
    path.write_text(form.write(tidied(code(source))), encoding="utf-8")
    return path


def test_a_lesson_that_records_nothing_is_not_run(recorded, tmp_path):
    assert refresh.record(lesson(tmp_path, "'records', [1.0]"))
    assert recorded == [] and list((tmp_path / "recorded").iterdir()) == []


@pytest.mark.parametrize("noise", [(), ("odd",), ("new pages",)])
def test_a_record_is_kept_and_its_noise_is_reported(recorded, tmp_path, capsys, monkeypatch, noise):
    monkeypatch.delenv(records.WRITES, raising=False)
    entry = replace(QUIET, noise=noise)
    source = f"'record=', Record({entry.seconds}, dict(b=Ratio(2.0, 1.9, 2.1)), {noise})"
    assert refresh.record(lesson(tmp_path, source)) == (noise != ("odd",))
    kept = tmp_path / "recorded" / "lesson.json"
    assert recorded == [(source, tmp_path, 600)]
    assert records.read(kept)[1] == {"new": entry} and records.WRITES not in os.environ
    out, err = capsys.readouterr()
    assert out == f"{kept}: 1 records\n"
    line = "new, noisy: odd: run it again on a machine at rest\n"
    assert err == (line if noise == ("odd",) else "")


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("is_new", [False, True])
def test_a_refresh_writes_what_is_new_and_a_check_reports_it(
    tmp_path, monkeypatch, capsys, check, is_new
):
    path = tmp_path / "lesson.ipynb"
    path.write_bytes("é\n".encode())
    text = "è\n" if is_new else "é\n"
    monkeypatch.setattr(refresh, "refreshed", lambda path: (text, {"cards": []}))
    options = [check] if check else []
    assert refresh.refresh(path, *options) == (not (check and is_new))
    assert path.read_bytes() == ("è\n" if is_new and not check else "é\n").encode()
    out, err = capsys.readouterr()
    if not is_new:
        assert (out, err) == (f"{path}: as it was\n", "")
    elif check:
        assert (out, err) == ("", f"{path} would change: run make refresh\n")
    else:
        assert (out, err) == (f"{path}: new outputs\n", "")


def test_a_heading_gets_its_mark_as_a_tag_and_loses_one_that_is_no_longer_true():
    task = code("from stridekit.exercises import strides as ex\nex.row.check(row)")
    sections = {
        "# 01 Strides": [],
        "## Memory is one line": ["essential"],
        "### Play with it": ["further"],
        "words": [],
        "words\n\n## The formula": ["essential"],
        "### Play with it again": ["further"],
        "## The diagonal": ["further"],
        "### More": [],
    }
    book = form.nbformat.v4.new_notebook(
        cells=[task, *(words(source, metadata={"tags": ["essential"]}) for source in sections)]
    )
    book.cells[3].metadata["tags"] = ["mine", "essential"]
    cells = [(cell.cell_type, cell.source) for cell in book.cells]
    refresh.mark_sections(book, reading.lesson_of(cells, "01_strides"))
    tags = [cell.metadata["tags"] for cell in book.cells[1:]]
    expected = [*sections.values()]
    expected[2] = ["mine", "further"]
    assert tags == expected
    refresh.mark_sections(book, reading.lesson_of(cells, "04_other"))
    tags = [cell.metadata["tags"] for cell in book.cells[1:]]
    assert tags == [["further"], [], ["mine"], *[[]] * 5]


def test_the_cards_of_a_lesson_are_stored_with_its_outputs_and_those_of_no_other_notebook(
    tmp_path, monkeypatch
):
    stored = {"02_views": {"title": "02 Views"}, "01_strides": {"title": "old"}}
    assert refresh.CARDS.is_file()
    cards = tmp_path / "cards.json"
    cards.write_text(json.dumps(stored))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    monkeypatch.setattr(refresh, "CARDS", cards)
    monkeypatch.setattr(refresh, "ROOT", tmp_path)
    offer = {"title": "01 Strides", "cards": [["Pläne", {"question": "Why?"}]]}
    monkeypatch.setattr(refresh, "refreshed", lambda path: ("new\n", offer))
    for path in (folder / "01_strides.ipynb", tmp_path / "other.ipynb"):
        path.write_text("old\n")
    refresh.refresh(folder / "01_strides.ipynb", check=True)
    refresh.refresh(tmp_path / "other.ipynb")
    assert json.loads(cards.read_text("utf-8")) == stored
    refresh.refresh(folder / "01_strides.ipynb")
    assert json.loads(cards.read_text("utf-8")) == stored | {"01_strides": offer}
    # A change of a card is a change of few lines: names are sorted, and each value has a line.
    beginning = '{\n "01_strides": {\n  "cards": [\n   [\n    "Pläne",\n'
    assert cards.read_text("utf-8").startswith(beginning)


@pytest.fixture
def steps(monkeypatch):
    """What main does with each notebook; one that is called "bad" ends it, "odd" is not well."""
    done = []

    def step(name):
        def note(path, check=None):
            done.append((name, path.name, check))
            if path.stem == "bad":
                raise form.NotebookError("no")
            return path.stem != "odd"

        return note

    monkeypatch.setattr(refresh, "refresh", step("refresh"))
    monkeypatch.setattr(refresh, "record", step("record"))
    monkeypatch.setattr(form, "use_repeatable_kernel", lambda folder: done.append(folder.is_dir()))
    return done


def test_main_goes_through_all_notebooks_or_those_that_are_named(steps):
    assert refresh.main([]) == 0
    assert steps == [True, *(("refresh", path.name, False) for path in PATHS)]
    steps.clear()
    assert refresh.main(["b.ipynb", "a.ipynb", "--check"]) == 0
    assert steps == [True, ("refresh", "b.ipynb", True), ("refresh", "a.ipynb", True)]
    steps.clear()
    assert refresh.main(["a.ipynb", "--record"]) == 0
    assert steps == [True, ("record", "a.ipynb", None)]


def test_main_goes_on_where_a_notebook_would_change_and_ends_where_one_fails(steps, capsys):
    for option in ("--check", "--record"):
        steps.clear()
        assert refresh.main(["odd", "well", option]) == 1
        assert len(steps) == 3 and capsys.readouterr().err == ""
        assert refresh.main(["bad", "well", option]) == 1
        assert len(steps) == 5 and capsys.readouterr().err == "bad, no\n"


def test_an_output_does_not_move_to_a_cell_that_was_edited_to_its_old_source():
    stored = tidied(
        code("clock()", outputs=[output("stream", text="old")], metadata=IGNORED), code("1")
    )
    for cell, source in zip(stored.cells, ("6 * 7", "clock()"), strict=True):
        cell.source = source
    new = tidied(
        code("6 * 7"), code("clock()", outputs=[output("stream", text="new")], metadata=IGNORED)
    )
    refresh.keep_what_cannot_repeat(stored, new)
    assert new.cells[1].outputs[0].text == "new"


def shown(png="one", text="words", **about):
    """Return an output with a picture, its words and its metadata."""
    data = {"text/plain": text} | ({"image/png": png} if png else {})
    return output("display_data", data, metadata={"image/png": about})


STILL = {"alt": "a"}
PAIRS = [  # a stored and a new output, and how they are compared
    (shown(), shown(), "same"),
    (shown(text="a"), shown(text="b"), "same"),
    (shown(**MEASURED), shown(**MEASURED), True),
    (shown(**MEASURED), shown(), "same"),
    (shown(), shown(**MEASURED), "same"),
    (shown(text="a", **MEASURED), shown(text="b", **MEASURED), "same"),
    (shown(measured=False), shown(measured=False), "same"),
    (shown(**STILL), shown(**STILL), "alike"),
    (shown(alt=""), shown(alt=""), "alike"),
    (shown(text="a", **STILL), shown(text="b", **STILL), False),
    (shown(**STILL), shown(), "same"),
    (shown(), shown(**STILL), "same"),
    (shown(png=""), shown(), False),
    (shown(), shown(png=""), False),
    (shown(), output("stream", text="a"), False),
    (output("stream", text="a"), shown(), False),
]


@pytest.mark.parametrize(("stored", "new", "comparison"), PAIRS)
def test_how_two_pictures_are_compared(monkeypatch, stored, new, comparison):
    """Measured ones by their words, stills from afar, and all others pixel by pixel."""
    for name in ("same", "alike"):
        monkeypatch.setattr(refresh, f"looks_{name}", lambda *pictures, name=name: name)
    assert refresh.shows_the_same(stored, new) == comparison


@pytest.mark.parametrize(
    ("tags", "has_output", "is_edited", "is_kept"),
    [
        (IGNORED, True, False, True),
        (IGNORED, True, True, False),
        (IGNORED, False, False, False),
        ({}, True, False, False),
        ({"tags": ["raises-exception"]}, True, False, False),
    ],
)
def test_an_output_is_kept_if_it_is_ignored_and_its_cell_is_unedited(
    tags, has_output, is_edited, is_kept
):
    def executed(source, text):
        outputs = [output("stream", text=text)] if text else []
        return tidied(code(source, metadata=tags, outputs=outputs), words("It has no outputs."))

    stored = executed("clock()", "old" if has_output else "")
    new = executed("clock(1)" if is_edited else "clock()", "new")
    refresh.keep_what_cannot_repeat(stored, new)
    assert new.cells[0].outputs[0].text == ("old" if is_kept else "new")
