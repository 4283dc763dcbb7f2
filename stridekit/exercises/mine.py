"""`ex.NAME.mine`: an answer that passed its check is used again, in this kernel and in later ones.

It is kept as source, in a file of its own beside the notebooks. No code from elsewhere runs: a file is
signed by the user whose check it passed, and one that was changed since, or that came with somebody's
folder, is not executed.
"""

from __future__ import annotations

import hmac
import io
import re
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from stridekit import _kept
from stridekit._arguments import many
from stridekit._defaults import torch_defaults
from stridekit.exercises.alone import NotAlone, standing_alone
from stridekit.exercises.report import Card, Row

if TYPE_CHECKING:
    from stridekit.exercises.core import Exercise

_OURS = "# Your answer to "
_HEAD = f"""\
{_OURS}`{{name}}`, as it passed its check.
# It is used only as it stands here: after an edit, run the check in the notebook again.
# {{signature}}

"""

_here: WeakKeyDictionary[Exercise, Any] = WeakKeyDictionary()  # the answers of this kernel


def name_of(lesson: str, exercise: str) -> str:
    """The name of an exercise in the record, and of the file with its answer: word characters alone.

    >>> name_of("strides", "row"), name_of("", "../../row")
    ('strides_row', '______row')
    """
    return re.sub(r"\W", "_", f"{lesson}_{exercise}" if lesson else exercise)


def passed() -> set[str]:
    """The names of the exercises that are on record as passed."""
    return {str(one["passed"]) for one in _kept.record() if "passed" in one}


def keep(exercise: Exercise, fn: Any) -> list[Row]:
    """Keep an answer that has passed, in this kernel and if possible in a file; say so."""
    if fn is exercise.reference:
        return []
    _here[exercise] = fn
    if (folder := _kept.folder()) is None:
        return []
    path = folder / f"{exercise.key}.py"
    says = f"`ex.{exercise.name}.mine` is your own function"
    try:
        _kept.note(passed=exercise.key)
        source = standing_alone(fn, exercise.name, folder.parent)
        _here[exercise] = _in_file(exercise, source, path)
    except KeyboardInterrupt:
        raise
    except NotAlone as error:
        why = str(error)
    except OSError as error:
        why = f"it cannot be written ({error.strerror})"
    except BaseException as error:  # of the learner's code, which may raise anything
        why = f"without the notebook it stops with {type(error).__name__}"
    else:
        return [Row("", f"Kept in {_shown(path)}: {says} now.")]
    return [Row("", f"{says} until the kernel ends; no file keeps it: {why}.")]


def of(exercise: Exercise) -> Any:
    """The learner's own function, of this kernel or from its file; else the reference solution."""
    if exercise in _here:
        return _here[exercise]
    folder = _kept.folder()
    path = Path(folder or "", f"{exercise.key}.py")
    if not folder or not path.is_file():
        return exercise.reference
    what = "was changed, or comes from another machine; it was not run"
    if text := _signed(exercise, path):
        with suppress(Exception):
            _here[exercise] = _passing(exercise, text, path)
            return _here[exercise]
        what = "no longer passes its check"
    warnings.warn(
        f"{_shown(path)} {what}. `ex.{exercise.name}.mine` is the reference solution: to use your own, "
        "check it in the notebook again",
        stacklevel=3,
    )
    return exercise.reference


def forget() -> Card:
    """Forget which answers passed and what was predicted: remove their files, and say which.

    Other files stay. Raises OSError for a file that cannot be removed.

    >>> forget()
    · forgotten: nothing was kept
    """
    for exercise in _here:
        exercise.solved = False
    _here.clear()
    folder = _kept.folder()
    files = [path for path in sorted(folder.glob("*")) if _is_ours(path)] if folder else []
    for path in files:
        path.unlink()
    if folder and files and not any(folder.iterdir()):
        folder.rmdir()
    removed = f"{many(len(files), 'file')} removed" if files else "nothing was kept"
    return Card("note", f"forgotten: {removed}", tuple(Row("", _shown(path)) for path in files))


# Files ----------------------------------------------------------------------------------------------


def _in_file(exercise: Exercise, source: str, path: Path) -> Any:
    """Write a source to its file once it has passed there, too; return its function."""
    text = _text(exercise, source)
    with suppress(OSError):
        if path.read_bytes() == text.encode():  # has passed before
            return _function(exercise, text, path)
    fn = _passing(exercise, text, path)
    _kept.write(path, text.encode())
    return fn


def _text(exercise: Exercise, source: str) -> str:
    signature = _kept.sign(exercise.key, source)
    return _HEAD.format(name=exercise.name, signature=signature) + source


def _signed(exercise: Exercise, path: Path) -> str:
    """The text of a file that was written here and not changed since; "" of any other."""
    try:
        text = path.read_text("utf-8")
        ours = _text(exercise, text.partition("\n\n")[2])
    except (OSError, UnicodeError):
        return ""
    return text if hmac.compare_digest(text.encode(), ours.encode()) else ""


@torch_defaults()
def _function(exercise: Exercise, text: str, path: Path) -> Any:
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec", dont_inherit=True), namespace)
    return namespace[exercise.name]


def _passing(exercise: Exercise, text: str, path: Path) -> Any:
    """The function in a text, once it has passed the check; what it prints is dropped."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        fn = _function(exercise, text, path)
        if not exercise._judge(fn).passed:
            raise NotAlone("without the notebook it gives other answers")
    return fn


def _is_ours(path: Path) -> bool:
    if path.name == _kept.RECORD:
        return True
    with suppress(OSError, UnicodeError):
        return path.suffix == ".py" and path.read_text("utf-8").startswith(_OURS)
    return False


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
