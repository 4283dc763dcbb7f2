"""E4: find the slice that made a view."""

from __future__ import annotations

from typing import Any

import torch

from stridekit.exercises.answers import as_int, kind
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome, Unusable, describe
from stridekit.exercises.watch import layout_facts


def read_slice(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a slice, judged by the view it makes: many slices can make the same."""
    if isinstance(answer, range):
        answer = slice(answer.start, answer.stop, answer.step)
    if isinstance(answer, tuple | list) and 2 <= len(answer) <= 3:
        answer = slice(*answer)
    if not isinstance(answer, slice):
        raise Unusable(f"{kind(answer)}, where a slice is asked for: slice(start, stop, step)")
    bounds = (answer.start, answer.stop, answer.step)
    if any(isinstance(bound, float) for bound in bounds):
        raise Unusable(f"{answer} has floats in it, and base[s] takes none: // keeps ints whole")
    found = slice(*(None if b is None else as_int(b, "an int in the slice") for b in bounds))
    try:
        view = args["base"][found]
    except (ValueError, RuntimeError, IndexError) as error:
        failed = type(error).__name__
        return Outcome({"raised": failed}, f"{found}, which raises {failed}: {error}")
    return Outcome(layout_facts(view), f"{found}: {describe(view)}")


@exercise(
    title="find the slice",
    read=read_slice,
    cases=[
        "base = torch.arange(10); view = base[3:7]",
        "base = torch.arange(10); view = base[2:8:3]",
        "base = torch.arange(10); view = base[1::4]",
        "base = torch.zeros(10); view = base[4:]",
        "base = torch.zeros(10); view = base[:9:2]",
        "base = torch.tensor([1, 1, 2, 2, 1, 1, 2, 2]); view = base[4:7:2]",
        "base = torch.zeros(24)[5:20]; view = base[2:9]",
        "base = torch.zeros(24)[5:20]; view = base[3:14:5]",
        "base = torch.zeros(24)[::2]; view = base[1:9:3]",
        "base = torch.zeros(24)[::2]; view = base[4:8]",
        "base = torch.arange(30)[3:27:4]; view = base[1:5:2]",
        "base = torch.zeros(4, 6)[:, 2]; view = base[1:3]",
        "base = torch.zeros(6, 4, dtype=torch.bfloat16).t()[3]; view = base[::3]",
        "base = torch.ones(12, dtype=torch.bool)[2:]; view = base[:]",
        "base = torch.zeros(24)[4::2]; view = base[7:8]",
        "base = torch.zeros(10)[3:]; view = base[2:3:5]",
        "base = torch.zeros(10); view = base[4:4]",
        "base = torch.zeros(10)[3::2]; view = base[0:0:3]",
        "base = torch.zeros(10)[2:]; view = base[8:]",
    ],
    hints=[
        "The values cannot tell: they may all be alike. Compare the stride and the storage_offset "
        "of the two, and count view's elements.",
        "Both offsets count from the start of the storage, both strides count elements of the "
        "storage. How far apart do two neighbours in base lie there?",
        "`step = view.stride(0) // base.stride(0)`, start likewise from the difference of the "
        "offsets, and stop lies `view.numel()` steps after start.",
    ],
    otherwise="Put the slice that you found to the test: `base[s]` should have view's shape, "
    "stride and storage_offset. Which of start, stop and step decides the one that differs?",
    takeaway="Two layouts on one storage are enough to find the slice; the values have no say.",
)
def recover_slice(base: torch.Tensor, view: torch.Tensor) -> slice:
    """The slice s for which `base[s]` is view.

    base    a 1-D tensor, perhaps itself a slice or a column of another; its stride is at least 1
    view    made from base by one slice with a positive step
    return  a slice: `base[s]` has view's shape, stride and storage_offset. (With 0 or 1 elements
            the stride is free, since nobody steps there.)
    """
    step = view.stride(0) // base.stride(0)
    start = (view.storage_offset() - base.storage_offset()) // base.stride(0)
    return slice(start, start + view.numel() * step, step)


def parts(base: torch.Tensor, view: torch.Tensor) -> tuple[int, int, int]:
    """Start, step and size of the right answer, for mistakes that start from it."""
    found = recover_slice.reference(base, view)
    return found.start, found.step, view.numel()


VALUES = (
    "You look for view's values in base. Where values repeat, or are all zero, that finds another "
    "place, or many. Where a tensor lies is written in its stride and storage_offset."
)


@recover_slice.mistake(VALUES)
def tries_slices_until_the_values_fit(base: torch.Tensor, view: torch.Tensor) -> slice | None:
    n = base.numel()
    for start in range(n + 1):
        for step in range(1, n + 1):
            found = slice(start, start + view.numel() * step, step)
            if torch.equal(base[found], view):
                return found
    return None


@recover_slice.mistake(VALUES)
def looks_up_the_first_values(base: torch.Tensor, view: torch.Tensor) -> slice:
    values, wanted = base.tolist(), view.tolist()
    start = values.index(wanted[0])
    step = values.index(wanted[1]) - start if len(wanted) > 1 else 1
    return slice(start, start + len(wanted) * step, step)


@recover_slice.mistake(
    "You count from the start of the storage. base need not begin there: from where does base's "
    "own index 0 count?"
)
def ignores_the_offset_of_base(base: torch.Tensor, view: torch.Tensor) -> slice:
    _, step, size = parts(base, view)
    start = view.storage_offset() // base.stride(0)
    return slice(start, start + size * step, step)


@recover_slice.mistake(
    "Your numbers count elements of the storage. A slice counts elements of base, and when base "
    "itself skips, those are `base.stride(0)` apart."
)
def ignores_the_stride_of_base(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step = view.storage_offset() - base.storage_offset(), view.stride(0)
    return slice(start, start + view.numel() * step, step)


@recover_slice.mistake(
    "start is right, but view's stride counts elements of the storage. Divided by base's own "
    "stride it becomes a step."
)
def takes_the_stride_for_the_step(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, _, size = parts(base, view)
    return slice(start, start + size * view.stride(0), view.stride(0))


@recover_slice.mistake(
    "The step is right, but the difference of the offsets counts elements of the storage. One "
    "index of base is `base.stride(0)` of them."
)
def takes_the_distance_for_the_start(base: torch.Tensor, view: torch.Tensor) -> slice:
    _, step, size = parts(base, view)
    start = view.storage_offset() - base.storage_offset()
    return slice(start, start + size * step, step)


TOO_FEW = (
    "One too few: a slice stops before `stop`, so the last element that it keeps has to lie "
    "before it."
)


@recover_slice.mistake(TOO_FEW)
def stops_one_too_early(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, size = parts(base, view)
    return slice(start, start + size * step - 1, step)


@recover_slice.mistake(TOO_FEW)
def stops_at_the_last_element(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, size = parts(base, view)
    return slice(start, start + (size - 1) * step, step)


@recover_slice.mistake(
    "One too many: `stop` is excluded already, so start plus view's size times the step is far "
    "enough."
)
def stops_one_too_late(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, size = parts(base, view)
    return slice(start, start + size * step + 1, step)


@recover_slice.mistake(
    "Your stop lies `view.numel()` indices after start. But every kept element takes a whole "
    "step, so it has to lie that many steps away."
)
def stops_after_as_many_indices(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, size = parts(base, view)
    return slice(start, start + size, step)


@recover_slice.mistake(
    "Your step is 1. view's neighbours can lie further apart than base's: `view.stride(0)` and "
    "`base.stride(0)` say how far."
)
def takes_every_element(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, size = parts(base, view)
    return slice(start, start + size * step)


@recover_slice.mistake(
    "Your stop does not count from start: the elements of view begin there, and stop lies "
    "`view.numel()` steps further on."
)
def counts_the_stop_from_zero(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, size = parts(base, view)
    return slice(start, size * step, step)


@recover_slice.mistake(
    "You subtract the wrong way round: how far view lies into base is view's storage_offset minus "
    "base's."
)
def subtracts_the_wrong_way_round(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, size = parts(base, view)
    return slice(-start, -start + size * step, step)


@recover_slice.mistake(
    "Your slice runs on to the end of base. view may end earlier: its size says where."
)
def runs_on_to_the_end(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, _ = parts(base, view)
    return slice(start, None, step)


@recover_slice.mistake(
    "Nearly: also where view is empty, its storage_offset knows where it would begin. Its "
    "`data_ptr()` does not: an empty view has no element to point to, so that is 0."
)
def measures_with_data_ptr(base: torch.Tensor, view: torch.Tensor) -> slice:
    _, step, size = parts(base, view)
    start = (view.data_ptr() - base.data_ptr()) // (view.element_size() * base.stride(0))
    return slice(start, start + size * step, step)


@recover_slice.mistake(
    "Right while view has an element. For an empty one, the last element would lie before start, "
    "and a stop that falls below 0 counts from the end of base."
)
def steps_back_from_nothing(base: torch.Tensor, view: torch.Tensor) -> slice:
    start, step, size = parts(base, view)
    return slice(start, start + (size - 1) * step + 1, step)
