"""The grammar of typed lines, and their parser: `.permute(1, 0)`, `[1:, ::2]`, `y = x[1:] + 1`.

    steps    = [ name "=" ] [ tensor ] step { step }      behind no tensor, the first dot may be left out
    step     = "[" item { "," item } [ "," ] "]"
             | "." name [ "(" [ argument { "," argument } [ "," ] ] ")" ] [ "[" int "]" ]
    item     = "..." | "None" | int | [ bound ] ":" [ bound ] [ ":" [ bound ] ]
    bound    = int | "None"
    argument = [ name "=" ] ( int | ints | "None" | format )
    ints     = "(" [ int { "," int } [ "," ] ] ")" | "[" [ int { "," int } [ "," ] ] "]"
    int      = [ "-" ] digits                             no 0 in front, nothing beyond 2^53
    format   = "torch" "." name | a name in quotes

    line     = name "=" ( chain | operand sign operand )  a name is bound
             | chain op operand                           in place: a name, or a chain that ends in "]"
             | chain "." name "(" [ operand [ "," ] ] ")"
    chain    = name { step }
    operand  = chain | int
    sign     = "+" | "-" | "*"
    op       = "=" | "+=" | "-=" | "*="

Names have ASCII letters, digits and _. Spaces and tabs may stand between tokens; a dot and its name are one
token. "#" begins a comment. A line is Python with Python's meaning: `(3)` is the int 3. The index behind a
call picks one of several results, as in `split(2)[0]`. Formats may also be given in quotes, or without the
name of the parameter; `Step.text` then has the form that torch takes. What slides and chats make of a line,
such as curly quotes, and what stands around it, such as a semicolon, is `plain` again.

page/grammar.js is a port of this module, function by function; lines.py and lines.js of the alias explorer
read `line`. tests/live_lines.py holds the two languages to the same layouts, and the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import torch

from stridekit.layout import Layout, LayoutError
from stridekit.widgets.notation import MAX_SAFE_INTEGER, counted

MOST_CHARACTERS = 1000

# The operations, as a sentence lists them, and their parameters as torch has them; a property has None.
SIGNATURES: dict[str, str | None] = {
    "permute": "*dims: int",
    "transpose": "dim0: int, dim1: int",
    "swapdims": "dim0: int, dim1: int",
    "swapaxes": "axis0: int, axis1: int",
    "movedim": "source: int|ints, destination: int|ints",
    "moveaxis": "source: int|ints, destination: int|ints",
    "t": "",
    "T": None,
    "mT": None,
    "H": None,
    "mH": None,
    "adjoint": "",
    "select": "dim: int, index: int",
    "narrow": "dim: int, start: int, length: int",
    "split": "split_size: int|ints, dim: int = 0",
    "chunk": "chunks: int, dim: int = 0",
    "unbind": "dim: int = 0",
    "tensor_split": "sections: int|ints, dim: int = 0",
    "hsplit": "*sections: int|ints",
    "vsplit": "*sections: int|ints",
    "dsplit": "*sections: int|ints",
    "diagonal": "offset: int = 0, dim1: int = 0, dim2: int = 1",
    "unfold": "dimension: int, size: int, step: int",
    "unsqueeze": "dim: int",
    "squeeze": "*dim: int = all",
    "expand": "*size: int",
    "broadcast_to": "*size: int",
    "view": "*size: int",
    "unflatten": "dim: int, sizes: ints",
    "detach": "",
    "as_strided": "size: ints, stride: ints, storage_offset: int = None",
    "reshape": "*shape: int",
    "flatten": "start_dim: int = 0, end_dim: int = -1",
    "ravel": "",
    "contiguous": "memory_format: format = torch.contiguous_format",
    "to": "memory_format: format",
    "clone": "memory_format: format = None",
    "flip": "*dims: int",
    "repeat": "*repeats: int",
    "tile": "*dims: int",
}
PIECES = ("split", "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit")
# Other names of torch, and what to do instead.
_SHOWN = """shape size stride storage_offset numel nelement ndim dim element_size itemsize is_contiguous
data_ptr storage untyped_storage item tolist numpy dim_order"""
_DTYPES = """dtype type type_as float double half bfloat16 int long short byte bool real imag view_as_real
view_as_complex"""
_GATHERS = """roll rot90 fliplr flipud repeat_interleave index_select take gather masked_select tril triu
cat stack"""
_COMPUTES = (
    "add sub mul div neg abs exp relu clamp sum mean max min argmax sort cumsum diff softmax"
)
OTHERS = {
    name: instead
    for names, instead in [
        (_SHOWN, "the picture shows it"),
        (_DTYPES, "the elements keep their dtype in the picture"),
        ("expand_as view_as reshape_as", "write the sizes out, as in .expand(3, 4)"),
        ("data", "write .detach()"),
        (
            _GATHERS,
            "the picture follows no such order; .flip(0), .repeat(2, 1) and .clone() copy as well",
        ),
        (_COMPUTES, "it computes new values; an AliasExplorer runs y = x + 1"),
        ("add_ sub_ mul_ neg_ zero_ fill_ copy_", "it writes; an AliasExplorer runs y.add_(1)"),
    ]
    for name in names.split()
}
_KINDS = {"int": int, "ints": tuple, "format": str}
_WORDS = {
    "int": "an int",
    "ints": "ints in brackets, as (2, 3)",
    "format": "a format, as torch.channels_last",
}
_SIZES = ("size", "sizes", "shape", "repeats", "dims")  # parameters whose numbers multiply
_FORMS = "write operations as .permute(1, 0) or [1:, ::2]"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_TOKEN = re.compile(
    rf"[ \t]*(\.\.\.|\.?{_NAME}|0|[1-9][0-9]*|[-+*]=|\"{_NAME}\"|'{_NAME}'|.)", re.DOTALL
)
_PARAMETER = re.compile(r"(\*?)(\w+): ([\w|]+)(?: = ([\w.-]+))?")
_FUNCTION = re.compile(rf"\btorch\.({_NAME})\([ \t]*({_NAME})[ \t]*(?:,[ \t]*|(?=\)))", re.ASCII)
_DOT = re.compile(rf"[ \t]*\.[ \t]+(?={_NAME})")
_UNSHOWN = re.compile(
    "[\x00-\x1f\x7f-\xa0\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ud800-\udfff]"
)


# What is written otherwise on slides and in chats: quotes, dashes, spaces, and the wide forms of ASCII.
_PLAIN = {ord(char): "'" for char in "‘’‚‛′"}
_PLAIN |= {ord(char): '"' for char in "“”„‟″"}
_PLAIN |= {ord(char): "-" for char in "‐‑‒–—−"}
_PLAIN |= {ord(char): " " for char in "\xa0\u2002\u2003\u2007\u2009\u200a\u202f\u3000"}
_PLAIN |= {ord(char): "" for char in "\u200b\u2060\ufeff"}
_PLAIN |= {ord("…"): "...", ord("×"): "*"}
_PLAIN |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}


class Step(NamedTuple):
    """One operation and its arguments; the name of an index is "[]". `text` is in torch's form."""

    name: str
    args: tuple[Any, ...]
    named: dict[str, Any]
    text: str
    piece: int | None = None  # of several results


def read_steps(text: str, tensor: str = "x") -> list[Step]:
    """The operations in a text, at least one, on a tensor of this name. Raises LayoutError if it has none.

    >>> [step.text for step in read_steps("t()[1:].contiguous('channels_last')")]
    ['.t()', '[1:]', '.contiguous(memory_format=torch.channels_last)']
    >>> [step.text for step in read_steps("y = x.split(2)[0].T;")]
    ['.split(2)[0]', '.T']
    >>> read_steps(".view(1 0)")
    Traceback (most recent call last):
    stridekit.LayoutError: cannot read ".view(1 0)" at "0": write operations as .permute(1, 0) or [1:, ::2]
    """
    reader = Reader(_behind(plain(text), tensor), _FORMS)
    steps = [reader.step()]
    while reader.token:
        steps.append(reader.step())
    return steps


def plain(text: str) -> str:
    """A line as Python has it, without a prompt, a comment, or what separates it from the next one.

    A function of torch on a name becomes the method.

    >>> plain(">>> y = torch.flip(x, (0，1))；  # a copy"), plain("y = x . clone(‘channels_last’),")
    ('y = x.flip((0,1))', "y = x.clone('channels_last')")
    """
    if len(text) > MOST_CHARACTERS:
        raise LayoutError(f"a line has at most {MOST_CHARACTERS} characters: write several")
    line = text.translate(_PLAIN).partition("#")[0].strip(" \t\r\n").removeprefix(">>> ")
    line = _FUNCTION.sub(r"\2.\1(", line.rstrip(" \t\r\n;,"))
    return _DOT.sub(".", line)


def _behind(text: str, tensor: str) -> str:
    """The operations behind the name of the tensor, which may be left out, and be given a new name."""
    bound = re.match(rf"{_NAME}[ \t]*=(?!=)[ \t]*", text)
    rest = text[bound.end() :] if bound else text
    named = re.match(rf"({_NAME})[ \t]*[.[]", rest)
    if rest.startswith(tensor) and re.match(r"[ \t]*([.[]|$)", rest[len(tensor) :]):
        rest = rest[len(tensor) :]
    elif bound or (named and named[1] not in SIGNATURES):
        forms = f"the tensor in the picture is {tensor}, write {tensor}.t() or .t()"
        raise LayoutError(_shown(f'cannot read "{text}": {forms}'))
    return re.sub(rf"^[ \t]*(?={_NAME})", ".", rest)


def _shown(text: str) -> str:
    """A text without the characters that cannot be seen."""
    return _UNSHOWN.sub("\ufffd", text)


def apply(x: Any, step: Step) -> Any:
    """The result of a step on a layout or tensor. Raises like them, IndexError for a missing piece."""
    if step.name == "[]":
        return x[step.args]
    found = getattr(x, step.name)
    if SIGNATURES[step.name] is None:
        return found
    named = step.named
    if named.get("memory_format") and not isinstance(x, Layout):
        named = {"memory_format": getattr(torch, named["memory_format"])}
    made = found(*step.args, **named)
    if step.piece is None:
        return made
    if not -len(made) <= step.piece < len(made):
        raise IndexError(
            f"{step.text} is out of range for {counted(len(made), 'piece')}: "
            f"use {-len(made)} to {len(made) - 1}"
        )
    return made[step.piece]


class Reader:
    """Reads the tokens of a plain text in order. `forms` is the advice in a refusal."""

    def __init__(self, text: str, forms: str) -> None:
        self.text = self.written = text  # as given, and in the form that torch takes
        self.forms = forms
        self._tokens = [*_TOKEN.finditer(self.text)]
        self._at = 0

    @property
    def token(self) -> str:
        """The next token; "" at the end."""
        return self._token(self._at)

    def _token(self, at: int) -> str:
        return self._tokens[at][1] if at < len(self._tokens) else ""

    def wrong(self) -> LayoutError:
        """The refusal of the next token."""
        where = f'"{self.token}"' if self.token else "its end"
        return LayoutError(_shown(f'cannot read "{self.text}" at {where}: {self.forms}'))

    def take(self, *wanted: str) -> str:
        """The next token, read, if it is one of these; "" if not."""
        token = self.token if self.token in wanted else ""
        self._at += bool(token)
        return token

    def need(self, wanted: str) -> str:
        """The next token, read; raises LayoutError unless it matches."""
        token = self.token
        if not re.fullmatch(wanted, token):
            raise self.wrong()
        self._at += 1
        return token

    def name(self) -> str:
        """The next token, a name."""
        return self.need(_NAME)

    def at_int(self) -> bool:
        """True if an int comes next."""
        return re.match("[-0-9]", self.token) is not None

    def number(self) -> int:
        """An int of either sign."""
        minus = self.take("-")
        digits = self.need("[0-9]+")
        if int(digits) > MAX_SAFE_INTEGER:
            raise LayoutError(
                f"{digits} is too large: a browser counts exactly up to {MAX_SAFE_INTEGER}"
            )
        return -int(digits) if minus else int(digits)

    def several(self, one: Callable[[], Any], closing: str) -> list[Any]:
        """The results of `one`, separated by commas, up to the closing bracket."""
        found = []
        while not self.take(closing):
            found.append(one())
            if self.token != closing:
                self.need(",")
        return found

    def step(self) -> Step:
        """An operation with its arguments."""
        first = self._at
        if self.take("["):
            if self.token == "]":
                raise self.wrong()
            return Step("[]", tuple(self.several(self._item, "]")), {}, self.text_from(first))
        name = self.need(rf"\.{_NAME}")[1:]
        if name not in SIGNATURES:
            raise LayoutError(f"{name} is not known here: {_instead(name)}")
        is_property, called = SIGNATURES[name] is None, self.take("(")
        if is_property and called:
            raise LayoutError(f"{name} takes no call: write .{name}")
        if not is_property and not called:
            raise LayoutError(f"write .{name}(), with its arguments")
        given = self.several(self._argument, ")") if called else []
        step = _called(name, given, self.text_from(first))
        self.written = self.written.replace(self.text_from(first), step.text)
        if name not in PIECES:
            return step
        if not self.take("["):
            raise LayoutError(
                f"{step.text} makes several tensors: write {step.text}[0] for the first"
            )
        piece = self.number()
        self.need(r"\]")
        return step._replace(text=self.text_from(first), piece=piece)

    def text_from(self, first: int) -> str:
        """The text from a token to the last one that was read."""
        return self.text[self._tokens[first].start(1) : self._tokens[self._at - 1].end()]

    def _item(self) -> Any:
        """An int, a slice, None or `...`."""
        if self.take("..."):
            return ...
        first = self._at
        parts = [self._bound()]
        while len(parts) < 3 and self.take(":"):
            parts.append(self._bound())
        if self._at == first and (self.token == "[" or re.match(_NAME, self.token)):
            raise LayoutError(
                f'"{self.token}" cannot stand in an index here: lists, masks and tensors gather elements '
                "into a new storage; write ints and slices, as [1:, ::2]"
            )
        if self._at == first:
            raise self.wrong()
        return slice(*parts) if len(parts) > 1 else parts[0]

    def _bound(self) -> int | None:
        """An int; None for "None" or for nothing."""
        if self.at_int():
            return self.number()
        self.take("None")
        return None

    def _argument(self) -> tuple[str, Any]:
        """The name of a parameter, or "", and a value: an int, a tuple, None, or a format as its name."""
        name = self.name() if self._token(self._at + 1) == "=" else ""
        if name:
            self.need("=")
        if bracket := self.take("(", "["):
            ints = self.several(self.number, ")" if bracket == "(" else "]")
            alone = bracket == "(" and len(ints) == 1 and self._tokens[self._at - 2][1] != ","
            return name, ints[0] if alone else tuple(ints)
        if self.take("None"):
            return name, None
        if self.take("torch"):
            return name, self.need(rf"\.{_NAME}")[1:]
        return name, self.number() if self.at_int() else self.need(f"[\"']{_NAME}[\"']")[1:-1]


def _instead(name: str) -> str:
    """What to write for an unknown name: what is said of it, the nearest operation, or all of them."""
    if name in OTHERS:
        return OTHERS[name]
    near = min(SIGNATURES, key=lambda known: _changes(name, known))
    if _changes(name, near) <= min(2, len(name) // 3):
        return f"write .{near}"
    return f"{', '.join(SIGNATURES)} are"


def _changes(a: str, b: str) -> int:
    """How many letters to put in, leave out or exchange: the distance of Levenshtein."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a):
        before, row = row, [i + 1]
        for j, other in enumerate(b):
            row.append(min(before[j] + (letter != other), before[j + 1] + 1, row[j] + 1))
    return row[-1]


def _called(name: str, given: list[tuple[str, Any]], text: str) -> Step:
    """A call with its arguments matched to parameters. Raises LayoutError for what torch does not take."""
    signature = SIGNATURES[name] or ""
    parameters = {found[2]: found.groups() for found in _PARAMETER.finditer(signature)}
    by_place = [value for word, value in given if not word]
    starred = signature.startswith("*")

    def wrong(why: str) -> LayoutError:
        return LayoutError(f"cannot apply {text}: {why}; write .{name}({signature})")

    if any(word for word, _ in given[: len(by_place)]):
        raise wrong("an argument without a name follows one with a name")
    dtypes = [w for w, value in given if w == "dtype" or (name == "view" and type(value) is str)]
    if dtypes and name in ("view", "to"):
        raise wrong(OTHERS["dtype"])
    several = starred and len(by_place) > ("int|ints" in signature)
    if several and all(type(value) is int for value in by_place):
        given = [("", tuple(by_place)), *given[len(by_place) :]]
    named: dict[str, Any] = {}
    for k, (word, value) in enumerate(given):
        if not word and k >= len(parameters):
            raise wrong(f"it takes {counted(len(parameters), 'argument')}, not {len(given)}")
        word, by_name = word or list(parameters)[k], word
        if word not in parameters or word in named:
            raise wrong(f"{word} is given twice" if word in named else f"it has no {word}")
        if why := _why_not(value, by_name, *parameters[word]):
            raise wrong(f"{word} is {why}")
        named[word] = value
    for word, (*_, default) in parameters.items():
        if not default and word not in named:
            raise wrong(f"{word} is missing")
    if (value := named.get("memory_format", "")) != "":  # torch takes it by name alone
        text = f".{name}(memory_format={f'torch.{value}' if value else None})"
    args = []
    for word, (_, _, kind, _) in parameters.items():
        if word not in named or kind == "format":
            break
        args.append(named.pop(word))
    return Step(name, tuple(args), named, text)


def _why_not(value: Any, by_name: str, star: str, name: str, kind: str, default: str | None) -> str:
    """The reason why a parameter cannot have a value; "" if it can."""
    kinds = ("int|ints" if "|" in kind else "ints" if star else kind).split("|")
    if name == "sections" and by_name:
        kinds = ["int"]  # indices have another name
    fits = type(value) in [_KINDS[kind] for kind in kinds] or (value is None and default == "None")
    if not (fits or (default == "all" and type(value) is int)):
        shown = f"torch.{value}" if isinstance(value, str) else value
        return f"{shown}, not {' or '.join(_WORDS[kind] for kind in kinds)}"
    sizes = value if name in _SIZES and isinstance(value, tuple) else ()
    if prod(max(abs(n), 1) for n in sizes) > MAX_SAFE_INTEGER:
        return f"{value}: a browser counts exactly up to {MAX_SAFE_INTEGER} elements"
    return ""
