"""Run a script or a module as python does, and print which of its lines copy because of a layout.

stridekit audit script.py [its arguments]
stridekit audit -m package.module [its arguments]
"""

import os
import runpy
import sys
from types import ModuleType, TracebackType

from stridekit.audit import audit

_HIDDEN = (__file__, runpy.__file__, "<frozen runpy>")  # python does not show such frames either


def main(arguments: list[str]) -> int:
    """Run a script or a module under audit; the report follows its output, also if it raises."""
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if arguments in ([], ["-m"]):
        print(__doc__)
        return 2
    is_module = arguments[0] == "-m"
    sys.argv[:] = arguments[1:] if is_module else arguments
    name = sys.argv[0]
    if not is_module and not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.abspath(name))
    end: BaseException | None = None
    try:
        with audit() as watched:
            watched.name = name
            try:
                _run(name, is_module)
            except SystemExit as error:  # an end like any other
                end = error
    except Exception as error:
        end = error
        end.__traceback__ = _from_script(error.__traceback__)
        is_empty = end.__traceback__ is None and not isinstance(error, SyntaxError)
        if is_empty:  # there was nothing to run
            print(f"stridekit audit: {error}", file=sys.stderr)
            return 1 if is_module else 2
    print(watched)
    if isinstance(end, SystemExit):
        raise end
    if end is not None:
        sys.excepthook(type(end), end, end.__traceback__)
    return 0 if end is None else 1


def _from_script(traceback: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that begins in the script."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _HIDDEN:
        traceback = traceback.tb_next
    return traceback


def _run(name: str, is_module: bool) -> None:
    """Run a module, a folder or a script as python does: the `__file__` of a script is absolute."""
    if is_module:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    elif os.path.isdir(name):  # with a __main__.py
        runpy.run_path(name, run_name="__main__")
    else:
        path = os.path.abspath(name)
        main_module = ModuleType("__main__")
        main_module.__file__ = path
        sys.modules["__main__"] = main_module
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, vars(main_module))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
