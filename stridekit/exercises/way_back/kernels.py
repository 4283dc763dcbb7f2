"""E1, E5 and E6: tensors that a kernel can take, and the fake kernel of an operation."""

from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import (
    as_tensor,
    layout_facts,
    read_yes_or_no,
    shares,
    type_in_words,
)
from stridekit.exercises.running import Arguments, Outcome, Unusable, describe
from stridekit.tensors.sharing import has_internal_overlap

# A gradient for a kernel that takes packed elements ------------------------------------------------


def read_pair(answer: Any, args: Arguments) -> Outcome:
    """Read source and target: what a kernel takes from the one, and where it writes to."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Unusable(
            f"{type_in_words(answer)}, where the two tensors source, target are asked for"
        )
    source = as_tensor(answer[0], " as source")
    target = as_tensor(answer[1], " as target")
    is_g = shares(source, args["g"])
    is_taken = shares(target, args["g"]) or shares(target, source)
    facts = {
        "dtype of source": source.dtype,
        "what the kernel reads": packed_elements(source),
        "source is on g's storage": is_g,
        "dtype of target": target.dtype,
        "shape of target": tuple(target.shape),
        "stride of target": layout_facts(target)["stride"],
        "target has memory of its own": target.numel() == 0 or not is_taken,
    }
    shown = f"source: {describe(source)}{', on the storage of g' if is_g else ''}\n"
    shown += f"target: {describe(target)}{', on a storage that is read' if is_taken else ''}"
    return Outcome(facts, shown)


def packed_elements(t: torch.Tensor) -> list[Any] | str:
    """Return the elements that a kernel finds in a row from the first one on, numel of them."""
    storage = torch.empty(0, dtype=t.dtype).set_(t.untyped_storage())
    start = t.storage_offset()
    end = start + t.numel()
    if end > len(storage):
        return f"{end - len(storage)} elements beyond the storage"
    return storage[start:end].tolist()


GRID = "torch.arange(12.0).view(3, 4)"


@exercise(
    title="hand a gradient to a kernel",
    read=read_pair,
    cases=[
        f"g = {GRID}",
        "g = torch.arange(12.0).view(4, 3).t()  # from a transpose",
        "g = torch.arange(18.0).view(3, 6)[:, :4]  # from cat",
        "g = torch.arange(3.0)[:, None].expand(3, 4)  # from sum(1)",
        "g = torch.tensor(1.0).expand(3, 4)  # from sum()",
        "g = torch.arange(4.0).expand(3, 4)  # from sum(0)",
        "g = torch.arange(24.0).view(6, 4)[2:5]  # from cat along dim 0",
        "g = torch.arange(24.0).view(3, 8)[:, ::2]",
        "g = torch.arange(24.0).view(2, 3, 4).permute(1, 2, 0)",
        "g = torch.arange(48.0).view(2, 2, 3, 4).to(memory_format=torch.channels_last)",
        "g = torch.arange(12.0).double().view(4, 3).t()",
        f"g = {GRID}.half()",
        f"g = {GRID}[:, :1]",
        f"g = {GRID}[:, 1]",
        "g = torch.tensor(1.0).expand(5)",
        "g = torch.arange(6.0).unfold(0, 3, 1)",
        "g = torch.arange(8.0).as_strided((1, 4), (9, 1), 2)",
        "g = torch.arange(8.0).as_strided((4, 1), (1, 5))",
        "g = torch.tensor(3.0)",
        "g = torch.zeros(0, 3)",
    ],
    hints=[
        "The kernel knows neither shape nor stride. It reads as many elements in a row as the tensor "
        "has. For which g are these the elements of g, in order?",
        "`g.contiguous()` is g itself if g lies in reading order, and else a copy that does. What "
        "should target look like, so that the kernel's numbers end up at the right indices?",
        "Let `source = g.contiguous()`. Then `torch.empty_like(source)` has the right shape, dtype and "
        "order, and memory of its own.",
    ],
    otherwise=(
        "Compare `source.as_strided((source.numel(),), (1,))` with `g.flatten()`, and target's stride "
        "with the contiguous one."
    ),
    takeaway="Pack the gradients that a kernel reads: a backward receives any layout.",
)
def for_kernel(g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Source and target for a kernel that turns packed elements into packed elements.

    The kernel reads `g.numel()` elements in a row, from source's first element on, and writes
    as many in a row, from target's first element on.

    g       a gradient of any layout and dtype. It belongs to others: do not write to it
    return  source, target. source has the elements of g in reading order, and is g or a view of
            g if g is contiguous. target is a new contiguous tensor of g's shape and dtype
    """
    source = g.contiguous()
    target = torch.empty(g.shape, dtype=g.dtype)
    return source, target


for_kernel.slots["g.contiguous()"] = {
    ("g", "g.detach()"): (
        "You hand g over as it lies. The kernel takes elements in a row, and g may be transposed, "
        "expanded or a slice. Then the kernel reads numbers that are not g's, or memory that is not "
        "g's. Pack g first."
    ),
    ("g.clone()", "g * 1"): (
        "You copy g in its own order: a transposed g stays transposed, and the kernel reads its columns "
        "as rows. You also copy a g that is contiguous already. Which method does neither?"
    ),
    "g.clone(memory_format=torch.contiguous_format)": (
        "You always copy. A contiguous g can be read where it lies."
    ),
    "g if g.is_contiguous() else g.clone()": (
        "You clone what is not contiguous. `clone` keeps the order of a transposed or channels-last g, "
        "so the kernel reads its elements in another order."
    ),
    "g if g.ndim and g.stride(-1) == 1 else g.contiguous()": (
        "You pack g only if its last stride is not 1. In a slice of a cat the last stride is 1, and a "
        "gap follows each row. Rows may also repeat: ask for the whole layout."
    ),
    "g if 0 not in g.stride() else g.contiguous()": (
        "You pack an expanded g alone. A transposed or sliced g has no stride of 0, and the kernel reads "
        "it in the wrong order."
    ),
    ("g.reshape(-1)", "g.flatten()"): (
        "You flatten g, which copies only what has no flat view. Every second element of a row has a flat "
        "view, and so has a single element repeated everywhere: 1-D, and not packed."
    ),
    "g.view(-1)": (
        "You call `view`, which never copies. It raises for most gradients that are not contiguous, and "
        "what has a flat view need not be packed."
    ),
}
for_kernel.slots["torch.empty(g.shape, dtype=g.dtype)"] = {
    "torch.empty_like(g)": (
        "Your target has the order of g. `empty_like` keeps the strides of a transposed or channels-last "
        "g, and the kernel writes rows into it. Make a target like source."
    ),
    ("source", "g"): (
        "Your target lies on a storage that is read. If g is contiguous, that is g itself: the kernel "
        "overwrites a gradient that others still need."
    ),
    ("torch.empty(g.shape)", "torch.empty(g.shape, dtype=torch.float32)"): (
        shared.DTYPE.format("g")
    ),
    "torch.empty(g.numel(), dtype=g.dtype)": (
        "Your target is flat. A gradient has the shape of its tensor, and the kernel does not mind."
    ),
    "torch.empty_strided(g.shape, g.stride(), dtype=g.dtype)": (
        "Your target has the strides of g. With strides of 0 several indices share an element, and with "
        "transposed ones the kernel's rows become columns. A packed target has contiguous strides."
    ),
}

# What a kernel has to ask ---------------------------------------------------------------------------

ROWS = "torch.zeros(4, 8)"


@exercise(
    title="may the kernel write this tensor?",
    read=read_yes_or_no,
    cases=[
        f"t = {ROWS}",
        f"t = {ROWS}.t()",
        f"t = {ROWS}[:, 4:]",
        f"t = {ROWS}[:, 1:5]",
        f"t = {ROWS}[:, ::2]",
        f"t = {ROWS}[1:]",
        f"t = {ROWS}[::2, :3]",
        "t = torch.zeros(4, 6)",
        "t = torch.zeros(4, 6).double()",
        "t = torch.zeros(1, 8).expand(4, 8)",
        "t = torch.zeros(4, 1).expand(4, 8)",
        "t = torch.zeros(32).as_strided((4, 8), (4, 1))  # rows overlap",
        "t = torch.zeros(32).as_strided((2, 4, 4), (8, 4, 1))",
        "t = torch.zeros(32).as_strided((2, 3, 4), (8, 4, 1))  # blocks overlap",
        f"t = {ROWS}[:, :1]",
        f"t = {ROWS}.t()[:, :1]",
        f"t = {ROWS}.t()[::4, :1]",
        "t = torch.zeros(8).as_strided((1, 4), (3, 1))",
        "t = torch.zeros(8).as_strided((1, 4), (0, 1), 4)",
        "t = torch.zeros(16).as_strided((1, 2, 4), (5, 8, 1))",
        "t = torch.zeros(16).as_strided((4, 1), (4, 0))",
        "t = torch.zeros(8).as_strided((2, 1), (4, 3), 1)",
        "t = torch.zeros(9)[1:]",
        "t = torch.zeros(12)[4:]",
        "t = torch.zeros(12).double()[2:]",
        "t = torch.zeros(12).half()[4:]",
        "t = torch.zeros(12).half()[8:]",
        "t = torch.zeros(6, 20).to(torch.uint8)[:, :16]",
        "t = torch.zeros(6, 32).to(torch.uint8)[:, 16:]",
        "t = torch.zeros(3, 2, 4).transpose(0, 1)",
        "t = torch.zeros(3, 2, 6).transpose(0, 1)",
        "t = torch.zeros(3, 2, 4)[:, :, :2]",
        "t = torch.from_numpy(np.zeros(9, np.float32)[1:])  # its storage begins at the array",
        "t = torch.empty_strided((0, 4), (5, 2))",
        "t = torch.empty_strided((3, 0), (5, 1))",
        "t = torch.zeros(16)[::2]",
        "t = torch.zeros(1).expand(4)",
    ],
    hints=[
        "Four questions: is a row packed, does each row begin at a multiple of 16 bytes, does any "
        "element belong to two indices, and which dims does no index step along?",
        "A row is packed if the last stride is 1, or if the row has a single element. The first row "
        "begins at `t.data_ptr()`. How far apart are the others, in bytes?",
        "Each stride of the outer dims with several indices, times `t.itemsize`, has to be a multiple of "
        "16, and so does the address. `has_internal_overlap(t)` has to be False. An empty t is always "
        "fine.",
    ],
    otherwise=(
        "Look at the tensor above: its address modulo 16, the bytes from one row to the next, the last "
        "stride, and whether two indices share an element."
    ),
    takeaway="`stride(-1) == 1` is one of four questions to a layout.",
)
def may_write(t: torch.Tensor) -> bool:
    """Whether a kernel may write t, if it writes rows from left to right, 16 bytes at a time.

    It may if each row along the last dim is packed and begins at an address that is a multiple of
    16 bytes, and if no two indices share an element. Where no index steps, any stride will do. An
    empty tensor has nothing to write: any layout will do.

    t       a tensor of one dim or more
    return  True or False
    """
    if t.numel() == 0:
        return True
    is_packed = t.size(-1) == 1 or t.stride(-1) == 1
    starts = [t.data_ptr()]
    for size, step in zip(t.shape[:-1], t.stride()[:-1], strict=True):
        if size > 1:
            starts.append(step * t.itemsize)
    is_aligned = all(start % 16 == 0 for start in starts)
    return is_packed and is_aligned and not has_internal_overlap(t)


may_write.slots["t.numel() == 0"] = {
    "False": (
        "You judge an empty tensor by its strides. Nothing is written there, so any layout will do."
    ),
}
may_write.slots["t.size(-1) == 1 or "] = {
    "": (
        "You ask for a last stride of 1 where a row has a single element. No index steps along it, so "
        "its stride does not matter."
    ),
}
may_write.slots["if size > 1:"] = {
    "if True:": (
        "You ask for aligned strides where no index steps. With one row there is no next row that could "
        "begin elsewhere."
    ),
}
may_write.slots["[t.data_ptr()]"] = {
    "[]": (
        "You do not ask where the first row begins. A slice may begin in the middle of 16 bytes, and so "
        "do all its rows."
    ),
    "[t.storage_offset() * t.itemsize]": (
        "You look at the offset. The storage itself may begin anywhere, as that of a NumPy array does. "
        "Ask for the address, `t.data_ptr()`."
    ),
    "[t.storage_offset()]": (
        "You look at the offset, in elements. The address counts, in bytes: `t.data_ptr()`."
    ),
}
may_write.slots["step * t.itemsize"] = {
    "step": (
        "You ask whether a stride is a multiple of 16. It counts elements, and the kernel's 16 are bytes: "
        "`step * t.itemsize`."
    ),
    "step * 4": (
        "You take 4 bytes for each element. float64 has 8, float16 has 2, uint8 has 1: `t.itemsize`."
    ),
    "0": (
        "You ask where the first row begins, and not where the others do. Rows of 6 floats are 24 bytes "
        "apart: the second one is not aligned."
    ),
}
may_write.slots["not has_internal_overlap(t)"] = {
    "True": (
        "You do not ask whether indices share an element. Rows that are expanded, or windows, are packed "
        "and aligned, and each write changes several of them."
    ),
    "0 not in t.stride()": (
        "You look for a stride of 0. It is harmless where no index steps, and rows can overlap without it: "
        "windows of 8 that begin 4 elements apart."
    ),
}
may_write.wrong |= {
    "t.stride(-1) == 1": (
        "You ask for a last stride of 1 alone. Rows may begin at any address, and may overlap. And where "
        "a row has a single element, its stride does not matter."
    ),
    "t.is_contiguous()": (
        "You ask whether t is contiguous. A kernel that knows the strides also takes rows with gaps, and "
        "a contiguous slice can begin at any address."
    ),
    "t.is_contiguous() and t.data_ptr() % 16 == 0": (
        "You take contiguous tensors alone, and of those all. Rows with gaps are fine if each begins at "
        "a multiple of 16 bytes. Contiguous rows of 6 floats do not."
    ),
    "t.data_ptr() % 16 == 0": (
        "You ask for the address alone. The kernel writes packed rows: what about the strides?"
    ),
}

# The fake kernel of an operation --------------------------------------------------------------------


def read_fake(answer: Any, args: Arguments) -> Outcome:
    """Read what a fake kernel returns: all facts about a tensor but its values."""
    answer = as_tensor(answer)
    layout = layout_facts(answer)
    is_alias = base_of(answer) is base_of(args["images"])
    facts = {
        "device": answer.device.type,
        "dtype": answer.dtype,
        "shape": layout["shape"],
        "stride": layout["stride"],
        "view of images": is_alias,
    }
    shown = f"{describe(answer)}, {answer.dtype} on {answer.device}"
    return Outcome(facts, f"{shown}, a view of images" if is_alias else shown)


def base_of(t: torch.Tensor) -> torch.Tensor:
    """Return the tensor that t is a view of, or t itself."""
    return t if t._base is None else t._base


def images(shape: str, dtype: str = "float32", ending: str = "") -> str:
    """Return the source of a case: images without memory."""
    return f'images = torch.zeros({shape}, dtype=torch.{dtype}, device="meta"){ending}'


LAST = ".to(memory_format=torch.channels_last)"


@exercise(
    title="a fake kernel that keeps its promise",
    read=read_fake,
    cases=[
        images("2, 3, 8, 6"),
        images("2, 3, 8, 6", ending=LAST),
        images("2, 3, 7, 5"),
        images("1, 4, 9, 4", "float16"),
        images("3, 5, 2, 3", "float64", LAST),
        images("2, 4, 6, 6", ending="[:, :2]"),
        images("4, 3, 6, 8", ending=".transpose(2, 3)"),
        images("2, 8, 6, 3", ending=".permute(0, 3, 1, 2)"),
        images("2, 1, 4, 6"),
        images("2, 3, 1, 1"),
        images("5, 2, 1, 7", "uint8"),
        images("2, 3, 4, 4", "int64", ".flip(0)"),
        images("1, 3, 1, 1", ending=".expand(2, 3, 5, 4)"),
        images("0, 3, 4, 5"),
    ],
    hints=[
        "A fake kernel computes nothing. It answers with an empty tensor that has the shape, stride, "
        "dtype and device of the real result. Which of the four depend on images, and which do not?",
        "`[::2]` of n indices has `(n + 1) // 2`. The real kernel writes channels-last, whatever images "
        "are like. So `empty_like` does not do.",
        "`torch.empty((n, c, h, w), dtype=images.dtype, device=images.device, "
        "memory_format=torch.channels_last)`, with h and w rounded up.",
    ],
    otherwise=(
        "Run `halve` on a real tensor of this shape, dtype and layout, and compare shape, stride and "
        "dtype with your answer. The device has to be that of images."
    ),
    takeaway="A compiler believes the strides that a fake kernel promises.",
)
def fake_halve(images: torch.Tensor) -> torch.Tensor:
    """The fake kernel of an operation `halve` that returns every second pixel of every second row.

    The real kernel is `images[:, :, ::2, ::2].clone(memory_format=torch.channels_last)`.

    images  a meta tensor, without memory, of shape (N, C, H, W) and any dtype and layout
    return  a new meta tensor with the shape, stride and dtype of the real kernel's result. Where
            no index steps, any stride is right
    """
    n, c, h, w = images.shape
    shape = n, c, (h + 1) // 2, (w + 1) // 2
    return torch.empty(
        shape,
        dtype=images.dtype,
        device=images.device,
        memory_format=torch.channels_last,
    )


fake_halve.slots["n, c, (h + 1) // 2, (w + 1) // 2"] = {
    "n, c, h // 2, w // 2": (
        "You round odd sizes down. `[::2]` of 7 indices takes 0, 2, 4 and 6: four of them."
    ),
    "n, c, h, w": "You keep the size of the images. The real kernel takes every second pixel of both dims.",
    "n, (h + 1) // 2, (w + 1) // 2, c": (
        "Your shape has the channels last. Channels-last is an order in memory: the shape stays N, C, H, W."
    ),
    "n, c, (h + 1) // 2, w": "You halve the rows alone. The step of 2 counts for H and for W.",
}
fake_halve.slots["dtype=images.dtype,"] = {
    "": shared.DTYPE.format("images"),
}
fake_halve.slots["device=images.device,"] = {
    "": (
        "Your result is on the CPU. A fake kernel runs on tensors without memory, and its result has "
        "their device: `device=images.device`, or `images.new_empty(...)`."
    ),
}
fake_halve.slots["memory_format=torch.channels_last,"] = {
    "": (
        "You promise contiguous strides, and the real kernel writes channels-last. Compiled code that "
        "believes you reads the wrong elements, or stops at an assert."
    ),
}
fake_halve.wrong |= {
    ("torch.empty_like(images[:, :, ::2, ::2])", "images[:, :, ::2, ::2].clone()"): (
        "You promise the order of images. `empty_like` and `clone` keep the order of their input, and "
        "the real kernel writes channels-last for each input."
    ),
    "torch.empty_like(images)": (
        "You promise a result like images. It has a quarter of the pixels, and its own order."
    ),
    "images[:, :, ::2, ::2]": (
        "You return a view of images. The real kernel returns a new tensor, and a compiler has to know "
        "which results share memory with an argument."
    ),
    "images[:, :, ::2, ::2].to(memory_format=torch.channels_last)": (
        "You convert by `to`, which returns its input if that is channels-last already, gaps or not. So "
        "you return a view of images that are channels-last. The real kernel packs every result."
    ),
    "images[:, :, ::2, ::2].contiguous(memory_format=torch.channels_last)": (
        "You return images themselves, or a view of them, where they lie right already: `contiguous` "
        "copies only what has another order. The real kernel always returns a new tensor."
    ),
}
