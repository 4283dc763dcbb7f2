"""Typed lines: the scripts read and refuse the same ones as torch, in these words."""

import pytest

from stridekit import Layout, LayoutError
from stridekit.widgets import StrideExplorer
from tests.course.live_lines import Chains, Sessions, chain, grammar, session
from tests.course.widget_kinds import rows

SIGNATURES = grammar.SIGNATURES
STEPS_FORM = ": write operations as .permute(1, 0) or [1:, ::2]"
FORM = ": write y = x[1:, ::2] or y = x + 1 to make a tensor, y += 100 or y[0] = 7 to write to one"
# A row of widgets.txt cannot hold odd spaces and characters, and long texts.
READ = {
    " permute( [ 1,0, ] )\t": "(8, 5)",
    "[0" + " " * 997 + "]": "(8,)",
    " .t() . T ,": "(5, 8)",
    "[\xa0 1]": "(8,)",
    "T\u200b": "(8, 5)",
    f".view({'1, ' * 60}40)": f"({'1, ' * 60}40)",
}
UNREADABLE = {
    "": 'cannot read "" at its end…',
    "# T": 'cannot read "" at its end…',
    ".T\n[1:]": 'cannot read ".T�[1:]" at "�"…',
    "[\0]": 'cannot read "[�]" at "�"…',
    "[\ud800]": 'cannot read "[�]" at "�"…',
    "[\u200e 1]": 'cannot read "[� 1]" at "�"…',
    "T\u200e": 'cannot read ".T�" at "�"…',
    "\u2028T": 'cannot read "�T" at "�"…',
    "😀" * 1000: f'cannot read "{"😀" * 1000}" at "😀"…',
    "(" * 999: f'cannot read "{"(" * 999}" at "("…',
    ".t()" * 101: "a chain has at most 100 steps: begin another one",
    f"[-{'9' * 900}]": f"{'9' * 900} is too large: a browser counts exactly up to {2**53 - 1}",
    "[" + "0, " * 400 + "]": "a line has at most 1000 characters: write several",
    "[" + "0, " * 300 + "]": "300 indices for shape (5, 8): it has 2 dims",
}
LINES = {
    "\ty = x [1:] . t() ;": "view",
    "y = x [1:] .t()  # view: nothing was copied\n": "view",
    "y = x" + ".T" * 490: "view",
    "y = x" + ".t()" * 5000: "a line has at most 1000 characters: write several",
    "y = x\nz = x": 'cannot read "y = x�z = x" at "�"…',
}


def with_rows(title, further_rows):
    """Run a test for each row of a part of widgets.txt, and for further ones: a text, its outcome."""
    pairs = [*rows(title), *further_rows.items()]
    ids = [text[:30] for text, _ in pairs]
    return pytest.mark.parametrize(("text", "outcome"), pairs, ids=ids)


def in_full(refusal, form):
    return refusal.replace("…", form).replace("NAMES", ", ".join(SIGNATURES))


def typed(text):
    """Return the stages of a text on the layout of shape (5, 8)."""
    start = Chains(Layout((5, 8), itemsize=4), 40).start
    return chain.stagesOf(start | {"steps": [text]}, 40)


@with_rows("steps on shape (5, 8)", READ)
def test_steps_are_read_as_torch_reads_them(text, outcome):
    """torch runs the written texts of the steps, and the script reads them again."""
    stages = typed(text)
    assert str(tuple(stages[-1]["layout"]["shape"])) == outcome
    written = "".join(stage["text"] for stage in stages[1:])
    assert typed(written) == stages
    assert Chains(Layout((5, 8), itemsize=4), 40).type(text)


@with_rows("refused steps on shape (5, 8)", UNREADABLE)
def test_other_texts_are_refused_in_these_words(text, outcome):
    """torch refuses, too."""
    with pytest.raises(LayoutError) as refusal:
        typed(text)
    assert str(refusal.value) == in_full(outcome, STEPS_FORM)
    assert not Chains(Layout((5, 8), itemsize=4), 40).type(text)


@with_rows("lines on shape (4, 6)", LINES)
def test_a_line_is_of_this_kind_or_refused_in_these_words(text, outcome):
    """torch runs or refuses the line as well."""
    is_run = outcome in ("view", "copy", "write")
    state = {"shape": [4, 6], "steps": [text]}
    if is_run:
        (entry,) = session.sessionOf(state)["log"]
        assert entry["kind"] == outcome
    else:
        with pytest.raises(LayoutError) as refusal:
            session.sessionOf(state)
        assert str(refusal.value) == in_full(outcome, FORM)
    assert Sessions((4, 6)).type(text) == is_run


def test_a_page_may_send_several_steps_in_one_text():
    explorer = StrideExplorer()
    explorer.chain = [".T", "[1:]", ".T"]
    state = explorer._state
    sent_chain = state["chain"] | {"steps": ["T[1:].T"]}
    explorer.set_state({"_state": state | {"chain": sent_chain}})
    assert explorer._state["chain"] == state["chain"]
