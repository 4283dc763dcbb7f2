"""Typed lines in Python, in the browser and in torch: valid, odd and invalid ones.

Python and the browser have to accept the same lines, with the same outcome, and to refuse the others in the
same words. torch has to come to the same, and to refuse what is refused for another reason than the size of
the picture, or the grammar.
"""

import copy
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isclose
from random import Random
from typing import Any

import torch

from stridekit import Layout, LayoutError, has_internal_overlap, is_view, shares_memory
from stridekit.widgets.alias_explorer.lines import read
from stridekit.widgets.alias_explorer.session import Session
from stridekit.widgets.grammar import OTHERS
from stridekit.widgets.notation import layout_json
from stridekit.widgets.numbers import Unreadable, read_answer
from stridekit.widgets.stride_explorer.chain import Chain, Stage, steps_of
from tests import steps as drawn
from tests.pipe import Refused, as_json, ask
from tests.typed_lines import changed, line, odd, operation, transported

LINES = 6  # a case
DRAWN: Counter[tuple[str, bool]] = Counter()  # the lines of each family that were accepted, or not


# Chains of the stride explorer -------------------------------------------------------------------------


class Chains:
    """A chain as it grows, in Python and in torch; the browser is asked at the end."""

    def __init__(self, start: Layout, size: int, labels: list[str] | None = None) -> None:
        self.chain, self.size, self.labels = Chain("x", start, ()), size, labels
        self.texts: list[str] = []
        self.ours: list[Any] = []
        self.x = torch.arange(size).as_strided(start.shape, start.stride, start.storage_offset)
        self.stage = self.chain.stages(size, labels)[-1]

    def type(self, text: str) -> bool:
        """True if Python accepts one more text; torch has to agree."""
        text = transported(text)
        self.texts.append(text)
        try:
            longer = self.chain._replace(steps=(*self.chain.steps, *steps_of(text)))
            stages = longer.stages(self.size, self.labels)
        except (LayoutError, IndexError) as error:
            self.ours.append(str(error))
            assert_torch_refuses(self.x, text, str(error))
            return False
        new = stages[len(self.chain.steps) :]
        self.ours.append([told(before, after) for before, after in pairwise(new)])
        for stage in new[1:]:
            self.x = torchs(self.x, stage.text)
            assert_same(self.x, stage, self.texts)
        self.chain, self.stage = longer, stages[-1]
        return True

    def compare(self) -> None:
        """The browser says the same to each text."""
        start = layout_json(self.chain.start)
        compare(self.ours, ask("chain", start, self.size, self.labels, self.texts), self.texts)


def steps(r: Random) -> None:
    """A chain of the stride explorer."""
    start = Layout(*drawn.numbers(r), itemsize=4)
    size = max(40, start.span.stop)
    chain = Chains(start, size, r.choice([None, [f"v{k}" for k in range(size)]]))
    for _ in range(LINES):
        x = chain.stage.layout
        text = "".join(operation(r, x, named=0.35) for _ in range(r.choice((1, 1, 1, 2))))
        DRAWN["typed_steps", chain.type(odd(r, text))] += 1
    chain.compare()


def told(before: Stage, after: Stage) -> list[Any]:
    layout = layout_json(after.layout)
    return [after.text, layout, after.storage_size, after.labels, after.memory(before)]


# Lines of the alias explorer ----------------------------------------------------------------------------


class Sessions:
    """A session as it goes on, in Python and in torch; the browser is asked at the end."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.session, self.texts = Session(shape), []
        self.opened = [(self.session.tapes[0], "")]  # each storage, and which line made it
        self.ours: list[Any] = []
        x = torch.arange(len(self.session.tapes[0])).view(tuple(shape))
        self.names = {"x": x, "torch": torch}

    def type(self, text: str) -> bool:
        """True if Python accepts one more line; torch has to agree on values and storages."""
        text = transported(text)
        self.texts.append(text)
        try:
            entry = self.session.run(text)
        except LayoutError as error:
            self.ours.append(str(error))
            assert_line_refused(self.names, text, str(error))
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(entry.text, self.names)
        for tape in self.session.tapes:
            if not any(tape is known for known, _ in self.opened):
                self.opened.append((tape, f"opened by {entry.text}"))
        place = {id(tape): k for k, tape in enumerate(self.session.tapes)}
        tapes = [[int(value) for value in tape.tolist()] for tape in self.session.tapes]
        found = [(name, self.session.tensors[name]) for name in self.session.names()]
        layouts = [[name, place[id(it.tape)], layout_json(it.layout)] for name, it in found]
        storages = {}
        for name, it in found:
            theirs = self.names[name]
            assert Layout.of(theirs) == it.layout, self.texts
            assert theirs.tolist() == it.tensor.long().tolist(), self.texts
            storages.setdefault(place[id(it.tape)], set()).add(theirs.untyped_storage()._cdata)
            whole = theirs.as_strided((theirs.untyped_storage().nbytes() // 8,), (1,), 0)
            assert whole.tolist() == tapes[place[id(it.tape)]] or not theirs.numel(), self.texts
        assert [len(its) for its in storages.values()] == [1] * len({*map(min, storages.values())})
        opened = [
            text for tape, text in self.opened if any(tape is it for it in self.session.tapes)
        ]
        self.ours.append([entry._asdict(), tapes, self.session.relations(), opened, layouts])
        return True

    def compare(self) -> None:
        """The browser says the same to each line; how it groups the relations is what stridekit answers."""
        theirs = ask("session", self.session.shape, self.texts)
        last = [answer[2] for answer in theirs if isinstance(answer, list)][-1:]
        for relations in last:
            self._agree(relations)
        said = [
            [*answer[:2], [one["text"] for one in answer[2]], *answer[3:]]
            if isinstance(answer, list)
            else answer
            for answer in theirs
        ]
        compare(self.ours, said, self.texts)

    def _agree(self, relations: list[dict[str, Any]]) -> None:
        overlapping = [
            name for one in relations if one["kind"] == "overlap" for name in one["names"]
        ]
        tensors = {name: self.names[name] for name in self.session.names()}
        assert overlapping == [name for name, x in tensors.items() if has_internal_overlap(x)]
        for one in relations:
            if one["kind"] == "overlap":
                continue
            y, x = (tensors[name] for name in one["names"])
            if y.numel():
                assert is_view(y, x) == (one["kind"] in ("same", "inside")), self.texts
            if x.numel():
                assert is_view(x, y) == (one["kind"] in ("same", "around")), self.texts
            assert shares_memory(y, x) == (one["kind"] != "none"), self.texts


def lines(r: Random) -> None:
    """A session of the alias explorer."""
    session = Sessions(r.choice([(4, 6), (3, 4), (8,), (), (0, 3), (1, 3, 2), (2, 2, 2, 2)]))
    often = r.random() < 0.5  # as they are usually written, so that much happens
    for _ in range(LINES):
        text = line(r, session.session)
        DRAWN["typed_lines", session.type(text if often else odd(r, text))] += 1
    session.compare()


# Answers of a prediction --------------------------------------------------------------------------------


def answers(r: Random) -> None:
    """A number or a tuple as people write it; Python computes what is computed."""
    for _ in range(LINES):
        kind, question = r.choice(("number", "tuple")), r.choice(QUESTIONS)
        parts = [computed(r) for _ in range(1 if kind == "number" else r.randint(0, 3))]
        text = r.choice(("{}", "({})", "[{}]", "{} bytes", "{} KiB", "{} pages")).format(
            ", ".join(parts)
        )
        text = text if r.random() < 0.6 else changed(r, text)
        text = transported(text)
        found = answered(kind, text, question)
        assert asked(kind, text, question) == found, (kind, text, question)
        DRAWN["typed_answers", not isinstance(found, str)] += 1
        plain = re.fullmatch(r"[-+*/(). 0-9]+", text)
        if (
            plain
            and kind == "number"
            and not isinstance(found, str)
            and not re.search(r"\d +\d", text)
        ):
            assert isclose(found, eval(re.sub(r"(?<![\d.])0+(?=\d)", "", text))), text


QUESTIONS = (
    "How many bytes?",
    "How many pages of 4 KiB?",
    "What is its stride, in bytes?",
    "Which?",
)


def computed(r: Random) -> str:
    """A number, or a sum."""
    if r.random() < 0.6:
        written = r.choice(
            (
                "7",
                "0",
                "24",
                "1,024",
                "12,582,912",
                "1_024",
                "1 024",
                "2.5",
                ".5",
                "1e3",
                "2.",
                "3e-2",
            )
        )
        return r.choice(("", "", "-", "+")) + written
    op = r.choice(("*", " * ", "+", " - ", "/", "**", "^", "×"))
    return r.choice(("{}{}{}", "({}{}{})")).format(computed(r), op, computed(r))


def answered(kind: str, text: str, question: str) -> Any:
    try:
        return read_answer(kind, text, question)
    except Unreadable as error:
        return str(error)


def asked(kind: str, text: str, question: str) -> Any:
    try:
        return ask("page/numbers/readAnswer", kind, text, question)
    except Refused as error:
        return str(error)


CASES: dict[str, Callable[[Random], None]] = {"typed_steps": steps, "typed_lines": lines}
CASES["typed_answers"] = answers


# The three that have to agree ---------------------------------------------------------------------------


def compare(ours: list[Any], theirs: list[Any], texts: list[str]) -> None:
    for text, one, other in zip(texts, as_json(ours), theirs, strict=True):
        assert one == other, f"{text!r} of {texts}: Python {one}, the browser {other}"


def torchs(x: torch.Tensor, text: str) -> Any:
    """The tensor that torch makes of a text that Python has read, so all names in it are operations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {"x": x, "torch": torch, "__builtins__": {"__import__": __import__}}
        return eval(f"x{text}", names)  # torch imports, to raise its TypeError


def assert_same(x: torch.Tensor, stage: Stage, texts: list[str]) -> None:
    """The layout, and what lies on the storage: a copy's labels are its values."""
    assert Layout.of(x) == stage.layout._view(itemsize=8), texts
    stored = x.untyped_storage().nbytes() // 8
    assert stored == stage.storage_size or not x.numel(), texts
    if stage.labels and x.numel():
        values = x.as_strided((stored,), (1,), 0).tolist()
        assert [label.removeprefix("v") for label in stage.labels] == [*map(str, values)], texts


# What a picture, or a list of pieces, does not hold; and a memory format where nothing is copied.
OURS = [
    *("the picture holds", "storage ends at", "counts exactly", "exact in a browser"),
    *("is not one of", "does not refuse", "five digits", "are the most"),
]
UNREAD = (
    "cannot read",
    "cannot stand",
    "is not known",
    "takes no call",
    "write .",
    "a line has at most",
)
# torch's, and Python's on the way there.
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError, NameError, AttributeError, SyntaxError)


def assert_torch_refuses(x: torch.Tensor, text: str, error: str) -> None:
    if call := re.match(r"cannot apply (.*): (.*); write", error):
        if not call[2].startswith(("memory_format", OTHERS["dtype"])):
            refused(lambda: torchs(x, call[1]), text, error)
        return
    try:
        texts = steps_of(text)
    except LayoutError:
        return
    if not any(words in error for words in OURS):
        refused(lambda: torchs(x, "".join(texts)), text, error)


def assert_line_refused(names: dict[str, Any], text: str, error: str) -> None:
    """A refusal that quotes torch has torch's words; what torch is said to accept, it runs."""
    quoted, run = "torch refuses" in error, "does not refuse" in error
    if not (quoted or run) and any(words in error for words in (*OURS, *UNREAD)):
        return
    scratch = copy.deepcopy({k: v for k, v in names.items() if isinstance(v, torch.Tensor)})
    scratch["torch"] = torch
    written = read(text).text  # it is a line, so nothing else can be run
    if not quoted and not run:
        refused(lambda: exec(written, scratch), text, error)
        return
    said = ""
    try:
        exec(written, scratch)
    except RuntimeError as raised:
        said = str(raised)
    assert said in error and bool(said) == quoted, f"torch says {said!r} to {text!r}: {error}"


def refused(run: Callable[[], Any], text: str, error: str) -> None:
    """torch raises, or takes a negative size, which is a surprise of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run()
        except REFUSALS:
            return
    assert re.search(r"size -\d+ of dim \d+ is negative", error), f"torch accepts {text!r}: {error}"
