"""diagnose: the numbers that it reads from messages about random tensors, judged by torch and NumPy.

Each test provokes a library's message by a call that fails for many of the drawn numbers, and compares the
diagnosis with what follows from the arguments. A cure that is written as code has to run.
"""

import re
from collections.abc import Callable
from itertools import product, zip_longest
from math import prod
from random import Random

import einops
import numpy as np
import onnx
import pytest
import torch
import torch.nn.functional as F
from onnx.helper import make_tensor
from torch import distributed, nn
from torch.utils.checkpoint import checkpoint

from stridekit import diagnose
from stridekit._arguments import many
from tests.core.messages import (
    HAS_MESSAGES_OF_ROWS,
    Custom,
    assert_size_stride,
    changed_slices,
    fromarray,
    in_group,
    infer,
    meta,
    picture,
    raised,
    recompiled,
    sdpa,
    sharded,
    stepped,
    z,
)

pytestmark = pytest.mark.skipif(
    not HAS_MESSAGES_OF_ROWS, reason="other versions may word a message otherwise"
)

LOOK = "print x.shape one line earlier"
CASES = 40  # of a test
FEWEST = 6  # of them that have to raise the message
Shape = tuple[int, ...]


class Draw(Random):
    """Random numbers of a test."""

    def shape(self, low: int = 0, high: int = 4, dims: tuple[int, int] = (1, 4)) -> Shape:
        """Return a shape of low to high elements in each dim."""
        return tuple(self.randint(low, high) for _ in range(self.randint(*dims)))

    def changed(self, shape: Shape) -> Shape:
        """Return a shape with another size in one dim, or two sizes exchanged, or a dim more or less."""
        sizes = [*shape]
        dim = self.randrange(len(shape))
        change = self.choice(["size", "size", "exchanged", "more", "less"])
        if change == "size":
            sizes[dim] = self.randint(1, 5)
        elif change == "exchanged":
            sizes[dim], sizes[0] = sizes[0], sizes[dim]
        elif change == "more":
            sizes.insert(dim, self.randint(1, 3))
        else:
            del sizes[dim]
        return tuple(sizes)


class Unmet(Exception):
    """The drawn numbers do not raise the message."""


def repeated(test: Callable[[Draw], None]) -> Callable[[], None]:
    """Run a test with many draws, of which some have to raise its message."""

    def repeating() -> None:
        count = 0
        for seed in range(CASES):
            try:
                test(Draw(seed))
            except Unmet:
                continue
            except Exception as error:
                error.add_note(f"drawn with seed {seed}")
                raise
            count += 1
        assert count >= FEWEST

    repeating.__name__ = test.__name__
    return repeating


def require(condition: object) -> None:
    """Draw other numbers if a condition does not hold."""
    if not condition:
        raise Unmet


def lines_of(error: object) -> dict[str, str]:
    return dict(diagnose(error).lines)


def explained(call: Callable[[], object], words: str) -> dict[str, str]:
    """Return the lines of the diagnosis of a call, whose message has these words."""
    error = raised(call)
    require(words in str(getattr(error, "message", error)))
    return lines_of(error)


def means(call: Callable[[], object], words: str) -> str:
    return explained(call, words)["means"]


def run_cure(lines: dict[str, str], **names: object) -> object:
    """Return the value of the code that a cure begins with."""
    code = re.split(r", (?:an?|which) |; ", lines["cure"])[0]
    return eval(code, {"np": np, "torch": torch, "F": F, **names})


def runs(call: Callable[[], object]) -> bool:
    """Whether a call neither raises nor warns."""
    return "nothing was raised" in str(raised(call))


def difference(a: Shape, b: Shape) -> str:
    """Return what `diagnose` says of two shapes that should be one."""
    if len(a) != len(b):
        return f"{a} has {many(len(a), 'dim')}, {b} has {len(b)}"
    dims = [str(d) for d in range(len(a)) if a[d] != b[d]]
    return f"{a} and {b} differ in {'dim' if len(dims) == 1 else 'dims'} {', '.join(dims)}"


def meeting(a: Shape, b: Shape) -> tuple[int, int, int] | None:
    """Return the last dim of the result in which two shapes do not broadcast, and both sizes."""
    pairs = [*zip_longest(a[::-1], b[::-1], fillvalue=1)]
    for back, (left, right) in enumerate(pairs):
        if left != right and 1 not in (left, right):
            return len(pairs) - 1 - back, left, right
    return None


# Views and sizes ------------------------------------------------------------------------------------


@repeated
def test_a_view_of_a_cut_tensor(draw):
    shape = draw.shape(1, 6, (3, 3))
    cuts = tuple(slice(None, None, draw.randint(1, 3)) for _ in shape)
    x = z(*shape)[cuts].permute(draw.sample(range(3), 3))
    first = draw.choice([n for n in range(1, 217) if x.numel() % n == 0])
    wanted = (first, x.numel() // first)
    written = draw.choice([wanted, (-1, wanted[1]), (first, -1)])
    lines = explained(lambda: torch._refs.view(x, written), "Cannot view a tensor with shape")
    assert lines["means"].endswith(f"no stride gives {wanted}")
    code, _, rest = lines["cure"].partition(", which copies all ")
    assert rest == many(x.numel(), "element")
    assert eval(code, {"x": x}).shape == wanted


@repeated
def test_a_size_that_torch_computes(draw):
    shape = [*draw.shape(0, 6)]
    dim = draw.randrange(len(shape))
    shape[dim] = -1
    numel = draw.choice([0, draw.randint(1, 30)])
    lines = explained(lambda: z(numel).view(shape), "shape")
    others = prod(shape) * -1
    if not others and not numel:
        assert lines["means"] == f"0 times any size is 0, so nothing says what dim {dim} would be"
    elif not others:
        assert lines["means"].startswith(f"the other sizes multiply to 0, and there are {numel} ")
    else:
        assert numel % others
        assert lines["means"] == f"-1 stands for {numel} / {others}, which is no whole number"
        assert lines["cure"].endswith(f"a divisor of {numel}: {LOOK}")


@repeated
def test_a_negative_size(draw):
    shape = draw.shape(-3, 4)
    is_view = draw.random() < 0.5
    strides = [1] * len(shape)
    call = (lambda: z(6).view(shape)) if is_view else (lambda: torch.empty_strided(shape, strides))
    said = means(call, "dimension -")
    pattern = r"the size of dim (\d) in .* is (-?\d+): sizes are 0 or more"
    dim, size = map(int, re.fullmatch(pattern, said).groups())
    assert shape[dim] == size < (-1 if is_view else 0)
    assert f" in {shape} is" in said


@repeated
def test_a_dim_that_is_unflattened(draw):
    shape = draw.shape(1, 8)
    dim = draw.randrange(len(shape))
    pieces = [draw.randint(-1, 5) for _ in range(draw.randint(2, 3))]
    said = means(lambda: z(*shape).unflatten(dim, pieces), "don't multiply up to")
    others = prod(n for n in pieces if n != -1)
    why = f"they multiply to {others}"
    if -1 in pieces:
        why = f"{shape[dim]} / {others} is no whole number" if others else "0 times any size is 0"
    assert said == f"unflatten cuts dim {dim}, of size {shape[dim]}, into {pieces}: {why}"


@repeated
def test_sizes_of_pieces(draw):
    shape = draw.shape()
    dim = draw.randrange(len(shape))
    pieces = draw.shape()
    said = means(lambda: z(*shape).split(pieces, dim), "sum exactly")
    assert said == f"the sizes add up to {sum(pieces)}, dim {dim} has {shape[dim]}"


@repeated
def test_a_negative_size_of_a_piece(draw):
    shape = draw.shape()
    dim = draw.randrange(len(shape))
    pieces = [draw.randint(-2, 3) for _ in range(draw.randint(1, 3))]
    said = means(lambda: z(*shape).split(pieces, dim), "non-negative")
    negative = [k for k, length in enumerate(pieces) if length < 0]
    assert said == f"piece {negative[0]} of {pieces} has {pieces[negative[0]]}: sizes are 0 or more"


@repeated
def test_a_negative_size_of_all_pieces(draw):
    count = draw.randint(-9, 3)
    x = z(*draw.shape())
    lines = explained(lambda: x.split(count), "non-negative")
    assert lines["means"] == f"each piece would have {count}: sizes are 0 or more" and count < 0
    assert run_cure(lines, x=x, dim=0)[0].shape == x.shape


@repeated
def test_a_negative_length(draw):
    x = z(*draw.shape(1))
    dim, start = draw.randrange(x.ndim), draw.randint(0, 1)
    lines = explained(lambda: x.narrow(dim, start, draw.randint(-3, 0)), "length must be")
    rest = x.narrow(dim, start, x.shape[dim] - start)
    code = lines["cure"].partition(" for ")[0]
    assert eval(code, {"x": x, "dim": dim, "start": start}).shape == rest.shape


@repeated
def test_a_number_of_equal_pieces(draw):
    shape = draw.shape(0, 6)
    axis = draw.randrange(min(len(shape), 3))
    dim = 0 if axis == 1 and len(shape) == 1 else axis
    count = draw.randint(1, 5)
    split = ("vsplit", "hsplit", "dsplit")[axis]
    said = means(lambda: getattr(z(*shape), split)(count), "not divisible")
    size = shape[dim]
    assert said == f"dim {dim} has size {size}, and {size} / {count} leaves {size % count}"


@repeated
def test_a_window_that_is_too_long(draw):
    shape = draw.shape()
    dim = draw.randrange(len(shape))
    length = draw.randint(1, 6)
    said = means(lambda: z(*shape).unfold(dim, length, 1), "maximum size")
    assert said == f"elements 0 to {length - 1} are asked for, dim {dim} has {shape[dim]}"


@repeated
def test_a_part_that_is_too_long(draw):
    shape = draw.shape()
    dim = draw.randrange(len(shape))
    start, length = draw.randint(-4, 4), draw.randint(1, 6)
    said = means(lambda: z(*shape).narrow(dim, start, length), "exceeds dimension size")
    first = start + shape[dim] if start < 0 else start
    assert (
        said == f"elements {first} to {first + length - 1} are asked for, the dim has {shape[dim]}"
    )
    assert first + length > shape[dim]


DIM_CALLS = (
    lambda x, dim: x.transpose(dim, 0),
    lambda x, dim: x.unsqueeze(dim),
    lambda x, dim: x.numpy().sum(dim),
    lambda x, dim: np.expand_dims(x.numpy(), dim),
)


@repeated
def test_the_numbers_of_the_dims(draw):
    x = z(*draw.shape(1))
    call = draw.choice(DIM_CALLS)
    dim = draw.randint(-9, 9)
    said = means(lambda: call(x, dim), "out of")
    low, high, missing = map(int, re.findall(r"-?\d+", said))
    assert missing == dim and "there is no dim" in said
    for d in range(low - 1, high + 2):
        assert runs(lambda d=d: call(x, d)) == (low <= d <= high)


@repeated
def test_a_number_has_no_dims(draw):
    dim = draw.randint(-3, 3)
    said = means(lambda: np.zeros(()).sum(dim), "out of bounds")
    assert said == f"a tensor of 0 dims has one element, and no dim {dim}"


@repeated
def test_a_permutation_of_other_dims(draw):
    shape = draw.shape(dims=(0, 4))
    count = draw.randint(0, 5)
    said = means(lambda: z(*shape).permute(*range(count)), "is not equal to len(dims)")
    there = f"there {'is' if len(shape) == 1 else 'are'} {many(len(shape), 'dim')}"
    assert said == f"a permutation names each dim once: {there}, and it names {count}"


@pytest.mark.parametrize("perm", [[1, 0, 2], [2, 0, 1, 3], [0, -1], [1, 2]])
def test_a_permutation_of_onnx(perm):
    said = means(lambda: infer(f"{{ Y = Transpose<perm = {perm}>(X) }}"), "perm")
    if len(perm) == 2:
        assert said.startswith("a permutation names each of the dims 0 to 1 once")
    else:
        assert said.endswith(f"there are 2 dims, and it names {len(perm)}")


TRANSPOSES = (
    lambda x: x.t(),
    lambda x: x.mT,
    lambda x: x.mH,
    lambda x: x.H,
    lambda x: x.adjoint(),
    lambda x: np.matrix_transpose(x.numpy()),
)


@repeated
def test_a_transpose_of_other_than_a_matrix(draw):
    shape = draw.shape(dims=(1, 5))
    transpose = draw.choice(TRANSPOSES)
    error = raised(lambda: transpose(z(*shape)))
    require(not isinstance(error, AssertionError))
    ending = "there are no two dims to exchange"
    if len(shape) > 2:
        ending = "there are several pairs of dims to exchange, and x.mT takes the last"
    assert lines_of(error)["means"] == f"the tensor has {many(len(shape), 'dim')}: {ending}"


@repeated
def test_a_size_that_does_not_expand(draw):
    shape = draw.shape(1)
    wanted = draw.shape(-1, 4, (1, 5))
    said = means(lambda: z(*shape).expand(wanted), "the")
    added = len(wanted) - len(shape)
    if added < 0:
        assert f"keeps the {len(shape)} that are there: it got {len(wanted)}" in said
        return
    if said.startswith("-1"):
        dim = int(re.search(r"dim (\d) of the result", said)[1])
        assert dim < added and wanted[dim] == -1
        return
    dim, size, target = map(int, re.findall(r"\d+", said)[:3])
    assert (wanted[dim], shape[dim - added]) == (target, size)
    assert size not in (1, target)


# Broadcasting, indices, joining -----------------------------------------------------------------------


def test_heads_that_are_grouped_or_not():
    """The cure is named where it runs, and nowhere else."""
    for query, key in product(range(2, 7), repeat=2):
        q = z(1, query, 5, 8)
        k = z(1, key, 5, 8)
        if query == key:
            continue
        lines = lines_of(raised(lambda q=q, k=k: sdpa(q, k, k)))
        is_cure = lines["cure"] == "scaled_dot_product_attention(..., enable_gqa=True)"
        assert is_cure == runs(lambda q=q, k=k: sdpa(q, k, k, enable_gqa=True)), (query, key)
        if is_cure:
            assert f"{query} heads of the query meet {key} of key and value" in lines["means"]


@repeated
def test_tensors_that_do_not_broadcast(draw):
    a = draw.shape()
    b = draw.changed(a)
    lines = explained(lambda: z(*a) + z(*b), "must match")
    dim, left, right = meeting(a, b)
    assert lines["means"].endswith(f" a has {left} and b has {right}, and neither is 1")
    assert f"in dim {dim} of the result" in lines["means"]
    most = max(left, right)
    fewest = min(left, right)
    is_grouped = dim == 1 and fewest > 0 and most % fewest == 0
    assert ("enable_gqa" in lines["cause"]) == is_grouped
    if is_grouped:
        assert f"attention with {most} and {fewest} heads" in lines["cause"]


ARRAY_CALLS = (
    lambda a, b: np.add(a, b),
    lambda a, b: np.where(a > 0, b, 0),
    lambda a, b: np.broadcast_to(a, b.shape),
    lambda a, b: np.broadcast_arrays(a, b),
    lambda a, b: np.copyto(a, b),
    lambda a, b: np.matmul(a[..., None], b[..., None, :]),
    lambda a, b: next(np.nditer([a, b])),
)


@repeated
def test_arrays_that_do_not_broadcast(draw):
    a = draw.shape()
    b = draw.changed(a)
    call = draw.choice(ARRAY_CALLS)
    lines = explained(lambda: call(np.zeros(a), np.zeros(b)), "broadcast")
    require("means" in lines)
    meets = meeting(a, b)
    if not meets:
        assert lines["means"].startswith("a[...] = b broadcasts b alone")
        return
    dim, left, right = meets
    pattern = r".*in dim (\d) of the result sizes (\d) and (\d) meet, and none is 1"
    named = re.fullmatch(pattern, lines["means"])
    assert int(named[1]) == dim
    assert {int(named[2]), int(named[3])} == {left, right}


@repeated
def test_a_result_that_does_not_fit_in_place(draw):
    a = draw.shape(1)
    b = draw.changed(a)
    make = draw.choice([np.zeros, lambda shape: z(*shape)])
    said = means(lambda: make(a).__iadd__(make(b)), "t match the broadcast shape")
    assert said.startswith(f"the result has shape {np.broadcast_shapes(a, b)}, its place {a}, ")


@repeated
def test_a_mask_of_another_shape(draw):
    shape = draw.shape(1)
    skipped = draw.randrange(len(shape))
    mask = draw.changed(shape[skipped:])
    index = (*[slice(None)] * skipped, z(*mask).bool())
    said = means(lambda: z(*shape)[index], "shape of the mask")
    pattern = r"dim (\d) of the mask has (\d), dim (\d) of the tensor has (\d)"
    dim, n, axis, size = map(int, re.fullmatch(pattern, said).groups())
    assert axis == dim + skipped
    assert (mask[dim], shape[axis]) == (n, size) and n != size


@repeated
def test_a_mask_of_an_array(draw):
    shape = draw.shape(1)
    mask = draw.changed(shape)
    said = means(lambda: np.zeros(shape)[np.zeros(mask, bool)], "boolean index")
    dim, n, size = map(int, re.findall(r"\d+", said))
    assert (mask[dim], shape[dim]) == (n, size) and n != size


@repeated
def test_indices_that_do_not_broadcast(draw):
    a = draw.shape(1)
    b = draw.changed(a)
    index = np.zeros(a, int), np.zeros(b, int)
    x = np.zeros((2, 3))
    if draw.random() < 0.5:
        index = z(*a).long(), z(*b).long()
        x = z(2, 3)
    said = means(lambda: x[index], "shape mismatch")
    dim, left, right = meeting(a, b)
    assert said.endswith(f"in dim {dim} of the result sizes {left} and {right} meet, and none is 1")


@repeated
def test_an_index_tensor_that_is_too_large(draw):
    shape = draw.shape(1)
    index, source = (tuple(draw.randint(1, 5) for _ in shape) for _ in "is")
    dim = draw.randrange(len(shape))
    numbers = z(*index).long()
    reasons = []
    for d, size in enumerate(index):
        if d != dim and size > shape[d]:
            reasons.append(f"{size} in dim {d}, the tensor has {shape[d]}")
    call = lambda index: z(*shape).gather(dim, index)  # noqa: E731
    if draw.random() < 0.5:
        call = lambda index: z(*shape).scatter(dim, index, z(*source))  # noqa: E731
        for d, size in enumerate(index):
            if size > source[d]:
                reasons.append(f"{size} in dim {d}, the source has {source[d]}")
    lines = explained(lambda: call(numbers), "xpected index")
    assert lines["means"] == f"the index has {'; '.join(reasons)}"
    assert runs(lambda: call(run_cure(lines, index=numbers)))


@repeated
def test_an_index_of_other_rows(draw):
    x, rows = z(2, 3), draw.randint(1, 5)
    index, source = z(draw.randint(1, 5)).long(), z(rows, 3)
    lines = explained(lambda: x.index_add(0, index, source), "Number of indices")
    counts = f"the index has {many(len(index), 'element')}, and the source has {rows} in that dim"
    assert lines["means"] == counts
    cured = run_cure(lines, index=index, source=source, dim=0)
    names = [cured, source] if "index[" in lines["cure"] else [index, cured]
    assert runs(lambda: x.index_add(0, *names))


@repeated
def test_tensors_that_are_joined(draw):
    first = draw.shape(1)
    joined = [first, *[draw.changed(first) for _ in range(draw.randint(1, 2))]]
    dim = draw.randrange(min(map(len, joined)) or 1)
    make, join = draw.choice([(z, torch.cat), (meta, torch.cat), (None, np.concatenate)])
    make = make or (lambda *shape: np.zeros(shape))
    said = explained(lambda: join([make(*shape) for shape in joined], dim), "").get("means", "")
    require("have to agree" in said or "a dim is missing" in said)
    if "a dim is missing" in said:
        counts = {int(n) for n in re.findall(r"\d+", said)}
        assert len(counts) == 2 and counts <= {len(shape) for shape in joined}
        return
    if make is z:
        pattern = rf".* of dim {dim} .* number (\d) \(.*\) has (\d) where the first has (\d)"
        number, size, first_size = map(int, re.fullmatch(pattern, said).groups())
        dims = [d for d in range(len(first)) if d != dim and joined[number][d] != first[d]]
        other = dims[0]
    else:
        pattern = r"dim (\d) has (\d) in the first tensor, and (\d) in number (\d)"
        other, first_size, size, number = map(int, re.search(pattern, said).groups())
    assert other != dim and size != first_size
    assert (joined[number][other], first[other]) == (size, first_size)


@repeated
def test_tensors_that_are_stacked(draw):
    a = draw.shape()
    b = draw.changed(a)
    same = [z(*a)] * draw.randint(1, 3)
    assert means(lambda: torch.stack([*same, z(*b)]), "equal size") == difference(a, b)


@repeated
def test_rows_of_different_lengths(draw):
    rows = [[[0] * draw.randint(1, 2) for _ in range(draw.choice([2, 2, 3]))] for _ in range(2)]
    dim, a, b = map(int, re.findall(r"\d+", means(lambda: torch.tensor(rows), "of length")))
    lengths = [{len(rows)}, {len(row) for row in rows}, {len(x) for row in rows for x in row}]
    assert {a, b} <= lengths[dim] and a != b
    agreeing = next(d for d in range(3) if len(lengths[d]) > 1)
    said = means(lambda: np.array(rows), "inhomogeneous")
    assert said == f"the lists agree in {many(agreeing, 'dim')}, and differ in dim {agreeing}"


# Memory -----------------------------------------------------------------------------------------------

DTYPES = (torch.int8, torch.int16, torch.int32, torch.int64, torch.complex128)


@repeated
def test_a_buffer_that_ends_too_early(draw):
    size, offset, count = draw.randint(1, 30), draw.randint(0, 5), draw.randint(1, 6)
    dtype = draw.choice(DTYPES)
    call = lambda: torch.frombuffer(bytearray(size), dtype=dtype, count=count, offset=offset)  # noqa: E731
    said = means(call, "requested buffer length")
    needed = offset + count * dtype.itemsize
    numbers = f"{offset} + {count} * {dtype.itemsize} = {needed} bytes are needed"
    assert said == f"{numbers}, the buffer has {size}" and needed > size


@repeated
def test_a_buffer_that_ends_inside_of_an_element(draw):
    size, offset = draw.randint(1, 40), draw.randint(0, 5)
    dtype = draw.choice(DTYPES)
    call = lambda: torch.frombuffer(bytearray(size), dtype=dtype, offset=offset)  # noqa: E731
    said = means(call, "must be a multiple of element size")
    rest = many((size - offset) % dtype.itemsize, "byte")
    assert said.startswith(f"{rest} of {size - offset} would be left over")
    assert said.endswith(f"an element has {dtype.itemsize}")


@repeated
def test_a_buffer_that_ends_before_the_offset(draw):
    size, offset = draw.randint(1, 9), draw.randint(-4, 20)
    dtype = draw.choice(DTYPES[:2])
    call = lambda: torch.frombuffer(bytearray(size), dtype=dtype, offset=offset)  # noqa: E731
    lines = explained(call, "must be non-negative")
    assert (
        lines["means"] == f"byte {offset} is asked for first, the buffer has bytes 0 to {size - 1}"
    )
    assert lines["cure"].endswith(f": 0 to {size - 1}") and offset not in range(size)


@repeated
def test_the_bytes_of_another_dtype(draw):
    shape = draw.shape(0, 8, (0, 3))
    dims = [slice(draw.randint(0, 1), None, draw.choice([1, 1, 1, 2])) for _ in shape]
    dtype, wanted = draw.sample(DTYPES, 2)
    x = z(*shape, dtype=dtype)[tuple(dims)].permute(draw.sample(range(len(shape)), len(shape)))
    require(x.ndim == 0 or x.shape[-1])  # torch refuses all views of an empty dim
    lines = explained(lambda: x.view(wanted), "different element sizes")
    said = lines["means"]
    ratio = wanted.itemsize // dtype.itemsize
    if ratio:
        assert x.ndim == 0 or "its stride" in said or said.startswith(f"{ratio} elements of ")
    if "its stride is" in said:
        assert said.endswith(f"its stride is {x.stride(-1)}") and x.stride(-1) != 1
    elif "the last dim has" in said:
        assert said.endswith(f"the last dim has {x.shape[-1]}") and x.shape[-1] % ratio
    elif "starts in the middle" in said:
        offset = x.storage_offset()
        assert said.endswith(f"at element {offset}") and offset % ratio
    elif x.ndim:
        dim, step = map(int, re.search(r"stride\((\d)\) is (\d+): such a step", said).groups())
        assert x.stride(dim) == step and step % ratio
    code = re.search(r"(?:x|F\.pad\(x)\S*(?: .*?)?\.view\(dtype\)", lines["cure"])
    assert ("one element does not fill a larger one" in lines["cure"]) == (x.ndim == 0)
    if x.ndim == 0 and ratio > 1:
        return
    contiguous = x.clone(memory_format=torch.contiguous_format)
    if "a copy without gaps" in lines["cure"] and ratio and x.shape[-1] % ratio:
        return  # one thing at a time: the next message is about the last dim
    names = {"x": x, "dtype": wanted, "torch": torch, "F": F}
    result = eval(code[0], names)
    if "cut or pad" not in lines["cure"] and "pad" not in lines["cure"]:
        assert torch.equal(result, contiguous.reshape(-1).view(wanted).view(result.shape))


@repeated
def test_pairs_of_floats(draw):
    shape = (*draw.shape(0, 3, (0, 2)), draw.choice([2, 2, 3]))
    stride = [draw.randint(1, 5) for _ in shape]
    stride[-1] = draw.choice([1, 1, 1, 3])
    x = z(99).as_strided(shape, stride, draw.choice([0, 0, 1]))
    lines = explained(lambda: torch.view_as_complex(x), "Tensor must have a")
    if shape[-1] != 2:
        assert lines["means"] == "a complex number is two floats: the last dim has to be that pair"
        assert "unflatten" in lines["cure"]
        return
    code = lines["cure"].removesuffix(", a copy")
    result = eval(code, {"x": x, "torch": torch})
    assert torch.equal(torch.view_as_real(result), x)


@repeated
def test_a_result_of_another_shape(draw):
    old = draw.shape(1)
    new = draw.changed(old)
    more = draw.choice([0, 0, 99])  # elements of the storage behind the view
    out = z(prod(old) + more)[: prod(old)].view(old)
    bytes_before = out.untyped_storage().nbytes()
    said = means(lambda: torch.add(z(*new), 1, out=out), "was resized")
    assert f"has shape {old}, the result {new}: " in said
    has_grown = out.untyped_storage().nbytes() > bytes_before
    assert has_grown == (prod(new) > prod(old) + more)
    ending = "in the storage that it had"
    if prod(new) > prod(old):
        count = many(prod(new), "element")
        ending = f"and a larger storage if its own had no room for {count}"
    assert said.endswith(ending)


@repeated
def test_a_layout_that_leaves_its_storage(draw):
    """In elements of one byte, too."""
    shape, stride = draw.shape(0, 4, (2, 2)), draw.shape(0, 9, (2, 2))
    offset, size = draw.randint(0, 9), draw.randint(0, 30)
    dtype = draw.choice(DTYPES)
    x = z(size, dtype=dtype)
    lines = explained(lambda: x.as_strided(shape, stride, offset), "out of bounds")
    last = offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
    storage = "is empty"
    if size:
        storage = f"has {many(size, 'element')}, and ends with element {size - 1}"
    index = tuple(n - 1 for n in shape)
    assert lines["means"] == f"index {index} is element {last}; the storage {storage}"
    assert last >= size


UNARY = {"Exp": torch.exp, "Sigmoid": torch.sigmoid, "Tanh": torch.tanh, "Sqrt": torch.sqrt}


@repeated
def test_a_tensor_that_changed(draw):
    shape = draw.shape()
    name = draw.choice([*UNARY])
    count = draw.randint(0, 3)

    def train():
        x = z(*shape, requires_grad=True) * 1
        for _ in range(draw.randint(0, 2)):
            x.add_(1)  # before autograd keeps anything
        y = UNARY[name](x)
        for _ in range(count):
            y.add_(1)
        y.sum().backward()

    said = means(train, "modified by an inplace operation")
    assert f"a tensor of shape {shape}, the output of {name}, for the backward pass" in said
    assert f"it was written to {many(count, 'time')}: the gradient would be wrong" in said


@repeated
def test_a_slice_that_changed(draw):
    count = draw.randint(0, 3)
    lines = explained(lambda: changed_slices(count), "CopySlices")
    assert "shape (3,), the result of a write to a slice, for the backward" in lines["means"]
    assert f"it was written to {many(count, 'time')}: the gradient would be wrong" in lines["means"]
    assert "step()" not in lines["cause"]


@repeated
def test_a_weight_that_changed(draw):
    size, features, steps = draw.randint(1, 3), draw.randint(1, 4), draw.randint(0, 2)
    layers = {
        "conv": (nn.Conv1d(size, features, 1), z(2, size, 3)),
        "linear": (nn.Linear(size, features), z(2, size)),
        "norm": (nn.LayerNorm(size), z(2, size)),
    }
    layer, x = layers[draw.choice([*layers])]
    lines = explained(lambda: stepped(layer, x, steps), "inplace operation")
    shape = tuple(layer.weight.shape)
    assert f" of shape {shape[::-1] if isinstance(layer, nn.Linear) else shape}" in lines["means"]
    assert f"it was written to {many(steps, 'time')}: the gradient would be wrong" in lines["means"]
    assert lines["cause"].startswith("optimizer.step() between two calls of backward()")
    assert lines["cure"].startswith("call backward() for all losses before the first step()")


@pytest.mark.parametrize("name", ["split", "chunk", "unbind"])
def test_the_operation_that_made_several_views(name):
    arguments = {"unbind": ()}.get(name, (2,))
    x = torch.ones(4, requires_grad=True) * 1
    said = means(lambda: getattr(x, name)(*arguments)[0].add_(1), "multiple views")
    made_by = getattr(x, name)(*arguments)[0].grad_fn.name().removesuffix("0")
    assert said.startswith(f"{made_by.removesuffix('Backward')} returned several views")


@repeated
def test_a_recomputed_tensor_of_another_shape(draw):
    shape = draw.shape(1)
    other = draw.changed(shape)
    require(prod(other) == prod(shape))
    calls = []

    def function(x):
        calls.append(x)
        return x.view(other if len(calls) > 1 else shape).exp().sum()

    x = z(prod(shape), requires_grad=True)
    call = lambda: checkpoint(function, x, use_reentrant=False).backward()  # noqa: E731
    assert means(call, "saved metadata") == difference(shape, other)


@repeated
def test_strides_that_were_compiled(draw):
    x = z(*draw.shape(1))
    x = x.permute(draw.sample(range(x.ndim), x.ndim))
    size = tuple(draw.choice([n, n, 7]) for n in x.shape)
    stride = tuple(draw.choice([n, n, 8]) for n in x.stride())
    said = means(lambda: assert_size_stride(x, size, stride), "at dim=")
    parts = said.removeprefix("the code was compiled for other numbers: ").split("; ")
    for part in parts:
        dim = int(re.match(r"dim (\d) has ", part)[1])
        reasons = []
        if x.shape[dim] != size[dim]:
            reasons.append(f"size {x.shape[dim]}, not {size[dim]}")
        if x.stride(dim) != stride[dim]:
            reasons.append(f"stride {x.stride(dim)}, not {stride[dim]}")
        assert part == f"dim {dim} has {' and '.join(reasons)}" and reasons


@repeated
def test_strides_that_torch_compile_guards(draw):
    shape = draw.shape(2, 4, (1, 3))
    other = draw.changed(shape)
    require(min(other, default=0) > 1)  # a size of 1 is a case of its own
    x = z(*shape)
    y = z(*other).permute(draw.sample(range(len(other)), len(other)))
    lines = explained(lambda: recompiled(x, y), "mismatch")
    if "dims" in lines["means"] or "1 dim," in lines["means"]:
        dims = many(y.ndim, "dim")
        assert lines["means"] == f"x has {dims}, and the code was compiled for {x.ndim}"
        assert x.ndim != y.ndim
        return
    pattern = r"dim (\d) of x has (size|stride) (\d+), and the code was compiled for (\d+)"
    dim, word, got, wanted = re.fullmatch(pattern, lines["means"]).groups()
    numbers = [x.shape, y.shape] if word == "size" else [x.stride(), y.stride()]
    assert [layout[int(dim)] for layout in numbers] == [int(wanted), int(got)]
    if word == "size":
        assert lines["cure"].startswith("torch.compile(f, dynamic=True), or")
        # The compiler takes equal sizes for one number, until they differ.
        if len(set(shape)) == len(shape):
            assert runs(lambda: recompiled(x, y.contiguous(), dynamic=True))
    elif x.shape == y.shape:
        assert runs(lambda: recompiled(x, run_cure({"cure": "x.contiguous()"}, x=y)))


# Operations -------------------------------------------------------------------------------------------


@repeated
def test_channels_of_a_batch(draw):
    shape = draw.shape(1, 5, (3, 5))
    wanted = draw.randint(1, 5)
    convolve = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[len(shape)]
    x = z(*shape)
    if draw.random() < 0.4:
        x = z(*shape[1:])
        shape = (1, *shape[1:])  # torch prints a batch of one where there is none
    weight = z(5, wanted, *[1] * (len(shape) - 2))
    lines = explained(lambda: convolve(x, weight), "channels, but got")
    if shape[-1] == wanted:
        assert (
            f"dim 1 of {shape} has {shape[1]}, and the last dim has the {wanted} " in lines["means"]
        )
    elif shape[0] == wanted == 1:
        assert lines["means"].startswith(f"{shape} is one image of {shape[1]} channels")
    elif shape[0] == wanted:
        assert f"dim 1 of {shape} has {shape[1]}, and dim 0 has the {wanted} " in lines["means"]
    else:
        ending = f"it has {shape[1]}, and the weight is made for {wanted}"
        assert lines["means"] == f"dim 1 of {shape} is the channels: {ending}"
        assert lines["cure"] == LOOK
        return
    assert runs(lambda: convolve(run_cure(lines, x=x), weight))


NORMS = (
    lambda x, n: F.batch_norm(x, z(n), torch.ones(n)),
    lambda x, n: F.batch_norm(x, None, None, weight=z(n), training=True),
    lambda x, n: F.group_norm(x, 1, z(n), z(n)),
)


@repeated
def test_a_norm_of_other_channels(draw):
    shape = draw.shape(2, 5, (2, 4))
    count = draw.randint(1, 6)
    norm = draw.choice(NORMS)
    require(shape[1] != count)
    said = means(lambda: norm(z(*shape), count), "")
    assert said == f"dim 1 of the input has {shape[1]} channels, the norm is made for {count}"


BY_NDIM = {
    "3 or 4": nn.Conv2d(2, 3, 1),
    "2 or 3": nn.BatchNorm1d(2),
    "4": nn.BatchNorm2d(2),
    "4 or 5": nn.Conv3d(2, 3, 1),
    "5": nn.BatchNorm3d(2),
}


@repeated
def test_a_number_of_dims_that_an_operation_takes(draw):
    shape = draw.shape(2, 2, (1, 6))
    wanted = draw.choice([*BY_NDIM])
    lines = explained(lambda: BY_NDIM[wanted](z(*shape)), "xpected ")
    subject = shape if "Conv" in str(BY_NDIM[wanted]) else "the input"
    assert len(shape) not in map(int, wanted.split(" or "))
    ending = f"{many(len(shape), 'dim')}; the operation takes {wanted}"
    assert lines["means"] == f"{subject} has {ending}"


FORMATS = {
    torch.channels_last: ("channels_last", "(N, C, H, W)"),
    torch.channels_last_3d: ("channels_last_3d", "(N, C, D, H, W)"),
}


@repeated
def test_a_format_of_other_dims(draw):
    memory_format = draw.choice([*FORMATS])
    name, dims = FORMATS[memory_format]
    x = z(*draw.shape(1, 3, (1, 5)))
    said = means(lambda: x.contiguous(memory_format=memory_format), "required rank")
    assert said == f"{name} is an order of {dims}, and the tensor has another number of dims"
    assert x.ndim != dims.count(",") + 1


GROUPS = (
    lambda x, n: nn.GroupNorm(n, x.shape[1]),
    lambda x, n: F.group_norm(x, n),
    lambda x, n: F.channel_shuffle(x, n),
    lambda x, n: F.pixel_shuffle(x, n),
)


@repeated
def test_groups_that_do_not_divide(draw):
    x = z(1, draw.randint(1, 20), 2, 2)
    count = draw.randint(2, 5)
    call = draw.choice(GROUPS)
    said = means(lambda: call(x, count), "ivisible")
    parts = count**2 if call is GROUPS[3] else count
    channels = x.shape[1]
    rest = channels % parts
    assert rest
    assert said == f"{channels} / {parts} is no whole number: {rest} would be left over"


@repeated
def test_features_of_another_size(draw):
    size, hidden, features, batch = (draw.randint(1, 5) for _ in range(4))
    layer = nn.GRU(size, hidden)
    x = z(3, batch, features)
    if draw.random() < 0.5:
        said = means(lambda: layer(x), "input_size")
        assert said == f"the last dim has {features} features, the layer is made for {size}"
        assert size != features
        return
    state = draw.shape(1, 5, (3, 3))
    said = means(lambda: layer(z(3, batch, size), z(*state)), "Expected hidden size")
    assert said == difference(state, (1, batch, hidden))


LOSSES = (F.mse_loss, F.l1_loss, F.binary_cross_entropy, F.binary_cross_entropy_with_logits)


@repeated
def test_a_loss_of_two_shapes(draw):
    output = draw.shape(1)
    target = draw.changed(output)
    require(output != target)
    loss = draw.choice(LOSSES)
    lines = explained(lambda: loss(z(*output), z(*target)), "arget size")
    is_warning = loss in (F.mse_loss, F.l1_loss)
    if meeting(target, output):
        assert lines["means"] == difference(target, output)
    else:
        result = np.broadcast_shapes(target, output)
        assert lines["means"] == f"{target} and {output} broadcast to {result}"
    is_wrong = is_warning and not meeting(target, output)
    assert lines["harm"].startswith("yes" if is_wrong else "no: torch refuses")


@repeated
def test_a_target_of_other_classes(draw):
    logits = draw.shape(1, 4, (2, 4))
    wanted = (logits[0], *logits[2:])
    target = draw.changed(wanted)
    require(target not in (wanted, ()))
    require(target != logits)  # those would be probabilities
    call = lambda: F.cross_entropy(z(*logits), z(*target).long())  # noqa: E731
    said = explained(call, "").get("means", "")
    require(said)
    if said.startswith("the input (N, C, H, W) takes"):
        assert said.endswith(f" of 3 dims, and the target has {len(target)}") and len(logits) == 4
    elif said.startswith("the input has a batch"):
        assert said == f"the input has a batch of {logits[0]}, the target of {target[0]}"
    elif said.startswith("without its classes in dim 1, "):
        rest = "" if target == wanted else f", and the target is {target}"
        assert said == f"without its classes in dim 1, {logits} is {wanted}{rest}"
    elif said.startswith("without"):
        assert said.endswith(f" in dim 1 the input is {wanted}, and the target {target}")
    else:
        assert said.startswith("the classes are dim 1 of the input: ") and len(logits) == 2


@repeated
def test_a_gradient_of_another_shape(draw):
    shape = draw.shape(1)
    other = draw.changed(shape)
    x = z(*shape, requires_grad=True)
    calls = (
        lambda: setattr(x, "grad", z(*other)),
        lambda: (x * 1).backward(z(*other)),
        lambda: Custom.apply(x, lambda x: z(*other)).sum().backward(),
    )
    said = explained(draw.choice(calls), "").get("means", "")
    require(said)  # the gradient of a broadcast is summed
    assert said == difference(other, shape)


@repeated
def test_a_weight_of_another_shape(draw):
    rows, columns = draw.randint(1, 5), draw.randint(1, 5)
    saved = draw.choice([(columns, rows), draw.shape(1, 5, (2, 2))])
    model = nn.Linear(columns, rows, bias=False)
    lines = explained(lambda: model.load_state_dict({"weight": z(*saved)}), "copying a param")
    assert lines["means"] == difference(saved, (rows, columns))
    is_turned = saved == (columns, rows)
    assert ("the other way round" in lines["cause"]) == is_turned
    assert lines["cure"].startswith("state[name] = state[name].t(), a view") == is_turned


@repeated
def test_a_matrix_and_a_vector(draw):
    rows, columns, size = (draw.randint(1, 4) for _ in range(3))
    matrix = z(rows, columns)
    vector = z(size)
    lines = explained(lambda: matrix @ vector, "size mismatch")
    assert f"have {columns} elements, the vector has {size}: they" in lines["means"]
    assert lines["cure"].startswith("m.t() @ v, a view") == runs(lambda: matrix.t() @ vector)
    assert (lines["cure"] == LOOK) == (rows != size)


@repeated
def test_vectors_that_do_not_multiply(draw):
    a, b = draw.randint(1, 5), draw.randint(1, 5)
    said = means(lambda: z(a) @ z(b), "inconsistent tensor size")
    assert said == f"the vectors have {a} and {b} elements: they have to agree"


@repeated
def test_letters_that_do_not_fit(draw):
    shapes = [draw.shape(1, 4, (1, 3)) for _ in range(2)]
    letters = ["".join(draw.sample("ijkl", draw.choice([len(x), len(x), 2]))) for x in shapes]
    operands = [z(*shape) for shape in shapes]
    call = lambda: torch.einsum(f"{','.join(letters)}->", *operands)  # noqa: E731
    said = means(call, "einsum()")
    size_of: dict[str, int] = {}
    for number, (names, shape) in enumerate(zip(letters, shapes, strict=True)):
        if len(names) != len(shape):
            counts = f"{many(len(shape), 'dim')} and {many(len(names), 'letter')}"
            assert said == f"operand {number} (the first is 0) has {counts}"
            return
    for number, (names, shape) in enumerate(zip(letters, shapes, strict=True)):
        for name, size in zip(names, shape, strict=True):
            before = size_of.setdefault(name, size)
            if before != size and 1 not in (before, size):
                ending = f"is {size} in operand {number} (the first is 0), and {before} before"
                assert said == f"{name} {ending}"
                return
    raise AssertionError(said)


@repeated
def test_matrices_that_do_not_multiply(draw):
    a, b, c, d = (draw.randint(1, 4) for _ in range(4))
    make = draw.choice([z, meta])
    x = make(a, b)
    w = make(c, d)
    lines = explained(lambda: x @ w, "multipl" if make is z else "same reduction dim")
    rows = f"the rows of mat1 have {b} elements, the columns of mat2 have {c}: they have to agree"
    assert lines["means"] == rows
    is_turned = runs(lambda: x @ w.t()) or runs(lambda: x.t() @ w)
    assert ("lies the other way round: " in lines["cure"]) == is_turned
    if is_turned:
        pattern = r"mat[12] lies the other way round: (.*) is \((\d)x(\d)\) @ \((\d)x(\d)\), a view"
        code, *numbers = re.fullmatch(pattern, lines["cure"]).groups()
        left, right = (eval(side, {"x": x, "w": w}).shape for side in code.split(" @ "))
        assert [*left, *right] == [*map(int, numbers)] and left[1] == right[0]


@repeated
def test_arrays_that_do_not_multiply(draw):
    left = draw.shape(1, 4, (1, 3))
    right = draw.shape(1, 4, (1, 3))
    arrays = np.zeros(left), np.zeros(right)
    dim = max(len(right) - 2, 0)
    said = means(lambda: np.dot(*arrays), "not aligned")
    sizes = f"has {left[-1]} elements, dim {dim} of {right} has {right[dim]}: they have to agree"
    assert said == f"dim {len(left) - 1} of {left} {sizes}"
    said = lines_of(raised(lambda: np.matmul(*arrays)))["means"]
    if "core dim" in said:
        assert f"has {right[dim]}, and the other operand has {left[-1]}: they have to agree" in said


@repeated
def test_batches_that_do_not_multiply(draw):
    a = draw.shape(1, 4, (3, 3))
    b = draw.shape(1, 4, (3, 3))
    said = means(lambda: torch.bmm(z(*a), z(*b)), "first two dimensions")
    matrices = "1 matrix" if a[0] == 1 else f"{a[0]} matrices"
    first = f"the first operand has {matrices}"
    assert said == f"{first} with rows of {a[2]}, the second {b[0]} with columns of {b[1]}"


@repeated
def test_heads_of_another_size(draw):
    sizes = draw.sample(range(1, 9), 2)
    q = z(1, draw.randint(1, 2), 5, sizes[0])
    k = z(*q.shape[:2], 4, sizes[1])
    lines = explained(lambda: sdpa(q, k, k), "first two dimensions")
    heads = "1 matrix" if q.shape[1] == 1 else f"{q.shape[1]} matrices"
    ends = f"with rows of {sizes[0]}, the second {q.shape[1]} with columns of {sizes[1]}"
    assert lines["means"] == f"the first operand has {heads} {ends}"
    assert lines["cause"] == "a query and a key of different head sizes"


@repeated
def test_a_mask_of_attention(draw):
    attention = nn.MultiheadAttention(4, 2)
    queries, keys, batch = (draw.randint(1, 4) for _ in range(3))
    mask = draw.shape(1, 4, (2, 3))
    q = z(queries, batch, 4)
    k = z(keys, batch, 4)
    call = lambda: attention(q, k, k, attn_mask=z(*mask))  # noqa: E731
    wanted = (queries, keys) if len(mask) == 2 else (2 * batch, queries, keys)
    assert means(call, "attn_mask") == difference(mask, wanted)


@pytest.mark.parametrize("strides", [*product((1, 2), repeat=3)][1:])
def test_the_last_strides_of_attention(strides):
    """The message of a GPU."""
    text = (
        "All fused kernels require the last dimension of the input to have stride 1. Got "
        "Query.stride(-1): {}, Key.stride(-1): {}, Value.stride(-1): {} instead."
    )
    said = lines_of(text.format(*strides))["means"]
    named = re.findall(r"(\d) in the (\w+)", said)
    of_names = dict(zip(("query", "key", "value"), strides, strict=True))
    assert named == [(str(n), name) for name, n in of_names.items() if n != 1]


# Libraries --------------------------------------------------------------------------------------------


@repeated
def test_a_dim_of_einops(draw):
    size, a, b = draw.randint(1, 12), draw.randint(1, 5), draw.randint(1, 5)
    x = z(2, size)
    if draw.random() < 0.5:
        said = means(lambda: einops.rearrange(x, "n (a b) -> n a b", b=b), "in chunks of")
        ending = f"a dim of {size} into rows of {b}, and {b} does not divide {size}"
        assert said == f"einops has to cut {ending}"
        return
    said = means(lambda: einops.rearrange(x, "n (a b) -> n a b", a=a, b=b), "Shape mismatch")
    times = ""
    if a * b > 1 and size % (a * b) == 0:
        times = f": {size // (a * b)} times as much"
    assert said == f"a dim has {size}, and the sizes of its names multiply to {a * b}{times}"


@repeated
def test_pieces_of_einops(draw):
    shapes = [draw.shape(1, 3, (0, 3)) for _ in range(draw.randint(1, 3))]
    size = draw.randint(1, 20)
    has_unknown = draw.random() < 0.3
    if has_unknown:
        shapes[-1] = (-1, draw.randint(2, 3))
    said = means(lambda: einops.unpack(z(2, size), shapes, "a *"), "could not split axis")
    if has_unknown:
        assert said.startswith("no size in place of the -1") and said.endswith(f"up to {size}")
        return
    counts = [prod(shape) for shape in shapes]
    total = " + ".join(map(str, counts))
    assert said == f"the pieces have {total} = {sum(counts)} elements, the dim has {size}"


@repeated
def test_the_bytes_of_an_onnx_tensor(draw):
    shape = draw.shape(1)
    itemsize = draw.choice([1, 2, 4, 8, 12])
    given = bytes(prod(shape) * itemsize)
    call = lambda: make_tensor("w", onnx.TensorProto.FLOAT, shape, given, raw=True)  # noqa: E731
    said = means(call, "Raw data size")
    declared = 4 * prod(shape)
    start = f"the declared shape and dtype take {many(declared, 'byte')}, and there are "
    times = {1: "1/4", 2: "1/2", 8: "2"}.get(itemsize)
    ending = f": a dtype of {times} times the size would explain it" if times else ""
    assert said == f"{start}{len(given)}{ending}"


@repeated
def test_an_array_for_matplotlib(draw):
    a = np.zeros(draw.shape(1, 5, (1, 5)))
    lines = explained(lambda: picture(a), "Invalid shape")
    assert str(a.shape) in lines["means"]
    if a.ndim > 1:
        assert runs(lambda: picture(run_cure(lines, a=a)))


@repeated
def test_an_array_for_pillow(draw):
    a = np.zeros(draw.shape(1, 6, (2, 4)), draw.choice([np.uint8, np.float32, np.int64]))
    lines = explained(lambda: fromarray(a), "Cannot handle this data type")
    channels = a.shape[2:]
    if a.ndim == 4:
        assert lines["means"] == "the array has 4 dims: a batch of pictures"
        assert run_cure(lines, a=a).shape == (a.shape[2], a.shape[3], a.shape[1])
    elif channels == (1,):
        assert lines["means"].startswith("the last dim has 1: Pillow takes")
        assert run_cure(lines, a=a).shape == a.shape[:2]
    elif channels and channels[0] > 4:
        assert lines["means"].startswith(f"the last dim has {channels[0]}, and Pillow")
        assert run_cure(lines, a=a).shape == (*a.shape[1:], a.shape[0])
        assert "a[0] of (1, H, W)" in lines["cure"]
    else:
        count = many((*channels, 1)[0], "channel")
        assert lines["means"] == f"Pillow has no pictures of {count} of dtype {a.dtype.str}"
        code, _, rest = lines["cure"].partition(" for floats from 0 to 1, ")
        for source in (code, rest.partition(" for ")[0]):
            assert runs(lambda source=source: fromarray(eval(source, {"a": a, "np": np})))
    if a.ndim > 2 and (channels == (1,) or channels[-1] > 4):
        assert ("to bytes: (a * 255).astype(np.uint8)" in lines["cure"]) == (a.dtype != np.uint8)


BUCKET = (
    "Grad strides do not match bucket view strides.\n"
    "grad.sizes() = {}, strides() = {}\nbucket_view.sizes() = {}, strides() = {}"
)


@repeated
def test_a_gradient_in_another_order_than_its_bucket(draw):
    """DDP's warning, which names all numbers."""
    shape = draw.shape(1, 3)
    ours, theirs = (tuple(draw.choice([1, 1, 4]) for _ in shape) for _ in "ab")
    lines = lines_of(BUCKET.format(*map(list, (shape, ours, shape, theirs))))
    dims = [d for d in range(len(shape)) if ours[d] != theirs[d]]
    where = f"{'dim' if len(dims) == 1 else 'dims'} {', '.join(map(str, dims))}"
    if not dims:
        where = "no dim"
    if all(shape[d] == 1 for d in dims):
        assert lines["harm"] == "no: same addresses, harmless"
        assert lines["means"] == (
            f"the strides {ours} and {theirs} differ only where no index takes a step "
            f"({where} of sizes {shape}): every element has the same address in both"
        )
    else:
        copied = many(prod(shape), "element")
        assert lines["harm"] == f"in time: each step copies {copied} in another order"
        assert lines["means"] == (
            f"the gradient has strides {ours}, DDP's bucket {theirs}: they differ in {where}, "
            "so elements lie elsewhere"
        )


GROUPS_MESSAGE = "Expected number of channels in input to be divisible by num_groups, but got input"
# Texts of which some numbers cannot be: only the family is known.
ODD_TEXTS = {
    "a negative size": BUCKET.format([-2], [1], [2], [4]),
    "a negative stride": BUCKET.format([2], [-1], [2], [4]),
    "a negative stride of the bucket": BUCKET.format([2], [1], [2], [-4]),
    "too few strides": BUCKET.format([2, 2], [1], [2, 2], [2, 1]),
    "too few strides of the bucket": BUCKET.format([2, 2], [2, 1], [2, 2], [1]),
    "an address that is not exact": BUCKET.format([9, 9], [2**52, 1], [9, 9], [1, 9]),
    "no channels": f"{GROUPS_MESSAGE} of shape [5] and num_groups=2",
    "no groups": f"{GROUPS_MESSAGE} of shape [2, 5] and num_groups=0",
}


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_numbers_that_cannot_be_decide_nothing(name):
    lines = lines_of(ODD_TEXTS[name])
    assert lines["means"].startswith(("DDP keeps gradients in one buffer", "groups and heads are"))


SPAN = (
    "setStorage: sizes {}, strides {}, storage offset {}, and itemsize {} requiring a storage size"
)
ODD_SPANS = {
    "no bytes in an element": ([3], [1], 9, 0),
    "a negative size": ([-3], [1], 9, 4),
    "a negative stride": ([3], [-1], 9, 4),
    "a negative offset": ([3], [1], -9, 4),
    "too few strides": ([3, 3], [1], 9, 4),
    "an address that is not exact": ([9], [2**52], 9, 4),
}


@pytest.mark.parametrize("name", ODD_SPANS)
def test_a_layout_that_cannot_be_is_told_in_bytes(name):
    text = f"{SPAN.format(*ODD_SPANS[name])} of 99 are out of bounds for storage of size 24"
    assert lines_of(text)["means"] == "99 bytes are needed, the storage has 24"


def test_parameters_that_fsdp_shards():
    def shard_all():
        for seed in range(CASES):
            draw = Draw(seed)
            x = z(*draw.shape(2, 4, (2, 4)))
            x = x.permute(draw.sample(range(x.ndim), x.ndim))
            error = raised(lambda: sharded(x))  # noqa: B023
            if x.is_contiguous():
                assert isinstance(error, AssertionError)
                continue
            wanted = x.contiguous().stride()
            numbers = f"shape {tuple(x.shape)} has to have strides {wanted}, and has {x.stride()}"
            assert lines_of(error)["means"] == f"FSDP cuts parameters into rows: {numbers}"

    in_group(shard_all)


COMPACT = (
    "Only DLPack tensors with trivial (compact) striding are supported; i.e., tensors whose striding "
    "represents a transposition of the underlying buffer but not broadcasting. "
    "Dimensions were: [{}], strides were [{}]."
)


@repeated
def test_gaps_and_shared_elements_on_the_way_to_jax(draw):
    """JAX is not among the packages of the tests."""
    shape = draw.shape(1, 4, (1, 3))
    stride = tuple(draw.choice([0, 1, 2, 4, 12]) for _ in shape)
    said = lines_of(COMPACT.format(",".join(map(str, shape)), ",".join(map(str, stride))))["means"]
    offsets = {sum(map(int.__mul__, index, stride)) for index in product(*map(range, shape))}
    reached = max(offsets) + 1
    if reached == prod(shape):
        assert said.startswith("JAX keeps elements without gaps")
        return
    where = "with gaps between them" if reached > prod(shape) else "some of which share memory"
    elements = f"{many(prod(shape), 'element')} of shape {shape} into {reached}"
    assert said == f"strides {stride} put the {elements}, {where}"


def test_tensors_that_are_gathered():
    def gather_all():
        for seed in range(CASES):
            draw = Draw(seed)
            wanted = draw.shape(1)
            got = draw.changed(wanted)
            if wanted == got:
                continue
            call = lambda: distributed.all_gather([z(*wanted)], z(*got))  # noqa: B023, E731
            said = lines_of(raised(call)).get("means")
            start = f"tensor 0 of the list has shape {wanted}, and {got} arrives"
            is_other_order = sorted(wanted) == sorted(got)
            assert said == start + (": the same sizes in another order" if is_other_order else "")

    in_group(gather_all)
