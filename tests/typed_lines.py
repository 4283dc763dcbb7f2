"""Random typing for the widgets: operations and lines."""

import re
import warnings
from random import Random

import torch

from stridekit.widgets.engine import Script
from tests import steps

grammar = Script("page/grammar.js")
PIECES, SIGNATURES = grammar.PIECES, grammar.SIGNATURES
# torch's, and Python's on the way there.
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError, NameError, AttributeError, SyntaxError)


def torchs(x: torch.Tensor, text: str):
    """The tensor that torch makes of a text, after the grammar has read it: its names are operations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {"x": x, "torch": torch, "__builtins__": {"__import__": __import__}}
        return eval(f"x{text}", names)  # torch imports, to raise its TypeError


# Operations -------------------------------------------------------------------------------------------


def in_format(r: Random, x):
    return r.choice(((), (), ("'channels_last'",)))


def a_format(r: Random, x):
    return (r.choice(("'channels_last'", "torch.preserve_format", "torch.contiguous_format")),)


# What a person can type, an index most often; arguments are drawn as for layouts.
ARGUMENTS = steps.ARGUMENTS | {"contiguous": in_format, "clone": in_format, "to": a_format}
NAMES = [*SIGNATURES, *["__getitem__"] * 4]


def operation(r: Random, x, named=0.0) -> str:
    """An operation that usually exists for a tensor, at times with some arguments by their names."""
    name = r.choice(NAMES)
    piece = f"[{r.choice((0, 0, 0, 1, -1, 2))}]" if name in PIECES else ""
    return called(r, name, ARGUMENTS[name](r, x), named) + piece


def called(r: Random, name: str, args, named: float) -> str:
    words = re.findall(r"(\w+):", SIGNATURES.get(name) or "")
    if not words or r.random() >= named:
        return steps.source(name, args)
    if SIGNATURES[name].startswith("*") and args and isinstance(args[0], int):
        args = (args,)  # sizes one by one have no name
    first = r.randint(0, len(args))
    pairs = [f"{word}={arg}" for word, arg in zip(words, args, strict=False)][first:]
    return f".{name}({', '.join([*map(str, args[:first]), *r.sample(pairs, len(pairs))])})"


# Lines of the alias explorer --------------------------------------------------------------------------


def line(rng, tensors):
    """A line that usually can be run on tensors with names, and often shows something."""
    name = rng.choice([*tensors, rng.choice("yzw") if rng.random() < 0.1 else "x"])
    if rng.random() < 0.12:
        return computed(rng, tensors)
    if name not in tensors or len(tensors) < 2 or rng.random() < 0.45:
        return f"{rng.choice('yyyyzzzzx')} = {chained(rng, tensors, name)}"
    target = rng.choice([name, indexed(rng, tensors, name), chained(rng, tensors, name)])
    value = rng.choice([str(rng.randint(-9, 100)), operand(rng, tensors, target)])
    as_statement = target.endswith("]") or target == name
    forms = [f"{target}.{op}({value})" for op in ("add_", "sub_", "mul_", "copy_")]
    forms += [f"{target}.fill_(7)", f"{target}.zero_()", f"{target}.neg_()"]
    if as_statement:
        forms += [f"{target} {op}= {value}" for op in "+-*"] * 2
    if target.endswith("]"):
        forms += [f"{target} = {value}"] * 4
    return rng.choice(forms)


def computed(rng, tensors):
    """Arithmetic out of place, of tensors that often broadcast, or of one and an int."""
    names = [*tensors]
    other = rng.choice([str(rng.randint(-9, 100))] * 2 + names)
    left, right = rng.sample([chained(rng, tensors, rng.choice(names)), other], 2)
    return f"{rng.choice('yz')} = {left} {rng.choice('+-*')} {right}"


def chained(rng, tensors, name):
    """A name with up to two operations on it."""
    if name not in tensors:
        return name
    text, x = name, tensors[name]
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        step = rng.choice([operation(rng, x), ".clone()", windows(rng, x)])
        text += step
        try:
            x = torchs(x, grammar.readSteps(step)[0]["text"])
        except REFUSALS:
            break
    return text


def windows(rng, x):
    """An operation after which two indices share an element."""
    if x.ndim == 0:
        return ".expand(3)"
    if rng.random() < 0.5:
        return f".unfold({rng.randrange(x.ndim)}, 2, 1)"
    return f".expand(2, {', '.join(['-1'] * x.ndim)})"


def indexed(rng, tensors, name):
    """A slice of a name."""
    ndim = tensors[name].ndim
    items = rng.choices([":", "1:", ":-1", "0", "::2", "1::2"], k=rng.randint(1, max(ndim, 1)))
    return f"{name}[{', '.join(items)}]"


def operand(rng, tensors, target):
    """A tensor that often has the shape of the target: the same, shifted, flipped over, or repeated."""
    name = rng.choice([*tensors])
    shifted = target.replace("1:", "?").replace(":-1", "1:").replace("?", ":-1")
    others = [target, name, indexed(rng, tensors, name), chained(rng, tensors, name)]
    return rng.choice([shifted, shifted, *others]) + rng.choice(
        ["", "", "", ".clone()", ".t()", "[0]", "[:1]"]
    )
