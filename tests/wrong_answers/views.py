"""Wrong answers to the exercises of notebook 02."""

import copy
import io
import itertools

import numpy as np
import torch

from stridekit.exercises import views as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, unnamed, wrong

STOPS = "Your function stops on this input."

# memset_of ------------------------------------------------------------------------------------


def element_numbers(t):
    """The storage's element at each index, in reading order."""
    whole = torch.arange(t.untyped_storage().nbytes() // t.element_size())
    if whole.numel() == 0:
        return []
    return whole.as_strided(t.shape, t.stride(), t.storage_offset()).reshape(-1).tolist()


@wrong(ex.memset_of, "One byte too many")
def memset_to_and_including(t):
    out = set()
    for e in element_numbers(t):
        for k in range(t.itemsize + 1):
            out.add(e * t.itemsize + k)
    return out


@wrong(ex.memset_of, "One byte too many")
def memset_as_some_texts_define_it(t):
    start = t.data_ptr() - t.untyped_storage().data_ptr() if t.numel() else 0
    return {start + b for b in range(t.itemsize * t.numel() + 1)}


@wrong(ex.memset_of, "the first byte of each element")
def memset_of_starts(t):
    return {t.itemsize * e for e in element_numbers(t)}


@wrong(ex.memset_of, "Those are the numbers of the elements")
def memset_in_elements(t):
    return set(element_numbers(t))


@wrong(ex.memset_of, "between the first and the last byte")
def memset_as_a_range(t):
    if not t.numel():
        return []
    first = t.storage_offset()
    last = first + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
    return range(first * t.itemsize, last * t.itemsize + t.itemsize)


@wrong(ex.memset_of, "You count from t's own first element")
def memset_from_the_tensor(t):
    base = t.storage_offset()
    return {(e - base) * t.itemsize + k for e in element_numbers(t) for k in range(t.itemsize)}


@wrong(ex.memset_of, "Your bytes lie in one piece")
def memset_in_one_piece(t):
    begin = t.storage_offset() * t.element_size()
    return set(range(begin, begin + t.nbytes))


@wrong(ex.memset_of, "Your bytes lie in one piece")
def memset_by_fresh_strides(t):
    fresh = torch.empty(t.shape).stride()
    out = set()
    for index in itertools.product(*[range(n) for n in t.shape]):
        e = t.storage_offset() + sum(i * s for i, s in zip(index, fresh, strict=True))
        out |= set(range(e * t.itemsize, (e + 1) * t.itemsize))
    return out


@wrong(ex.memset_of, "That is the whole storage")
def memset_of_everything(t):
    return range(len(t.untyped_storage()))


@wrong(ex.memset_of, "Those are addresses in this process")
def memset_of_addresses(t):
    out = set()
    for index in itertools.product(*map(range, t.shape)):
        a = t[index].data_ptr()
        out.update(range(a, a + t.itemsize))
    return out


@wrong(ex.memset_of, "the storage offset still counts elements")
def memset_with_bare_offset(t):
    out = set()
    for index in itertools.product(*map(range, t.shape)):
        e = sum(i * s for i, s in zip(index, t.stride(), strict=True))
        out |= {t.storage_offset() + e * t.itemsize + k for k in range(t.itemsize)}
    return out


@wrong(ex.memset_of, "the offset is in bytes, your steps are not")
def memset_with_bare_steps(t):
    out = set()
    for index in itertools.product(*map(range, t.shape)):
        e = sum(i * s for i, s in zip(index, t.stride(), strict=True))
        out |= {t.storage_offset() * t.itemsize + e + k for k in range(t.itemsize)}
    return out


@wrong(ex.memset_of, "You step once too often")
def memset_with_inclusive_ends(t):
    out = set()
    for index in itertools.product(*[range(n + 1) for n in t.shape]):
        e = t.storage_offset() + sum(i * s for i, s in zip(index, t.stride(), strict=True))
        out |= {e * t.itemsize + k for k in range(t.itemsize)}
    return out


@wrong(ex.memset_of, "Those are t's values")
def memset_of_values(t):
    return {int(v.real) for v in t.reshape(-1).tolist()}


@wrong(ex.memset_of, "Right wherever t has an element")
def memset_starting_with_the_first(t):
    out = {t.storage_offset()}
    for n, s in zip(t.shape, t.stride(), strict=True):
        out |= {e + i * s for e in out for i in range(n)}
    return {b for e in out for b in range(e * t.itemsize, (e + 1) * t.itemsize)}


@wrong(ex.memset_of, "made for a certain number of dims")
def memset_of_a_matrix(t):
    n, m = t.shape
    out = set()
    for i in range(n):
        for j in range(m):
            e = t.storage_offset() + i * t.stride(0) + j * t.stride(1)
            out.update(range(e * t.itemsize, (e + 1) * t.itemsize))
    return out


@wrong(ex.memset_of, "made for a certain number of dims")
def memset_of_a_vector(t):
    out = set()
    for i in range(t.shape[0]):
        e = t.storage_offset() + i * t.stride()[0]
        out.update(range(e * t.itemsize, (e + 1) * t.itemsize))
    return out


@wrong(ex.memset_of, "The last byte of each element is missing")
def memset_without_the_last_byte(t):
    return {e * t.itemsize + k for e in element_numbers(t) for k in range(t.itemsize - 1)}


@unnamed(ex.memset_of)
def memset_in_four_byte_elements(t):
    return {e * 4 + k for e in element_numbers(t) for k in range(4)}


@unnamed(ex.memset_of)
def memset_that_is_always_empty(t):
    return set()


@unnamed(ex.memset_of, ANOTHER_KIND)
def memset_as_a_number(t):
    return t.numel() * t.itemsize


@unnamed(ex.memset_of, ANOTHER_KIND)
def memset_as_pairs(t):
    return {(e * t.itemsize, (e + 1) * t.itemsize) for e in element_numbers(t)} or {(0, 0)}


# share_bytes ----------------------------------------------------------------------------------


def pointer(x):
    return x.data_ptr() if torch.is_tensor(x) else x.ctypes.data


def ends(x):
    """First byte and the one behind the last, of what has elements."""
    steps = [s * x.itemsize for s in x.stride()] if torch.is_tensor(x) else x.strides
    reach = [(n - 1) * s for n, s in zip(x.shape, steps, strict=True)]
    low = pointer(x) + sum(r for r in reach if r < 0)
    return low, pointer(x) + sum(r for r in reach if r > 0) + x.itemsize


def places(x, width=None, unit=None, sign=1):
    """The bytes of x one by one, or those of a wrong idea of it."""
    tensor = torch.is_tensor(x)
    unit = unit if unit is not None else x.itemsize if tensor else 1
    steps = x.stride() if tensor else x.strides
    out = set()
    for index in np.ndindex(*x.shape):
        moved = sum(
            i * (abs(s) if sign < 0 else s) * unit for i, s in zip(index, steps, strict=True)
        )
        out |= {pointer(x) + moved + k for k in range(width or x.itemsize)}
    return out


@wrong(ex.share_bytes, "You compare where the two begin")
def share_if_they_begin_together(a, b):
    return pointer(a) == pointer(b)


@wrong(ex.share_bytes, "You compare where the two begin")
def share_by_data_ptr(a, b):
    return torch.as_tensor(
        a.copy() if isinstance(a, np.ndarray) and min(a.strides) < 0 else a
    ).data_ptr() == pointer(b)


@wrong(ex.share_bytes, "whether the two stand on one storage")
def share_by_untyped_storage(a, b):
    mine, its = a.untyped_storage(), b.untyped_storage()
    return mine.data_ptr() == its.data_ptr()


@wrong(ex.share_bytes, "whether the two stand on one storage")
def share_by_torchs_own_test(a, b):
    return torch._C._overlaps(torch.as_tensor(a), torch.as_tensor(b))


@wrong(ex.share_bytes, "whether the ranges meet")
def share_by_bounds(a, b):
    if 0 in a.shape or 0 in b.shape:
        return False
    (a0, a1), (b0, b1) = ends(a), ends(b)
    return not (a1 <= b0 or b1 <= a0)


@wrong(ex.share_bytes, "whether the ranges meet")
def share_as_numpy_may(a, b):
    a, b = (x.numpy() if torch.is_tensor(x) else x for x in (a, b))
    return np.may_share_memory(a, b)


@wrong(ex.share_bytes, "for one piece")
def share_by_nbytes(a, b):
    first = range(pointer(a), pointer(a) + a.nbytes)
    return any(pointer(b) + k in first for k in range(b.nbytes))


@wrong(ex.share_bytes, "You compare values")
def share_if_equal(a, b):
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


@wrong(ex.share_bytes, "You compare values")
def share_if_a_value_is_in_both(a, b):
    return len(np.intersect1d(np.asarray(a), np.asarray(b))) > 0


@wrong(ex.share_bytes, "from which tensor the two were made")
def share_by_base(a, b):
    def base(x):
        return x if x._base is None else x._base

    return base(a) is base(b)


@wrong(ex.share_bytes, "from which tensor the two were made")
def share_by_is_view(a, b):
    return b._is_view() or a._is_view()


@wrong(ex.share_bytes, "the first bytes of the elements only")
def share_by_starts(a, b):
    return bool(places(a, width=1) & places(b, width=1))


@wrong(ex.share_bytes, "whether all of a lies inside b")
def share_if_inside(a, b):
    return places(a).issubset(places(b))


@wrong(ex.share_bytes, "whether one of the two lies inside the other")
def share_if_one_is_inside(a, b):
    first, second = places(a), places(b)
    return first.issuperset(second) or first.issubset(second)


@wrong(ex.share_bytes, "You multiply NumPy's strides")
def share_with_numpy_in_elements(a, b):
    first, second = (places(x, unit=x.itemsize) for x in (a, b))
    return any(byte in second for byte in first)


@wrong(ex.share_bytes, "Your steps along a torch tensor count bytes")
def share_with_torch_in_bytes(a, b):
    first, second = (places(x, unit=1) for x in (a, b))
    return any(byte in second for byte in first)


@wrong(ex.share_bytes, "Your steps go forward only")
def share_going_forward(a, b):
    return len(places(a, sign=-1) & places(b, sign=-1)) > 0


@wrong(ex.share_bytes, "You say the same of every pair")
def share_always(a, b):
    return a is not None


@wrong(ex.share_bytes, "You say the same of every pair")
def share_if_identical(a, b):
    return a is b


@unnamed(ex.share_bytes)
def share_the_other_way_round(a, b):
    return not ex.share_bytes.reference(a, b)


@unnamed(ex.share_bytes)
def share_if_both_have_elements(a, b):
    return bool(np.size(a) and np.size(b)) and ex.share_bytes.reference(a, b) != (
        a.ndim == b.ndim == 2
    )


@unnamed(ex.share_bytes, ANOTHER_KIND)
def share_how_many(a, b):
    return len(places(a) & places(b))


@unnamed(ex.share_bytes, ANOTHER_KIND)
def share_which(a, b):
    return places(a) & places(b)


@unnamed(ex.share_bytes, CHANGES)
def share_by_writing(a, b):
    a.fill(1) if isinstance(a, np.ndarray) else a.fill_(1)
    return bool((np.asarray(b) == 1).any())


# permute_layout -------------------------------------------------------------------------------


@wrong(ex.permute_layout, "the other way round")
def permute_sending(shape, stride, dims):
    sizes, steps = [None] * len(dims), [None] * len(dims)
    for source, target in enumerate(dims):
        sizes[target], steps[target] = shape[source], stride[source]
    return sizes, steps


@wrong(ex.permute_layout, "the other way round")
def permute_by_argsort(shape, stride, dims):
    order = np.argsort([d % len(dims) for d in dims]).tolist()
    return [shape[k] for k in order], [stride[k] for k in order]


@wrong(ex.permute_layout, "your stride is that of a new tensor")
def permute_and_pack(shape, stride, dims):
    sizes = [shape[d] for d in dims]
    steps, step = [], 1
    for n in reversed(sizes):
        steps.insert(0, step)
        step *= n
    return sizes, steps


@wrong(ex.permute_layout, "the stride is still x's")
def permute_sizes(shape, stride, dims):
    return tuple(map(shape.__getitem__, dims)), stride


@wrong(ex.permute_layout, "the shape is still x's")
def permute_steps(shape, stride, dims):
    return shape, tuple(map(stride.__getitem__, dims))


@wrong(ex.permute_layout, "one of your two lists is the inverse")
def permute_one_and_unpermute_the_other(shape, stride, dims):
    steps = dict(zip((d % len(dims) for d in dims), stride, strict=True))
    return [shape[d] for d in dims], [steps[d] for d in range(len(dims))]


@wrong(ex.permute_layout, "You turn the dims round")
def permute_by_reversing(shape, stride, dims):
    return tuple(reversed(shape)), tuple(reversed(stride))


@wrong(ex.permute_layout, "Your strides come out sorted")
def permute_and_sort(shape, stride, dims):
    return [shape[d] for d in dims], sorted((stride[d] for d in dims), key=lambda s: -s)


@wrong(ex.permute_layout, "You exchange dims one after the other")
def permute_in_place(shape, stride, dims):
    pairs = list(zip(shape, stride, strict=True))
    for here, there in enumerate(dims):
        pairs[here], pairs[there] = pairs[there], pairs[here]
    return [n for n, _ in pairs], [s for _, s in pairs]


@wrong(ex.permute_layout, "Right as long as no dim is negative")
def permute_with_plain_dims(shape, stride, dims):
    where = [dims.index(d) for d in range(len(dims))]
    back = [where.index(d) for d in range(len(dims))]
    return [shape[k] for k in back], [stride[k] for k in back]


@wrong(ex.permute_layout, "That is x's own layout")
def permute_nothing(shape, stride, dims):
    return shape, stride


@unnamed(ex.permute_layout)
def permute_in_bytes(shape, stride, dims):
    return [shape[d] for d in dims], [stride[d] * 4 for d in dims]


@unnamed(ex.permute_layout)
def permute_with_tidy_strides(shape, stride, dims):
    return [shape[d] for d in dims], [stride[d] if shape[d] != 1 else 1 for d in dims]


@unnamed(ex.permute_layout, ANOTHER_KIND)
def permute_the_shape_alone(shape, stride, dims):
    return tuple(shape[d] for d in dims) if len(dims) != 2 else [shape[dims[0]], shape[dims[1]], 0]


# keep_row -------------------------------------------------------------------------------------


@wrong(ex.keep_row, "That still stands on big's storage")
def keep_a_slice(big, i):
    return big.select(0, i)


@wrong(ex.keep_row, "That still stands on big's storage")
def keep_detached(big, i):
    return big[i].detach()


@wrong(ex.keep_row, "That still stands on big's storage")
def keep_reshaped(big, i):
    return big[i].view_as(big[i])


@wrong(ex.keep_row, "That still stands on big's storage")
def keep_and_delete(big, i):
    row = big[i]
    del big
    return row


@wrong(ex.keep_row, "A row of a new tensor is contiguous already")
def keep_contiguous(big, i):
    return big.select(0, i).contiguous()


@wrong(ex.keep_row, "A row of a new tensor is contiguous already")
def keep_if_it_has_to_be_copied(big, i):
    row = big[i]
    return row if row.is_contiguous() else row.clone()


@wrong(ex.keep_row, "You copy first and cut then")
def keep_of_a_copy(big, i):
    mine = big.clone()
    return mine[i]


@wrong(ex.keep_row, "You copy first and cut then")
def keep_of_a_new_tensor(big, i):
    mine = torch.empty_like(big)
    mine.copy_(big)
    return mine[i]


@wrong(ex.keep_row, "`deepcopy` copies the whole storage")
def keep_deep(big, i):
    return copy.deepcopy(big.detach()[i])


@unnamed(ex.keep_row)
def keep_saved(big, i):
    buffer = io.BytesIO()
    torch.save(big[i], buffer)
    buffer.seek(0)
    return torch.load(buffer)


@wrong(ex.keep_row, "by way of Python numbers")
def keep_numbers(big, i):
    return torch.tensor([v.item() for v in big[i]])


@wrong(ex.keep_row, "its own rules for dtypes")
def keep_a_sum(big, i):
    return big[i] * 1


@wrong(ex.keep_row, "a matrix with one row")
def keep_by_a_list(big, i):
    return big[[i]]


@wrong(ex.keep_row, "a matrix with one row")
def keep_by_narrow(big, i):
    return big.narrow_copy(0, i, 1)


@wrong(ex.keep_row, "That is a column")
def keep_the_column(big, i):
    return big.t()[i].clone()


@wrong(ex.keep_row, "That memory belongs to a NumPy array")
def keep_by_numpy(big, i):
    return torch.from_numpy(big.numpy().copy()[i])


@wrong(ex.keep_row, "The storage has the right size and the values are not in it")
def keep_zeros(big, i):
    return torch.zeros(big.size(1), dtype=big.dtype)


@unnamed(ex.keep_row)
def keep_all(big, i):
    return big.clone()


@unnamed(ex.keep_row)
def keep_the_next_row(big, i):
    return big[i - 1].clone()


@unnamed(ex.keep_row)
def keep_row_and_a_little_more(big, i):
    row = torch.empty(big.size(1) + 1, dtype=big.dtype)
    row[:-1] = big[i]
    return row[:-1]


@unnamed(ex.keep_row, ANOTHER_KIND)
def keep_a_list(big, i):
    return big[i].tolist()


@unnamed(ex.keep_row, STOPS)
def keep_by_shrinking_the_storage(big, i):
    row = big[i].clone()
    big.untyped_storage().resize_(row.nbytes)
    return row


# first_copy -----------------------------------------------------------------------------------


@wrong(ex.first_copy, "You compare `data_ptr()`")
def copy_by_pointer(x, steps):
    for k in range(len(steps)):
        before, x = x, steps[k](x)
        if x.data_ptr() != before.data_ptr():
            return k
    return len(steps)


@wrong(ex.first_copy, "You ask autograd")
def copy_by_is_view(x, steps):
    for k, step in enumerate(steps):
        x = step(x)
        if not x._is_view():
            return k
    return len(steps)


@wrong(ex.first_copy, "You ask autograd")
def copy_by_base(x, steps):
    root = x if x._base is None else x._base
    for k, step in enumerate(steps):
        x = step(x)
        if x is not root and x._base is not root:
            return k
    return len(steps)


@wrong(ex.first_copy, "the same Python object")
def copy_by_identity(x, steps):
    t, k = x, 0
    while k < len(steps):
        y = steps[k](t)
        if id(y) != id(t):
            break
        t, k = y, k + 1
    return k


@wrong(ex.first_copy, "You compare shapes or values")
def copy_by_values(x, steps):
    for k, step in enumerate(steps):
        y = step(x)
        if y.tolist() != x.tolist():
            return k
        x = y
    return len(steps)


@wrong(ex.first_copy, "You look at contiguity")
def copy_by_is_contiguous(x, steps):
    for k, step in enumerate(steps):
        y = step(x)
        if y.is_contiguous() and not x.is_contiguous():
            return k
        x = y
    return len(steps)


@wrong(ex.first_copy, "You look at contiguity")
def copy_when_contiguous(x, steps):
    for k, step in enumerate(steps):
        x = step(x)
        if x.is_contiguous():
            return k
    return len(steps)


@wrong(ex.first_copy, "You compare storages")
def copy_by_storage(x, steps):
    home = x.untyped_storage().data_ptr()
    for k, step in enumerate(steps):
        x = step(x)
        if x.untyped_storage().data_ptr() != home:
            return k
    return len(steps)


@wrong(ex.first_copy, "You compare storages")
def copy_by_identity_of_storages(x, steps):
    for k, step in enumerate(steps):
        y = step(x)
        if y.untyped_storage() is not x.untyped_storage():
            return k
        x = y
    return len(steps)


@wrong(ex.first_copy, "You go by the layout")
def copy_by_strides(x, steps):
    for k, step in enumerate(steps):
        before = x.stride()
        x = step(x)
        if x.stride() != before:
            return k
    return len(steps)


@wrong(ex.first_copy, "You count from 1")
def copy_from_one(x, steps):
    for k, step in enumerate(steps, start=1):
        y = step(x)
        if not np.shares_memory(y.numpy(), x.numpy()):
            return k
        x = y
    return len(steps)


@wrong(ex.first_copy, "You name the last step that copies")
def copy_the_last(x, steps):
    found = len(steps)
    for k, step in enumerate(steps):
        y = step(x)
        if not np.shares_memory(y.numpy(), x.numpy()):
            found = k
        x = y
    return found


@wrong(ex.first_copy, "You count the copies")
def copy_how_often(x, steps):
    total = 0
    for step in steps:
        y = step(x)
        total += not np.shares_memory(y.numpy(), x.numpy())
        x = y
    return total


@wrong(ex.first_copy, "You hand x to every step")
def copy_each_from_x(x, steps):
    found = (k for k, step in enumerate(steps) if not np.shares_memory(step(x).numpy(), x.numpy()))
    return next(found, len(steps))


@wrong(ex.first_copy, "You run the steps on a copy of x")
def copy_on_a_clone(x, steps):
    x = x.clone()
    for k, step in enumerate(steps):
        y = step(x)
        if not np.shares_memory(y.numpy(), x.numpy()):
            return k
        x = y
    return len(steps)


@wrong(ex.first_copy, "Where none does, the answer is `len(steps)`")
def copy_none_is_minus_one(x, steps):
    for k, step in enumerate(steps):
        y = step(x)
        if not np.shares_memory(y.numpy(), x.numpy()):
            return k
        x = y
    return -1


@wrong(ex.first_copy, "Where none does, the answer is `len(steps)`")
def copy_without_a_last_return(x, steps):
    for k, step in enumerate(steps):
        y = step(x)
        if not np.shares_memory(y.numpy(), x.numpy()):
            return k
        x = y
    return None


@wrong(ex.first_copy, "You say the same of every chain")
def copy_is_always_the_first(x, steps):
    return 0


@wrong(ex.first_copy, "You say the same of every chain")
def copy_is_always_the_last(x, steps):
    return max(len(steps) - 1, 0)


@unnamed(ex.first_copy)
def copy_beyond_the_end(x, steps):
    return len(steps) + 1


@unnamed(ex.first_copy, "Your function changes `x` itself")
def copy_by_writing(x, steps):
    for k, step in enumerate(steps):
        y = step(x)
        y.fill_(77)
        if not bool((x == 77).any()):
            return k
        x = y
    return len(steps)


@unnamed(ex.first_copy, "Your function changes `steps` itself")
def copy_popping_the_steps(x, steps):
    k = 0
    while steps:
        y = steps.pop(0)(x)
        if not np.shares_memory(y.numpy(), x.numpy()):
            return k
        x, k = y, k + 1
    return k


@unnamed(ex.first_copy, ANOTHER_KIND)
def copy_as_the_step_itself(x, steps):
    k = ex.first_copy.reference(x, steps)
    return steps[k] if k < len(steps) else "none"


# bump_first -----------------------------------------------------------------------------------


@wrong(ex.bump_first, "You write into e's own memory")
def bump_in_place(e):
    e[0] = e[0] + 1
    return e


@wrong(ex.bump_first, "You write into e's own memory")
def bump_a_view(e):
    y = e.view(e.shape)
    y[0].add_(1)
    return y


@wrong(ex.bump_first, "You write into e's own memory")
def bump_detached(e):
    y = e.detach()
    y[0] += 1
    return y


@wrong(ex.bump_first, "You write into e's own memory")
def bump_and_clone_too_late(e):
    e[0] += 1
    return e.clone()


@wrong(ex.bump_first, "`contiguous()` copies only what is not")
def bump_contiguous(e):
    out = e.contiguous()
    out[0].add_(1)
    return out


@wrong(ex.bump_first, "`contiguous()` copies only what is not")
def bump_if_it_is_contiguous(e):
    out = e if e.is_contiguous() else e.clone()
    out[0] += 1
    return out


@wrong(ex.bump_first, "`deepcopy` copies the storage and keeps the strides")
def bump_a_deep_copy(e):
    mine = copy.deepcopy(e)
    mine[0] = mine[0] + 1
    return mine


@wrong(ex.bump_first, "You copy a row and expand it again")
def bump_one_for_all(e):
    row = e[0].clone()
    row += 1
    return row.expand_as(e)


@wrong(ex.bump_first, "You add to the whole tensor in place")
def bump_everything_in_place(e):
    e += 1
    return e


@wrong(ex.bump_first, "All rows have grown")
def bump_every_row(e):
    return torch.add(e, 1)


@wrong(ex.bump_first, "All rows have grown")
def bump_every_row_of_a_clone(e):
    mine = e.clone()
    mine += 1
    return mine


@wrong(ex.bump_first, "Row 0 is as before")
def bump_and_forget(e):
    y = torch.clone(e)
    y[0] + 1
    return y


@wrong(ex.bump_first, "That is row 0 alone")
def bump_only_the_row(e):
    row = e[0].clone()
    row += 1
    return row


@wrong(ex.bump_first, "You add along another dim")
def bump_the_column(e):
    y = e.clone()
    y[:, 0] = y[:, 0] + 1
    return y


@wrong(ex.bump_first, "You replace row 0 by ones")
def bump_to_one(e):
    y = e.clone()
    y[0].fill_(1)
    return y


@unnamed(ex.bump_first)
def bump_the_last_row(e):
    y = e.clone()
    y[-1] += 1
    return y


@unnamed(ex.bump_first)
def bump_by_two(e):
    y = e.clone()
    y[0] += 2
    return y


@unnamed(ex.bump_first)
def bump_nothing(e):
    return e


@unnamed(ex.bump_first)
def bump_in_floats(e):
    mask = torch.zeros(len(e), *[1] * (e.ndim - 1))
    mask[0] = 1
    return e + mask


@unnamed(ex.bump_first, ANOTHER_KIND)
def bump_a_list(e):
    return ex.bump_first.reference(e).tolist()


@unnamed(ex.bump_first, STOPS)
def bump_into_the_same_strides(e):
    y = torch.empty_strided(e.shape, e.stride(), dtype=e.dtype)
    y.copy_(e)
    y[0] += 1
    return y
