"""Attention: packings, what a product clones, and the output of SDPA, as torch has them."""

import itertools
from typing import Any, NamedTuple

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from stridekit import Layout, LayoutError, sdpa
from stridekit.lessons.attention import packed_heads, sdpa_output, why_no_flash
from tests.core import fuzz_attention
from tests.core.agree import needs_flash_for_grouped_heads, numbers

Q = torch.rand(2, 3, 5, 4)
L = Layout.of(Q)


@pytest.mark.parametrize("packing", ["3HD", "H3D", "HD3", "3DH", "D3H", "DH3"])
def test_packings_are_those_of_torch(packing):
    part_dim = 2 + packing.index("3")
    order = (0, 3, 1, 2)
    if packing.index("H") < packing.index("D"):
        order = (0, 2, 1, 3)
    for batch, tokens, count, dim in itertools.product((1, 2), (1, 5), (1, 3), (1, 4)):
        sizes = {"3": 3, "H": count, "D": dim}
        row = torch.empty(batch, tokens, 3 * count * dim)
        packed_sizes = [sizes[letter] for letter in packing]
        qkv = row.view(batch, tokens, *packed_sizes).movedim(part_dim, 0)
        expected = [x.permute(order) for x in qkv]
        heads = packed_heads(batch, tokens, count, dim, packing)
        assert numbers(heads) == numbers(expected)
        assert {layout.storage for layout in heads} == {""}


def test_grouped_heads_are_those_of_torch():
    """With fewer heads of k and v, they are what split, view and transpose make of a projection."""
    for groups, size, dim in itertools.product((1, 2, 3), (2, 4), (1, 4)):
        counts = [groups * size, groups, groups]
        projection = torch.empty(2, 5, sum(counts) * dim)
        qkv = projection.split([count * dim for count in counts], dim=2)
        expected = []
        for x, count in zip(qkv, counts, strict=True):
            heads = x.view(2, 5, count, dim).transpose(1, 2)
            expected.append(heads)
        actual = packed_heads(2, 5, groups * size, dim, kv_heads=groups)
        assert numbers(actual) == numbers(expected)
    as_many = packed_heads(2, 5, 3, 4, "H3D", kv_heads=3)
    assert as_many == packed_heads(2, 5, 3, 4, "H3D")


SEVERAL = torch.rand(2, 6, 5, 4)
ODD = Layout((2, 3, 5, 8), itemsize=4)[..., ::2]
TURNED = Layout((2, 5, 3, 4), itemsize=4).transpose(1, 2)
ONE = L[:1]
GROUP = Layout((2, 2, 5, 4), itemsize=4)
MASK = torch.zeros(5, 5, requires_grad=True)
SINCE_2_14 = torch.__version__ >= (2, 14)


class Reason(NamedTuple):
    """A call of SDPA, and the reason why it does not take flash."""

    operands: tuple[Layout | torch.Tensor, ...]
    options: dict[str, Any]
    why: str


REASONS = [
    Reason(
        operands=(TURNED, L, L),
        options={},
        why="",
    ),
    Reason(
        operands=(L, L, L),
        options={"dropout_p": 0.1},
        why="dropout_p is 0.1: flash has no dropout on the CPU",
    ),
    Reason(
        operands=(L, L, L),
        options={"dropout_p": 1.0},
        why="dropout_p is 1.0: flash has no dropout on the CPU",
    ),
    Reason(
        operands=(L[0], L[0], L[0]),
        options={},
        why=""
        if SINCE_2_14
        else "q, k and v have 3, 3 and 3 dims: flash takes 4, (batch, heads, tokens, head dim)",
    ),
    Reason(
        operands=(L[0, 0], L[0, 0], L[0, 0]),
        options={},
        why="q, k and v have 2, 2 and 2 dims: flash takes 4, (batch, heads, tokens, head dim)",
    ),
    Reason(
        operands=(L, L[0], L[0]),
        options={},
        why="q, k and v have 4, 3 and 3 dims: flash takes 4, (batch, heads, tokens, head dim)",
    ),
    Reason(
        operands=(L, L[:, :1], L[:, :1]),
        options={},
        why=""
        if SINCE_2_14
        else "q, k and v have 3, 1 and 1 heads: flash takes as many, or enable_gqa=True",
    ),
    Reason(
        operands=(L, ONE, ONE),
        options={},
        why="q, k and v have batches of 2, 1 and 1: flash repeats none, expand them first "
        "(it copies nothing)",
    ),
    Reason(
        operands=(L, ONE.expand(2, 3, 5, 4), ONE.expand(2, 3, 5, 4)),
        options={},
        why="",
    ),
    Reason(
        operands=(L, L[:, :1], L),
        options={},
        why="q, k and v have 3, 1 and 3 heads: flash takes as many, or enable_gqa=True",
    ),
    Reason(
        operands=(SEVERAL, GROUP, GROUP),
        options={"enable_gqa": True},
        why="",
    ),
    Reason(
        operands=(SEVERAL, GROUP, GROUP),
        options={"enable_gqa": True, "attn_mask": Layout((2, 6, 5, 5))},
        why="",
    ),
    Reason(
        operands=(SEVERAL, GROUP, L),
        options={"enable_gqa": True},
        why="k and v have 2 and 3 heads: flash takes as many",
    ),
    Reason(
        operands=(L, L, L),
        options={"attn_mask": MASK},
        why="attn_mask requires grad: flash computes no gradient of it",
    ),
    Reason(
        operands=(L, L, L),
        options={"attn_mask": MASK.detach()},
        why="",
    ),
    Reason(
        operands=(L, L, L),
        options={"attn_mask": Layout((1, 5))},
        why="",
    ),
    Reason(
        operands=(L, L, L),
        options={"attn_mask": Layout((3, 5, 5))},
        why="attn_mask has 3 dims: flash takes 2 or 4",
    ),
    Reason(
        operands=(L, L, L[..., :3]),
        options={},
        why="q, k and v have head dims of 4, 4 and 3: flash takes one size",
    ),
    Reason(
        operands=(L, ODD, L),
        options={},
        why="dim 3 of k has stride 2: flash takes 1",
    ),
    Reason(
        operands=(L, L, ONE[..., :1].expand(2, 3, 5, 4)),
        options={},
        why="dim 3 of v has stride 0: flash takes 1",
    ),
    Reason(
        operands=(ODD[..., :1],) * 3,
        options={},
        why="dim 3 of q has stride 2: flash takes 1",
    ),
]


@needs_flash_for_grouped_heads
@pytest.mark.parametrize(Reason._fields, REASONS)
def test_reasons(operands, options, why):
    """The output lies as q does, or contiguous, and torch takes the path that is named."""
    assert why_no_flash(*operands, **options) == why
    tensors = [x if isinstance(x, torch.Tensor) else tensor_of(x) for x in operands]
    torch_options = dict(options)
    mask = options.get("attn_mask")
    if isinstance(mask, Layout):
        torch_options["attn_mask"] = torch.ones(mask.shape, dtype=torch.bool)
    with fuzz_attention.OperationLog() as log:
        out = scaled_dot_product_attention(*tensors, **torch_options)
    is_flash = any("flash" in name for name in log.operations)
    assert is_flash == (why == "")
    assert numbers(sdpa_output(*operands, **options)) == numbers(out)


def tensor_of(layout):
    storage = torch.rand(layout.span.stop)
    return storage.as_strided(layout.shape, layout.stride, layout.storage_offset)


class Dated(NamedTuple):
    """A call that flash takes from torch 2.14 on, and the reason why it did not before."""

    operands: tuple[Layout, ...]
    options: dict[str, Any]
    why_before: str


DATED = [
    Dated((L[0], L[0], L[0]), {}, "q, k and v have 3, 3 and 3 dims: flash takes 4"),
    Dated((L[0], L[0], L[0]), {"attn_mask": Layout((3, 5, 5))}, "3, 3 and 3 dims"),
    Dated((L[0], L[0, :1], L[0, :1]), {}, "3, 3 and 3 dims"),
    Dated((L, L[:, :1], L[:, :1]), {}, "q, k and v have 3, 1 and 1 heads: flash takes as many"),
]


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize(Dated._fields, DATED)
def test_flash_takes_more_calls_from_torch_2_14_on(
    operands, options, why_before, is_new, monkeypatch
):
    """test_reasons and the random calls compare the rules of the installed torch with torch."""
    monkeypatch.setattr(sdpa, "_RULES_OF_2_14", is_new)
    why = why_no_flash(*operands, **options)
    assert why == "" if is_new else why_before in why


@pytest.mark.parametrize(
    ("operands", "why"),
    [
        ((L, L[:, :1], L), "q, k and v have 3, 1 and 3 heads: flash takes as many"),
        ((L, L, L[:, :1]), "q, k and v have 3, 3 and 1 heads: flash takes as many"),
        ((ODD[0], L[0], L[0]), "dim 2 of q has stride 2: flash takes 1"),
    ],
)
def test_what_flash_does_not_take_in_torch_2_14_either(operands, why, monkeypatch):
    monkeypatch.setattr(sdpa, "_RULES_OF_2_14", True)
    assert why_no_flash(*operands).startswith(why)


@needs_flash_for_grouped_heads
def test_a_mask_beside_is_causal_is_refused_as_torch_does():
    """Up to torch 2.13, flash takes both."""
    both = {"attn_mask": torch.ones(5, 5, dtype=torch.bool), "is_causal": True}
    assert_refused_as_by_torch(Q, Q, Q[..., :3], **both)
    if SINCE_2_14:
        assert_refused_as_by_torch(Q, Q, Q, **both)
    else:
        assert why_no_flash(Q, Q, Q, **both) == ""
        scaled_dot_product_attention(Q, Q, Q, **both)


def test_no_path_of_torch_2_14_takes_a_mask_beside_is_causal(monkeypatch):
    monkeypatch.setattr(sdpa, "_RULES_OF_2_14", True)
    with pytest.raises(LayoutError, match=r"^torch takes attn_mask or is_causal, not both"):
        why_no_flash(L, L, L, attn_mask=Layout((5, 5)), is_causal=True)
    assert why_no_flash(L, L, L, attn_mask=Layout((5, 5))) == ""
    assert why_no_flash(L, L, L, is_causal=True) == ""


def assert_refused_as_by_torch(*operands, **options):
    cure = "(?i)attn_mask or is_causal, not both.*write the causal mask into attn_mask"
    with pytest.raises(LayoutError, match=cure):
        why_no_flash(*operands, **options)
    with pytest.raises(RuntimeError, match="is_causal=True"):
        scaled_dot_product_attention(*operands, **options)
