// The cell of JupyterLab in which a widget stands, and who has the keys after it has run. In other
// hosts there is no such cell.

import { OWN_KEYS } from "./dom.js";

const [SHORTCUTS] = Object.keys(OWN_KEYS);

/**
 * JupyterLab's cell around a node, its number, its notebook, the active cell, and how many cells
 * that is ahead.
 * @param {Element} node
 */
export function cellOf(node) {
  /** @type {HTMLElement | null} */
  const cell = node.closest(".jp-Cell");
  /** @type {HTMLElement | null | undefined} */
  const book = cell?.closest(".jp-Notebook");
  /** @type {HTMLElement | null | undefined} */
  const active = book?.querySelector(".jp-Cell.jp-mod-active");
  const number = Number(cell?.dataset.windowedListIndex);
  const ahead = Number(active?.dataset.windowedListIndex) - number;
  return { cell, number, book, active, ahead };
}

/**
 * Whether a hand has just run the cell of a widget, and is not typing. Shift+Enter goes on to the
 * next cell, while Ctrl+Enter and a click stay. After Run All another cell is active.
 * @param {Element} node
 */
export function hasJustRun(node) {
  const { cell, active, ahead } = cellOf(node);
  if (!active?.closest(".jp-Notebook.jp-mod-commandMode")) return false; // a hand types
  const { activeElement } = document;
  if (ahead === 1) return active.contains(activeElement);
  return ahead === 0 && (activeElement === cell || activeElement === document.body);
}

/**
 * Hand a key that was pressed in a widget on to the cell behind it, where JupyterLab obeys it.
 * @param {KeyboardEvent} event
 * @param {Element} node
 */
export function handOn(event, node) {
  const { number, book } = cellOf(node);
  /** @type {HTMLElement | null | undefined} */
  const next = book?.querySelector(`.jp-Cell[data-windowed-list-index="${number + 1}"]`);
  const target = /** @type {Element} */ (event.target);
  next?.focus({ preventScroll: true });
  if (!target.hasAttribute(SHORTCUTS)) return;
  target.removeAttribute(SHORTCUTS);
  setTimeout(() => target.setAttribute(SHORTCUTS, "true"));
}
