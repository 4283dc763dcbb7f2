"""E2 and E4: the operands that a product clones, and scores of grouped heads without a clone."""

from typing import Any

import torch
from torch import Tensor

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import as_ints, type_in_words
from stridekit.exercises.readers.copies import logging_copies, read_with_copies
from stridekit.exercises.running import Arguments, Outcome, Unusable
from stridekit.exercises.watch import Means
from stridekit.tensors.sharing import memset  # noqa: F401 (for mistakes)


def read_clones(answer: Any, args: Arguments) -> Outcome:
    """Read the bytes that are cloned of a and of b."""
    wanted = "a pair of ints, the bytes of a and those of b,"
    clones = as_ints(answer, wanted)
    if len(clones) != 2:
        raise Unusable(f"{type_in_words(answer)}, where {wanted} is asked for")
    of_a, of_b = clones
    return Outcome({"a": of_a, "b": of_b}, f"{of_a} bytes of a, {of_b} bytes of b")


PACKED = "q, k, v = torch.zeros(2, 5, 3, 3, 4).permute(2, 0, 3, 1, 4)"


@exercise(
    title="which operand of a product is cloned",
    read=read_clones,
    means=Means(whole=("matmul_copies",)),
    cases=[
        "a = torch.zeros(2, 3, 5, 4); b = torch.zeros(2, 3, 5, 4).mT",
        f"{PACKED}; a, b = q, k.mT",
        f"{PACKED}; a, b = q[:1], k[:1].mT",
        f"{PACKED}; a, b = q.contiguous(), k.mT",
        f"{PACKED}; a, b = torch.zeros(2, 3, 5, 5), v",
        "a = torch.zeros(2, 3, 1, 4); b = torch.zeros(2, 3, 9, 4)[:, :, :5].mT  # a cache",
        "a = torch.zeros(2, 3, 1, 4); b = torch.zeros(2, 9, 3, 4)[:, :5].transpose(1, 2).mT",
        "a = torch.zeros(2, 3, 5, 8)[..., ::2]; b = torch.zeros(2, 3, 4, 14)[..., 1::2]",
        "a = torch.zeros(2, 6, 5, 4)[:, ::2]; b = torch.zeros(4, 3, 4, 7)[::2]",
        "a = torch.zeros(2, 6, 5, 4)[:, 3:]; b = torch.zeros(2, 3, 5, 4)[:, :, 1:].mT",
        "a = torch.zeros(2, 3, 5, 4); b = torch.zeros(1, 3, 4, 6)",
        "a = torch.zeros(2, 3, 5, 4); b = torch.zeros(3, 4, 6)",
        "a = torch.zeros(1, 3, 5, 4); b = torch.zeros(3, 2, 4, 6).transpose(0, 1)",
        "a = torch.zeros(2, 3, 5, 4); b = torch.zeros(2, 1, 4, 6)",
        "a = torch.zeros(2, 3, 5, 4); b = torch.zeros(1, 1, 4, 6)",
        "a = torch.zeros(2, 1, 5, 4).expand(2, 3, 5, 4); b = torch.zeros(4, 6).expand(2, 3, 4, 6)",
        "a = torch.zeros(5, 1, 4); b = torch.zeros(4, 5, 6).transpose(0, 1)",
        "a = torch.zeros(1, 2, 4); b = torch.zeros(6, 4, 5)[::2]",
        "a = torch.zeros(3, 2, 5, 4).transpose(0, 1); b = torch.zeros(2, 4, 3, 6).transpose(1, 2)",
        "a = torch.zeros(2, 2, 4, 5, 8); b = torch.zeros(2, 2, 1, 8, 6)  # groups of heads",
        "a = torch.zeros(1, 1, 4, 5, 8); b = torch.zeros(1, 1, 1, 8, 6)",
        "a = torch.zeros(2, 9, 2, 4, 8).permute(0, 2, 3, 1, 4); b = torch.zeros(2, 2, 4, 8, 6)",
        "a = torch.zeros(4, 2, 3, 5, 4)[::2]; b = torch.zeros(2, 2, 6, 4, 5)[:, :, ::2]",
        "a = torch.zeros(2, 1, 3, 5, 4); b = torch.zeros(3, 2, 4, 5).transpose(0, 1).unsqueeze(1)",
        "a = torch.zeros(1, 2, 8, 1, 3); b = torch.zeros(1, 2, 10, 3).unfold(2, 3, 1)  # windows",
        f"{PACKED}; a, b = q.double(), torch.zeros(3, 2, 5, 4).double().transpose(0, 1).mT",
        f"{PACKED}; a, b = q.bfloat16().contiguous()[:, :, ::2], k.bfloat16().mT",
        "a = torch.zeros(3, 5, 2, 3).permute(2, 0, 1, 3); b = torch.zeros(3, 2, 7, "
        "3).transpose(0, 1).mT",
        f"{PACKED}; a, b = q[:, :1], k[:, 1:2].mT",
        f"{PACKED}; a, b = q[:, :, :0], k.mT",
    ],
    hints=[
        "Before `@` multiplies, it turns each operand into one batch of matrices: all dims but the "
        "last two become one. The matrices themselves may lie in any way.",
        "First `@` expands each operand to the common batch dims, with strides of 0. Then these "
        "dims have to merge: an outer stride has to be the size of the next dim times its stride.",
        "If they do not merge, `@` writes out all of the expanded operand: `x.nbytes` after "
        "`expand`. Leave dims of size 1 out of the comparison.",
    ],
    otherwise=(
        "Expand one operand to the common batch dims, and look at these dims alone. If two "
        "neighbours do not merge, all elements of the expanded operand are cloned."
    ),
    takeaway="A product takes an operand without a clone if its batch dims merge.",
)
def matmul_clones(a: torch.Tensor, b: torch.Tensor) -> tuple[int, int]:
    """The bytes that `a @ b` clones of each operand before it multiplies, on the CPU.

    Not allowed: stridekit's `matmul_copies`, which does the whole task.

    a, b    tensors of three dims or more without grad, perhaps sliced, permuted or expanded.
            Their batch dims, all but the last two, broadcast
    return  two ints: the bytes of the clone of a, and those of the clone of b; 0 if `@` takes
            the operand as it lies. The clones are those in a log of torch's operations
    """
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    clones = []
    for given in (a, b):
        x = given.expand(*batch, *given.shape[-2:])
        dims = [(n, s) for n, s in zip(x.shape[:-2], x.stride()[:-2], strict=True) if n != 1]
        steps, needed = [s for _, s in dims[:-1]], [n * s for n, s in dims[1:]]
        clones.append(0 if steps == needed else x.nbytes)
    return clones[0], clones[1]


def expanded(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])


LEAST = (
    "You count each clone without its repetitions. `@` expands the operand before it clones it, "
    "so it writes every repetition."
)

SIZES_OF_1 = (
    "You compare the strides of dims of size 1. No index steps by them, so `@` ignores them."
)
ELEMENTS = "You count elements. The task asks for bytes."

matmul_clones.slots["steps == needed"] = {
    "all(map(int.__ge__, steps, needed))": (
        "You let the outer stride be larger. Two dims merge only if the outer stride is exactly the "
        "size of the inner dim times its stride."
    ),
    "all(s > t for s, (_, t) in zip(steps, dims[1:]))": (
        "You ask for falling strides. Two dims merge only if the outer stride is exactly the size "
        "of the inner dim times its stride."
    ),
}
matmul_clones.slots["[n * s for n, s in dims[1:]]"] = {
    "[n for n, _ in dims[1:]]": (
        "You compare the outer stride with the size of the inner dim. Its stride counts as well."
    ),
    "[s for _, s in dims[1:]]": (
        "You compare the outer stride with the inner stride. The size of the inner dim counts as "
        "well."
    ),
}
matmul_clones.slots[" if n != 1"] = {
    "": SIZES_OF_1,
}
matmul_clones.slots["given.expand(*batch, *given.shape[-2:])"] = {
    "given": (
        "You leave out that `@` expands the operands first. A repeated batch dim has stride 0, and "
        "0 merges with few strides."
    ),
}
matmul_clones.slots["x.nbytes"] = {
    "given.nbytes": LEAST,
    "x.numel()": ELEMENTS,
    "1": "You answer 1 for a clone. The task asks for its bytes.",
    "4 * x.numel()": (
        "You take 4 bytes for every element. float64 has 8 and bfloat16 has 2: use `x.itemsize`."
    ),
}
matmul_clones.slots["clones[0], clones[1]"] = {
    "clones[1], clones[0]": "The right numbers in the wrong order: the bytes of a come first.",
    "sum(clones), 0": "You add the bytes of both operands. The task asks for two numbers.",
    ("clones[0], 0", "0, clones[1]"): (
        "You answer for one operand alone. Judge a and b in the same way."
    ),
}
matmul_clones.only["a.numel() == 0 or b.numel() == 0"] = shared.MINUS_ONE
matmul_clones.wrong |= {
    ("x.nbytes => x[..., 0, 0].nbytes", "x.nbytes => x.untyped_storage().nbytes()"): (
        "You name the right operand, but not its bytes. A clone has all elements of the expanded "
        "operand, and nothing else."
    ),
    "x.nbytes => len(memset(x))": LEAST,
    "tuple(0 if x.is_contiguous() or x.mT.is_contiguous() else x.numel() for x in (a, b))": ELEMENTS,
    "steps == needed => x.ndim < 4 or x.stride(0) == x.size(1) * x.stride(1)": SIZES_OF_1,
    (
        "clones[0], clones[1] => max(clones), max(clones)",
        "tuple(x.nbytes for x in expanded(a, b)) if any(matmul_clones(a, b)) else (0, 0)",
        "matmul_clones(a, b) if all(matmul_clones(a, b)) else (0, 0)",
    ): (
        "You judge both operands together. `@` judges each by itself: next to a contiguous q, it "
        "clones only k."
    ),
    (
        "steps == needed => x.is_contiguous()",
        "steps == needed => x.is_contiguous() or x.mT.is_contiguous()",
        "steps == needed => given.is_contiguous()",
        "tuple(0 if x.is_contiguous() else x.nbytes for x in (a, b))",
    ): (
        "You expect a clone of every operand that is not contiguous. The last two dims may lie in "
        "any way: `k.mT` is free. Only the dims before them have to merge."
    ),
    (
        "steps == needed => x.stride(-1) == 1",
        "steps == needed => 1 in x.stride()[-2:]",
        "steps == needed => x.stride(-2) == x.size(-1) * x.stride(-1)",
    ): (
        "You look at the last two dims. The multiplication itself takes matrices in any order. `@` "
        "reshapes, and perhaps clones, because of the dims before."
    ),
    "steps == needed => True": (
        "You answer that nothing is ever cloned. The multiplication takes one batch dim, so two "
        "batch dims have to merge first."
    ),
    "steps == needed => len(dims) < 2": (
        "You take two batch dims for a clone, whatever their strides. If they merge, nothing is "
        "copied: a contiguous operand is free."
    ),
    "steps == needed => steps == needed and 0 not in [s for _, s in dims]": (
        "You take every stride of 0 for a clone. A single repeated dim has no neighbour to merge "
        "with, and two dims of stride 0 merge."
    ),
    (
        "steps == needed => 0 not in x.stride()",
        "steps == needed => given.shape == x.shape",
    ): (
        "You clone only operands that are repeated. The batch dims of a packed or transposed tensor "
        "may not merge either."
    ),
    (
        "steps == needed => steps[:1] == needed[:1]",
        "steps == needed => steps[-1:] == needed[-1:]",
    ): (
        "You compare two batch dims alone. If there are more, each has to merge with its neighbour."
    ),
    (
        "(expanded(a, b)[0].nbytes, expanded(a, b)[1].nbytes)",
        "(a.nbytes, b.nbytes)",
        "(a.numel(), b.numel())",
    ): (
        "You always clone both operands. If its batch dims merge, `@` takes an operand as it lies."
    ),
}


def bytes_allowed(args: Arguments) -> int:
    """Return the new bytes that a right answer may fill.

    It may fill the scores three times, to put them together from parts, and q once, for its rows.
    """
    q = args["q"]
    k = args["k"]
    score_bytes = q.shape[:3].numel() * k.size(2) * q.itemsize
    return int(3 * score_bytes + q.nbytes)


@exercise(
    title="scores of grouped heads, without a copy of k",
    read=read_with_copies(bytes_allowed),
    fence=logging_copies,
    cases=[
        "q = torch.arange(64.0).view(1, 4, 1, 16); k = torch.arange(192.0).view(1, 2, 6, 16)",
        "q = torch.arange(128.0).view(2, 4, 1, 16); k = torch.arange(384.0).view(2, 2, 6, 16)",
        "q = torch.arange(384.0).view(2, 4, 3, 16); k = torch.arange(896.0).view(2, 2, 14, 16)",
        "q = torch.arange(192.0).view(2, 6, 1, 16); k = torch.arange(512.0).view(2, 2, 8, 16)",
        "q = torch.arange(384.0).view(2, 6, 2, 16); k = torch.arange(768.0).view(2, 3, 8, 16)",
        "q = torch.arange(256.0).view(2, 2, 4, 16).transpose(1, 2); "
        "k = torch.arange(768.0).view(2, 2, 12, 16)  # by tokens",
        "q = torch.arange(384.0).view(2, 1, 3, 4, 16)[:, :, 0].transpose(1, 2); "
        "k = torch.arange(512.0).view(2, 2, 8, 16)  # packed",
        "q = torch.arange(128.0).view(2, 4, 1, 16); "
        "k = torch.arange(768.0).view(2, 2, 12, 16)[:, :, :7]  # the prefix of a cache",
        "q = torch.arange(128.0).view(2, 4, 1, 16); "
        "k = torch.arange(768.0).view(2, 2, 2, 6, 16)[1]",
        "q = torch.arange(128.0).view(2, 4, 1, 16); k = torch.arange(384.0).view(2, 2, 16, 6).mT",
        "q = torch.arange(64.0).view(1, 4, 1, 16); "
        "k = torch.arange(288.0).view(1, 9, 2, 16)[:, 2:].transpose(1, 2)",
        "q = torch.arange(128.0).view(2, 4, 1, 16); k = torch.arange(448.0).view(2, 1, 14, 16)",
        "q = torch.arange(64.0).view(1, 4, 1, 16); k = torch.arange(160.0).view(1, 1, 10, 16)",
        "q = torch.arange(64.0).view(2, 2, 1, 16); k = torch.arange(320.0).view(2, 2, 5, 16)",
        "q = torch.arange(64.0).view(2, 2, 1, 16); k = torch.arange(1024.0).view(2, 2, 16, 16)",
        "q = torch.arange(256.0).view(2, 4, 2, 16)[:, :, 1:]; "
        "k = torch.arange(640.0).view(2, 2, 10, 16)[:, :, 1:]",
        "q = torch.arange(8, dtype=torch.float64).view(1, 4, 2, 1); "
        "k = torch.arange(6, dtype=torch.float64).view(1, 2, 3, 1)",
    ],
    hints=[
        "k has fewer heads than q. Repeat the heads of k, or cut q into groups: which takes less "
        "memory? The heads of one group all meet the same matrix of k.",
        "So they are rows of one larger matrix: H // G heads with T rows each. "
        "`q.reshape(B, G, ..., D)` has a matrix for each group, and then both operands have the "
        "same batch dims.",
        "`q.reshape(B, G, H // G * T, D) @ k.mT` has shape (B, G, H // G * T, S). A view gives it "
        "the shape (B, H, T, S).",
    ],
    otherwise=(
        "Head h of q meets group h // (H // G) of k. Compare one score by hand. Then look at the "
        "new bytes: which of your lines fills them?"
    ),
    takeaway="Fold the heads of a group into rows: at most q is copied, and k stays where it is.",
)
def group_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The scores of grouped heads: each head of q against its group of k, without a copy of k.

    Not allowed: lists and NumPy, because only operations of torch are counted.

    q       a tensor of shape (B, H, T, D), perhaps sliced or transposed
    k       a tensor of shape (B, G, S, D), where G divides H: head h of q belongs to group
            h // (H // G). The dims B and G of k merge, as they do in a cache
    return  a tensor of shape (B, H, T, S): `q[b, h] @ k[b, group].mT`, not scaled. New memory is
            for scores and their parts, and once for q
    """
    B, H, T, D = q.shape
    G, S = k.size(1), k.size(2)
    rows = q.reshape(B, G, H // G * T, D)
    return (rows @ k.mT).view(B, H, T, S)


group_scores.slots["q.reshape(B, G, H // G * T, D)"] = {
    "q.view(B, G, H // G * T, D)": (
        "`view` raises an error if q comes in the order of tokens, because heads and tokens do not "
        "merge there. You may copy q if needed."
    ),
    "q.transpose(1, 2).reshape(B, G, H // G * T, D)": (
        "You bring tokens before heads, and then cut into groups. With more than one token, that "
        "mixes tokens and heads. In q, the heads come first already."
    ),
    "q.unflatten(1, (H // G, G)).transpose(1, 2).reshape(B, G, H // G * T, D)": (
        "You cut the heads into (H // G, G). Heads of one group are neighbours, so the groups are "
        "the outer dim."
    ),
}
group_scores.slots["k.mT"] = {
    "k.reshape(B, G, D, S)": (
        "`reshape` does not transpose. It keeps the reading order, so your columns mix the rows of "
        "k. `k.mT` exchanges the last two dims, and copies nothing."
    ),
    "k": (
        "You multiply by k itself. A score belongs to a row of q and a row of k, so the last two "
        "dims of k have to change places."
    ),
    "k.contiguous().mT": (
        "Right scores, but `contiguous()` copies a k that is a part of a tensor, such as the "
        "prefix of a cache. The product takes k as it lies."
    ),
    ("k.mT.contiguous()", "k.clone().mT"): (
        "Right scores, but all of k is copied before the product. The product takes k as it lies, "
        "transposed or not."
    ),
    "k[:, :1].mT": "All your heads meet group 0 of k. Head h belongs to group h // (H // G).",
}
group_scores.slots[".view(B, H, T, S)"] = {
    "": (
        "The right scores, in the shape (B, G, H // G * T, S). The rows of a group are its heads, "
        "one after the other, so a view splits them again."
    ),
    ".view(B, T, H, S).transpose(1, 2)": (
        "Right for one token, T = 1. The rows of a group go head by head, and inside a head token "
        "by token. You read them in the other order."
    ),
}
group_scores.wrong |= {
    ".view(B, H, T, S) => .view(B, H, T, S) / D**0.5": (
        "These scores are divided by the root of D. The task asks for the bare products."
    ),
    ".view(B, H, T, S) => .view(B, H, T, S).softmax(-1)": (
        "These are weights. The task asks for the scores before the softmax."
    ),
    ("torch.einsum('bhtd,bgsd->bhts', q, k)", "q @ k.sum(1, keepdim=True).mT"): (
        "You add up the groups of k. Each head of q meets one group alone."
    ),
    (
        "q @ k.repeat_interleave(q.size(1) // k.size(1), 1).mT",
        "q @ k[:, torch.arange(q.size(1)) // (q.size(1) // k.size(1))].mT",
    ): (
        "Right scores, but k is written out for every head of q. The heads of one group meet one "
        "matrix of k. Can one product do it?"
    ),
    (
        "torch.stack([q[:, h] @ k[:, h % k.size(1)].mT for h in range(q.size(1))], 1)",
        "q @ k.repeat(1, q.size(1) // k.size(1), 1, 1).mT",
    ): (
        "Your heads meet the groups in turn: head h meets group h % G. Here neighbours share a "
        "group. (`repeat` repeats all groups, one round after the other.)"
    ),
    "torch.stack([q[:, h] @ k[:, h // k.size(1)].mT for h in range(q.size(1))], 1)": (
        "You divide the number of the head by G. A group has H // G heads."
    ),
    "group_scores(q, k).float()": shared.DTYPE.format("q"),
    (
        "(q.unflatten(1, (k.size(1), -1)) @ k.unsqueeze(2).mT).flatten(1, 2)",
        "q @ k.unsqueeze(2).expand(-1, -1, q.size(1) // k.size(1), -1, -1).flatten(1, 2).mT",
    ): (
        "Right scores, but k is written out for each head of its group. `expand` is free until its "
        "dims have to merge, in a reshape to H heads or in `@` itself."
    ),
    "(q.unflatten(1, (k.size(1), -1)).unsqueeze(4) * k[:, :, None, None]).sum(-1).flatten(1, 2)": (
        "Right scores, but you store all products of single elements, D times as many as there are "
        "scores. A matrix product adds them up at once."
    ),
    ("q @ k.mT", "q @ k"): (
        "You multiply H heads by G groups. torch broadcasts only batch dims of size 1."
    ),
}
