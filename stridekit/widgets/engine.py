"""Run the widgets' own JavaScript in Python, so that one source computes and words each picture.

>>> Script("page/layout.js").numel({"shape": [3, 2]})
6
"""

from __future__ import annotations

import json
import os
from functools import cache, partial
from threading import RLock
from typing import Any

from stridekit._arguments import LayoutError
from stridekit.widgets.assets import constant, exports, files, scope

try:
    import quickjs
except ImportError as error:
    raise ImportError(
        "stridekit's widgets need the package quickjs-ng, a JavaScript engine: pip install quickjs-ng"
    ) from error

SECONDS = 10  # the longest that a call may take

# A script throws Error itself; the engine throws TypeError and other kinds, which are defects.
_ASK = """(name, json) => {
  const plain = (key, value) => (value instanceof Set || value instanceof Map ? [...value] : value);
  try {
    const member = %s[name];
    const result = typeof member === "function" ? member(...JSON.parse(json)) : member;
    return JSON.stringify({ result }, plain);
  } catch (error) {
    if (error.name === "Error") return JSON.stringify({ refused: error.message });
    return JSON.stringify({ crashed: `${error}\\n${error.stack}` });
  }
}"""

# One engine for all scripts and threads. A fork waits until no script runs.
_lock = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


@cache
def _engine() -> Any:
    context = quickjs.Context()
    context.set_time_limit(SECONDS)
    return context


@cache
def _define(file: str) -> None:
    """Run a file once, after the files that it imports."""
    for imported in files(file)[:-1]:
        _define(imported)
    _engine().eval(scope(file))


@cache
def _asker(file: str) -> Any:
    """Return a JavaScript function that calls an export by its name, with arguments as JSON."""
    _define(file)
    return _engine().eval(_ASK % constant(file))


class Script:
    """The exports of a widget's file: functions of plain values, and values, whose names are capitals.

    Whatever the page refuses, a function refuses with LayoutError, in the same words. A defect of the
    script raises RuntimeError. A call that takes longer than 10 seconds raises TimeoutError.
    """

    def __init__(self, file: str) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        if name not in exports(self._file):
            raise AttributeError(f"{self._file} exports no {name}")
        return self._ask(name) if name.isupper() else partial(self._ask, name)

    def _ask(self, name: str, *arguments: Any) -> Any:
        try:
            with _lock:
                answer = json.loads(_asker(self._file)(name, json.dumps(arguments)))
        except quickjs.JSException as error:
            if "interrupted" not in str(error):
                raise
            raise TimeoutError(f"{self._file}: {name} ran for {SECONDS} seconds: stopped") from None
        if "refused" in answer:
            raise LayoutError(answer["refused"])
        if "crashed" in answer:
            raise RuntimeError(f"{self._file}: {name} has a defect: {answer['crashed']}")
        return answer.get("result")
