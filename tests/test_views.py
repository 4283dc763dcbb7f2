"""Every view operation of torch: on a Layout and on a tensor the same numbers, or a refusal."""

import itertools
import re
from math import prod

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, LayoutError
from tests.agree import agree, numbers
from tests.strategies import DTYPES, basic_indices, dims, new_shapes, tensors

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


BY_NAME = {
    "select": {"dim": 1, "index": -1},
    "unbind": {"dim": 1},
    "narrow": {"dim": 1, "start": 1, "length": 2},
    "split": {"split_size": 2, "dim": 1},
    "split_with_sizes": {"split_sizes": [1, 3], "dim": 1},
    "chunk": {"chunks": 2, "dim": 1},
    "transpose": {"dim0": 0, "dim1": 2},
    "swapdims": {"dim0": 0, "dim1": 2},
    "swapaxes": {"axis0": 0, "axis1": 2},
    "movedim": {"source": 0, "destination": -1},
    "moveaxis": {"source": (0, 1), "destination": (1, 2)},
    "squeeze": {"dim": 0},
    "unsqueeze": {"dim": 0},
    "expand_as": {"other": torch.empty(2, 4, 6)},
    "diagonal": {"offset": 1, "dim1": 1, "dim2": 2},
    "unfold": {"dimension": 1, "size": 2, "step": 2},
    "view_as": {"other": torch.empty(8, 6)},
    "unflatten": {"dim": 2, "sizes": (3, 2)},
    "as_strided": {"size": (2,), "stride": (3,), "storage_offset": 4},
    "flatten": {"start_dim": 1, "end_dim": 2},
    "reshape_as": {"other": torch.empty(8, 6)},
    "contiguous": {"memory_format": torch.contiguous_format},
    "clone": {"memory_format": torch.preserve_format},
    "to": {"memory_format": torch.preserve_format, "copy": True},
}


@pytest.mark.parametrize("name", BY_NAME)
def test_arguments_have_torchs_names(name):
    """Each argument may be given by the name that torch has for it."""
    x, arguments = torch.empty(2, 4, 6), BY_NAME[name]
    agree(lambda: getattr(Layout.of(x), name)(**arguments), lambda: getattr(x, name)(**arguments))


@pytest.mark.parametrize("name", ["permute", "expand", "view", "reshape", "broadcast_to"])
def test_sizes_may_not_be_left_out(name):
    """Of a 0-d tensor neither; () are none."""
    x = torch.tensor(1.0)
    agree(lambda: getattr(Layout.of(x), name)(()), lambda: getattr(x, name)(()))
    with pytest.raises(TypeError):
        getattr(x, name)()
    with pytest.raises(LayoutError, match=r"is missing: give ints, or \(\) for no dims"):
        getattr(Layout.of(x), name)()


@pytest.mark.parametrize("name", ["clone", "to"])
def test_a_memory_format_of_none_is_the_default(name):
    x = torch.empty(4, 6).t()
    agree(
        lambda: getattr(Layout.of(x), name)(memory_format=None),
        lambda: getattr(x, name)(
            memory_format=None, **({"dtype": x.dtype} if name == "to" else {})
        ),
    )


def test_dims_may_be_left_out():
    """The defaults are torch's."""
    x = torch.empty(4, 4, 6)
    for name, *arguments in [
        *(["unbind"], ["split", 3], ["chunk", 3], ["split_with_sizes", [1, 3]]),
        *(
            ["tensor_split", 3],
            ["diagonal"],
            ["diagonal", 1],
            ["flatten"],
            ["flatten", 1],
            ["squeeze"],
        ),
        *(["contiguous"], ["clone"], ["as_strided", (2,), (3,)]),
    ]:
        layout, tensor = getattr(Layout.of(x), name), getattr(x, name)
        assert numbers(layout(*arguments)) == numbers(tensor(*arguments)), name


# A part of the elements -----------------------------------------------------------------------------


@given(tensors(), st.data())
def test_basic_indexing(x, data):
    """Ints, slices, None and ... in any mix."""
    index = data.draw(basic_indices(x.shape))
    agree(lambda: Layout.of(x)[index], lambda: x[index])


@given(tensors(), st.data())
def test_select_unbind_narrow(x, data):
    """One index, all of them, a range of them."""
    dim, index, length = (
        data.draw(dims(x)),
        data.draw(st.integers(-5, 5)),
        data.draw(st.integers(-1, 5)),
    )
    agree(lambda: Layout.of(x).select(dim, index), lambda: x.select(dim, index))
    agree(lambda: Layout.of(x).unbind(dim), lambda: x.unbind(dim))
    agree(lambda: Layout.of(x).narrow(dim, index, length), lambda: x.narrow(dim, index, length))


@given(tensors(), st.data())
def test_split_chunk_tensor_split(x, data):
    """Pieces of one size, of given sizes, so many pieces, and cuts before indices in any order."""
    dim, count = data.draw(dims(x)), data.draw(st.integers(-1, 6))
    size = x.shape[dim] if -x.ndim <= dim < x.ndim else 2
    sizes = data.draw(st.lists(st.integers(0, 2), max_size=3))
    sizes.append(data.draw(st.sampled_from([size - sum(sizes), 1])))
    cuts = data.draw(st.lists(st.integers(-6, 6), max_size=4))
    layout = Layout.of(x)
    agree(lambda: layout.split(count, dim), lambda: x.split(count, dim))
    agree(lambda: layout.split(sizes, dim), lambda: x.split(sizes, dim))
    agree(lambda: layout.split_with_sizes(sizes, dim), lambda: x.split_with_sizes(sizes, dim))
    agree(lambda: layout.chunk(count, dim), lambda: x.chunk(count, dim))
    agree(lambda: layout.tensor_split(count, dim), lambda: x.tensor_split(count, dim))
    agree(lambda: layout.tensor_split(cuts, dim), lambda: x.tensor_split(cuts, dim))


@pytest.mark.parametrize("name", ["hsplit", "vsplit", "dsplit"])
@given(x=tensors(), count=st.integers(0, 4), cuts=st.lists(st.integers(-6, 6), max_size=3))
def test_hsplit_vsplit_dsplit(name, x, count, cuts):
    """Equal sections along one fixed dim, and cuts as a list or one by one."""
    split, expected = getattr(Layout.of(x), name), getattr(x, name)
    agree(lambda: split(count), lambda: expected(count))
    agree(lambda: split(cuts), lambda: expected(cuts))
    if len(cuts) > 1:
        agree(lambda: split(*cuts), lambda: expected(*cuts))


@given(tensors(), st.integers(-5, 5), st.integers(-6, 5), st.integers(-6, 5))
def test_diagonal(x, offset, a, b):
    """Every offset, also those that leave no diagonal."""
    agree(lambda: Layout.of(x).diagonal(offset, a, b), lambda: x.diagonal(offset, a, b))


@given(tensors(), st.data(), st.integers(-1, 5), st.integers(0, 4))
def test_unfold(x, data, size, step):
    """Windows that overlap, touch and leave gaps, also of a 0-d layout."""
    dim = data.draw(dims(x))
    agree(lambda: Layout.of(x).unfold(dim, size, step), lambda: x.unfold(dim, size, step))
    one = torch.tensor(0.0)
    agree(lambda: Layout.of(one).unfold(0, size, 1), lambda: one.unfold(0, size, 1))


# The dims as a whole --------------------------------------------------------------------------------


@given(tensors(), st.data())
def test_permute(x, data):
    """Every permutation, with negative dims, and lists that are none."""
    order = list(data.draw(st.permutations(range(x.ndim))))
    order = [d - x.ndim if data.draw(st.booleans()) else d for d in order]
    if order and data.draw(st.integers(0, 5)) == 0:
        order[0] = order[-1]
    agree(lambda: Layout.of(x).permute(order), lambda: x.permute(order))
    if len(order) > 1:
        agree(lambda: Layout.of(x).permute(*order), lambda: x.permute(*order))


@pytest.mark.parametrize("name", ["transpose", "swapdims", "swapaxes", "movedim", "moveaxis"])
@given(x=tensors(), data=st.data())
def test_two_dims(name, x, data):
    """The operations that take two dims, out of range included."""
    a, b = data.draw(dims(x)), data.draw(dims(x))
    agree(lambda: getattr(Layout.of(x), name)(a, b), lambda: getattr(x, name)(a, b))


@given(tensors(), st.data())
def test_movedim(x, data):
    """Some dims to new places, with repeated dims and lists of different lengths."""
    sources = data.draw(st.lists(dims(x), max_size=3))
    places = data.draw(st.lists(dims(x), max_size=3))
    agree(lambda: Layout.of(x).movedim(sources, places), lambda: x.movedim(sources, places))
    some = data.draw(st.permutations(range(x.ndim)))[:2]
    to = data.draw(st.permutations(range(x.ndim)))[:2]
    agree(lambda: Layout.of(x).movedim(some, to), lambda: x.movedim(some, to))


@pytest.mark.filterwarnings("ignore:.*on 0-D tensors", "ignore:.*dimension other than 2")
@pytest.mark.parametrize("name", ["T", "mT", "H", "mH"])
@given(x=tensors())
def test_matrix_transposes(name, x):
    """The transposes of matrices and batches; torch warns of some numbers of dims, but answers."""
    agree(lambda: getattr(Layout.of(x), name), lambda: getattr(x, name))
    agree(lambda: Layout.of(x).t(), lambda: x.t())
    agree(lambda: Layout.of(x).adjoint(), lambda: x.adjoint())


@given(tensors(), st.data())
def test_squeeze_unsqueeze(x, data):
    """All dims of size 1, one dim, several; a new dim anywhere."""
    dim, several = data.draw(dims(x)), data.draw(st.lists(dims(x), max_size=3))
    agree(lambda: Layout.of(x).unsqueeze(dim), lambda: x.unsqueeze(dim))
    agree(lambda: Layout.of(x).squeeze(), lambda: x.squeeze())
    agree(lambda: Layout.of(x).squeeze(dim), lambda: x.squeeze(dim))
    agree(lambda: Layout.of(x).squeeze(several), lambda: x.squeeze(several))


@given(tensors(max_ndim=4), st.data())
def test_expand(x, data):
    """New leading dims, size-1 dims, -1, and sizes that do not fit."""
    sizes = [data.draw(st.sampled_from([n, n if n != 1 else 3, -1])) for n in x.shape]
    sizes = data.draw(st.lists(st.integers(-1, 3), max_size=2)) + sizes
    if sizes and data.draw(st.integers(0, 5)) == 0:
        sizes[data.draw(st.integers(0, len(sizes) - 1))] = data.draw(st.integers(-2, 5))
    agree(lambda: Layout.of(x).expand(sizes), lambda: x.expand(sizes))
    agree(lambda: Layout.of(x).broadcast_to(sizes), lambda: x.broadcast_to(sizes))
    other = torch.empty([max(size, 0) for size in sizes], device="meta")
    for like in (other, Layout.of(other)):
        agree(lambda: Layout.of(x).expand_as(like), lambda: x.expand_as(other))  # noqa: B023


def test_expand_exhaustively():
    """Every shape of up to two dims to every list of up to three sizes: 0-d layouts and -1 included."""
    base = torch.empty(8)
    for shape in [(), *itertools.product(range(3)), *itertools.product(range(3), repeat=2)]:
        x = base.as_strided(shape, (3, 2)[: len(shape)])
        for count in range(1, 4):
            for sizes in itertools.product((-1, 0, 1, 2), repeat=count):
                agree(lambda: Layout.of(x).expand(sizes), lambda: x.expand(sizes))  # noqa: B023


# Another shape --------------------------------------------------------------------------------------


@given(tensors(), st.data())
def test_view(x, data):
    """The view rule: torch's strides where a view exists, a reason where torch refuses."""
    shape = data.draw(new_shapes(x.numel()))
    agree(lambda: Layout.of(x).view(shape), lambda: x.view(shape))
    why = Layout.of(x).why_not_view(shape)
    try:
        x.view(shape)
    except RuntimeError:
        assert why
    else:
        assert why == ""


@given(tensors(), st.data())
def test_view_as_unflatten(x, data):
    """The shape of another, and one dim cut into several."""
    other = torch.empty([abs(n) for n in data.draw(new_shapes(x.numel()))], device="meta")
    agree(lambda: Layout.of(x).view_as(other), lambda: x.view_as(other))
    dim = data.draw(dims(x))
    sizes = data.draw(new_shapes(x.shape[dim] if -x.ndim <= dim < x.ndim else 2))
    agree(lambda: Layout.of(x).unflatten(dim, sizes), lambda: x.unflatten(dim, sizes))


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


@given(tensors(), st.data())
def test_reason_is_true(x, data):
    """Where a view fails, the two named dims really do not merge, by the numbers given."""
    layout = Layout.of(x)
    why = layout.why_not_view(data.draw(new_shapes(x.numel())))
    if "do not merge" in why:
        outer, inner, found, needed = map(int, re.findall(r"\d+", why)[:4])
        assert layout.stride[outer] == found != needed
        assert layout.shape[outer] > 1 and layout.shape[inner] > 1
        between = layout.shape[outer + 1 : inner]
        assert set(between) <= {1}


# The same bytes -------------------------------------------------------------------------------------


@given(tensors(), st.sampled_from(DTYPES), st.sampled_from([1, 2, 4, 8]))
def test_view_dtype(x, dtype, even):
    """Larger and smaller elements: what divides is torch's, what does not is refused."""
    if x.ndim:
        strides = [s // even * even for s in x.stride()[:-1]]
        x = x.as_strided(x.shape, [*strides, min(x.stride(-1), 1)])
    agree(lambda: Layout.of(x).view_dtype(dtype.itemsize), lambda: x.view(dtype))


@given(tensors().filter(lambda x: x.is_complex()))
def test_complex_as_real(x):
    """The parts of complex elements."""
    agree(lambda: Layout.of(x).view_as_real(), lambda: torch.view_as_real(x))
    agree(lambda: Layout.of(x).real, lambda: x.real)
    agree(lambda: Layout.of(x).imag, lambda: x.imag)


@given(tensors(max_ndim=4).filter(lambda x: x.is_floating_point()), st.data())
def test_view_as_complex(x, data):
    """A last dim of 2, with even and odd numbers in front of it."""
    agree(lambda: Layout.of(x).view_as_complex(), lambda: torch.view_as_complex(x))
    stride = [data.draw(st.sampled_from([2, 2, 1])) * s for s in x.stride()]
    pairs = torch.zeros(20_000, dtype=x.dtype).as_strided(
        (*x.shape, 2), (*stride, 1), x.storage_offset()
    )
    agree(lambda: Layout.of(pairs).view_as_complex(), lambda: torch.view_as_complex(pairs))


@given(tensors(max_ndim=3), st.data())
def test_as_strided(x, data):
    """Any numbers: the offset is the storage's, and stays where none is given."""
    shape = data.draw(st.lists(st.integers(0, 3), max_size=3))
    stride = [data.draw(st.integers(-1, 3)) for _ in shape]
    offset = data.draw(st.sampled_from([None, None, 0, 2, -1]))
    whole = torch.zeros(20_000, dtype=x.dtype)[x.storage_offset() :]
    agree(
        lambda: Layout.of(whole).as_strided(shape, stride, offset),
        lambda: whole.as_strided(shape, stride, offset),
    )
    agree(lambda: Layout.of(whole).as_strided(shape, [1]), lambda: whole.as_strided(shape, [1]))


@given(tensors())
def test_the_same_layout(x):
    """What torch returns as another tensor with the same numbers."""
    agree(lambda: Layout.of(x).detach(), lambda: x.detach())
    agree(lambda: Layout.of(x).alias(), lambda: torch.ops.aten.alias(x))
    agree(lambda: Layout.of(x)[...], lambda: x[...])
    agree(lambda: Layout.of(x), lambda: x.data)


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


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda x: x[[0, 1]], "[0, 1] is not a basic index"),
        (lambda x: x[True], "True is not a basic index"),
        (lambda x: x.select(0, 1.5), "index is 1.5, a float: give an int"),
        (lambda x: x[::-1], "slice step -1 is not positive: torch has no negative strides"),
        (
            lambda x: x.narrow(1, 2, 5),
            "length 5 does not fit dim 1 of size 6 behind start 2: use 0 to 4",
        ),
        (lambda x: x.split(0), "split_size 0 never gets through dim 0 of size 4"),
        (lambda x: x.split([1, 2]), "split_sizes (1, 2) add up to 3, dim 0 has size 4"),
        (lambda x: x.chunk(0), "chunks is 0: give 1 or more"),
        (lambda x: x.hsplit(4), "dim 1 of size 6 does not divide into 4 equal sections"),
        (lambda x: x.dsplit(2), "dsplit takes 3 dims or more, shape (4, 6) has 2"),
        (lambda x: x.diagonal(0, 1, -1), "dim1 and dim2 are both 1"),
        (lambda x: x.unfold(0, 5, 1), "a window of 5 does not fit dim 0 of size 4"),
        (lambda x: x.unfold(0, 2, 0), "step is 0: give 1 or more"),
        (lambda x: x.permute(0, 0), "(0, 0) does not name each dim"),
        (lambda x: x[None].t(), "t() is for at most 2 dims, shape (1, 4, 6) has 3"),
        (lambda x: x[None].H, "H is for one matrix, shape (1, 4, 6) has 3 dims: use mH"),
        (lambda x: x[0].mT, "mT is for matrices and batches of them, shape (6,) has 1 dim"),
        (lambda x: x.movedim((0, 1), 0), "source (0, 1) has 2 dims but destination 0 has 1"),
        (lambda x: x.movedim((0, -2), (0, 1)), "source (0, -2) names dim 0 twice"),
        (lambda x: x.squeeze((1, 1)), "dim (1, 1) names dim 1 twice: give each dim once"),
        (lambda x: x.expand(8, 6), "only a size of 1 expands"),
        (lambda x: x.expand(6), "give at least 2 sizes"),
        (lambda x: x.expand_as(5), "an int has no shape: give a layout, a tensor or an array"),
        (lambda x: x.view(5, 5), "(5, 5) has 25 elements, the layout has 24"),
        (lambda x: x.view(-1, -1), "dims 0 and 1 are both -1"),
        (lambda x: x.view(5, -1), "24 elements do not divide into 5"),
        (lambda x: x[:0].view(0, -1), "any size would do for the -1 beside a 0"),
        (lambda x: x.view(-24, -1), "size -24 is negative"),
        (
            lambda x: x.unflatten(1, (4, -1)),
            "cannot unflatten dim 1 of size 6 into (4, -1): 6 elements",
        ),
        (lambda x: x.unflatten(1, ()), "sizes is empty"),
        (lambda x: x.view_dtype(3), "elements of 4 bytes cannot be viewed with 3 bytes"),
        (lambda x: x[0, 0].view_dtype(2), "a 0-d layout has no dim to cut or join"),
        (lambda x: x.t().view_dtype(2), "the last dim has stride 6: only with stride 1"),
        (
            lambda x: x[:, 1:].view_dtype(8),
            "storage_offset, 1, is not divisible by 2, and 2 elements of 4 bytes make one of 8",
        ),
        (lambda x: x[:, :5].view_dtype(8), "the last size, 5, is not divisible by 2"),
        (lambda x: x.view_dtype(1).view_as_real(), "torch has no complex elements of 1 bytes"),
        (lambda x: x.view_dtype(1).view_as_complex(), "torch has no complex elements of 2 bytes"),
        (lambda x: x.view_as_complex(), "does not end in a dim of size 2 and stride 1"),
        (lambda x: x[:, 1:3].view_as_complex(), "storage_offset 1 is odd: it would point between"),
        (lambda x: x.as_strided((2,), (-1,), 3), "stride (-1,) has a negative one"),
        (lambda x: x.as_strided((2,), (1,), -3), "storage_offset -3 is negative"),
    ],
)
def test_errors_say_what_and_why(make, sentence):
    """Each refusal names the numbers and what to do."""
    with pytest.raises(LayoutError, match=re.escape(sentence)):
        make(Layout((4, 6), itemsize=4))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda x: x[4], "index 4 is out of range for dim 0 of size 4: use -4 to 3"),
        (lambda x: x[0, 0, 0], "3 indices for shape (4, 6): it has 2 dims"),
        (lambda x: x.narrow(0, 5, 1), "start 5 is out of range for dim 0 of size 4: use -4 to 4"),
        (lambda x: x.unbind(2), "dim 2 is out of range for shape (4, 6): use -2 to 1"),
        (lambda x: x[0, 0].split(1), "a 0-d layout has one element and no dims"),
    ],
)
def test_index_errors_say_the_range(make, sentence):
    """What is out of range is an IndexError, as in torch."""
    with pytest.raises(IndexError, match=re.escape(sentence)):
        make(Layout((4, 6)))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4)])
@pytest.mark.parametrize("wanted", [(0, -1), (-1, 0), (0, -1, 5), (3, 0, -1)])
def test_a_size_beside_a_zero_cannot_be_worked_out(shape, wanted):
    """0 elements leave any size possible for the -1: refused by view, reshape and torch alike."""
    x, layout = torch.empty(shape), Layout(shape)
    for ask in (x.view, x.reshape):
        with pytest.raises(RuntimeError, match="can be any value and is ambiguous"):
            ask(wanted)
    for ask in (layout.view, layout.reshape):
        with pytest.raises(LayoutError, match="any size would do for the -1 beside a 0"):
            ask(wanted)
    assert layout.why_not_view(wanted).startswith("any size would do for the -1 beside a 0")


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
