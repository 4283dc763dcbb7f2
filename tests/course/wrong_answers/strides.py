"""Wrong answers to the exercises of notebook 01."""

import ctypes

from stridekit.exercises import strides as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, CHANGES, GENERAL, TOO_FAR, refused

address = ex.address.reference

refused(
    ex.element,
    {
        "as if each index were 1": [lambda index, stride: sum(stride[: len(index)])],
        "You add the last index as it is": [
            lambda index, stride: index[0] * stride[0] + index[-1],
        ],
        "Right for some numbers of dims": [
            "element(index[:4], stride[:4])",
            "index[0] * stride[0] + index[1] * stride[1] + index[2] * stride[2]",
        ],
        "They are walked one after the other": ["prod(index) * prod(stride)"],
        "Right wherever there is a dim": [
            "element(index, stride) if index else None",
            "element(index, stride) if index else 1",
        ],
        GENERAL: ["max(index) * max(stride)", "index[0] * stride[0] * index[-1]"],
        ANOTHER_KIND: ["[i * step for i, step in zip(index, stride)]"],
    },
)
refused(
    ex.address,
    {
        "in reading order": [
            "(c := t.contiguous())[index].data_ptr() - c.untyped_storage().data_ptr()"
        ],
        "Right wherever no index is 0": [
            lambda t, index: address(t, index) if all(index) else min(()),
            lambda t, index: (
                t.itemsize
                * (
                    t.storage_offset()
                    + sum(i * t.stride(d) for d, i in enumerate(index) if all(index[:d]))
                )
            ),
        ],
        "Right wherever t has a dim": ["address(t, index) if index else t.storage_offset()"],
        "That is the value of t": ["t[index].tolist()"],
        "how many bytes does one element take": [  # on a first input without an offset
            lambda t, index: sum(i * s for i, s in zip(index, t.stride(), strict=True)),
            "t[index].storage_offset()",
        ],
        "an address in the memory of this process": [
            "t.data_ptr() + address(t, index)",
            "t.untyped_storage().data_ptr() + address(t, index)",
            lambda t, index: (
                t.untyped_storage().data_ptr()
                + t.itemsize * sum(i * s for i, s in zip(index, t.stride(), strict=True))
            ),
        ],
        "bytes of all elements together": [
            "address(t, index) // t.itemsize * t.numel() * t.itemsize"
        ],
        "You count from 1": ["address(t, index) + sum(t.stride()) * t.itemsize"],
        "You subtract 1 from each index": ["address(t, index) - sum(t.stride()) * t.itemsize"],
        GENERAL: [
            "address(t, index) if t.ndim < 3 else 0",
            "address(t, index) // 4 * 4",
        ],
    },
)

refused(
    ex.contiguous_stride,
    {
        "Right wherever there is an element": [
            "[max(prod(shape[d + 1 :]), 1) for d in range(len(shape))]",
            "contiguous_stride([n for n in shape if n])",
        ],
        "Shape () has no dims": ["contiguous_stride(shape) if shape else None"],
        "Right wherever there is a dim and no size is 0": [
            "[*np.cumprod((1, *shape[:0:-1]))[::-1].tolist()]"
        ],
        "You take a dim's own size": ["[*shape[:-1], 1] if shape else ()"],
        "All your strides are 1": ["[1 for _ in shape]"],
        "the same multiple of the right number": [
            lambda shape: [8 * step for step in ex.contiguous_stride.reference(shape)]
        ],
        GENERAL: [
            "[prod(n or 1 for n in shape[d + 1 : d + 3]) for d in range(len(shape))]",
            "torch.empty(shape).stride()[-4:]",
        ],
        ANOTHER_KIND: ["{*contiguous_stride(shape)}"],
    },
)

SLICED = "slice_layout(shape, stride, offset, dim, start, stop, step)"
PART = f"(s := {SLICED})[0]"
SIZE = "len(range(start, stop, step))"
PLAIN_START = "slice(start, None).indices(shape[dim])[0]"
refused(
    ex.slice_layout,
    {
        "takes `start` as it came": [f"{PART}, s[1], offset + (start or 0) * stride[dim]"],
        "Your new stride is `step` itself": [
            f"{PART}, [step if d == dim else n for d, n in enumerate(stride)], s[2]"
        ],
        "no + 1 belongs to the size": [
            f"{SIZE} => (stop - start) // step + 1 if stop >= start else 0"
        ],
        "You return the layout of x itself": ["tuple(shape), tuple(stride), offset"],
        "Your result has lost the dim": [
            "[n for d, n in enumerate(shape) if d != dim], "
            "[n for d, n in enumerate(stride) if d != dim], "
            "slice_layout(shape, stride, offset, dim, start, stop, step)[2]"
        ],
        "You divide the stride": [
            f"{PART}, [n // step if d == dim else n for d, n in enumerate(stride)], s[2]"
        ],
        "torch does not make an exception": [f"{PART}, s[1], s[2] if s[0][dim] else offset"],
        "adds the size as often as it can": [
            SLICED.replace("stop", "stop % shape[dim] if stop and stop < 0 < shape[dim] else stop")
        ],
        GENERAL: [
            SLICED.replace(
                "start", f"min({PLAIN_START}, max(shape[dim] - 1, 0))"
            ),  # always an index
            SLICED.replace("stop", "-1 if stop is None else stop"),
            SLICED.replace("stop", "stop and stop + (stop < 0)"),  # -1 as the end
            f"{SIZE} => max(stop - start, 0) // step + ((stop - start) % step != 0)",
        ],
        ANOTHER_KIND: [f"{SLICED}[::-1]"],
    },
)

FIRST = "(s := recover_slice(base, view)).start"
refused(
    ex.recover_slice,
    {
        "Your start counts bytes": [
            lambda base, view: slice(
                (a := view.data_ptr() - base.data_ptr()),
                a + view.numel() * (step := view.stride(0) // base.stride(0)),
                step,
            ),
        ],
        "Your stop counts the bytes of view": [
            f"slice({FIRST}, s.start + len(view) * view.itemsize, s.step)"
        ],
        "divide the difference of the offsets by view's stride": [
            lambda base, view: slice(
                (a := (view.storage_offset() - base.storage_offset()) // view.stride(0)),
                a + len(view) * (step := view.stride(0) // base.stride(0)),
                step,
            ),
        ],
        "Your stop lies `view.numel()` indices": [  # four mistakes: the shown input has this alone
            lambda base, view: slice(
                view.storage_offset(), view.storage_offset() + len(view), view.stride(0)
            ),
        ],
        "You subtract the strides": [
            f"slice({FIRST}, s.start + len(view) * (k := view.stride(0) - base.stride(0)), k)"
        ],
        "You divide the strides the wrong way round": [
            f"slice({FIRST}, s.start + len(view) * (k := base.stride(0) // view.stride(0)), k)"
        ],
        "count elements of the storage": [
            "slice(a := view.storage_offset() - base.storage_offset(), "
            "a + len(view) * view.stride()[0], view.stride()[0])"
        ],
        GENERAL: [
            f"slice({FIRST} - len(base), s.stop - len(base), s.step)",
            "view.stride(0) // base.stride(0) => view.stride(0) - base.stride(0) + 1",
        ],
        ANOTHER_KIND: [
            f"slice({FIRST} / 1, s.stop, s.step)",
            f"({FIRST}, s.stop, s.step)",
            f"range({FIRST}, s.stop, s.step)",
        ],
    },
)
refused(
    ex.raw_bytes,
    {
        "a tidy copy": ["t.numpy().tobytes() if t.dtype != torch.bfloat16 else b''"],
        "You are wrong by one byte": [
            "raw_bytes(t) and ctypes.string_at((s := t.untyped_storage()).data_ptr(), len(s) + 1)",
            "raw_bytes(t)[:-1]",
        ],
        GENERAL: [
            "raw_bytes(t).rstrip(bytes(1))",
            "storage.nbytes() => min(storage.nbytes(), 4096)",
            "storage.data_ptr() => t.data_ptr() - t.storage_offset() * 4",
        ],
        CHANGES: ["(raw_bytes(t), t.untyped_storage().fill_(0))[0]"],
        ANOTHER_KIND: ["raw_bytes(t).hex()"],
    },
)

refused(
    ex.row,
    {
        "Your row starts at element 0 of the storage": [
            "x[i].as_strided(x[i].size(), x[i].stride(), 0)"
        ],
        "That is column i": ["x[:, i] if i < x.size(1) else x[:, 99]"],
        "by the number of rows, `len(x)`": [
            "x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + i * len(x))"
        ],
        "You count from 1": [
            "x.as_strided((x.size(1),), x.stride()[1:], x[0].storage_offset() + -~i * x.stride(0))"
        ],
        "all elements of your row are its first": ["x[i, :1].expand(x.size(1))"],
        "One element is missing": ["x[i, :-1]"],
        "only where x is contiguous already": [
            "(y := x.contiguous()).as_strided((y.size(1),), (1,), y.storage_offset() + i * y.size(1))"
        ],
        ANOTHER_KIND: ["x.numpy()[i]"],
        "Your answer has 2 dims, and 1 is asked for": ["row(x, i)[:, None]"],
        "Sizes and strides come in pairs": ["(x.stride(1),) => x.stride()"],
        "That reads x's own memory and copies nothing": ["torch.from_numpy(x.numpy()[i])"],
        GENERAL: ["i * x.stride(0) => max(i - 1, 0) * x.stride(0)"],
        TOO_FAR: ["x.size(1) => 6"],
        CHANGES: ["x.as_strided => x.as_strided_"],
    },
)
refused(
    ex.column,
    {
        "That reads x's own memory and copies nothing": ["torch.from_numpy(x.numpy()[:, j])"],
        "by the number of columns": [
            "x.as_strided((len(x),), (x.stride(0),), x.storage_offset() + j * len(x[0]))"
        ],
        "by the number of rows": ["(x.stride(0),) => (len(x),)"],
        "You count from 1": ["j * x.stride(1) => j * x.stride(1) + x.stride(1)"],
        "all elements of your column are its first": ["x[:1, j].expand(len(x))"],
        "One element is missing": ["x[:-1, j]"],
        "only where `x.t()` is contiguous already": ["x.mT.contiguous()[j]"],
        GENERAL: ["j * x.stride(1) => max(j - 1, 0) * x.stride(1)"],
        TOO_FAR: ["x.size(0) => 6"],
        CHANGES: ["x.as_strided => x.as_strided_"],
    },
)

for task in (ex.diagonal, ex.trace):
    refused(
        task,
        {
            "by the number of rows plus one": ["x.stride(0) + x.stride(1) => len(x) + 1"],
            "You only go to the right": ["x.stride(0) + x.stride(1) => x.stride()[1]"],
            "One element is missing": ["min(x.shape) => min(x.size(0) - 1, x.size(1) - 1)"],
            "one row down and one element on": [
                "x.stride(0) + x.stride(1) => 1 + max(*x.stride())"
            ],
            GENERAL: ["x.stride(0) + x.stride(1) => abs(x.stride(0) - x.stride(1))"],
            TOO_FAR: ["x.stride(0) + x.stride(1) => sum(x.shape)"],
        },
    )
refused(
    ex.diagonal,
    {
        "Your answer has 2 dims, and 1 is asked for": ["x * torch.eye(*x.shape, dtype=x.dtype)"],
        "all rows laid end to end": ["x.reshape(-1)[:: x.size(1) + 1]"],
    },
)
refused(
    ex.trace,
    {
        "all rows laid end to end": ["x.reshape(-1)[:: x.size(1) + 1].sum()"],
        GENERAL: ["12 if tuple(x.shape) == (3, 3) else x.trace()"],
        CHANGES: ["(d := x.diagonal()).clone().sum() + d.zero_().sum()"],
        ANOTHER_KIND: ["[x.trace().item()]"],
    },
)
refused(
    ex.windows,
    {
        "All your windows are the first": ["x[:size].expand(len(x) - size + 1, size)"],
        "Windows are missing": ["x.unfold(0, size, 1)[:-2]", "x.unfold(0, size, 1)[:-1]"],
        GENERAL: ["(step, step) => (step, 0)"],
        TOO_FAR: ["(count, size) => (count, 3)"],
        ANOTHER_KIND: ["[*x.unfold(0, size, 1)]"],
    },
)


def slice_without_bounds(shape, stride, offset, dim, start, stop, step):
    start = start or 0
    stop = stop or shape[dim]
    sizes, steps = list(shape), list(stride)
    sizes[dim] = -(-(stop - start) // step)
    steps[dim] *= step
    return tuple(sizes), tuple(steps), offset + start * stride[dim]


def slice_of_storage(base, view):
    start = view.storage_offset() - base.storage_offset()
    return slice(start, start + len(view), view.stride(0))


refused(ex.slice_layout, {"You take `start` and `stop` as they come": [slice_without_bounds]})
refused(ex.recover_slice, {"every kept element takes a whole step": [slice_of_storage]})


def way_along_the_last_dim(index, stride):
    number = 0
    for i, step in zip(index, stride, strict=True):
        number = i * step
    return number


def sizes_up_to_each_dim(shape):
    strides, step = [], 1
    for size in shape:
        step *= size
        strides.append(step)
    return tuple(strides)


refused(
    ex.element,
    {
        "You keep the way along the last dim alone": [way_along_the_last_dim],
        "as if you counted bytes": [
            lambda index, stride: sum(4 * i * step for i, step in zip(index, stride, strict=True)),
        ],
        "You pair the first index with the second stride": [
            lambda index, stride: index[1] * stride[0] + index[0] * stride[1],
        ],
    },
)
refused(ex.contiguous_stride, {"That is column-major": [sizes_up_to_each_dim]})
refused(
    ex.raw_bytes,
    {
        "Your size counts elements": [lambda t: ctypes.string_at(t.data_ptr(), t.numel())],
        "You take one number of bytes": [
            lambda t: ctypes.string_at(t.untyped_storage().data_ptr(), t.numel() * 4),
        ],
    },
)
