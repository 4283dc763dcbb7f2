"""Every notebook keeps the rules, and every rule catches its defect.

That the outputs are right is not tested here: nbval executes the notebooks and compares.
"""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from stridekit.lessons import notebook as form
from tests import notebook_rules as rules
from tests.notebook_rules import RULES, Notebook

ROOT = Path(__file__).parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))

# The cells whose outputs are not compared: (notebook, first line of the cell): the reason.
SEED = "torch.manual_seed(0)"
LESSONS = (
    "strides",
    "views",
    "contiguity",
    "channels_last",
    "performance",
    "attention",
    "your_model",
    "hardware",
)
SEEDED = [f"{k:02}_{name}" for k, name in enumerate(LESSONS, start=1)]
IGNORED = dict.fromkeys([(name, SEED) for name in SEEDED], "tells the versions that are installed")
START = 'print("torch", torch.__version__, "- threads:", torch.get_num_threads())'
IGNORED["00_start", START] = "tells the versions, threads and GPU of the machine it runs on"
VERDICTS = "for name, timed in measured.items():"
IGNORED["04_channels_last", VERDICTS] = "says what is faster on the machine it runs on"
TIMES = 'compare({"x.exp()": x.exp, "x.exp() twice": lambda: (x.exp(), x.exp())})'
IGNORED["05_performance", TIMES] = "shows the times of a comparison, as it reads"
IGNORED["08_hardware", "bandwidth(2**28)"] = "measures the machine it runs on"
IGNORED["07_your_model", "compare(switch, rounds=20)"] = "measures two models"
MENDED = 'models = switch | {"mended": lambda: tag(clean, photos_last[:2])}'
IGNORED["07_your_model", MENDED] = "measures three models"
IGNORED["08_hardware", "hierarchy()"] = "tells the caches of the machine it runs on"

LONGER = "longer = torch.arange(128).view(2, 64)"
IGNORED["02_views", LONGER] = "depends on how many elements the loop of this CPU takes at once"

code = nbformat.v4.new_code_cell
markdown = nbformat.v4.new_markdown_cell
stream = {"output_type": "stream", "name": "stdout"}
error = {"output_type": "error", "ename": "E", "evalue": "no", "traceback": ["E: no"]}
GUARD = code(form.GUARD, metadata={"jupyter": {"source_hidden": True}})
GOOD = [
    markdown("# Count\n\nDo, [learn](#Then-read), need."),
    code("from stridekit import Layout"),
    markdown("## Then *read*\n\n![four cells in a row](a.png), `x[0](1)` and [more](b.md#more-1)"),
    code("Layout((2,)).numel  # one; two", outputs=[nbformat.v4.new_output(**stream, text="2\n")]),
    code("None[0]", metadata={"tags": ["raises-exception"]}, outputs=[nbformat.from_dict(error)]),
]
WITH_GUARD = [GOOD[0], GUARD, *GOOD[1:]]


def notebook(tmp_path, *changes, cells=GOOD):
    """A notebook with these cells, executed and tidied, and then changed."""
    content = nbformat.v4.new_notebook(cells=form.parse(form.write(_book(cells))).cells)
    for count, cell in enumerate((c for c in content.cells if c.cell_type == "code"), start=1):
        cell.execution_count = count
    form.tidy(content)
    for change in changes:
        change(content)
    path = tmp_path / "a.ipynb"
    path.write_bytes(form.write(content).encode())
    (tmp_path / "a.png").touch()
    (tmp_path / "b.md").write_text("# More 1\n")
    return Notebook.read(path)


UNDESCRIBED = nbformat.v4.new_output(
    "display_data", {"image/png": ""}, metadata={"image/png": {"width": 900}}
)


def _book(cells):
    return nbformat.v4.new_notebook(cells=cells)


def adds(*cells):
    """A change that appends cells, as the refresh would have left them."""

    def change(content):
        for cell in cells:
            if cell.cell_type == "code":
                cell.execution_count = 1 + sum(c.cell_type == "code" for c in content.cells)
            content.cells.append(cell)
        form.tidy(content)

    return change


def shows(text, **kind):
    """A code cell that has shown a text."""
    return code("f(x)", outputs=[nbformat.v4.new_output(**(stream | kind), text=text)])


def sets(index, **fields):
    """A change of a cell that the refresh does not know of."""
    return lambda content: content.cells[index].update(fields)


def shows_widget(content):
    """Save the notebook from JupyterLab with the state of its widgets."""
    content.metadata["widgets"] = {"state": {}}


def stores_view(content):
    """Store the view of a widget."""
    view = nbformat.v4.new_output("display_data", {form.WIDGET_VIEW: {"model_id": "1"}})
    content.cells[3].outputs = [view]


def unfolds(content):
    """Save a card with its code unfolded."""
    adds(code("Predict('?', 1)"))(content)
    content.cells[-1].metadata = {}


CARD, ANSWER = code("Predict('?', 1)"), shows("1")


def opens_answer(content):
    """Save a cell with the answer of a card open."""
    adds(CARD, ANSWER)(content)
    content.cells[-1].metadata = {}


def is_timed(content):
    """Save a cell with the times of its run."""
    content.cells[1].metadata["execution"] = {"iopub.status.busy": "now"}


def retyped(index, source):
    """A change that rewrites a cell, its id included."""

    def change(content):
        content.cells[index].source = source
        form.tidy(content)

    return change


TAGGED = {"tags": ["raises-exception"]}
BROKEN = [
    (rules.has_the_guard, adds(markdown("No guard.")), "does not begin"),
    (rules.has_title, retyped(0, "Count"), "not a title"),
    (rules.has_title, adds(markdown("# Again")), "second title"),
    (rules.imports_stridekit, retyped(1, "import torch"), "no cell imports"),
    (rules.is_executed, sets(1, execution_count=None), "not executed"),
    (rules.is_executed, sets(3, execution_count=7), "execution count 7, 2 expected"),
    (rules.is_executed, adds(code("")), "empty"),
    (rules.is_refreshed, sets(0, source="# Count up"), "edited"),
    (rules.is_refreshed, sets(0, id="other"), "edited"),
    (rules.is_refreshed, shows_widget, "state of widgets"),
    (rules.is_refreshed, stores_view, "form"),
    (rules.is_refreshed, is_timed, "form"),
    (rules.ends_without_semicolon, adds(code("x = 1;  # hidden")), "semicolon"),
    (rules.ends_without_semicolon, adds(code("x = (")), "not Python"),
    (rules.is_plain_python, adds(code("x = 1\n!ls")), "shell"),
    (rules.is_plain_python, adds(code("%timeit x")), "magic"),
    (rules.is_plain_python, adds(code("%%time\nx")), "magic"),
    (rules.is_plain_python, adds(code("get_ipython().run_line_magic('x', 'y')")), "IPython"),
    (rules.is_plain_python, adds(code("os.system('pip install x')")), "installs"),
    (rules.is_plain_python, adds(code("sys.path.append('..')")), r"sys\.path"),
    (rules.is_plain_python, adds(code("widgets.interact(f)")), "no output to compare"),
    (rules.is_plain_python, adds(code("# NBVAL_SKIP\nx")), "hides"),
    (rules.is_plain_python, adds(code("x", metadata={"tags": ["nbval-skip"]})), "hides"),
    (rules.leaves_no_trace, adds(shows("<Tensor at 0x7f3a5c01b2d0>")), "an address"),
    (rules.leaves_no_trace, adds(code("open('/home/ada/x.npy')")), "a path"),
    (rules.leaves_no_trace, adds(shows("C:\\Users\\ada\\x.py:3")), "a path"),
    (rules.leaves_no_trace, adds(shows("lib/site-packages/torch/x.py")), "a path"),
    (rules.warns_of_nothing, adds(shows("beware", name="stderr")), "stderr"),
    (rules.raises_when_tagged, adds(code("1", metadata=TAGGED)), "did not"),
    (rules.raises_when_tagged, sets(4, metadata={}), "raised"),
    (rules.is_small, adds(shows("1" * 100_001)), "100000 characters"),
    (rules.is_small, adds(shows("1\n" * 41)), "40 lines"),
    (rules.is_small, adds(*[shows("1" * 99_000)] * 11), "1000000"),
    (rules.is_in_small_steps, adds(code("x\n" * 9)), "9 lines, 8 are"),
    (rules.is_in_small_steps, adds(markdown("x\n\n" * 7)), "7 lines, 6 are"),
    (rules.is_in_small_steps, adds(code("x\n" * 13, metadata={"tags": ["exercise"]})), "12 are"),
    (rules.keeps_its_answers, adds(code("x = 1\nPredict('?', x)")), "folded away with it"),
    (rules.keeps_its_answers, unfolds, "can be read"),
    (rules.shows_answers_last, adds(CARD, markdown("It is 1.")), "no experiment"),
    (rules.shows_answers_last, adds(CARD, code("ex.row.check(row)")), "no experiment"),
    (rules.shows_answers_last, opens_answer, "answer the card"),
    (rules.gives_no_help, adds(code("ex.row.hint()")), "nobody has asked"),
    (rules.gives_no_help, adds(code("ex.row.solution()")), "nobody has asked"),
    (rules.describes_images, adds(markdown("![](a.png)")), "alt text"),
    (rules.describes_images, adds(markdown('<img src="a.png" alt="">')), "alt text"),
    (rules.describes_images, adds(code("w", outputs=[UNDESCRIBED])), "alt text"),
    (rules.links_resolve, adds(markdown("[there](gone.ipynb)")), "gone.ipynb"),
    (rules.links_resolve, adds(markdown("[there](#Nowhere)")), "Nowhere"),
    (rules.links_resolve, adds(markdown("[there](b.md#nowhere)")), "nowhere"),
]


def test_there_are_notebooks():
    """If the folder moved, every test below would pass."""
    assert PATHS


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
@pytest.mark.parametrize("rule", RULES)
def test_notebook_keeps_the_rule(path, rule):
    problems = list(rule(Notebook.read(path)))
    assert not problems, "\n".join([f"{path.name}: {rule.__doc__}", *problems])


@pytest.mark.parametrize("rule", RULES)
def test_rule_accepts_a_good_notebook(rule, tmp_path):
    cells = WITH_GUARD if rule is rules.has_the_guard else GOOD
    assert list(rule(notebook(tmp_path, cells=cells))) == []


@pytest.mark.parametrize(("rule", "change", "words"), BROKEN)
def test_rule_catches_its_defect(rule, change, words, tmp_path):
    problems = "\n".join(rule(notebook(tmp_path, change)))
    assert re.search(words, problems), problems


def test_every_rule_is_shown_to_catch_something():
    assert {rule for rule, _, _ in BROKEN} == set(RULES)


def test_line_ends_of_windows_are_refused(tmp_path):
    good = notebook(tmp_path)
    crlf = good._replace(text=good.text.replace("\n", "\r\n"))
    assert list(rules.is_refreshed(crlf))


def test_ignored_outputs_are_listed_with_their_reason(record_property):
    """Outputs that are not compared are listed here, not in a notebook."""
    cells = [(path, cell) for path in PATHS for cell, _ in Notebook.read(path).cells("code")]
    ignored = {
        (path.stem, cell.source.partition("\n")[0])
        for path, cell in cells
        if "nbval-ignore-output" in cell.metadata.get("tags", [])
    }
    assert ignored == set(IGNORED)
    compared = len(cells) - len(ignored)
    record_property("summary", f"notebooks: {compared} of {len(cells)} code cells are compared")


def test_a_wrong_output_turns_the_tests_red(tmp_path):
    """The comparison is on: of two cells that show 2, the one with a stored 3 fails."""
    cells = [code("1 + 1"), code("print(2)")]
    cells[0].outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "3"})]
    cells[1].outputs = [nbformat.v4.new_output(**stream, text="2\n")]
    path = notebook(tmp_path, cells=cells).path
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-p", "no:cacheprovider"]
    run = [sys.executable, "-m", "pytest", *options, str(path)]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
