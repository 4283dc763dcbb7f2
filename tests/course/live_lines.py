"""Typed lines, run by the widgets' scripts and by torch: valid and invalid ones.

For each accepted line torch has to come to the same layouts, values and storages. For each refused line
torch has to raise, unless the reason is the size of the picture or the grammar. A refusal that quotes torch
has to quote it exactly.
"""

import copy
import re
import warnings
from collections.abc import Callable, Sequence
from math import prod
from random import Random
from typing import Any

import torch

from stridekit import Layout, LayoutError, has_internal_overlap, is_view, shares_memory
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json
from tests.core import steps as drawn

LINES = 6  # a case
chain = Script("stride_explorer/chain.js")
session = Script("alias_explorer/session.js")
grammar = Script("page/grammar.js")
PIECES, SIGNATURES = grammar.PIECES, grammar.SIGNATURES
# torch's, and Python's on the way there.
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError, NameError, AttributeError, SyntaxError)


def torchs(x: torch.Tensor, text: str):
    """The tensor that torch makes of a text, after the grammar has read it: its names are operations."""
    names = {"x": x, "torch": torch, "__builtins__": {"__import__": __import__}}
    return quietly(lambda: eval(f"x{text}", names))  # torch imports, to raise its TypeError


def quietly(run: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()


# Chains of the stride explorer -------------------------------------------------------------------------


class Chains:
    """A chain as it grows, in the script and in torch."""

    def __init__(self, start: Layout, size: int, labels: list[str] | None = None) -> None:
        self.start = {"source": "x", "start": layout_json(start)}
        self.given, self.texts = (size, labels), []
        self.x = torch.arange(size).as_strided(start.shape, start.stride, start.storage_offset)

    def type(self, text: str) -> bool:
        """True if the script accepts one more text; torch has to agree."""
        try:
            stages = chain.stagesOf(self.start | {"steps": [*self.texts, text]}, *self.given)
        except LayoutError as error:
            assert_torch_refuses(self.x, text, str(error))
            return False
        before = chain.stagesOf(self.start | {"steps": self.texts}, *self.given)
        assert stages[: len(before)] == before
        for stage, last in zip(stages[len(before) :], stages[len(before) - 1 :], strict=False):
            x, self.x = self.x, torchs(self.x, stage["text"])
            self.compare(x, stage, chain.memoryOf(stage, last))
        self.texts += [stage["text"] for stage in stages[len(before) :]]
        return True

    def compare(self, before: torch.Tensor, stage: dict[str, Any], memory: str) -> None:
        """The layout and the storage are torch's: the labels of a copy are its values."""
        layout = Layout(**stage["layout"])
        assert layout._view(itemsize=8) == Layout.of(self.x), self.texts
        stored = self.x.untyped_storage().nbytes() // 8
        alone = self.x.untyped_storage()._cdata != before.untyped_storage()._cdata
        same = Layout.of(before) == Layout.of(self.x)
        copied = f"copy: new storage of {stored} element{'' if stored == 1 else 's'}"
        assert memory == (copied if alone else "the same layout" if same else "view"), self.texts
        assert stage["storageSize"] == stored or not self.x.numel(), self.texts
        if stage["labels"] and self.x.numel():
            values = self.x.as_strided((stored,), (1,), 0).tolist()
            labels = [label.removeprefix("v") for label in stage["labels"]]
            assert labels == [*map(str, values)], self.texts


def steps(r: Random) -> None:
    """A chain of the stride explorer."""
    start = Layout(*drawn.numbers(r, max_ndim=4), itemsize=4)
    size = max(40, start.span.stop)
    typed = Chains(start, size, r.choice([None, [f"v{k}" for k in range(size)]]))
    for _ in range(LINES):
        text = "".join(operation(r, typed.x, named=0.35) for _ in range(r.choice((1, 1, 1, 2))))
        typed.type(text)


# Lines of the alias explorer ----------------------------------------------------------------------------


class Sessions:
    """A session as it goes on, in the script and in torch."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape, self.texts = shape, []
        self.tensors = {"x": torch.arange(prod(shape)).view(tuple(shape))}
        self.opened = {storage_of(self.tensors["x"]): ""}  # the line that made each storage

    def type(self, text: str) -> bool:
        """True if the script accepts one more line; torch has to agree on all that is held and said."""
        try:
            said = session.sessionOf({"shape": self.shape, "steps": [*self.texts, text]})
        except LayoutError as error:
            assert_line_refused(self.tensors, text, str(error))
            return False
        self.texts.append(text)
        entry, read, before = said["log"][-1], session.readLine(text), copy.deepcopy(self.tensors)
        names = {**self.tensors, "torch": torch}
        if "target" in read:
            target = quietly(lambda: eval(read["target"]["text"], names))
        quietly(lambda: exec(entry["text"], names))
        held, why = self.opened, f"opened by {entry['text']}"
        if "bind" in read:
            kind = "view" if storage_of(names[read["bind"]]) in held else "copy"
            assert entry["kind"] == kind, self.texts
        self.tensors = {name: names[name] for name in "xyz" if name in names}
        storages = [storage_of(x) for x in self.tensors.values()]
        self.opened = {storage: held.get(storage, why) for storage in storages}
        self._held(said)
        state = {"shape": [*self.shape], "steps": self.texts}
        self._related(session.relations(session.sessionOf(state)), session.facts(state))
        if "target" in read:
            assert not depends_on_the_order(before, read), self.texts
            self._changed(entry["sentence"], before, read["target"]["name"])
            self._warned(entry["warning"], target, read)
        return True

    def _held(self, said: dict[str, Any]) -> None:
        """The layouts, the values and the storages."""
        assert said["tensors"].keys() == self.tensors.keys()
        tapes: dict[int, set[int]] = {}
        for name, x in self.tensors.items():
            layout, tape = said["tensors"][name]["layout"], said["tensors"][name]["tape"]
            assert Layout(**layout) == Layout.of(x), self.texts
            stored = x.as_strided((x.untyped_storage().nbytes() // 8,), (1,), 0)
            assert said["tapes"][tape] == stored.tolist() or not x.numel(), self.texts
            assert said["opened"][tape] == self.opened[storage_of(x)], self.texts
            tapes.setdefault(tape, set()).add(storage_of(x))
        assert [len(storages) for storages in tapes.values()] == [1] * len(said["tapes"])
        assert len({*map(min, tapes.values())}) == len(tapes), self.texts

    def _changed(self, sentence: str, before: dict[str, Any], base: str) -> None:
        """How many elements of each tensor have another value, the written one first."""
        found = []
        for name in sorted(self.tensors, key=lambda name: name != base):
            elements, differs = numbered(self.tensors[name]), self.tensors[name] != before[name]
            if count := len(elements[differs.flatten()].unique()):
                found.append((name, str(count), str(len(elements.unique()))))
        told = re.findall(r"(\w+) changed(?: too)?: (\d+) of its (\d+)", sentence)
        assert told == found, self.texts
        assert told or sentence.endswith(("no value changed", "no tensor changed")), self.texts

    def _warned(self, warning: str, target: torch.Tensor, read: dict[str, Any]) -> None:
        """Of a write to elements that several indices share, unless torch takes their values one by one."""
        fills = read["op"] == "[]" or not isinstance(read["source"], dict)
        assert (warning != "") == (has_internal_overlap(target) and fills), self.texts
        for count in re.findall(r"up to (\d+) times", warning):
            assert int(count) == torch.bincount(numbered(target)).max(), self.texts

    def _related(self, relations: list[dict[str, Any]], facts: dict[str, Any]) -> None:
        """Who shares how many elements with whom, as torch's addresses say; goals may ask for it."""
        overlapping = [related["names"][0] for related in relations if related["kind"] == "overlap"]
        assert overlapping == [name for name, x in self.tensors.items() if has_internal_overlap(x)]
        assert (facts["overlapping"], facts["lines"]) == (overlapping, len(self.texts))
        assert facts["storages"] == len({*map(storage_of, self.tensors.values())})
        for related in relations[: len(relations) - len(overlapping)]:
            kind, names = related["kind"], related["names"]
            assert facts["_and_".join(names)] == kind
            y, x = (self.tensors[name] for name in names)
            ys, xs = ({*numbered(t).tolist()} for t in (y, x))
            both = len(ys & xs) if storage_of(y) == storage_of(x) else 0
            if y.numel():
                assert is_view(y, x) == (kind in ("same", "inside")), self.texts
            if x.numel():
                assert is_view(x, y) == (kind in ("same", "around")), self.texts
            assert shares_memory(y, x) == (kind != "none"), self.texts
            counts = {"same": [both], "inside": [both, len(xs)], "around": [both, len(ys)]}
            counts |= {"some": [both, len(ys), len(xs)], "none": []}
            assert [*map(int, re.findall(r"\d+", related["text"]))] == counts[kind], self.texts


def storage_of(x: torch.Tensor) -> int:
    return x.untyped_storage()._cdata


def numbered(x: torch.Tensor) -> torch.Tensor:
    """The element of the storage at each index, in row-major order."""
    count = x.untyped_storage().nbytes() // x.element_size()
    return torch.arange(count).as_strided(x.shape, x.stride(), x.storage_offset()).flatten()


def lines(r: Random) -> None:
    """A session of the alias explorer."""
    typed = Sessions(r.choice([(4, 6), (3, 4), (8,), (), (0, 3), (1, 3, 2), (2, 2, 2, 2)]))
    for _ in range(LINES):
        typed.type(line(r, typed.tensors))


CASES: dict[str, Callable[[Random], None]] = {"typed_steps": steps, "typed_lines": lines}


# What is refused ----------------------------------------------------------------------------------------

# What a picture, or a list of pieces, does not hold; and a memory format where nothing is copied.
OURS = [
    *("the picture holds", "storage ends at", "counts exactly", "exact in a browser"),
    *("is not one of", "does not refuse", "five digits", "are the most", "10,000 characters"),
    "at most 100 steps",
]
UNREAD = ["cannot read", "cannot stand", "is not known", "takes no call", "write .", "a line has"]
OTHERS, PAIR = dict(grammar.OTHERS), ("target", "source")


def assert_torch_refuses(x: torch.Tensor, text: str, error: str) -> None:
    if call := re.match(r"cannot apply (.*): (.*); write", error):
        if not call[2].startswith(("memory_format", OTHERS["dtype"])):
            refused(lambda: torchs(x, call[1]), text, error)
        return
    try:
        texts = [step["text"] for step in grammar.readSteps(text)]
    except LayoutError:
        return
    if not any(words in error for words in OURS):
        refused(lambda: torchs(x, "".join(texts)), text, error)


def assert_line_refused(tensors: dict[str, Any], text: str, error: str) -> None:
    """A refusal that quotes torch has torch's words; what torch is said to accept, it runs."""
    quoted, run = "torch refuses" in error, "does not refuse" in error
    if not (quoted or run) and any(words in error for words in (*OURS, *UNREAD)):
        return
    scratch = {**copy.deepcopy(tensors), "torch": torch}
    read = session.readLine(text)  # it is a line, so nothing else can be run
    if not quoted and not run:
        refused(lambda: exec(read["text"], scratch), text, error)
        return
    if run and not depends_on_the_order(scratch, read):
        assert has_internal_overlap(quietly(lambda: eval(read["target"]["text"], scratch))), text
    said = ""
    try:
        exec(read["text"], scratch)
    except RuntimeError as raised:
        said = str(raised)
    assert said in error and bool(said) == quoted, f"torch says {said!r} to {text!r}: {error}"


def depends_on_the_order(tensors: dict[str, Any], read: dict[str, Any]) -> bool:
    """True if a write, element by element, comes to another result backwards, whatever the values are."""
    if not isinstance(read["source"], dict):
        return False
    names = {**tensors, "torch": torch}
    target, source = (quietly(lambda t=t: eval(read[t]["text"], names)) for t in PAIR)
    shape = target.shape
    while read["op"] == "[]" and source.ndim > target.ndim:
        source = source[0]  # an assignment drops leading sizes of 1
    to, read_at = numbered(target), numbered(source.expand(shape))
    results = []
    for order in (range(to.numel()), range(to.numel())[::-1]):
        memory = torch.rand(1000, generator=torch.Generator().manual_seed(0))
        own = memory if storage_of(target) == storage_of(source) else memory.clone()
        for k in order:
            before = 0 if read["op"] in ("[]", "copy_") else memory[to[k]] * 3
            memory[to[k]] = before + own[read_at[k]]
        results.append(memory)
    return not torch.equal(*results)


def refused(run: Callable[[], Any], text: str, error: str) -> None:
    """torch raises, or takes a negative size, which is a surprise of its own."""
    try:
        quietly(run)
    except REFUSALS:
        return
    assert re.search(r"size -\d+ of dim \d+ is negative", error), f"torch accepts {text!r}: {error}"


# Random typing ---------------------------------------------------------------------------------------


# What a person can type, an index most often; arguments are drawn as for layouts.
FORMATS = ("'channels_last'", "torch.preserve_format", "torch.contiguous_format")
ARGUMENTS = drawn.ARGUMENTS | {"to": lambda r, x: (r.choice(FORMATS),)}
ARGUMENTS |= dict.fromkeys(("contiguous", "clone"), lambda r, x: r.choice(((), (), FORMATS[:1])))
NAMES = [*SIGNATURES, *["__getitem__"] * 4]


def operation(r: Random, x, named=0.0) -> str:
    """An operation that usually exists for a tensor, at times with some arguments by their names."""
    name = r.choice(NAMES)
    piece = f"[{r.choice((0, 0, 0, 1, -1, 2))}]" if name in PIECES else ""
    return called(r, name, ARGUMENTS[name](r, x), named) + piece


def called(r: Random, name: str, args, named: float) -> str:
    words = re.findall(r"(\w+):", SIGNATURES.get(name) or "")
    if not words or r.random() >= named:
        return drawn.source(name, args)
    if SIGNATURES[name].startswith("*") and args and isinstance(args[0], int):
        args = (args,)  # sizes one by one have no name
    first = r.randint(0, len(args))
    pairs = [f"{word}={arg}" for word, arg in zip(words, args, strict=False)][first:]
    return f".{name}({', '.join([*map(str, args[:first]), *r.sample(pairs, len(pairs))])})"


def line(r: Random, tensors):
    """A line that usually can be run on tensors with names, and often shows something."""
    target = r.choice([r.choice([*tensors]), indexed(r, tensors), chained(r, tensors)])
    value = r.choice([str(r.randint(-9, 100)), operand(r, tensors, target)])
    if len(tensors) < 2 or r.random() < 0.5:
        made = [chained(r, tensors), f"{chained(r, tensors)} {r.choice('+-*')} {value}"]
        return f"{r.choice('yyyyzzzzx')} = {r.choice([made[0], *made])}"
    forms = [f"{target}.{op}({value})" for op in ("add_", "sub_", "mul_", "copy_")]
    forms += [f"{target}.fill_(7)", f"{target}.zero_()", f"{target}.neg_()"]
    forms += [f"{target} {op}= {value}" for op in "+-*"] * 2
    if target.endswith("]"):
        forms += [f"{target} = {value}"] * 4
    return r.choice(forms)


def chained(r: Random, tensors):
    """A tensor with up to two operations on it, after which two indices often share an element."""
    text = r.choice([*tensors])
    x = tensors[text]
    for _ in range(r.choice([0, 1, 1, 1, 2])):
        sharing = f".expand({', '.join(['2', *['-1'] * x.ndim])})"
        if x.ndim and r.random() < 0.5:
            sharing = f".unfold({r.randrange(x.ndim)}, 2, 1)"
        step = r.choice([operation(r, x), ".clone()", sharing])
        text += step
        try:
            x = torchs(x, grammar.readSteps(step)[0]["text"])
        except REFUSALS:
            break
    return text


def indexed(r: Random, tensors):
    """A slice of a tensor."""
    name = r.choice([*tensors])
    most = max(tensors[name].ndim, 1)
    items = r.choices([":", "1:", ":-1", "0", "::2", "1::2"], k=r.randint(1, most))
    return f"{name}[{', '.join(items)}]"


def operand(r: Random, tensors, target):
    """A tensor that often has the shape of the target: the same, shifted, flipped over, or repeated."""
    shifted = target.replace("1:", "?").replace(":-1", "1:").replace("?", ":-1")
    others = [target, indexed(r, tensors), chained(r, tensors)]
    turned = ["", "", "", ".clone()", ".t()", "[0]", "[:1]"]
    return r.choice([shifted, shifted, *others]) + r.choice(turned)
