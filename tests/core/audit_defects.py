"""Layout defects, planted one by one for `test_audit_findings.py`: each with the same code without it.

The bytes are counted by hand: elements times four.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from stridekit.audit import findings as kind

LAST = torch.channels_last


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def last(*shape: int) -> torch.Tensor:
    return randn(*shape).to(memory_format=LAST)


def image(x: torch.Tensor) -> torch.Tensor:
    """The same picture, made by an operation of images."""
    return F.avg_pool2d(x, 1)


def attend(q: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, q, q)


class Defect(NamedTuple):
    """Its kind, its bytes, both ways to write it, what made the layout ("" for an input), and inputs."""

    kind: str
    bytes: int
    planted: Callable[..., Any]
    clean: Callable[..., Any]
    made: str
    inputs: tuple[torch.Tensor, ...]


MATRIX, PHOTO, ROWS, WIDE = randn(4, 6), last(2, 4, 6, 6), randn(2, 4, 6, 6), randn(4, 8)
TABLE: dict[str, tuple[Any, ...]] = {
    "reshape_of_a_transpose": (
        kind.RESHAPE, 96, lambda x: x.t().reshape(-1) * 2, lambda x: x.reshape(-1) * 2, "x.t()", MATRIX,
    ),
    "reshape_of_a_permute": (
        kind.RESHAPE, 216, lambda x: F.max_pool2d(x.permute(0, 3, 1, 2), 2).reshape(2, 27),
        lambda x: x.reshape(2, 108) * 2, "x.permute(0, 3, 1, 2)", randn(2, 6, 6, 3),
    ),
    "reshape_of_a_step": (
        kind.RESHAPE, 64, lambda x: x[:, ::2].reshape(16), lambda x: x[1:3] * 2, "x[:, ::2]", randn(4, 7),
    ),
    "reshape_of_a_movedim": (
        kind.RESHAPE, 96, lambda x: (x.view(2, 3, 4).movedim(1, 2) + 1).reshape(24),
        lambda x: x.view(4, 6) * 2, "x.view(2, 3, 4).movedim(1, 2)", randn(2, 12),
    ),
    "flatten_behind_views_that_change_nothing": (
        kind.RESHAPE, 96, lambda x: x.mT.unsqueeze(1).squeeze(1).view(6, 4).flatten(),
        lambda x: x.unsqueeze(1).flatten(), "x.mT", MATRIX,
    ),
    "unflatten_of_heads": (
        kind.RESHAPE, 192, lambda x: torch.relu(x.view(2, 4, 2, 3).transpose(1, 2)).reshape(4, 12),
        lambda x: x.view(8, 6) * 2, "x.view(2, 4, 2, 3).transpose(1, 2)", randn(2, 4, 6),
    ),
    "shuffle_that_keeps_channels_last": (
        kind.RESHAPE, 1152,
        lambda x: x.movedim(1, -1).unflatten(-1, (2, -1)).mT.flatten(-2).movedim(-1, 1), torch.relu,
        "x.movedim(1, -1).unflatten(-1, (2, -1)).mT", PHOTO,
    ),
    "contiguous_before_a_product": (
        kind.EXPLICIT, 96, lambda x: x.t().contiguous() * 2, lambda x: x.t() * 2, "x.t()", MATRIX,
    ),
    "channels_last_in_the_middle": (
        kind.EXPLICIT, 1152, lambda x: F.relu((x + 1).to(memory_format=LAST)), lambda x: F.relu(x + 1),
        "", ROWS,
    ),
    "contiguous_before_sdpa": (
        kind.EXPLICIT, 384, lambda q: attend(q.transpose(1, 2).contiguous()),
        lambda q: attend(q.transpose(1, 2)), "q.transpose(1, 2)", randn(2, 6, 2, 4),
    ),
    "product_with_every_other_column": (
        kind.OF_OP, 64, lambda w: torch.mm(torch.ones(3, 4), w[:, ::2]),
        lambda w: torch.mm(torch.ones(3, 4), w[:, :4]), "w[:, ::2]", WIDE,
    ),
    "linear_with_every_other_column": (
        kind.OF_OP, 64, lambda w: F.linear(torch.ones(3, 4), w[:, ::2]),
        lambda w: F.linear(torch.ones(3, 4), w[:, :4]), "w[:, ::2]", WIDE,
    ),
    "norm_of_a_permute": (
        kind.OF_OP, 160, lambda x: F.layer_norm(x.permute(0, 2, 1), (5,)), lambda x: F.layer_norm(x, (4,)),
        "x.permute(0, 2, 1)", randn(2, 5, 4),
    ),
    "convolution_over_time": (
        kind.OF_OP, 320, lambda x: F.conv1d(x.transpose(1, 2), torch.ones(3, 4, 2)),
        lambda x: F.conv1d(x, torch.ones(3, 10, 1)), "x.transpose(1, 2)", randn(2, 10, 4),
    ),
    "contiguous_of_an_expand": (
        kind.WRITTEN_OUT, 96, lambda x: x.expand(4, 6).contiguous() + 1, lambda x: x.expand(4, 6) + 1,
        "x.expand(4, 6)", randn(4, 1),
    ),
    "keys_repeated_for_groups": (
        kind.WRITTEN_OUT, 384, lambda k: k[:, :, None].expand(2, 2, 2, 4, 3).reshape(2, 4, 4, 3),
        lambda k: k[:, :, None].expand(2, 2, 2, 4, 3) * 2, "k[:, :, None].expand(2, 2, 2, 4, 3)",
        randn(2, 2, 4, 3),
    ),
    "a_transpose_in_a_loop": (
        kind.REPEATED, 288, lambda w: [w.t().contiguous() for _ in range(3)],
        lambda w: [w * k for k in range(3)], "w.t()", MATRIX,
    ),
    "every_other_column_in_a_loop": (
        kind.REPEATED, 192, lambda w: [torch.mm(torch.ones(2, 4), half) for half in 3 * [w[:, ::2]]],
        lambda w: [torch.ones(2, 4) @ w for _ in range(3)], "w[:, ::2]", WIDE,
    ),
    "two_norms_of_one_permute": (
        kind.REPEATED, 320, lambda x: [F.layer_norm(y, (5,)) for y in 2 * [x.permute(0, 2, 1)]],
        lambda x: (F.layer_norm(x, (4,)), x + 1), "x.permute(0, 2, 1)", randn(2, 5, 4),
    ),
    "a_reshape_in_a_loop": (
        kind.REPEATED, 192, lambda x: [x.t().reshape(-1) for _ in range(2)],
        lambda x: (x.t() + 1, x.t() + 2), "x.t()", MATRIX,
    ),
    "there_and_back": (
        kind.TRIP, 960, lambda x: F.relu(x.movedim(1, 3).contiguous()).movedim(3, 1).contiguous(), F.relu,
        "x.movedim(1, 3).contiguous()", randn(2, 3, 4, 5),
    ),
    "there_and_back_in_two_dims": (
        kind.TRIP, 192, lambda x: (x.t().contiguous() * 2).t().contiguous(), lambda x: x * 2,
        "x.t().contiguous()", MATRIX,
    ),
    "there_and_back_by_reshape": (
        kind.TRIP, 960,
        lambda x: torch.tanh(x.mT.reshape(40, 3)).view(2, 20, 3).transpose(1, 2).reshape(6, 20),
        torch.tanh, "x.mT.reshape(40, 3)", randn(2, 3, 20),
    ),
    "shuffle_of_channels": (
        kind.LOST, 1152, lambda x: image(x).view(2, 2, 2, 6, 6).transpose(1, 2).reshape(2, 4, 6, 6),
        lambda x: F.channel_shuffle(x, 2), "image(x).view(2, 2, 2, 6, 6).transpose(1, 2)", PHOTO,
    ),
    "the_last_token": (
        kind.SMALL, 320, lambda x: (x + 1)[:, -1], lambda x: (x + 1)[:, -1].clone(), "x + 1",
        randn(2, 6, 8),
    ),
    "one_number": (
        kind.SMALL, 396, lambda x: (x * 2)[3, 3], lambda x: (x * 2).sum(), "x * 2", randn(10, 10),
    ),
    # Where the layout came with an input: its own, or a contiguous one.
    "flatten_of_a_picture": (
        kind.RESHAPE, 576, lambda x: x.flatten(1), lambda x: x.permute(0, 2, 3, 1).flatten(1), "",
        last(2, 8, 3, 3),
    ),
    "patches_of_channels_last": (kind.OF_OP, 1152, lambda x: F.unfold(x, 3), torch.relu, "", PHOTO),
    "contiguous_out_of_habit": (
        kind.LOST, 1152, lambda x: torch.relu(image(x).contiguous()), torch.relu, "", PHOTO,
    ),
    "a_mask_filled": (
        kind.LOST, 1152, lambda x: image(x).masked_fill(x < 0, 0.0), lambda x: torch.where(x > 0, x, 0.0),
        "", PHOTO,
    ),
    "softmax_over_channels": (kind.LOST, 1152, lambda x: image(x).softmax(1), torch.sigmoid, "", PHOTO),
    "channels_chosen_by_a_list": (
        kind.LOST, 576, lambda x: image(x)[:, [0, 1]], lambda x: x.narrow(1, 0, 2) + 1, "", PHOTO,
    ),
    "a_model_left_in_rows": (
        kind.TWO, 576, lambda x, w: F.conv2d(x, w), lambda x, w: F.conv2d(x, w.to(memory_format=LAST)), "",
        PHOTO, randn(4, 4, 3, 3),
    ),
    "an_input_left_in_rows": (
        kind.TWO, 1152, lambda x, w: F.conv2d(x, w), lambda x, w: F.conv2d(x.to(memory_format=LAST), w), "",
        ROWS, last(4, 4, 3, 3),
    ),
    "a_transposed_convolution": (
        kind.TWO, 128, lambda x, w: F.conv_transpose2d(x, w, stride=2),
        lambda x, w: F.conv_transpose2d(x, w.to(memory_format=LAST)), "", PHOTO, randn(4, 2, 2, 2),
    ),
    "a_sum_of_two_formats": (
        kind.MIXED, 1152, lambda x, y: image(x) + y, lambda x, y: x + y.to(memory_format=LAST), "",
        PHOTO, ROWS,
    ),
    "a_product_of_two_formats": (
        kind.MIXED, 1152, lambda x, y: image(x) * y, lambda x, y: x.to(memory_format=LAST) * y, "",
        ROWS, PHOTO,
    ),
    "a_cat_of_two_formats": (
        kind.MIXED, 1152, lambda x, y: torch.cat([image(x), y], 1), lambda x, y: torch.cat([x, x]), "",
        PHOTO, ROWS,
    ),
    "contiguous_of_rows": (kind.IDLE, 0, lambda x: x.contiguous() * 2, lambda x: x * 2, "", MATRIX),
    "channels_last_of_channels_last": (
        kind.IDLE, 0, lambda x: x.to(memory_format=LAST) * 2, lambda x: x * 2, "", PHOTO,
    ),
}  # fmt: skip
DEFECTS = {name: Defect(*row[:5], inputs=row[5:]) for name, row in TABLE.items()}
