// A pane, which scrolls what is too high for it. It keeps what it has measured: a question to the
// browser in the middle of a key would make it lay out the page twice for one frame.

import { h } from "../page/dom.js";

export const EDGE = 4; // px around what scrolls, for outlines: --gap-s of base.css
const AROUND = 24; // px that stay in sight above and below what is revealed

/**
 * The part of the content that can be seen: where it begins, and its height, in px.
 * @typedef {{ top: number, height: number }} Seen
 */

/** @param {HTMLElement} content */
export function createPane(content) {
  const node = h("div", { class: "sk-pane" }, content);
  /** @type {Seen} */
  let seen = { top: 0, height: 0 };

  /** Measure what can be seen: once the page is laid out, and whenever the pane was scrolled. */
  function measure() {
    seen = { top: node.scrollTop - EDGE, height: node.clientHeight };
  }

  /**
   * Scroll until a part of the content can be seen, which has `contentHeight` px in all.
   * @type {(top: number, height: number, contentHeight: number) => void}
   */
  function reveal(top, height, contentHeight) {
    const isCut = contentHeight + 2 * EDGE > seen.height + 1;
    if (!isCut || !seen.height) return;
    const least = top + height + AROUND - seen.height;
    const wanted = Math.max(Math.min(seen.top + EDGE, top - AROUND), least, 0);
    if (wanted === seen.top + EDGE) return;
    node.scrollTop = wanted;
    measure();
  }

  return { node, measure, reveal, seen: () => seen };
}
