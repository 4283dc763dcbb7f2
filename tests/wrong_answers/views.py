"""Wrong answers to the exercises of notebook 02."""

import io
from itertools import accumulate, pairwise
from operator import mul

import numpy as np
import torch

from stridekit import has_internal_overlap, shares_memory
from stridekit.exercises import views as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, formulas, general, unnamed, wrong

STOPS = "Your function stops on this input."

# Mistakes that the exercises know, made in a way of one's own -----------------------------------


@wrong(ex.memset_of, "One byte too many")
def memset_as_some_texts_define_it(t):
    start = t.data_ptr() - t.untyped_storage().data_ptr() if t.numel() else 0
    return {start + b for b in range(t.itemsize * t.numel() + 1)}


@wrong(ex.share_bytes, "You compare where the two begin")
def share_by_data_ptr(a, b):
    return torch.as_tensor(
        a.copy() if isinstance(a, np.ndarray) and min(a.strides) < 0 else a
    ).data_ptr() == (b.data_ptr() if torch.is_tensor(b) else b.ctypes.data)


@wrong(ex.share_bytes, "whether the two are on one storage")
def share_by_torchs_own_test(a, b):
    return torch._C._overlaps(torch.as_tensor(a), torch.as_tensor(b))


@wrong(ex.share_bytes, "You compare values")
def share_if_equal(a, b):
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


@wrong(ex.keep_row, "That memory belongs to a NumPy array")
def keep_by_numpy(big, i):
    return torch.from_numpy(big.numpy().copy()[i])


@wrong(ex.first_copy, "You ask autograd")
def copy_by_base(x, steps):
    root = x if x._base is None else x._base
    for k, step in enumerate(steps):
        x = step(x)
        if x is not root and x._base is not root:
            return k
    return len(steps)


@wrong(ex.first_copy, "You say the same of every chain")
def copy_is_always_the_last(x, steps):
    return max(len(steps) - 1, 0)


@wrong(ex.share_bytes, "You count from the start of a storage")
def share_by_sets_of_copied_arrays(a, b):
    a, b = (torch.from_numpy(it.copy()) if isinstance(it, np.ndarray) else it for it in (a, b))
    return bool(ex.memset_of.reference(a) & ex.memset_of.reference(b))


@wrong(ex.share_bytes, "The offset counts twice")
def share_by_addresses_that_count_the_offset_twice(a, b):
    def found(t):
        first = t.data_ptr() + t.storage_offset() * t.itemsize
        steps = [s * t.itemsize for s in t.stride()]
        indices = np.ndindex(*t.shape)
        return {first + sum(map(mul, i, steps)) + k for i in indices for k in range(t.itemsize)}

    return not found(a).isdisjoint(found(b))


@wrong(ex.share_bytes, "Right wherever both are tensors")
def share_tensors_alone(a, b):
    pointers = {t.data_ptr() for t in (a, b)}  # which arrays do not have
    return bool(pointers) and shares_memory(a, b)


@wrong(ex.share_bytes, "Right until NumPy meets bfloat16")
def share_by_numpy(a, b):
    return np.shares_memory(*(it if isinstance(it, np.ndarray) else it.numpy() for it in (a, b)))


@wrong(ex.permute_layout, "You change the lists in place")
def permute_while_reading(shape, stride, dims):
    shape, stride = list(shape), list(stride)
    for k, d in enumerate(dims):
        shape[k], stride[k] = shape[d], stride[d]
    return shape, stride


@wrong(ex.keep_row, "Your row is a view again")
def keep_from_new_rows(big, i):
    return torch.stack(list(big))[i]


@wrong(ex.keep_row, "You copy only a row that is not contiguous")
def keep_if_contiguous(big, i):
    return big[i] if big[i].is_contiguous() else big[i].clone()


@wrong(ex.first_copy, "You stop before the last step")
def copy_among_all_results_but_the_last(x, steps):
    made = list(accumulate(steps[:-1], lambda t, step: step(t), initial=x))
    return next(
        (k for k, (a, b) in enumerate(pairwise(made)) if not shares_memory(a, b)), len(steps)
    )


@wrong(ex.first_copy, "You find no copy in any chain")
def copy_compared_with_itself(x, steps):
    for k, step in enumerate(steps):
        y = x = step(x)
        if not shares_memory(y, x):
            return k
    return len(steps)


@wrong(ex.first_copy, "You look at the first step alone")
def copy_with_a_return_in_the_loop(x, steps):
    for k, step in enumerate(steps):
        y = step(x)
        return len(steps) if shares_memory(y, x) else k
    return 0


@wrong(ex.bump_first, "You copy e in some cases only")
def bump_where_rows_are_shared(e):
    if has_internal_overlap(e):
        e = e.clone()
    e[0] += 1
    return e


@wrong(ex.bump_first, "The numbers are right, the dtype is not")
def bump_by_a_mask(e):
    mask = torch.zeros(e.shape)
    mask[0] = 1
    return e + mask


# What the exercises do not know -------------------------------------------------------------------

general(ex.memset_of, "set()")
general(ex.memset_of, "t.numel() * t.itemsize", told=ANOTHER_KIND)
general(
    ex.memset_of,
    instead={
        "{e * item + k for e in elements for k in range(item)}": [
            "{(e * item, (e + 1) * item) for e in elements} or {(0, 0)}"
        ]
    },
    told=ANOTHER_KIND,
)

general(
    ex.share_bytes,
    "bool(np.size(a) and np.size(b)) and share_bytes(a, b) != (a.ndim == b.ndim == 2)",
)
general(
    ex.share_bytes,
    instead={
        "not memsets[0].isdisjoint(memsets[1])": [
            "len(memsets[0] & memsets[1])",
            "memsets[0] & memsets[1]",
        ]
    },
    told=ANOTHER_KIND,
)


@unnamed(ex.share_bytes, CHANGES)
def share_by_writing(a, b):
    a.fill(1) if isinstance(a, np.ndarray) else a.fill_(1)
    return bool((np.asarray(b) == 1).any())


general(
    ex.permute_layout,
    instead={
        "tuple(stride[d] for d in dims)": [
            "[stride[d] * 4 for d in dims]",
            "[stride[d] if shape[d] != 1 else 1 for d in dims]",
        ]
    },
)
general(
    ex.permute_layout,
    "tuple(shape[d] for d in dims) if len(dims) != 2 else [shape[dims[0]], shape[dims[1]], 0]",
    told=ANOTHER_KIND,
)


@unnamed(ex.keep_row)
def keep_saved(big, i):
    buffer = io.BytesIO()
    torch.save(big[i], buffer)
    buffer.seek(0)
    return torch.load(buffer)


general(
    ex.keep_row,
    "big.clone()",
    "big[i - 1].clone()",
    "big.new_empty(big.size(1) + 1)[:-1].copy_(big[i])",
)
general(ex.keep_row, "big[i].tolist()", told=ANOTHER_KIND)


@unnamed(ex.keep_row, STOPS)
def keep_by_shrinking_the_storage(big, i):
    row = big[i].clone()
    big.untyped_storage().resize_(row.nbytes)
    return row


general(ex.first_copy, "len(steps) + 1")
general(
    ex.first_copy,
    instead={"not shares_memory(y, x)": ["not bool((y.fill_(77), x == 77)[1].any())"]},
    told="Your function changes `x` itself",
)
general(
    ex.first_copy,
    instead={
        "step in enumerate(steps)": [
            "step in enumerate(iter(lambda: steps.pop(0) if steps else 0, 0))"
        ]
    },
    told="Your function changes `steps` itself",
)
general(ex.first_copy, "[*steps, 'none'][first_copy(x, steps)]", told=ANOTHER_KIND)

general(
    ex.bump_first,
    "e",
    instead={"y[0] += 1": ["y[-1] += 1", "y[0] += 2"]},
)
general(ex.bump_first, "bump_first(e).tolist()", told=ANOTHER_KIND)
general(
    ex.bump_first,
    instead={"e.clone()": ["torch.empty_strided(e.shape, e.stride(), dtype=e.dtype).copy_(e)"]},
    told=STOPS,
)

# Formulas of which one combination alone is right --------------------------------------------------

UNITS = ["0", "1", "4", "item"]
FROM_THE_FIRST = "(e - t.storage_offset())"
formulas(
    ex.memset_of,
    {
        "t.stride()": ["t.shape"],
        "range(size)": ["range(size - 1)"],
        "e * item + k": [
            f"t.storage_offset() * {offset} + {FROM_THE_FIRST} * {step} + k"
            for offset in UNITS
            for step in UNITS[1:]
            if (offset, step) != ("item", "item")
        ],
        "k in range(item)": [
            f"k in range({width} + {extra})"
            for width in UNITS[1:]
            for extra in (-1, 0, 1)
            if (width, extra) != ("item", 0)
        ],
    },
)

STAND_INS = [
    "np.asarray(a).ctypes.data == np.asarray(b).ctypes.data",
    "np.may_share_memory(np.asarray(a), np.asarray(b))",
    "memsets[0] <= memsets[1]",
    "memsets[0] >= memsets[1]",
    "memsets[0] == memsets[1]",
    "True",
    "False",
    "np.size(a) and np.size(b)",
    "np.array_equal(np.asarray(a), np.asarray(b))",
]
formulas(
    ex.share_bytes,
    {
        "not memsets[0].isdisjoint(memsets[1])": [
            f"bool(({one}) {join} ({other}))"
            for k, one in enumerate(STAND_INS)
            for other in STAND_INS[k:]
            for join in ("and", "or")
        ]
    },
)

OTHER_ORDERS = [
    "scattered({}, dims)",
    "{}",
    "{}[::-1]",
    "[*{0}[1:], *{0}[:1]]",
    "sorted({}, reverse=True)",
]
formulas(
    ex.permute_layout,
    {
        f"tuple({values}[d] for d in dims)": [order.format(values) for order in OTHER_ORDERS]
        for values in ("shape", "stride")
    },
)

CUTS = ["", "[i]", "[i : i + 1]", "[:, i % max(big.size(1), 1)]"]
COPIES = [
    ".clone()", ".contiguous()", ".detach()", "[:]", ".reshape(-1)",
    ".to(big.dtype)", ".ravel()", "",
]  # fmt: skip
formulas(
    ex.keep_row,
    {
        "big[i].clone()": [
            f"big{before}{cut}{after}"
            for before in COPIES
            for cut in CUTS
            for after in COPIES
            if (cut, after) != ("[i]", ".clone()")  # right, unless there is no row left to cut
        ]
    },
)

formulas(
    ex.bump_first,
    {
        "e.clone()": [
            "e.contiguous()",
            "e.detach()",
            "e.reshape(e.shape)",
            "e.reshape(-1).view(e.shape)",
            "e.to(e.dtype)",
        ]
    },
)
