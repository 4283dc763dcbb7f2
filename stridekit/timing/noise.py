"""Signs of a busy machine, which make times doubtful: one sentence for each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import median

import numpy as np

from stridekit.timing.fingerprint import load
from stridekit.timing.sampling import Subject

WIDE = 1.5  # how far the median may be above the lower quartile
APART = 0.05  # how far the ratio of minima may be from that of lower quartiles
FAULTS = 1.0  # pages a call that one subject may fetch more than another


def quartile(seconds: Sequence[float]) -> float:
    """The lower quartile: the time of a sample while nothing else disturbs the machine.

    >>> quartile([4.0, 1.0, 3.0, 2.0, 5.0])
    2.0
    """
    return float(np.quantile(seconds, 0.25))


def warnings(subjects: Sequence[Subject], threads: int) -> tuple[str, ...]:
    """One sentence for each reason not to trust these samples."""
    found = [*_spread(subjects), *_machine(threads), *_minima(subjects), *_faults(subjects)]
    return tuple(found)


def _spread(subjects: Sequence[Subject]) -> list[str]:
    found = []
    for subject in subjects:
        ratio = median(subject.seconds) / quartile(subject.seconds)
        if ratio > WIDE:
            name = f"{subject.name}: " if len(subjects) > 1 else ""
            found.append(f"{name}the median is {ratio:.1f} times the lower quartile")
    return found


def _machine(threads: int) -> list[str]:
    busy, cores = load(), os.cpu_count() or 1
    if busy is None:
        return []
    on = f"on {cores} core{'s' * (cores > 1)}"
    if busy > cores:
        return [f"{busy:.1f} threads were busy {on}"]
    if threads > 1 and busy + threads > cores + 1:
        return [f"{threads} threads were timed while {busy:.1f} were busy {on}"]
    return []


def _minima(subjects: Sequence[Subject]) -> list[str]:
    found = []
    first = subjects[0]
    for other in subjects[1:]:
        ratio = quartile(other.seconds) / quartile(first.seconds)
        of_minima = min(other.seconds) / min(first.seconds)
        if abs(of_minima / ratio - 1) > APART:
            found.append(f"{other.name}: its best sample says {of_minima:.2f}, not {ratio:.2f}")
    return found


def _faults(subjects: Sequence[Subject]) -> list[str]:
    most = max(subjects, key=lambda subject: subject.faults_a_call)
    least = min(subjects, key=lambda subject: subject.faults_a_call)
    if most.faults_a_call - least.faults_a_call <= FAULTS:
        return []
    return [
        f"{most.name} takes {most.faults_a_call:.0f} new pages of memory a call, {least.name} "
        f"{least.faults_a_call:.0f}: give out= to time the work alone"
    ]
