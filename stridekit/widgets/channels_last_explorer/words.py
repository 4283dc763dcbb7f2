"""The words of ChannelsLastExplorer: places in both orders, and the flags.

words.js says the same, so that the picture follows the hand without asking the kernel; tests/live.py
compares the two.
"""

from __future__ import annotations

from itertools import product
from math import prod

from stridekit.layout import Layout

MAX_SIZES = (3, 4, 3, 5)  # the largest sizes that two tapes show legibly on one screen
LETTERS = "abcd"  # one per channel
HIGHLIGHTS = ("pixel", "channel")
FORMATS = ("contiguous_format", "channels_last")

Index = tuple[int, ...]


def layouts(shape: Index) -> dict[str, Layout]:
    """The same values in both memory formats, as torch lays them out.

    >>> [layout.stride for layout in layouts((2, 3, 4, 5)).values()]
    [(60, 20, 5, 1), (60, 1, 15, 3)]
    """
    x = Layout(shape, itemsize=4)
    return {"contiguous_format": x, "channels_last": x.to(memory_format="channels_last")}


def label(index: Index) -> str:
    """The text in the box of x[n, c, h, w]: a letter for the channel, digits for the pixel.

    >>> label((0, 1, 2, 4))
    'b24'
    """
    _, c, h, w = index
    return f"{LETTERS[c]}{h}{w}"


def group(shape: Index, index: Index, highlight: str) -> list[Index]:
    """The indices that light up with x[n, c, h, w]: all channels of its pixel, or pixels of its channel.

    >>> group((2, 3, 4, 5), (0, 1, 1, 2), "pixel")
    [(0, 0, 1, 2), (0, 1, 1, 2), (0, 2, 1, 2)]
    """
    free = (1,) if highlight == "pixel" else (2, 3)
    return [*product(*(range(shape[d]) if d in free else (index[d],) for d in range(4)))]


def step(layout: Layout, index: Index, highlight: str) -> int | None:
    """The number of elements from one of the group to the next; None if there is only one.

    >>> step(layouts((2, 3, 4, 5))["contiguous_format"], (0, 1, 1, 2), "pixel")
    20
    """
    places = sorted(layout.offset(i) for i in group(layout.shape, index, highlight))
    return places[1] - places[0] if len(places) > 1 else None


def apart(steps: int | None) -> str:
    """A step in words.

    >>> apart(1), apart(20)
    ('side by side', '20 elements apart')
    """
    if steps is None:
        return "one element alone"
    return "side by side" if steps == 1 else f"{steps} elements apart"


def spread(shape: Index, index: Index, highlight: str) -> str:
    """A sentence on the distances within the group in each order: the idea of the widget.

    >>> spread((2, 3, 4, 5), (0, 1, 1, 2), "pixel")
    'The 3 channels of pixel (0, 1, 2) lie side by side in channels_last, 20 elements apart in ...'
    >>> spread((2, 1, 4, 5), (0, 0, 1, 2), "pixel")
    'Pixel (0, 1, 2) has one channel: there is nothing to step over.'
    """
    n, c, h, w = index
    pixel, channel = f"ixel ({n}, {h}, {w})", f"hannel {c} of image {n}"
    count = len(group(shape, index, highlight))
    if count == 1:
        has = f"P{pixel} has one channel" if highlight == "pixel" else f"C{channel} has one pixel"
        return f"{has}: there is nothing to step over."
    what = f"channels of p{pixel}" if highlight == "pixel" else f"pixels of c{channel}"
    steps = {name: step(layout, index, highlight) for name, layout in layouts(shape).items()}
    near, far = sorted(FORMATS, key=lambda name: steps[name] or 0)
    if steps[near] == steps[far]:
        return f"The {count} {what} lie side by side in both orders."
    return f"The {count} {what} lie side by side in {near}, {apart(steps[far])} in {far}."


def place(shape: Index, index: Index) -> str:
    """The number of one element in both orders.

    >>> place((2, 3, 4, 5), (0, 1, 1, 2))
    'x[0, 1, 1, 2] is element 27 in contiguous_format, element 22 in channels_last.'
    """
    where = [f"element {layout.offset(index)} in {name}" for name, layout in layouts(shape).items()]
    return f"x[{', '.join(map(str, index))}] is {where[0]}, {where[1]}."


def badge(shape: Index) -> str:
    """A note that says if the flags tell the formats apart, and if not, which sizes are the cause.

    >>> badge((2, 1, 4, 5))
    'ambiguous: C is 1, so both flags are True'
    """
    _, c, h, w = shape
    if c > 1 and h * w > 1:
        return "not ambiguous: one flag is True, the other False"
    ones = ["C"] * (c == 1) + ["H", "W"] * (h * w == 1)
    *most, last = ones
    names = f"{', '.join(most)} and {last} are 1" if most else f"{last} is 1"
    return f"ambiguous: {names}, so both flags are True"


def verdicts(shape: Index) -> list[tuple[bool | None, str]]:
    """Both flags of the contiguous x, and the results of the two conversions to channels_last.

    >>> for _, sentence in verdicts((2, 1, 4, 5)):
    ...     print(sentence)
    x.is_contiguous() is True
    x.is_contiguous(memory_format=torch.channels_last) is True
    x.contiguous(memory_format=torch.channels_last) is x itself: stride (20, 20, 5, 1)
    x.to(memory_format=torch.channels_last) is a copy: stride (20, 1, 5, 1)
    """
    x, name = Layout(shape, itemsize=4), "channels_last"
    flags = [(x.is_contiguous(), ""), (x.is_contiguous(name), f"memory_format=torch.{name}")]
    made = [("contiguous", x.contiguous(name)), ("to", x.to(memory_format=name))]
    return [
        *((flag, f"x.is_contiguous({asked}) is {flag}") for flag, asked in flags),
        *((None, f"x.{verb}(memory_format=torch.{name}) is {_outcome(y)}") for verb, y in made),
    ]


def _outcome(y: Layout) -> str:
    return f"{'a copy' if y.copied else 'x itself'}: stride {y.stride}"


def code(shape: Index) -> str:
    """The torch code that makes the values in both orders.

    >>> print(code((2, 3, 4, 5)))
    x = torch.arange(120.).view(2, 3, 4, 5)
    y = x.to(memory_format=torch.channels_last)
    """
    return (
        f"x = torch.arange({prod(shape)}.).view{shape}\ny = x.to(memory_format=torch.channels_last)"
    )
