"""Make defects from a syntax tree: small changes of Python or JavaScript that tests ought to notice.

Each operator below turns one node of the tree into other text. tree-sitter reads both languages, so one
set of operators serves them all.

>>> [(defect.line, defect.old, defect.new) for defect in defects_in("x = a < b", ".py")]
[(1, 'a < b', 'a <= b'), (1, 'a < b', 'b < a')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import tree_sitter
import tree_sitter_javascript
import tree_sitter_python

Node = tree_sitter.Node

LANGUAGES = {
    ".py": tree_sitter.Language(tree_sitter_python.language()),
    ".js": tree_sitter.Language(tree_sitter_javascript.language()),
}
OTHER_COMPARISON = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
}
OTHER_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "//": "*", "/": "*", "%": "*", "|": "&", "&": "|"}
COMMUTES = {
    "+",
    "*",
    "==",
    "!=",
    "===",
    "!==",
    "|",
    "&",
    "and",
    "or",
    "&&",
    "||",
    "is",
    "is not",
    "??",
}
# Functions whose two arguments may stand in either order.
SYMMETRIC = (
    "min",
    "max",
    "Math.min",
    "Math.max",
    "gcd",
    "same",
    "sameLayout",
    "isSame",
    "shares_memory",
)
TRUE = {".py": "True", ".js": "true"}
FALSE = {".py": "False", ".js": "false"}
NOTHING = {".py": "pass", ".js": ";"}


class Defect(NamedTuple):
    """A change of a source: `old`, from byte `start` on line `line`, becomes `new`."""

    operator: str
    start: int
    line: int
    old: str
    new: str

    def planted_in(self, source: str) -> str:
        """Return the source with the defect."""
        data = source.encode()
        end = self.start + len(self.old.encode())
        return (data[: self.start] + self.new.encode() + data[end:]).decode()


class Change(NamedTuple):
    """A node and the text that takes its place."""

    node: Node
    new: str


Operator = Callable[[Node, str], Iterator[Change]]


def defects_in(source: str, suffix: str) -> list[Defect]:
    """Return all defects of a source of Python (`.py`) or JavaScript (`.js`), from the first line on."""
    tree = tree_sitter.Parser(LANGUAGES[suffix]).parse(source.encode())
    defects = []
    for node in _code(tree.root_node):
        for operator in OPERATORS:
            for change in operator(node, suffix):
                name = operator.__name__.strip("_").replace("_", " ")
                line = change.node.start_point[0] + 1
                start = change.node.start_byte
                defects.append(Defect(name, start, line, _text(change.node), change.new))
    return defects


def _code(node: Node) -> Iterator[Node]:
    """All nodes but those of comments, imports, types and docstrings."""
    if node.type in ("comment", "type", "import_statement", "import_from_statement", "decorator"):
        return
    is_statement = node.type == "expression_statement"
    if is_statement and node.named_children and node.named_children[0].type == "string":
        return
    if node.type == "if_statement" and _text(node).startswith("if TYPE_CHECKING:"):
        return
    yield node
    for child in node.children:
        yield from _code(child)


def _text(node: Node) -> str:
    text = node.text
    assert text is not None
    return text.decode()


def _operands(node: Node) -> tuple[Node, str, Node] | None:
    """The left side, the operator and the right side of an operation with two operands."""
    kinds = ("comparison_operator", "binary_operator", "boolean_operator", "binary_expression")
    if node.type not in kinds or len(node.named_children) != 2:
        return None
    left, right = node.named_children
    sign = " ".join(_text(child) for child in node.children if not child.is_named)
    return left, sign, right


# The operators -----------------------------------------------------------------------------------------


def _another_comparison(node: Node, suffix: str) -> Iterator[Change]:
    """A boundary that moves by one, or a comparison that is turned round."""
    operands = _operands(node)
    if operands and operands[1] in OTHER_COMPARISON:
        left, sign, right = operands
        yield Change(node, f"{_text(left)} {OTHER_COMPARISON[sign]} {_text(right)}")


def _another_arithmetic(node: Node, suffix: str) -> Iterator[Change]:
    operands = _operands(node)
    if operands and operands[1] in OTHER_ARITHMETIC and not _joins_strings(node):
        left, sign, right = operands
        yield Change(node, f"{_text(left)} {OTHER_ARITHMETIC[sign]} {_text(right)}")


def _exchanged_operands(node: Node, suffix: str) -> Iterator[Change]:
    """Operands of an operation that does not commute, or the two arguments of an asymmetric call."""
    operands = _operands(node)
    if operands and operands[1] not in COMMUTES:
        left, sign, right = operands
        yield Change(node, f"{_text(right)} {sign} {_text(left)}")
    if node.type in ("argument_list", "arguments") and len(node.named_children) == 2:
        first, second = node.named_children
        function = _text(node.parent.named_children[0]) if node.parent else ""
        are_plain = not {first.type, second.type} & {
            "keyword_argument",
            "dictionary_splat",
            "comment",
        }
        if are_plain and _text(first) != _text(second) and function not in SYMMETRIC:
            yield Change(node, f"({_text(second)}, {_text(first)})")


def _dropped_term(node: Node, suffix: str) -> Iterator[Change]:
    """One side of a sum, a product or a condition is missing."""
    operands = _operands(node)
    if (
        operands
        and operands[1] in ("+", "-", "*", "and", "or", "&&", "||", "??")
        and not _joins_strings(node)
    ):
        left, _, right = operands
        yield Change(node, f"({_text(left)})")
        if operands[1] not in ("-", "??"):
            yield Change(node, f"({_text(right)})")
    if node.type == "not_operator" or (node.type == "unary_expression" and _text(node)[0] == "!"):
        yield Change(node, f"({_text(node.named_children[-1])})")


def _dropped_guard(node: Node, suffix: str) -> Iterator[Change]:
    """A branch that is never taken, or always."""
    if node.type not in (
        "if_statement",
        "elif_clause",
        "conditional_expression",
        "ternary_expression",
    ):
        return
    condition = node.child_by_field_name("condition")
    if node.type == "conditional_expression":  # Python's has no names for its parts
        condition = node.named_children[1]
    assert condition is not None
    for constant in (FALSE[suffix], TRUE[suffix]):
        is_in_brackets = condition.type == "parenthesized_expression"
        yield Change(condition, f"({constant})" if is_in_brackets else constant)


def _dropped_statement(node: Node, suffix: str) -> Iterator[Change]:
    """A call that is made for its effect, or an augmented assignment, does not happen."""
    if node.type == "expression_statement" and node.named_children:
        effects = (
            "call",
            "call_expression",
            "augmented_assignment",
            "augmented_assignment_expression",
        )
        if node.named_children[0].type in effects:
            yield Change(node, NOTHING[suffix])


def _off_by_one(node: Node, suffix: str) -> Iterator[Change]:
    """A small number: larger ones are sizes and distances, which tests of a rule do not decide."""
    if node.type in ("integer", "number") and _text(node) in ("0", "1", "2"):
        yield Change(node, str(int(_text(node)) + 1))


def _another_default(node: Node, suffix: str) -> Iterator[Change]:
    """A flag that is turned round: the default of a parameter, an argument, a constant."""
    if node.type in ("true", "false"):
        yield Change(node, FALSE[suffix] if node.type == "true" else TRUE[suffix])


def _joins_strings(node: Node) -> bool:
    return any(
        child.type in ("string", "template_string", "binary_operator") and '"' in _text(child)
        for child in node.named_children
    )


OPERATORS: tuple[Operator, ...] = (
    _another_comparison,
    _another_arithmetic,
    _exchanged_operands,
    _dropped_term,
    _dropped_guard,
    _dropped_statement,
    _off_by_one,
    _another_default,
)
