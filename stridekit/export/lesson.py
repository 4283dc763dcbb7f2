"""One notebook as HTML: executed, with live widgets and MathML, and nothing loaded from a network.

nbconvert makes the HTML of text, code and outputs; stridekit/widgets/offline.py makes the widgets live.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import nbformat
from jinja2 import TemplateNotFound, pass_context
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from stridekit import _kept
from stridekit.export import cells
from stridekit.export.fetched import loaded_from_elsewhere
from stridekit.notebook import WIDGET_VIEW, NotebookError, drop_frames, kernel_spec, run
from stridekit.plots import IS_FOR_PAGES, NARROW
from stridekit.timing.records import ALONE
from stridekit.widgets.offline import Offline, live

CELL_TIMEOUT = 300  # seconds
NEEDS_KERNEL = (WIDGET_VIEW, "application/javascript")
# nbconvert's cells, with what export/cells.py puts around them.
TEMPLATE = """{% extends "lab/base.html.j2" %}
{% block any_cell -%}
{{ cell.metadata.stridekit_before }}{{ super() }}{{ cell.metadata.stridekit_after }}
{%- endblock %}"""
WITHOUT_KERNEL = "This needs a running kernel: it works where the lesson runs."


class Lesson(NamedTuple):
    """A notebook as a page: title, introduction and body as HTML, its styles, and what there is to do."""

    title: str
    about: str
    body: str
    styles: str
    parts: int = 0  # questions of cards and goals of explorers, as progress.js keeps them


class ThisPython(AsyncKernelManager):
    """Starts kernels with this Python and its environment, whose pictures suit phones, too."""

    @property
    def kernel_spec(self) -> KernelSpec:
        """The specification, without a file on disk."""
        return KernelSpec(
            **kernel_spec(), env={IS_FOR_PAGES: "1", ALONE: "1", _kept.VARIABLE: "no"}
        )


def lesson(path: Path) -> Lesson:
    """Execute a notebook in a new kernel and convert it to a page. Raises NotebookError."""
    exporter = _Exporter()
    notebook = _read(path)
    done = run(notebook, path.parent, CELL_TIMEOUT, kernel_manager_class=ThisPython)
    widgets = _Widgets(done.widget_state, done.widget_buffers)
    cells.settle(notebook)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            _settle(output, widgets)
    notebook.metadata.pop("widgets", None)
    resources = {"metadata": {"name": path.stem, "path": str(path.parent)}}
    body, resources = exporter.from_notebook_node(notebook, resources)
    body = _link_pages(body)
    if address := loaded_from_elsewhere(body):
        raise NotebookError(
            f"it loads {address} from the network: put the file beside the notebook"
        )
    title, about = (_link_pages(_markdown(text)) for text in _opening(notebook))
    title = title.strip().removeprefix("<p>").removesuffix("</p>") or html.escape(path.stem)
    parts = {name for widget in widgets.shown for name in _parts(widget.state)}
    look = _styles(exporter, resources)
    return Lesson(title, about, body + live(widgets.shown), look, len(parts))


def styles() -> str:
    """The styles for other pages that show code as lessons do."""
    exporter = _Exporter()
    _, resources = exporter.from_notebook_node(nbformat.v4.new_notebook())
    return _styles(exporter, resources)


def _read(path: Path) -> Any:
    try:
        return nbformat.read(path, as_version=4)
    except (
        Exception
    ) as error:  # nbformat raises many kinds of errors for files that are not notebooks
        reason = str(error).partition("\n")[0]
        raise NotebookError(f"it is not a notebook: {reason}") from None


# Outputs --------------------------------------------------------------------------------------------


class _Widgets:
    """The widgets of a run; those that are shown get numbers."""

    def __init__(self, states: dict[str, Any], buffers: dict[str, Any]) -> None:
        self.live = {
            key: widget
            for key, state in states.items()
            if state.get("_model_module") == "anywidget"
            and "_esm" in state
            # A page has no bytes beside the state, and no widgets inside widgets.
            and not buffers.get(key)
            and "IPY_MODEL_" not in str((widget := Offline.of(key, states)).state)
        }
        self.numbers: dict[str, int] = {}

    def number(self, key: str) -> int | None:
        """The number of a widget on the page; None if it cannot live there."""
        if key not in self.live:
            return None
        return self.numbers.setdefault(key, len(self.numbers))

    @property
    def shown(self) -> list[Offline]:
        """The widgets in the order of their numbers."""
        return [self.live[key] for key in self.numbers]


def _parts(state: dict[str, Any]) -> list[str]:
    """The question of a card, or the goals of an explorer."""
    goals = [goal["text"] for goal in state.get("_goals", [])]
    return [state["_problem"]["question"]] if "_problem" in state else goals


def _settle(output: Any, widgets: _Widgets) -> None:
    """Make one output fit for a page without a kernel, in place."""
    drop_frames(output)
    data = output.get("data", {})
    if NARROW in data:
        data["text/html"] = _two_widths(data)
    views = [data.pop(kind) for kind in NEEDS_KERNEL if kind in data]
    if not views or "text/html" in data:  # which an exercise's panel has beside it
        return
    view = views[0] if isinstance(views[0], dict) else {}
    number, still = widgets.number(view.get("model_id", "")), _still(data)
    if number is not None:
        data["text/html"] = f'<div data-widget="{number}"><noscript>{still}</noscript></div>'
    else:
        data["text/html"] = f'<p class="sk-needs-kernel">{WITHOUT_KERNEL}</p>{still}'


def _two_widths(data: Any) -> str:
    """The picture of a measurement, and on a phone the narrow one, as one element."""
    wide, narrow = (data.pop(kind).replace("\n", "") for kind in ("image/png", NARROW))
    text = html.escape(data["text/plain"])
    return (
        f'<picture><source media="(max-width: 600px)" srcset="data:image/png;base64,{narrow}">'
        f'<img class="jp-needs-light-background" src="data:image/png;base64,{wide}" alt="{text}"></picture>'
    )


def _still(data: Any) -> str:
    """The picture of an output, or else its text."""
    text = html.escape(data.get("text/plain", ""))
    if "image/png" in data:
        picture = data["image/png"].replace("\n", "")
        return f'<img src="data:image/png;base64,{picture}" alt="{text}">'
    return f"<pre>{text}</pre>"


# HTML -----------------------------------------------------------------------------------------------


class _Renderer(IPythonRenderer):
    """Markdown with formulas as MathML, which browsers render without a script."""

    anchors: Counter[str] | None = None  # how often the page has each; None for a text without

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        return mathml(body, "block")

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        """A heading with JupyterLab's anchor, so that a link to it leads there on a page too."""
        if self.anchors is None:
            return super().heading(text, level, **attrs)
        anchor = html.unescape(re.sub(r"<[^>]*>", "", text)).strip().replace(" ", "-")
        if anchor.startswith("stridekit"):  # ids of ours
            anchor = f"the-{anchor}"
        self.anchors[anchor] += 1
        if (number := self.anchors[anchor]) > 1:
            anchor = f"{anchor}-{number}"
        linked = text if level == 1 or "<a " in text else f'<a href="#{quote(anchor)}">{text}</a>'
        return f'<h{level} id="{html.escape(anchor)}">{linked}</h{level}>\n'


class _Exporter(HTMLExporter):
    """The cells without nbconvert's page around them, which would load scripts from a network."""

    def __init__(self) -> None:
        try:
            super().__init__(
                template_name="lab",
                raw_template=TEMPLATE,
                exclude_input_prompt=True,
                exclude_output_prompt=True,
            )
            self.theme = _theme(self.environment)
            self.anchors: Counter[str] = Counter()
        except (ValueError, TemplateNotFound, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise NotebookError(
                f"nbconvert's templates are not where Jupyter looks for them ({reason[:200]}): "
                "pip install --force-reinstall nbconvert"
            ) from None

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """Render as nbconvert does, but with our renderer; images beside the notebook are embedded."""
        renderer = _Renderer(
            escape=False,
            exclude_anchor_links=True,
            embed_images=True,
            attachments=context["cell"].get("attachments", {}),
            path=context["resources"]["metadata"]["path"],
        )
        renderer.anchors = self.anchors
        return MarkdownWithMath(renderer=renderer).render(source)


def _markdown(text: str) -> str:
    return MarkdownWithMath(renderer=_Renderer(escape=False)).render(text)


def mathml(latex: str, display: str) -> str:
    r"""A formula as MathML.

    >>> mathml(r"i_0", "inline")
    '<math ... display="inline"><mrow><msub><mi>i</mi><mn>0</mn></msub></mrow></math>'
    """
    found = convert(latex.strip(), display=display)
    return found.replace("\\_", "_")  # \text{a\_b}


def _link_pages(body: str) -> str:
    """Turn links to neighbouring notebooks into links to their pages."""
    return re.sub(r'(<a href="[^":#]+)\.ipynb(#[^"]*)?"', r'\1.html\2"', body)


def _styles(exporter: _Exporter, resources: Any) -> str:
    return exporter.theme + "\n".join(resources["inlining"]["css"])


def _theme(environment: Any) -> str:
    """JupyterLab's colours, light or dark with the reader's system."""
    light, dark = (
        environment.loader.get_source(environment, f"static/theme-{name}.css")[0]
        for name in ("light", "dark")
    )
    both = f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    return re.sub(r"/\*.*?\*/", "", both, flags=re.DOTALL)


def _opening(notebook: Any) -> tuple[str, str]:
    """The heading of the first text, and what stands below it in that cell."""
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    heading, _, about = first.partition("\n")
    if not heading.startswith("# "):
        return "", ""
    return heading.removeprefix("# ").strip(), about.strip()
