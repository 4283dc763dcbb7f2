"""One JavaScript module and one style sheet for a widget, put together from small files.

anywidget loads a module from a blob, where relative imports fail. So the files are joined here, the
imports between them dropped, and the exports of all but the last. Each file still imports directly
under `node --test`. A file may therefore import only files that are joined before it, by their own names.
"""

from __future__ import annotations

import re
from pathlib import Path

from stridekit.palette import css_variables

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./[\w.]+";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def module(*names: str) -> str:
    """The files as one ES module; the last one has the default export."""
    sources = [_IMPORT.sub("", (_HERE / name).read_text(encoding="utf-8")) for name in names]
    return "\n".join(_EXPORT.sub("", source) for source in sources)


def style(*names: str) -> str:
    """The palette's variables and the style sheets."""
    sheets = [(_HERE / name).read_text(encoding="utf-8") for name in names]
    return "\n".join([css_variables(".stridekit"), *sheets])
