// Helpers that build nodes once and patch them afterwards.

import { range } from "./layout.js";

/**
 * The attributes of a node, its listeners under "on…", and its "text", or its "prose": a text with
 * code between backticks. An attribute that is null is left out.
 * @typedef {Record<string, any>} Props
 */

/**
 * A node that `set` and `fill` have patched: `seen` are the newest values of its props, `made` is
 * its tag and `props` are its props if `fill` made it.
 * @typedef {Element & { seen?: Props, made?: string, props?: Props }} Patched
 */

const SVG = "http://www.w3.org/2000/svg";
const TEXT_NODE = 3;
const DIGIT = 0.6; // the width of a digit in font sizes

/** Makes JupyterLab leave keys to the widget; works only on the focused node itself. */
export const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };
const FOCUSED = ["button", "input", "select", "textarea"];

/**
 * @template {Element} Made
 * @param {Made} node
 * @param {Props} props
 * @param {(Node | string)[]} children
 */
function complete(node, props, children) {
  setAll(node, props);
  node.append(...children);
  return node;
}

/**
 * A new node of HTML.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props} props
 * @param {(Node | string)[]} children
 */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  return complete(node, FOCUSED.includes(tag) ? { ...OWN_KEYS, ...props } : props, children);
}

/**
 * @param {string} text
 * @param {(event: any) => void} onclick
 * @param {Props} props
 * @param {(Node | string)[]} children
 */
export const button = (text, onclick, props = {}, ...children) =>
  h("button", { type: "button", text, onclick, ...props }, ...children);

/** @param {string[]} classes */
export const paragraphs = (...classes) => classes.map((name) => h("p", { class: name }));

/**
 * A new node of SVG.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props} props
 * @param {(Node | string)[]} children
 */
export const s = (tag, props = {}, ...children) =>
  complete(document.createElementNS(SVG, tag), props, children);

/**
 * Set one of a node's props only if it differs: most of a redraw changes nothing.
 * @param {Patched} node
 * @param {string} key
 * @param {any} value
 */
export function set(node, key, value) {
  node.seen ??= {};
  const { seen } = node;
  const before = seen[key];
  if (before === value) return;
  seen[key] = value;
  if (key.startsWith("on")) {
    if (!before) node.addEventListener(key.slice(2), (event) => seen[key]?.(event));
  } else if (key === "text") {
    setText(node, value);
  } else if (key === "prose") {
    node.replaceChildren(...proseNodes(value));
  } else if (value === null) {
    node.removeAttribute(key);
  } else {
    node.setAttribute(key, value);
  }
}

/** @type {(node: Element, text: string) => void} */
function setText(node, text) {
  const first = node.firstChild;
  // Keep the text node: a new one for each number would cost a millisecond per frame.
  if (first?.nodeType === TEXT_NODE) first.nodeValue = text;
  else node.textContent = text;
}

/** @param {string} prose */
function proseNodes(prose) {
  const parts = prose.split("`");
  return parts.map((text, k) => (k % 2 ? h("code", { text }) : text));
}

/** @type {(node: Patched, props: Props) => void} */
export function setAll(node, props) {
  for (const key in props) set(node, key, props[key]);
}

/** @type {(node: Patched, isThere: unknown) => void} */
export const show = (node, isThere) => set(node, "hidden", isThere ? null : "");

/**
 * Make a node have these children: nodes, or [tag, props, ...children] for nodes that are made once
 * and patched afterwards.
 * @param {Element} parent
 * @param {(Node | any[])[]} wanted
 */
export function fill(parent, ...wanted) {
  for (const [k, child] of wanted.entries()) {
    const present = parent.childNodes[k] ?? null;
    if (Array.isArray(child)) fillPlace(parent, present, child);
    else if (child !== present) parent.insertBefore(child, present);
  }
  while (parent.childNodes.length > wanted.length) parent.lastChild?.remove();
}

/**
 * Patch the child at a place if `fill` made it with the same tag; else insert a new one there.
 * @param {Element} parent
 * @param {any} present
 * @param {any[]} wanted
 */
function fillPlace(parent, present, [tag, props = {}, ...children]) {
  let node = present;
  if (present?.made !== tag) {
    node = parent.namespaceURI === SVG ? s(tag) : h(tag);
    node.made = tag;
    parent.insertBefore(node, present);
  }
  for (const key in node.props) if (!(key in props)) set(node, key, null);
  setAll(node, props);
  node.props = props;
  if (!("text" in props || "prose" in props)) fill(node, ...children);
}

/**
 * The width in px of a box for a number of characters at a font size in px.
 * @param {number} characters
 * @param {number} size
 */
export const boxFor = (characters, size) => Math.ceil(DIGIT * size * characters) + 6;

/**
 * Shrink the texts of all boxes alike, in three steps, until the longest fits.
 * @type {(node: Element, texts: string[], width: number) => void}
 */
export function fit(node, texts, width) {
  const longest = Math.max(1, ...texts.map((text) => text.length));
  const size = [14, 11, 9].find((px) => boxFor(longest, px) <= width) ?? 7;
  set(node, "data-fit", size === 14 ? null : String(size));
}

/**
 * The boxes of a grid, as `fill` makes them, in its rows, which may have a style of their own.
 * @param {any[]} boxes
 * @param {number} perRow
 * @param {(row: number) => string | null} styleOf
 */
export const inRows = (boxes, perRow, styleOf = () => null) =>
  range(Math.ceil(boxes.length / perRow)).map((row) => [
    "div",
    { role: "row", class: "sk-row", style: styleOf(row) },
    ...boxes.slice(row * perRow, (row + 1) * perRow),
  ]);

/**
 * The box that a key leads to from a box, possibly outside the grid; undefined for other keys.
 * @type {(key: string, from: number, perRow: number, count: number) => number | undefined}
 */
export function reachedBy(key, from, perRow, count) {
  /** @type {Record<string, number>} */
  const boxes = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from - perRow,
    ArrowDown: from + perRow,
    Home: 0,
    End: count - 1,
  };
  return boxes[key];
}

/**
 * The node that a step leads to, round and round, from the one with the focus; undefined without a
 * step.
 * @param {HTMLElement[]} nodes
 * @param {number | undefined} step
 */
export function neighbour(nodes, step) {
  if (!step) return undefined;
  // A document does not tell what has the focus inside of a shadow root.
  const focused = nodes.findIndex((node) => node.matches(":focus"));
  return nodes[(focused + step + nodes.length) % nodes.length];
}

/**
 * Scroll a pane, and nothing around it, until one of its nodes can be seen, or its top.
 * @type {(pane: Element, node: Element | null | undefined) => void}
 */
export function reveal(pane, node) {
  if (!node) return;
  const outer = pane.getBoundingClientRect();
  const inner = node.getBoundingClientRect();
  const above = inner.top - outer.top;
  const below = Math.min(inner.bottom - outer.bottom, above);
  pane.scrollTop += (Math.min(above, 0) || Math.max(below, 0)) / scaleOf(pane);
}

/**
 * True if a pane hides more than so many px of what it holds.
 * @type {(pane: Element, px?: number) => boolean}
 */
export const isCut = (pane, px = 1) => pane.scrollHeight > pane.clientHeight + px;

/**
 * How many px of the window one px of a node takes: at full width a widget is drawn larger.
 * @type {(node: any) => number}
 */
export const scaleOf = (node) => node.currentCSSZoom ?? 1;
