"""What a person sees of all widgets, in JupyterLab and on an exported page, on a phone and at a desk."""

import subprocess
import sys

import pytest

from browser_lab import write_notebook
from tests.browser.conftest import ALL_KINDS
from tests.browser.pages import painted, resize
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def exported_page(browser, tmp_path_factory):
    """All widgets on an exported page."""
    folder = tmp_path_factory.mktemp("lessons")
    write_notebook(folder / "kinds.ipynb", ALL_KINDS)
    command = [sys.executable, "-m", "stridekit.export", folder / "kinds.ipynb", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = browser.new_page()
    page.goto((folder / "kinds.html").as_uri())
    page.wait_for_function(
        "(count) => document.querySelectorAll('.stridekit').length >= count", arg=len(KINDS)
    )
    yield page
    page.close()


HOSTS = pytest.mark.parametrize("host", ["kinds_page", "exported_page"])


@HOSTS
def test_a_host_page_changes_nothing_in_a_widget(host, request):
    """Without the style sheets of its host, each node of a widget looks as it does with them."""
    page = request.getfixturevalue(host)
    resize(page, 1280)
    changed = page.evaluate(_CHANGED_BY_HOST)
    assert changed["nodes"] > 1000
    assert "\n".join(map(str, changed["differences"])) == ""


# A host gives a widget its width and the variables of its theme; both stay as they are.
_CHANGED_BY_HOST = """async () => {
  const roots = [...document.querySelectorAll('.stridekit')];
  const own = (sheet) => [...sheet.cssRules].some((rule) => rule.cssText.includes('#sk-host'));
  const sheets = [...document.styleSheets].filter((sheet) => !own(sheet));
  const themed = [...document.styleSheets].filter(own).flatMap((sheet) =>
    [...sheet.ownerNode.textContent.matchAll(/--jp-[\\w-]+/g)].map(([name]) => name));
  for (const root of roots) {
    const seen = getComputedStyle(root);
    const kept = [...new Set(themed)].map((name) => `${name}:${seen.getPropertyValue(name)}`);
    const size = `position:absolute; left:0; top:0; width:${root.parentNode.clientWidth}px; font-size:10px`;
    root.parentNode.setAttribute('style', [...kept, size].join(';'));
  }
  const frame = () => new Promise(requestAnimationFrame);
  const look = async () => {
    await frame(); await frame(); await frame();
    return roots.flatMap((root) => [root, ...root.querySelectorAll('*')].map((node) => {
      const style = getComputedStyle(node);
      return [node, Object.fromEntries([...style].filter((name) => !name.startsWith('--')).map((name) => [name, style[name]]))];
    }));
  };
  const before = await look();
  for (const sheet of sheets) sheet.disabled = true;
  const after = await look();
  for (const sheet of sheets) sheet.disabled = false;
  for (const root of roots) root.parentNode.removeAttribute('style');
  const differences = before.flatMap(([node, style], k) => {
    const names = Object.keys(style).filter((name) => style[name] !== after[k][1][name]);
    const path = `${node.closest('.stridekit').className} ${node.localName}.${node.getAttribute('class')}`;
    return names.length ? [[path, ...names.slice(0, 4).map((name) => `${name}: ${style[name]} / ${after[k][1][name]}`)]] : [];
  });
  return { nodes: before.length, differences: differences.slice(0, 20) };
}"""


@pytest.mark.parametrize("width", [390, 800, 1280])
@HOSTS
def test_each_text_can_be_read(host, width, request):
    """No label of one word is taller than two lines, nothing covers a text, and nothing is cut off."""
    page = request.getfixturevalue(host)
    resize(page, width)
    painted(page)
    seen = page.evaluate(_UNREADABLE)
    assert seen["texts"] > 300
    assert "\n".join(seen["unreadable"]) == ""


# What is typed on, and what scrolls, may hold more than it shows.
_UNREADABLE = """async () => {
  const style = document.head.appendChild(document.createElement('style'));
  style.textContent = '.stridekit * { pointer-events: auto !important; }';
  const unreadable = [];
  let texts = 0;
  const name = (node) => `${node.closest('.stridekit').className}: ${node.localName}.${node.getAttribute('class')} “${node.textContent.slice(0, 40)}”`;
  const isPaint = (node) => {
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node);
    return opacity !== '0' && (backgroundImage !== 'none' || !/, 0\\)$|transparent/.test(backgroundColor));
  };
  for (const root of document.querySelectorAll('.stridekit')) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const node = text.parentElement;
      if (!text.data.trim() || node.closest('.sk-spoken, .sk-told, select, textarea') || !node.checkVisibility({ visibilityProperty: true })) continue;
      texts++;
      const range = document.createRange();
      range.selectNodeContents(text);
      const rects = [...range.getClientRects()].filter(({ width, height }) => width && height);
      if (!rects.length) continue;
      const lines = new Set(rects.map(({ top }) => Math.round(top))).size;
      if (!/\\s/.test(text.data.trim()) && text.data.trim().length < 24 && lines > 2) unreadable.push(`stacked ${name(node)}`);
      // Cut off: by what clips and does not scroll, or by the end of the widget.
      const edge = root.getBoundingClientRect();
      for (const box of rects) {
        let scrolls = false;
        for (let above = node; above !== root.parentElement; above = above.parentElement) {
          const { overflowX, overflowY } = getComputedStyle(above);
          const { left, right, top, bottom } = above.getBoundingClientRect();
          scrolls ||= /auto|scroll/.test(overflowX + overflowY);
          const isOutside = box.right > right + 1 || box.left < left - 1 || box.bottom > bottom + 3 || box.top < top - 3;
          if (!scrolls && /hidden|clip/.test(overflowX) && isOutside) { unreadable.push(`cut ${name(node)}`); break; }
        }
        if (!scrolls && (box.right > edge.right + 1 || box.left < edge.left - 1)) unreadable.push(`beyond ${name(node)}`);
      }
      // Covered: something painted lies over the middle of its first line.
      node.scrollIntoView({ block: 'center', inline: 'center' });
      const [{ left, top, width, height }] = [...range.getClientRects()].filter(({ width, height }) => width && height);
      for (const over of document.elementsFromPoint(left + width / 2, top + height / 2)) {
        if (over === node || over.contains(node) || node.contains(over)) break;
        if (root.contains(over) && isPaint(over)) { unreadable.push(`covered by ${name(over)}: ${name(node)}`); break; }
      }
    }
  }
  style.remove();
  return { texts, unreadable: [...new Set(unreadable)] };
}"""
