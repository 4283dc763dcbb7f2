"""The browser's functions, asked from Python: one node process on a pipe answers (tests/answers.mjs)."""

import atexit
import json
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

NODE = shutil.which("node")
ANSWERS = Path(__file__).parent / "answers.mjs"


class Refused(Exception):
    """The browser refuses, in these words."""


def ask(function: str, *given: Any) -> Any:
    """The result of a function of a widget's JavaScript: `ask("page/layout/numel", {"shape": [2, 3]})`.

    A name without a slash is one of tests/answers.mjs. Raises Refused where the browser refuses.
    """
    return ask_all([(function, *given)])[0]


def ask_all(requests: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The same of several functions at once, which takes little longer than one."""
    process = _node()
    assert process.stdin and process.stdout
    for function, *given in requests:
        file, _, name = function.rpartition("/")
        process.stdin.write(json.dumps([file, name, *given]) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in requests]
    for answer in answers:
        assert "crashed" not in answer, answer["crashed"]
        if "refused" in answer:
            raise Refused(answer["refused"])
    return [answer.get("found") for answer in answers]


def as_json(value: Any) -> Any:
    """A value of Python as it is behind the pipe: tuples are lists."""
    return json.loads(json.dumps(value))


@cache
def _node() -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [NODE or "node", str(ANSWERS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    atexit.register(process.communicate)  # its input ends, and so does it
    return process
