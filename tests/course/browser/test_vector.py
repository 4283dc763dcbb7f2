"""page/vector.js on a page that has everything which it can draw: vector.html becomes vector.svg.

The two look alike in a browser. After a change that is meant, look at both, then write the SVG again:

    STRIDEKIT_RECORD_DRAWINGS=yes make test TEST_ARGS=tests/course/browser/test_vector.py

Places depend on the widths of letters, so a machine with other fonts compares nothing.
"""

from pathlib import Path

from stridekit.widgets.assets import module
from tests.course.browser.drawings import FONTS, IS_RECORDING, WORDS, load
from tests.course.needs import needs_chromium

pytestmark = needs_chromium
PAGE = Path(__file__).with_name("vector.html")
SVG = PAGE.with_suffix(".svg")
# The drawing of the page, with an element a line and rounded numbers.
DRAW = """() => {
  const context = document.querySelector('canvas').getContext('2d');
  context.fillStyle = '#3a7';
  context.fillRect(0, 0, 2, 2);
  const nodes = document.querySelectorAll('*').length;
  const drawing = drawingOf(document.getElementById('root'), (node) => node.className === 'left-out');
  if (document.querySelectorAll('*').length !== nodes) throw new Error('it leaves nodes behind');
  const twoPlaces = (number) => String(Number(Number(number).toFixed(2)));
  const rounded = (line) => line.replace(/-?\\d*\\.\\d+/g, twoPlaces);
  const lines = new XMLSerializer().serializeToString(drawing).split(/(?<=>)(?=<)/);
  return lines.map((line) => (line.includes('base64') ? line : rounded(line))).join('\\n');
}"""


def test_all_that_a_picture_can_hold_is_drawn(browser):
    page = browser.new_page(viewport={"width": 900, "height": 800})
    page.set_content(PAGE.read_text(encoding="utf-8"))
    script = f"{module('page/vector.js')}\nglobalThis.drawingOf = drawingOf;"
    page.evaluate(f"() => {{ {script} }}")
    drawing = page.evaluate(DRAW)
    has_same_fonts = page.evaluate(FONTS, WORDS) == load()["fonts"]
    page.close()
    if IS_RECORDING:
        SVG.write_text(f"{drawing}\n", encoding="utf-8")
    assert drawing.count("<text") > 20
    if has_same_fonts:
        assert drawing.splitlines() == SVG.read_text(encoding="utf-8").splitlines()
