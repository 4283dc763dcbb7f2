// The explorer that opens a notebook takes the keys once Shift+Enter has run it: the next key moves a stride.
// Nowhere else: not below another widget or further down, not after Run All, not while somebody types, not where a notebook is only opened.

const SHORTCUTS = "data-lm-suppress-shortcuts"; // see OWN_KEYS in page/dom.js
const NEAR = 3; // cells from the top, where a title and the set-up may come first
const numberOf = (cell) => Number(cell.dataset.windowedListIndex);

/** Give the focus to a slider, if its widget is the notebook's first and Shift+Enter has just gone on to the next cell. */
export function takeKeys(el, slider, signal) {
  const cell = el.closest(".jp-Cell");
  const book = cell?.closest(".jp-Notebook.jp-mod-commandMode");
  const next = book?.querySelector(".jp-Cell.jp-mod-active");
  if (!next?.contains(document.activeElement) || numberOf(next) !== numberOf(cell) + 1) return;
  if (numberOf(cell) >= NEAR || !cell.contains(book.querySelector(".stridekit"))) return;
  addEventListener("keydown", goOn, { capture: true, signal });
  slider.addEventListener("blur", () => removeEventListener("keydown", goOn, true), { once: true });
  slider.focus({ preventScroll: true });

  /** Escape and Shift+Enter go on to the next cell; JupyterLab, which listens later, has the latter, too. */
  function goOn(event) {
    if (event.key !== "Escape" && !(event.key === "Enter" && event.shiftKey)) return;
    next.focus({ preventScroll: true });
    slider.removeAttribute(SHORTCUTS);
    setTimeout(() => slider.setAttribute(SHORTCUTS, "true"));
  }
}
