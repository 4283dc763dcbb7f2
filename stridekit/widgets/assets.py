"""One JavaScript module and one style sheet per widget, assembled from small files.

anywidget loads a module from a blob, where relative imports fail. So a file and everything it imports are
joined here. Each file but the last becomes a function that is called at once and returns its exports; an
import becomes a destructuring of that result, so that two files may use one name for different things.
Under `node --test` the files still import each other directly. A file is named by its path in this folder.

Each model of a widget loads a module of its own, and a page keeps every module it ever loaded. So the code
runs once per page, and the modules of further models export the result of that run.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path

from stridekit.palette import css_variables

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.\.?/[\w./]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)(?=(?:async )?(?:const|function|class) (\w+))", re.M)


def module(name: str) -> str:
    """The ES module of a widget: its file and all that it imports, run once, with the default export."""
    code = script(name).replace("export default", "return")
    made = f'globalThis["stridekit {sha256(code.encode()).hexdigest()[:16]}"]'
    return f"{made} ??= (() => {{\n{code}\n}})();\nexport default {made};\n"


def script(name: str) -> str:
    """A file preceded by everything it imports; its named exports become names of the script."""
    *parts, last = _files(name)
    return "\n".join([*map(_scope, parts), _body(last)])


def style(*names: str) -> str:
    """The palette's variables and the style sheets."""
    sheets = [(_HERE / name).read_text(encoding="utf-8") for name in names]
    return "\n".join([css_variables(".stridekit"), *sheets])


@cache
def _files(name: str) -> tuple[str, ...]:
    """The files that a file imports, each after its own imports, then the file itself."""
    imported = (_beside(name, path) for _, path in _IMPORT.findall(_source(name)))
    return tuple(dict.fromkeys([*chain.from_iterable(map(_files, imported)), name]))


def _scope(name: str) -> str:
    """A file as a constant that holds its exports."""
    exports = ", ".join(_EXPORT.findall(_source(name)))
    return f"const {_constant(name)} = (() => {{\n{_body(name)}\nreturn {{ {exports} }};\n}})();"


def _body(name: str) -> str:
    """A file whose imports read from constants, and that exports only its default."""

    def take(found: re.Match[str]) -> str:
        names, other = found[1].replace(" as ", ": "), _beside(name, found[2])
        return f"const {{{names}}} = {_constant(other)};\n"

    return _EXPORT.sub("", _IMPORT.sub(take, _source(name)))


def _source(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _beside(name: str, path: str) -> str:
    """The name of the file that a file imports by a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _constant(name: str) -> str:
    return "the_" + re.sub(r"\W", "_", name)
