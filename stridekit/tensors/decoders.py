"""The numbers in messages about layouts, decoded: from the groups of a pattern to sentences."""

from __future__ import annotations

import re
from math import prod

from stridekit._arguments import many
from stridekit.layout import Layout, LayoutError

Found = dict[str, str]  # the groups of a pattern
Words = dict[str, str]  # what a decoder says in place of "means", "harm", "cause" or "cure"


_LOOK = "print x.shape one line earlier"


def _ints(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"-?\d+", text)))


def shape(found: Found) -> Words:
    """A shape and a number of elements that do not fit."""
    shape, numel = _ints(found["shape"]), int(found["numel"])
    if -1 in shape:
        return {
            "means": f"-1 stands for {numel} / {abs(prod(shape))}, which is no whole number",
            "cure": f"the other sizes have to multiply to a divisor of {numel}: {_LOOK}",
        }
    others = [prod(shape[:d] + shape[d + 1 :]) for d in range(len(shape))]
    fits = [
        str((*shape[:d], numel // n, *shape[d + 1 :]))
        for d, n in enumerate(others)
        if n > 0 and numel % n == 0
    ]
    return {
        "means": f"shape {shape} has {many(prod(shape), 'element')}, and there are {numel}",
        "cure": f"change one size: {' or '.join(fits)}"
        if fits
        else f"no change of one size is enough: {_LOOK}",
    }


def array_shape(found: Found) -> Words:
    """As `shape` does, in NumPy's words: of a -1 in front nothing is left, another one is `newaxis`."""
    text, numel = found["shape"].replace("newaxis", "-1"), int(found["numel"])
    sizes = _ints(text)
    if len(sizes) == 1 and "," not in text:  # a shape of one dim is written (5,)
        return shape({"shape": f"-1, {text}", "numel": found["numel"]})
    words, others = shape({"shape": text, "numel": found["numel"]}), abs(prod(sizes))
    if -1 not in sizes and len(sizes) > 1 and (not others or numel % others):
        words["means"] += (
            f"; or it was {(-1, *sizes)}, of which NumPy leaves out the -1: {numel} / {others} is no whole "
            "number"
        )
    return words


def grad_strides(found: Found) -> Words:
    """Two layouts of a gradient: harmless if every index has the same address in both."""
    if not found["sizes"]:
        return {}
    sizes, ours, theirs = (_ints(found[name]) for name in ("sizes", "strides", "bucket_strides"))
    try:
        same = Layout(sizes, ours).squeeze() == Layout(sizes, theirs).squeeze()
    except LayoutError:  # sizes and strides that do not belong together
        return {}
    apart = [str(d) for d, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    dims = f"{'dim' if len(apart) == 1 else 'dims'} {', '.join(apart) or 'none'}"
    if same or not prod(sizes):
        return {
            "means": f"the strides {ours} and {theirs} differ only where no index takes a step ({dims} of "
            f"sizes {sizes}): every element has the same address in both",
            "harm": "no: same addresses, harmless",
            "cure": "nothing has to be done",
        }
    return {
        "means": f"the gradient has strides {ours}, DDP's bucket {theirs}: they differ in {dims}, so "
        "elements lie elsewhere",
        "harm": f"in time: each step copies {many(prod(sizes), 'element')} in another order",
    }


def compiled(found: Found) -> Words:
    """The dims in which a tensor is not what the compiler expected."""
    dims = [
        _ints(dim)
        for dim in re.findall(r"size \d+==\d+, stride \d+==\d+ at dim=\d+", found["dims"])
    ]
    told = []
    for size, expected_size, stride, expected_stride, d in dims:
        sizes = f"size {size}, not {expected_size}" * (size != expected_size)
        strides = f"stride {stride}, not {expected_stride}" * (stride != expected_stride)
        told.append(f"dim {d} has {' and '.join(filter(None, [sizes, strides]))}")
    return {"means": f"the code was compiled for other numbers: {'; '.join(told)}"}


def out_of_bounds(found: Found) -> Words:
    """The last element of a layout, and the last of its storage."""
    shape, stride = _ints(found["sizes"]), _ints(found["strides"])
    offset, itemsize, size = (int(found[name]) for name in ("offset", "itemsize", "size"))
    try:
        layout = Layout(shape, stride, offset, itemsize)
    except LayoutError:
        return {}
    last, held = layout.span.stop - 1, size // itemsize
    index = tuple(n - 1 for n in shape)
    return {
        "means": f"index {index} is element {last}; the storage has {many(held, 'element')}, "
        f"and ends with element {held - 1}"
        if held
        else f"index {index} is element {last}; the storage is empty",
    }


def product(found: Found) -> Words:
    """Two matrices whose inner sizes differ."""
    a, b, c, d = (int(found[name]) for name in "abcd")
    words = {
        "means": f"the rows of mat1 have {b} elements, the columns of mat2 have {c}: they have to agree"
    }
    if b == d:
        words["cure"] = f"mat2 lies the other way round: x @ w.t() is ({a}x{b}) @ ({d}x{c}), a view"
    elif a == c:
        words["cure"] = f"mat1 lies the other way round: x.t() @ w is ({b}x{a}) @ ({c}x{d}), a view"
    return words


def dtype_view(found: Found) -> Words:
    """Which number keeps elements of another size from lying where they are."""
    old, new, got = found["old"], found["new"], int(found["got"])
    if not found["what"]:
        return {
            "means": f"the bytes of {old} and {new} only line up where the last dim has no gaps; "
            f"its stride is {got}",
            "cure": "x.contiguous().view(dtype), a copy",
        }
    n = int(found["ratio"])
    each = f"{many(n, 'element')} of {old} make one of {new}"
    if found["what"] == "size(-1)":
        return {
            "means": f"{each}, and the last dim has {got}",
            "cure": f"cut or pad the last dim to a multiple of {n}: "
            f"x[..., :{got // n * n}].contiguous().view(dtype)",
        }
    if found["what"] == "storage_offset()":
        return {
            "means": f"{each}, and the tensor starts in the middle of one, at element {got}",
            "cure": "x.clone().view(dtype): a copy starts at 0",
        }
    return {
        "means": f"{each}, and {found['what']} is {got}: such a step ends in the middle of one",
        "cure": "x.contiguous().view(dtype), a copy",
    }


_PAIRS = "complex numbers are counted in pairs of floats, and "
_COMPLEX = {
    "last dimension of size 2": (
        "a complex number is two floats: the last dim has to be that pair",
        "x.unflatten(-1, (-1, 2)) makes pairs of neighbours, if their number is even",
    ),
    "last dimension with stride 1": (
        "the two floats of a complex number are neighbours in memory, and here they are not",
        "torch.view_as_complex(x.contiguous()), a copy",
    ),
    "storage_offset divisible by 2": (
        f"{_PAIRS}this tensor starts in the middle of one",
        "torch.view_as_complex(x.clone()), a copy",
    ),
    "stride divisible by 2 for all but last dimension": (
        f"{_PAIRS}a step of this tensor ends in the middle of one",
        "torch.view_as_complex(x.contiguous()), a copy",
    ),
}


def pairs(found: Found) -> Words:
    """Why floats are no pairs."""
    means, cure = _COMPLEX[found["what"]]
    return {"means": means, "cure": cure}


def version(found: Found) -> Words:
    """How often a saved tensor was written to."""
    times = int(found["found"]) - int(found["expected"])
    which = f", the output of {found['op']}," if found["op"] else ""
    return {
        "means": f"autograd kept a tensor of shape {_ints(found['shape'])}{which} for the backward "
        f"pass, and since then it was written to {many(times, 'time')}: the gradient would be wrong"
    }


def expanded(found: Found) -> Words:
    """Which size does not expand."""
    return {
        "means": f"in dim {found['dim']} of the result a size of {found['size']} would become "
        f"{found['wanted']}: only a size of 1 can, by a stride of 0"
    }


def broadcast(found: Found) -> Words:
    """The last dim in which shapes differ, and none is 1."""
    shapes = [_ints(shape)[::-1] for shape in re.findall(r"\([\d,]*\)", found["shapes"])]
    dims = max(map(len, shapes))
    for d in range(dims):
        sizes = dict.fromkeys(shape[d] for shape in shapes if d < len(shape) and shape[d] != 1)
        if len(sizes) > 1:
            return {
                "means": f"shapes are compared from the last dim on: in dim {dims - 1 - d} of the result "
                f"sizes {' and '.join(map(str, sizes))} meet, and none is 1"
            }
    return {}


def permuted(found: Found) -> Words:
    """How many dims a permutation names, and how many there are."""
    if not (found["dims"] or found["perm"]):  # NumPy gives no numbers
        return {}
    dims = int(found["dims"] or len(_ints(found["shape"])))
    named = int(found["named"] or len(_ints(found["perm"])))
    if named == dims:
        return {
            "means": f"a permutation names each of the dims 0 to {dims - 1} once, and none from the end"
        }
    return {
        "means": f"a permutation names each dim once: there are {many(dims, 'dim')}, and it names {named}"
    }


def stored(found: Found) -> Words:
    """Values or bytes that are too many or too few."""
    if found["numel"]:
        elements = many(int(found["numel"]), "element")
        return {"means": f"the declared shape has {elements}, and {found['values']} are given"}
    needs, size = int(found["needs"] or found["asked"]), int(found["size"] or found["kept"])
    means = f"the declared shape and dtype take {many(needs, 'byte')}, and there are {size}"
    few, much = sorted((needs, size))
    if few and much in (2 * few, 4 * few, 8 * few):
        ratio = f"{'1/' * (size == few)}{much // few}"
        means += f": a dtype of {ratio} times the size would explain it"
    return {"means": means}


def declared(found: Found) -> Words:
    """A size or a number of dims, as a graph gives it and as it was declared."""
    got, said, dim = found["inferred"], found["declared"], found["dim"]
    inferred = f"size {got} in dim {dim}" if dim else many(int(got), "dim")
    return {"means": f"an output of the node has {inferred}, and was declared to have {said}"}


def disagreement(found: Found) -> Words:
    """A size that two shapes have to share."""
    one, other = found["a"] or found["c"], found["b"] or found["d"]
    if not one:  # no numbers
        return {}
    which = f"dim {found['dim']}" if found["dim"] else "one size"
    return {
        "means": f"two shapes have to agree in {which}: it is {one} in one, {other} in the other"
    }


def channels_last(found: Found) -> Words:
    """Which dims a memory format orders."""
    dims = "(N, C, H, W)" if found["rank"] == "4" else "(N, C, D, H, W)"
    return {
        "means": f"{found['format']} is an order of {dims}, and the tensor has another number of dims"
    }
