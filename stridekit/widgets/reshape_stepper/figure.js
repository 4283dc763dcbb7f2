// Old dims above new dims on one axis: a dim of size n is log(n) wide. Boundaries stand one above the other exactly
// where the dims to their right have the same product. So a view exists if there is a boundary of y below each
// broken boundary of x, which the reader can see.

import { h, moveTo, pool, set } from "../page/dom.js";
import { product } from "../page/layout.js";

const ONE = 84; // the most width for a dim of size 1, whose logarithm is 0
const NAME = 36; // room for "x" and "y" at the left
const GAP = 6;
const JOIN = 22; // how far a dim begins from the chunk that it joins
const [CHARACTER, LETTER] = [7.3, 5.9]; // the width of one in a box, and in a bracket below it
const TIGHT = { dim: 46, joint: [132, 80] }; // below these widths, smaller words in a box, and fewer beside a joint
const TOP = { joint: 0, old: 36, chunk: 90, fresh: 122 }; // widget.css has the heights
export const HEIGHT = 192;

/** Left edge and width of each dim: {old, fresh}, a list of [left, width] each. */
export function spread(old, fresh, width) {
  if ([...old, ...fresh].includes(0)) return { old: evenly(old, width), fresh: evenly(fresh, width) };
  const rows = [old, fresh].map(products);
  const points = [...new Set([1, ...rows.flat(2)])].sort((a, b) => a - b);
  const ones = new Map(points.map((p) => [p, Math.max(...rows.map((row) => onesAt(row, p)))]));
  const places = [...ones.values()].reduce((a, b) => a + b, 0);
  const many = Math.max(old.length, fresh.length, 1);
  const one = Math.min(ONE, width / 2 / Math.max(places, 1), width / many); // the others keep half of the axis
  const scale = (width - places * one) / (Math.log(points.at(-1)) || 1);
  const right = new Map(); // where the sizes of 1 at a product begin, from the right
  let [x, before] = [width, 1];
  for (const p of points) {
    x -= Math.log(p / before) * scale;
    right.set(p, x);
    x -= ones.get(p) * one;
    before = p;
  }
  const place = (row) => {
    const placed = [];
    let edge = width;
    for (const [inner, outer] of [...row].reverse()) {
      const left = inner === outer ? edge - one : right.get(outer);
      placed.push([left, edge - left]);
      edge = left;
    }
    return placed.reverse();
  };
  return { old: place(rows[0]), fresh: place(rows[1]) };
}

/** The widest part of a box that no seam crosses: [from, to]. */
function clearPart([left, width], seams) {
  const inside = seams.map((x) => x - left).filter((x) => x > 1 && x < width - 1);
  const sorted = [0, ...inside.sort((a, b) => a - b), width];
  const pairs = sorted.slice(1).map((to, k) => [sorted[k], to]);
  return pairs.reduce((best, pair) => (pair[1] - pair[0] > best[1] - best[0] ? pair : best));
}

/** For each dim, the product of the sizes to its right, without and with its own size. */
const products = (shape) => shape.map((_, d) => [product(shape.slice(d + 1)), product(shape.slice(d))]);

const onesAt = (row, p) => row.filter(([inner, outer]) => inner === p && outer === p).length;
const evenly = (shape, width) => shape.map((_, d) => [(d * width) / shape.length, width / shape.length]);

/** The two rows of dims, the joints between the old ones, and the chunks under them. */
export function createFigure() {
  const node = h("div", { class: "sk-figure" });
  const oldRow = h("div", { role: "list", "aria-label": "dims of x" });
  const chunkRow = h("div", { "aria-hidden": "true" });
  const freshRow = h("div", { role: "list", "aria-label": "dims of the new shape" });
  const jointRow = h("div", { "aria-hidden": "true" });
  const names = ["x", "y"].map((text) => h("span", { class: "sk-name", text, "aria-hidden": "true" }));
  moveTo(names[0], 0, TOP.old + 15);
  moveTo(names[1], 0, TOP.fresh + 15);
  // If boxes are too narrow for the word, it stands once, at the left of the row.
  const units = [TOP.old, TOP.fresh].map((top) => {
    const unit = h("span", { class: "sk-unit", text: "stride", "aria-hidden": "true", hidden: "" });
    moveTo(unit, 0, top + 36);
    return unit;
  });
  const asked = h("span", { class: "sk-unit sk-asked", text: "found\nneeded", "aria-hidden": "true", hidden: "" });
  node.append(...names, ...units, asked, oldRow, chunkRow, freshRow, jointRow);
  const oldBoxes = pool(oldRow, box);
  const freshBoxes = pool(freshRow, box);
  const brackets = pool(chunkRow, () => {
    const text = h("span");
    return Object.assign(h("div", { class: "sk-chunk" }, text), { label: text });
  });
  const joints = pool(jointRow, () => {
    const [label, line] = [h("div", { class: "sk-joint" }), h("div", { class: "sk-seam" })];
    return Object.assign(h("div", {}, label, line), { label, line });
  });

  function box() {
    const [name, size, stride, taken] = ["sk-of", "sk-size", "sk-step", "sk-taken"].map((kind) =>
      h("div", { class: kind }),
    );
    return Object.assign(h("div", { role: "listitem" }, name, size, stride, taken), { name, size, stride, taken });
  }

  /** A box at its place, `kind` being its classes, with its text in a part of its width. */
  function paint(one, [left, width], top, kind, texts, [from, to] = [0, width]) {
    const aside = to - from < width ? `;padding:2px ${width - to}px 2px ${from}px` : "";
    set(one, "class", `sk-dimbox ${kind}${width < TIGHT.dim ? " is-narrow" : ""}`);
    // Not by a transform, which is that of a motion.
    set(one, "style", `translate:${NAME + left}px ${top}px;width:${width - GAP}px${aside}`);
    for (const [part, text] of Object.entries(texts)) set(one[part], "text", text);
  }

  /** Draw the result of viewOf in view.js. */
  function draw({ layout, target, dims, fresh, chunks, boundaries }, width) {
    const places = spread(layout.shape, target, width - NAME);
    drawOld(layout, dims, places.old);
    const seams = boundaries.filter(({ broken }) => broken).map(({ dim }) => places.old[dim + 1][0]);
    drawFresh(target, fresh, places.fresh, seams);
    drawChunks(chunks, places.old);
    drawJoints(boundaries, places.old);
  }

  function drawOld({ shape, stride }, dims, places) {
    const narrow = stride.some((n, d) => places[d][1] < 24 + CHARACTER * `stride ${n}`.length);
    set(units[0], "hidden", narrow ? null : "");
    set(oldRow, "hidden", dims.length ? null : ""); // a 0-d tensor has no dims to list
    oldBoxes(dims.length).forEach((one, d) =>
      paint(one, places[d], TOP.old, dims[d].kind, {
        name: `dim ${d}`, size: shape[d], stride: narrow ? stride[d] : `stride ${stride[d]}`, taken: "",
      }),
    );
  }

  function drawFresh(target, fresh, places, seams) {
    const narrow = places.some(([, width]) => width < ONE - 1);
    set(units[1], "hidden", narrow ? null : "");
    set(freshRow, "hidden", fresh.length ? null : "");
    freshBoxes(fresh.length).forEach((one, d) => {
      const { kind, stride, taken } = fresh[d];
      const part = clearPart(places[d], seams);
      const long = part[1] - part[0] < GAP + CHARACTER * taken[0].length;
      paint(one, places[d], TOP.fresh, kind, {
        name: `${narrow ? "" : "new "}dim ${d}`, size: target[d], stride: stride[Number(narrow)], taken: taken[Number(long)],
      }, part);
    });
  }

  function drawChunks(chunks, places) {
    brackets(chunks.length).forEach((one, k) => {
      const { first, last, texts, kind } = chunks[k];
      const [left, to] = [places[first][0], places[last][0] + places[last][1]];
      set(one, "class", `sk-chunk ${kind}`);
      set(one, "style", `transform:translate(${NAME + left}px,${TOP.chunk}px);width:${to - left - GAP}px`);
      set(one.label, "text", texts.find((text) => 16 + LETTER * text.length <= to - left) ?? texts.at(-1));
    });
  }

  function drawJoints(boundaries, places) {
    const least = Math.min(...boundaries.map(({ dim }) => Math.min(places[dim][1], places[dim + 1][1])));
    const form = TIGHT.joint.filter((width) => least < width).length;
    set(asked, "hidden", form === 2 ? null : "");
    joints(boundaries.length).forEach((one, k) => {
      const { dim, kind, labels } = boundaries[k];
      const x = NAME + places[dim + 1][0] - GAP / 2;
      set(one.label, "class", `sk-joint ${kind}`);
      set(one.label, "text", labels[form]);
      set(one.label, "style", `transform:translate(${x}px,${TOP.joint}px) translateX(-50%)`);
      set(one.line, "class", `sk-seam ${kind}`);
      set(one.line, "style", `transform:translate(${x}px,${TOP.old}px)`);
    });
  }

  /** What a step moves, and how far from its place it begins: a dim that joins its chunk, a new dim that leaves it. */
  function moved({ now: { part, dims: [dim], new_dims: [fresh] }, boundaries }) {
    if (fresh !== undefined) return [freshRow.children[fresh], [0, TOP.chunk - TOP.fresh]];
    const joins = part === "merge" && boundaries.some((one) => one.dim === dim && !one.broken);
    return joins ? [oldRow.children[dim], [-JOIN, 0]] : [];
  }

  return { node, draw, moved };
}
