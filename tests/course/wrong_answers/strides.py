"""Wrong answers to the exercises of notebook 01."""

from stridekit.exercises import strides as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, CHANGES, GENERAL, TOO_FAR, refused

address = ex.address.reference

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
        "That is what t holds": ["t[index].tolist()"],
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
        "torch does not make an exception": [f"{PART}, s[1], s[2] if s[0][dim] else offset"],
        "goes round as often as it can": [
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
        GENERAL: ["j * x.stride(1) => max(j - 1, 0) * x.stride(1)"],
        TOO_FAR: ["x.size(0) => 6"],
        CHANGES: ["x.as_strided => x.as_strided_"],
    },
)

for task in (ex.diagonal, ex.trace):
    refused(
        task,
        {
            GENERAL: ["x.stride(0) + x.stride(1) => x.size(0) + 1"],
            TOO_FAR: ["x.stride(0) + x.stride(1) => sum(x.shape)"],
        },
    )
refused(
    ex.diagonal,
    {
        "Your answer has 2 dims, and 1 is asked for": ["x * torch.eye(*x.shape, dtype=x.dtype)"],
    },
)
refused(
    ex.trace,
    {
        GENERAL: ["12 if tuple(x.shape) == (3, 3) else x.trace()"],
        CHANGES: ["(d := x.diagonal()).clone().sum() + d.zero_().sum()"],
        ANOTHER_KIND: ["[x.trace().item()]"],
    },
)
refused(
    ex.windows,
    {
        GENERAL: ["(step, step) => (step, 0)"],
        TOO_FAR: ["(count, size) => (count, 3)"],
        ANOTHER_KIND: ["[*x.unfold(0, size, 1)]"],
    },
)
