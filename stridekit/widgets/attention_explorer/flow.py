"""The way from a packed projection to the merged heads: the layouts of each step, and what it copies.

All of it follows from layouts, by the rules of `stridekit.attention` and `stridekit.elementwise`. flow.js
says the same, so that the picture follows the hand without a kernel; tests/live_attention.py compares the
two, and tests/test_attention_explorer.py compares Python with torch, in all settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

from stridekit.attention import matmul_copies, packed_heads, sdpa_output, why_no_flash
from stridekit.elementwise import output_layout
from stridekit.layout import Layout
from stridekit.widgets.notation import counted

MOST = {"batch": 2, "tokens": 4, "heads": 4}  # what one screen shows legibly
DIMS = (2, 4)
PACKINGS = ("3HD", "H3D", "HD3")
ROTARY = ("none", "x*cos + rot(x)*sin", "rot(x)*sin + x*cos")
ATTENTION = ("@", "SDPA")
ITEMSIZE = 4
LETTERS = "abcd"  # one for each head

Element = tuple[Any, ...]  # a tensor, and an index (b, h, t, d) of it


class Settings(NamedTuple):
    """What the sliders and the chips say."""

    batch: int
    tokens: int
    heads: int
    dim: int
    kv_heads: int
    packing: str
    rotary: str
    attention: str

    @property
    def width(self) -> int:
        """The number of channels: the heads of a token, merged."""
        return self.heads * self.dim


class Arrow(NamedTuple):
    """What a step does to get its tensors: "view", "new" (it has to write them anyway), or "copy"."""

    word: str
    names: tuple[str, ...]
    nbytes: int

    @property
    def text(self) -> str:
        """The arrow in words.

        >>> Arrow("copy", ("q", "k"), 384).text
        'copy q, k: 384 bytes'
        """
        if self.word == "view":
            return "view"
        copied = f" {', '.join(self.names)}" * (self.word == "copy")
        return f"{self.word}{copied}: {self.nbytes} bytes"


class Step(NamedTuple):
    """A box of the picture: how it is reached, its tensors, its code, a note, and why it copies."""

    name: str
    arrows: tuple[Arrow, ...]
    tensors: dict[str, Layout]
    code: tuple[str, ...]
    note: str = ""
    why: tuple[str, ...] = ()


def settings(state: Mapping[str, Any]) -> Settings:
    """The settings of a widget's state."""
    return Settings(*(state[name] for name in Settings._fields))


def kv_choices(heads: int, packing: str) -> list[int]:
    """The numbers of heads that k and v may have: those that divide the heads of q, packed as "3HD".

    >>> kv_choices(4, "3HD"), kv_choices(4, "H3D")
    ([1, 2, 4], [4])
    """
    return [n for n in range(1, heads + 1) if heads % n == 0 and (packing == "3HD" or n == heads)]


def heads_shape(s: Settings, part: str) -> tuple[int, ...]:
    """The shape of q, k or v."""
    return s.batch, s.heads if part == "q" else s.kv_heads, s.tokens, s.dim


# The steps ------------------------------------------------------------------------------------------


@cache
def steps(s: Settings) -> tuple[Step, ...]:
    """The five boxes, in the order in which they run.

    >>> for step in steps(Settings(2, 3, 2, 4, 2, "3HD", "none", "@")):
    ...     print(step.name, [arrow.text for arrow in step.arrows])
    linear ['new: 576 bytes']
    heads ['view']
    rotary []
    attention ['copy q, k, v: 576 bytes', 'new: 336 bytes']
    merge ['copy out: 192 bytes']
    """
    cut = _heads(s)
    turned = _rotary(s, cut.tensors)
    attended = _attention(s, cut.tensors | turned.tensors)
    return _linear(s), cut, turned, attended, _merge(s, attended.tensors["out"])


def _linear(s: Settings) -> Step:
    width = (s.heads + 2 * s.kv_heads) * s.dim
    made = {"qkv": _new(s.batch, s.tokens, width)}
    code = f"qkv = torch.rand({s.batch}, {s.tokens}, {s.width}) @ torch.rand({s.width}, {width})"
    return Step("linear", (_written(made),), made, (code,))


def _heads(s: Settings) -> Step:
    b, t, h, d, kv = s[:5]
    made = packed_heads(b, t, h, d, s.packing, kv_heads=kv, itemsize=ITEMSIZE)
    if kv < h:
        cuts = [h * d, kv * d, kv * d]
        code = f"(x.unflatten(2, (-1, {d})).transpose(1, 2) for x in qkv.split({cuts}, 2))"
    else:
        row = tuple({"3": 3, "H": h, "D": d}[letter] for letter in s.packing)
        three, head, one = (2 + s.packing.index(letter) for letter in "3HD")
        code = f"qkv.unflatten(2, {row}).permute({three}, 0, {head}, 1, {one})"
    tensors = dict(zip("qkv", made, strict=True))
    return Step("heads", (Arrow("view", (), 0),), tensors, (f"q, k, v = {code}",))


def _rotary(s: Settings, parts: dict[str, Layout]) -> Step:
    if s.rotary == "none":
        return Step("rotary", (), {}, (), "not used: q, k and v stay in qkv")
    made = {name: _rotated(s, parts[name]) for name in "qk"}
    half = s.dim // 2
    code = (
        f"cos, sin = torch.rand(2, {s.tokens}, {s.dim})",
        f"rot = lambda x: torch.cat([-x[..., {half}:], x[..., :{half}]], -1)",
        *(f"{name} = {s.rotary.replace('x', name)}" for name in "qk"),
    )
    return Step("rotary", (_written(made),), made, code, "the first summand decides the order")


def _rotated(s: Settings, x: Layout) -> Layout:
    """The sum of two products; what `cat` returns is contiguous."""
    table = _new(s.tokens, s.dim)
    first, second = (output_layout(one, table) for one in (x, _new(*x.shape)))
    return output_layout(*((first, second) if s.rotary == ROTARY[1] else (second, first)))


def _attention(s: Settings, parts: dict[str, Layout]) -> Step:
    return (_by_products if s.attention == "@" else _by_sdpa)(s, *(parts[name] for name in "qkv"))


def _by_products(s: Settings, q: Layout, k: Layout, v: Layout) -> Step:
    arrows, code, why = [], [], []
    if s.kv_heads < s.heads:
        k, v = repeated = [_new(*q.shape)] * 2
        arrows.append(Arrow("copy", ("k", "v"), sum(map(_bytes, repeated))))
        group = s.heads // s.kv_heads
        code += [f"{name} = {name}.repeat_interleave({group}, 1)" for name in "kv"]
        why.append(_why_repeated(s))
    clones, reason = _clones(q, k, v)
    if clones:
        arrows.append(clones)
        why.append(f"{_are(clones.names)} copied: @ makes one batch of each, and {reason}.")
    made = {"scores": _new(*q.shape[:3], s.tokens), "out": _new(*q.shape)}
    code += [f"scores = q @ k.mT / {s.dim}**0.5", "out = scores.softmax(-1) @ v"]
    return Step("attention", (*arrows, _written(made)), made, tuple(code), why=tuple(why))


def _by_sdpa(s: Settings, q: Layout, k: Layout, v: Layout) -> Step:
    grouped = s.kv_heads < s.heads
    made = {"out": sdpa_output(q, k, v, enable_gqa=grouped)}
    asked = ", enable_gqa=True" * grouped
    code = (
        "F = torch.nn.functional",
        f"out = F.scaled_dot_product_attention(q, k, v{asked})",
    )
    no_flash = why_no_flash(q, k, v, enable_gqa=grouped)
    if not no_flash:
        note = "flash: out is an empty_like(q)"
        return Step("attention", (_written(made),), made, code, note)
    # The math path scales q and k, by elementwise operations, and multiplies what comes out.
    number = Layout((), itemsize=ITEMSIZE)
    clones, reason = _clones(output_layout(q, number), output_layout(k, number), v)
    note = f"math, as {no_flash}"
    if not clones:
        return Step("attention", (_written(made),), made, code, note)
    why = f"{_are(clones.names)} copied: the math path makes one batch of each, and {reason}."
    return Step("attention", (clones, _written(made)), made, code, note, (why,))


def _clones(q: Layout, k: Layout, v: Layout) -> tuple[Arrow | None, str]:
    """What `q @ k.mT` and the second product clone of them, and a reason with the numbers of the first."""
    first, second = matmul_copies(q, k.mT), matmul_copies(_new(*q.shape[:3], k.shape[2]), v)
    found = {"q": first.a, "k": first.b, "v": second.b}
    names = tuple(name for name, nbytes in found.items() if nbytes)
    if not names:
        return None, ""
    x = {"q": q, "k": k, "v": v}[names[0]]
    steps = f"stride {x.stride[0]} found, {x.shape[1] * x.stride[1]} needed"
    return Arrow("copy", names, sum(found.values())), f"dims 0 and 1 do not merge ({steps})"


def _why_repeated(s: Settings) -> str:
    if s.kv_heads == 1:
        return "k and v are copied: repeat_interleave writes their head once for each head of q."
    group = s.heads // s.kv_heads
    return (
        f"k and v are copied: head h of q meets their head h // {group}, and no stride says that."
    )


def _merge(s: Settings, out: Layout) -> Step:
    shape = (s.batch, s.tokens, s.width)
    turned = out.transpose(1, 2)
    made = {"y": turned.reshape(shape)}
    code = (f"y = out.transpose(1, 2).reshape{shape}",)
    reason = turned.why_not_view(shape)
    if not reason:
        return Step("merge", (Arrow("view", (), 0),), made, code)
    why = f"out is copied: {reason.partition(', and')[0]}."
    return Step("merge", (Arrow("copy", ("out",), _bytes(out)),), made, code, why=(why,))


def _new(*shape: int) -> Layout:
    return Layout(shape, itemsize=ITEMSIZE)


def _bytes(x: Layout) -> int:
    return x.numel * x.itemsize


def _written(made: dict[str, Layout]) -> Arrow:
    return Arrow("new", tuple(made), sum(map(_bytes, made.values())))


# Words ----------------------------------------------------------------------------------------------


def listed(names: Iterable[str]) -> str:
    """Names in a sentence.

    >>> listed("q"), listed("qkv")
    ('q', 'q, k and v')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _are(names: tuple[str, ...]) -> str:
    return f"{listed(names)} {'are' if len(names) > 1 else 'is'}"


def copies(found: Iterable[Step]) -> list[Arrow]:
    """All that is copied on the way."""
    return [arrow for step in found for arrow in step.arrows if arrow.word == "copy"]


def summary(found: Iterable[Step]) -> str:
    """What the whole way copies: the idea of the widget.

    >>> summary(steps(Settings(2, 3, 2, 4, 2, "3HD", "none", "SDPA")))
    'Nothing is copied on the way.'
    """
    arrows = copies(found)
    if not arrows:
        return "Nothing is copied on the way."
    names = [name for arrow in arrows for name in arrow.names]
    total = sum(arrow.nbytes for arrow in arrows)
    many = "1 copy" if len(names) == 1 else f"{len(names)} copies"
    return f"{many} on the way, of {listed(names)}: {counted(total, 'byte')}."


def order(x: Layout) -> str:
    """The order in which memory holds tokens and heads.

    >>> order(Layout((2, 3, 5, 4))), order(Layout((2, 5, 3, 4)).transpose(1, 2))
    ('head by head', 'token by token')
    """
    _, heads, tokens, _ = x.shape
    if heads == 1 or tokens == 1:
        return "one order for heads and tokens"
    return "token by token" if x.stride[2] > x.stride[1] else "head by head"


def labels(memory: str, row: Iterable[Element]) -> list[str]:
    """The texts in a row of boxes: a letter for the head, where another vector begins.

    In qkv, q, k or v stands before it, elsewhere the token behind it.

    >>> row = [("q", 0, 1, 2, 0), ("q", 0, 1, 2, 1), ("k", 0, 1, 2, 0)]
    >>> labels("qkv", row), labels("rotary", row[:2])
    (['qb', '', 'kb'], ['b2', ''])
    """
    texts, before = [], None
    for part, *vector, _ in row:
        _, head, token = vector
        letter = LETTERS[head]
        text = f"{part}{letter}" if memory == "qkv" else f"{letter}{token}"
        texts.append("" if (part, vector) == before else text)
        before = part, vector
    return texts


def code(s: Settings) -> str:
    """The torch code that does what is shown.

    >>> print(code(Settings(2, 3, 2, 4, 2, "3HD", "none", "@")))
    qkv = torch.rand(2, 3, 8) @ torch.rand(8, 24)
    q, k, v = qkv.unflatten(2, (3, 2, 4)).permute(2, 0, 3, 1, 4)
    scores = q @ k.mT / 4**0.5
    out = scores.softmax(-1) @ v
    y = out.transpose(1, 2).reshape(2, 3, 8)
    """
    return "\n".join(line for step in steps(s) for line in step.code)


# Elements -------------------------------------------------------------------------------------------


def memories(s: Settings, part: str) -> dict[str, dict[str, Layout]]:
    """The tensors in each memory that is drawn, as (batch, heads, tokens, dim).

    Of the rotated q and k, it is the one that is followed.
    """
    _, cut, turned, attended, merged = steps(s)
    shown = "k" if part == "k" else "q"
    out = merged.tensors["y"].unflatten(2, (s.heads, s.dim)).transpose(1, 2)
    return {
        "qkv": cut.tensors,
        "rotary": {shown: turned.tensors[shown]} if turned.tensors else {},
        "attention": {"out": attended.tensors["out"]},
        "merge": {"y": out},
    }


def cells(parts: Mapping[str, Layout]) -> list[Element]:
    """The elements of some tensors, in the order of their memory.

    >>> cells({"out": Layout((1, 2, 2, 1), (4, 1, 2, 1))})
    [('out', 0, 0, 0, 0), ('out', 0, 1, 0, 0), ('out', 0, 0, 1, 0), ('out', 0, 1, 1, 0)]
    """
    found = {
        x.offset(index): (name, *index)
        for name, x in parts.items()
        for index in product(*map(range, x.shape))
    }
    return [found[place] for place in sorted(found)]


def reached(s: Settings, element: Element) -> tuple[range, range, range, range]:
    """The indices of the output that an element goes into, by dim.

    An element of q meets all keys: it goes into the output of its token. One of k or v goes into the
    outputs of all tokens, in all heads that share it.
    """
    part, b, h, t, d = element
    group = s.heads // s.kv_heads
    return (
        range(b, b + 1),
        range(h, h + 1) if part == "q" else range(h * group, (h + 1) * group),
        range(t, t + 1) if part == "q" else range(s.tokens),
        range(d, d + 1) if part == "v" else range(s.dim),
    )


def place(s: Settings, element: Element) -> str:
    """Where an element lies, and where it goes.

    >>> place(Settings(2, 3, 2, 4, 2, "3HD", "none", "@"), ("k", 0, 1, 2, 3))
    'k[0, 1, 2, 3] is element 63 of qkv. It goes into 12 elements of out: out[0, 1, :, :].'
    """
    part, *index = element
    _, cut, turned, *_ = steps(s)
    where = f"element {cut.tensors[part].offset(index)} of qkv"
    if part in turned.tensors:
        where += f", after rotary element {turned.tensors[part].offset(index)} of {part}"
    ranges = reached(s, element)
    many = counted(prod(map(len, ranges)), "element")
    sizes = (s.batch, s.heads, s.tokens, s.dim)
    goes = ", ".join(_slice(one, size) for one, size in zip(ranges, sizes, strict=True))
    return (
        f"{part}[{', '.join(map(str, index))}] is {where}. It goes into {many} of out: out[{goes}]."
    )


def _slice(one: range, size: int) -> str:
    if len(one) == 1:
        return str(one.start)
    return ":" if len(one) == size else f"{one.start}:{one.stop}"


# Facts ----------------------------------------------------------------------------------------------

FACTS: dict[str, type] = {
    **dict.fromkeys(("batch", "tokens", "heads", "dim", "kv_heads"), int),
    **dict.fromkeys(("packing", "rotary", "attention"), str),
    **{"copied": int, "copies": tuple, "flash": bool, "merge": str, "followed": tuple},
    **{"q_stride": tuple, "out_stride": tuple, "y_stride": tuple},
}


def facts(state: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a state, over which goals are set.

    The settings, the bytes and the names of what is copied, whether flash runs, whether the merge is a
    "view" or a "copy", the followed element, and the strides of q as it meets k, of out and of y.
    """
    s = settings(state)
    found = steps(s)
    arrows = copies(found)
    _, cut, turned, attended, merged = found
    return {
        **s._asdict(),
        "copied": sum(arrow.nbytes for arrow in arrows),
        "copies": tuple(name for arrow in arrows for name in arrow.names),
        "flash": attended.note.startswith("flash"),
        "merge": merged.arrows[0].word,
        "followed": tuple(state["followed"]),
        "q_stride": turned.tensors.get("q", cut.tensors["q"]).stride,
        "out_stride": attended.tensors["out"].stride,
        "y_stride": merged.tensors["y"].stride,
    }
