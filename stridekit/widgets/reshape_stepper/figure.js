// Old dims above new dims on one axis: a dim of size n is log(n) wide. Boundaries stand one above the other exactly
// where the dims to their right have the same product. So a view exists if there is a boundary of y below each
// broken boundary of x, which the reader can see.

import { fill, h, show } from "../page/dom.js";
import { product, sum } from "../page/layout.js";

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
  if ([...old, ...fresh].includes(0))
    return { old: evenly(old, width), fresh: evenly(fresh, width) };
  const rows = [old, fresh].map(products);
  const points = [...new Set([1, ...rows.flat(2)])].sort((a, b) => a - b);
  const ones = new Map(points.map((p) => [p, Math.max(...rows.map((row) => onesAt(row, p)))]));
  const places = sum([...ones.values()]);
  const many = Math.max(old.length, fresh.length, 1);
  const unit = Math.min(ONE, width / 2 / Math.max(places, 1), width / many); // the others keep half of the axis
  const scale = (width - places * unit) / (Math.log(points.at(-1)) || 1);
  /** Where the sizes of 1 at a product begin, from the right. */
  const right = (p) =>
    width - Math.log(p) * scale - unit * sum(points.filter((q) => q < p).map((q) => ones.get(q)));
  const place = (row) =>
    row.reduceRight((placed, [inner, outer]) => {
      const edge = placed[0]?.[0] ?? width;
      const left = inner === outer ? edge - unit : right(outer);
      return [[left, edge - left], ...placed];
    }, []);
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
const products = (shape) =>
  shape.map((_, d) => [product(shape.slice(d + 1)), product(shape.slice(d))]);
const onesAt = (row, p) => row.filter(([inner, outer]) => inner === p && outer === p).length;
const evenly = (shape, width) =>
  shape.map((_, d) => [(d * width) / shape.length, width / shape.length]);

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
  const units = [TOP.old, TOP.fresh].map((top) => word("sk-unit", "stride", top + 36));
  const asked = word("sk-unit sk-asked", "found\nneeded", 0);
  const node = h(
    "div",
    { class: "sk-figure" },
    word("sk-name", "x", TOP.old + 15),
    word("sk-name", "y", TOP.fresh + 15),
    ...units,
    asked,
    oldRow,
    chunkRow,
    freshRow,
    jointRow,
  );

  /** A box at its place, `kind` being its classes, with its four texts in a part of its width. */
  function box([left, width], top, kind, texts, [from, to] = [0, width]) {
    const aside = to - from < width ? `;padding:2px ${width - to}px 2px ${from}px` : "";
    const style = `translate:${NAME + left}px ${top}px;width:${width - GAP}px${aside}`; // a motion has the transform
    return [
      "div",
      {
        role: "listitem",
        class: `sk-dimbox ${kind}${width < TIGHT.dim ? " is-narrow" : ""}`,
        style,
      },
      ...["sk-of", "sk-size", "sk-step", "sk-taken"].map((part, k) => [
        "div",
        { class: part, text: texts[k] },
      ]),
    ];
  }

  function draw({ layout: { shape, stride }, target, dims, fresh, chunks, boundaries }, width) {
    const { old, fresh: places } = spread(shape, target, width - NAME);
    const isNarrow = [
      stride.some((n, d) => old[d][1] < 24 + CHARACTER * `stride ${n}`.length),
      places.some(([, size]) => size < ONE - 1),
    ];
    units.forEach((unit, k) => show(unit, isNarrow[k]));
    show(oldRow, dims.length); // a 0-d tensor has no dims to list
    show(freshRow, fresh.length);
    fill(
      oldRow,
      ...dims.map(({ kind }, d) =>
        box(old[d], TOP.old, kind, [
          `dim ${d}`,
          shape[d],
          isNarrow[0] ? stride[d] : `stride ${stride[d]}`,
          "",
        ]),
      ),
    );
    const seams = boundaries.filter(({ broken }) => broken).map(({ dim }) => old[dim + 1][0]);
    fill(
      freshRow,
      ...fresh.map(({ kind, stride: own, taken }, d) => {
        const part = clearPart(places[d], seams);
        const isLong = part[1] - part[0] < GAP + CHARACTER * taken[0].length;
        const texts = [
          `${isNarrow[1] ? "" : "new "}dim ${d}`,
          target[d],
          own[Number(isNarrow[1])],
          taken[Number(isLong)],
        ];
        return box(places[d], TOP.fresh, kind, texts, part);
      }),
    );
    fill(
      chunkRow,
      ...chunks.map(({ first, last, texts, kind }) => {
        const [left, to] = [old[first][0], old[last][0] + old[last][1]];
        const style = `transform:translate(${NAME + left}px,${TOP.chunk}px);width:${to - left - GAP}px`;
        const text = texts.find((each) => 16 + LETTER * each.length <= to - left) ?? texts.at(-1);
        return ["div", { class: `sk-chunk ${kind}`, style }, ["span", { text }]];
      }),
    );
    const least = Math.min(...boundaries.flatMap(({ dim }) => [old[dim][1], old[dim + 1][1]]));
    const form = TIGHT.joint.filter((size) => least < size).length;
    show(asked, form === 2);
    fill(
      jointRow,
      ...boundaries.map(({ dim, kind, labels }) => {
        const x = NAME + old[dim + 1][0] - GAP / 2;
        return [
          "div",
          {},
          [
            "div",
            {
              class: `sk-joint ${kind}`,
              text: labels[form],
              style: `transform:translate(${x}px,${TOP.joint}px) translateX(-50%)`,
            },
          ],
          ["div", { class: `sk-seam ${kind}`, style: `transform:translate(${x}px,${TOP.old}px)` }],
        ];
      }),
    );
  }

  /** What a step moves, and how far from its place it begins: a dim that joins its chunk, a new dim that leaves it. */
  function moved({
    now: {
      part,
      dims: [dim],
      new_dims: [fresh],
    },
    boundaries,
  }) {
    if (fresh !== undefined) return [freshRow.children[fresh], [0, TOP.chunk - TOP.fresh]];
    const joins = part === "merge" && boundaries.some((each) => each.dim === dim && !each.broken);
    return joins ? [oldRow.children[dim], [-JOIN, 0]] : [];
  }

  return { node, draw, moved };
}
