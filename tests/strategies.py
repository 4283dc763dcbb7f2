"""Hypothesis strategies: tensors of every strided kind, and the arguments of view operations."""

import torch
from hypothesis import strategies as st

DTYPES = [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128]


@st.composite
def tensors(draw, max_ndim=5, max_size=4, min_ndim=0):
    """A tensor of any rank, stride (0 and overlaps included) and offset; values name the elements."""
    ndim = draw(st.integers(min_ndim, max_ndim))
    shape = draw(st.lists(st.integers(0, max_size), min_size=ndim, max_size=ndim))
    if draw(st.booleans()):
        # A view that real code would make: contiguous, then cut, stepped and permuted.
        steps = [draw(st.integers(1, 2)) for _ in shape]
        pads = [draw(st.integers(0, 2)) for _ in shape]
        whole = [n * step + pad for n, step, pad in zip(shape, steps, pads, strict=True)]
        x = storage(torch.Size(whole).numel(), draw(st.sampled_from(DTYPES))).view(whole)
        for d, (n, step) in enumerate(zip(shape, steps, strict=True)):
            x = x.narrow(d, x.shape[d] - n * step, n * step)
            x = x[(slice(None),) * d + (slice(None, None, step),)]
        return x.permute(draw(st.permutations(range(ndim))))
    stride = draw(st.lists(st.integers(0, 7), min_size=ndim, max_size=ndim))
    offset = draw(st.integers(0, 5))
    reach = sum(max(n - 1, 0) * s for n, s in zip(shape, stride, strict=True))
    return storage(offset + reach + 1, draw(st.sampled_from(DTYPES))).as_strided(
        shape, stride, offset
    )


def storage(numel, dtype):
    """A fresh 1-D tensor of `numel` elements, 0, 1, 2 … (modulo what the dtype holds)."""
    return torch.arange(numel).remainder(251).to(dtype)


@st.composite
def basic_indices(draw, shape):
    """A basic index that torch accepts for this shape, or one that is out of range."""
    items = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        items.append(
            draw(
                st.one_of(
                    st.integers(-size - 1, size),
                    st.slices(size + 1).filter(lambda s: s.step is None or s.step > 0),
                    st.just(slice(None)),
                )
            )
        )
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), ...)
    return tuple(items)


@st.composite
def new_shapes(draw, numel):
    """A shape to view `numel` elements as: usually possible, with size-1 dims and a -1 mixed in."""
    sizes, rest = [], numel
    while rest > 1:
        size = draw(st.sampled_from([d for d in range(2, rest + 1) if rest % d == 0]))
        sizes.append(size)
        rest //= size
    if numel == 0:
        sizes = draw(st.lists(st.integers(0, 3), max_size=3))
    for _ in range(draw(st.integers(0, 2))):
        sizes.insert(draw(st.integers(0, len(sizes))), 1)
    sizes = list(draw(st.permutations(sizes)))
    if sizes and draw(st.integers(0, 3)) == 0:
        sizes[draw(st.integers(0, len(sizes) - 1))] = draw(st.sampled_from([-1, -1, -1, 5, -2]))
    return tuple(sizes)


def dims(x):
    """A dim of this tensor, counted from either side, or one just out of range."""
    return st.integers(-max(x.ndim, 1) - 1, max(x.ndim, 1))


@st.composite
def broadcastable(draw, count, dtype=torch.float32, max_ndim=5):
    """Tensors whose shapes broadcast, each with strides of its own: dense in any order, cut, repeated."""
    full = draw(st.lists(st.sampled_from([0, 1, 2, 2, 3, 3]), max_size=max_ndim))
    found = []
    for _ in range(count):
        shape = [n if draw(st.integers(0, 3)) else 1 for n in full][
            draw(st.integers(0, len(full))) :
        ]
        if draw(st.booleans()):
            shape = full
        order = draw(st.permutations(range(len(shape))))
        if draw(st.booleans()):
            order = sorted(order)
        whole = storage(10_000, dtype).as_strided(
            [shape[d] + 1 for d in order], draw_strides(draw, [shape[d] for d in order])
        )
        x = whole.permute([order.index(d) for d in range(len(shape))])
        found.append(x[(..., *(slice(n) for n in shape))])
    return found


def draw_strides(draw, shape):
    """Row-major strides, sometimes with a gap, sometimes with a 0."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(draw(st.sampled_from([step, step, step, 0])))
        step *= max(size, 1) + draw(st.sampled_from([0, 0, 0, 1]))
    return strides[::-1]
