"""One JavaScript module and one style sheet for a widget, put together from small files.

anywidget loads a module from a blob, where relative imports fail. So the files are joined here: each but
the last becomes a function that is called at once and returns the file's exports, so that two files may
use one name for different things, and an import takes what it names from there. Each file still imports
directly under `node --test`. A file may import only files that are joined before it.
"""

from __future__ import annotations

import re
from pathlib import Path

from stridekit.palette import css_variables

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)(?=(?:async )?(?:const|function|class) (\w+))", re.M)


def module(*names: str) -> str:
    """The files as one ES module; the last one has the default export."""
    *parts, last = names
    return "\n".join([*map(_scope, parts), _body(last)])


def style(*names: str) -> str:
    """The palette's variables and the style sheets."""
    sheets = [(_HERE / name).read_text(encoding="utf-8") for name in names]
    return "\n".join([css_variables(".stridekit"), *sheets])


def _scope(name: str) -> str:
    """A file as a constant that holds its exports."""
    exports = ", ".join(_EXPORT.findall(_source(name)))
    return f"const {_constant(name)} = (() => {{\n{_body(name)}\nreturn {{ {exports} }};\n}})();"


def _body(name: str) -> str:
    """A file that imports from constants, and exports nothing but a default."""

    def take(found: re.Match[str]) -> str:
        return f"const {{{found[1].replace(' as ', ': ')}}} = {_constant(found[2])};\n"

    return _EXPORT.sub("", _IMPORT.sub(take, _source(name)))


def _source(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _constant(name: str) -> str:
    return "the_" + re.sub(r"\W", "_", name)
