"""python -m stridekit.audit script.py: run a script, and say which of its lines copy because of a layout.

    python -m stridekit.audit script.py [its arguments]

`stridekit.audit` itself is the function: importing this module by that name gives it as well.
"""

import runpy
import sys

from stridekit.auditing import audit


def main(arguments: list[str]) -> int:
    """Run a script under audit; the report follows what it prints, also if it raises."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    sys.argv = arguments
    try:
        with audit() as found:
            found.name = arguments[0]
            runpy.run_path(arguments[0], run_name="__main__")
    finally:
        print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
else:
    sys.modules[__name__] = audit  # type: ignore[assignment]
