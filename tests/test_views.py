"""Every view operation of torch: on a Layout and on a tensor the same numbers, or a refusal."""

import inspect
import itertools
import re
from math import prod

import pytest
import torch

from stridekit import Layout, LayoutError
from tests import fuzz_layout
from tests.agree import agree, refuses

# torch's operations that return their input's memory, and are no method of Layout.
NO_METHOD = {
    "sparse tensors have no stride": [
        *("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"),
    ],
    "the same layout; only a bit is set, or nothing happens": [
        *("conj", "positive", "resolve_conj", "resolve_neg", "lift_fresh"),
    ],
    "another device": ["cpu", "cuda", "pin_memory"],
    "torch.linalg's diagonal, with other defaults": ["linalg_diagonal"],
    "no method of tensors": ["as_tensor", "slice_inverse"],
}
OTHER_NAME = {"slice": "__getitem__", "matrix_H": "H", "numpy_T": "T"}


def view_operations_of_torch():
    """The public operations of aten that return an alias of their tensor, by their schemas."""
    for schema in torch._C._jit_get_all_schemas():
        first = schema.arguments[0] if schema.arguments else None
        if schema.name.startswith("aten::") and first and str(first.type) == "Tensor":
            name = schema.name.removeprefix("aten::")
            aliases = [value.alias_info for value in schema.returns if value.alias_info]
            if aliases and not any(a.is_write for a in aliases) and not name.startswith("_"):
                yield name


def test_no_view_operation_is_forgotten():
    """Each operation of torch 2.13 that returns a view is a method of Layout, or has its reason here."""
    left_out = set(itertools.chain(*NO_METHOD.values()))
    found = set(view_operations_of_torch())
    assert left_out <= found, "an operation that torch no longer has"
    names = {OTHER_NAME.get(name, name) for name in found - left_out} | {"view_dtype"}
    assert len(names) > 45, "torch hides its schemas?"
    assert {name for name in names if not hasattr(Layout, name)} == set()
    assert names - {"coalesce"} <= set(fuzz_layout.OPERATIONS), "draw arguments for it in steps.py"


NAMED_OTHERWISE = {"to", "tensor_split", "view_dtype"}  # and what has no arguments, or only varargs


@pytest.mark.parametrize("name", sorted(set(fuzz_layout.OPERATIONS) - NAMED_OTHERWISE))
def test_arguments_have_torchs_names(name):
    """Each argument may be given by the name that it has in one of torch's schemas."""
    method = getattr(Layout, name)
    parameters = inspect.signature(method).parameters.values() if callable(method) else []
    own = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL][1:]
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    assert not own or own in [[a.name for a in schema.arguments[1:]] for schema in schemas]


@pytest.mark.parametrize("shape", [(), (2, 2, 2)])
@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("permute expand view reshape broadcast_to", r"is missing: give ints, or \(\) for no dims"),
        ("hsplit vsplit dsplit", "has no argument: give a number of sections, or indices"),
    ],
)
def test_no_argument_at_all_is_refused(names, sentence, shape):
    """torch raises TypeError; an empty tuple is an argument."""
    x = torch.ones(shape)
    for name in names.split():
        agree(lambda: getattr(Layout.of(x), name)(()), lambda: getattr(x, name)(()))  # noqa: B023
        with pytest.raises(TypeError):
            getattr(x, name)()
        with pytest.raises(LayoutError, match=sentence):
            getattr(Layout.of(x), name)()


def test_view_exhaustively():
    """Every layout of three dims of 1 to 3, as every shape of up to three dims: size-1 dims and all."""
    base = torch.empty(64)
    shapes = {n: list(itertools.product(range(1, 28), repeat=n)) for n in (1, 2)}
    targets = {
        numel: [s for n in (1, 2) for s in shapes[n] if prod(s) == numel]
        + [(1, numel, 1), (numel,)]
        for numel in {prod(s) for s in itertools.product((1, 2, 3), repeat=3)}
    }
    for shape in itertools.product((1, 2, 3), repeat=3):
        for stride in itertools.product((0, 1, 2, 3, 4, 6), repeat=3):
            x, layout = base.as_strided(shape, stride), Layout(shape, stride)
            for target in targets[prod(shape)]:
                try:
                    expected = x.view(target).stride()
                except RuntimeError:
                    assert layout.why_not_view(target), (shape, stride, target)
                else:
                    assert layout.view(target).stride == expected, (shape, stride, target)


BOUNDARY = re.compile(
    r"dims (\d+) and (\d+) do not merge \(stride (\d+) found, (\d+) needed\), "
    r"and the new dim (\d+) of size (\d+) would straddle them"
)


def test_the_boundary_that_is_named_is_a_broken_one():
    """Every refused view of three dims: torch cannot merge the two dims that the reason names."""
    base, refused = torch.empty(64), 0
    for shape in itertools.product((1, 2, 3), repeat=3):
        for stride in itertools.product((0, 1, 2, 3, 4, 6), repeat=3):
            why = Layout(shape, stride).why_not_view(prod(shape))
            if not why:
                continue
            outer, inner, found, needed, new_dim, size = map(int, BOUNDARY.fullmatch(why).groups())
            refused += 1
            # Between the two there are sizes of 1 at most, and the inner one has a step to take.
            assert shape[outer] > 1 and shape[inner] > 1
            assert set(shape[outer + 1 : inner]) <= {1}
            assert (found, new_dim, size) == (stride[outer], 0, prod(shape))
            with pytest.raises(RuntimeError, match="view size is not compatible"):
                base.as_strided((shape[outer], shape[inner]), (found, stride[inner])).view(-1)
            mended = (*stride[:outer], needed, *stride[outer + 1 :])
            assert Layout(shape, mended).why_not_view(prod(shape)) != why
    assert refused > 1000


# Surprises and sentences ----------------------------------------------------------------------------


def test_torch_expands_to_negative_sizes():
    """A surprise of torch 2.13: a new dim may get a size of -1 or -2 where another is 0."""
    assert torch.tensor(0).expand(0, -1).shape == (0, -1)
    assert torch.empty(0).expand(-2, 0).shape == (-2, 0)
    for layout, sizes in [(Layout(()), (0, -1)), (Layout((0,)), (-2, 0))]:
        with pytest.raises(
            LayoutError, match="is negative, and -1 keeps the size only of a dim that is there"
        ):
            layout.expand(sizes)


def test_torch_loses_count_at_a_second_ellipsis():
    """A surprise of torch 2.13: each ... skips all that it can, and what follows reads past the sizes."""
    x = torch.empty(2, 3, 4)
    with pytest.raises(IndexError, match="index 0 is out of bounds for dimension 2"):
        x[..., ..., 0]
    assert x[..., 0, ...].shape == (2, 3)  # nothing follows the second one
    assert Layout.of(x)[..., 0, ...].shape == (2, 3)
    for index in [(..., ..., 0), (..., ..., slice(0, 1)), (..., ..., None)]:
        with pytest.raises(IndexError, match=re.escape("a second ... leaves no dim for")):
            Layout.of(x)[index]


REFUSED = {
    "x[[0, 1]]": "[0, 1] is not a basic index",
    "x[True]": "True is not a basic index",
    "x.select(0, 1.5)": "index is 1.5, a float: give an int",
    "x[::-1]": "slice step -1 is not positive: torch has no negative strides",
    "x.narrow(1, 2, 5)": "length 5 does not fit dim 1 of size 6 after start 2: use 0 to 4",
    "x.split(0)": "split_size 0 never gets through dim 0 of size 4",
    "x.split([1, 2])": "split_sizes (1, 2) add up to 3, dim 0 has size 4",
    "x.chunk(0)": "chunks is 0: give 1 or more",
    "x.hsplit(4)": "dim 1 of size 6 does not divide into 4 equal sections",
    "x.dsplit(2)": "dsplit takes 3 dims or more, shape (4, 6) has 2",
    "x.diagonal(0, 1, -1)": "dim1 and dim2 are both 1",
    "x.unfold(0, 5, 1)": "a window of 5 does not fit dim 0 of size 4",
    "x.unfold(0, 2, 0)": "step is 0: give 1 or more",
    "x.permute(0, 0)": "(0, 0) does not name each dim",
    "x[None].t()": "t() is for at most 2 dims, shape (1, 4, 6) has 3",
    "x[None].H": "H is for one matrix, shape (1, 4, 6) has 3 dims: use mH",
    "x[0].mT": "mT is for matrices and batches of them, shape (6,) has 1 dim",
    "x.movedim((0, 1), 0)": "source (0, 1) has 2 dims but destination 0 has 1",
    "x.movedim((0, -2), (0, 1))": "source (0, -2) names dim 0 twice",
    "x.squeeze((1, 1))": "dim (1, 1) names dim 1 twice: give each dim once",
    "x.expand(8, 6)": "only a size of 1 expands",
    "x.expand(6)": "give at least 2 sizes",
    "x.expand_as(5)": "an int has no shape: give a layout, a tensor or an array",
    "x.view(5, 5)": "(5, 5) has 25 elements, the layout has 24",
    "x.view(-1, -1)": "dims 0 and 1 are both -1",
    "x.view(5, -1)": "24 elements do not divide into 5",
    "x[:0].view(0, -1)": "any size would do for the -1 beside a 0",
    "x.view(-24, -1)": "size -24 is negative",
    "x.unflatten(1, (4, -1))": "cannot unflatten dim 1 of size 6 into (4, -1): 6 elements",
    "x.unflatten(1, ())": "sizes is empty",
    "x.view_dtype(3)": "elements of 4 bytes cannot be viewed with 3 bytes",
    "x[0, 0].view_dtype(2)": "a 0-d layout has no dim to cut or join",
    "x.t().view_dtype(2)": "the last dim has stride 6: only with stride 1",
    "x[:, 1:].view_dtype(8)": "storage_offset, 1, is not divisible by 2, and 2 elements of 4 bytes",
    "x[:, :5].view_dtype(8)": "the last size, 5, is not divisible by 2",
    "x.view_dtype(1).view_as_real()": "torch has no complex elements of 1 bytes",
    "x.view_dtype(1).view_as_complex()": "torch has no complex elements of 2 bytes",
    "x.view_as_complex()": "does not end in a dim of size 2 and stride 1",
    "x[:, 1:3].view_as_complex()": "storage_offset 1 is odd: it would point between",
    "x.as_strided((2,), (-1,), 3)": "stride (-1,) has a negative one",
    "x.as_strided((2,), (1,), -3)": "storage_offset -3 is negative",
}


@pytest.mark.parametrize("source", REFUSED)
def test_errors_say_what_and_why(source):
    """Each refusal names the numbers and what to do."""
    refuses(source, REFUSED[source], LayoutError, x=Layout((4, 6), itemsize=4))


OUT_OF_RANGE = {
    "x[4]": "index 4 is out of range for dim 0 of size 4: use -4 to 3",
    "x[0, 0, 0]": "3 indices for shape (4, 6): it has 2 dims",
    "x.narrow(0, 5, 1)": "start 5 is out of range for dim 0 of size 4: use -4 to 4",
    "x.unbind(2)": "dim 2 is out of range for shape (4, 6): use -2 to 1",
    "x[0, 0].split(1)": "a 0-d layout has one element and no dims",
}


@pytest.mark.parametrize("source", OUT_OF_RANGE)
def test_index_errors_say_the_range(source):
    """An index out of range raises IndexError, as in torch."""
    refuses(source, OUT_OF_RANGE[source], IndexError, x=Layout((4, 6)))


def test_nothing_makes_more_pieces_than_there_is_room_for():
    """Each piece is an object with all its dims: refused before the first is made, by its number."""
    long, deep = Layout((10**6,)), Layout((2000,) * 60)
    for ask, count in [
        (lambda: long.split(1), "1,000,000"),
        (lambda: long.chunk(10**6), "1,000,000"),
        (lambda: long.tensor_split(60_000), "60,000"),
        (lambda: long.tensor_split(range(60_000)), "60,001"),
        (lambda: long.hsplit(10**5), "100,000"),
        (lambda: long.unbind(), "1,000,000"),
        (lambda: Layout((0,)).chunk(60_000), "60,000"),
        (lambda: Layout((60_000,)).split_with_sizes([1] * 60_000), "60,000"),
        (lambda: deep.unbind(), "2,000"),
    ]:
        with pytest.raises(LayoutError, match=f"that would be {count} layouts of .* are the most"):
            ask()
    assert len(Layout((50_000,)).split(1)) == 50_000
