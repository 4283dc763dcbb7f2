"""The refresh: a second run changes no byte, and what it leaves out or alone is what it says."""

import base64
import io

import nbformat
import numpy as np
import pytest
from matplotlib.image import imsave

import notebook_form as form
import refresh

LESSONS = sorted((refresh.ROOT / "notebooks").glob("*.ipynb"))
code = nbformat.v4.new_code_cell
CELLS = {
    "title": nbformat.v4.new_markdown_cell("# All kinds of outputs\r\n"),
    "slider": code("import time\n\nimport ipywidgets\nimport matplotlib.pyplot as plt\n\n"
                   "ipywidgets.IntSlider(description='stride')"),
    "prints": code("for line in range(3):\n    print(line, flush=True)"),
    "picture": code("plt.plot([1, 3, 2])\nplt.show()"),
    "clock": code("# NBVAL_IGNORE_OUTPUT\ntime.perf_counter_ns()"),
    "again": code("# NBVAL_IGNORE_OUTPUT\ntime.perf_counter_ns()"),
    "raises": code("import torch\n\ntorch.ones(2, 3).t().view(6)",
                   metadata={"tags": ["raises-exception"], "collapsed": True}),
    "hash": code("{word for word in 'a set of words has no order of its own'.split()}"),
}  # fmt: skip


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory):
    """A notebook with every kind of output, and its text after one refresh."""
    path = tmp_path_factory.mktemp("a folder") / "kinds.ipynb"
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=list(CELLS.values()))))
    assert refresh.refresh([path]) == 0
    return path, path.read_bytes()


def small(tmp_path, *sources):
    """A notebook of these cells, not executed."""
    path = tmp_path / "small.ipynb"
    cells = [code(source) for source in sources]
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    return path


def outputs(text, cell):
    """The outputs of one of the cells."""
    return form.parse(text.decode()).cells[list(CELLS).index(cell)].outputs


@pytest.mark.long
def test_second_run_changes_no_byte(refreshed, capsys):
    """Neither the clock, the model of the slider nor the order of a set show in the file."""
    path, text = refreshed
    assert refresh.refresh([path]) == 0
    assert path.read_bytes() == text
    assert "as it was" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_lessons_are_as_the_refresh_leaves_them(path):
    assert refresh.refresh([path], check=True) == 0


def test_widgets_leave_their_text_and_no_view(refreshed):
    _, text = refreshed
    assert [dict(output.data) for output in outputs(text, "slider")] == [
        {"text/plain": "IntSlider(value=0, description='stride')"}
    ]
    assert b"widget-view" not in text


def test_pictures_and_prints_are_stored(refreshed):
    _, text = refreshed
    assert "image/png" in outputs(text, "picture")[0].data
    assert [output.text for output in outputs(text, "prints")] == ["0\n1\n2\n"]


def test_an_error_is_stored_without_its_frames(refreshed):
    """The frames name files and lines of one machine."""
    _, text = refreshed
    (error,) = outputs(text, "raises")
    assert error.traceback == [f"{error.ename}: {error.evalue}"]
    assert "not compatible" in error.evalue


def test_the_file_is_in_the_committed_form(refreshed):
    """LF and one newline at the end; no times, no state; an id for each cell, equal ones too."""
    _, text = refreshed
    content = form.parse(text.decode())
    assert b"\r" not in text
    assert text.endswith(b"}\n")
    assert content.metadata == {
        "kernelspec": form.KERNEL,
        "language_info": {"name": "python"},
    }
    assert len({cell.id for cell in content.cells}) == len(CELLS)
    assert [dict(cell.metadata) for cell in content.cells if cell.metadata] == [
        {"tags": ["raises-exception"]}
    ]
    nbformat.validate(content)


def test_check_names_the_notebook_and_writes_nothing(tmp_path, capsys):
    path = small(tmp_path, "6 * 7")
    before = path.read_bytes()
    assert refresh.refresh([path], check=True) == 1
    assert capsys.readouterr().err == f"{path} would change: run make refresh\n"
    assert path.read_bytes() == before


def test_an_edited_cell_is_stored_anew(refreshed):
    """Even one whose output is ignored: its stored output belongs to the source before the edit."""
    _, text = refreshed
    stored, new = form.parse(text.decode()), form.parse(text.decode())
    index = list(CELLS).index("clock")
    for content in (stored, new):
        content.cells[index].source += "  # in ns"
    new.cells[index].outputs[0].data["text/plain"] = "5"
    form.tidy(new)
    refresh.keep_what_cannot_repeat(stored, new, renew=False)
    assert new.cells[index].outputs[0].data["text/plain"] == "5"


def test_an_output_that_is_kept_has_the_number_of_its_cell():
    """Else a cell inserted above would leave In [2] with Out [1]."""

    def notebook(*sources):
        cells = [
            code(
                source,
                execution_count=count,
                outputs=[
                    nbformat.v4.new_output(
                        "execute_result",
                        {"text/plain": f"run {len(sources)}"},
                        execution_count=count,
                    )
                ],
            )
            for count, source in enumerate(sources, start=1)
        ]
        made = nbformat.v4.new_notebook(cells=cells)
        form.tidy(made)
        return made

    ignored = CELLS["clock"].source
    stored, new = notebook(ignored), notebook("6 * 7", ignored)
    refresh.keep_what_cannot_repeat(stored, new, renew=False)
    kept = new.cells[1]
    assert kept.outputs[0].data["text/plain"] == "run 1"
    assert kept.execution_count == kept.outputs[0].execution_count == 2
    assert stored.cells[0].outputs[0].execution_count == 1  # it is a copy that was changed


def test_renew_keeps_no_stored_output(refreshed):
    _, text = refreshed
    stored, new = form.parse(text.decode()), form.parse(text.decode())
    index = list(CELLS).index("clock")
    new.cells[index].outputs[0].data["text/plain"] = "5"
    refresh.keep_what_cannot_repeat(stored, new, renew=True)
    assert new.cells[index].outputs[0].data["text/plain"] == "5"
    refresh.keep_what_cannot_repeat(stored, new, renew=False)
    assert new.cells[index].outputs == stored.cells[index].outputs


@pytest.mark.parametrize(
    ("marked", "words", "kept"),
    [(True, "flat", True), (True, "steep", False), (False, "flat", False)],
)
def test_a_picture_of_what_was_measured_is_kept_while_its_words_stay(marked, words, kept):
    """No two runs measure the same, and a changed picture says nothing that its words do not."""
    was, now = (
        nbformat.v4.new_output(
            "execute_result",
            {"text/plain": text, "image/png": png(shade)},
            metadata={"image/png": {"measured": marked}},
        )
        for text, shade in (("flat", 0), (words, 200))
    )
    stored, new = (
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("claim()", outputs=[output])])
        for output in (was, now)
    )
    form.tidy(stored)
    form.tidy(new)
    refresh.keep_what_cannot_repeat(stored, new, renew=False)
    picture = new.cells[0].outputs[0].data["image/png"]
    assert picture == png(0 if kept else 200)


def png(shade, size=4):
    """A picture of one grey, in base64."""
    return encoded(np.full((size, size, 3), shade, dtype=np.uint8))


def encoded(pixels):
    file = io.BytesIO()
    imsave(file, pixels, format="png")
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize(
    ("other", "same"), [(png(100), True), (png(110), True), (png(160), False), (png(100, 5), False)]
)
def test_pictures_that_look_the_same_are_kept(other, same):
    """Processors differ in the shade of a smoothed edge; that is no reason for a new picture."""
    assert refresh.looks_same(png(100), other) is same


def test_one_other_dot_is_another_picture():
    """However large the rest, which is alike."""
    dotted = np.full((40, 40, 3), 100, dtype=np.uint8)
    dotted[3, 5] = 200
    assert not refresh.looks_same(png(100, 40), encoded(dotted))


def test_a_picture_that_is_kept_has_its_own_size():
    was, now = (
        nbformat.v4.new_output(
            "display_data", {"image/png": png(shade)}, metadata={"image/png": {"width": shade}}
        )
        for shade in (100, 101)
    )
    stored, new = (
        nbformat.v4.new_notebook(cells=[code("plot()", outputs=[output])]) for output in (was, now)
    )
    form.tidy(stored)
    form.tidy(new)
    refresh.keep_what_cannot_repeat(stored, new, renew=False)
    assert new.cells[0].outputs == stored.cells[0].outputs


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import os\n\nos._exit(1)", "the kernel died"),
    ],
)
def test_a_cell_that_fails_is_named(source, reason, tmp_path, capfd):
    """One line on stderr: the notebook, the cell and the reason. Nothing is written."""
    path = small(tmp_path, "1", source)
    before = path.read_bytes()
    assert refresh.refresh([path]) == 1
    first = source.partition("\n")[0]
    assert capfd.readouterr().err == f'{path}, cell 2 ("{first}"): {reason}\n'
    assert path.read_bytes() == before
