"""Typed lines in Python, in the browser and in torch: valid, odd and invalid ones.

One node process answers for the browser (tests/answers.mjs). Python and it have to accept the same
lines, with the same outcome, and to refuse the others in the same words. torch has to come to the same,
and to refuse what is refused for another reason than the size of the picture, or the grammar.
"""

import atexit
import json
import random
import re
import shutil
import subprocess
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from stridekit import Layout, LayoutError
from stridekit.widgets.alias_explorer.story import Story
from stridekit.widgets.grammar import SIGNATURES
from stridekit.widgets.scene import layout_json
from stridekit.widgets.stride_explorer.chain import Chain, Stage, steps_of
from tests.alias_cases import line as usual_line
from tests.operation_cases import operation

Random = random.Random

LINES = 6  # a case
DRAWN: Counter[tuple[str, bool]] = Counter()  # the lines of each family that were accepted, or not


def steps(r: Random) -> None:
    """A chain of the stride explorer."""
    shape = r.choice([(5, 8), (2, 3, 4), (2, 3, 2, 2), (6,), (), (0, 3), (4, 1, 2)])
    start = r.choice([Layout(shape, itemsize=4), Layout(shape[::-1], itemsize=4).T])
    size = max(40, start.span.stop)
    labels = r.choice([None, [f"v{k}" for k in range(size)]])
    chain, texts, ours = Chain("x", start, ()), [], []
    x = torch.arange(size).as_strided(start.shape, start.stride, 0)
    stage = chain.stages(size, labels)[-1]
    for _ in range(LINES):
        text = transported(
            odd(r, "".join(step(r, stage.layout) for _ in range(r.choice((1, 1, 1, 2)))))
        )
        texts.append(text)
        try:
            longer = chain._replace(steps=(*chain.steps, *steps_of(text)))
            stages = longer.stages(size, labels)
        except (LayoutError, IndexError) as error:
            ours.append(str(error))
            assert_torch_refuses(x, text, str(error))
        else:
            new = stages[len(chain.steps) :]
            ours.append([told(before, after) for before, after in pairwise(new)])
            for stage in new[1:]:
                x = torchs(x, stage.text)
                assert_same(x, stage, texts)
            chain = longer
        DRAWN["typed_steps", not isinstance(ours[-1], str)] += 1
    request = {"start": layout_json(start), "size": size, "labels": labels, "texts": texts}
    compare(ours, browsers(request), texts)


def told(before: Stage, after: Stage) -> list[Any]:
    layout = layout_json(after.layout)
    return [after.text, layout, after.storage_size, after.labels, after.memory(before)]


def lines(r: Random) -> None:
    """A story of the alias explorer."""
    shape = r.choice([(4, 6), (3, 4), (8,), (), (0, 3), (1, 3, 2), (2, 2, 2, 2)])
    story, texts, ours = Story(shape), [], []
    names = {"x": torch.arange(len(story.tapes[0])).view(shape)}
    for _ in range(LINES):
        text = transported(odd(r, usual_line(r, story)))
        texts.append(text)
        try:
            entry = story.run(text)
        except LayoutError as error:
            ours.append(str(error))
            assert_line_refused(names, text, str(error))
        else:
            place = {id(tape): k for k, tape in enumerate(story.tapes)}
            tapes = [[int(value) for value in tape.tolist()] for tape in story.tapes]
            found = [(n, story.tensors[n]) for n in story.names()]
            layouts = [[name, place[id(it.tape)], layout_json(it.layout)] for name, it in found]
            ours.append([entry._asdict(), tapes, story.relations(), layouts])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(entry.text, names)
            for name, it in found:
                theirs = names[name]
                assert Layout.of(theirs) == it.layout, texts
                assert theirs.tolist() == it.tensor.long().tolist(), texts
        DRAWN["typed_lines", not isinstance(ours[-1], str)] += 1
    compare(ours, browsers({"shape": shape, "texts": texts}), texts)


NODE = shutil.which("node")
CASES: dict[str, Callable[[Random], None]] = (
    {"typed_steps": steps, "typed_lines": lines} if NODE else {}
)


def drawn(family: str) -> tuple[int, int]:
    """How many lines of a family were refused, and how many accepted."""
    return DRAWN[family, False], DRAWN[family, True]


# The three that have to agree ----------------------------------------------------------------------


def compare(ours: list[Any], theirs: list[Any], texts: list[str]) -> None:
    for text, one, other in zip(texts, json.loads(json.dumps(ours)), theirs, strict=True):
        assert one == other, f"{text!r} of {texts}: Python {one}, the browser {other}"


def browsers(request: dict[str, Any]) -> list[Any]:
    """The browser's answers."""
    process = _node()
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    answers: list[Any] = json.loads(process.stdout.readline())
    return answers


@cache
def _node() -> subprocess.Popen[str]:
    command = [NODE or "node", str(Path(__file__).parent / "answers.mjs")]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    atexit.register(process.communicate)  # its input ends, and so does it
    return process


def torchs(x: torch.Tensor, text: str) -> Any:
    """What torch makes of a text that Python has read: no name in it is anything but an operation's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(f"x{text}", {"x": x, "torch": torch, "__builtins__": {}})


def assert_same(x: torch.Tensor, stage: Stage, texts: list[str]) -> None:
    """The layout, and what lies on the storage: a copy's labels are its values."""
    assert Layout.of(x) == stage.layout._view(itemsize=8), texts
    stored = x.untyped_storage().nbytes() // 8
    assert stored == stage.storage_size or not x.numel(), texts
    if stage.labels and x.numel():
        values = x.as_strided((stored,), (1,), 0).tolist()
        assert [label.removeprefix("v") for label in stage.labels] == [*map(str, values)], texts


# What the pictures do not hold; and a memory format that torch lets pass where nothing is to be copied.
OURS = [
    *("the picture holds", "storage ends at", "counts exactly", "exact in a browser"),
    *("is not one of", "does not refuse", "five digits"),
]
UNREAD = ("cannot read", "is not known", "takes no call", "write .", "a line has at most")
# torch's, and Python's on the way there.
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError, NameError, AttributeError, SyntaxError)


def assert_torch_refuses(x: torch.Tensor, text: str, error: str) -> None:
    if call := re.match(r"cannot apply (.*): (.*); write", error):
        if not call[2].startswith("memory_format"):
            refused(lambda: [torchs(x, call[1])], text, error)
        return
    try:
        texts = steps_of(text)
    except LayoutError:
        return
    if not any(words in error for words in OURS):
        refused(lambda: [torchs(x, "".join(texts))], text, error)


def assert_line_refused(names: dict[str, Any], text: str, error: str) -> None:
    if not any(words in error for words in (*OURS, *UNREAD)) or "torch refuses" in error:
        scratch = {**names, "__builtins__": {}}
        refused(lambda: [exec(text.strip(), scratch), *scratch.values()], text, error)


def refused(run: Callable[[], list[Any]], text: str, error: str) -> None:
    """torch raises, or makes a negative size, which is a surprise of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = [x for x in run() if isinstance(x, torch.Tensor)]
        except REFUSALS:
            return
    assert any(n < 0 for x in made for n in x.shape), f"torch accepts {text!r}: {error}"


# Lines, valid and odd ------------------------------------------------------------------------------

TOKENS = re.compile(r"\s+|\w+|\.\.\.|.", re.DOTALL)
USUAL_INTS, INTS, VALUES, SIGNS, WORDS = map(
    str.split,
    (
        "0 1 -1 2 3 -2 7 64",
        """-0 4097 50000000 4503599627370496 9007199254740991 9007199254740992 -9007199254740993
        9223372036854775807 9223372036854775808 1000000000000000000000000000000 00 007 0x1 0b1 1_0 1e0
        1.0 1. .5 1j +1 --1 -(-1) True ٣ ²""",
        """None () [] (1) (2,) (0,1) [1,0] ((0),1) ((0,1)) (0,(1)) [[0]] ... : :: ::2 1: :-1 None: 1:2:3
        1:2:3:4 (1:2) *x **x torch torch.channels_last torch.preserve_format torch.channels_last_3d
        torch.float32 'channels_last' "channels_last" channels_last b'a' f'{x}' '' x y z x[0] y[1:] x+1
        x.numel() y.zero_() x:=1 lambda:1""",
        """, ,, . .. : = == + - * ** / // @ += -= *= /= ( ) [ ] { } ; \\ # ' " ` ! % & | < ~ ?""",
        """add_ zero_ fill_ copy_ mul_ neg_ sub_ numpy __class__ constructor toString __proto__ narrow if
        w y z dim size other""",
    ),
)
SPACES = " \t\n\r\f\v\0\x1f\x7f\xa0\u2003\u2028\ufeff\u200b"
LETTERS = "0123456789abxyzT_.\ud800\udc00\u0301é😀ｘſﬁ𝟙"
RARE = ["", " ", "x", "=", "#", " # x", "x" * 1001, "(" * 900, "x[" * 400, ".T" * 490,
        "y = x" + ".T" * 490, "y = x" + ".t()" * 5000, "x += " + "9" * 980, "[" + "0, " * 300,
        f".view({'1, ' * 300})"]  # fmt: skip


def transported(text: str) -> str:
    """The text as the browser's messages can have it: two halves of one character become one."""
    return str(json.loads(json.dumps(text)))


def step(r: Random, layout: Layout) -> str:
    """An operation that usually exists: as it is usually written, or its arguments by their names."""
    text = operation(r, layout)
    name, bracket, given = text[1:].rstrip(")").partition("(")
    names = re.findall(r"(\w+):", SIGNATURES.get(name) or "")
    if not (bracket and names and r.random() < 0.35):
        return text
    starred = SIGNATURES[name].startswith("*") and not given.startswith(("(", "["))
    values = [f"({given},)"] if starred and given else re.findall(r"\([^)]*\)|[^\s,()]+", given)
    first = r.randint(0, len(values))
    pairs = [f"{word}={value}" for word, value in zip(names, values, strict=False)]
    named = r.sample(pairs[first:], len(pairs[first:]))
    return f".{name}({', '.join([*values[:first], *named])})"


def odd(r: Random, text: str) -> str:
    """The line, often with something of it changed, and rarely another one."""
    if r.random() < 0.01:
        return r.choice(RARE)
    for _ in range(r.choice((0, 0, 0, 1, 1, 1, 1, 2, 3))):
        text = changed(r, text)
    return text


def changed(r: Random, text: str) -> str:
    """A token or a character left out, doubled, exchanged, or put in."""
    if r.random() < 0.15:
        k = r.randint(0, len(text))
        put = r.choice([r.choice(SPACES), r.choice(SIGNS), r.choice(LETTERS)])
        return text[:k] + put + text[k + r.randint(0, 1) :]
    tokens = TOKENS.findall(text) or [""]
    k, other = r.randrange(len(tokens)), r.randrange(len(tokens))
    ints = [k for k, token in enumerate(tokens) if token.isdigit()]
    kind = r.random()
    if kind < 0.25 and ints:
        tokens[r.choice(ints)] = r.choice([*USUAL_INTS * 2, *INTS, r.choice(VALUES)])
    elif kind < 0.4:
        tokens[k] = r.choice(
            [*WORDS, *SIGNATURES] if tokens[k].isidentifier() else [*SIGNS, *VALUES]
        )
    elif kind < 0.55:
        tokens.insert(k, r.choice([*SIGNS, *VALUES, ", 1", ", None", *SPACES]))
    elif kind < 0.65:
        del tokens[k]
    elif kind < 0.72:
        tokens.insert(k, tokens[k])
    elif kind < 0.8:
        tokens[k], tokens[other] = tokens[other], tokens[k]
    elif kind < 0.9:
        tokens = [token + r.choice(["", "", " ", "\t"]) for token in tokens]
    else:
        tokens = [
            r.choice(["", " ", "\n", "\xa0"]),
            text,
            r.choice([*SPACES, ",", ";", "#", " # y"]),
        ]
    return "".join(tokens)
