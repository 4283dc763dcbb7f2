// The parts of AttentionExplorer: what can be chosen, a box for each step, and the memory that it leaves.

import { MOST, arrowText, cells, labels, order } from "./flow.js";
import { range, tuple } from "../page/layout.js";
import { h, pool, set } from "../page/dom.js";
import { createSlider } from "../page/panels.js";
import { createStrip } from "../page/strip.js";

const SIZES = [["batch", 1, MOST.batch, 1], ["tokens", 1, MOST.tokens, 1], ["heads", 1, MOST.heads, 1], ["dim", 2, 4, 2]];
const NARROWEST = 14; // a box and its gap, under a mouse
const TOUCHED = 20; // and where boxes stand below one another, as on a phone
const WIDEST = 34;
const GAP = 1;
const KEYS = { qkv: "qb is q of head 1", attention: "; b2: head 1, token 2" };

/** A native slider for each size. */
export function createSizes(id, onChange) {
  const sliders = SIZES.map(([name, min, max, step]) =>
    createSlider(`${id}-${name}`, name, { min, max, step, onInput: (size) => onChange({ [name]: size }) }));
  return {
    node: h("div", { class: "sk-sizes", role: "group", "aria-label": "sizes" },
      ...sliders.map(({ nodes }) => h("div", { class: "sk-slider" }, ...nodes))),
    draw: (s) => sliders.forEach((slider, k) => slider.draw(s[SIZES[k][0]])),
  };
}

/** The box of one or more steps on one memory: how each is reached, its tensors and its code. */
export function createStep(isFirst) {
  const name = h("strong");
  const arrows = h("span", { class: "sk-arrows" });
  const arrow = pool(arrows, () => h("span"));
  const tensors = h("ul", { class: "sk-tensors" });
  const tensor = pool(tensors, () => {
    const [name, shape, stride] = [h("b"), h("span"), h("span")];
    return Object.assign(h("li", {}, name, shape, stride), { parts: [name, shape, stride] });
  });
  const note = h("p", { class: "sk-note" });
  const code = h("code");
  const node = h("div", { class: "sk-step" },
    h("div", { class: "sk-stephead" }, isFirst ? "" : h("span", { text: "→ ", "aria-hidden": "true" }), name, arrows),
    tensors, note, code);
  return {
    node,
    draw(step) {
      set(name, "text", step.name);
      arrow(step.arrows.length).forEach((chip, k) => {
        set(chip, "text", arrowText(step.arrows[k]));
        set(chip, "data-word", step.arrows[k].word);
      });
      const found = Object.entries(step.tensors);
      tensor(found.length).forEach(({ parts }, k) => {
        const [called, { shape, stride, storage_offset: start }] = found[k];
        set(parts[0], "text", called);
        set(parts[1], "text", tuple(shape));
        set(parts[2], "text", `stride ${tuple(stride)}${step.name === "heads" ? ` offset ${start}` : ""}`);
      });
      set(note, "text", step.note);
      set(code, "text", step.code.join("\n"));
    },
  };
}

const rowsOf = (many) => (many === 1 ? "a row is a token" : `${many} rows are a token`);

/** The name of an element in its tensor: y has its heads merged. */
const nameOf = ([part, b, h, t, d], dim) =>
  `${part}[${(part === "y" ? [b, t, h * dim + d] : [b, h, t, d]).join(", ")}]`;

/** A memory: its elements in boxes, in rows as long as a token's. `memory` is its name in flow.js. */
export function createMemory(id, memory, title, hand) {
  let boxes = [];
  const strip = createStrip(`${id}-${memory}`, { label: title, gap: GAP, narrowest: NARROWEST, of: (k) => boxes[k].element, ...hand });
  const says = h("p", { class: "sk-order" });
  return {
    node: h("div", { class: "sk-memory" }, strip.node), says,
    layOut(parts, s, width, isStacked) {
      const all = cells(parts);
      const row = all.length / (s.batch * s.tokens);
      for (const part of [strip.node, says]) set(part, "hidden", all.length ? null : "");
      if (!all.length) {
        boxes = [];
        return strip.layOut(0, 1, width);
      }
      const least = isStacked ? TOUCHED : NARROWEST;
      const perRow = range(row).map((k) => k + 1).findLast((k) => row % k === 0 && k <= Math.max(width / least, 1));
      const rows = all.length / perRow;
      const height = isStacked ? 22 : rows <= 4 ? 18 : rows <= 6 ? 14 : 12;
      strip.layOut(all.length, perRow, Math.min(width, perRow * WIDEST), { rows: [rows / s.batch, 5], height });
      boxes = range(rows).flatMap((r) => {
        const here = all.slice(r * perRow, (r + 1) * perRow);
        return labels(memory, here).map((text, k) => ({
          text, element: here[k], says: `${nameOf(here[k], s.dim)}: element ${r * perRow + k}`, key: String(here[k]),
        }));
      });
      set(strip.node, "data-fit", strip.boxWidth() >= 17 ? "11" : "9");
      const [name, x] = Object.entries(parts)[0];
      set(says, "text", memory === "qkv" ? `${rowsOf(row / perRow)}; ${KEYS.qkv}` : `${name}, ${order(x)}${KEYS[memory] ?? ""}`);
    },
    /** `view` is {spot, isLit}: the element that is pointed at, and whether it goes into another. */
    draw({ spot, selected, isLit }) {
      strip.draw((k) => {
        const { text, element, says: said, key } = boxes[k];
        const kind = key === spot ? " is-here" : isLit(element) ? " is-lit" : "";
        return { text, says: said, kind: `sk-r${element[2]}${kind}` };
      }, boxes.findIndex(({ key }) => key === selected));
    },
  };
}

/** The element of q, k or v that stands for one of any memory. */
export const sourceOf = ([part, ...index]) => [part === "out" || part === "y" ? "q" : part, ...index];

