"""The command `stridekit`: the lessons, audit, diagnose and export.

`--help` and `--version` load no torch; each command loads what it needs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from stridekit import __version__
from stridekit._extras import extra
from stridekit._notebooks import lessons

FOLDER = "stridekit-lessons"
HASHES = ".stridekit-lessons.json"  # beside the lessons: the hash of each, as it was written
FIRST_LESSON = "00_start.ipynb"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    command = arguments[0] if arguments else ""
    try:
        if command == "audit":
            return audit(arguments[1:])
        if command == "export":
            return export(arguments[1:])
        own, for_jupyter = _split(arguments)
        options = _parser().parse_args(own)
        if options.command == "lab":
            return lab(Path(options.folder), for_jupyter)
        return diagnose(options.file)
    except ImportError as error:
        return _fail(command, str(error))


def _parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; audit and export read their arguments themselves."""
    parser = argparse.ArgumentParser(
        prog="stridekit", description="See how tensors lie in memory.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"stridekit {__version__}")
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True
    )
    lab = commands.add_parser(
        "lab",
        usage="stridekit lab [-h] [FOLDER] [-- options of JupyterLab]",
        help="put the lessons into a folder, and open JupyterLab there",
        description="Put the lessons into a folder, and open JupyterLab there. "
        "A lesson that you changed is never overwritten.",
    )
    lab.add_argument(
        "folder", nargs="?", default=FOLDER, metavar="FOLDER", help=f"default: {FOLDER}"
    )
    commands.add_parser("audit", help="run a script, and print which of its lines copy")
    diagnose = commands.add_parser(
        "diagnose",
        help="explain an error or a warning about layouts",
        description="Explain the last error or warning about layouts in a text.",
    )
    diagnose.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="default: standard input"
    )
    commands.add_parser("export", help="write notebooks as pages that need no kernel")
    return parser


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the arguments before and after a bare `--`."""
    if "--" not in arguments:
        return arguments, []
    end = arguments.index("--")
    return arguments[:end], arguments[end + 1 :]


def _fail(command: str, reason: str) -> int:
    print(f"stridekit {command}: {reason}", file=sys.stderr)
    return 1


def audit(arguments: list[str]) -> int:
    """Audit a script or a module, as `python -m stridekit.audit` does."""
    from stridekit.audit.__main__ import main as run

    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()  # `python -m` puts it there; the command has its own folder
    return run(arguments)


def export(arguments: list[str]) -> int:
    """Write notebooks as pages, as `python -m stridekit.export` does."""
    with extra("export"):
        from stridekit.export.site import main as run
    run(arguments)
    return 0


def diagnose(name: str) -> int:
    """Print the explanation of the last message in a file; "-" is standard input."""
    from stridekit.widgets.diagnosis import diagnose as explained

    if name == "-":
        if sys.stdin.isatty():
            print("Paste the message, then press Enter and Ctrl+D:", file=sys.stderr)
        text = sys.stdin.buffer.read().decode(errors="replace")
    else:
        try:
            text = Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            return _fail("diagnose", f"cannot read {name}: {error.strerror}")
    print(explained(text))
    return 0


# The lessons -------------------------------------------------------------------------------------


def lab(folder: Path, options: Sequence[str]) -> int:
    """Put the lessons into a folder, and open the first in JupyterLab; return when it ends."""
    with extra("lab"):
        from jupyterlab.labapp import LabApp
    try:
        folder.mkdir(parents=True, exist_ok=True)
        kept = write_lessons(folder, lessons())
    except OSError as error:
        return _fail("lab", f"cannot write to {error.filename}: {error.strerror}")
    for name in kept:
        print(
            f"{name} has changes of yours and stays as it is: "
            f"to get that of stridekit {__version__}, rename yours and start again"
        )
    print(f"The lessons are in {folder.resolve()}; Ctrl+C stops JupyterLab", flush=True)
    # The kernel of this environment, even if the reader has another of that name.
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    _add_settings(os.environ)
    LabApp.launch_instance(
        [
            f"--ServerApp.root_dir={folder.resolve()}",
            f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}",
            *_needed_options(),
            *options,
        ]
    )
    return 0


def _add_settings(environment: MutableMapping[str, str]) -> None:
    """Add defaults of settings, behind those of the reader: no notice lies over the first widget."""
    paths = [environment.get("JUPYTER_CONFIG_PATH", ""), str(Path(__file__).with_name("jupyter"))]
    environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))


def _needed_options() -> list[str]:
    """Return the options that JupyterLab needs for root, and where no page can be shown."""
    options = []
    if hasattr(os, "getuid") and os.getuid() == 0:
        options.append("--allow-root")
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not has_display and sys.platform not in ("darwin", "win32"):
        options.append("--no-browser")
    return options


def write_lessons(folder: Path, lessons: Mapping[str, bytes]) -> list[str]:
    """Write lessons into a folder, but none over a file that a reader changed.

    A reader changed a file if it is not as this function wrote it, which a hidden file remembers. Return
    the names of the changed files whose lesson is a newer one than the reader changed.
    """
    hashes = _read_hashes(folder / HASHES)
    kept = []
    for name, lesson in lessons.items():
        path = folder / name
        wanted = _hash(lesson)
        present = _hash(path.read_bytes()) if path.exists() else None
        if present in (None, wanted, hashes.get(name)):
            if present != wanted:
                _replace(path, lesson)
            hashes[name] = wanted
        elif hashes.get(name) != wanted:
            kept.append(name)
    _replace(folder / HASHES, json.dumps(hashes, indent=1).encode())
    return kept


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_hashes(path: Path) -> dict[str, str]:
    """Return the hash of each lesson as it was written; without a readable file nothing is known."""
    try:
        hashes = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}


def _replace(path: Path, data: bytes) -> None:
    """Write a file in one step, so that an interrupt leaves the old one."""
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_bytes(data)
    unfinished.replace(path)
