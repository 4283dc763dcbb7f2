"""Bugs in programs that train."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isnan
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from stridekit.exercises.bug_hunt import programs
from stridekit.exercises.bug_hunt.hunting import Aside, Facts, Near, bug
from stridekit.exercises.readers.answers import type_in_words
from stridekit.exercises.running import Arguments, Outcome, Unusable


def losses_of(answer: Any) -> list[float]:
    """Return a list of losses as floats."""
    try:
        return [float(loss) for loss in answer]
    except (TypeError, ValueError):
        raise Unusable(f"{type_in_words(answer)}, where a list of losses is asked for") from None


def counted_losses(count: int) -> str:
    """Return a number of losses in words."""
    return "1 loss" if count == 1 else f"{count} losses"


def other_training(yours: Facts, expected: Facts) -> str:
    """Say where the losses leave those of the training that was asked for; "" if they do not."""
    got, right = (facts["losses"].numbers.tolist() for facts in (yours, expected))
    if len(got) != len(right):
        return (
            f"Your list has {counted_losses(len(got))}, and {len(right)} were asked for. How long a "
            "training lasts is not what is wrong with it."
        )
    if yours["losses"] == expected["losses"]:
        return ""
    first = next(k for k, loss in enumerate(got) if Near(loss) != Near(right[k]))
    return (
        f"Loss {first + 1} of {len(right)} is {got[first]:.4f}, and without the bug it is "
        f"{right[first]:.4f}."
    )


# The weights that were best -----------------------------------------------------------------------


def read_fit(answer: Any, args: Arguments) -> Outcome:
    """Read a model and the losses of its training: the loss of the model itself."""
    if not isinstance(answer, tuple | list) or len(answer) != 2 or not callable(answer[0]):
        raise Unusable(f"{type_in_words(answer)}, where a model and its losses are asked for")
    model, losses = answer[0], losses_of(answer[1])
    with torch.no_grad():
        loss = F.mse_loss(model(args["x"]), args["y"]).item()
    lowest = min(losses, default=float("nan"))
    # One epoch more notes the loss after the last step. The bug is not in what the losses are.
    _, one_more = programs.fit(args["x"], args["y"], args["epochs"] + 1)
    facts: Facts = {"losses": Near(losses), "model": Near(loss), "after": one_more[-1]}
    shown = f"{counted_losses(len(losses))}, the lowest {lowest:.4f}; the loss of the model is {loss:.4f}"
    return Outcome(facts, shown)


def explain_fit(yours: Facts, expected: Facts) -> str:
    """Say what is wrong with a model and its losses."""
    if other := other_training(yours, expected):
        return (
            f"{other} So the training or its list of losses has changed. Both were right: the bug is in "
            "what is kept of the model."
        )
    losses = yours["losses"].numbers.tolist()
    loss = yours["model"].numbers.item()
    best = losses.index(min(losses)) + 1
    told = (
        f"The lowest loss, {min(losses):.4f}, came in epoch {best} of {len(losses)}. The model that "
        f"you return has loss {loss:.4f}"
    )
    if Near(loss) == Near(yours["after"]):
        return (
            f"{told}: its weights are those after the last step. The weights of epoch {best} were "
            "overwritten."
        )
    same = [k for k, other_loss in enumerate(losses, 1) if Near(loss) == Near(other_loss)]
    if not same:
        return (
            f"{told}, which the training had at no step. So these weights are not all of one step: copy "
            "each of them at the same moment."
        )
    if same[0] == best + 1:
        return f"{told}, that of epoch {best + 1}: you keep the weights after one step too many."
    return f"{told}, that of epoch {same[0]}: the weights of epoch {best} are lost."


def line_case(epochs: int, seed: int) -> str:
    """Return the source of a case: points near a line, with noise, and a number of epochs."""
    return (
        f"g = torch.Generator().manual_seed({seed}); x = torch.randn(64, 3, generator=g)\n"
        "y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 3 + 0.3 * torch.randn(64, 1, generator=g)\n"
        f"epochs = {epochs}"
    )


@bug(
    title="the best model is not the best",
    faulty=programs.fit,
    read=read_fit,
    explain=explain_fit,
    cases=[
        line_case(epochs=20, seed=0),
        line_case(epochs=30, seed=1),
        line_case(epochs=12, seed=2),
    ],
    hints=[
        "Ask whether `best` changes after it was kept: print `best['weight']` when it is kept, and "
        "again after the loop. Or ask `shares_memory(best['weight'], model.weight)`.",
        "The two share their memory: a `state_dict` holds the weights themselves, under other names. "
        "`optimizer.step()` writes into this memory.",
        "Look at the line that keeps `best`. A new dict around the same tensors does not help: the "
        "tensors need memory of their own.",
    ],
    otherwise="Print `best['weight']` when it is kept, and again after the loop.",
    takeaway=(
        "A `state_dict`, a `detach()` and a slice are views of what training overwrites. To keep "
        "values, copy them."
    ),
    test=(
        "def test_the_model_has_its_lowest_loss():\n"
        "    x, y = torch.ones(4, 1), torch.zeros(4, 1)\n"
        "    model, losses = fit(x, y, 12)\n"
        "    torch.testing.assert_close(F.mse_loss(model(x), y).item(), min(losses))"
    ),
)
def fit(x: torch.Tensor, y: torch.Tensor, epochs: int) -> tuple[nn.Module, list[float]]:
    """Repair `fit`. It fits a line by 64 points, and returns the model at its lowest loss.

    x, y    points: the inputs, of shape (count, width), and the outputs, of shape (count, 1)
    epochs  an int: the number of steps
    return  the model with the weights that had the lowest loss, and a list of all losses
    """
    torch.manual_seed(0)
    model = nn.Linear(x.size(1), 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.95)
    lowest, best, losses = float("inf"), {}, []
    for _ in range(epochs):
        loss = F.mse_loss(model(x), y)
        losses.append(loss.item())
        if losses[-1] < lowest:
            lowest = losses[-1]
            best = {name: value.clone() for name, value in model.state_dict().items()}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.load_state_dict(best)
    return model, losses


# Sentences and their padding ----------------------------------------------------------------------


def first_loss(words: torch.Tensor, lengths: list[int], labels: torch.Tensor) -> float:
    """Return the loss before any step, if the sentences have these lengths."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Linear(words.size(2), 2)
    means = torch.stack([row[:length].mean(0) for row, length in zip(words, lengths, strict=True)])
    return F.cross_entropy(model(means), labels).item()


def read_reader(answer: Any, args: Arguments) -> Outcome:
    """Read the losses of a classifier of sentences."""
    losses = losses_of(answer)
    words, lengths, labels = args["words"], args["lengths"], args["labels"]
    shortest, longest, last = min(lengths), words.size(1), lengths[-1]
    facts: Facts = {
        "losses": Near(losses),
        "lengths": tuple(lengths),  # which a hint needs, as the next three
        "cut": (shortest, first_loss(words, [shortest] * len(lengths), labels)),
        "padded": (longest, first_loss(words, [longest] * len(lengths), labels)),
        "last": (last, first_loss(words, [last] * len(lengths), labels)),
    }
    return Outcome(facts, in_words(losses))


def in_words(losses: list[float]) -> str:
    """Return the number of losses, the first and the last."""
    if not losses:
        return "no losses"
    return f"{counted_losses(len(losses))}, from {losses[0]:.4f} to {losses[-1]:.4f}"


def explain_reader(yours: Facts, expected: Facts) -> str:
    """Say what is wrong with the losses of a classifier of sentences."""
    other = other_training(yours, expected)
    got, right = (facts["losses"].numbers.tolist() for facts in (yours, expected))
    shortest, cut_loss = yours["cut"]
    longest, padded_loss = yours["padded"]
    last, last_loss = yours["last"]
    if not got:
        return other
    if Near(got[0]) == Near(cut_loss):
        cause = (
            f"The first loss, before any step, is {got[0]:.4f}: the loss if each sentence had "
            f"{shortest} words, like the shortest. The other words of the longer sentences are still lost."
        )
        changed = len(got) != len(right)
        return f"{cause} More steps learn from the same wrong means." if changed else cause
    if Near(got[0]) == Near(padded_loss):
        return (
            f"The first loss, before any step, is {got[0]:.4f}: the loss if each sentence had all "
            f"{longest} words. Your means count the padding, too."
        )
    if Near(got[0]) == Near(last_loss):
        return (
            f"The first loss, before any step, is {got[0]:.4f}: the loss if each sentence had {last} "
            f"words, like the last one. The {len(yours['lengths'])} sentences still share one mask."
        )
    if isnan(got[0]):
        return (
            f"The first loss, before any step, is nan, and without the bug it is {right[0]:.4f}. A "
            "sentence whose mask has zeros alone has a mean of no words, 0 / 0."
        )
    if Near(got[0]) == Near(right[0]):
        return f"{other} The means are right, and the training after them has changed."
    return f"{other} No step comes before the first loss, so the means are still wrong."


def sentence_case(lengths: list[int], seed: int) -> str:
    """Return the source of a case: sentences whose padding is 1, with two kinds of labels."""
    return (
        f"g = torch.Generator().manual_seed({seed}); lengths = {lengths}\n"
        f"words = torch.randn({len(lengths)}, {max(lengths)}, 4, generator=g)\n"
        "for row, n in zip(words, lengths): row[n:] = 1\n"
        "labels = torch.tensor([int(row[:n, 0].sum() > 0) for row, n in zip(words, lengths)])"
    )


@bug(
    title="a loss that stays",
    faulty=programs.train_reader,
    read=read_reader,
    explain=explain_reader,
    cases=[
        sentence_case([5, 2, 7, 4], seed=0),
        sentence_case([9, 8, 7, 6, 5, 4, 3], seed=1),
        sentence_case([1, 6, 6, 2, 6, 6], seed=2),
        sentence_case([3, 3, 3, 3], seed=3),
    ],
    hints=[
        "Ask the mask. Before the means are taken, print `is_word[..., 0]` and `is_word.stride()`. "
        "How many words does it leave to each sentence?",
        "All rows of the mask are equal, and its first stride is 0: the sentences share one row of "
        "memory. Each turn of the loop writes zeros into this row.",
        "Look at the line that makes the mask. `expand` repeats a row without memory for it. A mask "
        "that is written to needs memory for each sentence, before the loop begins.",
    ],
    otherwise="Print `is_word[..., 0]` before the means are taken.",
    takeaway=(
        "Never write to an expanded tensor: its rows are one row. `repeat` or `clone` gives each row "
        "its own memory."
    ),
    test=(
        "def test_a_short_sentence_does_not_cut_the_others():\n"
        "    words = torch.randn(2, 5, 3)\n"
        "    labels = torch.tensor([0, 1])\n"
        "    words[0, 1:] = 9.0  # padding of a sentence of one word\n"
        "    alone = [w[None, :n].mean(1) for w, n in zip(words, [1, 5])]\n"
        "    torch.manual_seed(0)\n"
        "    right = F.cross_entropy(nn.Linear(3, 2)(torch.cat(alone)), labels)\n"
        "    torch.testing.assert_close(train_reader(words, [1, 5], labels)[0], right.item())"
    ),
)
def train_reader(words: torch.Tensor, lengths: list[int], labels: torch.Tensor) -> list[float]:
    """Repair `train_reader`. It trains a classifier on the mean of the words of each sentence.

    words    vectors, of shape (sentences, longest, width); after its words, a sentence is padded
    lengths  the number of words of each sentence, as ints of 1 or more
    labels   0 or 1 for each sentence
    return   the list of 60 losses, each before its step
    """
    torch.manual_seed(0)
    count, longest, width = words.shape
    is_word = torch.ones(longest, 1).repeat(count, 1, 1)
    for sentence, length in zip(is_word, lengths, strict=True):
        sentence[length:] = 0  # the rest is padding
    means = (words * is_word).sum(1) / is_word.sum(1)
    model = nn.Linear(width, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    losses = []
    for _ in range(60):
        loss = F.cross_entropy(model(means), labels)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


# Photos of an array -------------------------------------------------------------------------------


def read_photos(answer: Any, args: Arguments) -> Outcome:
    """Read the losses of a classifier of photos, and what has become of the photos."""
    losses = losses_of(answer)
    photos = args["photos"]
    low, high = float(photos.min()), float(photos.max())
    checksum = zlib.crc32(photos.tobytes())
    facts: Facts = {
        "losses": Near(losses),
        "photos": (low, high, checksum),
        # The losses if each epoch spreads the levels of the same memory once more.
        "once more": Near(programs.train_photos(photos.copy(), args["labels"], args["epochs"])),
    }
    shown = f"{in_words(losses)}\nafter the call, photos lie between {low:.6g} and {high:.6g}"
    return Outcome(facts, shown)


def explain_photos(yours: Facts, expected: Facts) -> str:
    """Say what is wrong with the losses of a classifier of photos, or with the photos."""
    low, high, _ = yours["photos"]
    low_before, high_before, _ = expected["photos"]
    other = other_training(yours, expected)
    if yours["photos"] == expected["photos"]:
        if yours["losses"] == yours["once more"]:
            return (
                f"The photos stay as they are. {other} Each epoch spreads the levels of your copy once "
                "more. Spread them once, or into new memory."
            )
        return (
            f"The photos stay as they are. {other} So x has other "
            "values than it should, or another line of the training has changed."
        )
    overwritten = (
        f"The array that the caller handed in is overwritten: its photos lay between "
        f"{low_before:.3g} and {high_before:.3g}, and now lie between {low:.6g} and {high:.6g}."
    )
    if not other:
        return f"The losses are right. {overwritten} The next call begins with these photos."
    return f"{overwritten} {other} Each epoch begins with what the last one left."


def photo_case(count: int, epochs: int, seed: int) -> str:
    """Return the source of a case: photos of 256 levels, brighter on the left for label 1."""
    return (
        f"rng = np.random.default_rng({seed}); epochs = {epochs}\n"
        f"labels = rng.integers(0, 2, {count})\n"
        f"photos = rng.integers(0, 128, ({count}, 4, 4)).astype(np.float32) / 256\n"
        "photos[:, :, :2] += labels[:, None, None].astype(np.float32) / 2"
    )


@bug(
    title="a loss that explodes",
    faulty=programs.train_photos,
    read=read_photos,
    explain=explain_photos,
    writes=["photos"],
    cases=[
        photo_case(count=32, epochs=3, seed=0),
        photo_case(count=20, epochs=4, seed=1),
        photo_case(count=16, epochs=1, seed=2),
        photo_case(count=3, epochs=2, seed=3),
    ],
    hints=[
        "Ask the data, not the model. Print `x.min()` and `x.max()` for the first batch of each "
        "epoch, and `photos.min()` and `photos.max()` after the training.",
        "The photos of the array change with x, by the same factor in each epoch: the two share one "
        "memory. `shares_memory(torch.from_numpy(photos), x)` says so, too.",
        "Look at the operations on x whose names end in an underscore. They write into the array, "
        "because `from_numpy` copies nothing.",
    ],
    otherwise="Print `photos.min()` and `photos.max()` before and after the training.",
    takeaway=(
        "`from_numpy` and a NumPy slice copy nothing. Write in place only to memory that you made."
    ),
    test=(
        "def test_training_leaves_the_photos_alone():\n"
        "    photos = np.full((4, 2, 2), 0.75, dtype=np.float32)\n"
        "    train_photos(photos, np.array([0, 1, 0, 1]), 1)\n"
        "    assert (photos == 0.75).all()"
    ),
)
def train_photos(photos: np.ndarray, labels: np.ndarray, epochs: int) -> list[float]:
    """Repair `train_photos`. It trains a classifier on photos whose levels it spreads to -2 … 2.

    photos  float32 from 0 to 1, of shape (count, height, width); they belong to the caller
    labels  0 or 1 for each photo
    epochs  an int: how many times the training sees all photos
    return  the list of the mean losses, one for each epoch
    """
    torch.manual_seed(0)
    model = nn.Linear(photos[0].size, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(epochs):
        total = 0.0
        for start in range(0, len(photos), 16):
            x = torch.from_numpy(photos[start : start + 16])
            y = torch.from_numpy(labels[start : start + 16])
            x = (x - 0.5) / 0.25  # from 0 … 1 to -2 … 2
            loss = F.cross_entropy(model(x.flatten(1)), y)
            total += loss.item() * len(x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(total / len(photos))
    return losses


# Two branches -------------------------------------------------------------------------------------


class Hooked(dict[str, Any]):
    """The arguments of a call, how often a hook changed its gradient in place, or did nothing."""

    in_place = 0
    idle = 0


@contextmanager
def watching_hooks(fn: Callable[..., Any], arguments: Arguments) -> Iterator[Hooked]:
    """Count the calls of hooks that change their argument: a fence that stops nothing."""
    args = Hooked(arguments)
    register_hook = torch.Tensor.register_hook

    def register(t: torch.Tensor, hook: Callable[..., Any]) -> Any:
        def counting(grad: torch.Tensor) -> Any:
            before = grad.clone()
            new_grad = hook(grad)
            if not torch.equal(grad, before):
                args.in_place += 1
            elif new_grad is None:
                args.idle += 1
            return new_grad

        # The gradient of a weight belongs to nobody else, and may change.
        return register_hook(t, hook if t.is_leaf else counting)

    with mock.patch.object(torch.Tensor, "register_hook", register):
        yield args


def moved(model: nn.Module, start: nn.Module) -> float:
    """Return how far the weights of a model are from those of another."""
    pairs = zip(model.parameters(), start.parameters(), strict=True)
    return sum(float((after - before).detach().square().sum()) for after, before in pairs) ** 0.5


def read_branches(answer: Any, args: Arguments) -> Outcome:
    """Read the losses and the two branches: how far each has moved from its start."""
    is_triple = isinstance(answer, tuple | list) and len(answer) == 3
    if not is_triple or not all(isinstance(branch, nn.Linear) for branch in answer[1:]):
        raise Unusable(f"{type_in_words(answer)}, where losses and two branches are asked for")
    losses = losses_of(answer[0])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        old, new = (nn.Linear(args["x"].size(1), 1) for _ in range(2))
    old_moved, new_moved = moved(answer[1], old), moved(answer[2], new)
    facts: Facts = {
        "losses": Near(losses),
        "old": Near(old_moved),
        "new": Near(new_moved),
        "in place": args.in_place if isinstance(args, Hooked) else 0,
        "idle": Aside(args.idle if isinstance(args, Hooked) else 0),
    }
    shown = f"{in_words(losses)}\nold moved by {old_moved:.4f}, new by {new_moved:.4f}"
    return Outcome(facts, shown)


def explain_branches(yours: Facts, expected: Facts) -> str:
    """Say what is wrong with the training of two branches."""
    parts = ("losses", "old", "new")
    if any(yours[name] != expected[name] for name in parts):
        other = other_training(yours, expected)
        old, new = (yours[name].numbers.item() for name in ("old", "new"))
        right_old, right_new = (expected[name].numbers.item() for name in ("old", "new"))
        if yours["in place"]:
            cause = (
                f"A hook still changes its gradient in place, {yours['in place']} times, and the "
                "other branch has the same gradient."
            )
        elif yours["idle"].count:
            cause = (
                f"A hook ran {yours['idle'].count} times, changed nothing and returned None. It has to "
                "return the new gradient."
            )
        elif yours["losses"].numbers[:1].tolist() != expected["losses"].numbers[:1].tolist():
            cause = (
                "No step comes before the first loss, so the sum of the branches is another one."
            )
        else:
            cause = "Only the old branch is to learn at a tenth of the rate."
        return (
            f"{other} The new branch moved by {new:.4f}, and {right_new:.4f} is right. The old one "
            f"moved by {old:.4f}, and {right_old:.4f} is right. {cause}"
        ).strip()
    return (
        f"The numbers are right, but a hook changed its gradient in place, {yours['in place']} times. "
        "A sum hands one gradient to both branches, so the order of two lines decides which branch reads "
        "it before. The next edit can change that."
    )


def branch_case(steps: int, seed: int, width: int = 4) -> str:
    """Return the source of a case: points near a plane, and a number of steps."""
    return (
        f"g = torch.Generator().manual_seed({seed}); x = torch.randn(32, {width}, generator=g)\n"
        f"y = x.sum(1, keepdim=True) + torch.randn(32, 1, generator=g); steps = {steps}"
    )


@bug(
    title="the wrong branch is slow",
    faulty=programs.train_branches,
    read=read_branches,
    explain=explain_branches,
    fence=watching_hooks,
    cases=[
        branch_case(steps=10, seed=0),
        branch_case(steps=2, seed=1),
        branch_case(steps=25, seed=2, width=1),
    ],
    hints=[
        "Ask the gradients. Run one step with the hook and one without, and print "
        "`old.weight.grad` and `new.weight.grad` each time. Which of them should the hook change?",
        "The hook makes both gradients ten times smaller. The sum hands one gradient tensor to both "
        "branches: print `grad.data_ptr()` in a hook of each branch, and see one address.",
        "Look at the function that is given to `register_hook`. Its underscore writes into a tensor "
        "that belongs to both branches. A hook can return a new gradient instead.",
    ],
    otherwise="Print both weights' gradients after one step, with the hook and without it.",
    takeaway=(
        "A gradient may belong to several tensors. A hook never changes its argument: it returns a "
        "new tensor."
    ),
    test=(
        "def test_the_new_branch_learns_at_the_full_rate():\n"
        "    torch.manual_seed(0)\n"
        "    _, start = nn.Linear(1, 1), nn.Linear(1, 1)\n"
        "    _, old, new = train_branches(torch.ones(8, 1), torch.full((8, 1), 9.0), 1)\n"
        "    torch.manual_seed(0)\n"
        "    slow = (old.bias - nn.Linear(1, 1).bias).item()\n"
        "    assert abs((new.bias - start.bias).item() / slow - 10) < 0.1"
    ),
)
def train_branches(
    x: torch.Tensor, y: torch.Tensor, steps: int
) -> tuple[list[float], nn.Module, nn.Module]:
    """Repair `train_branches`. It trains two branches, whose results are added.

    x, y    points: the inputs, of shape (count, width), and the outputs, of shape (count, 1)
    steps   an int: the number of steps
    return  the list of losses, the old branch, which learns at a tenth of the rate, and the new
            one, which learns at the full rate
    """
    torch.manual_seed(0)
    old, new = nn.Linear(x.size(1), 1), nn.Linear(x.size(1), 1)
    optimizer = torch.optim.SGD([*old.parameters(), *new.parameters()], lr=0.05)
    losses = []
    for _ in range(steps):
        of_new = new(x)
        of_old = old(x)
        of_old.register_hook(lambda grad: grad * 0.1)
        loss = F.mse_loss(of_old + of_new, y)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses, old, new
