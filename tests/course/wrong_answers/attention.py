"""Wrong answers to the exercises of notebook 06."""

from stridekit import Layout
from stridekit.exercises import attention as ex
from stridekit.lessons.attention import matmul_copies
from tests.course.wrong_answers.collecting import ANOTHER_KIND, CHANGES, GENERAL, OUTSIDE, refused

refused(
    ex.head_layout,
    {
        "Your rows are H * D long": [
            "row = 3 * H * D => row, packing = H * D, '3HD'",
        ],
        "q, k and v of one head": ["row = 3 * H * D => row = D * 3"],
        "You read the packing from its end": [
            "head_layout(B, T, H, D, which, {'HD3': 'H3D', 'H3D': 'HD3', '3HD': '3HD'}[packing])"
        ],
        "You put k before q": ['"qkv".index(which) => "kqv".index(which)'],
        'Your offset is that of "H3D"': ["* between => * D"],
        "Those are the strides of a new tensor": ["(B, H, T, D), (H * T * D, T * D, D, 1), 0"],
        "You answer alike for all packings": ["head_layout(B, T, H, D, which, '3HD')"],
        GENERAL: ["head_layout(B, T, H, D, {'v': 'k', 'k': 'v'}.get(which, which), packing)"],
        ANOTHER_KIND: ["head_layout(B, T, H, D, which, packing)[:2]", "torch.empty(B, T, 3, H, D)"],
    },
)


CLONES = "matmul_clones(a, b)"
refused(
    ex.matmul_clones,
    {
        "You leave out that `@` expands the operands": [
            "given.expand(*batch, *given.shape[-2:]) => given"
        ],
        "You count each clone without its repetitions": ["x.nbytes => len(memset(x))"],
        "You expect a clone of every operand that is not contiguous": [
            lambda a, b: [0 if not Layout.of(x).why_not_view(-1) else x.nbytes for x in (a, b)]
        ],
        "You look at the last two dims": ["steps == needed => 1 in x.stride()[-2:]"],
        "in the wrong order": [lambda a, b: matmul_copies(a, b)[1::-1]],
        "You count elements": [
            lambda a, b: tuple(
                0 if x.is_contiguous() or x.mT.is_contiguous() else x.numel() for x in (a, b)
            )
        ],
        "Right wherever there is an element": [
            "steps == needed => x.reshape(-1, *x.shape[-2:]).data_ptr() == x.data_ptr()"
        ],
        "You compare the strides of dims of size 1": [
            "steps == needed => x.ndim == 3 or x.stride()[0] == x.shape[1] * x.stride()[1]"
        ],
        "You judge both operands together": [
            f"{CLONES} if min({CLONES}) else (0, 0)",
            f"tuple(x.nbytes for x in expanded(a, b)) if max({CLONES}) else (0, 0)",
        ],
        "You answer 1 for a clone": [f"tuple(min(n, 1) for n in {CLONES})"],
        "You answer for one operand alone": [f"({CLONES}[0], 0)", f"(0, {CLONES}[1])"],
        "You always clone both operands": ["(a.nbytes, b.nbytes)", "(a.numel(), b.numel())"],
        "You clone only operands that are repeated": [
            "steps == needed => 0 not in x.stride()[:-2]"
        ],
        ANOTHER_KIND: [f"[n > 0 for n in {CLONES}]", f"sum({CLONES})", f"(*{CLONES}, 0)"],
    },
)

refused(
    ex.merge_heads,
    {
        "Your tokens are the last dim": ["y.mT.flatten(1, 2)"],
        "Your tokens come before the batch": ["y.movedim(2, 0).flatten(2)"],
        "You merge the tokens and the features": ["y.flatten(-2)"],
        "You merge tokens, too": ["y.transpose(1, 2).flatten(1, 3)"],
        "Your sizes are not B, T and H * D": [
            "y.transpose(1, 2).reshape(*y.shape[:2], y.size(2) * y.size(3))"
        ],
        "`view` keeps the order of the dims": ["y.view(merged(y))"],
        "The values are right, the dtype is not": ["y.transpose(1, 2).flatten(2).float()"],
        "so your tokens mix": ["y.contiguous().view(y.size(0), y.size(2), y.size(1) * y.size(3))"],
        "one copy too many on this input": ["y.movedim(1, 2).flatten(2).contiguous()"],
        "a copy on every input": ["torch.stack(y.unbind(1), 2).flatten(2)"],
        "Which of your copies does nothing": [
            "torch.empty(merged(y), dtype=y.dtype).copy_(y.transpose(1, 2).flatten(2))"
        ],
        GENERAL: ["y.mT.flatten(2)"],
        OUTSIDE: [
            "torch.tensor(y.transpose(1, 2).flatten(2).tolist(), dtype=y.dtype).view(merged(y)).clone()"
        ],
        CHANGES: ["y.transpose_(1, 2).flatten(2)"],
    },
)


refused(
    ex.append,
    {
        "k is lost: the cache is as before": [
            "(cache[:, :, torch.tensor([t])].copy_(k), cache.narrow(2, 0, t + 1))[1]"
        ],
        "You count positions from 1": ["append(cache, k, 1 + t)"],
        "You write to a head. Positions": ["cache[:, :, t : t + 1] = k => cache[:, t] = k[:, 0]"],
        "You write to a head": ["cache[:, :, t : t + 1] = k => cache[:, t : t + 1] = k"],
        "You write to the first position": ["cache[:, :, t : t + 1] = k => cache[:, :, 0:1] = k"],
        "one position too many": ["return cache[:, :, : t + 1] => return cache[:, :, : t + 2]"],
        "You return the positions after k": [
            "return cache[:, :, : t + 1] => return cache.narrow(2, t + 1, cache.size(2) - t - 1)"
        ],
        "You return the last t + 1 positions": [
            "return cache[:, :, : t + 1] => return cache[:, :, -1 - t :]"
        ],
        "you filled new memory on the way": [
            "(cache.copy_(cache.select_scatter(k[:, :, 0], 2, t)), cache[:, :, : t + 1])[1]"
        ],
        "you return a copy of its first positions": [
            "append(cache, k, t).index_select(2, torch.arange(t + 1))"
        ],
        "The end of a slice is not part of it": ["append(cache, k, t).narrow(2, 0, t)"],
        GENERAL: [
            "append(cache.zero_(), k, t)",
            "(append(cache, k, t), cache.transpose_(0, 1))[0]",
        ],
        CHANGES: ["(append(cache, k, t), k.zero_())[0]"],
    },
)


BLOCKS = "blocks(pool, table)"
VIEW = "return pool.as_strided("
refused(
    ex.blocks,
    {
        "You take all blocks from the first to the last": [
            "pool[table[0] : table[-1] + 1] if sorted(table) == table and table else pool[table]"
        ],
        "You take as many neighbours": ["pool.narrow(0, 0, len(table))"],
        "You use a step of 0": [
            lambda pool, table: (
                pool[table[0] : table[-1] + 1 : table[1] - table[0]]
                if len(table) > 1
                and list(range(table[0], table[-1] + 1, table[1] - table[0])) == table
                else pool[table]
            )
        ],
        "always in new memory": [
            "torch.cat([pool[k : k + 1] for k in table]) if table else pool[:0]"
        ],
        "You make a view of neighbouring blocks alone": [
            "pool[table[0] : table[-1] + 1] "
            "if table and table == list(range(table[0], table[-1] + 1)) else pool[table]"
        ],
        "Right wherever two blocks differ": [
            f"{VIEW} => return pool[table[0] : table[-1] + 1 : step] if table else pool.as_strided("
        ],
        "You gather where one block is repeated": [
            "steps, default=0) => steps, default=0) - (0 in steps)"
        ],
        "You gather where the table has one block": [
            f"pool[table] if len(table) < 2 else {BLOCKS}"
        ],
        "Where the table goes back, your blocks": [
            "blocks(pool, table[::-1] if table[::-1] == sorted(table) else table)"
        ],
        ANOTHER_KIND: ["[pool[k] for k in table]"],
        "That reads pool's own memory": [
            f"{VIEW} => return torch.from_numpy(pool.numpy()[table[0] : table[-1] + 1 : step]) if step "
            "else pool.as_strided("
        ],
    },
)

GROUP = "q.size(1) // k.size(1)"
refused(
    ex.group_scores,
    {
        "You multiply by k itself": ["rows @ k.mT => rows @ k"],
        "You multiply H heads by G groups": ["torch.matmul(q, k)"],
        "You divide the number of the head by G": [
            "torch.cat([q[:, h, None] @ k[:, h // k.size(1), None].mT for h in range(q.size(1))], 1)"
        ],
        "The values are right, the dtype is not": ["torch.zeros(()) + group_scores(q, k).float()"],
        "You add up the groups": ["torch.einsum('bhtd,bgsd->bhts', q, k)"],
        "written out for every head of q": [
            f"torch.einsum('bhtd,bhsd->bhts', q, k.repeat_interleave({GROUP}, 1))"
        ],
        "`expand` is free until": [
            "(q.unflatten(1, (k.size(1), -1)) @ k[:, :, None].mT).reshape(*q.shape[:3], k.size(2))"
        ],
        "Your heads meet the groups in turn": [
            "torch.cat([q[:, h : h + k.size(1)] @ k.mT for h in range(0, q.size(1), k.size(1))], 1)"
        ],
        "all of k is copied before the product": ["group_scores(q, k.clone())"],
        GENERAL: ["group_scores(q.double(), k.double())"],
        OUTSIDE: [f"torch.from_numpy(q.numpy() @ k.numpy().repeat({GROUP}, 1).swapaxes(2, 3))"],
    },
)

refused(
    ex.head_layout,
    {
        "Those are the strides of a new tensor": [
            lambda B, T, H, D, which, packing: (
                (B, H, T, D),
                (H * T * D, T * D, D, 1),
                "qkv".index(which) * H * D,
            ),
        ],
    },
)
