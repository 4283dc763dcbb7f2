"""Reading the lines of the alias explorer: Python's own parser, and the few forms that there are.

`y = x[1:, ::2]` and `y = x + 1` bind a name; `y += 100`, `y[0] = 7` and `y.add_(x)` write in place. An
operand is a name with operations on it that take literals, or an int: nothing that is read here can do
anything else.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from stridekit.layout import LayoutError

METHODS = {
    "permute",
    "transpose",
    "t",
    "select",
    "unsqueeze",
    "squeeze",
    "expand",
    "diagonal",
    "unfold",
}
METHODS |= {"view", "as_strided", "reshape", "flatten", "ravel", "contiguous", "clone"}
PROPERTIES = {"T", "mT"}
# How each operation in place takes its one argument: not at all, as an int, as a tensor.
IN_PLACE = {"zero_": "", "neg_": "", "fill_": "int", "copy_": "tensor"}
IN_PLACE |= dict.fromkeys(("add_", "sub_", "mul_"), "int or tensor")
_OPERATORS: dict[type, str] = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_"}
_SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_FORMS = "write y = x[1:, ::2] or y = x + 1 to make a tensor, y += 100 or y[0] = 7 to write to one"


class Bind(NamedTuple):
    """`name = source`."""

    name: str
    source: ast.expr


class Compute(NamedTuple):
    """`name = left + right`, out of place; one of the two may be an int."""

    name: str
    left: ast.expr
    sign: str
    right: ast.expr
    said: str  # "left + right", as it was typed


class Store(NamedTuple):
    """A write in place: the op of an assignment to an index is "[]"."""

    target: ast.expr
    op: str
    source: ast.expr | None


def read(text: str) -> Bind | Compute | Store:
    """What a line says. Raises LayoutError for what is none of the forms.

    >>> read("y = x[1:, ::2].t()").name, read("y = x + 1").sign, read("y[0] += 5").op
    ('y', '+', 'add_')
    """
    try:
        (statement,) = ast.parse(text.strip()).body
        line = _computed(statement, text.strip()) or _line(statement)
    except (KeyError, SyntaxError, ValueError):
        raise LayoutError(f'cannot read "{text}": {_FORMS}') from None
    return line


def int_of(node: ast.expr | None) -> int | None:
    """The value of an int, of either sign; None for everything else."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


def _line(statement: ast.stmt) -> Bind | Store:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return Bind(target.id, _operand(statement.value))
        if isinstance(target, ast.Subscript):
            return Store(_target(target), "[]", _operand(statement.value, or_int=True))
    if isinstance(statement, ast.AugAssign) and isinstance(
        statement.target, ast.Name | ast.Subscript
    ):
        op = _OPERATORS.get(type(statement.op), "")
        return Store(_target(statement.target), _known(op), _operand(statement.value, or_int=True))
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called, args = statement.value.func, statement.value.args
        if isinstance(called, ast.Attribute) and not statement.value.keywords:
            takes = IN_PLACE[_known(called.attr)]
            if len(args) == bool(takes) and (
                "tensor" in takes or not args or int_of(args[0]) is not None
            ):
                source = _operand(args[0], or_int="int" in takes) if args else None
                return Store(_operand(called.value), called.attr, source)
    raise ValueError


def _computed(statement: ast.stmt, text: str) -> Compute | None:
    """What `y = x + 1` says; None for every other form."""
    if not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp)):
        return None
    (target,), value = statement.targets, statement.value
    left, right = value.left, value.right
    sign = _SIGNS[type(value.op)]
    between = ast.get_source_segment(text, value) or ""
    between = between.removeprefix(ast.get_source_segment(text, left) or "")
    between = between.removesuffix(ast.get_source_segment(text, right) or "")
    whole = between.strip() == sign and text.endswith(ast.get_source_segment(text, value) or "")
    if not (whole and isinstance(target, ast.Name)) or (
        int_of(left) is not None and int_of(right) is not None
    ):
        raise ValueError
    one, two = _operand(left, or_int=True), _operand(right, or_int=True)
    return Compute(target.id, one, sign, two, ast.get_source_segment(text, value) or "")


def _known(op: str) -> str:
    if op not in IN_PLACE:
        raise ValueError
    return op


def _target(node: ast.Name | ast.Subscript) -> ast.expr:
    """A target is the tensor that it names: it is evaluated, and then written to."""
    node.ctx = ast.Load()
    return _operand(node)


def _operand(node: ast.expr, or_int: bool = False) -> ast.expr:
    """The node, if it is a name with operations that take literals; ValueError if it is not."""
    if (or_int and int_of(node) is not None) or isinstance(node, ast.Name):
        return node
    arguments: list[ast.expr] = []
    owner = node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        owner, arguments, known = node.func, node.args, METHODS
    elif isinstance(node, ast.Attribute):
        known = PROPERTIES
    if isinstance(owner, ast.Subscript):
        arguments = [owner.slice]
    elif not (isinstance(owner, ast.Attribute) and owner.attr in known):
        raise ValueError
    bare = isinstance(owner, ast.Attribute) and owner.attr in ("clone", "contiguous")
    if (bare and arguments) or not all(_is_literal(argument) for argument in arguments):
        raise ValueError
    _operand(owner.value)
    return node


def _is_literal(node: ast.AST) -> bool:
    allowed = (ast.Constant, ast.Tuple, ast.List, ast.Slice, ast.UnaryOp, ast.USub, ast.Load)
    return all(isinstance(part, allowed) for part in ast.walk(node))
