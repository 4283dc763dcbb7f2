"""Exercises whose checks find wrong reasoning, one package for each notebook.

    from stridekit.exercises import strides as ex

    def address(t, index):
        ...

    ex.address                    # the task
    ex.address.check(address)     # the first thing that differs, and one hint
    ex.address.hint()             # the first hint; hint(2) shows the first two
    ex.address.solution()         # the tested source of one solution
    ex.address.mine               # your own function once it passed, else the solution

`core` shows how an exercise is declared, and `mistakes` how it recognises wrong answers. To write a
new one, copy `diagonal` from `strides/ladder.py`.
"""

from stridekit.exercises.core import Exercise, exercise, forget
from stridekit.exercises.progress import Progress, paths, progress
from stridekit.exercises.recall import review
from stridekit.exercises.reports import Panel, Report

__all__ = [
    "Exercise",
    "Panel",
    "Progress",
    "Report",
    "exercise",
    "forget",
    "paths",
    "progress",
    "review",
]

_LESSONS = [
    "start",
    "strides",
    "views",
    "contiguity",
    "channels_last",
    "performance",
    "attention",
    "your_model",
    "hardware",
    "way_back",
    "bug_hunt",
    "puzzles",
]
__dir__ = [*__all__, *_LESSONS].copy  # the tab key offers the lessons too, imported one by one
