"""The reference: pages with every public name, which Sphinx's autodoc writes from the docstrings."""

from __future__ import annotations

import re
from typing import Any

import stridekit
from stridekit import timing

# The pages by their first name: file, title and lead. Names that are public only in stridekit.timing follow
# those that are public in stridekit too. The order is that in which a learner meets the names.
PAGES = {
    "Layout": ("layouts", "Layouts", "Where each element of a tensor lives, as a value."),
    "read_storage": ("raw_memory", "Raw memory", "What really lies at those addresses."),
    "StrideExplorer": ("pictures", "Pictures", "Strides by hand, and questions to commit to."),
    "memset": ("sharing", "Sharing", "Which bytes a tensor reaches, and who shares them."),
    "ReshapeStepper": ("operations", "Operations", "What an operation does with strides."),
    "TraversalExplorer": ("cost", "Cost", "Bytes, cache lines and sectors, predicted."),
    "measure": ("time", "Time", "What it takes, measured as ratios that can be trusted."),
    "self_check": ("this_machine", "This machine", "Whether it can run the lessons."),
}
# Members that Python or a library defines are left out of a class.
FOREIGN = "AnyWidget, Exception, object, tuple, str, int, dict, Set, Collection, Generic, Protocol"
CLASS = f"""   :members:
   :inherited-members: {FOREIGN}
   :special-members: __getitem__
   :exclude-members: get_state
"""


def public_names() -> list[str]:
    """Return the names of stridekit.__all__ and stridekit.timing.__all__, each once."""
    names = list(stridekit.__all__)
    last = max(names.index(name) for name in timing.__all__ if name in names)
    return [*names[: last + 1], *(n for n in timing.__all__ if n not in names), *names[last + 1 :]]


def pages() -> dict[str, tuple[str, str]]:
    """Return for each page of the reference its lead and its source.

    >>> list(pages())[:2]
    ['reference-layouts', 'reference-raw_memory']
    """
    written: dict[str, tuple[str, str]] = {}
    page = ""
    for name in public_names():
        if name in PAGES:
            slug, title, about = PAGES[name]
            page = f"reference-{slug}"
            written[page] = about, f"{title}\n{'=' * len(title)}\n\n{about}\n\n"
        module = stridekit if name in stridekit.__all__ else timing
        is_class = isinstance(getattr(module, name), type)
        kind, options = ("autoclass", CLASS) if is_class else ("autofunction", "")
        text = f"{name}\n{'-' * len(name)}\n\n.. {kind}:: {module.__name__}.{name}\n{options}\n"
        written[page] = written[page][0], written[page][1] + text
    return written


def escape(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring, which is plain text: only `code` and examples mean something in it."""
    in_example = False
    for k, line in enumerate(lines):
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if not in_example:
            parts = re.split(r"(`[^`]*`)", line)
            parts[::2] = [re.sub(r"([*|\\]|_(?!\w))", r"\\\1", part) for part in parts[::2]]
            lines[k] = "".join(parts)
