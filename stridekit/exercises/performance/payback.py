"""E4: when a copy has paid back, in lines."""

import math

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import row_major  # noqa: F401 (for mistakes)
from stridekit.exercises.performance.lines import counted as cache_lines
from stridekit.exercises.performance.lines import span  # noqa: F401 (for mistakes)
from stridekit.exercises.readers.answers import read_uses


@exercise(
    title="when does a copy pay back, in lines?",
    read=read_uses,
    cases=[
        "t = torch.zeros(1024, 2)[:, 0]",
        "t = torch.zeros(320, 5)[:, 0]",
        "t = torch.zeros(64, 16)[:, 3]",
        "t = torch.zeros(64, 40)[:, 3]",
        "t = torch.zeros(96, 3, dtype=torch.float64)[:, 1]",
        "t = torch.zeros(320, 5, dtype=torch.uint8)[:, 2]",
        "t = torch.zeros(30, 48)[20:, 8:24]",
        "t = torch.zeros(12, 64)[:, 4:36]",
        "t = torch.zeros(40, 4, 6)[:, 1, ::2]",
        "t = torch.zeros(7, 40)[:, 20:29].t()",
        "t = torch.zeros(64, 2, 16)[:, 0]",
        "t = torch.zeros(2, 10402, dtype=torch.complex128)[:, :10400]",
        "t = torch.zeros(40, 24)",
        "t = torch.zeros(40, 24)[5:9]",
        "t = torch.zeros(1, 64, 30).permute(1, 2, 0)",
        "t = torch.zeros(40, 24).t()",
        "t = torch.zeros(1000)[3:963].view(40, 24).t()",
        "t = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)",
        "t = torch.zeros(2, 3, 2, 4, 5).to(memory_format=torch.channels_last_3d)",
        "t = torch.zeros(16).expand(30, 16)",
        "t = torch.zeros(30, 1).expand(30, 20)",
        "t = torch.zeros(8, 4, 16)[:, ::2].transpose(0, 2)",
        "t = torch.zeros(9, 30)[:, 2:3]",
        "t = torch.zeros(9, 30)[4, 2]",
        "t = torch.zeros(9, 30)[:, 7:7]",
    ],
    hints=[
        "Count the lines that t touches, the lines that its copy touches, and the lines that "
        "travel while the copy is made.",
        "Making the copy reads all of t and writes all of the copy. Each use then reads the copy "
        "instead of t. How many lines does that save?",
        "The answer is 0 if `t.is_contiguous()`. Else let a be the lines of t and b the lines of the "
        "copy: `math.ceil((a + b) / (a - b))` if `a > b`, else `math.inf`.",
    ],
    otherwise=(
        "Let a be the lines of t and b the lines of its copy. n uses move n * a lines without the "
        "copy, and a + b + n * b with it. Try your n, and n - 1."
    ),
    takeaway="A copy pays back only if it touches fewer lines than t, and only after some uses.",
)
def break_even(t: torch.Tensor) -> float:
    """After how many uses `c = t.contiguous()` has paid back, counted in cache lines of 64 bytes.

    t       a tensor on a storage whose byte 0 starts a line; a use reads each of its lines once
    return  the smallest whole n >= 0 for which making c and reading c n times moves no more
            lines than reading t n times; math.inf if there is none. Making c reads each line
            of t and writes each line of c once. c starts a line. If t is contiguous already, c is
            t itself, and making it moves nothing
    """
    if t.is_contiguous():
        return 0
    before = cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize)
    after = math.ceil(t.numel() * t.itemsize / 64)
    if after >= before:
        return math.inf
    return math.ceil((before + after) / (before - after))


def is_channels_last(t: torch.Tensor) -> bool:
    return t.ndim == 4 and t.is_contiguous(memory_format=torch.channels_last)


def is_channels_last_3d(t: torch.Tensor) -> bool:
    return t.ndim == 5 and t.is_contiguous(memory_format=torch.channels_last_3d)


NEVER = (
    "If the copy touches as many lines as t, or more, no use saves a line. Then no number of uses "
    "pays the copy back, and the answer is `math.inf`."
)
break_even.slots["before + after"] = {
    "after": ("You pay only for writing the copy. Making it also reads every line of t once."),
    "before": "You pay only for reading t. Making the copy also writes every line of it.",
}
break_even.slots["before - after"] = {
    "after": (
        "You divide by the cost of a use of the copy. The copy pays back by the lines that a use "
        "saves."
    ),
}
break_even.slots["return math.ceil("] = {
    "return math.floor(": shared.ROUNDED_DOWN.format("copy"),
    "return float(": shared.NOT_ROUNDED,
}
break_even.slots["t.is_contiguous()"] = {
    "False": (
        "`t.contiguous()` of a contiguous tensor is t itself. Nothing is copied, so nothing has to "
        "be paid back. Ask `t.is_contiguous()` first."
    ),
}
break_even.wrong |= {
    "before + after => before + 2 * after": shared.WRITTEN_TWICE,
    "before + after => 0": (
        "You leave out the cost of the copy. Making it reads every line of t and writes every line "
        "of the copy."
    ),
    "before - after => before": (
        "Your answer is 2 wherever the copy pays back. The number of uses depends on the lines that "
        "one use saves."
    ),
    "math.ceil((before + after) / (before - after)) => before - after": (
        "That is the number of lines that one use saves. How many uses save as many lines as making "
        "the copy costs?"
    ),
    "return math.ceil( => return round(": shared.ROUNDED.format("copy"),
    "return math.ceil( => return 1 + math.ceil(": (
        "Your answer is always one use too many. Do you count the lines of t twice?"
    ),
    "return math.ceil( => return -1 + math.ceil(": (
        "Your answer is always one use too few: the copy has not quite paid back."
    ),
    "return math.ceil( => return 1 + math.floor(": shared.EXACTLY_EVEN.format("copy"),
    (
        "t.is_contiguous() => (t.is_contiguous() or is_channels_last(t))",
        "t.is_contiguous() => (t.is_contiguous() or is_channels_last(t) or is_channels_last_3d(t))",
        "t.is_contiguous() => torch.empty_like(t).stride() == t.stride()",
    ): (
        "You answer 0 for a tensor that is dense but not contiguous. `t.contiguous()` copies it "
        "into row-major order all the same, and making that copy moves lines."
    ),
    "t.is_contiguous() => (t.ndim == 0 or t.stride(-1) == 1)": (
        "A stride of 1 in the last dim does not make t contiguous. With gaps between its rows it "
        "is copied all the same. Ask `t.is_contiguous()`."
    ),
    "t.is_contiguous() => t.ndim < 2": (
        "You answer 0 for a tensor with one dim. A column has one dim, and `t.contiguous()` copies "
        "it. Ask `t.is_contiguous()`."
    ),
    "t.is_contiguous() => t.nbytes == t.untyped_storage().nbytes()": (
        "You compare t with its storage. A transpose fills its storage and is copied, and some "
        "slices are contiguous. Ask `t.is_contiguous()`."
    ),
    (
        "math.inf => 0",
        "math.inf => -1",
        "math.inf => None",
        "math.inf => math.ceil((before + after) / (after - before)) "
        "if after != before else math.inf",
        "after >= before => False",
    ): NEVER,
    "math.inf => 0 if after == before else math.inf": (
        "You answer 0 where t and its copy touch equally many lines. Making the copy moves lines "
        "there too, unless t is contiguous, and no use saves one."
    ),
    "after >= before => after > before": shared.EQUAL.format("the lines of t and of its copy"),
    ("break_even(t) if break_even(t) in (0, math.inf) else 1", "0 if t.is_contiguous() else 1"): (
        "After one use the copy has never paid back. Making it reads as much as one use of t, and "
        "also writes the copy."
    ),
    "0 if t.is_contiguous() else math.inf": (
        "You answer that no copy ever pays back. t and its copy have equally many bytes, but the "
        "bytes of t can lie on more lines."
    ),
    "math.inf if torch.empty_like(t).stride() == t.stride() and break_even(t) else break_even(t)": (
        "Right where t has gaps. A dense t can begin in the middle of a line and touch one more "
        "line than its copy. Then each use of the copy saves that line."
    ),
    "cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize) => t.numel()": (
        "Your answer fits a t with a line for each element. Neighbours share lines: count "
        "different lines."
    ),
    "cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize) => "
    "cache_lines(t.shape, t.stride(), 0, t.itemsize)": (shared.STARTS_LATER),
    (
        "cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize) => "
        "cache_lines(t.shape, t.stride(), t.storage_offset(), 4)",
        "math.ceil(t.numel() * t.itemsize / 64) => math.ceil(t.numel() * 4 / 64)",
    ): shared.ITEMSIZE.format("t.itemsize"),
    (
        "cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize) => "
        "span(t.shape, t.stride()) * t.itemsize / 64",
        "cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize) => "
        "math.ceil(span(t.shape, t.stride()) * t.itemsize / 64)",
    ): shared.HULL.format("line"),
    "cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize) => "
    "math.ceil(t.untyped_storage().nbytes() / 64)": (
        "You count the whole storage of t. A use reads only the lines that hold an element of t."
    ),
    "math.ceil(t.numel() * t.itemsize / 64) => "
    "cache_lines(t.shape, row_major(t.shape), t.storage_offset(), t.itemsize)": (
        shared.STARTS_A_LINE
    ),
    "math.ceil(t.numel() * t.itemsize / 64) => t.numel() * t.itemsize // 64": shared.LAST_LINE,
    (
        "n if (n := break_even(t)) <= 10000 else math.inf",
        "n if (n := break_even(t)) <= 100 else math.inf",
    ): shared.SMALL_COUNTS.format("copy"),
}
break_even.only |= {
    "break_even(t) == math.inf": (
        "Right wherever the copy pays back. Elsewhere it touches as many lines as t, or more, so "
        "no number of uses pays it back, and the answer is `math.inf`."
    ),
    "t.is_contiguous()": (
        "Right wherever something is copied. If t is contiguous, `t.contiguous()` is t itself. "
        "Then nothing has to be paid back, and the smallest n is 0."
    ),
}
