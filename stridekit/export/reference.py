"""The reference: pages with every public name, which Sphinx's autodoc writes from the docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import stridekit

# The pages: title, lead, and the first of their names in stridekit.__all__.
PAGES = {
    "layouts": ("Layouts", "Where each element of a tensor lives, as a value.", "Layout"),
    "pictures": ("Pictures", "Strides by hand, and questions to commit to.", "StrideExplorer"),
    "raw_memory": ("Raw memory", "What really lies at those addresses.", "read_element"),
    "sharing": ("Sharing", "Which bytes a tensor reaches, and who shares them.", "memset"),
    "operations": ("Operations", "What an operation does with strides.", "explain_view"),
    "cost": ("Cost", "Bytes and cache lines, predicted and measured.", "TraversalExplorer"),
    "models": ("Models", "Where a model copies, and why.", "AttentionExplorer"),
}
# Further pages: title, lead, and modules, each with some of its names or with all.
MORE = {
    "time": ("Time", "What measures, and what was measured.", "timing"),
    "results": (
        "Results",
        "What these functions return.",
        "tensors.explain:Explanation tensors.relation:Relation tensors.storages:Storages "
        "cost.traffic:Traffic audit:Audit",
    ),
    "lessons": (
        "For single lessons",
        "What one lesson imports from its module.",
        "elementwise:broadcast_tensors cost.refetch:CacheSets cost.warp:warp_sectors,WarpSectors "
        "cost.bandwidth:bandwidth,Bandwidth lessons.attention lessons.claims:claim,Claim,show_runs "
        "lessons.gpu:gpu_results,GpuResults lessons.selfcheck:self_check,SelfCheck",
    ),
}
LEFT_OUT = ", ".join(cls.__name__ for cls in import_module("anywidget").AnyWidget.__mro__)
CODE_OR_MARKUP = re.compile(r"(?P<code>`[^`]*`)|(?P<markup>[*|\\]|_(?!\w))")
CLASS = f"""   :members:
   :inherited-members: {LEFT_OUT}, BaseException, tuple, str, int, dict, Set, Collection, Protocol
   :special-members: __getitem__
   :exclude-members: get_state, set_state
"""


def public_names() -> Iterator[tuple[str, str, str]]:
    """Yield the page, the module and the name of everything that is public, in the reference's order."""
    slugs = {first_name: slug for slug, (_, _, first_name) in PAGES.items()}
    slug = ""
    for name in stridekit.__all__:
        slug = slugs.get(name, slug)
        yield f"reference-{slug}", "stridekit", name
    for slug, (_, _, modules) in MORE.items():
        for entry in modules.split():
            module, _, names = entry.partition(":")
            for name in names.split(",") if names else _all_names(f"stridekit.{module}"):
                if name not in stridekit.__all__:
                    yield f"reference-{slug}", f"stridekit.{module}", name


def _all_names(module: str) -> list[str]:
    return list(vars(import_module(module)).get("__all__", ()))


def pages() -> dict[str, tuple[str, str]]:
    """Return for each page of the reference its lead and its source."""
    leads: dict[str, str] = {}
    sources: dict[str, str] = {}
    for page, module, name in public_names():
        if page not in sources:
            title, leads[page], _ = (PAGES | MORE)[page.removeprefix("reference-")]
            sources[page] = f"{title}\n{'=' * len(title)}\n\n{leads[page]}\n\n"
        sources[page] += f"{name}\n{'-' * len(name)}\n\n{_directive(module, name)}\n"
    return {page: (leads[page], sources[page]) for page in sources}


def _directive(module: str, name: str) -> str:
    """Return the lines that let autodoc describe a class or a function."""
    value = getattr(import_module(module), name)
    if not isinstance(value, type):
        return f".. autofunction:: {module}.{name}\n"
    signature = ""
    if hasattr(value, "traits"):  # autodoc would show the parameters of traitlets
        signature = re.sub(r": '[^']*'| -> 'None'", "", str(inspect.signature(value)))
    return f".. autoclass:: {module}.{name}{signature}\n{CLASS}"


def escape(app: Any, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring, in place: it is plain text, in which only `code` and examples have a meaning."""
    in_example = False
    for number, line in enumerate(lines):
        if not line.strip():
            in_example = False
        elif line.lstrip().startswith(">>>"):
            in_example = True
        if not in_example:
            lines[number] = CODE_OR_MARKUP.sub(_escaped, line)


def _escaped(match: re.Match[str]) -> str:
    return match["code"] or "\\" + match["markup"]
