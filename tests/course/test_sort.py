"""Sort without a browser: its verdicts beside NumPy's and beside writes, the game, and what it tells."""

import json

import numpy as np
import pytest
import torch

from stridekit.widgets import Sort
from stridekit.widgets.sort.judge import LONGEST
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
CALLS = [call.strip() for line in CALLS.strip().splitlines() for call in line.split(";")]


def games():
    """Games with all of the calls, as many in each as it takes."""
    return [Sort(X, *CALLS[k : k + 24], also=ALSO) for k in range(0, len(CALLS), 24)]


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_numpy_agrees_with_every_verdict():
    """Each call runs on each tensor again: from what is shared follow its bin and what is told."""
    for game in games():
        for card in game._cards:
            found = {}
            for source in ("x", *ALSO):
                x = eval(source, {"x": X.clone()})
                try:
                    y = eval(card["call"], {"x": x, "torch": torch})
                except Exception:
                    continue
                found[source] = np.shares_memory(np.asarray(y), x.numpy())
            both = {*found.values()}
            bin = "it depends" if len(both) == 2 else "view" if both == {True} else "copy"
            assert (game.answers[card["call"]], BINS[card["bin"]]) == (bin, bin), card["call"]
            first = {made: f"`{next(s for s in found if found[s] is made)}`" for made in both}
            all_but_last = ", ".join(f"`{source}`" for source in [*found][:-1])
            against = [first.get(False), first.get(True), all_but_last]
            for b, words in enumerate(card["against"]):
                assert bool(words) == (b != card["bin"])
                assert not words or against[b] in words, card["call"]
            missing = [source for source in ("x", *ALSO) if source not in found]
            assert ("raises an error for" in card["how"]) == bool(missing)
            assert all(f"`{source}`" in card["how"] for source in missing)


def told(*moves):
    """What a game of a call of each kind says after some moves: its lines behind the second."""
    w = Sort(X, "x.t(); x + 0; x.reshape(-1)", also="x.t(); x[1:]")
    w.moves = moves
    return [line.strip() for line in repr(w).splitlines()[2:]]


VIEW, COPY, EITHER = ("x.t()", "view"), ("x + 0", "copy"), ("x.reshape(-1)", "it depends")
SHAPED = "`x` with shape (6, 4), stride (1, 6), storage_offset 0"


@pytest.mark.parametrize(("moves", "said"), [
    ([VIEW], f"✓ `x.t()` makes a view each time: of {SHAPED}."),
    ([COPY], "✓ `x + 0` makes a copy each time, with memory of its own."),
    ([EITHER], "✓ `x.reshape(-1)` makes a view of `x` and `x[1:]`, but copies `x.t()`."),
    ([VIEW, COPY, EITHER], "All 3 sorted, 3 at the first try."),
    ([("x.t()", "copy")], "0 of 3 sorted"),
    ([("x.t()", "copy")], "✗ `x.t()` is not always a copy: it makes a view of `x`. It goes back"),
    (
        [("x.t()", "copy"), ("x + 0", "it depends")],
        "✗ `x + 0` does not depend on `x`: the answer is the same for `x`, `x.t()` and `x[1:]`. "
        "It goes back under the pile.",
    ),
    (
        [("x.reshape(-1)", "view"), ("x + 0", "view"), *[("x.t()", "copy")] * 2, VIEW, EITHER, COPY],
        "All 3 sorted, 0 at the first try. Look again at `x.reshape(-1)`, `x + 0`, `x.t()`.",
    ),
    # Nothing is given away, and a wrong card goes under the pile.
    ([], "to sort: x.t() | x + 0 | x.reshape(-1)"),
    ([("x.t()", "copy")], "to sort: x + 0 | x.reshape(-1) | x.t()"),
])  # fmt: skip
def test_each_move_is_told_with_its_reason(moves, said):
    assert any(line.startswith(said) for line in told(*moves))
    assert moves or len(told()) == 1


def test_the_code_is_the_game_as_it_stands():
    w = Sort(X, "x.t(); x + 0; x.reshape(-1)", also="x.t(); x[1:]")
    w.moves = [("x.t()", "copy"), ("x.t()", "view")]
    again = eval(w.code, {"Sort": Sort, "x": X})
    assert (again.code, again.moves, again._game) == (w.code, w.moves, w._game)
    most = [f"x.view(24)[{k:>{LONGEST - 13}}:]" for k in range(24)]
    assert {*map(len, most)} == {LONGEST}
    w = Sort(X, *most, also="-x")
    assert eval(w.code, {"Sort": Sort, "x": X}).code == w.code


def test_x_and_torch_stay_as_they_are():
    """Calls may write, draw random numbers and change defaults."""
    x, state = X.clone().requires_grad_(), torch.random.get_rng_state()
    sets = "torch.set_default_dtype(torch.float64) or x"
    Sort(x, "x.add_(1); x.resize_(2); torch.dropout(x, 0.5, True)", sets, also="x[1:]; x.t()")
    assert torch.equal(x, X) and x.shape == X.shape and x._version == 0 and x.grad_fn is None
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_default_dtype() == torch.float32


def test_defaults_of_torch_change_no_verdict():
    with torch.device("meta"), torch.inference_mode():
        w = Sort(X, "torch.cat([x, torch.ones(4, 6)]); x.t()", also="x[:]")
    assert w.answers == {"torch.cat([x, torch.ones(4, 6)])": "copy", "x.t()": "view"}


def test_what_torch_refuses_for_some_tensors_does_not_count():
    """It is told: `view` never copies, it raises."""
    w = Sort(X, "x.view(24); x.masked_fill_(x > 3, 0); x.t_()", also="x.t(); x[0].expand(4, 6)")
    how = {card["call"]: card["how"] for card in w._cards}
    assert {*w.answers.values()} == {"view"}
    assert (
        how["x.view(24)"]
        == "makes a view of `x`, but raises an error for `x.t()` and `x[0].expand(4, 6)`; it never copies"
    )
    assert how["x.t_()"] == "gives back `x`, `x.t()` and `x[0].expand(4, 6)`; it never copies"


def test_texts_of_calls_may_hold_several_over_several_lines():
    w = Sort(X, "x.t(); x[[0,1]]\nx[1:]", " x + 0 ", also=["x.t()"])
    assert [*w.answers] == ["x.t()", "x[[0,1]]", "x[1:]", "x + 0"]
    assert json.dumps(w._game)
