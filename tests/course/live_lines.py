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
from stridekit._arguments import many
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json
from tests.core import steps as drawn

LINES = 6  # a case
MOST_ELEMENTS = 5000  # of a tensor in a chain
chain = Script("stride_explorer/chain.js")
session = Script("alias_explorer/session.js")
grammar = Script("page/grammar.js")
PIECES = grammar.PIECES
SIGNATURES = grammar.SIGNATURES
# The errors of torch, and of Python on the way there.
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError, NameError, AttributeError, SyntaxError)


def torchs(x: torch.Tensor, text: str):
    """Return the tensor that torch computes from a text that the grammar has read."""
    # torch imports a module to raise its TypeError.
    names = {"x": x, "torch": torch, "__builtins__": {"__import__": __import__}}
    return quietly(lambda: eval(f"x{text}", names))


def quietly(run: Callable[[], Any]) -> Any:
    """Return the result of a function, without the warnings of torch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()


# Chains of the stride explorer -------------------------------------------------------------------------


class Chains:
    """A chain as it grows, in the script and in torch."""

    def __init__(self, start: Layout, size: int) -> None:
        self.start = {"source": "x", "start": layout_json(start)}
        self.size = size
        self.texts: list[str] = []
        self.x = torch.arange(size).as_strided(start.shape, start.stride, start.storage_offset)

    def type(self, text: str) -> bool:
        """Return whether the script accepts one more text; torch has to agree."""
        try:
            stages = self._stages([*self.texts, text])
        except LayoutError as error:
            assert_torch_refuses(self.x, text, str(error))
            return False
        if any(prod(stage["layout"]["shape"]) > MOST_ELEMENTS for stage in stages):
            return False  # torch would take long
        before = self._stages(self.texts)
        assert stages[: len(before)] == before
        for k in range(len(before), len(stages)):
            stage = stages[k]
            x = self.x
            self.x = torchs(x, stage["text"])
            self._compare(x, stages[: k + 1], chain.memoryOf(stage, stages[k - 1]))
            self.texts.append(stage["text"])
        return True

    def _stages(self, texts: list[str]) -> Any:
        return chain.stagesOf(self.start | {"steps": texts}, self.size)

    def _compare(self, before: torch.Tensor, stages: list[dict[str, Any]], memory: str) -> None:
        """Assert that the layout and the storage are torch's, and where a copy took its values."""
        stage = stages[-1]
        layout = Layout(**stage["layout"])
        assert layout._view(itemsize=8) == Layout.of(self.x), self.texts
        stored = self.x.untyped_storage().nbytes() // 8
        if storage_of(self.x) != storage_of(before):
            expected = f"copy: new storage of {many(stored, 'element')}"
        elif Layout.of(before) == Layout.of(self.x):
            expected = "the same layout"
        else:
            expected = "view"
        assert memory == expected, self.texts
        assert stage["storageSize"] == stored or not self.x.numel(), self.texts
        if self.x.numel():
            values = self.x.as_strided((stored,), (1,), 0).tolist()
            assert chain.sourcesOf(stages, [*range(stored)]) == values, self.texts


def steps(r: Random) -> None:
    """A chain of the stride explorer."""
    start = Layout(*drawn.numbers(r, max_ndim=4), itemsize=4)
    size = max(40, start.span.stop)
    typed = Chains(start, size)
    for _ in range(LINES):
        text = "".join(operation(r, typed.x, named=0.35) for _ in range(r.choice((1, 1, 1, 2))))
        typed.type(text)


# Lines of the alias explorer ----------------------------------------------------------------------------


class Sessions:
    """A session as it goes on, in the script and in torch."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = [*shape]
        self.texts: list[str] = []
        self.tensors = {"x": torch.arange(prod(shape)).view(tuple(shape))}
        # The line that opened each storage.
        self.opened = {storage_of(self.tensors["x"]): ""}

    def type(self, text: str) -> bool:
        """Return whether the script accepts one more line; torch has to agree on all that it shows."""
        try:
            result = self._session([*self.texts, text])
        except LayoutError as error:
            assert_line_refused(self.tensors, text, str(error))
            return False
        self.texts.append(text)
        entry = result["log"][-1]
        line = session.readLine(text)
        before = copy.deepcopy(self.tensors)
        names = {**self.tensors, "torch": torch}
        if "target" in line:
            target = quietly(lambda: eval(line["target"]["text"], names))
        quietly(lambda: exec(entry["text"], names))
        if "bind" in line:
            is_view = storage_of(names[line["bind"]]) in self.opened
            assert entry["kind"] == ("view" if is_view else "copy"), self.texts
        self.tensors = {name: names[name] for name in "xyz" if name in names}
        storages = [storage_of(x) for x in self.tensors.values()]
        opened_now = f"opened by {entry['text']}"
        self.opened = {storage: self.opened.get(storage, opened_now) for storage in storages}
        self._compare_tensors(result)
        facts = session.facts({"shape": self.shape, "steps": self.texts})
        self._compare_relations(session.relations(self._session(self.texts)), facts)
        if "target" in line:
            assert not depends_on_the_order(before, line), self.texts
            self._compare_changes(entry["sentence"], before, line["target"]["name"])
            self._compare_warning(entry["warning"], target, line)
        return True

    def _session(self, texts: list[str]) -> Any:
        return session.sessionOf({"shape": self.shape, "steps": texts})

    def _compare_tensors(self, result: dict[str, Any]) -> None:
        """Assert that the layouts, the values and the storages are torch's."""
        assert result["tensors"].keys() == self.tensors.keys()
        storages: dict[int, set[int]] = {}
        for name, x in self.tensors.items():
            tape = result["tensors"][name]["tape"]
            layout = Layout(**result["tensors"][name]["layout"])
            assert layout == Layout.of(x), self.texts
            stored = x.as_strided((x.untyped_storage().nbytes() // 8,), (1,), 0)
            assert result["tapes"][tape] == stored.tolist() or not x.numel(), self.texts
            assert result["opened"][tape] == self.opened[storage_of(x)], self.texts
            storages.setdefault(tape, set()).add(storage_of(x))
        assert [len(on_tape) for on_tape in storages.values()] == [1] * len(result["tapes"])
        assert len(set.union(*storages.values())) == len(storages), self.texts

    def _compare_changes(self, sentence: str, before: dict[str, Any], written: str) -> None:
        """Assert how many elements of each tensor have another value, the written tensor first."""
        expected = []
        for name in sorted(self.tensors, key=lambda name: name != written):
            elements = numbered(self.tensors[name])
            differs = self.tensors[name] != before[name]
            changed = len(elements[differs.flatten()].unique())
            if changed:
                expected.append((name, str(changed), str(len(elements.unique()))))
        changes = re.findall(r"(\w+) changed(?: too)?: (\d+) of its (\d+)", sentence)
        assert changes == expected, self.texts
        if not changes:
            assert sentence.endswith(("no value changed", "no tensor changed")), self.texts

    def _compare_warning(self, warning: str, target: torch.Tensor, line: dict[str, Any]) -> None:
        """Assert a warning where indices share a written element, unless torch adds value by value."""
        fills = line["op"] == "[]" or not isinstance(line["source"], dict)
        assert bool(warning) == (has_internal_overlap(target) and fills), self.texts
        for count in re.findall(r"up to (\d+) times", warning):
            assert int(count) == torch.bincount(numbered(target)).max(), self.texts

    def _compare_relations(self, relations: list[dict[str, Any]], facts: dict[str, Any]) -> None:
        """Assert how many elements two tensors share, as torch's addresses say; goals may ask for it."""
        overlapping = [name for name, x in self.tensors.items() if has_internal_overlap(x)]
        overlaps = [relation for relation in relations if relation["kind"] == "overlap"]
        assert [relation["names"][0] for relation in overlaps] == overlapping
        assert facts["overlapping"] == overlapping
        assert facts["lines"] == len(self.texts)
        assert facts["storages"] == len({*map(storage_of, self.tensors.values())})
        for relation in relations[: len(relations) - len(overlaps)]:
            assert facts["_and_".join(relation["names"])] == relation["kind"]
            self._compare_relation(relation)

    def _compare_relation(self, relation: dict[str, Any]) -> None:
        y, x = (self.tensors[name] for name in relation["names"])
        kind = relation["kind"]
        if y.numel():
            assert is_view(y, x) == (kind in ("same", "inside")), self.texts
        if x.numel():
            assert is_view(x, y) == (kind in ("same", "around")), self.texts
        assert shares_memory(y, x) == (kind != "none"), self.texts
        of_y = {*numbered(y).tolist()}
        of_x = {*numbered(x).tolist()}
        has_one_storage = storage_of(y) == storage_of(x)
        common = len(of_y & of_x) if has_one_storage else 0
        counts = {
            "same": [common],
            "inside": [common, len(of_x)],
            "around": [common, len(of_y)],
            "some": [common, len(of_y), len(of_x)],
            "none": [],
        }
        assert [*map(int, re.findall(r"\d+", relation["text"]))] == counts[kind], self.texts
        words = re.sub(r"\d+", "#", relation["text"]).replace("elements", "element")
        expected = relation_words(kind, relation["names"], of_y, of_x, has_one_storage)
        assert words == expected, self.texts


def relation_words(
    kind: str, names: list[str], of_y: set[int], of_x: set[int], has_one_storage: bool
) -> str:
    """Return the sentence on two sets of elements, with # for each number."""
    y, x = names
    for name, elements in ((y, of_y), (x, of_x)):
        if not elements:
            return f"{name} is empty: it shares no element"
    if kind == "same":
        return f"{y} and {x} have the same # element"
    if kind == "inside":
        return f"{y} lies inside {x}: # of {x}'s # element"
    if kind == "around":
        return f"{x} lies inside {y}: # of {y}'s # element"
    if kind == "some":
        return f"{y} and {x} share # element, of {y}'s # and {x}'s #"
    if not has_one_storage:
        return f"{y} and {x} share no element: they have two storages"
    if max(of_y) < min(of_x) or max(of_x) < min(of_y):
        return f"{y} and {x} share no element: one ends before the other begins"
    return f"{y} and {x} share no element, though their ranges interleave"


def storage_of(x: torch.Tensor) -> int:
    return x.untyped_storage()._cdata


def numbered(x: torch.Tensor) -> torch.Tensor:
    """Return the element of the storage at each index, in row-major order."""
    count = x.untyped_storage().nbytes() // x.element_size()
    return torch.arange(count).as_strided(x.shape, x.stride(), x.storage_offset()).flatten()


def lines(r: Random) -> None:
    """A session of the alias explorer."""
    typed = Sessions(r.choice([(4, 6), (3, 4), (8,), (), (0, 3), (1, 3, 2), (2, 2, 2, 2)]))
    for _ in range(LINES):
        typed.type(line(r, typed.tensors))


CASES: dict[str, Callable[[Random], None]] = {"typed_steps": steps, "typed_lines": lines}


# Refusals --------------------------------------------------------------------------------------------

# Limits of a picture or of a list of pieces, and a memory format where nothing is copied.
OWN_LIMITS = [
    "the picture holds",
    "storage ends at",
    "counts exactly",
    "exact in a browser",
    "is not one of",
    "does not refuse",
    "five digits",
    "are the most",
    "10,000 characters",
    "at most 100 steps",
]
UNREADABLE = [
    "cannot read",
    "cannot stand",
    "is not known",
    "takes no call",
    "write .",
    "a line has",
]
WRITES_OF_OTHERS = dict(grammar.OTHERS)


def assert_torch_refuses(x: torch.Tensor, text: str, error: str) -> None:
    """Assert that torch raises, too, unless the reason is the grammar or a limit of the picture."""
    if call := re.match(r"cannot apply (.*): (.*); write", error):
        if not call[2].startswith(("memory_format", WRITES_OF_OTHERS["dtype"])):
            assert_raises(lambda: torchs(x, call[1]), text, error)
        return
    try:
        texts = [step["text"] for step in grammar.readSteps(text)]
    except LayoutError:
        return
    if not any(words in error for words in OWN_LIMITS):
        assert_raises(lambda: torchs(x, "".join(texts)), text, error)


def assert_line_refused(tensors: dict[str, Any], text: str, error: str) -> None:
    """Assert that a refusal quotes torch's words; if it says that torch accepts the line, torch runs it."""
    quotes_torch = "torch refuses" in error
    is_accepted = "does not refuse" in error
    is_own = any(words in error for words in (*OWN_LIMITS, *UNREADABLE))
    if is_own and not quotes_torch and not is_accepted:
        return
    names = {**copy.deepcopy(tensors), "torch": torch}
    line = session.readLine(text)  # it is a line, so nothing else can be run
    if not quotes_torch and not is_accepted:
        assert_raises(lambda: exec(line["text"], names), text, error)
        return
    if is_accepted and not depends_on_the_order(names, line):
        target = quietly(lambda: eval(line["target"]["text"], names))
        assert has_internal_overlap(target), text
    message = ""
    try:
        exec(line["text"], names)
    except RuntimeError as raised:
        message = str(raised)
    assert message in error, f"torch says {message!r} to {text!r}: {error}"
    assert bool(message) == quotes_torch, f"torch says {message!r} to {text!r}: {error}"


def assert_raises(run: Callable[[], Any], text: str, error: str) -> None:
    """Assert that torch raises, or accepts a negative size, which is a surprise of its own."""
    try:
        quietly(run)
    except REFUSALS:
        return
    assert re.search(r"size -\d+ of dim \d+ is negative", error), f"torch accepts {text!r}: {error}"


def depends_on_the_order(tensors: dict[str, Any], line: dict[str, Any]) -> bool:
    """Return whether a write, element by element, has another result backwards, for some values."""
    if not isinstance(line["source"], dict):
        return False
    names = {**tensors, "torch": torch}
    target = quietly(lambda: eval(line["target"]["text"], names))
    source = quietly(lambda: eval(line["source"]["text"], names))
    while line["op"] == "[]" and source.ndim > target.ndim:
        source = source[0]  # an assignment drops leading sizes of 1
    written = numbered(target)
    read = numbered(source.expand(target.shape))
    overwrites = line["op"] in ("[]", "copy_")
    results = []
    for order in (range(written.numel()), range(written.numel())[::-1]):
        memory = torch.rand(1000, generator=torch.Generator().manual_seed(0))
        source_memory = memory if storage_of(target) == storage_of(source) else memory.clone()
        for k in order:
            before = 0 if overwrites else memory[written[k]] * 3
            memory[written[k]] = before + source_memory[read[k]]
        results.append(memory)
    return not torch.equal(*results)


# Random typing ---------------------------------------------------------------------------------------


# Operations that a person can type, an index most often; arguments are drawn as for layouts.
FORMATS = ("'channels_last'", "torch.preserve_format", "torch.contiguous_format")
ARGUMENTS = drawn.ARGUMENTS | {"to": lambda r, x: (r.choice(FORMATS),)}
ARGUMENTS |= dict.fromkeys(("contiguous", "clone"), lambda r, x: r.choice(((), (), FORMATS[:1])))
NAMES = [*SIGNATURES, *["__getitem__"] * 4]


def operation(r: Random, x, named=0.0) -> str:
    """Draw an operation that usually exists for a tensor, at times with arguments by their names."""
    name = r.choice(NAMES)
    piece = f"[{r.choice((0, 0, 0, 1, -1, 2))}]" if name in PIECES else ""
    return called(r, name, ARGUMENTS[name](r, x), named) + piece


def called(r: Random, name: str, args, named: float) -> str:
    """Return the source of a call; `named` is the probability of names for some arguments."""
    parameters = re.findall(r"(\w+):", SIGNATURES.get(name) or "")
    if not parameters or r.random() >= named:
        return drawn.source(name, args)
    if SIGNATURES[name].startswith("*") and args and isinstance(args[0], int):
        args = (args,)  # sizes one by one have no name
    first = r.randint(0, len(args))
    pairs = [f"{parameter}={arg}" for parameter, arg in zip(parameters, args, strict=False)]
    positional = [str(arg) for arg in args[:first]]
    keywords = r.sample(pairs[first:], len(pairs[first:]))
    return f".{name}({', '.join([*positional, *keywords])})"


def line(r: Random, tensors):
    """Draw a line that usually can be run on tensors with names, and often shows something."""
    target = r.choice([r.choice([*tensors]), indexed(r, tensors), chained(r, tensors)])
    value = r.choice([str(r.randint(-9, 100)), operand(r, tensors, target)])
    if len(tensors) < 2 or r.random() < 0.5:
        view = chained(r, tensors)
        result = f"{chained(r, tensors)} {r.choice('+-*')} {value}"
        return f"{r.choice('yyyyzzzzx')} = {r.choice([view, view, result])}"
    forms = [f"{target}.{op}({value})" for op in ("add_", "sub_", "mul_", "copy_")]
    forms += [f"{target}.fill_(7)", f"{target}.zero_()", f"{target}.neg_()"]
    forms += [f"{target} {op}= {value}" for op in "+-*"] * 2
    if target.endswith("]"):
        forms += [f"{target} = {value}"] * 4
    return r.choice(forms)


def chained(r: Random, tensors):
    """Draw a tensor with up to two operations on it, after which two indices often share an element."""
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
    """Draw a slice of a tensor."""
    name = r.choice([*tensors])
    most = max(tensors[name].ndim, 1)
    items = r.choices([":", "1:", ":-1", "0", "::2", "1::2"], k=r.randint(1, most))
    return f"{name}[{', '.join(items)}]"


def operand(r: Random, tensors, target):
    """Draw a tensor that often has the shape of the target: the same, shifted, flipped, or repeated."""
    shifted = target.replace("1:", "?").replace(":-1", "1:").replace("?", ":-1")
    tensor = r.choice([shifted, shifted, target, indexed(r, tensors), chained(r, tensors)])
    return tensor + r.choice(["", "", "", ".clone()", ".t()", "[0]", "[:1]"])
