// Helpers that build nodes once and patch them afterwards.

import { range } from "./layout.js";

const SVG = "http://www.w3.org/2000/svg";
/** Makes JupyterLab leave keys to the widget; the attribute works only on the focused node itself. */
export const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };
const FOCUSED = ["button", "input", "select", "textarea"];

function create(node, props, children) {
  setAll(node, props);
  node.append(...children);
  return node;
}

export const h = (tag, props = {}, ...children) =>
  create(
    document.createElement(tag),
    FOCUSED.includes(tag) ? { ...OWN_KEYS, ...props } : props,
    children,
  );
export const button = (text, onclick, props = {}, ...children) =>
  h("button", { type: "button", text, onclick, ...props }, ...children);
export const paragraphs = (...kinds) => kinds.map((kind) => h("p", { class: kind }));

export const s = (tag, props = {}, ...children) =>
  create(document.createElementNS(SVG, tag), props, children);

// Set an attribute, a listener, "text" or "prose", which has code between backticks, only when it differs: most of a redraw
// changes nothing.
export function set(node, key, value) {
  const seen = (node.seen ??= {});
  const before = seen[key];
  if (before === value) return;
  seen[key] = value;
  if (key.startsWith("on"))
    before ?? node.addEventListener(key.slice(2), (event) => seen[key]?.(event));
  // Keep the text node: a new one for each number would cost a millisecond per frame.
  else if (key === "text" && node.firstChild?.nodeType === 3) node.firstChild.nodeValue = value;
  else if (key === "text") node.textContent = value;
  else if (key === "prose")
    node.replaceChildren(
      ...value.split("`").map((part, k) => (k % 2 ? h("code", { text: part }) : part)),
    );
  else if (value === null) node.removeAttribute(key);
  else node.setAttribute(key, value);
}

export function setAll(node, props) {
  for (const key in props) set(node, key, props[key]);
}
export const show = (node, isThere) => set(node, "hidden", isThere ? null : "");

/** Make a node have these children: nodes, or [tag, props, ...children] for nodes that are made once and then patched. */
export function fill(parent, ...wanted) {
  wanted.forEach((want, k) => {
    let there = parent.childNodes[k];
    if (!Array.isArray(want)) return want !== there && parent.insertBefore(want, there ?? null);
    const [tag, props = {}, ...children] = want;
    if (there?.made !== tag) {
      const made = parent.namespaceURI === SVG ? s(tag) : h(tag);
      there = parent.insertBefore(Object.assign(made, { made: tag }), there ?? null);
    }
    for (const key in there.props) if (!(key in props)) set(there, key, null);
    setAll(there, props);
    there.props = props;
    if (!("text" in props || "prose" in props)) fill(there, ...children);
    return there;
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

/** The width in px of a box for a number of characters at a font size in px. */
export const boxFor = (characters, size) => Math.ceil(0.6 * size * characters) + 6; // a digit is 0.6 of it

/** Shrink the texts of all boxes alike, in three steps, until the longest fits. */
export function fit(node, texts, width) {
  const longest = Math.max(1, ...texts.map((text) => text.length));
  const size = [14, 11, 9].find((px) => boxFor(longest, px) <= width) ?? 7;
  set(node, "data-fit", size === 14 ? null : String(size));
}

/** The boxes of a grid, as `fill` makes them, in its rows. */
export const inRows = (boxes, perRow) =>
  range(Math.ceil(boxes.length / perRow)).map((r) => [
    "div",
    { role: "row", class: "sk-row" },
    ...boxes.slice(r * perRow, (r + 1) * perRow),
  ]);

/** The box that a key leads to from box `now`, possibly outside the grid; undefined for other keys. */
export const reachedBy = (key, now, perRow, count) =>
  ({
    ArrowLeft: now - 1,
    ArrowRight: now + 1,
    ArrowUp: now - perRow,
    ArrowDown: now + perRow,
    Home: 0,
    End: count - 1,
  })[key];

/** The node that a step leads to, round and round, from the one with the focus; undefined without a step. */
export const neighbour = (nodes, by) =>
  by
    ? nodes[(nodes.indexOf(document.activeElement) + by + nodes.length) % nodes.length]
    : undefined;

/** Scroll a pane, and nothing around it, until one of its nodes can be seen, or its top. */
export function reveal(pane, node) {
  if (!node) return;
  const [outer, inner] = [pane, node].map((each) => each.getBoundingClientRect());
  const above = inner.top - outer.top;
  const below = Math.min(inner.bottom - outer.bottom, above);
  pane.scrollTop += Math.min(above, 0) || Math.max(below, 0);
}

export const isCut = (pane) => pane.scrollHeight > pane.clientHeight + 1;

/** How far the middle of a node is from that of another: [x, y] in px. */
export function wayFrom(there, here) {
  const [a, b] = [there, here].map((node) => node.getBoundingClientRect());
  return [a.x - b.x + (a.width - b.width) / 2, a.y - b.y + (a.height - b.height) / 2];
}

// Boxes that travel: each begins where it comes from, and moves to its place, so that the eye can follow it. The browser
// animates transforms by itself, outside the frames of the page: no layout, and nothing to do for a redraw.
const TRAVEL = 210; // ms for one box
const SPREAD = 80; // ms until the last one sets off
const MOST = 256; // boxes

/** Motion inside a root: `travel` starts it; a press, a key or the next travel ends it at once, all boxes in place. */
export function createMotion(root) {
  const reduced = matchMedia("(prefers-reduced-motion: reduce)");
  let [moving, layer, last] = [[], null, -Infinity];
  for (const kind of ["pointerdown", "keydown", "wheel"])
    root.addEventListener(kind, end, { capture: true, passive: true });

  /** Let the boxes of a layer travel. The way of each is how far it begins from its place: [x, y] in px, null if it stays. */
  function travel(over, boxes, ways) {
    end();
    const soon = performance.now() - last < TRAVEL + SPREAD; // a drag in another view, a loop in Python: no time to follow
    last = performance.now();
    if (soon || reduced.matches || boxes.length > MOST || !root.isConnected) return;
    [layer, moving] = [
      over,
      boxes.flatMap((box, k) => {
        if (!ways[k]) return [];
        const [x, y] = ways[k];
        const steps = [{ transform: `translate(${x}px,${y}px)` }, { transform: "none" }];
        const delay = (SPREAD * k) / boxes.length;
        return [
          box.animate(steps, {
            duration: TRAVEL,
            delay,
            fill: "backwards",
            easing: "cubic-bezier(.4,0,.2,1)",
          }),
        ];
      }),
    ];
    layer.dataset.moving = "";
    const [now] = moving.slice(-1);
    if (now) now.onfinish = end;
    else end();
  }

  function end() {
    for (const animation of moving) animation.cancel();
    moving = [];
    if (layer) delete layer.dataset.moving;
  }

  return { travel, end };
}
