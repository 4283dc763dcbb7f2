"""Wrong answers to the exercises of notebook 01."""

from itertools import product
from math import prod

from stridekit.exercises import strides as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, TOO_FAR, formulas, general, wrong

# Mistakes that the exercises know, made in a way of one's own -----------------------------------


@wrong(ex.address, "in reading order")
def address_in_a_copy(t, index):
    copy = t.contiguous()
    return copy[index].data_ptr() - copy.untyped_storage().data_ptr()


@wrong(ex.address, "Right wherever no index is 0")
def address_stops_at_a_0(t, index):
    steps = 0
    for i, step in zip(index, t.stride(), strict=True):
        if i == 0:
            break
        steps += i * step
    return (t.storage_offset() + steps) * t.element_size()


@wrong(ex.address, "Right wherever no index is 0")
def address_fails_at_a_0(t, index):
    return ex.address.reference(t, index) if all(index) else min(())


@wrong(ex.address, "Right wherever t has a dim")
def address_of_a_point_in_elements(t, index):
    return ex.address.reference(t, index) if index else t.storage_offset()


@wrong(ex.address, "That is what t holds")
def value_in_place_of_an_address(t, index):
    return t[index].tolist()


@wrong(ex.contiguous_stride, "Right wherever there is an element")
def stride_of_a_product_that_is_no_0(shape):
    return [max(prod(shape[d + 1 :]), 1) for d in range(len(shape))]


@wrong(ex.contiguous_stride, "Right wherever there is an element")
def stride_without_the_empty_dims(shape):
    return ex.contiguous_stride.reference([n for n in shape if n])


@wrong(ex.contiguous_stride, "Shape () has no dims")
def stride_of_no_dims_forgotten(shape):
    return ex.contiguous_stride.reference(shape) if shape else None


@wrong(ex.slice_layout, "takes `start` as it came")
def slice_from_a_start_as_it_came(shape, stride, offset, dim, start, stop, step):
    shape, stride, size = list(shape), list(stride), shape[dim]
    offset += (start or 0) * stride[dim]
    shape[dim] = len(range(size)[start:stop:step])
    stride[dim] *= step
    return shape, stride, offset


@wrong(ex.slice_layout, "Your new stride is `step` itself")
def slice_with_the_step_for_a_stride(shape, stride, offset, dim, start, stop, step):
    shape, _, offset = ex.slice_layout.reference(shape, stride, offset, dim, start, stop, step)
    return shape, [step if d == dim else s for d, s in enumerate(stride)], offset


@wrong(ex.slice_layout, "no + 1 belongs to the size")
def slice_up_to_its_stop(shape, stride, offset, dim, start, stop, step):
    first, last, _ = slice(start, stop, step).indices(shape[dim])
    kept = [k for k in range(first, last + 1) if (k - first) % step == 0]
    sizes = [len(kept) if d == dim else n for d, n in enumerate(shape)]
    return sizes, *ex.slice_layout.reference(shape, stride, offset, dim, start, stop, step)[1:]


@wrong(ex.slice_layout, "torch does not make an exception")
def slice_of_nothing_stays(shape, stride, offset, dim, start, stop, step):
    right = ex.slice_layout.reference(shape, stride, offset, dim, start, stop, step)
    return *right[:2], right[2] if right[0][dim] else offset


@wrong(ex.slice_layout, "goes round as often as it can")
def slice_with_a_stop_gone_round(shape, stride, offset, dim, start, stop, step):
    if stop is not None and stop < 0 < shape[dim]:
        stop = stop % shape[dim]
    return ex.slice_layout.reference(shape, stride, offset, dim, start, stop, step)


@wrong(ex.raw_bytes, "a tidy copy")
def bytes_of_numpy(t):
    return t.numpy().tobytes()


@wrong(ex.row, "Your row starts at element 0 of the storage")
def row_by_an_offset_of_its_own(x, i):
    return x[i].as_strided(x[i].size(), x[i].stride(), 0)


@wrong(ex.row, "That is column i")
def row_confused_with_a_column(x, i):
    if i >= x.size(1):
        raise IndexError("no such column")
    return x[:, i]


@wrong(ex.row, "only where x is contiguous already")
def row_of_a_tidy_x(x, i):
    x = x.contiguous()
    return x.as_strided((x.size(1),), (1,), x.storage_offset() + i * x.size(1))


# What the exercises do not know -------------------------------------------------------------------

general(
    ex.address,
    "address(t, index) + 1",
    "address(t, index) * 8",
    "(t.storage_offset() + sum((i + 1) * s for i, s in zip(index, t.stride()))) * t.itemsize",
    "(t.storage_offset() * t.itemsize + sum(map(prod, zip(index, t.stride())))) * t.itemsize",
    "address(t, index) if t.ndim < 3 else 0",
    "address(t, index) // 4 * 4",
)

general(
    ex.contiguous_stride,
    "[prod(n or 1 for n in shape[d + 1 : d + 3]) for d in range(len(shape))]",
    "torch.empty(shape).stride()[-4:]",
    "[shape[-1] ** (len(shape) - 1 - d) for d in range(len(shape))]",
    "torch.empty([n + 1 for n in shape]).stride()",
    "torch.empty(sorted(shape)).stride()",
)
general(ex.contiguous_stride, "{*contiguous_stride(shape)}", told=ANOTHER_KIND)

SLICED = "slice_layout(shape, stride, offset, dim, start, stop, step)"
PLAIN_START = "slice(start, None).indices(shape[dim])[0]"
general(
    ex.slice_layout,
    f"(lambda sizes, *rest: ([max(n, 1) for n in sizes], *rest))(*{SLICED})",
    f"((x := {SLICED})[0], [s if n > 1 else 1 for n, s in zip(*x[:2])], x[2])",
    "slice_layout(shape, torch.empty(shape).stride(), 0, dim, start, stop, step)",
    SLICED.replace("start", f"min({PLAIN_START}, max(shape[dim] - 1, 0))"),  # always an index
    SLICED.replace("stop", "-1 if stop is None else stop"),
    SLICED.replace("stop", "stop and stop + (stop < 0)"),  # -1 as the end
    SLICED.replace("stop", "None if stop is None else stop % shape[dim] if shape[dim] else 0"),
    instead={
        "len(range(start, stop, step))": [
            "max(stop - start, 0) // step + ((stop - start) % step != 0)",
        ],
        "stride[dim] * step": ["stride[dim] + step - 1"],
    },
)
general(ex.slice_layout, f"{SLICED}[::-1]", told=ANOTHER_KIND)

FOUND = "(s := recover_slice(base, view)).start"
general(
    ex.recover_slice,
    f"slice({FOUND} + 1, s.stop + 1, s.step)",
    f"slice({FOUND}, s.step, s.stop)",
    f"slice({FOUND} - len(base), s.stop - len(base), s.step)",
    "slice(start := view.data_ptr() - base.data_ptr(), start + len(view))",
    "slice((v := base.tolist()).index(view[0]), v.index(view[-1]) + 1, "
    "recover_slice(base, view).step)",
    "slice(None)",
    instead={"view.stride(0) // base.stride(0)": ["view.stride(0) - base.stride(0) + 1"]},
)
general(
    ex.recover_slice,
    f"slice({FOUND} / 1, s.stop, s.step)",
    f"({FOUND}, s.stop, s.step)",
    f"[{FOUND}, s.stop, s.step]",
    f"range({FOUND}, s.stop, s.step)",
    told=ANOTHER_KIND,
)

general(
    ex.raw_bytes,
    "raw_bytes(t)[::-1]",
    "bytes(t.untyped_storage().nbytes())",
    "raw_bytes(t).rstrip(bytes(1))",
    instead={
        "storage.nbytes()": [
            "max(storage.nbytes() - 1, 0)",
            *(f"min(storage.nbytes(), {limit})" for limit in (16, 64, 256, 512, 1000, 1024, 4096)),
        ],
        "storage.data_ptr()": [
            "storage.data_ptr() + 1",
            "t.data_ptr() - t.storage_offset() * 4",
        ],
    },
)
general(ex.raw_bytes, "(raw_bytes(t), t.untyped_storage().fill_(0))[0]", told=CHANGES)
general(ex.raw_bytes, "raw_bytes(t).hex()", told=ANOTHER_KIND)

general(
    ex.row,
    "x.as_strided((x.stride(1),), (x.size(1),), x.storage_offset() + i * x.stride(0))",
    instead={
        "x.size(1)": ["max(x.size(1) - 1, 0)"],
        "i * x.stride(0)": ["max(i - 1, 0) * x.stride(0)", "x.stride(0)"],
    },
)
general(ex.row, instead={"x.size(1)": ["6"]}, told=TOO_FAR)
general(ex.row, instead={"x.as_strided": ["x.as_strided_"]}, told=CHANGES)
general(ex.row, "row(x, i).tolist()", "x.numpy()[i]", told=ANOTHER_KIND)
general(
    ex.row, "torch.from_numpy(x.numpy()[i])", told="That reads x's own memory and copies nothing"
)
general(ex.row, "row(x, i)[:, None]", told="Your answer has 2 dims, and 1 is asked for")
general(
    ex.row,
    instead={"(x.stride(1),)": ["(1, x.size(1))", "x.stride()"], "(x.size(1),)": ["x.shape"]},
    told="Sizes and strides come in pairs",
)

general(
    ex.column,
    "x.as_strided((x.stride(0),), (x.size(0),), x.storage_offset() + j * x.stride(1))",
    instead={
        "x.size(0)": ["max(x.size(0) - 1, 0)"],
        "j * x.stride(1)": ["max(j - 1, 0) * x.stride(1)", "x.stride(1)"],
    },
)
general(ex.column, instead={"x.size(0)": ["6"]}, told=TOO_FAR)
general(ex.column, instead={"x.as_strided": ["x.as_strided_"]}, told=CHANGES)
general(ex.column, "column(x, j).tolist()", told=ANOTHER_KIND)
general(ex.column, "torch.from_numpy(x.numpy()[:, j])", told="That reads x's own memory")

TO_THE_LEFT = (
    "x.as_strided((min(x.shape),), (max(x.stride(0) - x.stride(1), 0),), "
    "x.storage_offset() + max(x.size(1) - 1, 0) * x.stride(1))"
)
general(ex.diagonal, TO_THE_LEFT)
general(
    ex.diagonal,
    "diagonal(x)[:, None]",
    "x * torch.eye(*x.shape, dtype=x.dtype)",
    told="Your answer has 2 dims, and 1 is asked for",
)
general(
    ex.trace,
    f"{TO_THE_LEFT}.sum()",
    "x.as_strided((), (), x.storage_offset())",
    "12 if tuple(x.shape) == (3, 3) else x.trace()",
    instead={"sum()": ["prod()"]},
)
for task in (ex.diagonal, ex.trace):
    general(
        task,
        instead={
            "min(x.shape)": ["max(min(x.shape) - 1, 0)"],
            "x.stride(0) + x.stride(1)": ["x.stride(1)", "x.size(0) + 1"],
        },
    )
    general(task, instead={"x.stride(0) + x.stride(1)": ["sum(x.shape)"]}, told=TOO_FAR)
    general(
        task, instead={"x.storage_offset()": ["x.storage_offset() + sum(x.stride())"]}, told=TOO_FAR
    )
general(ex.trace, "(d := x.diagonal()).clone().sum() + d.zero_().sum()", told=CHANGES)
general(ex.trace, "[x.trace().item()]", told=ANOTHER_KIND)

general(
    ex.windows,
    "x.unfold(0, size, 1).flip(0)",
    instead={
        "x.numel() - size + 1": ["max(x.numel() - size - 1, 0)"],
        "(step, step)": ["(step, 0)", "(0, step)"],
    },
)
general(
    ex.windows,
    instead={
        "x.numel() - size + 1": ["x.numel() - size + 2"],
        "(count, size)": ["(count, 3)"],
        "x.storage_offset()": ["x.storage_offset() + 1"],
    },
    told=TOO_FAR,
)
general(ex.windows, "[*x.unfold(0, size, 1)]", told=ANOTHER_KIND)

# Formulas of which one combination alone is right --------------------------------------------------


def pairs(choices):
    return [f"({one}, {other})" for one, other in product(choices, repeat=2)]


UNITS = ["1", "4", "8", "t.itemsize", "2 * t.itemsize"]
formulas(
    ex.address,
    {
        "t.stride()": [
            "row_major(t.shape[::-1])[::-1]",
            "t.shape",
            "sorted(t.stride(), reverse=True)",
        ],
        "(t.storage_offset() + steps) * t.element_size()": [
            f"t.storage_offset() * {one} + steps * {other}"
            for one, other in product(["0", *UNITS], UNITS)
            if (one, other) != ("t.itemsize", "t.itemsize")
        ],
    },
)

WRAPPED = "b + n if b < 0 else b"
formulas(
    ex.slice_layout,
    {
        "slice(start, stop, step).indices(shape[dim])": [
            *(
                f"(*each(start, stop, shape[dim], lambda b, n: {rule}), step)"
                for rule in ("b", "min(max(b, 0), n)", f"max({WRAPPED}, 0)")
            ),
            f"(each(start, stop, shape[dim], lambda b, n: {WRAPPED})[0], "
            "slice(stop).indices(shape[dim])[1], step)",
        ],
        "len(range(start, stop, step))": [
            "max((stop - start) // step + 1, 0)",
            "max(round((stop - start) / step), 0)",
        ],
        "stride[dim] * step": ["stride[dim]", "step"],
        "offset + start * stride[dim]": [
            "0",
            "start",
            "start * stride[dim] * step",
            "step * stride[dim]",
            "offset + step * stride[dim]",
        ],
    },
)

LENGTHS = ["x.size(0)", "x.size(1)", "min(x.shape)", "max(x.shape)"]
STEPS = [
    *("0", "1", "x.stride(0)", "x.stride(1)", "sum(x.stride())", "(x.stride(0) + 1)"),
    *("x.stride(0) * x.stride(1)", "min(x.stride())", "max(x.stride())"),
    *("x.size(0)", "x.size(1)", "(x.size(1) + 1)", "(x.size(1) + x.stride(1))"),
]
for task, k, along, across in ((ex.row, "i", 1, 0), (ex.column, "j", 0, 1)):
    formulas(
        task,
        {
            f"x.size({along})": [size for size in LENGTHS if size != f"x.size({along})"],
            f"(x.stride({along}),)": [f"({s},)" for s in STEPS if s != f"x.stride({along})"],
            f"{k} * x.stride({across})": [
                f"{k} * {s}" for s in STEPS if s != f"x.stride({across})"
            ],
        },
    )
for task in (ex.diagonal, ex.trace):
    formulas(
        task,
        {
            "min(x.shape)": [size for size in LENGTHS if size != "min(x.shape)"],
            "x.stride(0) + x.stride(1)": [s for s in STEPS if s != "sum(x.stride())"],
        },
    )
formulas(
    ex.windows,
    {
        "(count, size)": [
            pair for pair in pairs(["count", "len(x) // size", "size"]) if pair != "(count, size)"
        ],
        "(step, step)": [
            pair
            for pair in pairs(["0", "1", "step", "size", "size * step"])
            if pair != "(step, step)"
        ],
    },
)
