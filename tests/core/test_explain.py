"""explain: the whole text for the tensors that matter, and the facts in it against torch."""

import re
from html import unescape
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given

from stridekit import Layout, explain, relation, traffic
from stridekit.lessons.gpu import GpuResults
from stridekit.tensors.explain import Explanation
from stridekit.timing import Comparison
from tests.core.robust_inputs import Wrapper, fake
from tests.core.strategies import tensors

HELD = "{} elements are reached ({} bytes) in the smallest storage that holds them"


class Watched(torch.Tensor):
    """A subclass with memory of its own."""

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def resized(x, nbytes):
    x.untyped_storage().resize_(nbytes)
    return x


@given(tensors())
def test_facts_agree_with_torch(x):
    numbers = f"shape {tuple(x.shape)}, stride {x.stride()}, storage_offset {x.storage_offset()}"
    assert explain(x).title == f"{x.dtype} tensor of {numbers}"
    facts = dict(explain(x).lines)
    assert (facts["contiguous"] == "yes") == x.is_contiguous()
    storage_size = x.untyped_storage().nbytes() // x.element_size()
    elements = torch.arange(storage_size).as_strided(x.shape, x.stride(), x.storage_offset())
    reached = elements.unique().numel()
    assert facts["storage"].startswith(f"{reached:,} of {storage_size:,} element")
    has_overlap = reached < x.numel()
    assert facts["overlap"].startswith("yes") == has_overlap
    example = re.findall(r"x\[([\d, ]*)\]", facts["overlap"])
    if example:
        first, second = (tuple(map(int, index.split(","))) for index in example)
        assert first != second
        assert x[first].storage_offset() == x[second].storage_offset()


TANGLED = Layout((10**6,) * 3, (10**9 + 7, 10**9 + 9, 10**9 + 21), 5)
TEN_BYTES = torch.arange(10, dtype=torch.uint8).untyped_storage()
LAST = torch.empty(2, 3, 4, 5).to(memory_format=torch.channels_last)
BACK = np.arange(24, dtype=np.int32).reshape(4, 6)[1:, ::-2]
TEN = torch.arange(10)
FORTY = torch.arange(40.0)
FOUR = torch.ones(3, 4)
DENSE = HELD.format("12 of 12", "48 of 48")
OTHERS = "none of its own: this {} stands for values that lie elsewhere, or nowhere"

UNDECIDED = (
    "not decided: not decided within a budget of 100,000 steps: the strides interleave too much for a "
    "quick exact answer. Give a larger budget=, or ask about smaller parts"
)


class Sentence(NamedTuple):
    """A line of `explain(x)`; None if the line is left out."""

    x: Any
    label: str
    sentence: str | None


SENTENCES = [
    Sentence(
        x=torch.ones(40)[7:8],
        label="storage",
        sentence="1 of 40 elements are reached (4 of 160 bytes)",
    ),
    Sentence(
        x=torch.empty(0, dtype=torch.int64).set_(TEN_BYTES, 0, (1,), (1,)),
        label="storage",
        sentence="1 of 1 element is reached (8 of 10 bytes)",
    ),
    Sentence(
        x=Layout((3,), (4,), 2),
        label="storage",
        sentence=HELD.format("3 of 11", "3 of 11"),
    ),
    Sentence(
        x=torch.ones(0),
        label="overlap",
        sentence="none: there are no elements",
    ),
    Sentence(
        x=torch.ones(1).expand(4),
        label="overlap",
        sentence="yes: 4 indices share 1 element, such as t[0] and t[1]",
    ),
    Sentence(
        x=torch.ones(4).unfold(0, 2, 1),
        label="overlap",
        sentence="yes: 6 indices share 4 elements, such as t[0, 1] and t[1, 0]",
    ),
    Sentence(
        x=torch.ones(3).bool()[1],
        label="element",
        sentence="t is element 1 of the storage, 1 byte each",
    ),
    Sentence(
        x=torch.ones(3)[3:],
        label="element",
        sentence="there is none: a size is 0 (4 bytes each)",
    ),
    Sentence(
        x=torch.ones((1,) * 8),
        label="element",
        sentence="t[i, j, k, l, m, n, p, q] is element "
        "0 + 1*i + 1*j + 1*k + 1*l + 1*m + 1*n + 1*p + 1*q of the storage, 4 bytes each",
    ),
    Sentence(
        x=torch.ones((1,) * 9),
        label="element",
        sentence="t[i0, i1, i2, i3, i4, i5, i6, i7, i8] is element "
        "0 + 1*i0 + 1*i1 + 1*i2 + 1*i3 + 1*i4 + 1*i5 + 1*i6 + 1*i7 + 1*i8 of the storage, "
        "4 bytes each",
    ),
    Sentence(
        x=torch.empty((), device="meta").expand(3),
        label="device",
        sentence="meta: there is no memory behind these numbers",
    ),
    Sentence(
        x=TANGLED,
        label="storage",
        sentence=f"{TANGLED.span.stop:,} elements",
    ),
    Sentence(
        x=torch.empty(10**16, dtype=torch.int16, device="meta").as_strided(
            TANGLED.shape, TANGLED.stride, 5
        ),
        label="storage",
        sentence=f"{10**16:,} elements",
    ),
    Sentence(
        x=LAST,
        label="memory format",
        sentence="channels_last",
    ),
    Sentence(
        x=LAST[:, :1].contiguous(),
        label="memory format",
        sentence="contiguous_format and channels_last: sizes of 1 leave the order open",
    ),
    Sentence(
        x=LAST[:0],
        label="memory format",
        sentence="contiguous_format and channels_last: there is nothing to order",
    ),
    Sentence(
        x=BACK,
        label="element",
        sentence="t[i, j] is element 11 + 6*i - 2*j of the storage, 4 bytes each",
    ),
    Sentence(
        x=BACK,
        label="torch",
        sentence="cannot hold it: dim 1 has stride -2: torch has no negative strides, copy the array first",
    ),
    Sentence(
        x=resized(torch.ones(4), 8),
        label="storage",
        sentence="4 elements are reached, up to number 3, but it has only 2 "
        "(after a resize_, or an as_strided that was not checked)",
    ),
    Sentence(
        x=Layout((3, 0), (1, 1), 5),
        label="storage",
        sentence=HELD.format("0 of 0", "0 of 0"),
    ),
    Sentence(
        x=Layout((4, 6)).t().reshape(24),
        label="copied",
        sentence="an operation on the way here needed a storage of its own",
    ),
    Sentence(
        x=TANGLED,
        label="overlap",
        sentence=UNDECIDED,
    ),
    Sentence(
        x=torch.zeros(1).expand(10**12),
        label="overlap",
        sentence="yes: 1,000,000,000,000 indices share 1 element, such as t[0] and t[1]",
    ),
    Sentence(
        x=Layout((4, 6), (8, 1), 2, itemsize=4),
        label="title",
        sentence="layout of shape (4, 6), stride (8, 1), storage_offset 2",
    ),
    Sentence(
        x=BACK,
        label="title",
        sentence="numpy int32 array of shape (3, 3), stride (6, -2), storage_offset 11",
    ),
    # A tensor that stands for another has no memory of its own.
    Sentence(
        x=Wrapper(FOUR, strides=(1, 9)),
        label="storage",
        sentence=HELD.format("12 of 30", "48 of 120"),
    ),
    Sentence(
        x=Wrapper(FOUR, storage_size=400),
        label="storage",
        sentence=DENSE,
    ),
    Sentence(
        x=Wrapper(FOUR, storage_size=0),
        label="storage",
        sentence=DENSE,
    ),
    Sentence(
        x=Wrapper(FOUR),
        label="memory",
        sentence=OTHERS.format("Wrapper"),
    ),
    Sentence(
        x=torch._to_functional_tensor(FOUR),
        label="storage",
        sentence=DENSE,
    ),
    Sentence(
        x=torch._to_functional_tensor(FOUR),
        label="memory",
        sentence=OTHERS.format("Tensor"),
    ),
    # The storage of a fake tensor is numbers alone, as meta's is.
    Sentence(
        x=fake,
        label="storage",
        sentence="12 of 12 elements are reached (48 of 48 bytes)",
    ),
    Sentence(
        x=fake,
        label="memory",
        sentence=OTHERS.format("FakeTensor"),
    ),
    Sentence(
        x=torch._neg_view(FOUR),
        label="lazy",
        sentence="conjugated or negated when read, not yet in memory",
    ),
    Sentence(
        x=FOUR.cfloat().conj(),
        label="lazy",
        sentence="conjugated or negated when read, not yet in memory",
    ),
    # Lines that do not apply are left out.
    Sentence(
        x=Wrapper(FOUR),
        label="device",
        sentence=None,
    ),
    Sentence(
        x=fake,
        label="device",
        sentence=None,
    ),
    Sentence(
        x=torch.Tensor._make_subclass(Watched, FOUR),
        label="memory",
        sentence=None,
    ),
    Sentence(
        x=torch.Tensor._make_subclass(Watched, torch.ones(0)),
        label="memory",
        sentence=None,
    ),
    Sentence(
        x=torch.Tensor._make_subclass(Watched, torch.nn.Parameter(FOUR)),
        label="memory",
        sentence=None,
    ),
    Sentence(
        x=resized(torch.ones(3), 0),
        label="memory",
        sentence=None,
    ),
]


@pytest.mark.parametrize(Sentence._fields, SENTENCES)
def test_each_sentence(x, label, sentence):
    if x is fake:
        x = fake()  # this loads torch._dynamo, so the table has only the function
    explanation = explain(x, "t")
    lines = {"title": explanation.title, **dict(explanation.lines)}
    assert lines.get(label) == sentence


@pytest.mark.parametrize("x", [torch.ones(2), BACK[:, ::-1]])
def test_a_plain_tensor_has_no_special_lines(x):
    labels = {label for label, _ in explain(x).lines}
    assert not labels & {"torch", "copied", "lazy", "memory", "device"}


@pytest.mark.parametrize("x", [FORTY[2:12], FORTY[::4], FORTY[30:40]])
def test_the_block_of_an_array_is_the_storage_of_its_tensor(x):
    of_array = dict(explain(x.numpy()).lines)
    of_tensor = dict(explain(x).lines)
    assert of_array["storage"] == of_tensor["storage"]


COMPARED = Comparison(
    samples={"a": [[1.0]], "<b>": [[2.0]]},
    order=[[0, 1]],
    calls={"a": 1, "<b>": 1},
    threads=1,
    device="cpu",
    noise=("x < y",),
)
IN_CACHE = traffic(Layout((100, 100), itemsize=4), cache=4096)


@pytest.mark.parametrize(
    ("result", "heads"),
    [
        (explain(torch.ones(3, 1).expand(3, 8)), []),
        (Explanation("a < b", (("c & d", "<e>"),)), []),
        (relation(TEN, TEN[::2]), []),
        # A column without a name would leave a screen reader without words.
        (IN_CACHE, ["operand"]),
        (COMPARED, ["function", "per call", "ratio (95 %)", "verdict"]),
        (GpuResults("a < b", ("<i>", "&"), (("x & y", "2"),), {}), []),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_html_of_every_result_says_what_its_text_says(result, heads):
    """In the same order, escaped; some columns have a name in HTML alone."""
    cells = re.findall(r"<(?:caption|t[hd]|p)\b[^>]*>([^<]*)", result._repr_html_())
    texts = [unescape(cell) for cell in cells if cell not in heads]
    assert " ".join(texts).split() == str(result).split()
    assert set(heads) <= set(cells)
