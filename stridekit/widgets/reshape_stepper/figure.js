// Old dims above new dims on one axis: a dim of size n is log(n) wide. Boundaries stand one above
// the other exactly where the dims to their right have the same product. So a view exists if there
// is a boundary of y below each broken boundary of x, which the reader can see.

/** @import { View } from "./steps.js" */

import { fill, h, show } from "../page/dom.js";
import { product, sum } from "../page/layout.js";

const ONE = 84; // the most width for a dim of size 1, whose logarithm is 0
const NAME = 36; // room for "x" and "y" at the left
const GAP = 6;
const JOIN = 22; // how far a dim begins from the chunk that it joins
const CHARACTER = 7.3; // the width of a character in a box
const SMALL_CHARACTER = 5.9; // and in a bracket below it
const NARROW_DIM = 46; // below this width, a box has smaller words
const NARROW_JOINTS = [132, 80]; // below these widths, there are fewer words beside a joint
const TOP = { joint: 0, old: 34, chunk: 87, fresh: 112 }; // widget.css has the heights
export const HEIGHT = 182;

/**
 * The left edge of a box, and its width.
 * @typedef {[number, number]} Place
 */

/**
 * The places of the dims of both shapes.
 * @param {number[]} old
 * @param {number[]} fresh
 * @param {number} width
 * @returns {{old: Place[], fresh: Place[]}}
 */
export function spread(old, fresh, width) {
  if ([...old, ...fresh].includes(0))
    return { old: evenly(old, width), fresh: evenly(fresh, width) };
  const oldEnds = endsOf(old);
  const freshEnds = endsOf(fresh);
  const points = [...new Set([1, ...oldEnds.flat(), ...freshEnds.flat()])].sort((a, b) => a - b);
  const largest = points[points.length - 1];
  // Sizes of 1 at one point of the axis stand side by side; those of the two shapes share the room.
  const onesAt = new Map(
    points.map((point) => [
      point,
      Math.max(countOnes(oldEnds, point), countOnes(freshEnds, point)),
    ]),
  );
  const ones = sum([...onesAt.values()]);
  const dims = Math.max(old.length, fresh.length, 1);
  // The other dims keep half of the axis.
  const oneWidth = Math.min(ONE, width / 2 / Math.max(ones, 1), width / dims);
  const scale = (width - ones * oneWidth) / (Math.log(largest) || 1);

  /** Where the sizes of 1 at a point begin, from the right. */
  function rightOf(point) {
    const onesBefore = points.filter((p) => p < point).map((p) => onesAt.get(p) ?? 0);
    return width - Math.log(point) * scale - oneWidth * sum(onesBefore);
  }

  /** @returns {Place[]} */
  function placesOf(ends) {
    let edge = width;
    const fromTheRight = ends.toReversed().map(([inner, outer]) => {
      const right = edge;
      edge = inner === outer ? right - oneWidth : rightOf(outer);
      return [edge, right - edge];
    });
    return fromTheRight.reverse();
  }

  return { old: placesOf(oldEnds), fresh: placesOf(freshEnds) };
}

/**
 * The points of the axis between which each dim lies: the product of the sizes to its right,
 * without and with its own size.
 * @param {number[]} shape
 * @returns {[number, number][]}
 */
const endsOf = (shape) =>
  shape.map((_, d) => [product(shape.slice(d + 1)), product(shape.slice(d))]);

const countOnes = (ends, point) =>
  ends.filter(([inner, outer]) => inner === point && outer === point).length;

/** @returns {Place[]} */
const evenly = (shape, width) =>
  shape.map((_, d) => [(d * width) / shape.length, width / shape.length]);

/** The widest part of a box that no seam crosses: where it begins and ends. */
function clearPart([left, width], seams) {
  const inside = seams.map((x) => x - left).filter((x) => x > 1 && x < width - 1);
  const sorted = [0, ...inside.sort((a, b) => a - b), width];
  /** @type {[number, number][]} */
  const parts = sorted.slice(1).map((end, k) => [sorted[k], end]);
  return parts.reduce((best, part) => (part[1] - part[0] > best[1] - best[0] ? part : best));
}

/** The two rows of dims, the joints between the old ones, and the chunks under them. */
export function createFigure() {
  const oldRow = h("div", { role: "list", "aria-label": "dims of x" });
  const chunkRow = h("div", { "aria-hidden": "true" });
  const freshRow = h("div", { role: "list", "aria-label": "dims of the new shape" });
  const jointRow = h("div", { "aria-hidden": "true" });
  const word = (kind, text, y) =>
    h("span", {
      class: kind,
      text,
      "aria-hidden": "true",
      style: `transform:translate(0px,${y}px)`,
    });
  // If boxes are too narrow for the words, they stand once, at the left of the row.
  const oldUnit = word("sk-unit", "stride", TOP.old + 36);
  const freshUnit = word("sk-unit", "stride", TOP.fresh + 36);
  const jointUnit = word("sk-unit sk-asked", "found\nneeded", 0);
  const node = h(
    "div",
    { class: "sk-figure" },
    word("sk-name", "x", TOP.old + 15),
    word("sk-name", "y", TOP.fresh + 15),
    oldUnit,
    freshUnit,
    jointUnit,
    oldRow,
    chunkRow,
    freshRow,
    jointRow,
  );

  /**
   * @param {View} view
   * @param {number} width
   */
  function draw(view, width) {
    const places = spread(view.layout.shape, view.target, width - NAME);
    drawOldDims(view, places.old);
    drawFreshDims(view, places);
    drawChunks(view, places.old);
    drawJoints(view, places.old);
  }

  function drawOldDims({ layout: { shape, stride }, dims }, places) {
    const isNarrow = stride.some((n, d) => places[d][1] < 24 + CHARACTER * `stride ${n}`.length);
    show(oldUnit, isNarrow);
    show(oldRow, dims.length); // a 0-d tensor has no dims to list
    const boxes = dims.map(({ kind }, d) => {
      const steps = isNarrow ? stride[d] : `stride ${stride[d]}`;
      return box(places[d], TOP.old, kind, [`dim ${d}`, shape[d], steps, ""]);
    });
    fill(oldRow, ...boxes);
  }

  function drawFreshDims({ target, fresh, boundaries }, places) {
    const isNarrow = places.fresh.some(([, width]) => width < ONE - 1);
    show(freshUnit, isNarrow);
    show(freshRow, fresh.length);
    const seams = boundaries
      .filter(({ broken }) => broken)
      .map(({ dim }) => places.old[dim + 1][0]);
    const boxes = fresh.map(({ kind, stride, taken }, d) => {
      const part = clearPart(places.fresh[d], seams);
      const isLong = part[1] - part[0] < GAP + CHARACTER * taken[0].length;
      const texts = [
        isNarrow ? `dim ${d}` : `new dim ${d}`,
        target[d],
        stride[isNarrow ? 1 : 0],
        taken[isLong ? 1 : 0],
      ];
      return box(places.fresh[d], TOP.fresh, kind, texts, part);
    });
    fill(freshRow, ...boxes);
  }

  /** A box at its place, `kind` being its classes, with its four texts in a part of its width. */
  function box([left, width], top, kind, texts, [from, to] = [0, width]) {
    const padding = to - from < width ? `;padding:2px ${width - to}px 2px ${from}px` : "";
    // A motion has the transform.
    const style = `translate:${NAME + left}px ${top}px;width:${width - GAP}px${padding}`;
    const narrow = width < NARROW_DIM ? " is-narrow" : "";
    return [
      "div",
      { role: "listitem", class: `sk-dimbox ${kind}${narrow}`, style },
      ...["sk-of", "sk-size", "sk-step", "sk-taken"].map((part, k) => [
        "div",
        { class: part, text: texts[k] },
      ]),
    ];
  }

  function drawChunks({ chunks }, places) {
    const nodes = chunks.map(({ first, last, texts, kind }) => {
      const left = places[first][0];
      const width = places[last][0] + places[last][1] - left;
      const fits = (text) => 16 + SMALL_CHARACTER * text.length <= width;
      const style = `transform:translate(${NAME + left}px,${TOP.chunk}px);width:${width - GAP}px`;
      const text = texts.find(fits) ?? texts.at(-1);
      return ["div", { class: `sk-chunk ${kind}`, style }, ["span", { text }]];
    });
    fill(chunkRow, ...nodes);
  }

  function drawJoints({ boundaries }, places) {
    const widths = boundaries.flatMap(({ dim }) => [places[dim][1], places[dim + 1][1]]);
    const least = Math.min(...widths);
    const form = NARROW_JOINTS.filter((width) => least < width).length;
    show(jointUnit, form === 2);
    const nodes = boundaries.map(({ dim, kind, labels }) => {
      const x = NAME + places[dim + 1][0] - GAP / 2;
      const jointStyle = `transform:translate(${x}px,${TOP.joint}px) translateX(-50%)`;
      const seamStyle = `transform:translate(${x}px,${TOP.old}px)`;
      return [
        "div",
        {},
        ["div", { class: `sk-joint ${kind}`, text: labels[form], style: jointStyle }],
        ["div", { class: `sk-seam ${kind}`, style: seamStyle }],
      ];
    });
    fill(jointRow, ...nodes);
  }

  /**
   * The box that a step moves, and how far from its place it begins: a dim that joins its chunk, a
   * new dim that leaves it; null if nothing moves.
   * @param {View} view
   */
  function moved({ current, boundaries }) {
    const [newDim] = current.new_dims;
    if (newDim !== undefined)
      return { box: freshRow.children[newDim], start: [0, TOP.chunk - TOP.fresh] };
    const [dim] = current.dims;
    const isJoining =
      current.part === "merge" && boundaries.some((b) => b.dim === dim && !b.broken);
    return isJoining ? { box: oldRow.children[dim], start: [-JOIN, 0] } : null;
  }

  return { node, draw, moved };
}
