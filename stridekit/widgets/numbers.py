"""Numbers as people write them: `1,024`, `5*8*4`, `2**20`, `160 bytes`, `12 KiB`; and tuples of them.

    number = sum [ unit ]
    sum    = term { ( "+" | "-" ) term }
    term   = power { ( "*" | "/" ) power }
    power  = ( "+" | "-" ) power | atom [ ( "**" | "^" ) power ]
    atom   = digits | "(" sum ")"
    unit   = words of the question; or KiB, MiB, GiB where it asks for bytes

Digits may be grouped by commas, spaces or _, and have a point and an exponent. In a tuple, commas separate
numbers, and so do spaces where nothing is computed. Numbers are floats, which are exact up to 2^53.

page/numbers.js is a port of this module, function by function; tests/live.py compares the two.
"""

from __future__ import annotations

import re
from math import inf, isfinite

from stridekit.widgets.notation import MAX_SAFE_INTEGER

MOST_CHARACTERS, MOST_POWER = 200, 2000
_SCALES = {"kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30}
_FORMS = {
    "number": "write it like 1024, 2.5 or 2 * 3 * 4",
    "tuple": "write whole numbers with commas between them",
}
_GROUPS = r"\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?!\d)|\d+(?:_\d+)*"
_TOKEN = re.compile(
    rf"[ \t]*((?:(?:{_GROUPS})(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?(?![\w.,])|\*\*|[-+*/^()])",
    re.ASCII | re.IGNORECASE,
)
_UNIT = re.compile(r"[ \t]*([A-Za-zµ][A-Za-zµ \t]*)$")
_PLAIN = str.maketrans("×·÷−–\xa0\u2009\u202f", "**/--   ")
_BRACKETS = (("torch.Size(", ")"), ("(", ")"), ("[", "]"))


class Unreadable(ValueError):
    """A text that is no such answer; says where, and what to write."""


def read_answer(kind: str, text: str, question: str = "") -> float | list[int]:
    """The number, or the ints of a tuple, that a text means as an answer to a question. Raises Unreadable.

    >>> read_answer("number", "12,582,912"), read_answer("number", "(2**20 - 1) / 2")
    (12582912, 524287.5)
    >>> read_answer("number", "12 KiB", "How many bytes?"), read_answer("tuple", "(5*8, 8)")
    (12288, [40, 8])
    >>> read_answer("number", "12 pages", "How many bytes?")
    Traceback (most recent call last):
    stridekit.widgets.numbers.Unreadable: I could not read “pages” in “12 pages”: the question asks ...
    """
    said = text.strip(" \t\r\n")
    if not said:
        raise Unreadable("Write your answer first: a guess is enough.")
    if len(said) > MOST_CHARACTERS:
        raise Unreadable(f"An answer has at most {MOST_CHARACTERS} characters: write it shorter.")
    plain = said.translate(_PLAIN)
    return _tuple(plain, said) if kind == "tuple" else _number(plain, said, question)


def _number(plain: str, said: str, question: str) -> float:
    unit, scale = _UNIT.search(plain), 1.0
    if unit and unit.start():
        plain, scale = plain[: unit.start()], _scale(unit[1], said, question)
    return _whole(_Sum(plain, said, "number").value() * scale, said)


def _scale(unit: str, said: str, question: str) -> float:
    """What the words behind a number multiply it by."""
    asked = {word.removesuffix("s") for word in re.findall("[a-zµ]+", question.lower())}
    bytes_asked = re.search(r"\b(many|in) bytes\b", question.lower(), re.ASCII) is not None
    words = unit.lower().split()
    if bytes_asked and len(words) == 1 and words[0] in _SCALES:
        return _SCALES[words[0]]
    for word in words:
        if bytes_asked and word in ("kb", "mb", "gb"):
            raise _unreadable(
                word.upper(), said, "it may count by 1,000 or by 1,024; write KiB or the number"
            )
        if word.removesuffix("s") not in asked and not (word == "b" and bytes_asked):
            raise _unreadable(
                word, said, "the question asks for no such thing; write the number alone"
            )
    return 1.0


def _tuple(plain: str, said: str) -> list[int]:
    """`(1, 6)`, `[1,6]`, `1 6` and `torch.Size([1, 6])` are one answer; `6` alone is `(6,)`."""
    for opening, closing in _BRACKETS:
        if plain.startswith(opening) and plain.endswith(closing) and _closes(plain, len(opening)):
            return _tuple(plain[len(opening) : -1].strip(" \t"), said)
    if not plain:
        return []
    if re.fullmatch(r"[+-]?[0-9]+([ \t]+[+-]?[0-9]+)+,?", plain):
        plain = re.sub(r"[ \t]+", ",", plain)
    return [_part(part.strip(" \t"), said) for part in re.sub(r"[ \t]*,$", "", plain).split(",")]


def _closes(plain: str, at: int) -> bool:
    """True if the bracket before this place is closed by the last character."""
    depth = 1
    for char in plain[at:-1]:
        depth += (char in "([") - (char in ")]")
        if depth == 0:
            return False
    return True


def _part(part: str, said: str) -> int:
    value = _whole(_Sum(part, said, "tuple").value(), said)
    if isinstance(value, float) or re.search(r"[0-9][ \t]+[0-9]", part):
        raise _unreadable(part, said, _FORMS["tuple"])
    return value


def _whole(value: float, said: str) -> float | int:
    """A float as an int if it is one."""
    if not isfinite(value) or abs(value) > MAX_SAFE_INTEGER:
        raise _unreadable("", said, "a browser counts exactly up to 2**53 - 1")
    return int(value) if value.is_integer() else value


def _unreadable(part: str, said: str, advice: str) -> Unreadable:
    where = f"“{said}”" if part in ("", said) else f"“{part}” in “{said}”"
    return Unreadable(f"I could not read {where}: {advice}.")


class _Sum:
    """Computes the sum in a part of what was said."""

    def __init__(self, part: str, said: str, kind: str) -> None:
        self.part, self.said, self.kind, self.at = part, said, kind, 0

    def value(self) -> float:
        """The sum; raises Unreadable if anything else is there."""
        found = self._sum()
        if self.part[self.at :].strip(" \t"):
            raise self._wrong()
        return found

    def _wrong(self) -> Unreadable:
        if self.kind == "number" and re.search(r"[0-9],[0-9]", self.part):
            advice = "a comma groups three digits, as in 1,024, and 2.5 has a point"
        else:
            advice = _FORMS[self.kind]
        return _unreadable(self.part if self.kind == "tuple" else "", self.said, advice)

    def _take(self, *wanted: str) -> str:
        """The next token, read, if it is one of these; "" if not."""
        found = _TOKEN.match(self.part, self.at)
        if not found or found[1] not in wanted:
            return ""
        self.at = found.end()
        return found[1]

    def _sum(self) -> float:
        found = self._term()
        while sign := self._take("+", "-"):
            other = self._term()
            found = found + other if sign == "+" else found - other
        return found

    def _term(self) -> float:
        found = self._power()
        while sign := self._take("*", "/"):
            other = self._power()
            if sign == "/" and other == 0:
                raise _unreadable("", self.said, "nothing can be divided by 0")
            found = found * other if sign == "*" else found / other
        return found

    def _power(self) -> float:
        if sign := self._take("+", "-"):
            return self._power() if sign == "+" else 0 - self._power()
        base = self._atom()
        if not self._take("**", "^"):
            return base
        exponent = self._power()
        if not exponent.is_integer() or abs(exponent) > MOST_POWER or (base == 0 and exponent < 0):
            raise _unreadable("", self.said, f"a power is a whole number up to {MOST_POWER}")
        return _powered(base, exponent)

    def _atom(self) -> float:
        if self._take("("):
            found = self._sum()
            if not self._take(")"):
                raise self._wrong()
            return found
        digits = _TOKEN.match(self.part, self.at)
        if not digits or not re.match("[.0-9]", digits[1]):
            raise self._wrong()
        self.at = digits.end()
        return float(re.sub("[,_ ]", "", digits[1]))


def _powered(base: float, exponent: float) -> float:
    """A power by multiplications alone, which have the same result in every language."""
    found = 1.0
    for _ in range(int(abs(exponent))):
        found *= base
    return found if exponent >= 0 else 1 / found if found else inf
