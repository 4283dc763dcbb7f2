// The cell of JupyterLab around a widget, on a stub: who has the keys after it has run.

import assert from "node:assert/strict";
import test from "node:test";

import { cellOf, handOn, hasJustRun } from "../../../stridekit/widgets/page/cell.js";

/** @type {any} */
const page = globalThis;
const OWN = 4; // the number of the widget's cell
const BOOK = ".jp-Notebook";
const SHORTCUTS = "data-lm-suppress-shortcuts";

/** A node that contains only itself, and writes down how it gets the focus. */
class StubNode {
  dataset = {};
  /** @type {any[]} */
  focused = [];
  attributes = new Map([[SHORTCUTS, "true"]]);
  contains = (node) => node === this;
  focus = (options) => this.focused.push(options);
  hasAttribute = (name) => this.attributes.has(name);
  removeAttribute = (name) => this.attributes.delete(name);
  setAttribute = (name, value) => this.attributes.set(name, value);
}

/**
 * A notebook of ten cells, one of them active, and a widget in another one.
 * @param {{ active?: number | null, mode?: string }} options
 */
function open({ active = null, mode = "command" } = {}) {
  /** @type {any[]} */
  const cells = Array.from({ length: 10 }, () => new StubNode());
  const body = new StubNode();
  const book = {
    querySelector(css) {
      if (css === ".jp-Cell.jp-mod-active") return active === null ? null : cells[active];
      return cells[Number(css.match(/^\.jp-Cell\[data-windowed-list-index="(\d+)"\]$/)[1])];
    },
  };
  for (const [number, cell] of cells.entries()) {
    cell.dataset.windowedListIndex = String(number);
    cell.closest = (css) => ([BOOK, `${BOOK}.jp-mod-${mode}Mode`].includes(css) ? book : null);
  }
  page.document = { activeElement: body, body };
  /** @type {any} */
  const node = { closest: (css) => (css === ".jp-Cell" ? cells[OWN] : null) };
  return { node, book, cells, body };
}

test("the cell, its notebook and the active cell are found, and how far that is ahead", () => {
  const { node, book, cells } = open({ active: 7 });
  const found = cellOf(node);
  assert.equal(found.cell, cells[OWN]);
  assert.equal(found.book, book);
  assert.equal(found.active, cells[7]);
  assert.deepEqual([found.number, found.ahead], [OWN, 3]);
});

/** @type {[when: string, active: number | null, mode: string, focus: string, hasRun: boolean][]} */
const RUNS = [
  ["Shift+Enter went on to the next cell", OWN + 1, "command", "active", true],
  ["Ctrl+Enter stayed in the cell", OWN, "command", "active", true],
  ["the page has the keys", OWN, "command", "body", true],
  ["the keys are elsewhere", OWN, "command", "other", false],
  ["the next cell is active, the keys are elsewhere", OWN + 1, "command", "other", false],
  ["the next cell is active, the page has the keys", OWN + 1, "command", "body", false],
  ["a hand types in the next cell", OWN + 1, "edit", "active", false],
  ["a hand types in the cell", OWN, "edit", "active", false],
  ["Run All went to the last cell", 9, "command", "active", false],
  ["Run All went to the last cell, the page has the keys", 9, "command", "body", false],
  ["a cell above is active", OWN - 1, "command", "active", false],
  ["no cell is active", null, "command", "body", false],
];
for (const [when, active, mode, focus, hasRun] of RUNS)
  test(`${when}: the cell has ${hasRun ? "" : "not "}just run`, () => {
    const { node, cells, body } = open({ active, mode });
    const nodes = { active: cells[active ?? 0], body, other: cells[0] };
    page.document.activeElement = nodes[focus];
    assert.equal(hasJustRun(node), hasRun);
  });

test("outside of JupyterLab there is no cell", () => {
  const { body } = open();
  /** @type {any} */
  const node = { closest: () => null };
  const { cell, book, active, ahead } = cellOf(node);
  assert.deepEqual([cell, book, active, ahead], [null, undefined, undefined, Number.NaN]);
  page.document.activeElement = body;
  assert.equal(hasJustRun(node), false);
});

test("a key is handed on to the next cell, and JupyterLab obeys it once", async () => {
  const { node, cells } = open();
  const target = new StubNode();
  /** @type {any} */
  const event = { target };
  handOn(event, node);
  assert.deepEqual(cells[OWN + 1].focused, [{ preventScroll: true }]);
  assert.equal(target.hasAttribute(SHORTCUTS), false);
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(target.attributes.get(SHORTCUTS), "true");
  target.removeAttribute(SHORTCUTS);
  handOn(event, node);
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(target.hasAttribute(SHORTCUTS), false); // it never had one
});
