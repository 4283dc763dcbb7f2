"""Bugs in programs that handle photos, and the photo that they handle."""

from typing import Any

import numpy as np
import torch

from stridekit.exercises.bug_hunt import programs
from stridekit.exercises.bug_hunt.hunting import Facts, Near, bug
from stridekit.exercises.readers.answers import type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable

MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
NEARLY = 2  # levels of 255 by which a pixel may be off and still be the same pixel
SPREAD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def sunset(height: int, width: int) -> np.ndarray:
    """Return a small photo of a sun over the sea: uint8, of shape (height, width, 3)."""
    y, x = np.mgrid[0:height, 0:width] / np.array([height, width]).reshape(2, 1, 1)
    horizon = 0.62
    sky = np.stack([0.35 + y, 0.2 + 0.6 * y, 0.65 - 0.5 * y], axis=-1)
    waves = 0.06 * np.sin(60 * y + 9 * x)
    sea = np.stack([0.15 + waves, 0.3 + waves, 0.5 + 2 * waves], axis=-1)
    photo = np.where((y < horizon)[..., None], sky, sea)
    distance = np.hypot((x - 0.3) * width / height, y - 0.36)
    photo[distance < 0.17] = (1.0, 0.85, 0.3)
    return (255 * photo.clip(0, 1)).astype(np.uint8)


def rgb_of(batch: torch.Tensor) -> np.ndarray:
    """Return the first image of a prepared batch as uint8 of shape (height, width, 3), to look at."""
    pixels = (batch[0] * SPREAD + MEAN).clamp(0, 1).permute(1, 2, 0)
    return (255 * pixels).round().to(torch.uint8).numpy()


def read_prepared(answer: Any, args: Arguments) -> Outcome:
    """Read a prepared batch: its shape, its values, and which pixels of the photo they are."""
    if not isinstance(answer, torch.Tensor) or not answer.is_floating_point():
        raise Unusable(f"{type_in_words(answer)}, where a tensor of floats is asked for")
    side = min(args["photo"].shape[:2])
    facts: Facts = {
        "shape": tuple(answer.shape),
        "dtype": str(answer.dtype),
        "values": Near(answer),
        "photo": args["photo"].tolist(),  # which a hint needs
    }
    lines = [f"{answer.dtype} of shape {tuple(answer.shape)}"]
    if answer.shape == (1, 3, side, side):
        last = side - 1
        levels = pixels_of(answer)
        first, second = levels[:, 0, 0].tolist(), levels[:, 0, last].tolist()
        lines.append(f"red, green, blue at (0, 0): {first}, at (0, {last}): {second}")
    return Outcome(facts, "\n".join(lines))


def pixels_of(batch: torch.Tensor) -> torch.Tensor:
    """Return the levels of a prepared batch, from 0 to 255, of shape (3, height, width)."""
    mean, spread = MEAN.to(batch.dtype), SPREAD.to(batch.dtype)
    return (255 * (batch[0].detach() * spread + mean)).round().to(torch.int64)


def explain_prepared(yours: Facts, expected: Facts) -> str:
    """Say what is wrong with a prepared batch."""
    if yours["shape"] != expected["shape"]:
        return (
            f"Your batch has shape {yours['shape']}. A network takes one image of three channels, "
            f"here {expected['shape']}: batch, channel, row, column."
        )
    if yours["dtype"] != expected["dtype"]:
        size = yours["values"].numbers.numel()
        return (
            f"All {size} values of your batch are {yours['dtype']}. The weights of a network are "
            f"{expected['dtype']}, and its layers refuse other numbers."
        )
    values = yours["values"].numbers
    right_values = expected["values"].numbers
    unusable = int((~values.isfinite()).sum())
    if unusable:
        return (
            f"{unusable} of the {values.numel()} values of your batch are nan or infinite. The first value "
            f"is {values.flatten()[0]:.4f}, and {right_values.flatten()[0]:.4f} is right."
        )
    got, right = pixels_of(values), pixels_of(right_values)
    wrong = int((got != right).any(0).sum())
    total = right[0].numel()
    if torch.equal(got, right.transpose(1, 2)):
        row, column = (got != right).any(0).nonzero()[0].tolist()
        return (
            f"The colours are right, and the picture lies on its side: the pixel at ({row}, {column}) "
            f"is the photo's pixel at ({column}, {row}). {wrong} of {total} pixels are wrong. Rows and "
            "columns have to keep their order when the channels come to the front."
        )
    if torch.equal(got, right.flip(0)):
        return (
            f"Red and blue are exchanged in {wrong} of {total} pixels: the first reads "
            f"{got[:, 0, 0].tolist()}, and the photo has {right[:, 0, 0].tolist()} there."
        )
    if torch.equal(got[0], got[1]) and torch.equal(got[1], got[2]):
        return (
            f"The three channels are equal, so all colour is gone: the first pixel reads "
            f"{got[:, 0, 0].tolist()}, and the photo has {right[:, 0, 0].tolist()} there."
        )
    if (got - right).abs().max() <= NEARLY:
        place = int((values - right_values).abs().argmax())
        return (
            f"All {total} pixels are at their places, but their values are a little off: one of them is "
            f"{values.flatten()[place]:.4f}, and {right_values.flatten()[place]:.4f} is right. Compare the "
            "numbers by which the program divides, and those that it takes off."
        )
    levels = torch.tensor(yours["photo"])
    is_foreign = ~torch.isin(got, levels)
    is_wrong = is_foreign if is_foreign.any() else got != right
    row, column = is_wrong.any(0).nonzero()[0].tolist() if wrong else (0, 0)
    got_pixel, right_pixel = got[:, row, column].tolist(), right[:, row, column].tolist()
    counted = f"{wrong} of {total} pixels are wrong. At ({row}, {column})"
    if is_foreign.any():
        return (
            f"{counted}, the photo has red, green and blue {right_pixel}, and your batch has {got_pixel}, "
            "once its mean and its spread are taken back. The photo has no such levels. They are to "
            "lie between 0 and 1; then the mean is taken off, and the rest is divided by the spread."
        )
    if got_pixel in levels.flatten(0, 1).tolist():
        there = (
            f"{counted} belongs the pixel {right_pixel} of the photo, and your batch has its pixel "
            f"{got_pixel} there. The colours stay together"
        )
        if sorted(got.flatten(1).T.tolist()) == sorted(right.flatten(1).T.tolist()):
            return f"{there}, and all pixels of the square are there, in another order."
        return f"{there}, and the square is cut from another place."
    return (
        f"{counted}, the photo has red, green and blue {right_pixel}, and your batch has {got_pixel}. "
        "Do these three values lie beside each other in the photo?"
    )


@bug(
    title="a sunset in stripes",
    faulty=programs.prepare,
    read=read_prepared,
    explain=explain_prepared,
    cases=[
        "photo = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)",
        "photo = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)",
        "photo = np.arange(5 * 3 * 3, dtype=np.uint8).reshape(5, 3, 3)",
        "photo = np.arange(9 * 2 * 3, dtype=np.uint8).reshape(9, 2, 3)",
        "photo = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)[::2].copy()",
        "photo = np.random.default_rng(0).integers(0, 256, (9, 16, 3), dtype=np.uint8)",
        "photo = np.full((1, 1, 3), (255, 0, 128), dtype=np.uint8)",
    ],
    hints=[
        "Ask the tensor itself. Prepare a photo of 2 x 2 pixels whose values are 0 to 11, and print x "
        "after each line. Which three values belong to one pixel?",
        "In the photo, the three values of a pixel lie beside each other: 0, 1, 2. After one line of "
        "the program, 0, 1, 2, 3 are all red. The shape is right there, and the order is not.",
        "Look at the line that brings the channels to the front. `reshape` never moves a value. The "
        "line needs an operation that exchanges dims.",
    ],
    otherwise="Print x after each line for a photo of 2 x 2 pixels with the values 0 to 11.",
    takeaway=(
        "`reshape` keeps the reading order. To exchange dims, name them: `permute`, `transpose` or "
        "`movedim`."
    ),
    test=(
        "def test_a_pixel_stays_together():\n"
        "    photo = np.zeros((4, 6, 3), dtype=np.uint8)\n"
        "    photo[1, 2] = 255  # one white pixel: (1, 1) of the square\n"
        "    bright = prepare(photo)[0] > 0\n"
        "    assert bright.nonzero().tolist() == [[0, 1, 1], [1, 1, 1], [2, 1, 1]]"
    ),
)
def prepare(photo: np.ndarray) -> torch.Tensor:
    """Repair `prepare`. It cuts the square in the middle of a photo, and makes a batch of one.

    photo   uint8, of shape (height, width, 3): red, green and blue of each pixel
    return  float32, of shape (1, 3, side, side), with the mean taken off and divided by the spread
    """
    height, width, _ = photo.shape
    x = torch.from_numpy(photo).float() / 255
    x = x.permute(2, 0, 1)
    side = min(height, width)
    top = (height - side) // 2
    left = (width - side) // 2
    x = x[:, top : top + side, left : left + side]
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    spread = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    return ((x - mean) / spread)[None]
