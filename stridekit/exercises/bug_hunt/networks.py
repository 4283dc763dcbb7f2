"""A bug in a network that is to run in channels-last."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from stridekit.exercises.bug_hunt import programs
from stridekit.exercises.bug_hunt.hunting import Facts, Near, bug
from stridekit.exercises.readers.answers import type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable

COPIES = ("clone", "_to_copy", "copy_")


class FormatLog(TorchDispatchMode):
    """Notes the format in which each convolution gets its images, and bytes that change format."""

    _should_skip_dynamo = classmethod(lambda cls: False)  # or torch loads its compiler, in 1 s

    def __init__(self) -> None:
        super().__init__()
        self.formats: list[str] = []
        self.converted = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name == "convolution":
            self.formats.append(format_of(args[0]))
        result = func(*args, **(kwargs or {}))
        if name in COPIES:
            source = args[1] if name == "copy_" else args[0]
            if source.dim() == 4 and format_of(source) != format_of(result):
                self.converted += source.numel() * source.element_size()
        return result


def format_of(images: torch.Tensor) -> str:
    """Return the format of images whose sizes are all above 1: its channels or its columns are near."""
    return "channels-last" if images.stride(1) < images.stride(3) else "NCHW"


class Logged(dict[str, Any]):
    """The arguments of a call, and the log of its formats."""

    log: FormatLog


@contextmanager
def logging_formats(fn: Callable[..., Any], arguments: Arguments) -> Iterator[Logged]:
    """Log formats inside: a fence that stops nothing."""
    args = Logged(arguments)
    args.log = FormatLog()
    with args.log:
        yield args


def read_features(answer: Any, args: Arguments) -> Outcome:
    """Read features, the formats that the convolutions got, and the bytes that changed format."""
    if not isinstance(answer, torch.Tensor):
        raise Unusable(f"{type_in_words(answer)}, where a tensor is asked for")
    assert isinstance(args, Logged)
    formats, converted = [*args.log.formats], args.log.converted  # before another operation
    facts: Facts = {
        "shape": tuple(answer.shape),
        "values": Near(answer.clone()),
        "formats": tuple(formats),
        "converted": max(converted, args["photos"].nbytes),  # the photos themselves have to be
    }
    shown = (
        f"features of shape {tuple(answer.shape)}; the convolutions got "
        f"{' and '.join(formats) or 'nothing'}\n{converted:,} bytes changed their format"
    )
    return Outcome(facts, shown)


def explain_features(yours: Facts, expected: Facts) -> str:
    """Say what is wrong with features, or with the formats on the way."""
    right = expected["converted"]
    if yours["shape"] != expected["shape"]:
        return (
            f"Your features have shape {yours['shape']}, and {expected['shape']} is wanted: one mean "
            "for each photo and channel."
        )
    if yours["values"] != expected["values"]:
        got_first = yours["values"].numbers.flatten()[0]
        right_first = expected["values"].numbers.flatten()[0]
        return (
            f"Your features are others: the first is {got_first:.4f} and was {right_first:.4f}. The "
            "values were right before, only slow. Keep them."
        )
    nchw = [number for number, name in enumerate(yours["formats"], 1) if name == "NCHW"]
    if nchw:
        which = "both convolutions get" if len(nchw) > 1 else f"convolution {nchw[0]} gets"
        hint = (
            f"The values are right, and {which} NCHW images. The weights were handed over in "
            "channels-last, so that a convolution of NCHW images has to reorder them inside."
        )
        if yours["converted"] > right:
            return (
                f"{hint} Before that, {yours['converted']:,} bytes change their format on the way. The "
                f"{right:,} bytes of the photos are enough."
            )
        return hint
    return (
        f"Both convolutions get channels-last images, but {yours['converted']:,} bytes change their "
        f"format on the way. The {right:,} bytes of the photos are enough: all else can be written "
        "in channels-last at once."
    )


def network_case(count: int, channels: int, size: int) -> str:
    """Return the source of a case: photos and two convolutions in channels-last."""
    convolution = "torch.nn.Conv2d({}, {}, 3, padding=1).requires_grad_(False)"
    to_format = ".to(memory_format=torch.channels_last)"
    return (
        f"torch.manual_seed(0); photos = torch.rand({count}, 3, {size}, {size})\n"
        f"first = {convolution.format(3, channels)}{to_format}\n"
        f"second = {convolution.format(channels, 4)}{to_format}"
    )


@bug(
    title="a switch to channels-last that brought nothing",
    faulty=programs.features,
    read=read_features,
    explain=explain_features,
    fence=logging_formats,
    cases=[
        network_case(count=2, channels=8, size=6),
        network_case(count=1, channels=16, size=5),
        network_case(count=3, channels=2, size=8),
    ],
    hints=[
        "Ask `audit(features, photos, first, second)`: it lists the calls that copy because of a "
        "layout, and the line that made the layout.",
        "A convolution gets images in another format than its weights, and has to reorder them. The "
        "line with the convolution is not to blame: read on at `made by`.",
        "Look at the line that makes `swapped`. `torch.empty` with sizes alone is NCHW, whatever is "
        "written into it later. Give the new tensor the format of x.",
    ],
    otherwise="Print `x.stride()` and `swapped.stride()` before the second convolution.",
    takeaway=(
        "New memory has the format that its line asks for: pass `memory_format`, or use a `_like` "
        "function. One NCHW buffer undoes channels-last."
    ),
    test=(
        "def test_the_second_convolution_gets_channels_last():\n"
        "    first, second = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)\n"
        "    seen = []\n"
        "    second.register_forward_pre_hook(lambda module, args: seen.append(args[0]))\n"
        "    features(torch.rand(2, 3, 8, 8), first, second)\n"
        "    assert seen[0].is_contiguous(memory_format=torch.channels_last)"
    ),
)
def features(photos: torch.Tensor, first: nn.Module, second: nn.Module) -> torch.Tensor:
    """Repair `features`. It runs two convolutions, all in channels-last, and means their result.

    photos         float32, of shape (count, 3, height, width), in NCHW
    first, second  convolutions whose weights are channels-last; the first has an even number of
                   channels, whose halves are exchanged before the second
    return         one mean for each photo and channel; only the photos change their format
    """
    x = photos.to(memory_format=torch.channels_last)
    x = F.relu(first(x))
    half = x.size(1) // 2
    swapped = torch.empty_like(x)
    swapped[:, :half] = x[:, half:]
    swapped[:, half:] = x[:, :half]
    x = F.relu(second(swapped))
    return x.mean((2, 3))
