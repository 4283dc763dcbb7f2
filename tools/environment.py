"""Make the virtual environment .venv from pyproject.toml and constraints.txt, and keep it up to date.

A stamp in .venv records what it was made from. It is written last, and reads "unfinished" during the first
build: an interrupted build starts over, an interrupted update is repeated. Only the standard library is
available here.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "stridekit-setup"
LOG = VENV / "setup.log"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

UNFINISHED = "unfinished\n"

# Without this, JupyterLab offers its news on top of the learner's first page.
LAB_SETTINGS = VENV / "share/jupyter/lab/settings/overrides.json"
QUIET_LAB = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}

# The machines that torch 2.13 has builds for, as the platform module names them.
BUILDS = {("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64"), ("Windows", "AMD64")}

# What to do when pip fails, by a pattern in its log: the first that matches is the advice.
REMEDIES = [
    ("No space left on device", "the disk is full: free some space (8 GB is plenty)"),
    ("No module named pip", ".venv has no pip: remove that folder"),
    ("requires a different Python", ".venv holds another Python: remove that folder"),
    (
        "CERTIFICATE_VERIFY_FAILED",
        "pip does not trust the network's certificate: name yours in PIP_CERT",
    ),
    (
        "Failed to establish a new connection|NameResolutionError|Temporary failure in name resolution"
        "|Network is unreachable|timed out|ProxyError|Connection refused|Connection reset",
        "pip cannot reach its package index: check the network, the proxy and `pip config list`",
    ),
    (
        "No matching distribution found for torch",
        "the package index has no torch 2.13 for this machine and Python {python}: try Python 3.11 "
        "to 3.14, or conda (environment.yml)",
    ),
    ("Permission denied", "a file in .venv cannot be written: remove that folder"),
]


class SetupError(Exception):
    """The set-up failed; the message is one line that says why and what to do."""


@dataclass(frozen=True)
class Machine:
    """The facts about the machine and its Python on which the set-up depends."""

    system: str
    processor: str
    python: str
    bits: int = 64
    has_venv: bool = True

    @classmethod
    def here(cls) -> Machine:
        """The machine and the Python that run this."""
        return cls(
            system=platform.system(),
            processor=platform.machine(),
            python="{}.{}".format(*sys.version_info),
            bits=64 if sys.maxsize > 2**32 else 32,
            # Debian has venv and its pip in a package of their own.
            has_venv=all(find_spec(name) for name in ("venv", "ensurepip")),
        )


def why_not(machine: Machine) -> str:
    """Why stridekit cannot be set up on this machine and what to do about it; "" if it can."""
    if machine.bits != 64:
        return (
            f"this Python is a {machine.bits}-bit one and torch needs 64: install a 64-bit Python"
        )
    kind = (machine.system, machine.processor)
    if kind == ("Darwin", "x86_64"):
        return (
            "torch 2.13 has no build for Intel Macs: use a Linux machine, or Binder with "
            "environment.yml; on Apple silicon, install an arm64 Python"
        )
    if kind not in BUILDS:
        return (
            f"torch 2.13 has no build for {machine.system} on {machine.processor}: use another "
            "machine, or Binder with environment.yml"
        )
    if not machine.has_venv:
        return (
            "this Python cannot make virtual environments: run "
            f"`apt install python{machine.python}-venv` (Debian, Ubuntu) or install a full Python"
        )
    return ""


def explain_failure(log: str, machine: Machine) -> tuple[str, str]:
    """The lines of pip's log that show why it failed, and what to do about it."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    for words, advice in REMEDIES:
        telling = [line for line in lines if re.search(words, line)]
        if telling:
            return quote(telling[-1:]), advice.format(python=machine.python)
    return quote(lines[-6:]), f"pip failed: find the reason in {LOG.relative_to(ROOT)}"


def place(machine: Machine, venv: Path) -> str:
    """The folder and the Python of an environment, which is rebuilt when either changes."""
    return f"Python {machine.python}, {machine.system} {machine.processor}, {venv}"


def inputs(root: Path) -> str:
    """A hash of all that an environment is made from; the environment is updated when it changes.

    It covers the metadata in pyproject.toml, but not the settings of the tools, and JupyterLab's extension,
    which pip copies.
    """
    pyproject = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    extension = sorted(path for path in (root / "labextension").rglob("*") if path.is_file())
    parts = [
        json.dumps([pyproject["build-system"], pyproject["project"]]).encode(),
        *(path.read_bytes() for path in extension),
        (root / "constraints.txt").read_bytes(),
        (root / "tools/environment.py").read_bytes(),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def next_step(stamp: str | None, place: str, inputs: str, has_python: bool) -> str:
    """The next step: "build" from nothing, "update" in place, or "" if the environment is ready.

    An environment without a stamp was made by somebody else: it is updated, never removed.
    """
    if not has_python:
        return "build"
    if stamp is None:
        return "update"
    if not stamp.startswith(place + "\n"):
        return "build"
    return "" if stamp == stamp_text(place, inputs) else "update"


def stamp_text(place: str, inputs: str) -> str:
    """The stamp of a finished environment."""
    return f"{place}\n{inputs}\n"


def read_stamp() -> str | None:
    """The stamp of .venv, or None."""
    return STAMP.read_text(encoding="utf-8") if STAMP.is_file() else None


def run(command: Sequence[str | Path], log: IO[str]) -> bool:
    """Run a command with its output in the log; True if it succeeds."""
    log.flush()
    nobody, both = subprocess.DEVNULL, subprocess.STDOUT
    return subprocess.call(command, cwd=ROOT, stdin=nobody, stdout=log, stderr=both) == 0


def quote(lines: list[str], width: int = 160) -> str:
    """Lines of a log, indented, with long ones cut."""
    return "\n".join(f"  | {line[:width]}" for line in lines)


def set_up(step: str, stamp: str, machine: Machine) -> None:
    """Build or update .venv, and stamp it last. Raises SetupError."""
    make_venv: list[str | Path] = [sys.executable, "-m", "venv", VENV]
    install: list[str | Path] = [PYTHON, "-m", "pip", "install", "--no-input", "--progress-bar=off"]
    install += ["-c", "constraints.txt", "-e", ".[test]"]
    if step == "update":
        print("Bringing .venv up to date with pyproject.toml and constraints.txt", flush=True)
    else:
        says = f"Making .venv with Python {machine.python}: a minute or more, a large download"
        print(says, flush=True)
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir(exist_ok=True)
        STAMP.write_text(UNFINISHED, encoding="utf-8")
    with LOG.open("w", encoding="utf-8", errors="replace") as log:
        done = (step == "update" or run(make_venv, log)) and run(install, log)
    if not done:
        said, advice = explain_failure(LOG.read_text("utf-8", errors="replace"), machine)
        print(said, file=sys.stderr)
        raise SetupError(f"{advice}, then try again")
    LAB_SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    LAB_SETTINGS.write_text(json.dumps(QUIET_LAB), encoding="utf-8")
    STAMP.write_text(stamp, encoding="utf-8")


def prepare() -> int:
    """Make .venv ready, if it is not; return the exit status."""
    machine = Machine.here()
    here, made_from = place(machine, VENV), inputs(ROOT)
    try:
        if step := next_step(read_stamp(), here, made_from, PYTHON.exists()):
            if reason := why_not(machine):
                raise SetupError(reason)
            set_up(step, stamp_text(here, made_from), machine)
    except SetupError as error:
        print(f"Set-up: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Set-up: {error}: check the disk and who owns .venv", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Set-up: interrupted; the next run starts again", file=sys.stderr)
        return 130
    return 0
