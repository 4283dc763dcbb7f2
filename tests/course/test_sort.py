"""Sort without a browser: its verdicts beside NumPy's and beside writes, the game, and what it tells."""

import json

import numpy as np
import pytest
import torch

from stridekit.widgets import Sort
from stridekit.widgets.sort.judge import LONGEST, expressions
from stridekit.widgets.sort.widget import BINS

X = torch.arange(24.0).view(4, 6)
ALSO = ("x.t()", "x[:, ::2]", "x[1:]", "x[:, 2]", "x.int()", "x.expand(2, 4, 6)")
CALLS = """
x[1:]; x[..., ::2]; x.t(); x.T; x.mT; x.transpose(0, -1); x[None]; x.unsqueeze(1); x.squeeze()
x.detach(); x.data; x.expand(3, 4, 6); x.unfold(0, 2, 1); x.diagonal(); x.select(0, 1)
x.narrow(0, 1, 2); x.split(2)[1]; x.unbind()[0]; x.view(24); x.view(-1); x.view_as(x)
x.view(torch.int32); x.as_strided((3,), (7,), 1); x.numpy(); x.add_(1); x.t_(); x.clone(); x + 0; x * 1
-x; x[[0, 1]]; x[range(2)]; x[x >= 0]; x[torch.tensor([0])]; x[torch.tensor(0)]
x.take(torch.tensor([0])); x.flip(0); x.roll(0); x.repeat(1, 1); x.tile(1); x.repeat_interleave(1)
torch.cat([x]); torch.stack([x]); x.tril(); x.reshape(-1); x.reshape(6, 4); x.flatten(); x.flatten(0, 0)
x.ravel(); x.contiguous(); x.contiguous().view(-1); x.float(); x.int(); x.to(torch.float32)
x.to(torch.float32, copy=True); x.type_as(torch.ones(1)); torch.as_tensor(x); torch.einsum('ij->ji', x)
torch.einsum('ij->ij', x); torch.atleast_2d(x); torch.dropout(x, 0.5, False); +x; x.cpu()
torch.dropout(x, 0.5, True); torch.rand_like(x.float()); torch.broadcast_tensors(x, x)[0]
x.movedim(0, -1)
"""
CALLS = [call.strip() for call in CALLS.strip().replace("\n", ";").split(";")]


def test_a_text_holds_as_many_calls_of_the_longest_kind_as_a_game():
    most = 3
    longest = " " * (most * (LONGEST + 2) - 5) + "x.t()"
    assert expressions("calls", (longest,), most) == ("x.t()",)
    with pytest.raises(ValueError, match="characters: give a few short calls"):
        expressions("calls", (f"{longest} ",), most)


def games():
    """Games with all of the calls, as many calls in each as it takes."""
    return [Sort(X, *CALLS[k : k + 24], also=ALSO) for k in range(0, len(CALLS), 24)]


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_numpy_agrees_with_every_verdict():
    """Each call runs on each tensor again: its bin and its words follow from the shared memory."""
    for game in games():
        for card in game._cards:
            is_shared = sharing(card["call"])
            assert game.answers[card["call"]] == BINS[card["bin"]]
            assert BINS[card["bin"]] == bin_of({*is_shared.values()}), card["call"]
            check_words(card, is_shared)


def sharing(call):
    """Return for each tensor on which a call does not fail whether its result shares memory with it."""
    is_shared = {}
    for source in ("x", *ALSO):
        x = eval(source, {"x": X.clone()})
        try:
            y = eval(call, {"x": x, "torch": torch})
        except Exception:
            continue
        is_shared[source] = np.shares_memory(np.asarray(y), x.numpy())
    return is_shared


def bin_of(outcomes):
    if outcomes == {True, False}:
        return "it depends"
    return "view" if outcomes == {True} else "copy"


def check_words(card, is_shared):
    """Check what speaks against the other bins, and the tensors for which the call fails."""
    copied = [f"`{source}`" for source in is_shared if not is_shared[source]]
    viewed = [f"`{source}`" for source in is_shared if is_shared[source]]
    all_but_last = ", ".join(f"`{source}`" for source in [*is_shared][:-1])
    witnesses = [next(iter(copied), None), next(iter(viewed), None), all_but_last]
    for b, words in enumerate(card["against"]):
        assert bool(words) == (b != card["bin"])
        if words:
            assert witnesses[b] and witnesses[b] in words, card["call"]
    failing = [source for source in ("x", *ALSO) if source not in is_shared]
    assert ("raises an error for" in card["how"]) == bool(failing)
    assert all(f"`{source}`" in card["how"] for source in failing)


def lines_after(*moves):
    """Return the lines of a game with a call for each bin after some moves, from the third line on."""
    w = Sort(X, "x.t(); x + 0; x.reshape(-1)", also="x.t(); x[1:]")
    w.moves = moves
    return [line.strip() for line in repr(w).splitlines()[2:]]


VIEW = ("x.t()", "view")
COPY = ("x + 0", "copy")
EITHER = ("x.reshape(-1)", "it depends")
SHAPED = "`x` with shape (6, 4), stride (1, 6), storage_offset 0"


@pytest.mark.parametrize(
    ("moves", "start"),
    [
        ([VIEW], f"✓ `x.t()` makes a view each time: of {SHAPED}."),
        ([COPY], "✓ `x + 0` makes a copy each time, with memory of its own."),
        ([EITHER], "✓ `x.reshape(-1)` makes a view of `x` and `x[1:]`, but copies `x.t()`."),
        ([VIEW, COPY, EITHER], "All 3 sorted, 3 at the first try."),
        ([("x.t()", "copy")], "0 of 3 sorted"),
        (
            [("x.t()", "copy")],
            "✗ `x.t()` is not always a copy: it makes a view of `x`. It goes back",
        ),
        (
            [("x.t()", "copy"), ("x + 0", "it depends")],
            "✗ `x + 0` does not depend on `x`: the answer is the same for `x`, `x.t()` and `x[1:]`. "
            "It goes back under the pile.",
        ),
        (
            [
                ("x.reshape(-1)", "view"),
                ("x + 0", "view"),
                *[("x.t()", "copy")] * 2,
                VIEW,
                EITHER,
                COPY,
            ],
            "All 3 sorted, 0 at the first try. Look again at `x.reshape(-1)`, `x + 0`, `x.t()`.",
        ),
        # Nothing is given away, and a wrong card goes under the pile.
        ([], "to sort: x.t() | x + 0 | x.reshape(-1)"),
        ([("x.t()", "copy")], "to sort: x + 0 | x.reshape(-1) | x.t()"),
    ],
)
def test_each_move_is_explained(moves, start):
    assert any(line.startswith(start) for line in lines_after(*moves))


def test_nothing_is_explained_before_the_first_move():
    assert len(lines_after()) == 1


def test_the_code_is_the_game_as_it_stands():
    w = Sort(X, "x.t(); x + 0; x.reshape(-1)", also="x.t(); x[1:]")
    w.moves = [("x.t()", "copy"), ("x.t()", "view")]
    twin = eval(w.code, {"Sort": Sort, "x": X})
    assert (twin.code, twin.moves, twin._game) == (w.code, w.moves, w._game)


def test_the_code_of_the_largest_game_makes_it_again():
    longest = [f"x.view(24)[{k:>{LONGEST - 13}}:]" for k in range(24)]
    assert {*map(len, longest)} == {LONGEST}
    w = Sort(X, *longest, also="-x")
    assert eval(w.code, {"Sort": Sort, "x": X}).code == w.code


def test_x_and_torch_stay_as_they_are():
    """Calls may write, draw random numbers and change defaults."""
    x = X.clone().requires_grad_()
    state = torch.random.get_rng_state()
    writes = "x.add_(1); x.resize_(2); torch.dropout(x, 0.5, True)"
    sets = "torch.set_default_dtype(torch.float64) or x"
    Sort(x, writes, sets, also="x[1:]; x.t()")
    assert torch.equal(x, X) and x.shape == X.shape and x._version == 0 and x.grad_fn is None
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_default_dtype() == torch.float32


def test_defaults_of_torch_change_no_verdict():
    with torch.device("meta"), torch.inference_mode():
        w = Sort(X, "torch.cat([x, torch.ones(4, 6)]); x.t()", also="x[:]")
    assert w.answers == {"torch.cat([x, torch.ones(4, 6)])": "copy", "x.t()": "view"}


def test_what_torch_refuses_for_some_tensors_does_not_count():
    """`view` never copies, it raises, and the card says so."""
    w = Sort(X, "x.view(24); x.masked_fill_(x > 3, 0); x.t_()", also="x.t(); x[0].expand(4, 6)")
    how = {card["call"]: card["how"] for card in w._cards}
    assert {*w.answers.values()} == {"view"}
    assert how["x.view(24)"] == (
        "makes a view of `x`, but raises an error for `x.t()` and `x[0].expand(4, 6)`; "
        "it never copies"
    )
    assert how["x.t_()"] == "gives back `x`, `x.t()` and `x[0].expand(4, 6)`; it never copies"


def test_texts_of_calls_may_hold_several_over_several_lines():
    w = Sort(X, "x.t(); x[[0,1]]\nx[1:]", " x + 0 ", also=["x.t()"])
    assert [*w.answers] == ["x.t()", "x[[0,1]]", "x[1:]", "x + 0"]
    assert json.dumps(w._game)
