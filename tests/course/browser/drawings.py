"""The drawings of widgets: what a row of hands.txt draws is what drawings.json remembers of it.

A drawing is the text of all nodes of a widget, with their attributes: the sizes and the places that a
script computes. drawings.json holds a digest of it for each line of a row. After a change that is meant,
look at the pictures, then record them again:

    STRIDEKIT_RECORD_DRAWINGS=yes make test TEST_ARGS="-m '' tests/course/browser/test_hands.py::test_hand"
    STRIDEKIT_RECORD_DRAWINGS=yes make test TEST_ARGS="tests/course/test_javascript.py"

The second line is for js/pictures.json, which has the places of more layouts than a hand shows.

Some places depend on the widths of letters. So a machine with other fonts than those of the record
compares nothing.
"""

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

PATH = Path(__file__).with_name("drawings.json")
SEEN = Path(__file__).parents[3] / "build" / "drawings"
IS_RECORDING = bool(os.environ.get("STRIDEKIT_RECORD_DRAWINGS"))
WORDS = "WMil0.,:()[]{}=+-*/ abcdefghij 0123456789 ▶ → ×"

# Spoken words come later, by the clock, and so does the end of a step, which undo and redo show. Trails
# are there only while boxes move.
# Ids differ from page to page.
DRAWING = """(root) => {
  const ids = ['id', 'for', 'name', 'aria-controls', 'aria-labelledby', 'aria-describedby',
    'aria-activedescendant', 'data-moving'];
  const rounded = (text) => text.replace(/-?\\d*\\.\\d+/g, (number) => Number(number).toFixed(1));
  const lines = [];
  const walk = (node, depth) => {
    if (node.nodeType === Node.TEXT_NODE) lines.push(' '.repeat(depth) + node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches('.sk-spoken, .sk-trails')) return;
    const isTool = node.matches('.sk-tools button');
    const ignored = isTool ? [...ids, 'aria-disabled', 'tabindex'] : ids;
    const attributes = [...node.attributes].filter(({ name }) => !ignored.includes(name))
      .map(({ name, value }) => ` ${name}="${rounded(value)}"`).sort();
    const value = node.value === undefined ? '' : ` value: ${node.value}`;
    lines.push(`${' '.repeat(depth)}<${node.localName}${attributes.join('')}>${value}`);
    for (const child of node.childNodes) walk(child, depth + 1);
  };
  walk(root, 0);
  return lines.join('\\n').replace(/stridekit-\\d+/g, 'stridekit-id');
}"""
FONTS = """(words) => {
  const fonts = ['400 13px ui-monospace, monospace', '400 16px system-ui, sans-serif', '700 13px Arial'];
  const context = document.createElement('canvas').getContext('2d');
  return fonts.map((font) => {
    context.font = font;
    return context.measureText(words).width.toFixed(2);
  }).join(' ');
}"""


def digest(drawing):
    return sha256(drawing.encode()).hexdigest()[:8]


def load():
    """Return the record: the fonts, and the digests of each row by its name."""
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}


class Drawings:
    """The drawings of one row, compared with the record, or taken into it."""

    def __init__(self, page, name):
        self.name = name
        self.fonts = page.evaluate(FONTS, WORDS)
        self.record = load()
        self.digests = []

    def take(self, w, line):
        """Take the drawing after a line; fail if it is another than the record's."""
        drawing = w.evaluate(DRAWING)
        self.digests.append(digest(drawing))
        k = len(self.digests) - 1
        SEEN.mkdir(parents=True, exist_ok=True)
        path = SEEN / f"{self.digests[k]}.txt"
        path.write_text(drawing, encoding="utf-8")
        if IS_RECORDING or self.record.get("fonts") != self.fonts:
            return
        recorded = self.record["rows"].get(self.name, "").split()
        if k < len(recorded) and recorded[k] == self.digests[k]:
            return
        pytest.fail(
            f"after {line!r} the widget is drawn otherwise than drawings.json remembers: its nodes are in "
            f"{path}. If this is meant, tests/course/browser/drawings.py says how to record it"
        )

    def store(self):
        """Take the row into the record."""
        rows = self.record.get("rows", {}) if self.record.get("fonts") == self.fonts else {}
        rows[self.name] = " ".join(self.digests)
        text = json.dumps({"fonts": self.fonts, "rows": dict(sorted(rows.items()))}, indent=1)
        PATH.write_text(f"{text}\n", encoding="utf-8")
