"""One JavaScript module and two style sheets per widget type, assembled from small files.

anywidget loads a module from a blob, where relative imports fail. So a file and everything it imports are
joined here. Each file but the last becomes a function that is called at once and returns its exports; an
import becomes a destructuring of that result, so that two files may use one name for different things.
Under `node --test` the files still import each other directly. A file is named by its path in this folder.

anywidget wants the text of the module in each widget, and a saved notebook would repeat it for each. So a
widget has a few lines, page/load.js, which fetch the module; the texts travel, packed, in one model for all
widgets of a type.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
import zlib
from functools import cache
from hashlib import sha256
from pkgutil import get_data

from stridekit.widgets.palette import css_classes, css_variables

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.\.?/[\w./]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function|class) (?!render\b)(\w+))", re.M)


@cache
def pack(module: str, *styles: str) -> str:
    """Pack the texts of a widget type, for page/code.js to unpack."""
    text = json.dumps([module, *styles])
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(packed: str) -> list[str]:
    """Return the module and the style sheets in a pack."""
    texts: list[str] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return texts


def pack_name(packed: str) -> str:
    """Return the name of a page's variable for what a pack becomes: other texts, another name."""
    return f"stridekit {sha256(packed.encode()).hexdigest()[:16]}"


def module(name: str) -> str:
    """Return a file preceded by everything it imports: a module that imports nothing.

    Named exports of the file become names of the module; its default export stays, and so does `render`.
    """
    *imported, last = files(name)
    return "\n".join([*map(scope, imported), _body(last)])


def styles(folder: str) -> tuple[str, str]:
    """Return the style sheet of all widgets, which a page needs once, and that of a widget type."""
    variables = css_variables(".stridekit")
    classes = css_classes(":is(#sk-host, .stridekit)")
    base = "\n".join([variables, classes, _source("page/base.css")])
    return base, _source(f"{folder}/widget.css")


@cache
def files(name: str) -> tuple[str, ...]:
    """Return the files that a file imports, each after its own imports, then the file itself."""
    ordered: dict[str, None] = {}
    for _, path in _IMPORT.findall(_source(name)):
        ordered |= dict.fromkeys(files(_imported(name, path)))
    return (*ordered, name)


def scope(name: str) -> str:
    """Return a file as a constant that holds its exports."""
    names = ", ".join(exports(name))
    return f"const {constant(name)} = (() => {{\n{_body(name)}\nreturn {{ {names} }};\n}})();"


def script(name: str) -> str:
    """Return a file as a script that sets a global variable to its exports, and can run again.

    Comments stay, so that each line of the file keeps its number.
    """
    names = ", ".join(exports(name))
    body = _without_modules(name, _source(name))
    return f"globalThis.{constant(name)} = (() => {{ {body}\nreturn {{ {names} }};\n}})();"


@cache
def exports(name: str) -> tuple[str, ...]:
    """Return the names that a file exports, without its default."""
    return tuple(_EXPORT.findall(_source(name)))


def _body(name: str) -> str:
    """Return a file without comments, whose imports read from constants; a widget's exports `render`."""
    return _without_modules(name, _COMMENT.sub("", _source(name)))


def _without_modules(name: str, source: str) -> str:
    """Return the source of a file without `export`, whose imports read from constants."""

    def destructured(statement: re.Match[str]) -> str:
        names = statement[1].replace(" as ", ": ")
        return f"const {{{names}}} = {constant(_imported(name, statement[2]))};\n"

    source = _IMPORT.sub(destructured, source)
    return _EXPORT.sub("", source)


def _source(name: str) -> str:
    """Return the text of a file; the package may lie in a zip."""
    return (get_data("stridekit.widgets", name) or b"").decode()


def _imported(name: str, path: str) -> str:
    """Return the name of the file that a file imports by a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def constant(name: str) -> str:
    """Return the name of the constant that holds a file's exports."""
    return "the_" + re.sub(r"\W", "_", name)
