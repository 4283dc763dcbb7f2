"""Typed lines: what the scripts read and refuse, in which words, and that torch does the same."""

import pytest

from stridekit import Layout, LayoutError
from stridekit.widgets import StrideExplorer
from tests.course.live_lines import Chains, Sessions, chain, grammar, session
from tests.course.widget_kinds import rows

SIGNATURES = grammar.SIGNATURES
STEPS_FORM = ": write operations as .permute(1, 0) or [1:, ::2]"
FORM = ": write y = x[1:, ::2] or y = x + 1 to make a tensor, y += 100 or y[0] = 7 to write to one"
# What a row of widgets.txt cannot hold: odd spaces and characters, and long texts.
READ = {
    " permute( [ 1,0, ] )\t": "(8, 5)",
    "[0" + " " * 997 + "]": "(8,)",
    " .t() . T ,": "(5, 8)",
    "[\xa0 1]": "(8,)",
    "T\u200b": "(8, 5)",
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


def both(title, others):
    """The rows of a part of widgets.txt, and others: a text, and what comes of it."""
    pairs = [*rows(title), *others.items()]
    return pytest.mark.parametrize(("text", "said"), pairs, ids=[text[:30] for text, _ in pairs])


def in_full(said, form):
    return said.replace("…", form).replace("NAMES", ", ".join(SIGNATURES))


def typed(text):
    """The stages of a text on the layout of shape (5, 8)."""
    start = Chains(Layout((5, 8), itemsize=4), 40).start
    return chain.stagesOf(start | {"steps": [text]}, 40, None)


@both("steps on shape (5, 8)", READ)
def test_steps_are_read_as_torch_reads_them(text, said):
    """torch runs the text that is written; what is written is read again."""
    *_, last = stages = typed(text)
    assert str(tuple(last["layout"]["shape"])) == said
    assert typed("".join(stage["text"] for stage in stages[1:])) == stages
    assert Chains(Layout((5, 8), itemsize=4), 40, [f"v{k}" for k in range(40)]).type(text)


@both("refused steps on shape (5, 8)", UNREADABLE)
def test_other_texts_are_refused_in_these_words(text, said):
    """torch refuses, too."""
    with pytest.raises(LayoutError) as refusal:
        typed(text)
    assert str(refusal.value) == in_full(said, STEPS_FORM)
    assert not Chains(Layout((5, 8), itemsize=4), 40).type(text)


@both("lines on shape (4, 6)", LINES)
def test_a_line_is_of_this_kind_or_refused_in_these_words(text, said):
    """torch runs or refuses the line as well."""
    try:
        kind = session.sessionOf({"shape": [4, 6], "steps": [text]})["log"][0]["kind"]
    except LayoutError as error:
        kind = str(error)
    assert kind == in_full(said, FORM)
    assert Sessions((4, 6)).type(text) == (kind in ("view", "copy", "write"))


def test_a_page_may_send_several_steps_in_one_text():
    explorer = StrideExplorer()
    explorer.chain = [".T", "[1:]", ".T"]
    chain = explorer._state["chain"]
    explorer.set_state({"_state": {**explorer._state, "chain": {**chain, "steps": ["T[1:].T"]}}})
    assert explorer._state["chain"] == chain
