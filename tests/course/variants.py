"""Variants of a solution: each differs in one place, and is wrong or does the same.

The generator of `tools/defects.py` makes some of them. The others exchange names, operators,
numbers and methods, or drop a statement, a call, an argument, an item or a condition.
"""

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

from defects import defects_in

COMPARISONS = [ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq]
ARITHMETIC = [ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod]
OTHER_NAME = {
    "all": "any",
    "any": "all",
    "contiguous": "clone",
    "clone": "contiguous",
    "max": "min",
    "min": "max",
    "numel": "storage_offset",
    "prod": "sum",
    "shape": "stride()",
    "size": "stride",
    "storage_offset": "numel",
    "stride": "size",
    "sum": "prod",
}
CONVERSIONS = {"tuple", "list"}  # a check takes either kind of sequence


@cache
def plain(source: str) -> str:
    """Return the source of a function without its docstring, comments and annotations."""
    tree = _parsed(source)
    return ast.unparse(tree)


def variants(source: str) -> list[str]:
    """Return each variant of a function's source once."""
    right = plain(source)
    found = dict.fromkeys(defect.planted_in(right) for defect in defects_in(right, ".py"))
    tree = _parsed(source)
    names = _names(tree)
    for node in ast.walk(tree.body[0]):
        for field, other in _changes(node, names):
            before = getattr(node, field)
            setattr(node, field, other)
            found[ast.unparse(tree)] = None
            setattr(node, field, before)
    return [text for text in found if text != right and "strict=False" not in text]


def _parsed(source: str) -> ast.Module:
    tree = ast.parse(source)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    if ast.get_docstring(function):
        del function.body[0]
    function.returns = None
    for argument in function.args.args:
        argument.annotation = None
    return tree


def _names(tree: ast.Module) -> list[str]:
    """Return the names of the parameters and of the variables."""
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return sorted(parameters | {name.id for name in names if isinstance(name.ctx, ast.Store)})


def _changes(node: ast.AST, names: list[str]) -> Iterator[tuple[str, Any]]:
    """Return the fields of a node, each with other values."""
    match node:
        case ast.Name(ctx=ast.Load()):
            if node.id in names:
                yield from (("id", name) for name in names)
            elif node.id in OTHER_NAME:
                yield "id", OTHER_NAME[node.id]
        case ast.Attribute(attr=attr) if attr in OTHER_NAME:
            yield "attr", OTHER_NAME[attr]
        case ast.Compare(ops=[_]):
            yield from (("ops", [comparison()]) for comparison in COMPARISONS)
        case ast.BinOp():
            yield from (("op", operation()) for operation in ARITHMETIC)
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            yield from (("value", other) for other in (number - 1, number + 1))
        case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()):
            yield from (("elts", rest) for rest in _without_one(node.elts))
        case ast.comprehension(ifs=[_]):
            yield "ifs", []
        case ast.Call():
            yield from (("args", rest) for rest in _without_one(node.args))
            yield from (("keywords", rest) for rest in _without_one(node.keywords))
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            for k, item in enumerate(value):
                for other in _smaller(item):
                    yield field, [*value[:k], other, *value[k + 1 :]]
        else:
            yield from ((field, other) for other in _smaller(value))


def _without_one(items: list[Any]) -> Iterator[list[Any]]:
    """Return the items without each of them; one at least is left."""
    if len(items) > 1:
        for k in range(len(items)):
            yield items[:k] + items[k + 1 :]


def _smaller(node: Any) -> Iterator[ast.AST]:
    """Return what may stand in place of a statement or a call when it is dropped."""
    if isinstance(node, ast.stmt):
        yield ast.Pass()
    if isinstance(node, ast.Call):
        is_conversion = isinstance(node.func, ast.Name) and node.func.id in CONVERSIONS
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        elif node.args and not is_conversion:
            yield node.args[0]
