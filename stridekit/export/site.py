"""Write the lessons as a site with live widgets that needs neither a kernel nor a network, by Sphinx.

    python -m stridekit.export notebooks -o dist/site

The notebooks are executed, some seconds each. If one fails, nothing is written. A folder that holds other
files than those of an earlier export is left alone.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace

from stridekit.export import reference
from stridekit.export.lesson import Lesson, lesson, mathml
from stridekit.lessons.notebook import NotebookError
from stridekit.widgets import Diagnose, StrideExplorer
from stridekit.widgets.offline import live, offline

HERE = Path(__file__).parent
MARK = ".stridekit-site"  # a file that says that an export may replace its folder
ROW = re.compile(r"^\| \[(.+?)\]\(notebooks/(.+?)\.ipynb\) \| (.+?) \| (.+?) \|$", re.MULTILINE)
RESERVED = {"index", "lessons", "diagnose", "reference", "search", *reference.pages()}
WIDE = ("index", "search", "diagnose")  # pages without a sidebar
CONF = {
    "project": "stridekit",
    "html_title": "stridekit",
    "extensions": ["myst_nb", "sphinx.ext.autodoc", "stridekit.export.site"],
    "source_suffix": {".ipynb": "myst-nb", ".md": "myst-nb", ".rst": "restructuredtext"},
    "default_role": "py:obj",
    "autodoc_member_order": "bysource",
    "autodoc_inherit_docstrings": False,
    "autodoc_preserve_defaults": True,  # as they are written
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
    "html_sidebars": {"**": ["sidebar-nav-bs", "page-toc"], **{page: [] for page in WIDE}},
    "html_static_path": [str(HERE / "static")],
    "templates_path": [str(HERE / "templates")],
    "html_css_files": ["site.css"],
    "html_js_files": ["site-data.js", "site.js"],
    "html_use_index": False,
    "html_copy_source": False,
    "html_show_search_summary": False,  # which a page from a disk cannot fetch
}


def anchor(title: str) -> str:
    """Return JupyterLab's anchor of a heading, so that a link to it leads there on a page, too."""
    return title.strip().replace(" ", "-")


def export(source: Path, folder: Path) -> Path:
    """Write the site of a notebook or a folder of notebooks; return its front page."""
    paths = sorted(source.glob("*.ipynb")) if source.is_dir() else [source]
    if not paths or not all(path.is_file() and path.suffix == ".ipynb" for path in paths):
        raise NotebookError(f"{source} is not a notebook (.ipynb) or a folder of notebooks")
    for path in paths:
        if path.stem in RESERVED or not path.stem.isprintable():
            raise NotebookError(f"{path.name!a} cannot be the name of a page: rename it")
    is_mine = not folder.exists() or (folder / MARK).is_file()
    if not is_mine and (folder.is_file() or any(folder.iterdir())):
        raise NotebookError(f"{folder} holds other files than an export: name another folder")
    lessons = {}
    for path in paths:
        print(f"{path}: executing", flush=True)
        try:
            lessons[path.stem] = lesson(path)
        except NotebookError as error:
            raise NotebookError(f"{path}, {error}") from None
    with tempfile.TemporaryDirectory(prefix="stridekit-") as name:
        built = _build(Path(name), lessons, paths[0].parent)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(built, folder, dirs_exist_ok=True)
    return folder / "index.html"


def _sources(rows: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the source of each page but the lessons, by its file."""
    cells = [
        f"| [{title}](<{name}.ipynb>) | {' | '.join(c)} |" for name, (title, *c) in rows.items()
    ]
    names = reference.pages()
    fill = {
        "table": "\n".join(cells),
        "lessons": "\n".join(f"{title} <{name}>" for name, (title, *_) in rows.items()),
        "messages": "\n".join(_message(family, rows) for family in Diagnose._script.FAMILIES),
        "about": "\n".join(f"- {{doc}}`{name}`: {about}" for name, (about, _) in names.items()),
        "names": "\n".join(names),
    }
    forms = {path.name: path.read_text(encoding="utf-8") for path in (HERE / "pages").iterdir()}
    written = {name: Template(form).substitute(fill) for name, form in forms.items()}
    return written | {f"{name}.rst": text for name, (_, text) in names.items()}


def _message(family: dict[str, Any], rows: Mapping[str, Sequence[str]]) -> str:
    """Return what Diagnose knows of a family of messages."""
    said = [(label, family.get(label)) for label in ("means", "cause", "cure")]
    if (name := family["lesson"]) in rows:
        place = f"{rows[name][0]}: {family['section']}"
        said += [("lesson", f"[{place}](<{name}.ipynb#{anchor(family['section'])}>)")]
    says = "\n".join(family["templates"])
    lines = "".join(f"- **{label}**: {text}\n" for label, text in said if text)
    text = f"### {family['title']}\n\n```text\n{says}\n```\n\n{lines}"
    return re.sub(r"\{\w*[,:*~+&]?\}", "…", text)  # the fields of a template


def _build(folder: Path, lessons: dict[str, Lesson], beside: Path) -> Path:
    """Build the site in a folder; return the folder of its pages."""
    source, out, index = folder / "source", folder / "site", list[list[str]]()
    others = shutil.ignore_patterns("*.ipynb", "*.md", "*.rst", "my_answers", ".*")
    shutil.copytree(beside, source, ignore=others)
    readme = beside.parent / "README.md"
    named = ROW.findall(readme.read_text(encoding="utf-8")) if readme.is_file() else []
    rows = {name: (name, "", "") for name in lessons}
    rows |= {name: (title, *others) for title, name, *others in named if name in lessons}
    for name, text in _sources(rows).items():
        (source / name).write_text(text, encoding="utf-8")
    for name, made in lessons.items():
        _number(made.notebook, rows[name][0])
        nbformat.write(made.notebook, source / f"{name}.ipynb")
    alive = {"index": offline([StrideExplorer(), Diagnose()])}
    alive |= dict.fromkeys(("diagnose", "search"), offline([Diagnose()]))
    alive |= {name: made.widgets for name, made in lessons.items()}

    def finish(_: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
        context["body"] = context.get("body", "") + (live(alive[page]) if page in alive else "")
        index.extend(_sections(tree, page) if tree else [])

    try:
        with docutils_namespace():
            app = Sphinx(source, None, out, folder / "trees", "html", CONF, None)
            app.connect("html-page-context", finish)
            app.build()
    except (SphinxError, RecursionError) as error:
        why = str(error).strip().partition("\n")[0]
        raise NotebookError(f"Sphinx cannot build the pages: {why}") from None
    parts = {f"{name}.html": made.parts for name, made in lessons.items()}
    families = Diagnose._script.FAMILIES
    places = {family["title"]: (family["lesson"], family["section"]) for family in families}
    data = {"parts": parts, "places": places, "sections": index}
    text = json.dumps(data, ensure_ascii=False)
    (out / "_static" / "site-data.js").write_text(f"globalThis.stridekitSite = {text};\n", "utf-8")
    (out / MARK).touch()
    return out


def _number(notebook: Any, title: str) -> None:
    """Give a lesson the title of the README; its own stands below."""
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    own = re.match(r"# (.*)", first.source if first else "")
    if first is None or own is None:
        notebook.cells.insert(0, nbformat.v4.new_markdown_cell(f"# {title}"))
    elif title[:2].isdigit():
        first.source = f"# {title}\n\n*{own[1]}*\n{first.source[own.end() :]}"


def _sections(tree: nodes.document, page: str) -> Iterator[list[str]]:
    """Yield page, anchor, heading and text of each section: what the search looks through."""
    for section in tree.findall(nodes.section):
        heading = section.next_node(nodes.title).astext()
        yield [page, section["ids"][-1], heading, " ".join(_words(section).split())]


def _words(node: Any) -> str:
    """Return the words of a section without those of the sections inside it; hints stay closed."""
    if isinstance(node, nodes.raw):
        closed = r"<(details|noscript|style|script)\b.*?</\1>|<[^>]*>"
        return html.unescape(re.sub(closed, " ", node.astext(), flags=re.DOTALL))
    if not node.children:
        return node.astext()
    space, outside = "" if isinstance(node, nodes.TextElement) else " ", nodes.section | nodes.title
    return space.join(_words(child) for child in node.children if not isinstance(child, outside))


def setup(app: Sphinx) -> dict[str, bool]:
    """Give Sphinx formulas as MathML, and docstrings that are plain text."""

    def show(writer: Any, node: Any) -> None:
        display = "block" if isinstance(node, nodes.math_block) else "inline"
        writer.body.append(mathml(node.astext(), display))
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (show, None), (show, None))
    app.connect("autodoc-process-docstring", reference.escape)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Exits with one line if nothing was written."""
    parser = argparse.ArgumentParser(prog="python -m stridekit.export", description=__doc__)
    parser.add_argument("source", type=Path, help="a notebook, or a folder of notebooks")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        print(export(options.source, options.output))
    except (NotebookError, OSError) as error:
        sys.exit(str(error))
