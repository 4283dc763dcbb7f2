"""Every notebook keeps the rules of lessons, one test for each.

nbval executes the notebooks, and compares their outputs.
"""

import ast
import re
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

import stills
from stridekit.lessons import notebook as form

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))

# The cells whose outputs are not compared, by notebook: the first line of the cell, and the reason.
IGNORED = {
    "00_start": {
        'print("torch", torch.__version__, "- threads:", torch.get_num_threads())':
            "tells the versions, threads and GPU of the machine it runs on",
    },
    "02_views": {
        "longer = torch.arange(128).view(2, 64)":
            "depends on how many elements the loop of this CPU takes at once",
    },
    "04_channels_last": {
        "for name, timed in measured.items():":
            "says what is faster on the machine it runs on",
    },
    "05_performance": {
        'compare({"x.exp()": x.exp, "x.exp() twice": lambda: (x.exp(), x.exp())})':
            "shows the times of a comparison, as it reads",
    },
    "07_your_model": {
        "compare(switch, rounds=20)": "measures two models",
        'models = switch | {"mended": lambda: tag(clean, photos_last[:2])}':
            "measures three models",
    },
    "08_hardware": {
        "bandwidth(2**28)": "measures the machine it runs on",
        "hierarchy()": "tells the caches of the machine it runs on",
    },
}  # fmt: skip
LESSONS = [path.stem for path in PATHS if path.stem != "00_start"]

LARGEST_NOTEBOOK = 845_000  # characters
LARGEST_OUTPUT = 100_000
MOST_LINES_OF_OUTPUT = 40
MOST_LINES = {"markdown": 6, "code": 8}  # that are not blank: one idea a cell
MOST_LINES_OF_AN_EXERCISE = 12
MOST_LINES_OF_A_PROGRAM = 22  # in which a reader looks for a bug, so it has more than one idea

# Sources that cannot be compared, or that change the reader's machine: plain Python runs everywhere.
FORBIDDEN = [
    r"^\s*!",
    r"^\s*%%?[a-z]",
    r"\bget_ipython\(",
    r"\bpip3? install\b",
    r"\bsys\.path\b",
    r"\b(clear_output|interact|interactive|interactive_output)\(",
    r"\bOutput\(\)",
    r"NBVAL_",
]
# Texts that only one machine or one run would show.
TRACES = [
    r"0x[0-9a-fA-F]{8,}",
    r"(?<![\w.~])/(home|Users|root|tmp|var|opt|usr|mnt|work|workspace)/\w",
    r"\b[A-Z]:\\\w",
    r"site-packages|ipykernel_\d+",
]


@cache
def book_of(path):
    """Return the notebook at a path, read once for all tests, which do not change it."""
    return form.parse(path.read_bytes().decode())


def code_of(path):
    return [cell for cell in book_of(path).cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def lines(text):
    """Return the number of lines that are not blank."""
    return sum(bool(line.strip()) for line in text.splitlines())


def texts(output):
    """Return the texts of an output that a reader sees or a test compares."""
    data = output.get("data", {}).items()
    shown = [str(value) for kind, value in data if not kind.startswith("image/")]
    return [output.get("text", ""), output.get("evalue", ""), *shown]


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def cells(path):
    return book_of(path).cells


@pytest.fixture
def code(path):
    return code_of(path)


def test_it_begins_with_its_only_title(cells):
    words = [cell for cell in cells if cell.cell_type == "markdown"]
    assert [cell for cell in words if cell.source.startswith("# ")] == cells[:1]


def test_its_first_code_is_the_folded_guard(code):
    assert code[0].source == form.GUARD and "jupyter" in code[0].metadata
    assert lines(form.GUARD) <= 10


def test_every_cell_was_run_once_from_top_to_bottom(code):
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    assert all(cell.source.strip() for cell in code)


def test_it_is_what_the_refresh_writes(path):
    """No cell was edited since its outputs were stored, and what answers a card is folded away."""
    text = path.read_bytes().decode()
    book = form.parse(text)
    ids = zip(book.cells, form.ids(book), strict=True)
    edited = [form.name_of(book, cell) for cell, expected in ids if cell.id != expected]
    assert edited == [], "run make refresh"
    form.tidy(book)
    assert form.write(book) == text


def test_it_is_plain_python_and_hides_nothing_from_the_comparison(code):
    for cell in code[1:]:
        assert not re.search("|".join(FORBIDDEN), cell.source, re.MULTILINE), cell.source
        assert "nbval-skip" not in tags(cell)


def test_it_shows_nothing_of_one_machine_or_one_run(cells):
    for cell in cells:
        shown = [cell.source]
        for output in cell.get("outputs", []):
            shown += texts(output)
            assert output.get("name") != "stderr"
        assert not re.search("|".join(TRACES), "\n".join(shown)), cell.source


def test_the_cells_that_raise_are_those_with_the_tag(code):
    """The comparison accepts the tag on any cell."""
    for cell in code:
        raised = any(output.output_type == "error" for output in cell.outputs)
        assert raised == ("raises-exception" in tags(cell)), cell.source


def test_outputs_can_be_read_and_reviewed(path, code):
    assert len(path.read_text("utf-8")) <= LARGEST_NOTEBOOK
    for output in chain.from_iterable(cell.outputs for cell in code):
        size = sum(len(str(value)) for value in output.get("data", {}).values())
        assert size + len(output.get("text", "")) <= LARGEST_OUTPUT
        assert all(lines(text) <= MOST_LINES_OF_OUTPUT for text in texts(output))


def test_the_imports_the_data_and_the_goals_of_a_lesson_are_folded(code):
    """Code that only imports, a block of base64, and lists of goals: a lesson begins without them."""
    for cell in code:
        statements = ast.parse(cell.source).body
        only_imports = all(isinstance(line, ast.Import | ast.ImportFrom) for line in statements)
        is_set_up = only_imports or "Goal(" in cell.source or "b64decode(" in cell.source
        if is_set_up:
            assert form.sets_up(cell) and cell.metadata.jupyter.source_hidden, cell.source


def test_it_goes_in_small_steps(cells):
    """Cards and set-up are folded away."""
    for cell in [cell for cell in cells if not form.asks(cell) and not form.sets_up(cell)]:
        most = MOST_LINES[cell.cell_type]
        if "exercise" in tags(cell):
            most = MOST_LINES_OF_AN_EXERCISE
        elif "program" in tags(cell):
            most = MOST_LINES_OF_A_PROGRAM
        prose = re.sub(r"^\|.*", "", cell.source, flags=re.MULTILINE)  # a table is none
        assert lines(prose) <= most, cell.source


def test_behind_each_card_comes_the_experiment_that_answers_it(cells):
    """A card has a cell of its own, whose code is folded away: it knows the answer."""
    for place, card in enumerate(cells):
        if form.asks(card):
            (after,) = cells[place + 1 : place + 2]
            assert card.source.startswith("Predict(")
            assert after.cell_type == "code" and not form.asks(after), card.source
            assert not form.CHECKS.search(after.source), card.source


def test_run_all_shows_no_help_that_nobody_has_asked_for(code):
    assert not any(re.search(r"\.(hint|solution)\(", cell.source) for cell in code)


def test_every_picture_is_described_for_those_who_do_not_see_it(cells):
    for cell in cells:
        for output in cell.get("outputs", []):
            about = output.get("metadata", {}).get("image/png", {})
            assert about.get("alt") or about.get("width") != stills.WIDTH, cell.source
        if cell.cell_type == "markdown":
            assert not re.search(r"!\[\s*\]\(", cell.source), cell.source
            for image in re.findall(r"<img\b[^>]*>", cell.source):
                assert re.search(r"""\balt=["'][^"']""", image), cell.source


def headings(markdown):
    """Return the headings of a text, as they read."""
    sources = re.findall(r"^#{1,6} +(.+?) *$", markdown, re.MULTILINE)
    return [re.sub(r"[`*]", "", source) for source in sources]


def anchors(path):
    """Return the anchors of a file's headings: JupyterLab's for a notebook, GitHub's for markdown."""
    if path.suffix == ".ipynb":
        words = [cell.source for cell in book_of(path).cells if cell.cell_type == "markdown"]
        return {heading.replace(" ", "-") for heading in chain.from_iterable(map(headings, words))}
    lowered = map(str.lower, headings(path.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in lowered}


def test_links_inside_the_repository_lead_to_a_file_and_a_heading_of_it(path, cells):
    for cell in [cell for cell in cells if cell.cell_type == "markdown"]:
        prose = re.sub(r"(`+).+?\1", "", cell.source, flags=re.DOTALL)
        for target in re.findall(r"\]\((?![a-z]+:)([^)\s]+)[^)]*\)", prose):
            file, _, anchor = target.partition("#")
            there = path.parent / file if file else path
            assert there.exists(), target
            assert not anchor or anchor in anchors(there), target


def test_ignored_outputs_are_listed_with_their_reason(record_property):
    """Outputs that are not compared are listed here, not in a notebook."""
    count = 0
    ignored = {}
    for path in PATHS:
        cells = code_of(path)
        count += len(cells)
        ignored[path.stem] = {
            cell.source.partition("\n")[0] for cell in cells if "nbval-ignore-output" in tags(cell)
        }
    assert ignored == {name: {*IGNORED.get(name, {})} for name in ignored}
    compared = count - sum(map(len, ignored.values()))
    record_property("summary", f"notebooks: {compared} of {count} code cells are compared")
