"""Print how much there is to read: lines, tokens and tokens a line of each part.

A token is a name, a literal, an operator or a bracket. Comments and docstrings count as lines alone, so
the tokens say how much there is to understand, and the tokens of a line say how dense it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import tree_sitter

from defects import LANGUAGES

ROOT = Path(__file__).resolve().parent.parent
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
LANGUAGE_OF = {".py": ".py", ".js": ".js", ".mjs": ".js"}
TEXTS = ("string", "template_string", "regex")  # each is one token, whatever stands in it


def count_tokens(source: str, suffix: str) -> int:
    """Count the tokens of a file of Python or JavaScript with this suffix.

    >>> count_tokens('x = f"{a}"  # a comment', ".py")
    3
    """
    parser = tree_sitter.Parser(LANGUAGES[LANGUAGE_OF[suffix]])
    return _tokens_of(parser.parse(source.encode()).root_node)


def _tokens_of(node: tree_sitter.Node) -> int:
    """Return the number of leaves below a node that are no comment and no docstring."""
    is_docstring = node.type == "expression_statement" and node.children[0].type == "string"
    if node.type == "comment" or is_docstring:
        return 0
    if node.type in TEXTS:
        return 1
    if not node.children:
        return int(bool(node.text))  # an empty file is a leaf, too
    return sum(_tokens_of(child) for child in node.children)


def files_of(pattern: str, without: tuple[str, ...]) -> Iterator[Path]:
    """The source files of a part; `without` names folders of stridekit that are other parts."""
    for path in sorted(ROOT.glob(pattern)):
        is_of_other_part = path.relative_to(ROOT).parts[1] in without
        if path.suffix in LANGUAGE_OF and not is_of_other_part:
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
            tokens += count_tokens(source, path.suffix)
        print(f"{part:<20}{lines:>8,}{tokens:>9,}{tokens / lines:>8.1f}")
        all_lines += lines
        all_tokens += tokens
    print(f"{'all':<20}{all_lines:>8,}{all_tokens:>9,}{all_tokens / all_lines:>8.1f}")


if __name__ == "__main__":
    main()
