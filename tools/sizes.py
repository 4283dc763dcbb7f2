"""Print how much there is to read: lines, tokens and tokens a line of each part.

A token is a name, a literal, an operator or a bracket. Comments and docstrings count as lines alone, so
the tokens say how much there is to understand, and the tokens of a line say how dense it is.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import tree_sitter
import tree_sitter_javascript

ROOT = Path(__file__).parent.parent
PARTS = {
    "core": ("stridekit/**/*.py", ("audit", "exercises", "export", "lessons", "widgets")),
    "audit": ("stridekit/audit/**/*.py", ()),
    "exercises": ("stridekit/exercises/**/*.py", ()),
    "lessons": ("stridekit/lessons/**/*.py", ()),
    "widgets, Python": ("stridekit/widgets/**/*.py", ()),
    "widgets, JavaScript": ("stridekit/widgets/**/*.js", ()),
    "export": ("stridekit/export/**/*.[pj]*", ()),
    "tools": ("tools/**/*.py", ()),
    "labextension": ("labextension/**/*.js", ()),
    "tests": ("tests/**/*.*", ()),
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
FSTRING_START = getattr(tokenize, "FSTRING_START", None)
FSTRING_END = getattr(tokenize, "FSTRING_END", None)
JAVASCRIPT = tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))


def python_tokens(source: str) -> int:
    """Count the tokens of Python.

    >>> python_tokens('x = f"{a}"  # a comment')
    3
    """
    documented = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    docstrings = {node.body[0].lineno for node in documented if ast.get_docstring(node)}
    count = 0
    open_fstrings = 0  # from Python 3.12 on, an f-string comes in parts, and still counts as one
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = token.type == tokenize.STRING and token.start[0] in docstrings
        open_fstrings -= token.type == FSTRING_END
        if token.type not in NOT_CODE and not is_docstring and not open_fstrings:
            count += 1
        open_fstrings += token.type == FSTRING_START
    return count


def javascript_tokens(source: str) -> int:
    """Count the tokens of JavaScript; a template counts as one.

    >>> javascript_tokens('const x = `${a}`; // a comment')
    5
    """

    def leaves(node: tree_sitter.Node) -> int:
        if node.type == "comment":
            return 0
        if node.type in ("string", "template_string", "regex") or not node.children:
            return 1
        return sum(leaves(child) for child in node.children)

    return leaves(JAVASCRIPT.parse(source.encode()).root_node)


COUNTERS = {".py": python_tokens, ".js": javascript_tokens, ".mjs": javascript_tokens}


def files_of(pattern: str, without: tuple[str, ...]) -> Iterator[Path]:
    """The source files of a part; `without` names folders of stridekit that are other parts."""
    for path in sorted(ROOT.glob(pattern)):
        is_of_other_part = path.relative_to(ROOT).parts[1] in without
        if path.suffix in COUNTERS and not is_of_other_part:
            yield path


def main() -> None:
    """Print the table."""
    print(f"{'part':<20}{'lines':>8}{'tokens':>9}{'a line':>8}")
    all_lines = all_tokens = 0
    for part, (pattern, without) in PARTS.items():
        lines = tokens = 0
        for path in files_of(pattern, without):
            source = path.read_text(encoding="utf-8")
            lines += source.count("\n")
            tokens += COUNTERS[path.suffix](source)
        print(f"{part:<20}{lines:>8,}{tokens:>9,}{tokens / lines:>8.1f}")
        all_lines += lines
        all_tokens += tokens
    print(f"{'all':<20}{all_lines:>8,}{all_tokens:>9,}{all_tokens / all_lines:>8.1f}")


if __name__ == "__main__":
    main()
