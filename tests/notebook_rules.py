"""The rules that every notebook keeps. Each takes a Notebook and yields its faults, a line each."""

import re
import tokenize
from collections.abc import Iterator
from inspect import isfunction, signature
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import stills
from stridekit.lessons import notebook as form

LONGEST_MARKDOWN, LONGEST_CODE, LONGEST_EXERCISE = 6, 8, 12  # lines that are not blank
LARGEST_OUTPUT, LARGEST_NOTEBOOK = 100_000, 1_000_000  # characters
MOST_LINES_OF_OUTPUT = 40

# Sources that cannot be tested, or that change the reader's machine.
FORBIDDEN = {
    r"^\s*!": "runs a shell command",
    r"^\s*%%?[a-z]": "is a magic: plain Python runs everywhere",
    r"\bget_ipython\(": "talks to IPython: plain Python runs everywhere",
    r"\bpip3? install\b": "installs: the environment has all that is needed",
    r"\bsys\.path\b": "edits sys.path: stridekit is installed",
    r"\b(clear_output|interact|interactive|interactive_output)\(": "has no output to compare",
    r"\bOutput\(\)": "has no output to compare",
    r"NBVAL_SKIP|NBVAL_RAISES_EXCEPTION": "hides from the tests (tag a cell that has to raise)",
}

# What only one machine or one run would show.
TRACES = {
    r"0x[0-9a-fA-F]{8,}": "an address",
    r"(?<![\w.~])/(home|Users|root|tmp|var|opt|usr|mnt|work|workspace)/\w": "a path of a machine",
    r"\b[A-Z]:\\\w": "a path of a machine",
    r"site-packages|ipykernel_\d+": "a path of a machine",
}


class Notebook(NamedTuple):
    """A notebook as it lies on the disk: where, its text and what the text says."""

    path: Path
    text: str
    content: object

    @classmethod
    def read(cls, path):
        """The notebook at a path."""
        text = path.read_bytes().decode("utf-8")
        return cls(path, text, form.parse(text))

    def cells(self, kind=None):
        """The cells, or those of one kind, each with the words that tell a person where it is."""
        for cell in self.content.cells:
            if kind in (None, cell.cell_type):
                yield cell, form.name_of(self.content, cell)


def texts(output) -> Iterator[str]:
    """The texts of an output that a reader sees or a test compares."""
    yield from (output[key] for key in ("text", "evalue") if key in output)
    yield from output.get("traceback", [])
    for kind, value in output.get("data", {}).items():
        if not kind.startswith("image/") or kind == "image/svg+xml":
            yield value if isinstance(value, str) else str(value)


def lines(source: str) -> int:
    """The number of lines that are not blank."""
    return sum(bool(line.strip()) for line in source.splitlines())


def has_title(notebook):
    """The first cell is the one title."""
    cells = list(notebook.cells())
    if not cells or not re.match(r"# ", cells[0][0].source) or cells[0][0].cell_type != "markdown":
        yield 'the first cell is not a title ("# …")'
    for cell, name in cells[1:]:
        if cell.cell_type == "markdown" and re.match(r"# ", cell.source):
            yield f"{name}: a second title"


def has_the_guard(notebook):
    """The first code says what to install where stridekit is missing; its source is folded."""
    cell, name = next(notebook.cells("code"), (None, "no cell"))
    if cell is None or cell.source != form.GUARD or "jupyter" not in cell.metadata:
        yield f"{name}: does not begin with the guard of stridekit/lessons/notebook.py"


def imports_stridekit(notebook):
    """The package is what the notebooks have in common."""
    imports = re.compile(r"^(import|from) stridekit\b", re.MULTILINE)
    if not any(imports.search(cell.source) for cell, _ in notebook.cells("code")):
        yield "no cell imports stridekit"


def is_executed(notebook):
    """Every code cell was executed once, from top to bottom, in a new kernel."""
    for expected, (cell, name) in enumerate(notebook.cells("code"), start=1):
        if not cell.source.strip():
            yield f"{name}: an empty cell"
        elif cell.execution_count is None:
            yield f"{name}: not executed, so its outputs compare nothing"
        elif cell.execution_count != expected:
            yield f"{name}: execution count {cell.execution_count}, {expected} expected"


def is_refreshed(notebook):
    """The text is the one that the refresh writes; it has no widget state and no edited cell."""
    cells = zip(notebook.cells(), form.ids(notebook.content), strict=True)
    edited = [name for (cell, name), expected in cells if cell.get("id") != expected]
    yield from (f"{name}: edited since its outputs were stored" for name in edited)
    if "widgets" in notebook.content.metadata:
        yield "holds the state of widgets, which GitHub does not render"
    tidied = form.parse(notebook.text)
    form.tidy(tidied)
    if not edited and notebook.text != form.write(tidied):
        yield "is not in the form that the refresh writes"


def ends_without_semicolon(notebook):
    """A trailing semicolon hides a value in JupyterLab, but not from the comparison."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}
    for cell, name in notebook.cells("code"):
        try:
            tokens = list(tokenize.generate_tokens(StringIO(cell.source).readline))
        except (SyntaxError, tokenize.TokenError):
            yield f"{name}: is not Python"
            continue
        told = [token.string for token in tokens if token.type not in skipped]
        if told and told[-1] == ";":
            yield f"{name}: ends with a semicolon"


def is_plain_python(notebook):
    """No magics, shell commands, installs, or ways around the comparison."""
    for cell, name in notebook.cells("code"):
        for pattern, reason in FORBIDDEN.items():
            if cell.source != form.GUARD and re.search(pattern, cell.source, re.MULTILINE):
                yield f"{name}: {reason}"
        if "nbval-skip" in cell.metadata.get("tags", []):
            yield f"{name}: hides from the tests"


def leaves_no_trace(notebook):
    """Neither a source nor an output holds what only one machine or one run would show."""
    for cell, name in notebook.cells():
        shown = [text for output in cell.get("outputs", []) for text in texts(output)]
        for pattern, kind in TRACES.items():
            found = re.search(pattern, "\n".join([cell.source, *shown]))
            if found:
                yield f"{name}: holds {kind}, {found[0]!r}"


def warns_of_nothing(notebook):
    """Nothing is written to stderr: a warning carries a path and a process id."""
    for cell, name in notebook.cells("code"):
        if any(output.get("name") == "stderr" for output in cell.outputs):
            yield f"{name}: writes to stderr"


def raises_when_tagged(notebook):
    """A cell is tagged raises-exception if and only if it raised: nbval accepts the tag on any."""
    for cell, name in notebook.cells("code"):
        tagged = "raises-exception" in cell.metadata.get("tags", [])
        raised = any(output.output_type == "error" for output in cell.outputs)
        if tagged != raised:
            yield f"{name}: {'is tagged raises-exception and did not' if tagged else 'raised'}"


def is_small(notebook):
    """Outputs can be read, and a change of them can be reviewed."""
    if len(notebook.text) > LARGEST_NOTEBOOK:
        yield f"has {len(notebook.text)} characters, {LARGEST_NOTEBOOK} are allowed"
    for cell, name in notebook.cells("code"):
        for output in cell.outputs:
            size = sum(len(str(value)) for value in output.get("data", {}).values())
            if size + len(output.get("text", "")) > LARGEST_OUTPUT:
                yield f"{name}: an output of more than {LARGEST_OUTPUT} characters"
            shown = output.get("text") or output.get("data", {}).get("text/plain", "")
            if lines(shown) > MOST_LINES_OF_OUTPUT:
                yield f"{name}: an output of more than {MOST_LINES_OF_OUTPUT} lines"


def is_in_small_steps(notebook):
    """One idea a cell, so that each can be read at a glance."""
    for cell, name in notebook.cells():
        if form.asks(cell):  # folded away
            continue
        most = LONGEST_CODE if cell.cell_type == "code" else LONGEST_MARKDOWN
        if "exercise" in cell.metadata.get("tags", []):
            most = LONGEST_EXERCISE
        long = lines(re.sub(r"^\|.*", "", cell.source, flags=re.MULTILINE))  # a table is no prose
        if long > most:
            yield f"{name}: {long} lines, {most} are allowed"


def keeps_its_answers(notebook):
    """A card asks in a cell of its own, whose code is folded away: it knows the answer."""
    for cell, name in notebook.cells("code"):
        if form.asks(cell):
            if not cell.source.startswith("Predict("):
                yield f"{name}: what comes before the card would be folded away with it"
            if not cell.metadata.get("jupyter", {}).get("source_hidden"):
                yield f"{name}: the code of a card can be read before it is answered"


def _shows(cell):
    return cell.cell_type == "code" and not (form.asks(cell) or form.CHECKS.search(cell.source))


def shows_answers_last(notebook):
    """What answers a card is code right behind it, and what its section prints is folded until it runs."""
    asked = False
    cells = notebook.content.cells
    for place, cell in enumerate(cells):
        name = form.name_of(notebook.content, cell)
        if form.asks(cell):
            asked = True
            if not any(_shows(after) for after in cells[place + 1 :][:1]):
                yield f"{name}: no experiment comes right after the card"
        elif re.search(r"^#+ |\.check\(", cell.source, re.MULTILINE):
            asked = False
        elif asked and cell.cell_type == "code" and not cell.metadata.get("jupyter"):
            printed = [out for out in cell.outputs if "image/png" not in out.get("data", {})]
            if printed:
                yield f"{name}: its output may answer the card above"


def gives_no_help(notebook):
    """Run All shows no hint and no solution: buttons below each exercise do, and nobody presses them."""
    for cell, name in notebook.cells("code"):
        if re.search(r"\.(hint|solution)\(", cell.source):
            yield f"{name}: shows help that nobody has asked for"


def describes_images(notebook):
    """An image in the text, and the picture of a widget, has a description for those who do not see it."""
    for cell, name in notebook.cells("code"):
        for output in cell.outputs:
            about = output.get("metadata", {}).get("image/png", {})
            if about.get("width") == stills.WIDTH and not about.get("alt"):
                yield f"{name}: an image without alt text"
    for cell, name in notebook.cells("markdown"):
        for image in re.findall(r"<img\b[^>]*>", cell.source):
            if not re.search(r"""\balt=["'][^"']""", image):
                yield f"{name}: an image without alt text"
        if re.search(r"!\[\s*\]\(", cell.source):
            yield f"{name}: an image without alt text"


def anchors(path: Path) -> set[str]:
    """The anchors of a file's headings: JupyterLab's for a notebook, GitHub's for markdown."""
    if path.suffix == ".ipynb":
        cells = Notebook.read(path).cells("markdown")
        return {h.replace(" ", "-") for cell, _ in cells for h in headings(cell.source)}
    found = headings(path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in found}


def headings(markdown: str) -> list[str]:
    """The headings of a text, as they read."""
    found = re.findall(r"^#{1,6} +(.+?) *$", markdown, re.MULTILINE)
    return [re.sub(r"[`*]", "", heading) for heading in found]


def links_resolve(notebook):
    """A link inside the repository leads to a file, and to a heading of it."""
    for cell, name in notebook.cells("markdown"):
        prose = re.sub(r"(`+).+?\1", "", cell.source, flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", prose):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = notebook.path.parent / file if file else notebook.path
            if not path.exists():
                yield f"{name}: links to {file}, which does not exist"
            elif anchor and anchor not in anchors(path):
                yield f"{name}: links to #{anchor}, which {path.name} does not have"


RULES = [
    rule
    for rule in list(vars().values())
    if isfunction(rule) and list(signature(rule).parameters) == ["notebook"]
]
