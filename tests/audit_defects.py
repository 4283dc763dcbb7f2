"""Layout defects, planted one by one for `test_audit_findings.py`: each with the same code without it.

`# here` marks the line that costs, `# made` the line that made the layout; without a mark it came as an
input. The bytes are counted by hand: elements times four.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

LAST = torch.channels_last


@dataclass
class Defect:
    """What was planted: its kind, its bytes, and both ways to write it."""

    kind: str
    bytes: int
    planted: Callable[..., Any]
    inputs: tuple[Any, ...]
    clean: Callable[..., Any]


DEFECTS: dict[str, Defect] = {}


def planted(kind: str, size: int, *inputs: Any, clean: Callable[..., Any]) -> Callable[..., Any]:
    def note(function):
        DEFECTS[function.__name__] = Defect(kind, size, function, inputs, clean)
        return function

    return note


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def last(*shape: int) -> torch.Tensor:
    return randn(*shape).to(memory_format=LAST)


def image(x: torch.Tensor) -> torch.Tensor:
    """The same picture, made by an operation of images."""
    return F.avg_pool2d(x, 1)


RESHAPE = "copy by reshape"


@planted(RESHAPE, 96, randn(4, 6), clean=lambda x: x.reshape(-1) * 2)
def reshape_of_a_transpose(x):
    y = x.t()  # made
    z = y.reshape(-1)  # here
    return z * 2


@planted(RESHAPE, 480, randn(2, 3, 4, 5), clean=lambda x: x.reshape(2, 60) * 2)
def reshape_of_a_permute(x):
    y = x.permute(0, 2, 1, 3)  # made
    z = y.reshape(2, 60)  # here
    return z * 2


@planted(RESHAPE, 64, randn(4, 7), clean=lambda x: x[1:3] * 2)
def reshape_of_a_step(x):
    y = x[:, ::2]  # made
    return y.reshape(16)  # here


@planted(RESHAPE, 96, randn(2, 12), clean=lambda x: x.view(4, 6) * 2)
def reshape_of_a_movedim(x):
    y = x.view(2, 3, 4).movedim(1, 2)  # made
    z = y + 1
    return z.reshape(24)  # here


@planted(RESHAPE, 96, randn(4, 6), clean=lambda x: x.unsqueeze(1).flatten())
def flatten_behind_views_that_change_nothing(x):
    y = x.mT  # made
    y = y.unsqueeze(1).squeeze(1).view(6, 4)
    return y.flatten()  # here


@planted(RESHAPE, 192, randn(2, 4, 6), clean=lambda x: x.view(8, 6) * 2)
def unflatten_of_heads(x):
    y = x.view(2, 4, 2, 3).transpose(1, 2)  # made
    y = torch.relu(y)
    return y.reshape(4, 12)  # here


EXPLICIT = "explicit copy"


@planted(EXPLICIT, 96, randn(4, 6), clean=lambda x: x.t() * 2)
def contiguous_before_a_product(x):
    y = x.t()  # made
    y = y.contiguous()  # here
    return y * 2


@planted(EXPLICIT, 1152, randn(2, 4, 6, 6), clean=lambda x: F.relu(x + 1))
def channels_last_in_the_middle(x):
    y = x + 1
    return F.relu(y.to(memory_format=LAST))  # here


def attend(q):
    return F.scaled_dot_product_attention(q, q, q)


@planted(EXPLICIT, 384, randn(2, 6, 2, 4), clean=lambda q: attend(q.transpose(1, 2)))
def contiguous_before_sdpa(q):
    q = q.transpose(1, 2)  # made
    return attend(q.contiguous())  # here


INSIDE = "copy inside an op"


@planted(INSIDE, 64, randn(4, 8), clean=lambda w: torch.mm(torch.ones(3, 4), w[:, :4]))
def product_with_every_other_column(w):
    half = w[:, ::2]  # made
    return torch.mm(torch.ones(3, 4), half)  # here


@planted(INSIDE, 64, randn(4, 8), clean=lambda w: F.linear(torch.ones(3, 4), w[:, :4]))
def linear_with_every_other_column(w):
    half = w[:, ::2]  # made
    return F.linear(torch.ones(3, 4), half)  # here


@planted(INSIDE, 160, randn(2, 5, 4), clean=lambda x: F.layer_norm(x, (4,)))
def norm_of_a_permute(x):
    y = x.permute(0, 2, 1)  # made
    return F.layer_norm(y, (5,))  # here


@planted(INSIDE, 320, randn(2, 10, 4), clean=lambda x: F.conv1d(x, torch.ones(3, 10, 1)))
def convolution_over_time(x):
    y = x.transpose(1, 2)  # made
    return F.conv1d(y, torch.ones(3, 4, 2))  # here


EXPANDED = "expanded tensor written out"


@planted(EXPANDED, 96, randn(4, 1), clean=lambda x: x.expand(4, 6) + 1)
def contiguous_of_an_expand(x):
    y = x.expand(4, 6)  # made
    return y.contiguous() + 1  # here


@planted(EXPANDED, 384, randn(2, 2, 4, 3), clean=lambda k: k[:, :, None].expand(2, 2, 2, 4, 3) * 2)
def keys_repeated_for_groups(k):
    many = k[:, :, None].expand(2, 2, 2, 4, 3)  # made
    return many.reshape(2, 4, 4, 3)  # here


REPEATED = "repeated copy"


@planted(REPEATED, 288, randn(4, 6), clean=lambda w: [w * k for k in range(3)])
def a_transpose_in_a_loop(w):
    out = 0
    for _ in range(3):
        out = out + w.t().contiguous()  # here # made
    return out


@planted(REPEATED, 192, randn(4, 8), clean=lambda w: [torch.ones(2, 4) @ w for _ in range(3)])
def every_other_column_in_a_loop(w):
    half, out = w[:, ::2], 0  # made
    for _ in range(3):
        out = out + torch.mm(torch.ones(2, 4), half)  # here
    return out


@planted(REPEATED, 320, randn(2, 5, 4), clean=lambda x: (F.layer_norm(x, (4,)), x + 1))
def two_norms_of_one_permute(x):
    y = x.permute(0, 2, 1)  # made
    return [F.layer_norm(y, (5,)) for _ in range(2)]  # here


@planted(REPEATED, 192, randn(4, 6), clean=lambda x: (x.t() + 1, x.t() + 2))
def a_helper_that_is_called_twice(x):
    turned = lambda: x.t().reshape(-1)  # noqa: E731 # here # made
    return turned() + turned()


TRIP = "round trip"


@planted(TRIP, 960, randn(2, 3, 4, 5), clean=lambda x: F.relu(x))
def there_and_back(x):
    y = x.permute(0, 2, 3, 1).contiguous()  # made
    y = F.relu(y)
    return y.permute(0, 3, 1, 2).contiguous()  # here


@planted(TRIP, 192, randn(4, 6), clean=lambda x: x * 2 + 1)
def there_and_back_in_two_dims(x):
    y = x.t().contiguous()  # made
    y = y * 2 + 1
    return y.t().contiguous()  # here


@planted(TRIP, 960, randn(2, 3, 20), clean=lambda x: torch.tanh(x))
def there_and_back_by_reshape(x):
    y = x.transpose(1, 2).reshape(40, 3)  # made
    y = torch.tanh(y)
    return y.view(2, 20, 3).transpose(1, 2).reshape(6, 20)  # here


LOST = "channels-last lost"


@planted(LOST, 1152, last(2, 4, 6, 6), clean=lambda x: F.channel_shuffle(x, 2))
def shuffle_of_channels(x):
    y = image(x).view(2, 2, 2, 6, 6).transpose(1, 2)  # made
    return y.reshape(2, 4, 6, 6)  # here


@planted("copy by reshape", 1152, last(2, 4, 6, 6), clean=lambda x: torch.relu(x))
def shuffle_that_keeps_channels_last(x):
    y = x.movedim(1, -1).unflatten(-1, (2, -1)).mT  # made
    return y.flatten(-2).movedim(-1, 1)  # here


TWO = "convolution of two formats"


MIXED = "formats mixed"


NOTHING = "call that does nothing"


SMALL = "small view of a large storage"


@planted(SMALL, 320, randn(2, 6, 8), clean=lambda x: (x + 1)[:, -1].clone())
def the_last_token(x):
    y = x + 1  # made
    return y[:, -1]  # here


@planted(SMALL, 396, randn(10, 10), clean=lambda x: (x * 2).sum())
def one_number(x):
    y = x * 2  # made
    return y[3, 3]  # here


PHOTO, ROWS = last(2, 4, 6, 6), randn(2, 4, 6, 6)
# On one line, which is the one that costs: kind, bytes, both ways to write it, and inputs.
ON_ONE_LINE = {
    "flatten_of_a_picture": (
        RESHAPE, 576, lambda x: x.flatten(1), lambda x: x.permute(0, 2, 3, 1).flatten(1), last(2, 8, 3, 3),
    ),
    "patches_of_channels_last": (INSIDE, 1152, lambda x: F.unfold(x, 3), torch.relu, PHOTO),
    "contiguous_out_of_habit": (LOST, 1152, lambda x: torch.relu(image(x).contiguous()), torch.relu, PHOTO),
    "a_mask_filled": (
        LOST, 1152, lambda x: image(x).masked_fill(x < 0, 0.0), lambda x: torch.where(x > 0, x, 0.0), PHOTO,
    ),
    "softmax_over_channels": (LOST, 1152, lambda x: image(x).softmax(1), torch.sigmoid, PHOTO),
    "channels_chosen_by_a_list": (
        LOST, 576, lambda x: image(x)[:, [0, 1]], lambda x: x.narrow(1, 0, 2) + 1, PHOTO,
    ),
    "a_model_left_in_rows": (
        TWO, 576, lambda x, w: F.conv2d(x, w),
        lambda x, w: F.conv2d(x, w.to(memory_format=LAST)), PHOTO, randn(4, 4, 3, 3),
    ),
    "an_input_left_in_rows": (
        TWO, 1152, lambda x, w: F.conv2d(x, w),
        lambda x, w: F.conv2d(x.to(memory_format=LAST), w), ROWS, last(4, 4, 3, 3),
    ),
    "a_transposed_convolution": (
        TWO, 128, lambda x, w: F.conv_transpose2d(x, w, stride=2),
        lambda x, w: F.conv_transpose2d(x, w.to(memory_format=LAST)), PHOTO, randn(4, 2, 2, 2),
    ),
    "a_sum_of_two_formats": (
        MIXED, 1152, lambda x, y: image(x) + y, lambda x, y: x + y.to(memory_format=LAST), PHOTO, ROWS,
    ),
    "a_product_of_two_formats": (
        MIXED, 1152, lambda x, y: image(x) * y, lambda x, y: x.to(memory_format=LAST) * y, ROWS, PHOTO,
    ),
    "a_cat_of_two_formats": (
        MIXED, 1152, lambda x, y: torch.cat([image(x), y], 1), lambda x, y: torch.cat([x, x]), PHOTO, ROWS,
    ),
    "contiguous_of_rows": (NOTHING, 0, lambda x: x.contiguous() * 2, lambda x: x * 2, randn(4, 6)),
    "channels_last_of_channels_last": (
        NOTHING, 0, lambda x: x.to(memory_format=LAST) * 2, lambda x: x * 2, PHOTO,
    ),
}  # fmt: skip
for name, (kind, size, function, clean, *inputs) in ON_ONE_LINE.items():
    DEFECTS[name] = Defect(kind, size, function, tuple(inputs), clean)
