"""Layout defects for `test_audit_findings.py`, each with similar code that lacks the defect.

The bytes are counted by hand: elements times four.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from stridekit.audit import findings

LAST = torch.channels_last


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def last(*shape: int) -> torch.Tensor:
    return randn(*shape).to(memory_format=LAST)


def image(x: torch.Tensor) -> torch.Tensor:
    """Return the same picture, made by an operation of images."""
    return F.avg_pool2d(x, 1)


def attend(q: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, q, q)


class Defect(NamedTuple):
    """A planted defect, the finding that audit reports, and code without the defect."""

    kind: str
    bytes: int
    planted: Callable[..., Any]
    clean: Callable[..., Any]
    cause: str  # the expression that made the layout; "" if it came with an input
    inputs: tuple[torch.Tensor, ...]


MATRIX = randn(4, 6)
WIDE = randn(4, 8)
ROWS = randn(2, 4, 6, 6)
PHOTO = last(2, 4, 6, 6)

DEFECTS = {
    "reshape_of_a_transpose": Defect(
        kind=findings.RESHAPE,
        bytes=96,
        planted=lambda x: x.t().reshape(-1) * 2,
        clean=lambda x: x.reshape(-1) * 2,
        cause="x.t()",
        inputs=(MATRIX,),
    ),
    "reshape_of_a_permute": Defect(
        kind=findings.RESHAPE,
        bytes=216,
        planted=lambda x: F.max_pool2d(x.permute(0, 3, 1, 2), 2).reshape(2, 27),
        clean=lambda x: x.reshape(2, 108) * 2,
        cause="x.permute(0, 3, 1, 2)",
        inputs=(randn(2, 6, 6, 3),),
    ),
    "reshape_of_a_step": Defect(
        kind=findings.RESHAPE,
        bytes=64,
        planted=lambda x: x[:, ::2].reshape(16),
        clean=lambda x: x[1:3] * 2,
        cause="x[:, ::2]",
        inputs=(randn(4, 7),),
    ),
    "reshape_of_a_movedim": Defect(
        kind=findings.RESHAPE,
        bytes=96,
        planted=lambda x: (x.view(2, 3, 4).movedim(1, 2) + 1).reshape(24),
        clean=lambda x: x.view(4, 6) * 2,
        cause="x.view(2, 3, 4).movedim(1, 2)",
        inputs=(randn(2, 12),),
    ),
    "flatten_behind_views_that_change_nothing": Defect(
        kind=findings.RESHAPE,
        bytes=96,
        planted=lambda x: x.mT.unsqueeze(1).squeeze(1).view(6, 4).flatten(),
        clean=lambda x: x.unsqueeze(1).flatten(),
        cause="x.mT",
        inputs=(MATRIX,),
    ),
    "unflatten_of_heads": Defect(
        kind=findings.RESHAPE,
        bytes=192,
        planted=lambda x: torch.relu(x.view(2, 4, 2, 3).transpose(1, 2)).reshape(4, 12),
        clean=lambda x: x.view(8, 6) * 2,
        cause="x.view(2, 4, 2, 3).transpose(1, 2)",
        inputs=(randn(2, 4, 6),),
    ),
    "shuffle_that_keeps_channels_last": Defect(
        kind=findings.RESHAPE,
        bytes=1152,
        planted=lambda x: x.movedim(1, -1).unflatten(-1, (2, -1)).mT.flatten(-2).movedim(-1, 1),
        clean=torch.relu,
        cause="x.movedim(1, -1).unflatten(-1, (2, -1)).mT",
        inputs=(PHOTO,),
    ),
    "contiguous_before_a_product": Defect(
        kind=findings.EXPLICIT,
        bytes=96,
        planted=lambda x: x.t().contiguous() * 2,
        clean=lambda x: x.t() * 2,
        cause="x.t()",
        inputs=(MATRIX,),
    ),
    "channels_last_in_the_middle": Defect(
        kind=findings.EXPLICIT,
        bytes=1152,
        planted=lambda x: F.relu((x + 1).to(memory_format=LAST)),
        clean=lambda x: F.relu(x + 1),
        cause="",
        inputs=(ROWS,),
    ),
    "contiguous_before_sdpa": Defect(
        kind=findings.EXPLICIT,
        bytes=384,
        planted=lambda q: attend(q.transpose(1, 2).contiguous()),
        clean=lambda q: attend(q.transpose(1, 2)),
        cause="q.transpose(1, 2)",
        inputs=(randn(2, 6, 2, 4),),
    ),
    "product_with_every_other_column": Defect(
        kind=findings.OF_OP,
        bytes=64,
        planted=lambda w: torch.mm(torch.ones(3, 4), w[:, ::2]),
        clean=lambda w: torch.mm(torch.ones(3, 4), w[:, :4]),
        cause="w[:, ::2]",
        inputs=(WIDE,),
    ),
    "linear_with_every_other_column": Defect(
        kind=findings.OF_OP,
        bytes=64,
        planted=lambda w: F.linear(torch.ones(3, 4), w[:, ::2]),
        clean=lambda w: F.linear(torch.ones(3, 4), w[:, :4]),
        cause="w[:, ::2]",
        inputs=(WIDE,),
    ),
    "norm_of_a_permute": Defect(
        kind=findings.OF_OP,
        bytes=160,
        planted=lambda x: F.layer_norm(x.permute(0, 2, 1), (5,)),
        clean=lambda x: F.layer_norm(x, (4,)),
        cause="x.permute(0, 2, 1)",
        inputs=(randn(2, 5, 4),),
    ),
    "convolution_over_time": Defect(
        kind=findings.OF_OP,
        bytes=320,
        planted=lambda x: F.conv1d(x.transpose(1, 2), torch.ones(3, 4, 2)),
        clean=lambda x: F.conv1d(x, torch.ones(3, 10, 1)),
        cause="x.transpose(1, 2)",
        inputs=(randn(2, 10, 4),),
    ),
    "contiguous_of_an_expand": Defect(
        kind=findings.WRITTEN_OUT,
        bytes=96,
        planted=lambda x: x.expand(4, 6).contiguous() + 1,
        clean=lambda x: x.expand(4, 6) + 1,
        cause="x.expand(4, 6)",
        inputs=(randn(4, 1),),
    ),
    "keys_repeated_for_groups": Defect(
        kind=findings.WRITTEN_OUT,
        bytes=384,
        planted=lambda k: k[:, :, None].expand(2, 2, 2, 4, 3).reshape(2, 4, 4, 3),
        clean=lambda k: k[:, :, None].expand(2, 2, 2, 4, 3) * 2,
        cause="k[:, :, None].expand(2, 2, 2, 4, 3)",
        inputs=(randn(2, 2, 4, 3),),
    ),
    "a_transpose_in_a_loop": Defect(
        kind=findings.REPEATED,
        bytes=288,
        planted=lambda w: [w.t().contiguous() for _ in range(3)],
        clean=lambda w: [w * k for k in range(3)],
        cause="w.t()",
        inputs=(MATRIX,),
    ),
    "every_other_column_in_a_loop": Defect(
        kind=findings.REPEATED,
        bytes=192,
        planted=lambda w: [torch.mm(torch.ones(2, 4), half) for half in 3 * [w[:, ::2]]],
        clean=lambda w: [torch.ones(2, 4) @ w for _ in range(3)],
        cause="w[:, ::2]",
        inputs=(WIDE,),
    ),
    "two_norms_of_one_permute": Defect(
        kind=findings.REPEATED,
        bytes=320,
        planted=lambda x: [F.layer_norm(y, (5,)) for y in 2 * [x.permute(0, 2, 1)]],
        clean=lambda x: (F.layer_norm(x, (4,)), x + 1),
        cause="x.permute(0, 2, 1)",
        inputs=(randn(2, 5, 4),),
    ),
    "a_reshape_in_a_loop": Defect(
        kind=findings.REPEATED,
        bytes=192,
        planted=lambda x: [x.t().reshape(-1) for _ in range(2)],
        clean=lambda x: (x.t() + 1, x.t() + 2),
        cause="x.t()",
        inputs=(MATRIX,),
    ),
    "there_and_back": Defect(
        kind=findings.TRIP,
        bytes=960,
        planted=lambda x: F.relu(x.movedim(1, 3).contiguous()).movedim(3, 1).contiguous(),
        clean=F.relu,
        cause="x.movedim(1, 3).contiguous()",
        inputs=(randn(2, 3, 4, 5),),
    ),
    "there_and_back_in_two_dims": Defect(
        kind=findings.TRIP,
        bytes=192,
        planted=lambda x: (x.t().contiguous() * 2).t().contiguous(),
        clean=lambda x: x * 2,
        cause="x.t().contiguous()",
        inputs=(MATRIX,),
    ),
    "there_and_back_by_reshape": Defect(
        kind=findings.TRIP,
        bytes=960,
        planted=lambda x: x.mT.reshape(40, 3).tanh().view(2, 20, 3).mT.reshape(6, 20),
        clean=torch.tanh,
        cause="x.mT.reshape(40, 3)",
        inputs=(randn(2, 3, 20),),
    ),
    "shuffle_of_channels": Defect(
        kind=findings.LOST,
        bytes=1152,
        planted=lambda x: image(x).view(2, 2, 2, 6, 6).transpose(1, 2).reshape(2, 4, 6, 6),
        clean=lambda x: F.channel_shuffle(x, 2),
        cause="image(x).view(2, 2, 2, 6, 6).transpose(1, 2)",
        inputs=(PHOTO,),
    ),
    "the_last_token": Defect(
        kind=findings.SMALL,
        bytes=320,
        planted=lambda x: (x + 1)[:, -1],
        clean=lambda x: (x + 1)[:, -1].clone(),
        cause="x + 1",
        inputs=(randn(2, 6, 8),),
    ),
    "one_number": Defect(
        kind=findings.SMALL,
        bytes=396,
        planted=lambda x: (x * 2)[3, 3],
        clean=lambda x: (x * 2).sum(),
        cause="x * 2",
        inputs=(randn(10, 10),),
    ),
    # The layout of all that follow came with an input.
    "flatten_of_a_picture": Defect(
        kind=findings.RESHAPE,
        bytes=576,
        planted=lambda x: x.flatten(1),
        clean=lambda x: x.permute(0, 2, 3, 1).flatten(1),
        cause="",
        inputs=(last(2, 8, 3, 3),),
    ),
    "patches_of_channels_last": Defect(
        kind=findings.OF_OP,
        bytes=1152,
        planted=lambda x: F.unfold(x, 3),
        clean=torch.relu,
        cause="",
        inputs=(PHOTO,),
    ),
    "contiguous_out_of_habit": Defect(
        kind=findings.LOST,
        bytes=1152,
        planted=lambda x: torch.relu(image(x).contiguous()),
        clean=torch.relu,
        cause="",
        inputs=(PHOTO,),
    ),
    "a_mask_filled": Defect(
        kind=findings.LOST,
        bytes=1152,
        planted=lambda x: image(x).masked_fill(x < 0, 0.0),
        clean=lambda x: torch.where(x > 0, x, 0.0),
        cause="",
        inputs=(PHOTO,),
    ),
    "softmax_over_channels": Defect(
        kind=findings.LOST,
        bytes=1152,
        planted=lambda x: image(x).softmax(1),
        clean=torch.sigmoid,
        cause="",
        inputs=(PHOTO,),
    ),
    "channels_chosen_by_a_list": Defect(
        kind=findings.LOST,
        bytes=576,
        planted=lambda x: image(x)[:, [0, 1]],
        clean=lambda x: x.narrow(1, 0, 2) + 1,
        cause="",
        inputs=(PHOTO,),
    ),
    "a_model_left_in_rows": Defect(
        kind=findings.TWO,
        bytes=576,
        planted=lambda x, w: F.conv2d(x, w),
        clean=lambda x, w: F.conv2d(x, w.to(memory_format=LAST)),
        cause="",
        inputs=(PHOTO, randn(4, 4, 3, 3)),
    ),
    "an_input_left_in_rows": Defect(
        kind=findings.TWO,
        bytes=1152,
        planted=lambda x, w: F.conv2d(x, w),
        clean=lambda x, w: F.conv2d(x.to(memory_format=LAST), w),
        cause="",
        inputs=(ROWS, last(4, 4, 3, 3)),
    ),
    "a_transposed_convolution": Defect(
        kind=findings.TWO,
        bytes=128,
        planted=lambda x, w: F.conv_transpose2d(x, w, stride=2),
        clean=lambda x, w: F.conv_transpose2d(x, w.to(memory_format=LAST)),
        cause="",
        inputs=(PHOTO, randn(4, 2, 2, 2)),
    ),
    "a_sum_of_two_formats": Defect(
        kind=findings.MIXED,
        bytes=1152,
        planted=lambda x, y: image(x) + y,
        clean=lambda x, y: x + y.to(memory_format=LAST),
        cause="",
        inputs=(PHOTO, ROWS),
    ),
    "a_product_of_two_formats": Defect(
        kind=findings.MIXED,
        bytes=1152,
        planted=lambda x, y: image(x) * y,
        clean=lambda x, y: x.to(memory_format=LAST) * y,
        cause="",
        inputs=(ROWS, PHOTO),
    ),
    "a_cat_of_two_formats": Defect(
        kind=findings.MIXED,
        bytes=1152,
        planted=lambda x, y: torch.cat([image(x), y], 1),
        clean=lambda x, y: torch.cat([x, x]),
        cause="",
        inputs=(PHOTO, ROWS),
    ),
    "contiguous_of_rows": Defect(
        kind=findings.IDLE,
        bytes=0,
        planted=lambda x: x.contiguous() * 2,
        clean=lambda x: x * 2,
        cause="",
        inputs=(MATRIX,),
    ),
    "channels_last_of_channels_last": Defect(
        kind=findings.IDLE,
        bytes=0,
        planted=lambda x: x.to(memory_format=LAST) * 2,
        clean=lambda x: x * 2,
        cause="",
        inputs=(PHOTO,),
    ),
}
