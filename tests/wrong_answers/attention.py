"""Wrong answers to the exercises of notebook 06."""

from itertools import pairwise

import torch

from stridekit import Layout, memset
from stridekit.exercises import attention as ex
from stridekit.lessons.attention import matmul_copies, packed_heads
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, formulas, general, unnamed, wrong

STOPS = "Your function stops on this input."
OUTSIDE = "Your line takes memory"

# Mistakes that the exercises know, made in a way of one's own -----------------------------------


@wrong(ex.head_layout, "cut, tokens before heads")
def heads_that_are_still_tokens(B, T, H, D, which, packing):
    sizes = {"3": 3, "H": H, "D": D}
    row = Layout((B, T, 3 * H * D)).unflatten(2, [sizes[letter] for letter in packing])
    x = row.select(2 + packing.index("3"), "qkv".index(which))
    return x.shape, x.stride, x.storage_offset


@wrong(ex.head_layout, "Those are the strides of a tensor that was made")
def heads_of_their_own(B, T, H, D, which, packing):
    return (B, H, T, D), (H * T * D, T * D, D, 1), 0


@wrong(ex.head_layout, "as if each token had q, k or v alone")
def heads_of_three_projections(B, T, H, D, which, packing):
    x = Layout((3, B, T, H, D))["qkv".index(which)].transpose(1, 2)
    unit = ex.head_layout.reference(B, T, H, D, "k", packing)[2]
    steps = ex.head_layout.reference(B, T, H, D, "k", packing)[1]
    return x.shape, (x.stride[0], steps[1], x.stride[2], steps[3]), "qkv".index(which) * unit


@wrong(ex.head_layout, "You answer alike for all packings")
def heads_without_a_packing(B, T, H, D, which, packing):
    x = packed_heads(B, T, H, D)["qkv".index(which)]
    return x.shape, x.stride, x.storage_offset


def expanded(a, b):
    """The two as `@` expands them."""
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return [x.expand(*batch, *x.shape[-2:]) for x in (a, b)]


def merges(x):
    """True if the batch dims of x are one dim of a view."""
    return not Layout.of(x).why_not_view(x.shape[:-2].numel(), *x.shape[-2:])


@wrong(ex.matmul_clones, "You forget that the operands are expanded first")
def clones_as_they_come(a, b):
    return [0 if merges(x) else x.nbytes for x in (a, b)]


@wrong(ex.matmul_clones, "You ask dims of size 1")
def clones_by_plain_pairs(a, b):
    def all_merge(x):
        return all(x.stride(i) == x.size(i + 1) * x.stride(i + 1) for i in range(x.dim() - 3))

    return [0 if all_merge(x) else x.nbytes for x in (a, b)]


@wrong(ex.matmul_clones, "You count each clone without its repetitions")
def clones_by_memory_sets(a, b):
    return [0 if merges(x) else len(memset(x)) for x in expanded(a, b)]


@wrong(ex.matmul_clones, "You take what is not contiguous")
def clones_what_is_no_single_row(a, b):
    return [0 if not Layout.of(x).why_not_view(-1) else x.nbytes for x in (a, b)]


@wrong(ex.matmul_clones, "You look at the last two dims")
def clones_for_blas(a, b):
    return [0 if 1 in x.stride()[-2:] else x.nbytes for x in expanded(a, b)]


@wrong(ex.matmul_clones, "the wrong way round")
def clones_turned(a, b):
    return tuple(reversed(matmul_copies(a, b)[:2]))


@wrong(ex.merge_heads, "reshape is no transpose")
def merged_in_reading_order(y):
    B, H, T, D = y.shape
    return y.contiguous().view(B, T, H * D)


@wrong(ex.merge_heads, "with a copy that nobody needs")
def merged_and_made_contiguous(y):
    return y.movedim(1, 2).flatten(2).contiguous()


@wrong(ex.merge_heads, "A copy on every input")
def merged_by_stacking(y):
    return torch.stack(y.unbind(1), 2).flatten(2)


@wrong(ex.merge_heads, "A copy on every input")
def merged_by_clone(y):
    return y.swapaxes(1, 2).clone(memory_format=torch.contiguous_format).flatten(2)


@wrong(ex.merge_heads, "Twice the bytes where a copy is needed")
def merged_into_new_memory(y):
    B, H, T, D = y.shape
    return torch.empty(B, T, H * D, dtype=y.dtype).copy_(y.transpose(1, 2).flatten(2))


@wrong(ex.append, "k is lost: the cache is as before")
def appended_to_what_was_gathered(cache, k, t):
    cache[:, :, torch.tensor([t])].copy_(k)
    return cache.narrow(2, 0, t + 1)


@wrong(ex.append, "new memory was filled on the way")
def appended_by_writing_all(cache, k, t):
    cache.copy_(cache.select_scatter(k[:, :, 0], 2, t))
    return cache[:, :, : t + 1]


@wrong(ex.append, "In some layouts k is lost")
def appended_to_rows(cache, k, t):
    B, H, most, D = cache.shape
    rows = cache.reshape(B * H, most, D)
    rows[:, t] = k.reshape(B * H, D)
    return cache[:, :, : t + 1]


@wrong(ex.append, "What you return is a copy")
def appended_and_gathered(cache, k, t):
    cache[:, :, t : t + 1] = k
    return cache.index_select(2, torch.arange(t + 1))


@wrong(ex.append, "The end of a slice is not part of it")
def appended_and_left_out(cache, k, t):
    cache.narrow(2, t, 1).copy_(k)
    return cache.narrow(2, 0, t)


def step_of(table):
    """The one step of a table; None if there are several."""
    steps = {after - before for before, after in pairwise(table)}
    return min(steps, default=0) if len(steps) < 2 else None


@wrong(ex.blocks, "always in new memory")
def blocks_stacked(pool, table):
    return torch.cat([pool[k : k + 1] for k in table]) if table else pool[:0]


@wrong(ex.blocks, "You make a view of neighbouring blocks alone")
def blocks_of_a_range(pool, table):
    if table and table == list(range(table[0], table[-1] + 1)):
        return pool[table[0] : table[-1] + 1]
    return pool[table]


@wrong(ex.blocks, "Right wherever two blocks differ")
def blocks_by_slices(pool, table):
    step = step_of(table)
    if step is None or step < 0 or not table:
        return pool[table]
    return pool[table[0] : table[-1] + 1 : step]


@wrong(ex.blocks, "You gather where one block is repeated")
def blocks_by_slices_above_0(pool, table):
    step = step_of(table)
    if step is None or step < 0 or not table or (step == 0 and len(table) > 1):
        return pool[table]
    return pool[table[0] : table[-1] + 1 : step or 1]


@wrong(ex.blocks, "You gather where the table has one block")
def blocks_of_one_gathered(pool, table):
    return pool[table] if len(table) < 2 else ex.blocks.reference(pool, table)


@wrong(ex.blocks, "You gather where the table has one block")
def blocks_of_one_gathered_from_the_storage(pool, table):
    step = step_of(table)
    if len(table) < 2 or step is None or step < 0:
        return pool[table]
    strides = step * pool.stride(0), *pool.stride()[1:]
    return pool.as_strided((len(table), *pool.shape[1:]), strides, table[0] * pool.stride(0))


@wrong(ex.blocks, "Where the table goes back, your blocks")
def blocks_in_any_direction(pool, table):
    step = step_of(table)
    if step is None or step >= 0:
        return ex.blocks.reference(pool, table)
    return pool[table[-1] : table[0] + 1 : -step]


@wrong(ex.group_scores, "written out for every head of q")
def scores_by_einsum_of_repeated(q, k):
    return torch.einsum("bhtd,bhsd->bhts", q, k.repeat_interleave(q.size(1) // k.size(1), 1))


@wrong(ex.group_scores, "expand is free, up to where")
def scores_of_five_dims(q, k):
    B, H, T, _ = q.shape
    groups = q.unflatten(1, (k.size(1), -1)) @ k[:, :, None].mT
    return groups.reshape(B, H, T, k.size(2))


@wrong(ex.group_scores, "Your heads meet the groups in turn")
def scores_of_tiled_groups(q, k):
    return torch.cat([q[:, h : h + k.size(1)] @ k.mT for h in range(0, q.size(1), k.size(1))], 1)


@wrong(ex.group_scores, "all of k is copied before the product")
def scores_of_a_clone(q, k):
    return ex.group_scores.reference(q, k.clone())


# What the exercises do not know -------------------------------------------------------------------

general(
    ex.head_layout,
    "head_layout(B, T, H, D, {'q': 'k', 'k': 'q'}.get(which, which), packing)",
    "((B, H, T, D), (T * H * D, D, H * D, 1), 0)",
)
general(
    ex.head_layout,
    "head_layout(B, T, H, D, which, packing)[:2]",
    "torch.empty(B, T, 3, H, D)",
    told=ANOTHER_KIND,
)

CLONES = "matmul_clones(a, b)"
general(ex.matmul_clones, f"[n + (a @ b).nbytes for n in {CLONES}]")
general(
    ex.matmul_clones,
    f"[n > 0 for n in {CLONES}]",
    f"sum({CLONES})",
    f"(*{CLONES}, 0)",
    told=ANOTHER_KIND,
)

general(ex.merge_heads, "y.flatten(2)", "y.mT.flatten(1, 2)", "merge_heads(y).mT")
general(ex.merge_heads, "merge_heads(y).tolist()", told=ANOTHER_KIND)
general(
    ex.merge_heads,
    "torch.tensor(y.transpose(1, 2).flatten(2).tolist(), dtype=y.dtype).view(merged(y)).clone()",
    told=OUTSIDE,
)
general(ex.merge_heads, "y.transpose_(1, 2).flatten(2)", told=CHANGES)


@unnamed(ex.append)
def append_and_clear_the_rest(cache, k, t):
    cache.zero_()
    return ex.append.reference(cache, k, t)


@unnamed(ex.append)
def append_and_turn_the_cache(cache, k, t):
    kept = ex.append.reference(cache, k, t)
    cache.transpose_(0, 1)
    return kept


@unnamed(ex.append, CHANGES)
def append_and_clear_k(cache, k, t):
    kept = ex.append.reference(cache, k, t)
    k.zero_()
    return kept


@unnamed(ex.append)
def append_and_free(cache, k, t):
    cache.untyped_storage().resize_(0)
    return torch.ones(3)


general(ex.blocks, "pool", "pool[:0]")
general(ex.blocks, "[pool[k] for k in table]", told=ANOTHER_KIND)


@unnamed(ex.blocks, "That reads pool's own memory")
def blocks_through_numpy(pool, table):
    step = step_of(table)
    if not step or step < 0:
        return ex.blocks.reference(pool, table)
    return torch.from_numpy(pool.numpy()[table[0] : table[-1] + 1 : step])


general(ex.group_scores, "group_scores(q.double(), k.double())", "group_scores(q, k) + 1")
general(
    ex.group_scores,
    "torch.nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)",
)


@unnamed(ex.group_scores, OUTSIDE)
def scores_by_numpy(q, k):
    repeated = k.numpy().repeat(q.size(1) // k.size(1), 1)
    return torch.from_numpy(q.numpy() @ repeated.swapaxes(2, 3))


# Formulas of which one combination alone is right --------------------------------------------------

formulas(
    ex.head_layout,
    {
        "(H * D, D, 1)": [
            f"({between}, {head}, {feature})"
            for between in ("1", "D", "H * D", "T * H * D")
            for head in ("1", "D", "3 * D", "T * D")
            for feature in ("1", "3")
            if (between, head, feature) != ("H * D", "D", "1")
        ]
    },
)
formulas(
    ex.matmul_clones,
    {
        "steps == needed": [
            f"{one} {join} {other}"
            for one in ("given.is_contiguous()", "x.stride(-1) == 1", "len(dims) < 3")
            for other in (
                "steps == needed",
                "x.is_contiguous()",
                "0 in steps",
                "sorted(steps) == steps",
            )
            for join in ("and", "or")
        ],
    },
)
COPY = ".clone(memory_format=torch.contiguous_format)"
formulas(
    ex.merge_heads,
    {
        "y.transpose(1, 2)": [
            f"y{first}{turn}"
            for first in ("", ".contiguous()", ".clone()", COPY)
            for turn in ("", ".transpose(1, 2)", ".transpose(0, 1)", ".mT")
            if (first, turn) != ("", ".transpose(1, 2)")
        ],
        ".flatten(2)": [
            ".flatten(1, 2)",
            ".reshape(merged(y)).contiguous()",
            ".contiguous().flatten(2)",
        ],
    },
)
formulas(
    ex.append,
    {
        "cache[:, :, t : t + 1] = k": [
            f"cache[:, :, {start}:{stop}] = k"
            for start in ("t - 1", "t", "t + 1", "0", "-1", "")
            for stop in ("t", "t + 1", "t + 2", "")
            if (start, stop) != ("t", "t + 1")
        ]
    },
)
formulas(
    ex.blocks,
    {
        "len(steps) > 1": [
            "table != sorted(table)",
            "len({*table}) < len(table)",
            "table != list(range(min(table, default=0), max(table, default=0) + 1))",
        ],
        "step < 0": ["step <= 0", "step > 1"],
    },
)
formulas(
    ex.group_scores,
    {
        "(B, G, H // G * T, D)": [
            "(B, H // G * T, G, D)",
            "(G, B, H // G * T, D)",
            "(B, G, D, H // G * T)",
        ],
        ".view(B, H, T, S)": [".view(B, T, H, S)", ".reshape(B, T, H, S).transpose(1, 2)"],
    },
)
