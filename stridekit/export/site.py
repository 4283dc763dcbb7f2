"""Write the lessons as a site with live widgets that needs neither a kernel nor a network, by Sphinx.

    stridekit export notebooks -o dist/site

The notebooks are executed, some seconds each. If one fails, nothing is written. A folder that holds other
files than those of an earlier export is left alone.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from string import Template
from typing import Any, NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace

from stridekit.exercises import given, marks, new_numbers
from stridekit.exercises import lesson as reading
from stridekit.export import cheat_sheet, families, gallery, pictures, reference
from stridekit.export.lesson import Lesson, lesson, mathml
from stridekit.lessons import notebook as form
from stridekit.lessons.notebook import NotebookError
from stridekit.widgets import Diagnose, Drill, Predict, StrideExplorer
from stridekit.widgets.offline import Offline, live, offline

HERE = Path(__file__).parent
MARK = ".stridekit-site"  # a file whose folder an export may replace
# A row's link may lead to a notebook, or to its page on a site.
ROW = re.compile(
    r"^\| \[.+?\]\((?:\S*/)?([^/\n]+)\.(?:ipynb|html)\) \| (.+?) \| (.+?) \|$", re.MULTILINE
)
PAGES = {
    "index": "Strides, views and contiguity in PyTorch: lessons and pictures that you drag and press.",
    "lessons": "The lessons: for each its question, and what you can do at its end.",
    "gallery": "Every widget of stridekit, alive, with the line of Python that makes it.",
    "cheat_sheet": "On one page: which operations are views, which copy, and the strides after them.",
    "diagnose": "Paste an error or a warning about shapes and strides: what it means, with its numbers.",
    "drill": "Endless questions about strides, views, formats and cache lines, each with a picture.",
    "review": "Cards of the lessons that you got wrong or saw long ago, some with new numbers.",
    "reference": "Every public name of stridekit, with its contract and an example.",
    "search": "Search the lessons, the messages and the reference of stridekit.",
}
RESERVED = {*PAGES, *reference.pages()}
NEW_NUMBERS = 3  # how often a page asks a card anew that can have new numbers
# Pages without a sidebar.
WIDE = ("index", "search", "diagnose", "review", "drill", "gallery", "cheat_sheet")
GITHUB = re.compile(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$")
MOST_DESCRIBED = 200  # characters of a description, which a search engine would cut
CONF = {
    "project": "stridekit",
    "html_title": "stridekit",
    "html_favicon": str(HERE / "static" / "favicon.svg"),
    "smartquotes": False,  # they would change code in sentences, such as a[..., ::-1]
    "extensions": ["myst_nb", "sphinx.ext.autodoc", "stridekit.export.site"],
    "source_suffix": {".ipynb": "myst-nb", ".md": "myst-nb", ".rst": "restructuredtext"},
    "default_role": "py:obj",
    "autodoc_member_order": "bysource",
    "autodoc_inherit_docstrings": False,
    "autodoc_preserve_defaults": True,  # as they are written
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},  # these scripts would come from a network
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
        "logo": {
            "text": "stridekit",
            "alt_text": "",
            "image_light": "_static/mark.svg",
            "image_dark": "_static/mark-dark.svg",
        },
        "search_bar_text": "A name, a topic, a message",
        "pygments_light_style": "a11y-high-contrast-light",
    },
    "html_static_path": [str(HERE / "static")],
    "templates_path": [str(HERE / "templates")],
    "html_css_files": ["site.css"],
    "html_js_files": ["site-data.js", "site.js"],
    "html_use_index": False,
    "html_copy_source": False,
    "html_show_search_summary": False,  # a page from a disk cannot fetch it
}


def anchor(title: str) -> str:
    """Return JupyterLab's anchor of a heading, so that a link to it leads there on a page, too."""
    return title.strip().replace(" ", "-")


def export(source: Path, folder: Path) -> Path:
    """Write the site of a notebook or a folder of notebooks; return its front page."""
    paths = sorted(source.glob("*.ipynb")) if source.is_dir() else [source]
    _check_paths(source, paths, folder)
    lessons = {}
    for path in paths:
        print(f"{path}: executing", flush=True)
        try:
            lessons[path.stem] = lesson(path)
        except NotebookError as error:
            raise NotebookError(f"{path}, {error}") from None
    with tempfile.TemporaryDirectory(prefix="stridekit-") as name:
        built = _build(Path(name), lessons, paths[0].parent, _base_address(paths[0].parent))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(built, folder, dirs_exist_ok=True)
    return folder / "index.html"


def _base_address(folder: Path) -> str:
    """Return the address on GitHub's pages that belongs to the repository, or nothing if there is none."""
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    if not repository:
        command = ["git", "-C", str(folder), "remote", "get-url", "origin"]
        try:
            run = subprocess.run(command, capture_output=True, text=True)
        except OSError:  # there is no git
            return ""
        match = GITHUB.search(run.stdout.strip())
        repository = match[1] if match else ""
    owner, _, name = repository.partition("/")
    return f"https://{owner.lower()}.github.io/{name}/" if name else ""


def _check_paths(source: Path, paths: Sequence[Path], folder: Path) -> None:
    """Raise NotebookError for notebooks that cannot be pages, and for a folder that holds other files."""
    if not paths or not all(path.is_file() and path.suffix == ".ipynb" for path in paths):
        raise NotebookError(f"{source} is not a notebook (.ipynb) or a folder of notebooks")
    for path in paths:
        if path.stem in RESERVED or not path.stem.isprintable():
            raise NotebookError(f"{path.name!a} cannot be the name of a page: rename it")
    is_free = not folder.exists() or (folder / MARK).is_file()
    if not is_free and (folder.is_file() or any(folder.iterdir())):
        raise NotebookError(f"{folder} holds other files than an export: name another folder")


class Row(NamedTuple):
    """A lesson: the title of its notebook, and in the README its question and the skill at its end."""

    title: str
    question: str = ""
    skill: str = ""


def _rows(lessons: Mapping[str, Lesson], readme: Path) -> dict[str, Row]:
    """Return the row of each lesson; a notebook without a title has the name of its file."""
    rows = {name: Row(form.title_of(page.notebook) or name) for name, page in lessons.items()}
    if readme.is_file():
        for name, question, skill in ROW.findall(readme.read_text(encoding="utf-8")):
            if name in rows:
                rows[name] = Row(rows[name].title, question, skill)
    return rows


class Asked(NamedTuple):
    """A card on the page of the review: its lesson, its section, its name there, and its widget."""

    page: str
    lesson: str
    section: str
    name: str
    widget: Offline

    def node(self, number: int) -> str:
        """Return the node in which site.js puts the widget of this number to work if it is due."""
        fields = {
            "card": str(number),
            "page": f"{self.page}.html",
            "lesson": self.lesson,
            "section": self.section,
            "anchor": anchor(self.section),
            "name": self.name,
        }
        data = " ".join(f'data-{name}="{html.escape(text)}"' for name, text in fields.items())
        return f"<div {data}></div>"


def _asked(lessons: Mapping[str, Lesson]) -> Iterator[Asked]:
    """Yield the cards of all lessons, and behind a card the same with new numbers."""
    for name, page in lessons.items():
        title = page.offer.title
        for card, widget in page.cards:
            question = card.problem["question"]
            if question.startswith(given.LESSON_ALONE):
                continue
            kept_name = " | ".join([card.problem["kind"], question, *card.problem["choices"]])
            problem = given.in_review(card.problem)
            if problem != card.problem:
                (widget,) = offline([Predict.again(question, problem)])
            yield Asked(name, title, card.section, kept_name, widget)
            for seed in range(NEW_NUMBERS):
                anew = new_numbers.problem(question, Random(seed))
                if anew:
                    (again,) = offline([Predict.again(question, anew)])
                    yield Asked(name, title, card.section, kept_name, again)


def _sources(rows: Mapping[str, Row], asked: Sequence[Asked]) -> dict[str, str]:
    """Return the source of each page except the lessons, by its file."""
    table = [
        f"| [{row.title}](<{name}.ipynb>) | {row.question} | {row.skill} |"
        for name, row in rows.items()
    ]
    reference_pages = reference.pages()
    start = next(iter(rows))
    fields = {
        "start": f"{quote(start)}.html",
        "tiles": _tiles(rows),
        "gallery": gallery.source(),
        **cheat_sheet.fields(),
        "table": "\n".join(table),
        "lessons": "\n".join(f"{row.title} <{name}>" for name, row in rows.items()),
        "families": families.listed({name: row.title for name, row in rows.items()}),
        "about": "\n".join(f"- {{doc}}`{n}`: {lead}" for n, (lead, _) in reference_pages.items()),
        "names": "\n".join(reference_pages),
        "cards": "\n".join(card.node(number) for number, card in enumerate(asked)),
    }
    sources = {}
    for path in (HERE / "pages").iterdir():
        template = Template(path.read_text(encoding="utf-8"))
        sources[path.name] = template.substitute(fields)
    for name, (_, text) in reference_pages.items():
        sources[f"{name}.rst"] = text
    for name, family in families.pages().items():
        sources[f"{name}.md"] = families.source(family, _place(family, rows))
    return sources


def _tiles(rows: Mapping[str, Row]) -> str:
    """Return a tile for each lesson: its picture, its title, its question and the skill at its end."""
    tiles = []
    for name, row in rows.items():
        tiles.append(
            f'<div class="sk-tile">{pictures.picture(name)}'
            f'<h3><a href="{quote(name)}.html">{html.escape(row.title)}</a></h3>'
            f"<p>{_in_html(row.question)}</p><p>{_in_html(row.skill)}</p></div>"
        )
    return f'<style>{pictures.style()}</style>\n<div class="sk-tiles sk-lessons">{"".join(tiles)}</div>'


def _in_html(words: str) -> str:
    """Return words of the README in HTML, where code is between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(words))


def _place(family: Mapping[str, Any], rows: Mapping[str, Row]) -> str:
    """Return a link to the section of a lesson that explains a family, if the site has the lesson."""
    name = family["lesson"]
    section = family["section"]
    if name not in rows:
        return ""
    return f"[{rows[name].title}: {section}](<{name}.ipynb#{anchor(section)}>)"


def _build(folder: Path, lessons: dict[str, Lesson], notebooks: Path, base: str) -> Path:
    """Build the site in a folder; return the folder of its pages."""
    source = folder / "source"
    site = folder / "site"
    not_copied = shutil.ignore_patterns("*.ipynb", "*.md", "*.rst", "my_answers", ".*")
    shutil.copytree(notebooks, source, ignore=not_copied)
    rows = _rows(lessons, notebooks.parent / "README.md")
    asked = [*_asked(lessons)]
    for name, text in _sources(rows, asked).items():
        (source / name).write_text(text, encoding="utf-8")
    for name, page in lessons.items():
        if form.title_of(page.notebook) is None:
            page.notebook.cells.insert(0, nbformat.v4.new_markdown_cell(f"# {name}"))
        nbformat.write(page.notebook, source / f"{name}.ipynb")
    widgets = {name: page.widgets for name, page in lessons.items()}
    widgets["index"] = offline([StrideExplorer(), Diagnose()])
    widgets["diagnose"] = offline([Diagnose()])
    widgets["drill"] = offline([Drill(seed=0)])
    widgets["search"] = offline([Diagnose()])
    widgets["gallery"] = offline([gallery.made(name) for name in gallery.names()])
    widgets["review"] = [card.widget for card in asked]
    described = _descriptions(rows)
    data = {
        "parts": {f"{name}.html": page.parts for name, page in lessons.items()},
        "essentials": {f"{name}.html": page.essential_parts for name, page in lessons.items()},
        "minutes": _minutes(lessons),
        "places": {
            family["title"]: (family["lesson"], family["section"])
            for family in Diagnose._script.FAMILIES
        },
        "sections": _run_sphinx(source, site, folder / "trees", widgets, Head(base, described)),
    }
    text = json.dumps(data, ensure_ascii=False)
    script = site / "_static" / "site-data.js"
    script.write_text(f"globalThis.stridekitSite = {text};\n", encoding="utf-8")
    (site / MARK).touch()
    if base:
        _write_sitemap(site, base)
    return site


def _descriptions(rows: Mapping[str, Row]) -> dict[str, str]:
    """Return what each page is about, by its name."""
    described = dict(PAGES)
    for name, row in rows.items():
        words = " ".join(filter(None, [row.question, row.skill and f"You can {row.skill}."]))
        described[name] = words.replace("`", "") or f"{row.title}: a lesson with live widgets."
    for name, (lead, _) in reference.pages().items():
        described[name] = lead
    for name, family in families.pages().items():
        described[name] = families.description(family)
    return described


class Head(NamedTuple):
    """What the heads of pages tell search engines: the address of the site, and a line about each page."""

    base: str
    described: Mapping[str, str]

    def tags(self, page: str, title: str) -> str:
        """Return the description of a page, and its properties for links that people share."""
        words = self.described.get(page, "")
        if len(words) > MOST_DESCRIBED:
            words = words[:MOST_DESCRIBED].rpartition(" ")[0] + " …"
        properties = {
            "og:site_name": "stridekit",
            "og:type": "website",
            "og:title": title,
            "og:description": words,
        }
        if self.base:
            properties["og:url"] = f"{self.base}{page}.html"
            properties["og:image"] = f"{self.base}_static/shared.png"
            properties["og:image:alt"] = (
                "A tensor over the slots of its storage, with arcs for its strides"
            )
        lines = [f'<meta name="description" content="{html.escape(words)}">']
        for name, text in properties.items():
            lines.append(f'<meta property="{name}" content="{html.escape(text)}">')
        return "\n".join(lines)


def _write_sitemap(site: Path, base: str) -> None:
    """Write sitemap.xml, with the address of each page."""
    root = ElementTree.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    for path in sorted(site.glob("*.html")):
        place = ElementTree.SubElement(ElementTree.SubElement(root, "url"), "loc")
        place.text = base + quote(path.name)
    ElementTree.ElementTree(root).write(site / "sitemap.xml", "utf-8", xml_declaration=True)


def _minutes(lessons: Mapping[str, Lesson]) -> dict[str, int]:
    """Return the minutes of each path."""
    numbered = [page.offer for name, page in lessons.items() if name != marks.START]
    return {
        "essentials": reading.minutes(offer.essentials for offer in numbered),
        "everything": reading.minutes(numbered),
    }


def _run_sphinx(
    source: Path, site: Path, trees: Path, widgets: Mapping[str, list[Offline]], head: Head
) -> list[list[str]]:
    """Write the pages, with the live widgets of each, and return their sections for the search."""
    sections: list[list[str]] = []

    def finish(_: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
        if page in widgets:
            context["body"] = context.get("body", "") + live(widgets[page])
        title = html.unescape(re.sub("<[^>]*>", "", context.get("title", "")))
        context["metatags"] = context.get("metatags", "") + head.tags(page, title)
        if tree:
            sections.extend(_sections(tree, page))

    try:
        with docutils_namespace():
            sidebars: dict[str, list[str]] = {"**": ["sidebar-nav-bs", "page-toc"]}
            for page in (*WIDE, *families.pages()):
                sidebars[page] = []
            conf = CONF | {"html_baseurl": head.base, "html_sidebars": sidebars}
            app = Sphinx(source, None, site, trees, "html", conf, None)
            app.connect("html-page-context", finish)
            app.build()
    except (SphinxError, RecursionError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise NotebookError(f"Sphinx cannot build the pages: {reason}") from None
    return sections


def _sections(tree: nodes.document, page: str) -> Iterator[list[str]]:
    """Yield page, anchor, heading and text of each section, for the search."""
    for section in tree.findall(nodes.section):
        heading = section.next_node(nodes.title).astext()
        yield [page, section["ids"][-1], heading, " ".join(_words(section).split())]


def _words(node: Any) -> str:
    """Return the words of a section without those of the sections inside it; hints stay closed."""
    if isinstance(node, nodes.raw):
        hidden = (
            r'<(details|noscript|style|script)\b.*?</\1>|<p class="sk-path-mark".*?</p>|<[^>]*>'
        )
        return html.unescape(re.sub(hidden, " ", node.astext(), flags=re.DOTALL))
    if not node.children:
        return node.astext()
    inside = [
        child for child in node.children if not isinstance(child, nodes.section | nodes.title)
    ]
    space = "" if isinstance(node, nodes.TextElement) else " "
    return space.join(map(_words, inside))


def setup(app: Sphinx) -> dict[str, bool]:
    """Give Sphinx formulas as MathML, and docstrings that are plain text."""

    def write_formula(writer: Any, node: Any) -> None:
        display = "block" if isinstance(node, nodes.math_block) else "inline"
        writer.body.append(mathml(node.astext(), display))
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.connect("autodoc-process-docstring", reference.escape)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Exits with one line if nothing was written."""
    parser = argparse.ArgumentParser(prog="stridekit export", description=__doc__)
    parser.add_argument("source", type=Path, help="a notebook, or a folder of notebooks")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        print(export(options.source, options.output))
    except (NotebookError, OSError) as error:
        sys.exit(str(error))
