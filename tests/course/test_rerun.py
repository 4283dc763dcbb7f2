"""Notebooks that are not run from top to bottom: cells twice, out of order, again and again.

Each notebook is run in one kernel: all of it, each cell once more, and then its cells in a shuffled
order, as somebody does who scrolls back and forth. Only cells that are tagged may raise.
"""

import random
import re
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from stridekit.lessons import notebook
from tests.course.widget_kinds import KINDS

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# The sure claims of a lesson have to hold after few rounds too.
FEW_ROUNDS = """\
from stridekit.timing import comparison, rounds
rounds.FEWEST_ROUNDS, rounds.LEAST_SECONDS, rounds.NARROW = 3, 0, 1e9
comparison.RESAMPLES = 50
"""
# One cell shows all widgets, as a person meets them in Run All, in the least time.
WIDGETS = """\
import gc, torch
from stridekit import *
turn = globals().get("turn", -1) + 1  # whose picture is drawn: all of them in each run take too long
x = torch.arange(24.0).view(4, 6)
widgets = [explore(x), AliasExplorer(), ReshapeStepper(), ChannelsLastExplorer(),
           FormatTracer(), TraversalExplorer(), Predict("?", 1), Sort(x, "x.t()", also="x[1:]"),
           AttentionExplorer(), CacheExplorer(), Diagnose(), CopyTracer(audit(torch.t, x)), Drill()]
display(widgets[turn % len(widgets)])
"""
RESIDENT = """\
gc.collect()
with open("/proc/self/statm") as file:
    print(int(file.read().split()[1]) * 4096, len(gc.get_objects()))
"""


@contextmanager
def kernel(cells, folder=ROOT / "notebooks"):
    """`run(cell)` in one kernel, which ends with the block."""
    book = nbformat.v4.new_notebook(cells=cells)
    client = notebook.client(book, folder, store_widget_state=False)
    with client.setup_kernel():
        yield lambda cell: client.execute_cell(cell, cells.index(cell), store_history=False)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_cells_run_twice_and_out_of_order(path):
    """Scrolling back and forth after Run All meets only the errors that are meant."""
    book = nbformat.read(path, as_version=4)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    stored_errors = [error_of(cell) for cell in cells]
    numbers = list(range(len(cells)))
    each_twice = sorted(numbers * 2)
    shuffled = random.Random(path.stem).sample(numbers, len(cells))
    quick = nbformat.v4.new_code_cell(FEW_ROUNDS)
    with kernel([quick, *cells]) as run:
        run(quick)
        for k in each_twice + shuffled:
            run(cells[k])
            assert error_of(cells[k]) == stored_errors[k], cells[k].source


def error_of(cell):
    """The class name of the error that a cell has shown, or None."""
    for output in cell.outputs:
        if output.output_type == "error":
            return output.ename
    return None


def test_the_cell_has_each_kind_of_widget():
    made = {*re.findall(r"\b(\w+)\(", WIDGETS.replace("explore(", "StrideExplorer("))}
    assert {*KINDS} <= made


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system has no /proc")
def test_twenty_times_run_all_take_no_memory():
    """The memory of one run's widgets is free again in the next."""
    show_widgets = nbformat.v4.new_code_cell(WIDGETS)
    print_resident = nbformat.v4.new_code_cell(RESIDENT)
    nbytes_after = []
    objects_after = []
    with kernel([show_widgets, print_resident]) as run:
        for _ in range(20):
            run(show_widgets)
            run(print_resident)
            nbytes, objects = map(int, print_resident.outputs[0].text.split())
            nbytes_after.append(nbytes)
            objects_after.append(objects)
    assert nbytes_after[19] - nbytes_after[9] < 10 * 2**20, nbytes_after
    assert objects_after[19] - objects_after[9] < 10 * 2000, objects_after
