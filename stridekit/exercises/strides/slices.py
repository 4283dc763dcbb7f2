"""Exercises 4 and 5: shape, stride and offset of a slice, and the slice that made a view."""

from collections.abc import Callable
from typing import Any

import torch

from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints
from stridekit.exercises.readers.answers import as_int, layout_facts, read_parts, type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable, describe
from stridekit.exercises.watch import without_a_tensor

Bound = int | None

NEW = ((4, 6), (6, 1), 0)  # torch.empty(4, 6)
CUT = ((3, 5), (8, 1), 10)  # torch.empty(4, 8)[1:, 2:7]
TURNED = ((6, 4), (1, 6), 0)  # torch.empty(4, 6).t()
SPARSE = ((2, 7), (30, 2), 1)  # torch.empty(4, 15)[::2, 1::2]
CUBE = ((2, 3, 4), (12, 4, 1), 0)  # torch.empty(2, 3, 4)
SAME = ((3,), (0,), 5)  # one element, expanded
NO_ROWS = ((0, 3), (3, 1), 4)
NO_COLUMNS = ((3, 0), (1, 1), 0)
NO_ELEMENTS = ((2, 3, 0), (3, 1, 1), 5)


def case(layout: tuple[Ints, Ints, int], dim: int, start: Bound, stop: Bound, step: int) -> str:
    """Return the source of a case: a layout, a slice of one dim, and the slice's subscript."""
    shape, stride, offset = layout
    first = "" if start is None else start
    end = "" if stop is None else stop
    every = "" if step == 1 else f":{step}"
    subscript = ":, " * dim + f"{first}:{end}{every}"
    return (
        f"shape, stride, offset = {shape}, {stride}, {offset}\n"
        f"dim, start, stop, step = {dim}, {start}, {stop}, {step}  # x[{subscript}]"
    )


@exercise(
    title="shape, stride and offset of a slice",
    read=read_parts("shape", "stride", "offset"),
    means=without_a_tensor("Layout"),
    cases=[  # the layout of x; dim, start, stop and step
        case(NEW, 0, 1, 3, 1),
        case(NEW, 1, 2, 5, 1),
        case(NEW, 1, 0, 6, 2),
        case(CUT, 0, 1, 3, 1),
        case(CUT, 1, 0, 5, 2),
        case(CUT, 1, 1, 5, 3),
        case(TURNED, 0, 1, 5, 2),
        case(TURNED, 1, 1, 4, 2),
        case(SPARSE, 1, 1, 6, 4),
        case(CUBE, 1, 1, 3, 1),
        case(NEW, 1, None, 4, 1),
        case(NEW, 0, 2, None, 1),
        case(SPARSE, 1, None, None, 3),
        case(NEW, 0, 1, 99, 1),
        case(SPARSE, 1, 2, 50, 2),
        case(NEW, 1, 1, -1, 1),
        case(CUT, 1, -3, None, 1),
        case(SPARSE, 1, -5, -1, 3),
        case(NEW, 0, -99, 2, 1),
        case(NEW, 0, None, 0, 1),
        case(CUT, 0, 1, 0, 1),
        case(NEW, 1, 2, 0, 2),
        case(NEW, 0, None, -99, 1),
        case(NEW, 1, 2, -7, 1),
        case(SPARSE, 1, -9, -1, 2),
        case(CUT, 0, 2, 3, 4),
        case(SAME, 0, 1, 3, 2),
        case(CUT, 1, 3, 3, 1),
        case(NEW, 0, 3, 1, 1),
        case(NEW, 1, 4, 1, 2),
        case(CUT, 0, 7, 9, 2),
        case(NO_ROWS, 0, None, None, 2),
        case(NO_ROWS, 0, -1, 5, 1),
        case(NO_COLUMNS, 0, 1, None, 1),
        case(NO_ELEMENTS, 1, -2, None, 2),
    ],
    hints=[
        "Only three numbers can change: the size of `dim`, the stride of `dim`, and the offset. "
        "All the others stay.",
        "First make `start` and `stop` plain: None, negative and too large ones become numbers "
        "between 0 and the size. `slice(start, stop, step).indices(size)` does just that.",
        "The first element moves by `start` old strides. A step now skips `step` old strides. And "
        "`range(start, stop, step)` knows how many are left, also when that is none.",
    ],
    otherwise=(
        "Find one number at a time. Where does the first element lie? How far does a step of the "
        "new dim go? How many steps fit? The slice keeps the indices `range(start, stop, step)`."
    ),
    takeaway="A slice changes three numbers and moves no element: that is why it costs nothing.",
)
def slice_layout(
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int,
    dim: int,
    start: int | None,
    stop: int | None,
    step: int,
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """The layout of a slice: x is sliced `start:stop:step` along `dim`, its other dims stay whole.

    Work it out from these numbers, without a tensor.

    shape, stride, offset   x's, in elements
    dim                     an int from 0 to len(shape) - 1
    start, stop             as in any Python slice: None, negative or out of range are fine
    step                    an int > 0
    return                  (shape, stride, offset) of the slice, exactly torch's. Where
                            nothing is left, torch still moves the offset.

    Not allowed: `Layout`, and a question to torch such as `stride()`.
    """
    start, stop, step = slice(start, stop, step).indices(shape[dim])
    size = len(range(start, stop, step))
    return (
        (*shape[:dim], size, *shape[dim + 1 :]),
        (*stride[:dim], stride[dim] * step, *stride[dim + 1 :]),
        offset + start * stride[dim],
    )


def bounds(start: Bound, stop: Bound, size: int, rule: Callable[[int, int], int]) -> Ints:
    """Return start and stop after a rule about an int and the size was applied to both."""
    first = 0 if start is None else start
    end = size if stop is None else stop
    return rule(first, size), rule(end, size)


slice_layout.slots["(*stride[:dim], stride[dim] * step, *stride[dim + 1 :])"] = {
    "(*stride[:dim], step, *stride[dim + 1 :])": (
        "Your new stride is `step` itself. But `step` counts elements of the dim, and two of them "
        "already lie `stride[dim]` apart."
    ),
    "(*stride[:dim], stride[dim] // step, *stride[dim + 1 :])": (
        "You divide the stride by `step`. The slice leaves elements out, so the elements of the "
        "slice lie further apart: multiply."
    ),
    "(*stride[:dim], stride[dim] + step, *stride[dim + 1 :])": (
        "You add `step` to the stride. From one kept element to the next you take `step` steps of "
        "the old stride: multiply."
    ),
    "stride": (
        "You keep the old stride. From one element of the slice to the next, you pass `step` "
        "elements of x."
    ),
    "torch.empty((*shape[:dim], size, *shape[dim + 1 :])).stride()": (
        "You take the strides of a new tensor of the new shape. But a slice moves no element, so "
        "the other dims keep their strides."
    ),
    "tuple(s * step for s in stride)": (
        "You multiply every stride by `step`. Only one dim is sliced. The other dims keep their "
        "steps."
    ),
}
slice_layout.slots["offset + start * stride[dim]"] = {
    "offset": (
        "Your slice begins where x begins. But x[1:] begins at another element: how far away is it?"
    ),
    "start * stride[dim]": (
        "You count from the start of the storage. x itself can be a slice, which begins at "
        "`offset`."
    ),
    "offset + start * shape[dim]": (
        "You multiply `start` by the size of the dim. The size is the number of steps along the "
        "dim. How long is one step?"
    ),
    "offset + start": (
        "You add an index to a number of elements. `start` counts steps along the dim: how many "
        "elements of the storage is one step?"
    ),
    "offset + start * stride[dim] * step": (
        "`start` is an index of x, before anything is skipped: take `start` steps of the old "
        "stride. You took the new, longer stride."
    ),
}
slice_layout.slots["len(range(start, stop, step))"] = {
    ("max(stop - start, 0) // step", "(stop - start) // step"): (
        "You round the size down. The slice 0:5:2 keeps the three indices 0, 2 and 4, and 5 // 2 "
        "is 2. A last step that is cut short still begins with an element."
    ),
    "len(range(start, stop))": (
        "Your size is stop - start, as if the slice kept every index. It keeps one in `step`."
    ),
    "len(range(start, stop + 1, step))": (
        "One too many: `stop` itself is not in the slice, so no + 1 belongs to the size. The "
        "slice 0:6:2 keeps 0, 2 and 4."
    ),
    "-((start - stop) // step)": (
        "If start lies after stop, the slice is empty. Its size is 0 and never negative."
    ),
}
slice_layout.slots["slice(start, stop, step).indices(shape[dim])"] = {
    "slice(start + 0, stop + 0, step).indices(shape[dim])": (
        "`start` and `stop` can be None, as in `x[::2]`. Replace None by the beginning or by the "
        "end before you calculate."
    ),
    "slice(start or None, stop or None, step).indices(shape[dim])": (
        "0 is not None, though both count as false: `stop or size` makes x[:0] keep everything. "
        "Ask `if stop is None`."
    ),
    (
        "(*bounds(start, stop, shape[dim], lambda b, n: b), step)",
        "(start or 0, stop or shape[dim], step)",
    ): (
        "You take `start` and `stop` as they come. A slice may reach past the end, as in x[1:99], and "
        "a negative bound counts from the end, as in x[:-1]. Bring both between 0 and the size."
    ),
    "(*bounds(start, stop, shape[dim], lambda b, n: b + n if b < 0 else b), step)": (
        "A slice may reach past the end, as in x[1:99]: Python and torch stop at the size, without "
        "an error. So bring `start` and `stop` back to it."
    ),
    "(*bounds(start, stop, shape[dim], lambda b, n: min(b, n)), step)": (
        "A negative bound counts from the end: -1 is the last index. Add the size to it before you "
        "calculate (and what is still below 0 then becomes 0)."
    ),
    "(*bounds(start, stop, shape[dim], lambda b, n: b + n if b < 0 else min(b, n)), step)": (
        "A slice may also reach back beyond the beginning, as in x[-99:2]: -99 plus the size is "
        "still below 0. Bring such a bound up to 0."
    ),
    "slice(*bounds(start, stop, shape[dim], lambda b, n: b % n if b < 0 < n else b), step)"
    ".indices(shape[dim])": (
        "`%` adds the size as often as it can: -99 % 4 is 1. Python adds the size once. "
        "If the sum is still negative, it becomes 0."
    ),
    "slice(*bounds(start, stop, shape[dim], lambda b, n: b + n if b < 0 else b), step)"
    ".indices(shape[dim])": (
        "A bound below -size is still negative after you added the size, and a Python slice then "
        "counts it from the end once more. Bring it up to 0 first."
    ),
}


slice_layout.wrong |= {
    (
        "offset + start * stride[dim] => offset + start * stride[dim] * (size > 0) * all(shape)",
        "offset + start * stride[dim] => offset + start * stride[dim] * all(shape)",
        "offset + start => (size > 0) * all((*shape[:dim], *shape[dim + 1 :])) * offset + start",
    ): (
        "Right wherever the slice keeps an element. For an empty slice torch does not make an "
        "exception: the offset still moves by `start` strides, after `start` is brought between 0 "
        "and the size."
    ),
    (
        "slice_layout(shape, stride, offset, 0, start, stop, step)",
        "slice_layout(shape, stride, offset, len(shape) - 1, start, stop, step)",
    ): (
        "You slice the same dim for every `dim`. Only `shape[dim]`, `stride[dim]` and the offset "
        "change."
    ),
    "(s := slice_layout(shape, stride, offset, dim, start, stop, step))[0], s[1], "
    "offset + (start or 0) * stride[dim]": (
        "Your size is right, but the offset takes `start` as it came. Bring it between 0 and the "
        "size before you use it anywhere."
    ),
    "(s := slice_layout(shape, stride, offset, dim, start, stop, step))[1], s[0], s[2]": (
        "Shape and stride have changed places."
    ),
    "shape, stride, offset": (
        "You return the layout of x itself. The slice begins at another element, skips elements "
        "and keeps fewer: which of the numbers change?"
    ),
    "(s := slice_layout(shape, stride, offset, dim, start, stop, step)) and "
    "((*s[0][:dim], *s[0][dim + 1 :]), (*s[1][:dim], *s[1][dim + 1 :]), s[2])": (
        "Your result has lost the dim. An int as an index removes its dim, but a slice keeps it, "
        "with whatever size is left."
    ),
}


def read_slice(answer: Any, args: Arguments) -> Outcome:
    """Read a slice, and judge it by the view that it makes: many slices make the same view."""
    if isinstance(answer, tuple) and len(answer) == 1:  # base[(s,)] is base[s]
        answer = answer[0]
    if not isinstance(answer, slice):
        raise Unusable(
            f"{type_in_words(answer)}, where a slice is asked for: slice(start, stop, step)"
        )
    parts = (answer.start, answer.stop, answer.step)
    if any(isinstance(part, float) for part in parts):
        raise Unusable(f"{answer} has floats in it, and base[s] takes none: // keeps ints whole")
    ints = [None if part is None else as_int(part, "an int in the slice") for part in parts]
    plain = slice(*ints)
    try:
        view = args["base"][plain]
    except (ValueError, RuntimeError, IndexError) as error:
        name = type(error).__name__
        return Outcome({"raised": name}, f"{plain}, which raises {name}: {error}")
    return Outcome(layout_facts(view), f"{plain}: {describe(view)}")


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
        "The values may all be equal, so they do not help. Compare the stride and the "
        "storage_offset of the two, and count view's elements.",
        "Both offsets count from the start of the storage, both strides count elements of the "
        "storage. How far apart do two neighbours in base lie there?",
        "`step = view.stride(0) // base.stride(0)`, start likewise from the difference of the "
        "offsets, and stop lies `view.numel()` steps after start.",
    ],
    otherwise=(
        "Put the slice that you found to the test: `base[s]` should have view's shape, stride and "
        "storage_offset. Which of these differs, and does start, stop or step decide it?"
    ),
    takeaway="Two layouts on one storage are enough to find the slice. The values do not matter.",
)
def recover_slice(base: torch.Tensor, view: torch.Tensor) -> slice:
    """The slice s for which `base[s]` is view.

    base    a 1-D tensor, perhaps itself a slice or a column of another; its stride is at least 1
    view    made from base by one slice with a positive step
    return  a slice: `base[s]` has view's shape, stride and storage_offset. (With 0 or 1 elements
            the stride is free, because no index steps there.)
    """
    step = view.stride(0) // base.stride(0)
    start = (view.storage_offset() - base.storage_offset()) // base.stride(0)
    return slice(start, start + view.numel() * step, step)


def looks_up_the_first_values(base: torch.Tensor, view: torch.Tensor) -> slice:
    values = base.tolist()
    wanted = view.tolist()
    start = values.index(wanted[0])
    step = values.index(wanted[1]) - start if len(wanted) > 1 else 1
    return slice(start, start + len(wanted) * step, step)


def searches_for_equal_values(base: torch.Tensor, view: torch.Tensor) -> slice | None:
    for start in range(len(base) + 1):
        for step in range(1, len(base) + 1):
            part = slice(start, start + len(view) * step, step)
            if torch.equal(base[part], view):
                return part
    return None


IN_BYTES = (
    "Your start counts bytes. A slice counts elements of base, so no `itemsize` and no "
    "`data_ptr()` is needed: `storage_offset()` counts elements already."
)

recover_slice.slots["view.storage_offset() - base.storage_offset()"] = {
    "view.storage_offset()": (
        "You count from the start of the storage. base can begin later. Where does base[0] lie?"
    ),
    "base.storage_offset() - view.storage_offset()": (
        "You subtract the wrong way round: how far view lies into base is view's storage_offset "
        "minus base's."
    ),
    "view.data_ptr() - base.data_ptr()": IN_BYTES,
    "(view.storage_offset() - base.storage_offset()) * view.itemsize": IN_BYTES,
}
recover_slice.slots["start + view.numel() * step"] = {
    ("start + view.numel() * step - 1", "start + (view.numel() - 1) * step"): (
        "One too few: a slice stops before `stop`, so the last element that it keeps has to lie "
        "before it."
    ),
    "start + view.numel() * step + 1": (
        "One too many: `stop` is excluded already, so start plus view's size times the step is far "
        "enough."
    ),
    "start + view.numel()": (
        "Your stop lies `view.numel()` indices after start. But every kept element takes a whole "
        "step, so it has to lie that many steps away."
    ),
    "start + view.nbytes": (
        "Your stop counts the bytes of view. A slice counts elements of base: view's size, in "
        "steps, leads from start to stop."
    ),
    "view.numel() * step": (
        "Your stop does not count from start: the elements of view begin there, and stop lies "
        "`view.numel()` steps further on."
    ),
    "None": (
        "Your slice runs on to the end of base. view may end earlier: how many elements does it "
        "have?"
    ),
    "start + (view.numel() - 1) * step + 1": (
        "Right while view has an element. For an empty one, the last element would lie before "
        "start, and a stop that falls below 0 counts from the end of base."
    ),
}
recover_slice.slots["view.stride(0) // base.stride(0)"] = {
    "view.stride(0)": (
        "Your step is view's stride, which counts elements of the storage. How many steps of base "
        "is one step of view?"
    ),
    "view.stride(0) - base.stride(0)": (
        "You subtract the strides. One step of view is several steps of base: how many of base's "
        "strides fit into one of view's?"
    ),
    "base.stride(0) // view.stride(0)": (
        "You divide the strides the wrong way round. One step of view is several steps of base, "
        "so view's stride is the larger number."
    ),
}
recover_slice.slots[") // base.stride(0)\n    return"] = {
    ")\n    return": (
        "Your start counts elements of the storage. It should count elements of base, and when "
        "base itself skips, two of them lie further apart."
    ),
    ") // view.stride(0)\n    return": (
        "For start, you divide the difference of the offsets by view's stride. start counts "
        "elements of base: how far apart do those lie?"
    ),
}
recover_slice.wrong |= {
    "view.storage_offset() - base.storage_offset() => "
    "(view.data_ptr() - base.data_ptr()) // view.itemsize": (
        "Right wherever view has an element. The `data_ptr()` of an empty tensor is 0. Its "
        "storage_offset is still the place where it begins."
    ),
    "* step, step) => * step)": (
        "Your step is always 1. Two neighbours in view can lie further apart than two neighbours "
        "in base: compare the two strides."
    ),
    "slice(a := view.storage_offset() - base.storage_offset(), "
    "a + len(view) * view.stride(0), view.stride(0))": (
        "Your numbers count elements of the storage. A slice counts elements of base, and when "
        "base itself skips, those are `base.stride(0)` apart."
    ),
    "slice(a := view.data_ptr() - base.data_ptr(), a + view.nbytes, view.stride(0))": IN_BYTES,
    (
        "looks_up_the_first_values(base, view)",
        "searches_for_equal_values(base, view)",
    ): (
        "You look for view's values in base. If values repeat, you find another place. The stride "
        "and the storage_offset of view say where it lies."
    ),
}
