"""explain: the whole text for the tensors that matter, and the facts in it against torch."""

import re
from html import unescape

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
    elements = torch.arange(x.untyped_storage().nbytes() // x.element_size())
    reached = elements.as_strided(x.shape, x.stride(), x.storage_offset()).unique().numel()
    assert facts["storage"].startswith(f"{reached:,} of {elements.numel():,} element")
    assert facts["overlap"].startswith("yes") == (reached < x.numel())
    example = re.findall(r"x\[([\d, ]*)\]", facts["overlap"])
    if example:
        first, second = (tuple(map(int, index.split(","))) for index in example)
        assert first != second and x[first].storage_offset() == x[second].storage_offset()


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
SENTENCES = [
    (torch.ones(40)[7:8], "storage", "1 of 40 elements are reached (4 of 160 bytes)"),
    (torch.empty(0, dtype=torch.int64).set_(TEN_BYTES, 0, (1,), (1,)), "storage",
     "1 of 1 element is reached (8 of 10 bytes)"),
    (Layout((3,), (4,), 2), "storage", HELD.format("3 of 11", "3 of 11")),
    (torch.ones(0), "overlap", "none: there are no elements"),
    (torch.ones(1).expand(4), "overlap", "yes: 4 indices share 1 element, such as t[0] and t[1]"),
    (torch.ones(4).unfold(0, 2, 1), "overlap",
     "yes: 6 indices share 4 elements, such as t[0, 1] and t[1, 0]"),
    (torch.ones(3).bool()[1], "element", "t is element 1 of the storage, 1 byte each"),
    (torch.ones(3)[3:], "element", "there is none: a size is 0 (4 bytes each)"),
    (torch.ones((1,) * 8), "element",
     "t[i, j, k, l, m, n, p, q] is element 0 + 1*i + 1*j + 1*k + 1*l + 1*m + 1*n + 1*p + 1*q of the "
     "storage, 4 bytes each"),
    (torch.ones((1,) * 9), "element",
     "t[i0, i1, i2, i3, i4, i5, i6, i7, i8] is element 0 + 1*i0 + 1*i1 + 1*i2 + 1*i3 + 1*i4 + 1*i5 + 1*i6 "
     "+ 1*i7 + 1*i8 of the storage, 4 bytes each"),
    (torch.empty((), device="meta").expand(3), "device",
     "meta: there is no memory behind these numbers"),
    (TANGLED, "storage", f"{TANGLED.span.stop:,} elements"),
    (torch.empty(10**16, dtype=torch.int16, device="meta").as_strided(TANGLED.shape, TANGLED.stride, 5),
     "storage", f"{10**16:,} elements"),
    (LAST, "memory format", "channels_last"),
    (LAST[:, :1].contiguous(), "memory format",
     "contiguous_format and channels_last: sizes of 1 leave the order open"),
    (LAST[:0], "memory format", "contiguous_format and channels_last: there is nothing to order"),
    (BACK, "element", "t[i, j] is element 11 + 6*i - 2*j of the storage, 4 bytes each"),
    (BACK, "torch",
     "cannot hold it: dim 1 has stride -2: torch has no negative strides, copy the array first"),
    (resized(torch.ones(4), 8), "storage", "4 elements are reached, up to number 3, but it has only 2 "
     "(after a resize_, or an as_strided that was not checked)"),
    (Layout((3, 0), (1, 1), 5), "storage", HELD.format("0 of 0", "0 of 0")),
    (Layout((4, 6)).t().reshape(24), "copied",
     "an operation on the way here needed a storage of its own"),
    (TANGLED, "overlap", UNDECIDED),
    (torch.zeros(1).expand(10**12), "overlap",
     "yes: 1,000,000,000,000 indices share 1 element, such as t[0] and t[1]"),
    (Layout((4, 6), (8, 1), 2, itemsize=4), "title",
     "layout of shape (4, 6), stride (8, 1), storage_offset 2"),
    (BACK, "title", "numpy int32 array of shape (3, 3), stride (6, -2), storage_offset 11"),
    # A tensor that stands for another has no memory of its own.
    (Wrapper(FOUR, strides=(1, 9)), "storage", HELD.format("12 of 30", "48 of 120")),
    (Wrapper(FOUR, storage_size=400), "storage", DENSE),
    (Wrapper(FOUR, storage_size=0), "storage", DENSE),
    (Wrapper(FOUR), "memory", OTHERS.format("Wrapper")),
    (torch._to_functional_tensor(FOUR), "storage", DENSE),
    (torch._to_functional_tensor(FOUR), "memory", OTHERS.format("Tensor")),
    # The storage of a fake tensor is numbers alone, as meta's is.
    (fake, "storage", "12 of 12 elements are reached (48 of 48 bytes)"),
    (fake, "memory", OTHERS.format("FakeTensor")),
    (torch._neg_view(FOUR), "lazy", "conjugated or negated when read, not yet in memory"),
    (FOUR.cfloat().conj(), "lazy", "conjugated or negated when read, not yet in memory"),
    # Lines that do not apply are left out.
    (Wrapper(FOUR), "device", None),
    (fake, "device", None),
    (torch.Tensor._make_subclass(Watched, FOUR), "memory", None),
    (torch.Tensor._make_subclass(Watched, torch.ones(0)), "memory", None),
    (torch.Tensor._make_subclass(Watched, torch.nn.Parameter(FOUR)), "memory", None),
    (resized(torch.ones(3), 0), "memory", None),
]  # fmt: skip


@pytest.mark.parametrize(("x", "label", "sentence"), SENTENCES)
def test_each_sentence(x, label, sentence):
    explanation = explain(x() if x is fake else x, "t")  # to make one loads torch._dynamo
    line = explanation.title if label == "title" else dict(explanation.lines).get(label)
    assert line == sentence


@pytest.mark.parametrize("x", [torch.ones(2), BACK[:, ::-1]])
def test_a_plain_tensor_has_no_special_lines(x):
    labels = {label for label, _ in explain(x).lines}
    assert not labels & {"torch", "copied", "lazy", "memory", "device"}


@pytest.mark.parametrize("x", [FORTY[2:12], FORTY[::4], FORTY[30:40]])
def test_the_block_of_an_array_is_the_storage_of_its_tensor(x):
    assert dict(explain(x.numpy()).lines)["storage"] == dict(explain(x).lines)["storage"]


TIMES = {"a": [[1.0]], "<b>": [[2.0]]}
COMPARED = Comparison(TIMES, [[0, 1]], {"a": 1, "<b>": 1}, 1, "cpu", ("x < y",))
IN_CACHE = traffic(Layout((100, 100), itemsize=4), cache=4096)


@pytest.mark.parametrize(("result", "heads"), [
    (explain(torch.ones(3, 1).expand(3, 8)), []),
    (Explanation("a < b", (("c & d", "<e>"),)), []),
    (relation(TEN, TEN[::2]), []),
    # A column without a name would leave a screen reader without words.
    (IN_CACHE, ["operand"]),
    (COMPARED, ["function", "per call", "ratio (95 %)", "verdict"]),
    (GpuResults("a < b", ("<i>", "&"), (("x & y", "2"),), {}), []),
], ids=lambda value: type(value).__name__)  # fmt: skip
def test_the_html_of_every_result_says_what_its_text_says(result, heads):
    """In the same order, escaped; some columns have a name in HTML alone."""
    cells = re.findall(r"<(?:caption|t[hd]|p)\b[^>]*>([^<]*)", result._repr_html_())
    texts = [unescape(cell) for cell in cells if cell not in heads]
    assert " ".join(texts).split() == str(result).split()
    assert set(heads) <= set(cells)
