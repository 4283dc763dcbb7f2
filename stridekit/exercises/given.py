"""The setting of a card: what it takes from the cells above it, which a review has to say.

The table names a card by the beginning of its question, as `new_numbers` does. A card with new numbers
says all in its question, and has no row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_X = "Given `x = torch.arange(24).view(4, 6)`."
_BIG = (
    "Given `big = torch.zeros(1000, 1000)`, `first_rows = [big[i] for i in range(20)]` "
    "and `row = first_rows[3]`."
)
_IMAGES = "Given `y = torch.rand(2, 4, 6, 6).to(memory_format=torch.channels_last)`."
_HEADS = (
    "Given `B, H, T, D = 2, 3, 5, 4` and "
    "`q, k, v = torch.rand(B, T, 3, H, D).permute(2, 0, 3, 1, 4)`."
)
_SETTINGS = {
    "`t` has shape (2, 3, 4, 1).": (
        "Given `t = torch.arange(24).view(1, 2, 3, 4).permute(1, 2, 3, 0)`."
    ),
    "What is the stride of `x[:, :1]`": _X,
    "`y += 100` was run.": "Given `x = torch.arange(24).view(4, 6)` and `y = x[1:, ::2]`.",
    "`even = ten[::2]`, `odd = ten[1::2]`": "Given `ten = torch.arange(10)`.",
    "After `grid[0, 0] = -1`": (
        "Given `grid = torch.arange(24).view(4, 6)`, `by_slice = grid[0:2]` "
        "and `by_range = grid[range(0, 2)]`."
    ),
    "`slots` was all zeros.": "Given `slots = torch.zeros(4)`.",
    "`column = x[:, 2]` has stride (6,).": _X,
    "`big` has been deleted.": _BIG,
    "Which of these keeps 4,000 bytes alive": _BIG,
    "`a` was saved as `six`": (
        "Given `six = torch.arange(6.0)`, `torch.save([six, six[2:]], file)` "
        "and `a, b = torch.load(file)`."
    ),
    "`rows` is `base.expand(2, 3)`": "Given `base = torch.zeros(3)`.",
    "`d = six.detach()`": "Given `six = torch.arange(6.0)`.",
    "Between forward and backward `y[:1].mul_(10)`": (
        "Given `x = torch.ones(3, requires_grad=True)`, `y = x * 2` and `z = y**2`. "
        "Later `z.sum().backward()` computes `x.grad`."
    ),
    "`family` has ten, even, odd": (
        "Given `ten = torch.arange(10)`, `even = ten[::2]`, `odd = ten[1::2]` "
        "and `copy = ten[::2].clone()`."
    ),
    "The four tensors of `checkpoint`": (
        "`checkpoint` has one weight of 80 bytes under two names, a view of 80 bytes on a storage "
        "of 16,000, and a view of 1,024 bytes on a storage of 1,024,000."
    ),
    "A review of lesson 02: each slice has 80 bytes": "Given `big = torch.arange(1000)`.",
    "And which of these shapes can `v`": "`v` has shape (4, 3, 5), stride (5, 20, 1).",
    "A review of lesson 02: `x[:, ::2]`": _X,
    "What is the shape of `last = x.to(": "Given `x = torch.arange(48).view(2, 3, 2, 4)`.",
    "Both flags of `gray` are True.": "Given `gray = torch.zeros(2, 1, 4, 5)`.",
    "`b` is an image with its channels last.": "Given `b = torch.rand(2, 4, 3).permute(2, 0, 1)`.",
    "`skip` has the shape of `y`": _IMAGES,
    "Both flags of `mask` are True.": (
        f"{_IMAGES} And `mask = torch.ones(2, 1, 6, 6)`, `NHWC = torch.channels_last`."
    ),
    "`loss(leaf)` flattens `leaf`.": (
        f"{_IMAGES} And `leaf = y.clone().requires_grad_()`, "
        "`loss = lambda t: (t * 2).flatten(1).sum()`."
    ),
    "How many bytes does `t.permute(0, 2, 3, 1)": _IMAGES,
    "`c8` is channels-last.": (
        "Given `c8 = torch.rand(2, 8, 32, 32).to(memory_format=torch.channels_last)`, "
        "`groups = c8.view(2, 2, 4, 32, 32).transpose(1, 2)` "
        "and `order = [0, 4, 1, 5, 2, 6, 3, 7]`."
    ),
    "A and B take equally long.": (
        "A machine becomes busy: a run takes 1 on each of the turns 0 to 99, "
        "and 2 on each of the turns 100 to 199."
    ),
    "16 floats fill a line, so `tape`": "`tape` has 2**20 floats, one after the other.",
    "`left * right.transpose(p, q)`": "`left` and `right` are new, of shape (8, 8, 8).",
    "k has shape (B, H, T, D) = (2, 3, 5, 4).": _HEADS,
    "Is `features.view(B, H, T, D)` equal": (
        "Given `B, H, T, D = 2, 3, 5, 4` and `features = torch.rand(B, T, H * D)`."
    ),
    "q and k each have 480 bytes": _HEADS,
    "q is a view with strides (180, 4, 36, 1).": (
        f"{_HEADS} And `sdpa = F.scaled_dot_product_attention`."
    ),
    "`merged(sdpa(rotated, k, v))`": (
        f"{_HEADS} And `sdpa = F.scaled_dot_product_attention`, "
        "`merged = lambda y: y.transpose(1, 2).flatten(2)`. "
        "Two sums are equal: `x_first = q * cos + turned(q) * sin`, and `turned_first` has its "
        "terms the other way round. `turned(q)` comes from `torch.cat`. "
        "For `rotated`, each sum is used in turn."
    ),
    "`few` has 320 bytes.": (
        "Given `B, T, D = 2, 5, 4` and `few = torch.rand(B, 2, T, D)`, the heads of k."
    ),
    "`full` has 150 elements of one byte.": (
        "Given `padding = torch.ones(2, 1, 1, 5, dtype=torch.bool)` "
        "and `full = padding.expand(2, 3, 5, 5)`."
    ),
    "Over all steps, how many times the bytes": (
        "A cache grows from 1 token to 512, by one at each step. `cat` makes a new tensor each time. "
        "In place, each step writes its token into a tensor that has room for 512."
    ),
    "How many bytes of each does `newest_query": (
        "Given `newest_query = torch.rand(2, 3, 1, 4)`. The cache is "
        "`torch.rand(2, 3, 9, 4)[:, :, :5]` heads first, "
        "or `torch.rand(2, 9, 3, 4)[:, :5].transpose(1, 2)` tokens first."
    ),
    "After `pool[table][0] = 7`": (
        "Given `pool = torch.zeros(6, 4, 2)` and `table = torch.tensor([4, 0])`."
    ),
    "How many times n do these ten steps write": (
        "A block of a decoder gets a text of n bytes. Its ten steps are norm, projection to q, k "
        "and v, attention, output projection, sum, norm, a layer twice as wide, gelu, a layer back, "
        "sum. No copy comes on top."
    ),
    "How many of the two `contiguous()` calls in `Norm`": (
        "`Norm` computes `x.permute(0, 2, 3, 1).contiguous()`, then the norm of the last dim, "
        "and then `x.permute(0, 3, 1, 2).contiguous()`."
    ),
    "x is channels-last. What is the stride of `Shuffle()(x)`": (
        "`Shuffle` computes `x.view(8, 2, 16, 56, 56).transpose(1, 2).reshape(8, 32, 56, 56)`."
    ),
    "The mask has 128 x 128 bools": (
        "`expand` takes the mask to 4 texts and 4 heads, shape (4, 4, 128, 128)."
    ),
    "How many of the 2,048 elements lie at another address": (
        "A gradient of shape (32, 64, 1, 1) has stride (64, 1, 64, 64). "
        "Its bucket has stride (64, 1, 1, 1)."
    ),
    "One backward pass of `((a.view(3)": (
        "Given `a = torch.ones(3, 1, requires_grad=True)`, "
        "`b = torch.ones(1, 3, requires_grad=True)` and `w = torch.tensor([1.0, 2.0, 3.0])`."
    ),
    "The last stride is 1. Which of these": (
        "`row_sums(x)` packs x by `contiguous()` if x's last stride is not 1. "
        "Then it reads the rows one after the other, from x's first element on. "
        "The layouts are those of `tricky_layouts`."
    ),
    "x is contiguous, of shape (2, 3). `times_stride": (
        "The operation `turn(x)` returns `x.t().clone()`, and its fake kernel "
        "`x.new_empty(x.shape[1], x.shape[0])`. "
        "And `times_stride = lambda x: turn(x) * turn(x).stride(0)`."
    ),
    "What does the clock read right after": (
        "A device works through a queue, and a clock counts microseconds from 0. `queue.work()` asks "
        "for a piece of work, which takes the device 50. The first piece takes 400 more."
    ),
    "Say the ridge is at 10.": (
        "The ridge is in FLOP per byte, and each number has 4 bytes. `low rank, k = 2` is "
        "(2048, 2) @ (2, 2048), and `conv2d 3x3` has 64 channels and 56 x 56 pixels."
    ),
    "`all_states` has shape (1000, 32)": "Given `deep = copy.deepcopy(all_states[-1])`.",
    "By the bytes, how many times faster": (
        "The five steps are those of `((x * y + 1) * 0.5 - y).relu()`. One by one, each step reads "
        "its inputs from memory and writes its result there."
    ),
}
# These are about a measurement or a network in their lesson.
LESSON_ALONE = (
    "x comes from the softmax. The `Residual` computes",
    "The cell above has measured on your machine.",
)


def in_review(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return a card's problem with its setting in front."""
    question = problem["question"]
    for start, setting in _SETTINGS.items():
        if question.startswith(start):
            return {**problem, "question": f"{setting} {question}"}
    return dict(problem)
