"""Random typing for the widgets: operations, lines, and odd ones of both."""

import json
import re
from random import Random

from stridekit import Layout, LayoutError
from stridekit.widgets.grammar import PIECES, SIGNATURES, apply, read_steps
from tests import steps

# Operations -------------------------------------------------------------------------------------------


def in_format(r: Random, x):
    return r.choice(((), (), ("'channels_last'",)))


def a_format(r: Random, x):
    return (r.choice(("'channels_last'", "torch.preserve_format", "torch.contiguous_format")),)


# What a person can type, an index most often; arguments are drawn as for layouts.
ARGUMENTS = steps.ARGUMENTS | {"contiguous": in_format, "clone": in_format, "to": a_format}
NAMES = [*SIGNATURES, *["__getitem__"] * 4]


def operation(r: Random, layout: Layout, named=0.0) -> str:
    """An operation that usually exists for this layout, at times with some arguments by their names."""
    name = r.choice(NAMES)
    piece = f"[{r.choice((0, 0, 0, 1, -1, 2))}]" if name in PIECES else ""
    return called(r, name, ARGUMENTS[name](r, layout), named) + piece


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


def line(rng, session):
    """A line that usually can be run, and often shows something."""
    name = rng.choice([*session.tensors, rng.choice("yzw") if rng.random() < 0.1 else "x"])
    if rng.random() < 0.12:
        return computed(rng, session)
    if name not in session.tensors or len(session.tensors) < 2 or rng.random() < 0.45:
        return f"{rng.choice('yyyyzzzzx')} = {chained(rng, session, name)}"
    target = rng.choice([name, indexed(rng, session, name), chained(rng, session, name)])
    value = rng.choice([str(rng.randint(-9, 100)), operand(rng, session, target)])
    as_statement = target.endswith("]") or target == name
    forms = [f"{target}.{op}({value})" for op in ("add_", "sub_", "mul_", "copy_")]
    forms += [f"{target}.fill_(7)", f"{target}.zero_()", f"{target}.neg_()"]
    if as_statement:
        forms += [f"{target} {op}= {value}" for op in "+-*"] * 2
    if target.endswith("]"):
        forms += [f"{target} = {value}"] * 4
    return rng.choice(forms)


def computed(rng, session):
    """Arithmetic out of place, of tensors that often broadcast, or of one and an int."""
    names = [*session.tensors]
    other = rng.choice([str(rng.randint(-9, 100))] * 2 + names)
    one, two = rng.sample([chained(rng, session, rng.choice(names)), other], 2)
    return f"{rng.choice('yz')} = {one} {rng.choice('+-*')} {two}"


def chained(rng, session, name):
    """A name with up to two operations on it."""
    if name not in session.tensors:
        return name
    text, layout = name, session.tensors[name].layout
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        text += (step := rng.choice([operation(rng, layout), ".clone()", windows(rng, layout)]))
        try:
            layout = apply(layout, read_steps(step)[0])
        except (LayoutError, IndexError):
            break
    return text


def windows(rng, layout):
    """An operation after which two indices share an element."""
    if layout.ndim == 0:
        return ".expand(3)"
    if rng.random() < 0.5:
        return f".unfold({rng.randrange(layout.ndim)}, 2, 1)"
    return f".expand(2, {', '.join(['-1'] * layout.ndim)})"


def indexed(rng, session, name):
    """A slice of a name."""
    ndim = session.tensors[name].tensor.ndim
    items = rng.choices([":", "1:", ":-1", "0", "::2", "1::2"], k=rng.randint(1, max(ndim, 1)))
    return f"{name}[{', '.join(items)}]"


def operand(rng, session, target):
    """A tensor that often has the shape of the target: the same, shifted, flipped over, or repeated."""
    name = rng.choice([*session.tensors])
    shifted = target.replace("1:", "?").replace(":-1", "1:").replace("?", ":-1")
    others = [target, name, indexed(rng, session, name), chained(rng, session, name)]
    return rng.choice([shifted, shifted, *others]) + rng.choice(
        ["", "", "", ".clone()", ".t()", "[0]", "[:1]"]
    )


# Odd ones ---------------------------------------------------------------------------------------------

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
