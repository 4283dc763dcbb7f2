"""What a person types into the widgets, drawn by chance: operations, lines, and odd ones of both."""

import json
import re
from random import Random

from stridekit import Layout, LayoutError
from stridekit.widgets.grammar import SIGNATURES

# Operations -------------------------------------------------------------------------------------------


def operation(rng, x):
    """A step that usually exists for this layout."""
    ndim = x.ndim
    dims = list(range(ndim))

    def dim():
        return rng.randint(-ndim - (rng.random() < 0.1), max(ndim - 1, 0))

    def shape():
        sizes = [n for n in rng.sample(x.shape, ndim) for n in split(rng, n)]
        sizes = merge(rng, sizes)
        if sizes and rng.random() < 0.2:
            sizes[rng.randrange(len(sizes))] = rng.choice([-1, -1, -1, 5, -2])
        return ", ".join(map(str, sizes)) if sizes and rng.random() < 0.7 else f"{tuple(sizes)}"

    def index():
        items = [
            rng.choice(
                [
                    ":",
                    f"{rng.randint(-n, n)}",
                    "::2",
                    "1:",
                    f":{rng.randint(-1, 3)}",
                    "1:4:3",
                    "None",
                ]
            )
            for n in x.shape
        ]
        if rng.random() < 0.3:
            items.insert(rng.randint(0, len(items)), "...")
        items = items[: rng.randint(1, 5)] or ["..."]
        return f"[{', '.join(items)}]"

    rng.shuffle(dims)
    order = str(tuple(dims)) if rng.random() < 0.5 or len(dims) < 2 else ", ".join(map(str, dims))
    grown = tuple(rng.choice([n, -1, 3 if n == 1 else n]) for n in x.shape)
    return rng.choice(
        [
            index,
            index,
            lambda: f".permute({order})",
            lambda: f".transpose({dim()}, {dim()})",
            lambda: rng.choice([".t()", ".T", ".mT"]),
            lambda: f".select({dim()}, {rng.randint(-2, 3)})",
            lambda: f".unsqueeze({dim()})",
            lambda: rng.choice([".squeeze()", f".squeeze({dim()})"]),
            lambda: f".expand({(*[2] * rng.randint(0, 1), *grown)})",
            lambda: f".diagonal({rng.randint(-2, 2)}, {dim()}, {dim()})",
            lambda: f".unfold({dim()}, {rng.randint(0, 3)}, {rng.randint(1, 2)})",
            lambda: f".view({shape()})",
            lambda: f".view({shape()})",
            lambda: f".reshape({shape()})",
            lambda: f".reshape({shape()})",
            lambda: rng.choice([".flatten()", f".flatten({dim()}, {dim()})", ".ravel()"]),
            lambda: rng.choice([".contiguous()", '.contiguous("channels_last")']),
            lambda: (
                f".as_strided({tuple(x.shape)}, {tuple(reversed(x.stride))}, {rng.randint(-1, 4)})"
            ),
        ]
    )()


def split(rng, n):
    """A size as it is, or as two factors, or with a 1 beside it."""
    factors = [k for k in range(2, n) if n % k == 0]
    if factors and rng.random() < 0.5:
        k = rng.choice(factors)
        return [k, n // k]
    return [n, 1] if rng.random() < 0.1 else [n]


def merge(rng, sizes):
    """Two neighbours multiplied, sometimes."""
    if len(sizes) > 1 and rng.random() < 0.6:
        k = rng.randrange(len(sizes) - 1)
        return [*sizes[:k], sizes[k] * sizes[k + 1], *sizes[k + 2 :]]
    return sizes


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
    operands = [
        chained(rng, session, rng.choice(names)),
        rng.choice([str(rng.randint(-9, 100))] * 2 + names),
    ]
    rng.shuffle(operands)
    return f"{rng.choice('yz')} = {operands[0]} {rng.choice('+-*')} {operands[1]}"


def chained(rng, session, name):
    """A name with up to two operations on it."""
    if name not in session.tensors:
        return name
    text, layout = name, session.tensors[name].layout
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        step = rng.choice([operation(rng, layout), ".clone()", windows(rng, layout)])
        try:
            layout = eval(f"x{step}", {"x": layout})
        except (LayoutError, IndexError):
            return text + step
        text += step
    return text


def windows(rng, layout):
    """What makes two indices share an element."""
    if layout.ndim == 0:
        return ".expand(3)"
    if rng.random() < 0.5:
        return f".unfold({rng.randrange(layout.ndim)}, 2, 1)"
    return f".expand(2, {', '.join(['-1'] * layout.ndim)})"


def indexed(rng, session, name):
    """A slice of a name."""
    ndim = session.tensors[name].tensor.ndim
    items = [
        rng.choice([":", "1:", ":-1", "0", "::2", "1::2"])
        for _ in range(rng.randint(1, max(ndim, 1)))
    ]
    return f"{name}[{', '.join(items)}]"


def operand(rng, session, target):
    """A tensor that often has the shape of the target: the same, shifted, flipped over, or repeated."""
    name = rng.choice([*session.tensors])
    shifted = target.replace("1:", "?").replace(":-1", "1:").replace("?", ":-1")
    choices = [
        shifted,
        shifted,
        target,
        name,
        indexed(rng, session, name),
        chained(rng, session, name),
    ]
    text = rng.choice(choices)
    return text + rng.choice(["", "", "", ".clone()", ".t()", "[0]", "[:1]"])


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
