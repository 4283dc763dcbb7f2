"""explain_view(x, shape): torch's own error about a view, decoded with this tensor's numbers.

torch has the same words for every tensor: "at least one dimension spans across two contiguous
subspaces". The view rule tells which dimension and which subspaces (`stridekit.rules` calls a
subspace a chunk).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from stridekit._arguments import Strided, many, varargs
from stridekit._torch import private
from stridekit.layout import Layout
from stridekit.rules import Chunk, chunks, complete_shape
from stridekit.tensors.explain import Explanation

# A label and a sentence, as in Explanation.
Lines = list[tuple[str, str]]


def explain_view(x: Strided, *shape: int | Iterable[int]) -> Explanation:
    """Say why `x.view(shape)` of a strided tensor, an array or a Layout works or fails.

    torch's message is quoted in full, and each of its phrases explained with this tensor's numbers;
    then come a shape that would be a view, and the bytes that `reshape` copies. Steps count in
    elements. torch is asked about a meta tensor of the same layout. Raises TypeError and
    LayoutError as `Layout.of` does, and LayoutError for a shape that is not made of ints.

    >>> import torch
    >>> x = torch.arange(24.0).view(4, 6)
    >>> explain_view(x[:, :3], 2, 6)
    shape (4, 3), stride (6, 1) cannot be viewed as (2, 6)
      torch says            view size is not compatible with input tensor's size and stride (at least \
one dimension spans across two contiguous subspaces). Use .reshape(...) instead.
      contiguous subspaces  there are 2 evenly spaced runs of dims: dim 0 (4 elements in steps of 6), \
dim 1 (3 elements in steps of 1)
      spans across two      dims 0 and 1 do not merge (stride 6 found, 3 needed), and the new dim 1 of \
size 6 would straddle them
      a view instead        shape (2, 2, 3): the new dims are cut where the runs meet
      .reshape(2, 6)        copies all 12 elements, 48 bytes, into a storage of its own
    """
    layout = Layout.of(x)
    wanted = varargs("shape", shape)
    why_not_view = layout.why_not_view(wanted)
    message = _refusal(layout, wanted)
    why_silent = layout.why_not_torch() or _too_large(wanted)
    lines = []
    if message:
        lines.append(("torch says", message))
    elif why_silent:
        lines.append(("torch says", f"nothing: {why_silent}"))
    decode = _decoder(message, why_not_view)
    lines += decode(layout, wanted)
    verb = "cannot" if why_not_view else "can"
    title = f"shape {layout.shape}, stride {layout.stride} {verb} be viewed as {wanted}"
    return Explanation(title, tuple(lines))


def _refusal(layout: Layout, wanted: tuple[int, ...]) -> str:
    """Return torch's refusal of the view; "" if it makes the view, or cannot have such a tensor."""
    # Sizes are checked before strides: a shape that does not fit is refused in the same words
    # whatever the stride, even one that torch does not have.
    sizes = Layout(layout.shape) if layout.why_not_torch() else layout
    if sizes.why_not_torch() or _too_large(wanted):
        return ""
    import torch

    without_modes = private("utils._python_dispatch._disable_current_modes")
    with without_modes():  # FakeTensorMode has other words for the same
        x = torch.empty_strided(sizes.shape, sizes.stride, dtype=torch.uint8, device="meta")
        try:
            x.view(wanted)
        except RuntimeError as error:
            return str(error)
    return ""


def _too_large(wanted: tuple[int, ...]) -> str:
    """Return why torch cannot take the sizes; "" if it can."""
    largest = max(map(abs, wanted), default=0)
    return f"a size of {largest} does not fit into 64 bits" if largest >= 2**63 else ""


def _decoder(message: str, why_not_view: str) -> Callable[[Layout, tuple[int, ...]], Lines]:
    """Return the function that explains torch's message, or the view if there is one."""
    if not why_not_view:
        return _view
    if "do not merge" in why_not_view:
        return _spans_two
    for phrase, decoder in _DECODERS.items():
        if phrase in message:
            return decoder
    return lambda layout, wanted: [("reason", why_not_view)]


def _view(layout: Layout, wanted: tuple[int, ...]) -> Lines:
    """Describe the view."""
    view = layout.view(wanted)
    return [
        ("contiguous subspaces", _name_subspaces(layout)),
        ("spans across two", f"no new dim of {view.shape} does"),
        (
            "the view",
            f"shape {view.shape}, stride {view.stride}, storage_offset {view.storage_offset}: "
            "the same elements, nothing is copied",
        ),
    ]


def _spans_two(layout: Layout, wanted: tuple[int, ...]) -> Lines:
    """Explain a new dim that would straddle two subspaces."""
    new_shape = complete_shape(layout.numel, wanted)
    sizes = tuple(chunk.numel for chunk in _subspaces(layout))
    cut = _cut_at_boundaries(sizes, new_shape)
    advice = f"shape {cut}: the new dims are cut where the runs meet"
    if not cut:
        advice = f"shape {sizes}, a dim for each run: no cuts of {new_shape} fall where they meet"
    return [
        ("contiguous subspaces", _name_subspaces(layout)),
        ("spans across two", layout.why_not_view(wanted)),
        ("a view instead", advice),
        (
            f".reshape({', '.join(map(str, wanted))})",
            f"copies all {layout.numel:,} elements, {layout.numel * layout.itemsize:,} bytes, "
            "into a storage of its own",
        ),
    ]


def _wrong_size(layout: Layout, wanted: tuple[int, ...]) -> Lines:
    """Explain sizes that multiply to another number of elements."""
    numel = layout.numel
    known = tuple(size for size in wanted if size != -1)
    if len(known) == len(wanted):
        reason = f"it has {_count(known)}"
    elif prod(known) == 0:
        reason = "0 times any size is 0: no size fits the -1"
    else:
        reason = (
            f"{numel} elements do not divide by {prod(known)}, {numel % prod(known)} would be left "
            "over: no size fits the -1"
        )
    return [
        (f"shape '{list(wanted)}'", reason),
        (
            f"input of size {numel}",
            f"shape {layout.shape} has {_count(layout.shape)}, a view has as many",
        ),
        ("a view instead", f"sizes that multiply to {numel}; one of them may be -1"),
    ]


def _two_unknown(layout: Layout, wanted: tuple[int, ...]) -> Lines:
    """Explain more than one -1."""
    first, second, *_ = (d for d, size in enumerate(wanted) if size == -1)
    return [
        ("inferred", f"a size of -1 is worked out: {layout.numel} elements by the other sizes"),
        ("only one", f"new dims {first} and {second} are both -1, so there is no single answer"),
        ("a view instead", "all sizes but one written out"),
    ]


def _negative(layout: Layout, wanted: tuple[int, ...]) -> Lines:
    """Explain a size below -1."""
    d = next(d for d, size in enumerate(wanted) if size < -1)
    repaired = (*wanted[:d], -1, *wanted[d + 1 :])
    advice = "sizes of 0 or more, one of which may be -1"
    if not layout.why_not_view(repaired):
        advice = f"{repaired}, which stands for {layout.view(repaired).shape}"
    return [
        (
            f"dimension {wanted[d]}",
            f"new dim {d} is {wanted[d]}: a size is 0 or more, or -1 where it is to be worked out",
        ),
        ("a view instead", advice),
    ]


def _any_size(layout: Layout, wanted: tuple[int, ...]) -> Lines:
    """Explain a -1 beside a size of 0."""
    d = wanted.index(-1)
    return [
        ("0 elements", f"shape {layout.shape} has {_count(layout.shape)}"),
        ("can be any value", f"0 times any size is 0, so nothing says what new dim {d} would be"),
        ("a view instead", f"{wanted} with the size of dim {d} written out"),
    ]


_DECODERS: dict[str, Callable[[Layout, tuple[int, ...]], Lines]] = {
    "is invalid for input of size": _wrong_size,
    "only one dimension can be inferred": _two_unknown,
    "invalid shape dimension": _negative,
    "can be any value and is ambiguous": _any_size,
}


def _subspaces(layout: Layout) -> list[Chunk]:
    """Return the chunks of more than one element."""
    merged = chunks(layout.shape, layout.stride)
    return [chunk for chunk in merged if chunk.numel != 1]


def _name_subspaces(layout: Layout) -> str:
    """Return the sentence that lists the subspaces, with their sizes and steps."""
    if layout.numel < 2:
        return f"there is none: {_count(layout.shape)} and no step to take"
    runs = _subspaces(layout)
    names = [f"{_dims(run)} ({run.numel} elements in steps of {run.stride})" for run in runs]
    verb = "is" if len(runs) == 1 else "are"
    return f"there {verb} {many(len(runs), 'evenly spaced run')} of dims: {', '.join(names)}"


def _dims(chunk: Chunk) -> str:
    """Name the dims of a chunk."""
    if chunk.first == chunk.last:
        return f"dim {chunk.first}"
    return f"dims {chunk.first} {'and' if chunk.last == chunk.first + 1 else 'to'} {chunk.last}"


def _cut_at_boundaries(subspaces: tuple[int, ...], new_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the new shape with the dims that straddle cut at the boundaries; () if no cut falls there."""
    *outer, remaining = subspaces  # the size that the innermost subspace still has
    result = []
    for size in reversed(new_shape):
        while remaining % size:  # this dim goes on past the end of the subspace
            if size % remaining:
                return ()
            result.append(remaining)
            size //= remaining
            remaining = outer.pop()
        result.append(size)
        remaining //= size
        if remaining == 1 and outer:
            remaining = outer.pop()
    return tuple(reversed(result))


def _count(shape: tuple[int, ...]) -> str:
    """Count the elements of a shape, with the product: 4 * 6 = 24 elements."""
    factors = f"{' * '.join(map(str, shape))} = " if len(shape) > 1 else ""
    return f"{factors}{many(prod(shape), 'element')}"
