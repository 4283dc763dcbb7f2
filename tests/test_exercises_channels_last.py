"""The exercises of notebook 04: the references are torch's answers, copies in disguise do not pass."""

import fractions
import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from stridekit import shares_storage
from stridekit.exercises import channels_last as ex

NHWC = torch.channels_last
BOTH = ("contiguous_format", "channels_last")

# The reference solutions, against torch ---------------------------------------------------------


def test_channels_last_stride_is_that_of_a_new_tensor():
    for shape in itertools.product(range(5), repeat=4):
        new = torch.empty(shape, memory_format=NHWC)
        assert ex.channels_last_stride.reference(shape) == new.stride()


def batches():
    """NHWC images of every kind: whole, cut, stepped, turned, expanded, empty."""
    for shape in itertools.product(range(3), range(1, 4), range(1, 3), range(1, 4)):
        n, h, w, c = shape
        yield torch.arange(math.prod(shape)).view(shape)
        yield torch.arange(2 * math.prod(shape)).view(n, h, w, 2 * c)[..., ::2]
        yield torch.arange(math.prod(shape)).view(n, w, h, c).transpose(1, 2)
        yield torch.arange(math.prod(shape)).view(n, c, h, w).permute(0, 2, 3, 1)
        yield torch.arange(h * w * c).view(h, w, c).expand(shape)


def test_channels_last_view_has_every_value_at_its_index():
    for images in batches():
        view = ex.channels_last_view.reference(images)
        assert shares_storage(view, images) and view.storage_offset() == images.storage_offset()
        n, h, w, c = images.shape
        assert tuple(view.shape) == (n, c, h, w)
        for i, j, k, m in itertools.product(*map(range, view.shape)):
            assert view[i, j, k, m] == images[i, k, m, j]


def asked_of_torch(shape, stride):
    t = torch.empty_strided(shape, stride)
    flags = t.is_contiguous(), t.is_contiguous(memory_format=NHWC)
    return {name for name, flag in zip(BOTH, flags, strict=True) if flag}


def test_formats_are_those_that_torch_knows_exhaustively():
    for shape in itertools.product((0, 1, 2), (0, 1, 3), (0, 1, 2), (1, 2)):
        for stride in itertools.product((0, 1, 2, 4, 6, 12), repeat=4):
            assert ex.formats.reference(shape, stride) == asked_of_torch(shape, stride)


@given(st.tuples(*[st.integers(0, 4)] * 4), st.data())
def test_formats_are_those_that_torch_knows_near_the_formats(shape, data):
    formats = [
        torch.empty(shape, memory_format=f).stride() for f in (torch.contiguous_format, NHWC)
    ]
    stride = list(data.draw(st.sampled_from(formats)))
    for d in data.draw(st.lists(st.integers(0, 3), max_size=2)):
        stride[d] = data.draw(st.integers(0, 40))
    assert ex.formats.reference(shape, tuple(stride)) == asked_of_torch(shape, stride)


LAYERS = {
    "relu": torch.relu,
    "softmax": lambda t: t.softmax(1),
    "convert": lambda t: t.to(memory_format=NHWC) if t.ndim == 4 else t,
    "slice": lambda t: t[:, :1],
    "mean": lambda t: t.mean(1, keepdim=True),
    "flatten": lambda t: t.flatten(1),
}


def test_first_to_lose_is_the_first_whose_flag_is_false():
    x = torch.rand(2, 3, 4, 5).to(memory_format=NHWC)
    for names in itertools.product(LAYERS, repeat=3):
        layers, t, flags = [LAYERS[name] for name in names], x, []
        for layer in layers:
            t = layer(t)
            flags.append(t.is_contiguous(memory_format=NHWC))
        assert ex.first_to_lose.reference(layers, x) == [*flags, False].index(False)


def test_flatten_images_copies_where_view_refuses_and_nowhere_else():
    for images in batches():
        x = images.permute(0, 3, 1, 2)
        rows = ex.flatten_images.reference(x)
        n, m = len(x), math.prod(x.shape[1:])
        assert rows.tolist() == [one.reshape(m).tolist() for one in x]
        try:
            x.view(n, m)
        except RuntimeError:
            assert not shares_storage(rows, x)
        else:
            assert shares_storage(rows, x)


times = st.integers(0, 40).map(lambda n: n / 8)


@given(times, times, times)
def test_uses_to_pay_back_is_the_first_number_that_does(convert, before, after):
    n = ex.uses_to_pay_back.reference(convert, before, after)
    if n == math.inf:
        assert after >= before and convert > 0
        return
    assert convert + n * after <= n * before
    assert n == 0 or convert + (n - 1) * after > (n - 1) * before


# Right answers by other means -----------------------------------------------------------------


def counted(convert, before, after):
    """Add up, use by use."""
    if convert and after >= before:
        return math.inf
    n = 0
    while convert + n * after > n * before:
        n += 1
    return n


def exactly(convert, before, after):
    """With fractions, which round nothing."""
    saved = fractions.Fraction(before) - fractions.Fraction(after)
    if saved <= 0:
        return 0 if convert == 0 else float("inf")
    return math.ceil(fractions.Fraction(convert) / saved)


def walked(shape, stride):
    """Each step goes as far as the sizes inside it."""
    found = ["contiguous_format"] if 0 in shape else []
    for name, order in zip(BOTH, [(3, 2, 1, 0), (1, 3, 2, 0)], strict=True):
        inside = {d: order[: order.index(d)] for d in order if shape[d] != 1}
        if all(stride[d] == math.prod(shape[k] for k in dims) for d, dims in inside.items()):
            found.append(name)
    return found


def recursive(layers, x):
    """One layer, then the rest."""
    if not layers:
        return 0
    y = layers[0](x)
    return 1 + recursive(layers[1:], y) if y.is_contiguous(memory_format=NHWC) else 0


def permuted(layers, x):
    """Ask the permuted tensor, which is contiguous where the other is channels-last."""
    found = []
    for k, layer in enumerate(layers):
        x = layer(x)
        found += [] if x.ndim == 4 and x.permute(0, 2, 3, 1).is_contiguous() else [k]
    return min(found, default=len(layers))


BY_OTHER_MEANS = [
    (ex.channels_last_stride, lambda s: [s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]]),
    (ex.channels_last_view, lambda images: images.movedim(-1, 1)),
    (ex.channels_last_view, lambda images: images.movedim(3, 1)),
    (ex.channels_last_view, lambda images: images.transpose(2, 3).transpose(1, 2)),
    (ex.channels_last_view, lambda images: torch.moveaxis(images, -1, -3)),
    (ex.channels_last_view, lambda images: torch.einsum("nhwc->nchw", images)),
    (ex.channels_last_view, lambda images: images.as_strided(
        [images.shape[d] for d in (0, 3, 1, 2)], [images.stride(d) for d in (0, 3, 1, 2)])),
    (ex.channels_last_view, lambda images: torch.from_numpy(images.numpy().transpose(0, 3, 1, 2))),
    (ex.channels_last_view, lambda images: torch.as_tensor(np.moveaxis(np.asarray(images), 3, 1))),
    (ex.channels_last_view, lambda images: torch.from_dlpack(images).permute(0, 3, 1, 2)),
    (ex.formats, walked),
    (ex.formats, lambda *numbers: {getattr(torch, name) for name in walked(*numbers)}),
    (ex.formats, lambda *numbers: frozenset(walked(*numbers))),
    (ex.formats, lambda *n: {{"contiguous_format": "NCHW"}.get(f, "nhwc") for f in walked(*n)}),
    (ex.first_to_lose, recursive),
    (ex.first_to_lose, permuted),
    (ex.first_to_lose, lambda layers, x: torch.tensor(recursive(layers, x))),
    (ex.flatten_images, lambda x: torch.flatten(x, start_dim=1)),
    (ex.flatten_images, lambda x: x.flatten(2).flatten(1)),
    (ex.flatten_images, lambda x: x.reshape(len(x), math.prod(x.shape[1:]))),
    (ex.flatten_images, lambda x: torch.nn.Flatten()(x)),
    (ex.flatten_images, lambda x: x.reshape_as(torch.empty(
        len(x), math.prod(x.shape[1:]), device="meta"))),
    (ex.uses_to_pay_back, counted),
    (ex.uses_to_pay_back, exactly),
    (ex.uses_to_pay_back, lambda *t: float(exactly(*t))),
    (ex.uses_to_pay_back, lambda *t: np.float64(exactly(*t))),
]  # fmt: skip


@pytest.mark.parametrize(("task", "answer"), BY_OTHER_MEANS)
def test_right_answers_by_other_means_pass(task, answer):
    assert task.check(answer).passed, task.check(answer)


# Copies in disguise -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x.reshape(len(x), math.prod(x.shape[1:])).clone(),
        lambda x: torch.tensor(x.tolist(), dtype=x.dtype).reshape(len(x), math.prod(x.shape[1:])),
        lambda x: torch.from_numpy(np.ascontiguousarray(x.flatten(1).numpy())[:].copy()),
        lambda x: x.flatten(1) + 0,
        lambda x: x.flatten(1).sort(1).values,
        lambda x: F.pad(x, (0, 0)).flatten(1),
        lambda x: torch.cat([one.reshape(1, -1) for one in x]) if len(x) else x.flatten(1),
    ],
)
def test_a_copy_in_disguise_is_refused(answer):
    assert not ex.flatten_images.check(answer).passed
