// A pane that scrolls inside, where it and the others would be too high for one screen.

import { h, set } from "../page/dom.js";

/** `cap` limits the height, `reveal` scrolls a part into view; `shown(y)` is a height in the pane, null out of view. */
export function createScroller(content, onScroll) {
  const node = h("div", { onscroll: () => { top = node.scrollTop; onScroll(); } }, content);
  let [top, most, height] = [0, Infinity, 0]; // kept, since to ask the page for them would cost a layout
  return {
    node,
    isCut: () => most < Infinity,
    most: () => most,
    cap(room, whole) {
      [most, height] = [whole > room ? room : Infinity, whole];
      if (most === Infinity) top = 0;
      set(node, "class", most < Infinity ? "sk-scroller is-cut" : "sk-scroller");
      set(node, "style", most < Infinity ? `max-height:${most}px` : null);
    },
    reveal(first, last) {
      if (first >= top && last <= top + most) return;
      node.scrollTop = top = Math.max(0, Math.min(first < top ? first : last - most, height - most));
    },
    shown: (y) => (y >= top && y <= top + most ? y - top : null),
  };
}
