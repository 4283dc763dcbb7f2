"""One JavaScript module and two style sheets per kind of widget, assembled from small files.

anywidget loads a module from a blob, where relative imports fail. So a file and everything it imports are
joined here. Each file but the last becomes a function that is called at once and returns its exports; an
import becomes a destructuring of that result, so that two files may use one name for different things.
Under `node --test` the files still import each other directly. A file is named by its path in this folder.

anywidget wants the text of the module in each widget, and a saved notebook would have it as often. So a
widget has one line, which waits for the module; the texts travel, packed, in one model for all widgets of a
kind.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
import zlib
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path

from stridekit.widgets.palette import css_classes, css_variables

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.\.?/[\w./]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function|class) (?!render\b)(\w+))", re.M)


@cache
def pack(module: str, *styles: str) -> str:
    """The texts of a kind of widget, as page/code.js unpacks them."""
    text = json.dumps([module, *styles])
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(packed: str) -> list[str]:
    """The module and the style sheets in a pack."""
    texts: list[str] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return texts


def name_of(packed: str) -> str:
    """The name of a page's variable for what is in a pack: other texts, another name."""
    return f"stridekit {sha256(packed.encode()).hexdigest()[:16]}"


def waiting(name: str) -> str:
    """A module whose default export is the module of a pack, once it is there."""
    return f"export default () => (globalThis[{name!r}] ??= Promise.withResolvers()).promise;"


def module(name: str) -> str:
    """A file preceded by everything it imports: a module that imports nothing.

    Named exports of the file become names of the module; its default export stays, and so does `render`.
    """
    *parts, last = files(name)
    return "\n".join([*map(scope, parts), _body(last)])


def styles(folder: str) -> tuple[str, str]:
    """The style sheet of all widgets, which a page needs once, and that of a kind."""
    colours = [css_variables(".stridekit"), css_classes(":is(#sk-host, .stridekit)")]
    return "\n".join([*colours, _source("page/base.css")]), _source(f"{folder}/widget.css")


@cache
def files(name: str) -> tuple[str, ...]:
    """The files that a file imports, each after its own imports, then the file itself."""
    imported = (_beside(name, path) for _, path in _IMPORT.findall(_source(name)))
    return tuple(dict.fromkeys([*chain.from_iterable(map(files, imported)), name]))


def scope(name: str) -> str:
    """A file as a constant that holds its exports."""
    returned = f"return {{ {', '.join(exports(name))} }};"
    return f"const {constant(name)} = (() => {{\n{_body(name)}\n{returned}\n}})();"


@cache
def exports(name: str) -> tuple[str, ...]:
    """The names that a file exports, without its default."""
    return tuple(_EXPORT.findall(_source(name)))


def _body(name: str) -> str:
    """A file without comments, whose imports read from constants; a widget's exports `render`."""

    def take(found: re.Match[str]) -> str:
        names, other = found[1].replace(" as ", ": "), _beside(name, found[2])
        return f"const {{{names}}} = {constant(other)};\n"

    return _EXPORT.sub("", _IMPORT.sub(take, _COMMENT.sub("", _source(name))))


def _source(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _beside(name: str, path: str) -> str:
    """The name of the file that a file imports by a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def constant(name: str) -> str:
    """The name of the constant that holds a file's exports."""
    return "the_" + re.sub(r"\W", "_", name)
