"""Run the widgets' own JavaScript in Python, so that one source computes and words each picture.

>>> Script("page/layout.js").numel({"shape": [3, 2]})
6
"""

from __future__ import annotations

import json
import os
import re
from functools import cache, partial
from threading import RLock
from typing import Any, NamedTuple

from stridekit._arguments import LayoutError
from stridekit.widgets.assets import constant, exports, files, script

try:
    import quickjs
except ImportError as error:
    raise ImportError(
        "stridekit's widgets need the package quickjs-ng, a JavaScript engine: pip install quickjs-ng"
    ) from error

SECONDS = 10  # the longest that a call may take
MEGABYTES = 512  # the most memory that all scripts may hold

# A script throws Error itself; the engine throws TypeError and other kinds, which are defects.
_ASK = """(name, json) => {
  const plain = (key, value) => (value instanceof Set || value instanceof Map ? [...value] : value);
  try {
    const member = %s[name];
    const result = typeof member === "function" ? member(...JSON.parse(json)) : member;
    return JSON.stringify({ result }, plain);
  } catch (error) {
    if (error === null) return JSON.stringify({ crashed: "out of memory" }); // no room for an error
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


class _Run(NamedTuple):
    """A file that the engine was given, and where its lines stand among those of all files."""

    file: str
    start: int  # the number of lines before its first
    end: int


# The engine names no file in a trace, it counts lines. So each script begins below all earlier ones.
_runs = [_Run("engine.py _ASK", 0, _ASK.count("\n") + 1)]
_LINE = re.compile(r"<input>:(\d+)(?::\d+)?")


# An interrupt may come at any moment, also when a function below has done its work and is not yet noted as
# done. So each of them can run again.
@cache
def _engine() -> Any:
    """Return the engine, which holds the exports of the files that ran."""
    context = quickjs.Context()
    if context.eval("typeof Iterator") != "function":
        raise ImportError(
            "stridekit needs quickjs-ng, but the older package quickjs is installed in its place: "
            "pip uninstall quickjs, then pip install --force-reinstall quickjs-ng"
        )
    context.set_time_limit(SECONDS)
    context.set_memory_limit(MEGABYTES * 2**20)
    return context


@cache
def _define(file: str) -> None:
    """Run a file once, after the files that it imports."""
    for imported in files(file)[:-1]:
        _define(imported)
    source = script(file)
    start = _runs[-1].end
    _runs.append(_Run(file, start, start + source.count("\n") + 1))
    _engine().eval("\n" * start + source)


@cache
def _asker(file: str) -> Any:
    """Return a JavaScript function that calls an export by its name, with arguments as JSON."""
    _define(file)
    return _engine().eval(_ASK % constant(file))


def _place(line: re.Match[str]) -> str:
    """Return the file and the line there, for a line of the engine."""
    number = int(line[1])
    run = next(run for run in reversed(_runs) if run.start < number)
    return f"{run.file}:{number - run.start}"


class Script:
    """The exports of a widget's file: functions of plain values, and values, whose names are capitals.

    Whatever the page refuses, a function refuses with LayoutError, in the same words. A defect of the
    script raises RuntimeError, with its trace. A call that takes longer than 10 seconds raises
    TimeoutError, one that needs more than 512 MB MemoryError.
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
            if "interrupted" in str(error):
                raise TimeoutError(
                    f"{self._file}: {name} ran for {SECONDS} seconds: stopped"
                ) from None
            answer = {"crashed": str(error)}
        if "refused" in answer:
            raise LayoutError(answer["refused"])
        if "crashed" in answer:
            trace = _LINE.sub(_place, answer["crashed"])
            if "out of memory" in trace:
                raise MemoryError(f"{self._file}: {name} needs more than {MEGABYTES} MB: {trace}")
            raise RuntimeError(f"{self._file}: {name} has a defect: {trace}")
        return answer.get("result")
