"""Write the lessons as a site with live widgets that needs neither a kernel nor a network, by Sphinx.

    python -m stridekit.export notebooks -o dist/site

The notebooks are executed, some seconds each. If one fails, nothing is written. A folder that holds other
files than those of an earlier export is left alone.
"""

from __future__ import annotations

import argparse
import html
import io
import json
import math
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace

from stridekit.export import reference
from stridekit.export.lesson import Lesson, lesson, mathml
from stridekit.notebook import NotebookError
from stridekit.widgets import Diagnose, StrideExplorer
from stridekit.widgets.base import StateWidget
from stridekit.widgets.diagnose.words import script
from stridekit.widgets.offline import Offline, live

HERE = Path(__file__).parent
MARK = ".stridekit-site"  # a file that says that an export may replace its folder
ROW = re.compile(r"^\| \[(.+?)\]\(notebooks/(.+?)\.ipynb\) \| (.+?) \| (.+?) \|$", re.MULTILINE)
WORD = re.compile(r"[a-z_]{3,}")
BOX = '<div data-widget="{}"></div>'
LEAD = (
    "Lessons to play with. Everything that you can drag, press and answer is alive on these pages, without "
    "a network. To run the code and do the exercises, get stridekit and call `make lab`."
)
CONF = {
    "project": "stridekit",
    "html_title": "stridekit",
    "extensions": ["myst_nb", "sphinx.ext.autodoc", "stridekit.export.site"],
    "source_suffix": {".ipynb": "myst-nb", ".md": "myst-nb", ".rst": "restructuredtext"},
    "default_role": "py:obj",
    "autodoc_member_order": "bysource",
    "autodoc_inherit_docstrings": False,
    "autodoc_preserve_defaults": True,  # a path would be one of this machine
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},  # which would come from a network
    "myst_enable_extensions": ["dollarmath", "amsmath"],
    "myst_heading_anchors": 4,
    "myst_heading_slug_func": "stridekit.export.site.anchor",
    "html_math_renderer": "mathml",
    "html_theme": "pydata_sphinx_theme",
    "html_theme_options": {
        "navbar_align": "left",
        "navbar_end": ["theme-switcher"],
        "footer_start": [],
        "footer_end": [],
        "secondary_sidebar_items": [],
        "search_bar_text": "A name, a topic, a message",
        "pygments_light_style": "a11y-high-contrast-light",
    },
    "html_sidebars": {
        "**": ["sidebar-nav-bs", "page-toc"],
        **{"index": [], "search": [], "diagnose": []},
    },
    "html_static_path": [str(HERE / "static")],
    "templates_path": [str(HERE / "templates")],
    "html_css_files": ["site.css"],
    "html_js_files": ["site-data.js", "site.js"],
    "html_use_index": False,
    "html_copy_source": False,
    "html_show_search_summary": False,  # which a page from a disk cannot fetch
}


class ExportError(Exception):
    """The export failed and wrote nothing; the message is one line that says why."""


class Place(NamedTuple):
    """A section of a lesson: its address on the site and its title."""

    href: str
    title: str


class Row(NamedTuple):
    """A lesson in the table of the README: its title, its question, and what it teaches."""

    title: str
    asks: str = ""
    aim: str = ""


def anchor(title: str) -> str:
    """Return JupyterLab's anchor of a heading, so that a link to it leads there on a page, too."""
    return title.strip().replace(" ", "-")


def export(source: Path, folder: Path) -> Path:
    """Write the site of a notebook or a folder of notebooks; return its front page. Raises ExportError."""
    paths = sorted(source.glob("*.ipynb")) if source.is_dir() else [source]
    if not paths or not all(path.is_file() and path.suffix == ".ipynb" for path in paths):
        raise ExportError(f"{source} is not a notebook (.ipynb) or a folder of notebooks")
    for path in paths:
        if path.stem in RESERVED or not path.stem.isprintable():
            raise ExportError(f"{path.name!a} cannot be the name of a page: rename it")
    if (
        folder.exists()
        and not (folder / MARK).is_file()
        and (folder.is_file() or any(folder.iterdir()))
    ):
        raise ExportError(f"{folder} holds other files than an export: name another folder")
    lessons = {path.stem: _lesson(path) for path in paths}
    with tempfile.TemporaryDirectory(prefix="stridekit-") as name:
        built = _build(Path(name), lessons, paths[0].parent)
        try:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(built, folder, dirs_exist_ok=True)
        except OSError as error:
            raise ExportError(f"cannot write to {folder}: {error}") from None
    return folder / "index.html"


def _lesson(path: Path) -> Lesson:
    print(f"{path}: executing", flush=True)
    try:
        return lesson(path)
    except NotebookError as error:
        raise ExportError(f"{path}, {error}") from None


# The sources of the pages -----------------------------------------------------------------------------

RESERVED = {"index", "lessons", "diagnose", "reference", "search", *reference.pages()}


def _sources(rows: dict[str, Row], places: dict[str, Place]) -> dict[str, str]:
    """Return the source of each page but the lessons, by its file."""
    cells = [
        f"| [{row.title}](<{name}.ipynb>) | {row.asks} | {row.aim} |\n"
        for name, row in rows.items()
    ]
    table = "| lesson | the question | at the end you can |\n|---|---|---|\n" + "".join(cells)
    below = [f"{row.title} <{name}>" for name, row in rows.items()]
    front = f"# How tensors live in memory\n\n{LEAD}\n\n{BOX.format(0)}\n"
    names = reference.pages()
    return {
        "index.md": f"{front}\n## An error message?\n\n{BOX.format(1)}\n\n## The lessons\n\n{table}\n"
        + _toctree(["Lessons <lessons>", "Diagnose <diagnose>", "Reference <reference>"]),
        "lessons.md": f"# Lessons\n\n{table}\n{_toctree(below)}",
        "diagnose.md": _messages(places),
        "reference.md": "# The package, name by name\n\n"
        + "".join(f"- {{doc}}`{name}`: {about}\n" for name, (about, _) in names.items())
        + _toctree(names),
        **{f"{name}.rst": text for name, (_, text) in names.items()},
    }


def _toctree(entries: Sequence[str] | dict[str, Any]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", *entries, "```", ""])


def families() -> list[dict[str, Any]]:
    """Return the families of messages that Diagnose knows, each with the list of what torch says."""
    every: list[dict[str, Any]] = script.FAMILIES
    return [
        {
            **family,
            "says": [*family["says"]] if isinstance(family["says"], list) else [family["says"]],
        }
        for family in every
    ]


def _messages(places: dict[str, Place]) -> str:
    """Return the page of the Diagnose box, with all messages that it knows."""
    parts = [f"# Diagnose an error message\n\n{BOX.format(0)}\n\n## What it knows\n"]
    for family in families():
        words = [(label, family.get(label)) for label in ("means", "cause", "cure")]
        said = "".join(f"- **{label}**: {text}\n" for label, text in words if text)
        if place := places.get(family["title"]):
            said += f'- **lesson**: <a href="{place.href}">{html.escape(place.title)}</a>\n'
        says = "\n".join(family["says"])
        parts.append(f"### {family['title']}\n\n```text\n{says}\n```\n\n{said}")
    return "\n".join(parts)


def places_of(lessons: dict[str, Lesson], rows: dict[str, Row]) -> dict[str, Place]:
    """Return for each family the section of its lesson that says most about it.

    A word of the family counts more, the fewer sections of the lesson have it.
    """
    places = {}
    for family in (family for family in families() if family["lesson"] in lessons):
        name = family["lesson"]
        parts = _headed(lessons[name].notebook)
        own = set(WORD.findall(" ".join(map(str, family.values())).lower()))
        texts = [set(WORD.findall(" ".join(part).lower())) for part in parts]
        worth = {
            word: math.log(len(texts) / max(1, sum(word in text for text in texts))) for word in own
        }
        scores = [
            sum(worth[word] for word in own & text) / (20 + len(text)) ** 0.5 for text in texts
        ]
        title, href = rows[name].title, f"{name}.html"
        if parts:
            heading = parts[scores.index(max(scores))][0]
            title, href = f"{title}: {heading}", f"{href}#{quote(anchor(heading))}"
        places[family["title"]] = Place(href, title)
    return places


def _headed(notebook: Any) -> list[list[str]]:
    """Return the sections of a notebook: each heading without its markup, and the sources below it."""
    parts: list[list[str]] = []
    for cell in notebook.cells:
        heading, _, rest = cell.source.partition("\n")
        if cell.cell_type == "markdown" and heading.startswith("##"):
            parts.append([re.sub(r"[`*]", "", heading.lstrip("# ")), rest])
        elif parts:
            parts[-1].append(cell.source)
    return parts


# The build --------------------------------------------------------------------------------------------


def _build(folder: Path, lessons: dict[str, Lesson], beside: Path) -> Path:
    """Build the site in a folder; return the folder of its pages."""
    source, out, index = folder / "source", folder / "site", []
    shutil.copytree(
        beside,
        source,
        ignore=shutil.ignore_patterns("*.ipynb", "*.md", "*.rst", "my_answers", ".*"),
    )
    readme = beside.parent / "README.md"
    named = ROW.findall(readme.read_text(encoding="utf-8")) if readme.is_file() else []
    rows = {name: Row(name) for name in lessons}
    rows |= {name: Row(title, *others) for title, name, *others in named if name in lessons}
    places = places_of(lessons, rows)
    for name, text in _sources(rows, places).items():
        (source / name).write_text(text, encoding="utf-8")
    for name, made in lessons.items():
        _number(made.notebook, rows[name].title)
        nbformat.write(made.notebook, source / f"{name}.ipynb")
    shown = {
        "index": [StrideExplorer(), Diagnose()],
        "diagnose": [Diagnose()],
        "search": [Diagnose()],
    }
    alive = {name: _offline(widgets) for name, widgets in shown.items()}
    alive |= {name: made.widgets for name, made in lessons.items()}

    def add_widgets(
        _: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any
    ) -> None:
        context["body"] = context.get("body", "") + (live(alive[page]) if alive.get(page) else "")

    warnings = io.StringIO()
    try:
        with docutils_namespace():
            app = Sphinx(source, None, out, folder / "trees", "html", CONF, None, warnings)
            app.connect(
                "doctree-resolved", lambda _, tree, page: index.extend(_sections(tree, page))
            )
            app.connect("html-page-context", add_widgets)
            app.build()
    except (SphinxError, RecursionError) as error:
        raise ExportError(
            f"Sphinx cannot build the pages: {str(error).strip().splitlines()[0]}"
        ) from None
    print(warnings.getvalue(), end="", file=sys.stderr)
    parts = {f"{name}.html": made.parts for name, made in lessons.items()}
    text = json.dumps({"parts": parts, "places": places, "sections": index}, ensure_ascii=False)
    (out / "_static" / "site-data.js").write_text(
        f"globalThis.stridekitSite = {text};\n", encoding="utf-8"
    )
    (out / MARK).touch()
    return out


def _number(notebook: Any, title: str) -> None:
    """Give a lesson the title of the README; its own stands below."""
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    if first is None or not first.source.startswith("# "):
        notebook.cells.insert(0, nbformat.v4.new_markdown_cell(f"# {title}"))
    elif title[:2].isdigit():
        heading, _, rest = first.source.partition("\n")
        first.source = f"# {title}\n\n*{heading[2:]}*\n\n{rest}"


def _offline(widgets: Sequence[StateWidget]) -> list[Offline]:
    models = [*widgets, *(widget._code for widget in widgets)]
    states = {model.model_id: model.get_state() for model in models}
    return [Offline.of(widget.model_id, states) for widget in widgets]


def _sections(tree: nodes.document, page: str) -> list[list[str]]:
    """Return page, anchor, heading and text of each section: what the search looks through."""
    return [
        [
            page,
            section["ids"][-1],
            section.next_node(nodes.title).astext(),
            " ".join(_words(section).split()),
        ]
        for section in tree.findall(nodes.section)
    ]


def _words(node: Any) -> str:
    """Return the words of a section without those of the sections inside it; hints stay closed."""
    if isinstance(node, nodes.raw):
        closed = r"<(details|noscript|style|script)\b.*?</\1>|<[^>]*>"
        return html.unescape(re.sub(closed, " ", node.astext(), flags=re.DOTALL))
    inside = [
        child for child in node.children if not isinstance(child, nodes.section | nodes.title)
    ]
    words = ("" if isinstance(node, nodes.TextElement) else " ").join(map(_words, inside))
    return words if node.children else node.astext()


def setup(app: Sphinx) -> dict[str, bool]:
    """Give Sphinx formulas as MathML, and docstrings that are plain text."""

    def show(writer: Any, node: Any) -> None:
        display = "block" if isinstance(node, nodes.math_block) else "inline"
        writer.body.append(mathml(node.astext(), display))
        raise nodes.SkipNode

    app.add_html_math_renderer(
        "mathml", inline_renderers=(show, None), block_renderers=(show, None)
    )
    app.connect("autodoc-process-docstring", reference.escape)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if nothing was written."""
    parser = argparse.ArgumentParser(prog="python -m stridekit.export", description=__doc__)
    parser.add_argument("source", type=Path, help="a notebook, or a folder of notebooks")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        print(export(options.source, options.output))
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
