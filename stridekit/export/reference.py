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
        "tensors.explain:Explanation tensors.relation:Relation cost.traffic:Traffic audit:Audit",
    ),
    "lessons": (
        "For single lessons",
        "What one lesson imports from its module.",
        "elementwise:broadcast_tensors cost.refetch:CacheSets cost.warp:warp_sectors,WarpSectors "
        "cost.bandwidth:bandwidth,Bandwidth lessons.attention lessons.claims:claim,Claim,show_runs "
        "lessons.gpu:gpu_results,GpuResults lessons.selfcheck:self_check,SelfCheck",
    ),
}
LEFT_OUT = ", ".join(each.__name__ for each in import_module("anywidget").AnyWidget.__mro__)
CLASS = f"""   :members:
   :inherited-members: {LEFT_OUT}, BaseException, tuple, str, int, dict, Set, Collection, Protocol
   :special-members: __getitem__
   :exclude-members: get_state, set_state
"""


def public_names() -> Iterator[tuple[str, str, str]]:
    """Yield the page, the module and the name of everything that is public, in the reference's order."""
    first, slug = {name: slug for slug, (*_, name) in PAGES.items()}, ""
    for name in stridekit.__all__:
        slug = first.get(name, slug)
        yield f"reference-{slug}", "stridekit", name
    for slug, (*_, modules) in MORE.items():
        for module, _, names in (part.partition(":") for part in modules.split()):
            every = vars(import_module(f"stridekit.{module}")).get("__all__", ())
            for name in names.split(",") if names else every:
                if name not in stridekit.__all__:
                    yield f"reference-{slug}", f"stridekit.{module}", name


def pages() -> dict[str, tuple[str, str]]:
    """Return for each page of the reference its lead and its source."""
    written: dict[str, tuple[str, str]] = {}
    for page, module, name in public_names():
        title, about, _ = (PAGES | MORE)[page.removeprefix("reference-")]
        value, taken = getattr(import_module(module), name), ""
        kind, options = ("autoclass", CLASS) if isinstance(value, type) else ("autofunction", "")
        if hasattr(value, "traits"):  # autodoc would show what traitlets takes
            taken = re.sub(r": '[^']*'| -> 'None'", "", str(inspect.signature(value)))
        entry = f"{name}\n{'-' * len(name)}\n\n.. {kind}:: {module}.{name}{taken}\n{options}\n"
        head = f"{title}\n{'=' * len(title)}\n\n{about}\n\n"
        written[page] = about, written.get(page, ("", head))[1] + entry
    return written


def escape(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring, which is plain text: only `code` and examples mean something in it."""
    in_example = False
    for k, line in enumerate(lines):
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if not in_example:
            lines[k] = re.sub(r"(`[^`]*`)|([*|\\]|_(?!\w))", lambda m: m[1] or f"\\{m[2]}", line)
