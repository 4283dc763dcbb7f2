"""Shows an exercise as a panel with buttons where a kernel runs; elsewhere its cards stay as they are.

The panel is a widget that knows no exercise, `widgets/exercise_panel`. It loads at the first display, so
that an exercise stays light in a script.
"""

from __future__ import annotations

import threading
from types import FunctionType
from typing import TYPE_CHECKING, Any

from stridekit._kept import running_shell
from stridekit.exercises import mine, prose
from stridekit.exercises.report import Card, Report, Row

if TYPE_CHECKING:
    from stridekit.exercises.core import Exercise
    from stridekit.widgets.exercise_panel import ExercisePanel


def bundle(exercise: Exercise, fn: Any, card: Card) -> dict[str, Any] | None:
    """The MIME bundle of a panel that shows a card about `fn`; None where no kernel runs.

    A display adds the card's text and HTML, which stand for the panel where there is no kernel.
    """
    shell = running_shell()
    if shell is None:
        return None
    data, _ = panel_of(exercise, fn, card, shell)._repr_mimebundle_()
    return {kind: value for kind, value in data.items() if kind != "text/plain"}


def panel_of(exercise: Exercise, fn: Any, card: Card, shell: Any) -> ExercisePanel:
    """A new panel, which will check what `fn` has become in the shell."""
    from stridekit.widgets.exercise_panel import ExercisePanel

    is_report = isinstance(card, Report)
    panel = ExercisePanel(
        exercise.name,
        task={} if is_report else card.parts,
        report=_parts(exercise, card) if is_report else {},
        hints=[*map(prose.inline, exercise.hints)],
        solution=prose.python(exercise.source),
    )
    panel.hints_shown = exercise.opened
    Checker(shell, exercise, fn, panel)
    return panel


class Checker:
    """Checks again when a panel asks for it, and remembers which hints were opened there."""

    def __init__(self, shell: Any, exercise: Exercise, fn: Any, panel: ExercisePanel) -> None:
        self.shell, self.exercise, self.fn, self.panel = shell, exercise, fn, panel
        panel.on_check(self.asked)
        panel.observe(self.note_hints, "_state")

    def note_hints(self, change: Any) -> None:
        """The next panel of the exercise will show them, too."""
        self.exercise.opened = max(self.exercise.opened, self.panel.hints_shown)

    def asked(self) -> None:
        """Check in the main thread, between two cells: a page's messages may arrive in another one."""
        if threading.current_thread() is threading.main_thread():
            self.check()
        else:
            self.shell.kernel.io_loop.add_callback(self.check)

    def check(self) -> None:
        """Check the function as it is defined now."""
        before, self.fn = self.fn, self.now()
        try:
            report = self.unwritten() if self.fn is None else self.exercise.check(self.fn)
        except KeyboardInterrupt:
            report = Report("note", f"{self.exercise.name}: interrupted")
        unchanged = report.attempted and before is self.fn
        note = f"{self.exercise.name} has not changed. After an edit, run its cell."
        self.panel.tell(_parts(self.exercise, report), note if unchanged else "")

    def now(self) -> Any:
        """What the checked function's name stands for in the notebook now; at first, the exercise's own."""
        name = self.fn.__name__ if type(self.fn) is FunctionType else self.exercise.name
        return self.shell.user_ns.get(name, self.fn)

    def unwritten(self) -> Report:
        """The report where there is no function yet."""
        name, parameters = self.exercise.name, ", ".join(self.exercise.parameters)
        text = f"Write `def {name}({parameters})` in a cell, run the cell, and check again."
        return Report("blank", f"{name}: not written yet", (Row("", text),))


def _parts(exercise: Exercise, report: Card) -> dict[str, str]:
    """A report for the panel; one that passed says how far the lesson is, and which exercise is next."""
    if report.status != "passed":
        return report.parts
    lesson = exercise.lesson or [exercise]
    here = [task.name for task in lesson].index(exercise.name)
    before = mine.passed()  # in other kernels
    others = lesson[here:] + lesson[:here]
    left = [task.name for task in others if not task.solved and task.key not in before]
    says = f"{len(lesson) - len(left)} of {len(lesson)} in this lesson."
    if not left:
        says = f"That was the last of {len(lesson)}: the whole lesson is right."
    says = f"Well done. {says}" if exercise.lesson else "Well done."
    return report.parts | {"says": says, "next": left[0] if left else ""}
