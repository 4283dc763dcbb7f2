"""Wrong answers to the exercises of notebook 03."""

import math

import numpy as np
import torch

from stridekit import Layout
from stridekit.exercises import contiguity as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, unnamed, wrong

# is_contiguous --------------------------------------------------------------------------------


@wrong(ex.is_contiguous, "in a dim of size 1")
def contiguous_as_in_c(shape, stride):
    expected = 1
    for i in range(len(shape) - 1, -1, -1):
        if stride[i] != expected:
            return False
        expected *= shape[i]
    return True


@wrong(ex.is_contiguous, "in a dim of size 1")
def contiguous_like_empty(shape, stride):
    return torch.empty(shape).stride() == stride


@wrong(ex.is_contiguous, "in a dim of size 1")
def contiguous_pair_by_pair(shape, stride):
    if math.prod(shape) == 0 or len(shape) == 0:
        return True
    good = stride[-1] == 1
    for i in range(1, len(shape)):
        good = good and stride[-i - 1] == shape[-i] * stride[-i]
    return good


@wrong(ex.is_contiguous, "in a dim of size 1")
def contiguous_recursively(shape, stride):
    if not shape:
        return True
    return stride[0] == math.prod(shape[1:]) and contiguous_recursively(shape[1:], stride[1:])


@wrong(ex.is_contiguous, "Right wherever there is an element")
def contiguous_with_elements(shape, stride):
    step = 1
    for n, s in list(zip(shape, stride, strict=True))[::-1]:
        if n == 1:
            continue
        if s != step:
            return False
        step = step * n
    return True


@wrong(ex.is_contiguous, "Right wherever there is an element")
def contiguous_without_ones(shape, stride):
    kept = [d for d in range(len(shape)) if shape[d] != 1]
    small = torch.empty([shape[d] for d in kept])
    return small.stride() == tuple(stride[d] for d in kept)


@wrong(ex.is_contiguous, "do not grow from left to right")
def contiguous_when_sorted(shape, stride):
    return list(stride) == sorted(stride, reverse=True)


@wrong(ex.is_contiguous, "Whether the next row follows")
def contiguous_by_the_last(shape, stride):
    return stride[-1:] in ((1,), ())


@wrong(ex.is_contiguous, "contiguity by columns")
def contiguous_as_in_fortran(shape, stride):
    if 0 in shape:
        return True
    step = 1
    for n, s in zip(shape, stride, strict=True):
        if n > 1 and s != step:
            return False
        step *= n
    return True


@wrong(ex.is_contiguous, "in any order of the dims")
def contiguous_without_holes(shape, stride):
    if math.prod(shape) == 0:
        return True
    places = {sum(i * s for i, s in zip(index, stride, strict=True)) for index in np.ndindex(shape)}
    return places == set(range(math.prod(shape)))


@wrong(ex.is_contiguous, "in any order of the dims")
def contiguous_and_dense(shape, stride):
    return Layout(shape, stride).is_dense()


@wrong(ex.is_contiguous, "not that the space is 1")
def contiguous_if_flat_is_a_view(shape, stride):
    try:
        torch.empty_strided(shape, stride).view(math.prod(shape))
    except RuntimeError:
        return False
    return True


@wrong(ex.is_contiguous, "does not excuse the other dims")
def contiguous_if_there_is_a_one(shape, stride):
    return any(n in (0, 1) for n in shape) or torch.empty(shape).stride() == stride


@wrong(ex.is_contiguous, "Shape () has no dims")
def contiguous_from_the_last(shape, stride):
    if 0 in shape:
        return True
    if stride[-1] != 1 and shape[-1] != 1:
        return False
    step = shape[-1]
    for n, s in list(zip(shape, stride, strict=True))[-2::-1]:
        if n != 1 and s != step:
            return False
        step *= n
    return True


@wrong(ex.is_contiguous, "You answer the same for every input")
def contiguous_never(shape, stride):
    return False


@wrong(ex.is_contiguous, "You answer the same for every input")
def contiguous_always(shape, stride):
    return True


@wrong(ex.is_contiguous, "contiguity by columns")
def contiguous_as_in_fortran_naively(shape, stride):
    return stride == torch.empty(shape[::-1]).stride()[::-1]


@wrong(ex.is_contiguous, "in any order of the dims")
def contiguous_when_sorted_by_stride(shape, stride):
    step = 1
    for s, n in sorted(zip(stride, shape, strict=True)):
        if s != step:
            return False
        step *= n
    return True


@unnamed(ex.is_contiguous)
def contiguous_from_the_first_stride(shape, stride):
    return 0 in shape or not shape or stride[0] == math.prod(shape[1:])


@unnamed(ex.is_contiguous)
def contiguous_of_matrices(shape, stride):
    return ex.is_contiguous.reference(shape, stride) or len(shape) > 2


@unnamed(ex.is_contiguous)
def contiguous_the_other_way(shape, stride):
    return not ex.is_contiguous.reference(shape, stride)


@unnamed(ex.is_contiguous)
def contiguous_if_the_first_step_is_long_enough(shape, stride):
    return not shape or shape[0] * stride[0] == math.prod(shape)


@unnamed(ex.is_contiguous, ANOTHER_KIND)
def contiguous_in_words(shape, stride):
    return "yes" if ex.is_contiguous.reference(shape, stride) else "no"


@unnamed(ex.is_contiguous, ANOTHER_KIND)
def contiguous_as_the_reason(shape, stride):
    return Layout(shape, stride).why_not_contiguous()


# mergeable ------------------------------------------------------------------------------------


@wrong(ex.mergeable, "also where one of the two sizes is 1")
def merges_by_the_formula(shape, stride, d):
    inner_extent = shape[d + 1] * stride[d + 1]
    return inner_extent == stride[d]


@wrong(ex.mergeable, "also where one of the two sizes is 1")
def merges_by_the_formula_or_empty(shape, stride, d):
    if math.prod(shape) == 0:
        return True
    (outer, inner), size = stride[d : d + 2], shape[d + 1]
    return outer / size == inner


@wrong(ex.mergeable, "You let the outer dim be of size 1")
def merges_an_outer_one(shape, stride, d):
    if shape[d] < 2 or not all(shape):
        return True
    return stride[d] - shape[d + 1] * stride[d + 1] == 0


@wrong(ex.mergeable, "You let the inner dim be of size 1")
def merges_an_inner_one(shape, stride, d):
    if shape[d + 1] < 2 or not all(shape):
        return True
    return stride[d] - shape[d + 1] * stride[d + 1] == 0


@wrong(ex.mergeable, "the other way round")
def merges_by_columns(shape, stride, d):
    if 0 in shape or shape[d] == 1 or shape[d + 1] == 1:
        return True
    return shape[d] * stride[d] == stride[d + 1]


@wrong(ex.mergeable, "two equal strides")
def merges_equal_steps(shape, stride, d):
    pairs = [(n, s) for n, s in zip(shape, stride, strict=True)][d : d + 2]
    steps = {s for n, s in pairs if n != 1}
    return math.prod(shape) == 0 or len(steps) < 2


@wrong(ex.mergeable, "the size of dim d itself")
def merges_with_its_own_size(shape, stride, d):
    n, m = shape[d], shape[d + 1]
    return 1 in (n, m) or not math.prod(shape) or n * stride[d + 1] == stride[d]


@wrong(ex.mergeable, "the stride of a new tensor")
def merges_if_as_new(shape, stride, d):
    if math.prod(shape) == 0 or 1 in shape[d : d + 2]:
        return True
    return stride[d] == torch.empty(shape).stride(d)


@wrong(ex.mergeable, "You take the inner stride for 1")
def merges_by_sizes(shape, stride, d):
    return not math.prod(shape) or min(shape[d : d + 2]) == 1 or shape[d + 1] == stride[d]


@wrong(ex.mergeable, "whether x is contiguous as a whole")
def merges_if_contiguous(shape, stride, d):
    return torch.empty_strided(shape, stride).is_contiguous()


@wrong(ex.mergeable, "leaves a gap behind it")
def merges_if_far_enough(shape, stride, d):
    if 0 in shape or 1 in (shape[d], shape[d + 1]):
        return True
    return not stride[d] < stride[d + 1] * shape[d + 1]


@wrong(ex.mergeable, "also one of the other dims")
def merges_with_elements(shape, stride, d):
    if shape[d] == 1 or shape[d + 1] == 1:
        return True
    return stride[d] == stride[d + 1] * shape[d + 1]


@wrong(ex.mergeable, "also one of the other dims")
def merges_unless_one_of_the_two_is_empty(shape, stride, d):
    if shape[d] <= 1 or shape[d + 1] <= 1:
        return True
    return stride[d] == stride[d + 1] * shape[d + 1]


@wrong(ex.mergeable, "Those are dims d - 1 and d")
def merges_the_one_before(shape, stride, d):
    if 0 in shape or shape[d - 1] == 1 or shape[d] == 1:
        return True
    return stride[d - 1] == shape[d] * stride[d]


@wrong(ex.mergeable, "You answer the same for every input")
def merges_always(shape, stride, d):
    return True


@wrong(ex.mergeable, "You answer the same for every input")
def merges_never(shape, stride, d):
    return False


@wrong(ex.mergeable, "the size of dim d itself")
def merges_with_its_own_size_alone(shape, stride, d):
    return stride[d] == shape[d] * stride[d + 1]


@wrong(ex.mergeable, "one fewer than it has elements")
def merges_from_the_last_element(shape, stride, d):
    last = (shape[d + 1] - 1) * stride[d + 1]
    return 0 in shape or 1 in shape[d : d + 2] or last == stride[d]


@wrong(ex.mergeable, "the other way round")
def merges_by_columns_alone(shape, stride, d):
    return stride[d + 1] == shape[d] * stride[d]


@wrong(ex.mergeable, "leaves a gap behind it")
def merges_if_far_enough_alone(shape, stride, d):
    return stride[d] >= shape[d + 1] * stride[d + 1]


@unnamed(ex.mergeable)
def merges_if_any_size_is_one(shape, stride, d):
    return 0 in shape or 1 in shape or stride[d] == shape[d + 1] * stride[d + 1]


@unnamed(ex.mergeable)
def merges_by_a_sum(shape, stride, d):
    return stride[d] == shape[d + 1] + stride[d + 1]


@unnamed(ex.mergeable)
def merges_longer_steps(shape, stride, d):
    return 0 in shape or 1 in shape[d : d + 2] or stride[d] > stride[d + 1]


@unnamed(ex.mergeable)
def merges_the_first_two(shape, stride, d):
    return ex.mergeable.reference(shape, stride, 0)


@unnamed(ex.mergeable)
def merges_in_matrices(shape, stride, d):
    return ex.mergeable.reference(shape, stride, d) and len(shape) == 2


@unnamed(ex.mergeable)
def merges_but_expanded_ones(shape, stride, d):
    return ex.mergeable.reference(shape, stride, d) and stride[d] > 0


@unnamed(ex.mergeable, ANOTHER_KIND)
def merges_into_a_stride(shape, stride, d):
    return (shape[d] * shape[d + 1], stride[d + 1])


# view_stride ----------------------------------------------------------------------------------


def torch_view(shape, stride, new_shape):
    """What torch answers."""
    x = torch.empty_strided(shape, stride, device="meta")
    try:
        return x.view(new_shape).stride()
    except RuntimeError:
        return None


@wrong(ex.view_stride, "You ask for a contiguous tensor. A view")
def view_of_contiguous_ones(shape, stride, new_shape):
    x = torch.empty_strided(shape, stride)
    if not x.is_contiguous():
        return None
    return x.reshape(new_shape).stride()


@wrong(ex.view_stride, "You ask for a contiguous tensor. A view")
def view_of_what_looks_new(shape, stride, new_shape):
    if stride == torch.empty(shape).stride():
        return torch.empty(new_shape).stride()
    return None


@wrong(ex.view_stride, "or for no change of shape")
def view_of_contiguous_ones_or_itself(shape, stride, new_shape):
    if tuple(shape) == tuple(new_shape):
        return stride
    x = torch.empty_strided(shape, stride)
    return torch.empty(new_shape).stride() if x.is_contiguous() else None


@wrong(ex.view_stride, "whatever the old stride is")
def view_like_a_new_one(shape, stride, new_shape):
    return torch.empty(new_shape).stride()


@wrong(ex.view_stride, "whatever the old stride is")
def view_by_products(shape, stride, new_shape):
    steps = []
    for d in range(len(new_shape)):
        steps.append(math.prod(new_shape[d + 1 :]))
    return steps


@wrong(ex.view_stride, "You know when there is a view")
def view_when_possible_with_new_steps(shape, stride, new_shape):
    if torch_view(shape, stride, new_shape) is None:
        return None
    return torch.empty(new_shape).stride()


@wrong(ex.view_stride, "go on from one chunk into the next")
def view_with_one_step_for_all(shape, stride, new_shape):
    if torch_view(shape, stride, new_shape) is None:
        return None
    longer = [s for n, s in zip(shape, stride, strict=True) if n > 1]
    step = longer[-1] if longer else 1
    steps = []
    for n in reversed(new_shape):
        steps.append(step)
        step *= n
    return steps[::-1]


def view_with_chunks(shape, stride, new_shape, joins):
    """Chunks by a rule of one's own, then cut."""
    chunks = []
    for n, s in reversed(list(zip(shape, stride, strict=True))):
        if chunks and joins(n, s, *chunks[-1]):
            chunks[-1] = (n * chunks[-1][0], chunks[-1][1])
        else:
            chunks.append((n, s))
    steps, k, used = [], 0, 1
    for n in reversed(new_shape):
        while k < len(chunks) and used == chunks[k][0] and n != 1:
            k, used = k + 1, 1
        if k >= len(chunks):
            steps.append(1)
            continue
        steps.append(used * chunks[k][1])
        used *= n
        if chunks[k][0] % used:
            return None
    return steps[::-1]


@wrong(ex.view_stride, "A dim of size 1 in x breaks")
def view_with_ones_that_break(shape, stride, new_shape):
    if math.prod(shape) == 0:
        return (1,) * len(new_shape)
    return view_with_chunks(
        shape, stride, new_shape, lambda n, s, elements, step: s == elements * step
    )


@wrong(ex.view_stride, "refuse a new shape for its sizes of 1")
def view_without_new_ones(shape, stride, new_shape):
    if any(n == 1 for n in new_shape):
        return None
    return torch_view(shape, stride, new_shape)


@wrong(ex.view_stride, "Without one there is nothing to straddle")
def view_of_something(shape, stride, new_shape):
    if not math.prod(new_shape):
        return None
    return torch_view(shape, stride, new_shape)


@wrong(ex.view_stride, "Without one there is nothing to straddle")
def view_divided_by_the_elements(shape, stride, new_shape):
    if math.prod(new_shape) / math.prod(shape) != 1:
        return None
    return torch_view(shape, stride, new_shape)


@wrong(ex.view_stride, "You answer None for every input")
def view_is_never_possible(shape, stride, new_shape):
    answer = None
    if math.prod(shape) != math.prod(new_shape):
        answer = stride
    return answer


@wrong(ex.view_stride, "You keep the stride as it is")
def view_with_the_old_stride(shape, stride, new_shape):
    return torch.empty_strided(shape, stride).stride()


@wrong(ex.view_stride, "but never merge two")
def view_of_each_dim_alone(shape, stride, new_shape):
    if 0 in shape:
        return [0] * len(new_shape)
    big = [(n, s) for n, s in zip(shape, stride, strict=True) if n > 1]
    return view_with_chunks(
        [n for n, _ in big], [s for _, s in big], new_shape, lambda *chunks: False
    )


@wrong(ex.view_stride, "You merge, but never cut")
def view_with_known_steps(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    if found is None:
        return None
    known = all(s in stride for n, s in zip(new_shape, found, strict=True) if n != 1)
    return found if known or math.prod(shape) == 0 else None


@wrong(ex.view_stride, "You merge from the wrong side")
def view_by_columns(shape, stride, new_shape):
    found = torch_view(shape[::-1], stride[::-1], new_shape[::-1])
    return found[::-1] if found is not None else None


@wrong(ex.view_stride, "from back to front")
def view_back_to_front(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    return found and tuple(reversed(found))


@wrong(ex.view_stride, "new dims fit inside old ones or gather whole ones")
def view_inside_or_around(shape, stride, new_shape):
    def ends(sizes):
        return {math.prod(sizes[d:]) for d in range(len(sizes))}

    if ends(shape) >= ends(new_shape) or ends(shape) <= ends(new_shape):
        return torch_view(shape, stride, new_shape)
    return None


@wrong(ex.view_stride, "One boundary makes you refuse")
def view_of_one_chunk(shape, stride, new_shape):
    if new_shape == shape or torch_view(shape, stride, (math.prod(shape),)):
        return torch_view(shape, stride, new_shape)
    return None


@unnamed(ex.view_stride)
def view_one_step_too_long(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    return found and tuple(s + 1 for s in found)


@unnamed(ex.view_stride)
def view_in_bytes(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    return found and tuple(4 * s for s in found)


@unnamed(ex.view_stride)
def view_as_its_shape(shape, stride, new_shape):
    return new_shape


@unnamed(ex.view_stride)
def view_with_a_step_too_many(shape, stride, new_shape):
    found = torch_view(shape, stride, new_shape)
    return None if found is None else (math.prod(shape), *found)


@unnamed(ex.view_stride, ANOTHER_KIND)
def view_or_false(shape, stride, new_shape):
    return torch_view(shape, stride, new_shape) or False


# clone_stride ---------------------------------------------------------------------------------


@wrong(ex.clone_stride, "You keep the strides always")
def clone_keeps(shape, stride):
    return torch.empty_strided(shape, stride).stride()


@wrong(ex.clone_stride, "You make every clone contiguous")
def clone_is_new(shape, stride):
    return torch.empty(shape).stride()


@wrong(ex.clone_stride, "Right for dense tensors")
def clone_keeps_dense_ones(shape, stride):
    if Layout(shape, stride).is_dense():
        return stride
    return torch.empty(shape).stride()


@wrong(ex.clone_stride, "You keep a stride of 0")
def clone_stays_expanded(shape, stride):
    clone = torch.empty_strided(shape, stride).clone()
    squeezed = [0 if s == 0 else slice(None) for s in stride]
    small = torch.empty_strided(shape, stride)[tuple(squeezed)] if 0 not in shape else clone
    steps = iter(small.clone().stride())
    return tuple(0 if s == 0 else next(steps) for s in stride)


@wrong(ex.clone_stride, "take 0 for the smallest stride")
def clone_sorted(shape, stride):
    dims = sorted(range(len(shape)), key=lambda d: (stride[d], len(shape) - d))
    steps, step = {}, 1
    for d in dims:
        steps[d] = step
        step *= shape[d]
    return [steps[d] for d in range(len(shape))]


@wrong(ex.clone_stride, "You put expanded dims outermost")
def clone_with_copies_outside(shape, stride):
    dims = sorted(range(len(shape)), key=lambda d: (stride[d] or 10**6, len(shape) - d))
    steps, step = {}, 1
    for d in dims:
        steps[d] = step
        step *= shape[d]
    return [steps[d] for d in range(len(shape))]


@wrong(ex.clone_stride, "Your order is upside down")
def clone_sorted_the_wrong_way(shape, stride):
    steps, step = [1] * len(shape), 1
    for d in np.argsort([-s for s in stride], kind="stable"):
        steps[d] = step
        step *= shape[d]
    return steps


@wrong(ex.clone_stride, "in the order of memory, not of the dims")
def clone_in_the_order_of_memory(shape, stride):
    right = torch.empty_strided(shape, stride).clone().stride()
    return sorted(right)[::-1]


@wrong(ex.clone_stride, "divide the gaps away")
def clone_divided(shape, stride):
    by = min([s for s in stride if s > 0] or [1])
    return [s // by for s in stride]


@wrong(ex.clone_stride, "You lay every clone out by columns")
def clone_as_in_fortran(shape, stride):
    return torch.empty(shape[::-1]).stride()[::-1]


@unnamed(ex.clone_stride)
def clone_reversed(shape, stride):
    return torch.empty_strided(shape, stride).clone().stride()[::-1]


@unnamed(ex.clone_stride)
def clone_in_bytes(shape, stride):
    return [4 * s for s in torch.empty_strided(shape, stride).clone().stride()]


@unnamed(ex.clone_stride)
def clone_of_matrices(shape, stride):
    return torch.empty_strided(shape, stride).clone().stride() if len(shape) < 3 else stride


@unnamed(ex.clone_stride, ANOTHER_KIND)
def clone_itself(shape, stride):
    return torch.empty_strided(shape, stride).clone()


# by_columns -----------------------------------------------------------------------------------


@wrong(ex.by_columns, "up to two copies")
def columns_as_in_the_task(x):
    y = x.contiguous().transpose(1, 2)
    return y.contiguous().view(x.size(0), x.size(1) * x.size(2))


@wrong(ex.by_columns, "up to two copies")
def columns_by_flatten(x):
    return x.contiguous().mT.flatten(1)


@wrong(ex.by_columns, "You copy always")
def columns_cloned(x):
    n, h, w = x.shape
    return torch.clone(x.permute(0, 2, 1), memory_format=torch.contiguous_format).view(n, h * w)


@wrong(ex.by_columns, "You copy always")
def columns_copied_into_new_memory(x):
    n, h, w = x.shape
    new = x.new_empty(n, w, h)
    new.copy_(x.transpose(1, 2))
    return new.view(n, h * w)


@wrong(ex.by_columns, "Twice the bytes on every input")
def columns_cloned_once_more(x):
    n, h, w = x.shape
    return torch.clone(x.swapaxes(1, 2).contiguous().view(n, h * w))


@wrong(ex.by_columns, "not always the same layout")
def columns_flattened(x):
    return x.permute(0, 2, 1).flatten(1)


@wrong(ex.by_columns, "keeps the reading order, row by row")
def columns_by_rows(x):
    return x.contiguous().view(x.size(0), x.size(1) * x.size(2))


@wrong(ex.by_columns, "the elements in the wrong places")
def columns_scrambled(x):
    n, h, w = x.shape
    return x.reshape(n, w, h).transpose(1, 2).reshape(n, h * w)


@wrong(ex.by_columns, "contiguous too early")
def columns_contiguous_first(x):
    n, h, w = x.shape
    return x.contiguous().permute(0, 2, 1).view(n, h * w)


@wrong(ex.by_columns, "No copy at all")
def columns_by_views_alone(x):
    n, h, w = x.shape
    return x.mT.view(n, h * w)


@wrong(ex.by_columns, "clone keeps the order in memory")
def columns_of_a_clone(x):
    n, h, w = x.shape
    return x.mT.clone().view(n, h * w)


@unnamed(ex.by_columns, "Your line takes memory")
def columns_through_lists(x):
    n, h, w = x.shape
    rows = [[row[j] for j in range(w) for row in matrix] for matrix in x.tolist()]
    return torch.tensor(rows, dtype=x.dtype).view(n, h * w)


@unnamed(ex.by_columns, "Your line takes memory")
def columns_through_lists_and_a_clone(x):
    n, h, w = x.shape
    return torch.tensor(x.transpose(1, 2).tolist(), dtype=x.dtype).view(n, h * w).clone()


@unnamed(ex.by_columns, "Your line takes memory")
def columns_through_numpy(x):
    n, h, w = x.shape
    return torch.from_numpy(np.ascontiguousarray(x.numpy().transpose(0, 2, 1))).view(n, h * w)


@wrong(ex.by_columns, "Twice the bytes on every input")
def columns_piece_by_piece(x):
    n, h, w = x.shape
    if n == 0:
        return x.new_empty(0, h * w)
    return torch.stack([matrix.t().reshape(h * w) for matrix in x])


@unnamed(ex.by_columns)
def columns_as_a_matrix(x):
    return x.transpose(1, 2).contiguous()


@unnamed(ex.by_columns)
def columns_in_floats(x):
    return ex.by_columns.reference(x.double())


@unnamed(ex.by_columns, CHANGES)
def columns_in_place(x):
    n, h, w = x.shape
    return x.transpose_(1, 2).contiguous().view(n, h * w)


@wrong(ex.by_columns, "Twice the bytes on every input")
def columns_twice(x):
    n, h, w = x.shape
    return (x.transpose(1, 2) + 0).contiguous().view(n, h * w)


# unviewable -----------------------------------------------------------------------------------


@wrong(ex.unviewable, "the flat shape wherever x is not contiguous")
def refused_unless_contiguous(shape, stride):
    x = torch.empty_strided(shape, stride)
    return None if x.is_contiguous() else (x.numel(),)


@wrong(ex.unviewable, "You answer None for every input")
def refused_is_nothing(shape, stride):
    for d in range(len(shape)):
        if shape[d] < 0:
            return (math.prod(shape),)
    return None


@wrong(ex.unviewable, "You always find a shape")
def refused_is_the_flat_one(shape, stride):
    return (torch.empty(shape).numel(),)


@wrong(ex.unviewable, "You turn the shape round. For")
def refused_is_the_transpose(shape, stride):
    return tuple(reversed(shape))


@wrong(ex.unviewable, "You turn the shape round where")
def refused_is_the_transpose_of_two_chunks(shape, stride):
    x = torch.empty_strided(shape, stride)
    try:
        x.view(x.numel())
    except RuntimeError:
        return tuple(reversed(shape))
    return None


@wrong(ex.unviewable, "A dim of size 1 is no boundary")
def refused_across_ones(shape, stride):
    if math.prod(shape) == 0:
        return None
    for d in range(len(shape) - 1):
        if stride[d] / shape[d + 1] != stride[d + 1]:
            return (math.prod(shape),)
    return None


@wrong(ex.unviewable, "None where the last two dims merge")
def refused_at_the_end(shape, stride):
    dims = [d for d in range(len(shape)) if shape[d] != 1]
    if 0 in shape or len(dims) < 2:
        return None
    d, e = dims[-2:]
    return (math.prod(shape),) if stride[d] != shape[e] * stride[e] else None


@wrong(ex.unviewable, "None where the first two dims merge")
def refused_at_the_start(shape, stride):
    dims = [d for d in range(len(shape)) if shape[d] != 1]
    if 0 in shape or len(dims) < 2:
        return None
    d, e = dims[:2]
    return (math.prod(shape),) if stride[d] != shape[e] * stride[e] else None


@wrong(ex.unviewable, "x is a view of itself")
def refused_is_its_own(shape, stride):
    return torch.empty(shape).shape


@wrong(ex.unviewable, "makes every view of no elements")
def refused_without_elements(shape, stride):
    sizes = [n for n in shape if n != 1]
    steps = [s for n, s in zip(shape, stride, strict=True) if n != 1]
    for d in range(len(sizes) - 1):
        if steps[d] != sizes[d + 1] * steps[d + 1]:
            return [math.prod(shape)]
    return None


WRONG_NUMBER = "torch refuses that shape because it has another number of elements"


@unnamed(ex.unviewable, WRONG_NUMBER)
def refused_for_its_size(shape, stride):
    return (math.prod(shape) + 1,)


@unnamed(ex.unviewable, WRONG_NUMBER)
def refused_for_what_lies_between(shape, stride):
    span = sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) + 1
    return (span + math.prod(shape),) if ex.unviewable.reference(shape, stride) else None


@wrong(ex.unviewable, "the flat shape wherever x is not contiguous")
def refused_unless_new(shape, stride):
    return None if stride == torch.empty(shape).stride() else (math.prod(shape),)


@unnamed(ex.unviewable)
def refused_is_a_column(shape, stride):
    return (math.prod(shape), 1) if len(shape) == 2 else None


@unnamed(ex.unviewable)
def refused_if_expanded_too(shape, stride):
    return (-1,) if 0 in stride or ex.unviewable.reference(shape, stride) else None


@unnamed(ex.unviewable, ANOTHER_KIND)
def refused_with_two_unknowns(shape, stride):
    return (-1, -1)


@unnamed(ex.unviewable, ANOTHER_KIND)
def refused_is_a_number(shape, stride):
    return math.prod(shape)
