"""The source of a function with all that it uses of its notebook, so that it runs without the notebook."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from symtable import SymbolTable, symtable
from types import FunctionType, ModuleType
from typing import Any

from stridekit._arguments import with_article
from stridekit.exercises.untrusted import type_name


class NotAlone(Exception):
    """A function cannot stand alone; the message is the reason, as the end of a sentence."""


def standing_alone(fn: Any, name: str, folder: Path) -> str:
    """The source: imports, the notebook's functions that it calls, and itself, under `name` at last.

    A module beside the notebook, in `folder`, cannot be imported: nobody checked what it does.
    Raises NotAlone.
    """
    parts = _Parts(folder)
    own = parts.add(fn)
    blocks = ["\n".join(sorted(parts.imports)), *parts.functions.values()]
    if own != name:
        blocks.append(f"{name} = {own}")
    return "\n\n\n".join(filter(None, blocks)) + "\n"


class _Parts:
    """Lines of imports, and the sources of functions by name, each after those that it calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.imports: set[str] = set()
        self.functions: dict[str, str] = {}
        self._begun: dict[str, FunctionType] = {}

    def add(self, fn: Any) -> str:
        """Add a function and what it uses; return its name."""
        fn = inspect.unwrap(fn)  # its source has its decorators
        if type(fn) is not FunctionType or fn.__name__ == "<lambda>":
            raise NotAlone("it is not written with `def`")
        name = fn.__name__
        if fn.__closure__:
            raise NotAlone(f"`{name}` is made inside another function")
        if name in self._begun:
            if self._begun[name] is not fn:
                raise NotAlone(f"it uses two functions named `{name}`")
            return name
        self._begun[name] = fn
        try:
            source = textwrap.dedent(inspect.getsource(fn)).rstrip()
            used = [*_global_names(symtable(source, "<answer>", "exec"))]
        except (OSError, SyntaxError):
            raise NotAlone(f"the source of `{name}` cannot be found") from None
        for other in dict.fromkeys(used):
            if other in fn.__globals__:
                self._add_used(other, fn.__globals__)
        self.functions[name] = source
        return name

    def _add_used(self, name: str, notebook: dict[str, Any]) -> None:
        value = notebook[name]
        if isinstance(value, ModuleType):
            self._add_import(value.__name__, "", name, value)
            return
        written = inspect.unwrap(value) if callable(value) else None
        if type(written) is FunctionType and written.__globals__ is notebook:
            if written.__name__ != name:
                raise NotAlone(f"it calls `{written.__name__}` by another name, `{name}`")
            self.add(value)
            return
        own = getattr(value, "__module__", None), getattr(value, "__name__", name)
        for module, known_as in (own, ("torch", name), ("numpy", name), ("math", name)):
            if module not in (None, "__main__", notebook.get("__name__")):
                found = getattr(sys.modules.get(module), known_as, None)
                if found is value:
                    self._add_import(module, known_as, name, value)
                    return
        kind = with_article(type_name(value))
        raise NotAlone(f"it uses `{name}`, {kind} of the notebook: put it into the function")

    def _add_import(self, module: str, what: str, name: str, value: Any) -> None:
        top = module.partition(".")[0]
        if (self.folder / top).exists() or (self.folder / f"{top}.py").exists():
            raise NotAlone(f"it imports `{top}` from the notebook's folder")
        line = f"from {module} import {what}" if what else f"import {module}"
        self.imports.add(line if name == (what or module) else f"{line} as {name}")


def _global_names(table: SymbolTable, is_outer: bool = True) -> Iterator[str]:
    """The names that a source looks up outside itself, at any depth."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (is_outer or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _global_names(inner, False)
