"""Run a script or a module as python does, and print which of its lines copy because of a layout.

stridekit audit [options] script.py [its arguments]
stridekit audit [options] -m package.module [its arguments]

--baseline FILE   fail if the run copies more than FILE says, and name what is new; without FILE, write it
--update          write FILE, whatever it says
--github          print what is new, or without a baseline all findings, as annotations for GitHub
"""

import os
import runpy
import sys
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NamedTuple

from stridekit.audit import Audit, audit
from stridekit.audit.baseline import Baseline, github_lines

_HIDDEN = (__file__, runpy.__file__, "<frozen runpy>")  # python does not show such frames either


def main(arguments: list[str]) -> int:
    """Run a script or a module under audit; the report follows its output, also if it raises."""
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    options, arguments = _options(arguments)
    if options is None or arguments in ([], ["-m"]):
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
    if isinstance(end, SystemExit) and end.code not in (None, 0):
        raise end
    if end is not None and not isinstance(end, SystemExit):
        sys.excepthook(type(end), end, end.__traceback__)
        return 1
    return _compared(watched, options)


class _Options(NamedTuple):
    baseline: Path | None = None
    update: bool = False
    github: bool = False


def _options(arguments: list[str]) -> tuple[_Options | None, list[str]]:
    """Return the options before the script, None for an unknown one, and the rest of the arguments."""
    options = _Options()
    rest = [*arguments]
    while rest and rest[0].startswith("--"):
        name, _, value = rest.pop(0).partition("=")
        if name == "--baseline" and (value or rest):
            options = options._replace(baseline=Path(value or rest.pop(0)))
        elif name == "--baseline":
            print("stridekit audit: --baseline needs a FILE", file=sys.stderr)
            return None, rest
        elif name == "--update":
            options = options._replace(update=True)
        elif name == "--github":
            options = options._replace(github=True)
        else:
            print(f"stridekit audit: there is no option {name}", file=sys.stderr)
            return None, rest
    if options.update and not options.baseline:
        print("stridekit audit: --update needs --baseline FILE", file=sys.stderr)
        return None, rest
    return options, rest


def _compared(watched: Audit, options: _Options) -> int:
    """Compare a run with its baseline, if there is one; return the status."""
    findings = [*watched.findings]
    status = 0
    if options.baseline:
        is_new = options.update or not options.baseline.exists()
        try:
            if not is_new:
                findings = Baseline.read(options.baseline).new_in(watched)
            watched.assert_no_more_than(options.baseline, update=options.update)
        except (AssertionError, ValueError, OSError) as error:  # ValueError: another file
            print(f"stridekit audit: {error}", file=sys.stderr)
            status = 1 if isinstance(error, AssertionError) else 2
        if is_new and not status:
            print(f"The baseline is in {options.baseline}: keep it with the code")
    if options.github:
        for line in github_lines(findings):
            print(line)
    return status


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
