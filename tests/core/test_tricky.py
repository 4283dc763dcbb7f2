"""tricky_layouts: torch confirms what each name promises, for many shapes and dtypes."""

from itertools import chain, product

import pytest
import torch
from torch.library import custom_op, opcheck

from stridekit import LayoutError, shares_memory, tricky_layouts

SHAPES = [*chain.from_iterable(product(range(4), repeat=ndim) for ndim in range(4))]
SHAPES += [(2, 3, 4, 5), (2, 1, 4, 5), (1, 3, 1, 1), (2, 3, 1, 2), (0, 3, 4, 5), (2, 0, 1, 1)]
SHAPES += [(1, 2, 3, 4, 5), (2, 1, 1, 1, 1), (2, 2, 2, 2, 2, 2)]


def numbers(shape, dtype=torch.float32):
    """Return a tensor of a shape that lies by columns, with other numbers at all places."""
    count = torch.Size(shape).numel()
    by_columns = torch.arange(count).to(dtype).view(shape[::-1])
    return by_columns.permute([*range(len(shape))[::-1]])


def dims_with_steps(shape):
    return [] if 0 in shape else [d for d, size in enumerate(shape) if size > 1]


def is_dense(y):
    return torch.ops.aten.is_non_overlapping_and_dense(y)


def steps(y):
    """Return the strides by which an index steps."""
    return [y.stride(d) for d in dims_with_steps(y.shape)]


def channels_last(y):
    return torch.channels_last if y.ndim == 4 else torch.channels_last_3d


# By name: the shapes that have the layout, and what torch says of the tensor.
PROMISES = {
    "contiguous": (
        lambda shape: True,
        lambda y: y.is_contiguous() and y.stride() == torch.empty(y.shape).stride(),
    ),
    "offset": (
        lambda shape: True,
        lambda y: y.is_contiguous() and y.storage_offset() == 1,
    ),
    "transposed": (
        lambda shape: len(dims_with_steps(shape)) > 1,
        lambda y: is_dense(y) and y.permute([*range(y.ndim)[::-1]]).is_contiguous(),
    ),
    "channels-last": (
        lambda shape: (
            len(shape) in (4, 5) and 0 not in shape and shape[1] > 1 and max(shape[2:]) > 1
        ),
        lambda y: y.is_contiguous(memory_format=channels_last(y)) and not y.is_contiguous(),
    ),
    "padded": (
        lambda shape: max(shape[:-1], default=0) > 1 and 0 not in shape,
        lambda y: y.stride(-1) == 1 and not is_dense(y) and not y.is_contiguous(),
    ),
    "stepped": (
        lambda shape: len(shape) > 0 and shape[-1] > 1 and 0 not in shape,
        lambda y: y.stride(-1) == 2,
    ),
    "unused strides": (
        lambda shape: 0 in shape or 1 in shape,
        lambda y: y.is_contiguous() and y.stride() != torch.empty(y.shape).stride(),
    ),
    "expanded first": (
        lambda shape: len(dims_with_steps(shape)) > 1,
        lambda y: steps(y)[0] == 0 and 0 not in steps(y)[1:],
    ),
    "expanded last": (
        lambda shape: len(dims_with_steps(shape)) > 1,
        lambda y: steps(y)[-1] == 0 and 0 not in steps(y)[:-1],
    ),
    "expanded all": (
        lambda shape: len(dims_with_steps(shape)) > 0,
        lambda y: set(steps(y)) == {0} and y.untyped_storage().nbytes() == y.element_size(),
    ),
    "overlapping": (
        lambda shape: len(dims_with_steps(shape)) > 1,
        lambda y: steps(y)[-1] == steps(y)[-2] > 0 and not is_dense(y),
    ),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_shape_has_the_layouts_that_it_can_have_with_what_their_names_promise(shape):
    tensors = tricky_layouts(numbers(shape))
    assert set(tensors) == {name for name, (exists, _) in PROMISES.items() if exists(shape)}
    for name, y in tensors.items():
        assert PROMISES[name][1](y), (name, y.stride())
    strides = [(y.stride(), y.storage_offset()) for y in tensors.values()]
    assert len({*strides}) == len(strides)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_tensor_has_the_values_of_x_and_memory_of_its_own(shape):
    x = numbers(shape)
    tensors = tricky_layouts(x)
    for name, y in tensors.items():
        expected = x
        dims = dims_with_steps(shape)
        repeated = {"expanded first": dims[:1], "expanded last": dims[-1:], "expanded all": dims}
        for dim in repeated.get(name, []):
            expected = expected.select(dim, 0).unsqueeze(dim)
        if name != "overlapping":
            assert torch.equal(y, expected.expand(shape)), name
        assert not shares_memory(x, y), name
    if "overlapping" in tensors:
        memory = x.flatten().tolist()  # in reading order
        y = tensors["overlapping"]
        assert y.flatten().tolist() == [memory[place] for place in places_of(y)]


def places_of(y):
    """Return the place of each element in the storage, in reading order."""
    indices = product(*map(range, y.shape))
    return [y.storage_offset() + sum(map(int.__mul__, index, y.stride())) for index in indices]


DTYPES = [torch.float64, torch.bfloat16, torch.complex64, torch.int8, torch.uint8, torch.bool]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_tensor_has_the_dtype_of_x_and_conspicuous_gaps(dtype):
    with_gaps = set()
    for name, y in tricky_layouts(numbers((2, 3), dtype)).items():
        assert y.dtype is dtype and y.requires_grad is False
        if name == "overlapping":  # the rest of its storage are further numbers of x
            continue
        storage = torch.empty(0, dtype=dtype).set_(y.untyped_storage())
        gaps = storage[[k for k in range(len(storage)) if k not in places_of(y)]]
        if len(gaps):
            with_gaps.add(name)
        if dtype.is_floating_point or dtype.is_complex:
            assert gaps.isnan().all()
        elif dtype is torch.bool:
            assert gaps.all()
        else:
            assert (gaps == torch.iinfo(dtype).max).all()
    assert with_gaps == {"offset", "padded", "stepped"}


def test_tensors_are_leaves_that_require_grad_if_x_does():
    x = (torch.rand(3, 4, requires_grad=True) * 2).double()
    for name, y in tricky_layouts(x).items():
        assert y.requires_grad and y.is_leaf, name
    assert torch.is_grad_enabled()


def test_anything_but_a_strided_tensor_with_memory_is_refused():
    with pytest.raises(TypeError, match="has no torch storage"):
        tricky_layouts(torch.ones(3).numpy())
    with pytest.raises(LayoutError, match="sparse"):
        tricky_layouts(torch.eye(3).to_sparse())
    with pytest.raises(ValueError, match=r"take 67\.1 MB.*: give a tensor of at most 33\.6 MB"):
        tricky_layouts(torch.ones(()).expand(2**23, 2))


# With opcheck --------------------------------------------------------------------------------------


@custom_op("stridekit_tests::double_packed", mutates_args=())
def double_packed(x: torch.Tensor) -> torch.Tensor:
    return torch.mul(x.contiguous(), 2)


@custom_op("stridekit_tests::double_kept", mutates_args=())
def double_kept(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double_packed.register_fake
@double_kept.register_fake
def _(x):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def lies(op, y):
    """Return whether opcheck finds that the fake kernel promises other strides than those of the result."""
    # It loads the compiler, for seconds.
    from torch.testing._internal.optests import OpCheckError

    try:
        opcheck(op, (y,), test_utils=("test_schema", "test_faketensor"))
    except OpCheckError as error:
        return "Stride mismatch" in str(error)
    return False


@pytest.mark.skipif(torch.__version__ < (2, 13), reason="this opcheck compares no strides")
def test_opcheck_finds_a_fake_kernel_that_is_wrong_for_some_layouts():
    tensors = tricky_layouts(torch.arange(24.0).view(2, 3, 4))
    assert [name for name, y in tensors.items() if lies(double_packed, y)] == []
    wrong = [name for name, y in tensors.items() if lies(double_kept, y)]
    assert wrong == ["transposed", "overlapping"]
