// Small helpers to build nodes once and patch them afterwards.

const SVG = "http://www.w3.org/2000/svg";

function create(node, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (key === "text") node.textContent = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** A key that JupyterLab must leave to the widget: the attribute works on the focused node alone. */
export const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };
const FOCUSED = ["button", "input", "select"];

/** An HTML node. `text` is its text, `on…` a listener, everything else an attribute. */
export const h = (tag, props = {}, ...children) =>
  create(document.createElement(tag), FOCUSED.includes(tag) ? { ...OWN_KEYS, ...props } : props, children);

/** A button that does something. */
export const button = (text, onclick, props = {}) => h("button", { type: "button", text, onclick, ...props });

/** The same for SVG. */
export const s = (tag, props = {}) => create(document.createElementNS(SVG, tag), props, []);

/** Set an attribute (or "text") only when it differs: most of a redraw changes nothing. */
export function set(node, key, value) {
  const seen = (node.seen ??= {});
  if (seen[key] === value) return;
  seen[key] = value;
  // A text node is kept and changed: a new one for each number would cost a millisecond a frame.
  if (key === "text" && node.firstChild?.nodeType === 3) node.firstChild.nodeValue = value;
  else if (key === "text") node.textContent = value;
  else if (value === null) node.removeAttribute(key);
  else node.setAttribute(key, value);
}

/** Put a node at a place by its transform, which needs no layout of the page. */
export const moveTo = (node, x, y) => set(node, "style", `transform:translate(${x}px,${y}px)`);

/** The width that a box needs for so many characters of a size in px. */
export const boxFor = (characters, size) => Math.ceil(0.6 * size * characters) + 6; // a digit is 0.6 of it

/** Make the texts of boxes as small as the longest needs, in three steps, and all alike. */
export function fit(node, texts, width) {
  const longest = Math.max(1, ...texts.map((text) => text.length));
  const size = [14, 11, 9].find((px) => boxFor(longest, px) <= width) ?? 7;
  set(node, "data-fit", size === 14 ? null : String(size));
}

/** `take(count)` gives that many children of a parent: made when missing, removed when too many. */
export function pool(parent, make) {
  const nodes = [];
  return function take(count) {
    while (nodes.length < count) {
      const node = make(nodes.length);
      nodes.push(node);
      parent.append(node);
    }
    while (nodes.length > count) nodes.pop().remove();
    return nodes;
  };
}

/** The box that a key leads to from box `now`, perhaps outside of the grid; undefined for other keys. */
export const reachedBy = (key, now, perRow, count) => ({
  ArrowLeft: now - 1, ArrowRight: now + 1, ArrowUp: now - perRow, ArrowDown: now + perRow,
  Home: 0, End: count - 1,
})[key];
