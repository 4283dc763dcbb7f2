"""The grammar of typed lines, and their parser: `.permute(1, 0)`, `[1:, ::2]`, `y = x[1:] + 1`.

    steps    = step { step }                              the first dot may be left out
    step     = "[" item { "," item } [ "," ] "]"
             | "." name [ "(" [ argument { "," argument } [ "," ] ] ")" ]
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
token. "#" begins a comment. A line is Python with Python's meaning: `(3)` is the int 3. Formats may also be
given in quotes, or without the name of the parameter; `Step.text` then has the form that torch takes.

page/grammar.js is a port of this module, function by function; lines.py and lines.js of the alias explorer
read `line`. tests/live_lines.py holds the two languages to the same layouts, and the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

from stridekit.layout import LayoutError
from stridekit.widgets.notation import MAX_SAFE_INTEGER

MOST_CHARACTERS = 1000

# The operations, as a sentence lists them, and their parameters as torch has them; a property has None.
SIGNATURES: dict[str, str | None] = {
    "permute": "*dims: int",
    "transpose": "dim0: int, dim1: int",
    "select": "dim: int, index: int",
    "unsqueeze": "dim: int",
    "squeeze": "*dim: int = all",
    "expand": "*size: int",
    "diagonal": "offset: int = 0, dim1: int = 0, dim2: int = 1",
    "unfold": "dimension: int, size: int, step: int",
    "view": "*size: int",
    "reshape": "*shape: int",
    "flatten": "start_dim: int = 0, end_dim: int = -1",
    "contiguous": "memory_format: format = torch.contiguous_format",
    "clone": "memory_format: format = None",
    "t": "",
    "T": None,
    "mT": None,
    "ravel": "",
    "as_strided": "size: ints, stride: ints, storage_offset: int = None",
}
_KINDS = {"int": int, "ints": tuple, "format": str}
_WORDS = {
    "int": "an int",
    "ints": "ints in brackets, as (2, 3)",
    "format": "a format, as torch.channels_last",
}
_FORMS = "write operations as .permute(1, 0) or [1:, ::2]"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_TOKEN = re.compile(
    rf"[ \t]*(\.\.\.|\.?{_NAME}|0|[1-9][0-9]*|[-+*]=|\"{_NAME}\"|'{_NAME}'|.)", re.DOTALL
)
_PARAMETER = re.compile(r"(\*?)(\w+): (\w+)(?: = ([\w.-]+))?")
_UNSHOWN = re.compile(
    "[\x00-\x1f\x7f-\xa0\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ud800-\udfff]"
)


class Step(NamedTuple):
    """One operation and its arguments; the name of an index is "[]". `text` is in torch's form."""

    name: str
    args: tuple[Any, ...]
    named: dict[str, Any]
    text: str


def read_steps(text: str) -> list[Step]:
    """The operations in a text, at least one. Raises LayoutError for any other text.

    >>> [step.text for step in read_steps("t()[1:].contiguous('channels_last')")]
    ['.t()', '[1:]', '.contiguous(memory_format=torch.channels_last)']
    >>> read_steps(".view(1 0)")
    Traceback (most recent call last):
    stridekit.LayoutError: cannot read ".view(1 0)" at "0": write operations as .permute(1, 0) or [1:, ::2]
    """
    reader = Reader(re.sub(rf"^[ \t\r\n]*(?={_NAME})", ".", text), _FORMS)
    steps = [reader.step()]
    while reader.token:
        steps.append(reader.step())
    return steps


def apply(x: Any, step: Step) -> Any:
    """The result of a step on a layout or tensor. Raises what they raise."""
    if step.name == "[]":
        return x[step.args]
    found = getattr(x, step.name)
    return found if SIGNATURES[step.name] is None else found(*step.args, **step.named)


class Reader:
    """Reads the tokens of a text in order. `forms` is the advice in a refusal."""

    def __init__(self, text: str, forms: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise LayoutError(f"a line has at most {MOST_CHARACTERS} characters: write several")
        self.text, self.forms = text.partition("#")[0].strip(" \t\r\n"), forms
        self._tokens = [*_TOKEN.finditer(self.text)]
        self._at = 0

    @property
    def token(self) -> str:
        """The next token; "" at the end."""
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def wrong(self) -> LayoutError:
        """The refusal of the next token."""
        where = f'"{self.token}"' if self.token else "its end"
        said = _UNSHOWN.sub("\ufffd", f'cannot read "{self.text}" at {where}')
        return LayoutError(f"{said}: {self.forms}")

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
            raise LayoutError(f"{name} is not known here: {', '.join(SIGNATURES)} are")
        is_property, called = SIGNATURES[name] is None, self.take("(")
        if is_property and called:
            raise LayoutError(f"{name} takes no call: write .{name}")
        if not is_property and not called:
            raise LayoutError(f"write .{name}(), with its arguments")
        given = self.several(self._argument, ")") if called else []
        return _called(name, given, self.text_from(first))

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
        following = self._tokens[self._at + 1 : self._at + 2]
        name = self.name() if following and following[0][1] == "=" else ""
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
    if starred and by_place and all(type(value) is int for value in by_place):
        given = [("", tuple(by_place)), *given[len(by_place) :]]
    named: dict[str, Any] = {}
    for k, (word, value) in enumerate(given):
        if not word and k >= len(parameters):
            raise wrong(f"it takes {len(parameters)} arguments, not {len(given)}")
        word = word or list(parameters)[k]
        if word not in parameters or word in named:
            raise wrong(f"{word} is given twice" if word in named else f"it has no {word}")
        if why := _why_not(value, *parameters[word]):
            raise wrong(f"{word} is {why}")
        named[word] = value
    for word, (*_, default) in parameters.items():
        if not default and word not in named:
            raise wrong(f"{word} is missing")
    if isinstance(named.get("memory_format"), str):
        text = f".{name}(memory_format=torch.{named['memory_format']})"
    return Step(name, tuple(named.values()), {}, text) if starred else Step(name, (), named, text)


def _why_not(value: Any, star: str, name: str, kind: str, default: str | None) -> str:
    """The reason why a parameter cannot have a value; "" if it can."""
    kind = "ints" if star else kind
    fits = type(value) is _KINDS[kind] or (value is None and default == "None")
    if not (fits or (default == "all" and type(value) is int)):
        shown = f"torch.{value}" if isinstance(value, str) else value
        return f"{shown}, not {_WORDS[kind]}"
    sizes = value if name in ("size", "shape") and kind == "ints" else ()
    if prod(max(abs(n), 1) for n in sizes) > MAX_SAFE_INTEGER:
        return f"{value}: a browser counts exactly up to {MAX_SAFE_INTEGER} elements"
    return ""
