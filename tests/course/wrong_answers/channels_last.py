"""Wrong answers to the exercises of notebook 04."""

from stridekit.exercises import channels_last as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, CHANGES, GENERAL, OUTSIDE, refused

refused(
    ex.channels_last_stride,
    {
        "as bytes would be": ["[4 * s for s in channels_last_stride(shape)]"],
        "in which the dims lie in memory": [
            "[shape[3] * s for s in (shape[2] * shape[1], shape[1])] + [shape[1], 1]"
        ],
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
        "takes the second dim, H, for the channels": [
            "torch.empty_like(images, memory_format=torch.channels_last).copy_(images)"
        ],
        GENERAL: [
            f"{VIEW}[:2]",
            f"{VIEW}.float()",
            f"images.as_strided({VIEW}.shape, {VIEW}.stride(), 0)",
        ],
        CHANGES: ["images.transpose_(1, 3).transpose_(2, 3)"],
        ANOTHER_KIND: ["images.numpy().transpose(0, 3, 1, 2)"],
    },
)

TENSOR = "torch.empty_strided(shape, stride)"
refused(
    ex.formats,
    {
        "Where none does, you answer None": ["formats(shape, stride) or print(end='')"],
        "A tensor is empty where any of its sizes is 0": [
            "{f for f in formats((shape[0], *shape[1:]), stride) if shape[0] == 0 or 0 not in shape "
            "or f == 'channels_last' or formats([n or 1 for n in shape], stride) & {f}}"
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
        "One too many": ["return k => return 1 + k"],
        "You only look at what comes out at the end": [
            f"return k => continue && return len(layers) => return len(layers) - ({LOST})"
        ],
        "Where none does, answer `len(layers)`": ["return len(layers) => return None"],
        "You convert what one layer returns": [
            "layer(x) => layer(x.to(memory_format=torch.channels_last))"
        ],
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
        GENERAL: [f"{ROWS}.double()", f"(x.clone().clone(), {ROWS})[1]"],
        OUTSIDE: ["torch.from_numpy(x.numpy().reshape(len(x), math.prod(x.shape[1:])).copy())"],
        ANOTHER_KIND: [f"{ROWS}.numpy()"],
    },
)

COUNTED = "next((n for n in range({}) if convert + n * after <= n * before), math.inf)"
refused(
    ex.uses_to_pay_back,
    {
        "Nothing limits n": [COUNTED.format(most) for most in (200, 1_000_000)],
        "takes no notice of what converting costs": [
            "0 if convert == 0 else math.inf if after >= before else math.ceil((before - after) / 1000)"
        ],
        GENERAL: [
            "math.ceil(convert * (before - after))",
            "uses_to_pay_back(round(convert), before, after)",
        ],
        ANOTHER_KIND: ["'never'", "before > after"],
    },
)
