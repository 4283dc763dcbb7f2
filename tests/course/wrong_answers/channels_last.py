"""Wrong answers to the exercises of notebook 04."""

import math

from stridekit.exercises import channels_last as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, CHANGES, GENERAL, OUTSIDE, refused

refused(
    ex.channels_last_stride,
    {
        "as if you counted bytes": ["[4 * s for s in channels_last_stride(shape)]"],
        "in which the dims lie in memory": [
            "[shape[3] * s for s in (shape[2] * shape[1], shape[1])] + [shape[1], 1]"
        ],
        "Those are the strides of contiguous_format in another order": [
            "torch.empty(shape).permute(0, 2, 3, 1).stride()",
        ],
        "You read the shape as (N, H, W, C)": ["torch.empty(shape).permute(0, 3, 1, 2).stride()"],
        "Right except for H": [
            "[shape[1] * shape[2] * shape[3], 1, shape[2] * shape[3], shape[1]]"
        ],
        "Right except for N and H": ["[shape[2] * shape[3], 1, shape[3], shape[1]]"],
        "You exchange C and W": [
            "[shape[1] * shape[2] * shape[3], shape[1], shape[1] * shape[3], 1]"
        ],
        "You forgot the channels": ["[shape[1] * shape[2] * shape[3], 1, shape[3], 1]"],
        GENERAL: ["_, c, h, w = shape => _, c, h, _ = shape; w = h"],
    },
)

VIEW = "channels_last_view(images)"
refused(
    ex.channels_last_view,
    {
        "Every value is at its index, but in new memory": [
            "torch.stack(images.unbind(-1), 1)",
            "torch.from_numpy(np.ascontiguousarray(images.numpy().transpose(0, 3, 1, 2)))",
        ],
        "on other memory: that is a copy": [
            "torch.tensor(images.tolist(), dtype=images.dtype).movedim(-1, 1)"
        ],
        "takes the second dim for the channels": [
            "torch.empty_like(images, memory_format=torch.channels_last).copy_(images)"
        ],
        "the dtype is not": [f"{VIEW}.to(torch.float32)"],
        "counts from the start of the storage": [
            f"images.as_strided({VIEW}.shape, {VIEW}.stride(), storage_offset=0)"
        ],
        "You reverse all four dims": ["images.transpose(0, 3).transpose(1, 2)"],
        GENERAL: [f"{VIEW}[:2]"],
        CHANGES: ["images.transpose_(1, 3).transpose_(2, 3)"],
        ANOTHER_KIND: ["images.numpy().transpose(0, 3, 1, 2)"],
    },
)

TENSOR = "torch.empty_strided(shape, stride)"
refused(
    ex.formats,
    {
        "Where none does, you answer None": ["formats(shape, stride) or print(end='')"],
        "A tensor is also empty if another of its sizes is 0": [
            "{f for f in formats((shape[0], *shape[1:]), stride) if shape[0] == 0 or 0 not in shape "
            "or f == 'channels_last' or formats([n or 1 for n in shape], stride) & {f}}"
        ],
        "You answer the same for every layout": ["[]", "('channels_last', 'contiguous_format')"],
        "the formats in which the tensor is not contiguous": [
            "{name for name in NAMES if name not in formats(shape, stride)}"
        ],
        "can still be a slice with gaps": [
            "{*formats(shape, stride), *(NAMES[1:] if shape[1] == 1 else ())}"
        ],
        GENERAL: [f"{{NAMES[(t := {TENSOR}).to(memory_format=torch.channels_last) is t]}}"],
        ANOTHER_KIND: [
            f"[(t := {TENSOR}).is_contiguous(), t.is_contiguous(memory_format=torch.channels_last)]",
            "'both'",
        ],
    },
)


LOST = "not x.is_contiguous(memory_format=torch.channels_last)"
refused(
    ex.first_to_lose,
    {
        "One too many": ["return k => return 1 + k", "first_to_lose(layers, x) + 1"],
        "You answer the same for every network": ["min(len(layers), 0)"],
        "You count the layers whose output": ["sum(1 for _ in losses(layers, x)[1:])"],
        "You convert x before the first layer": [
            lambda layers, x: ex.first_to_lose.reference(layers, x.clone().contiguous())
        ],
        "You only look at the last output": [
            f"return k => continue && return len(layers) => return len(layers) - ({LOST})"
        ],
        "Where none does, answer `len(layers)`": ["return len(layers) => return None"],
        "You convert each output": ["layer(x) => layer(x.to(memory_format=torch.channels_last))"],
        GENERAL: [f"{LOST} => x.dim_order(ambiguity_check=True) != (0, 2, 3, 1)"],
        ANOTHER_KIND: ["return k => return layer"],
    },
)

ROWS = "flatten_images(x)"
refused(
    ex.flatten_images,
    {
        "`view` never copies, so it raises": [
            "x.view(x.size(0), x.size(1) * x.size(2) * x.size(3))"
        ],
        "One copy too many": [f"(x.clone(), {ROWS})[1]"],
        "the dtype is not": [f"{ROWS}.to(torch.float64)"],
        "C becomes part of the row, too": ["x.reshape(*x.shape[:2], x.size(2) * x.size(3))"],
        "W becomes part of the row, too": ["x.flatten(1, -2)"],
        "You merge the images with their channels": ["x.flatten(end_dim=1)"],
        "You convert to channels_last first": [
            "x.to(memory_format=torch.channels_last).flatten(1)"
        ],
        GENERAL: [f"(x.clone().clone(), {ROWS})[1]", f"{ROWS}.flip(0)"],
        OUTSIDE: ["torch.from_numpy(x.numpy().reshape(len(x), math.prod(x.shape[1:])).copy())"],
        ANOTHER_KIND: [f"{ROWS}.numpy()"],
    },
)

COUNTED = "next((n for n in range({}) if convert + n * after <= n * before), math.inf)"
refused(
    ex.uses_to_pay_back,
    {
        "Nothing limits n": [COUNTED.format(most) for most in (200, 1_000_000)],
        "A conversion that costs 0 has paid back": [
            "max(1, math.ceil(convert / (before - after))) if before > after else math.inf"
        ],
        "You count `after` once": [
            lambda convert, before, after: math.ceil((convert + after) / before)
        ],
        "not yet a count of uses": [lambda convert, before, after: convert / (before - after)],
        "Your quotient is upside down": ["-((after - before) // convert) if convert > 0 else 0"],
        "does not depend on `convert`": [
            "0 if convert == 0 else math.inf if after >= before else math.ceil((before - after) / 1000)"
        ],
        GENERAL: [
            "math.ceil(convert * (before - after))",
            "uses_to_pay_back(round(convert), before, after)",
        ],
        ANOTHER_KIND: ["'never'", "before > after"],
    },
)


def lost_by_the_stride_of_c(layers, x):
    for number, layer in enumerate(layers):
        x = layer(x)
        if x.stride(1) != 1:
            return number
    return len(layers)


refused(ex.first_to_lose, {"An output of one dim has none": [lost_by_the_stride_of_c]})
