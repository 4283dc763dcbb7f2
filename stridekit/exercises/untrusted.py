"""Make values from a learner's code plain: their classes may lie about themselves, or raise.

Facts are compared and words are shown long after the call, where errors are no longer caught. So both
become Python's own values while errors still are; after that, none of the learner's methods runs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import torch

_EXACT: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: str.__str__,
    bytes: bytes.__bytes__,
}
# Most addresses of a 64-bit system are larger than this. Where they are not, a number counts as an address
# if it is about as large as one of memory in use, or as such a one in elements of up to 16 bytes.
_HIGH = 10**12


def plain(value: Any) -> Any:
    """The value as one of Python's own types, without subclasses at any depth; TypeError if it cannot be.

    >>> plain((torch.Size([2, 3]), True, "x"))
    ((2, 3), True, 'x')
    """
    if value is None or type(value) in (bool, torch.dtype):
        return value
    for kind, exact in _EXACT.items():
        if issubclass(type(value), kind):
            return exact(value)
    for several in (tuple, list, frozenset):
        if issubclass(type(value), several):
            return several(map(plain, several.__iter__(value)))
    raise TypeError(f"there is a {type_name(value)} in the answer, which cannot be compared")


def type_name(value: Any) -> str:
    """The name of the value's class, whatever the class itself says.

    >>> type_name(7)
    'int'
    """
    return str.__str__(type.__dict__["__name__"].__get__(type(value)))


def said_by(error: BaseException) -> str:
    """The message of an error; "" if reading it fails."""
    try:
        return str.__str__(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return ""


def signature_of(fn: Callable[..., Any]) -> inspect.Signature | None:
    """The parameters of a callable; None if it hides them, as some built-ins do."""
    try:
        return inspect.Signature([*inspect.signature(fn).parameters.values()])
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def presentable(text: str) -> str:
    r"""The text without addresses, which differ from run to run, and with unprintable characters escaped.

    >>> presentable("<object at 0x7f5c3e00>, 140033962414080 and 1.0000000001")
    '<object at 0x…>, (an address) and 1.0000000001'
    >>> print(presentable("an escape \x1b, half of a letter \ud800"))
    an escape \x1b, half of a letter \ud800
    """
    text = re.sub(r"\b0x[0-9a-fA-F]+\b", "0x…", text)
    text = re.sub(r"(?<![\d.])-?\d{7,}(?!\d|\.\d)", _unless_address, text)
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def _unless_address(found: re.Match[str]) -> str:
    high = len(found[0]) > len(str(_HIGH))  # an int() of many digits would raise
    number = _HIGH if high else abs(int(found[0]))
    near = any(address / 20 < number < address * 5 / 4 for address in _some_addresses())
    return "(an address)" if near or number >= _HIGH else found[0]


def _some_addresses() -> tuple[int, ...]:
    """The addresses of a new object of Python and of a new tensor's memory."""
    return id(object()), torch.empty(1, device="cpu").data_ptr()
