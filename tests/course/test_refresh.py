"""Notebooks are run, tidied and refreshed: a second run changes no byte."""

import base64
import io
import json
import os
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import v4
from PIL import Image, ImageFilter

import refresh
from stridekit.lessons import notebook as form
from tests.course.needs import needs_chromium
from tests.course.test_notebooks import PATHS

code, words, output = v4.new_code_cell, v4.new_markdown_cell, v4.new_output
IGNORED = {"tags": ["nbval-ignore-output"]}
CELLS = {
    "title": words("# All kinds of outputs\r\n"),
    "slider": code("import time\n\nimport ipywidgets\nimport matplotlib.pyplot as plt\n\n"
                   "from stridekit import Predict, StrideExplorer\n\n"
                   "ipywidgets.IntSlider(description='stride')"),
    "prints": code("for line in range(3):\n    print(line, flush=True)"),
    "picture": code("plt.plot([1, 3, 2])\nplt.show()"),
    "clock": code("time.perf_counter_ns()", metadata=IGNORED),
    "again": code("time.perf_counter_ns()", metadata=IGNORED),
    "raises": code("import torch\n\ntorch.ones(2, 3).t().view(6)",
                   metadata={"tags": ["raises-exception"], "collapsed": True}),
    "hash": code("{word for word in 'a set of words has no order of its own'.split()}"),
    "explorer": code("StrideExplorer()"),
    "card": code("Predict('What is `1 + 1`?', 2)"),
}  # fmt: skip


def book(*cells):
    return v4.new_notebook(cells=list(cells))


def tidied(*cells):
    made = book(*cells)
    form.tidy(made)
    return made


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
    assert [each.text for each in cells["prints"].outputs] == ["0\n1\n2\n"]
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
        (shown,) = cells[name].outputs
        assert sorted(shown.data) == ["image/png", "text/plain"]
        about = shown.metadata["image/png"]
        assert about["width"] == 900 and about["alt"].startswith(f"Still picture of {first}")
        image = Image.open(io.BytesIO(base64.b64decode(shown.data["image/png"])))
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


@pytest.mark.parametrize("said", ENDS)
def test_each_end_of_a_cell_is_told_in_its_own_words(said, tmp_path, monkeypatch):
    lines = book(code("1"), code("2\n3"))
    runs = form.client(lines, tmp_path, 7)

    def execute():
        runs.on_cell_execute(cell=lines.cells[1], cell_index=1)
        raise ENDS[said]

    monkeypatch.setattr(runs, "execute", execute)
    monkeypatch.setattr(form, "client", lambda *args, **options: runs)
    with pytest.raises(form.NotebookError) as told:
        form.run(lines, tmp_path, 7)
    assert str(told.value) == f'cell 2 ("2"): {said}' and runs.timeout == 7


def test_the_kernel_is_the_same_on_every_machine(tmp_path):
    """Hashes, threads, a GPU, and the user's own settings would differ."""
    form.use_repeatable_kernel(tmp_path)
    env = json.loads((tmp_path / "kernels" / "python3" / "kernel.json").read_text())["env"]
    wanted = dict.fromkeys(["PYTHONSTARTUP", "PYTHONWARNINGS", "CUDA_VISIBLE_DEVICES"], "")
    wanted |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
    assert env.items() >= (wanted | {"PYTHONHASHSEED": "0"}).items()
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
        shown = {"text/plain": f"run {len(sources)}"}
        return tidied(*(
            code(source, metadata=IGNORED, execution_count=k,
                 outputs=[output("execute_result", shown, execution_count=k)])
            for k, source in enumerate(sources, start=1)
        ))  # fmt: skip

    for source, text in (("clock()", "run 1"), ("clock()  # in ns", "run 2")):
        stored, new = executed("clock()"), executed("6 * 7", source)
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


def grey(shade, size=40, **dots):
    image = Image.new("RGB", (size, size), (shade,) * 3)
    image.putpixel((3, 5), (dots.get("dot", shade),) * 3)
    return encoded(image)


# What a flat grey picture is in a new run, with its words and its metadata, and whether the
# stored one is kept. Processors differ in the shade of a smoothed edge, but one dot makes another picture.
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
    """With its size; what is newly said of it, as that it is on white paper, comes in."""
    now, text, about, is_kept = PICTURES[kind]

    def shown(png, text, width, **more):
        data, about_png = {"text/plain": text, "image/png": png}, about | {"width": width}
        metadata = {"image/png": about_png, **more}
        return tidied(code("plot()", outputs=[output("execute_result", data, metadata=metadata)]))

    new = shown(now, text, 101, needs_background="light")
    refresh.keep_what_cannot_repeat(shown(grey(100), "flat", 100), new)
    (made,) = new.cells[0].outputs
    assert made.data["image/png"] == (grey(100) if is_kept else now)
    assert made.metadata["image/png"]["width"] == (100 if is_kept else 101)
    assert made.metadata["needs_background"] == "light"


@needs_chromium
def test_a_picture_of_another_state_is_another_picture(cells):
    """And one in paler letters, as another machine's font may be, is not; with other words it always is."""
    (shown,) = cells["explorer"].outputs
    image = Image.open(io.BytesIO(base64.b64decode(shown.data["image/png"]))).convert("RGB")

    def kept(picture, text=shown.data["text/plain"]):
        now = deepcopy(shown)
        now.data |= {"image/png": encoded(picture), "text/plain": text}
        return refresh.shows_the_same(shown, now)

    assert kept(image.filter(ImageFilter.BoxBlur(1)))
    assert kept(image.resize((900, image.height + 20)))
    assert not kept(image, "other words")
    ringed = image.copy()
    ringed.paste("#16191d", (400, 200, 446, 234))  # another element is selected
    assert not kept(ringed)
    assert not kept(image.resize((900, 2 * image.height)))
