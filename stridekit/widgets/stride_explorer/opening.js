// The explorer that opens a notebook takes the keys once Shift+Enter has run it: the next key moves a stride.
//
// Nowhere else: not in a later cell, not after Run All, not while somebody types, not where a notebook is only opened.

const SHORTCUTS = "data-lm-suppress-shortcuts"; // see OWN_KEYS in page/dom.js

/** Give the focus to a slider, if its widget stands in the first cell and Shift+Enter has just gone on to the second. */
export function takeKeys(el, slider, signal) {
  const cell = el.closest('.jp-Cell[data-windowed-list-index="0"]');
  const book = cell?.closest(".jp-Notebook.jp-mod-commandMode");
  const next = book?.querySelector('.jp-Cell[data-windowed-list-index="1"].jp-mod-active');
  if (!next?.contains(document.activeElement)) return;
  addEventListener("keydown", goOn, { capture: true, signal });
  slider.addEventListener("blur", () => removeEventListener("keydown", goOn, true), { once: true });
  slider.focus({ preventScroll: true });

  /** Escape and Shift+Enter go on to the second cell; JupyterLab, which listens later, has the latter, too. */
  function goOn(event) {
    if (event.key !== "Escape" && !(event.key === "Enter" && event.shiftKey)) return;
    next.focus({ preventScroll: true });
    slider.removeAttribute(SHORTCUTS);
    setTimeout(() => slider.setAttribute(SHORTCUTS, "true"));
  }
}
