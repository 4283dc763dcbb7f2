"""The lines of the alias explorer: the rule `line` of widgets/grammar.py.

`y = x[1:, ::2]` and `y = x + 1` bind a name; `y += 100`, `y[0] = 7` and `y.add_(x)` write in place. An
operand is a name with operations on it, or an int; nothing else can be expressed.
"""

from __future__ import annotations

from typing import NamedTuple

from stridekit.widgets.grammar import Reader, Step, plain

# The argument of each operation in place: none, an int, or a tensor.
IN_PLACE = {".zero_": "", ".neg_": "", ".fill_": "int", ".copy_": "tensor"}
IN_PLACE |= dict.fromkeys((".add_", ".sub_", ".mul_"), "int or tensor")
_OPERATORS = {"=": "[]", "+=": "add_", "-=": "sub_", "*=": "mul_"}
_FORMS = (
    "write {y} = {x}[1:, ::2] or {y} = {x} + 1 to make a tensor, "
    "{y} += 100 or {y}[0] = 7 to write to one"
)


class Chain(NamedTuple):
    """A name, and the operations on it."""

    name: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return self.name + "".join(step.text for step in self.steps)


Operand = Chain | int


class Bind(NamedTuple):
    """`name = source`."""

    text: str
    name: str
    source: Chain


class Compute(NamedTuple):
    """`name = left + right`, out of place; one operand may be an int."""

    text: str
    name: str
    left: Operand
    sign: str
    right: Operand


class Store(NamedTuple):
    """A write in place; the op of an assignment to an index is "[]"."""

    text: str
    target: Chain
    op: str
    source: Operand | None


def read(text: str, x: str = "x", y: str = "y") -> Bind | Compute | Store:
    """The parsed line. Raises LayoutError for a line in none of the forms, which are told with these names.

    >>> read("y = x[1:, ::2].t()").name, read("y = x + 1").sign, read("y[0] += 5").op
    ('y', '+', 'add_')
    """
    reader = Reader(plain(text), _FORMS.format(x=x, y=y))
    line = _line(reader)
    reader.need("")
    return line._replace(text=reader.written)


def _line(reader: Reader) -> Bind | Compute | Store:
    text, target = "", _chain(reader)  # the text is known at the end
    if not target.steps and reader.take("="):
        left = _operand(reader)
        sign = reader.take("+", "-", "*")
        if isinstance(left, Chain) and not sign:
            return Bind(text, target.name, left)
        right = _operand(reader) if sign else left
        if not isinstance(left, Chain) and not isinstance(right, Chain):
            raise reader.wrong()
        return Compute(text, target.name, left, sign, right)
    if not (target.steps and target.steps[-1].name != "[]") and (op := reader.take(*_OPERATORS)):
        return Store(text, target, _OPERATORS[op], _operand(reader))
    if not (op := reader.take(*IN_PLACE)):
        raise reader.wrong()
    reader.need(r"\(")
    source = _operand(reader, IN_PLACE[op]) if IN_PLACE[op] else None
    if source is not None:
        reader.take(",")
    reader.need(r"\)")
    return Store(text, target, op[1:], source)


def _chain(reader: Reader) -> Chain:
    """A name and the operations on it, up to one in place."""
    name, steps = reader.name(), []
    while reader.token[:1] in (".", "[") and reader.token not in IN_PLACE:
        steps.append(reader.step())
    return Chain(name, tuple(steps))


def _operand(reader: Reader, takes: str = "int or tensor") -> Operand:
    if "int" in takes and reader.at_int():
        return reader.number()
    if "tensor" not in takes:
        raise reader.wrong()
    return _chain(reader)
