// The sliders: a size and a stride for each dim, and the offset; and the address formula under the
// pictures. They report what a hand does, and keep no state.

/** @import { Field, View } from "./views.js" */

import { fill, h, set } from "../page/dom.js";
import { offset, range } from "../page/layout.js";
import { createSlider } from "../page/panels.js";
import { limit } from "./views.js";

/**
 * A slider of the layout; `isAtZero` is true once the hand has come to its lower end.
 * @typedef {object} Row
 * @property {Field} field
 * @property {number} dim
 * @property {string} text
 * @property {boolean} isAtZero
 * @property {HTMLInputElement} input
 * @property {HTMLElement} node
 * @property {ReturnType<typeof createSlider>["draw"]} draw
 */

const KEYS_UP = ["ArrowRight", "ArrowUp", "PageUp", "End"];
const KEYS_DOWN = ["ArrowLeft", "ArrowDown", "PageDown", "Home"];
const MOST_LINES = 4; // the sliders of more dims scroll
const FIXED =
  "The sliders rest, because torch has no negative strides. A copy begins with .contiguous()";
const WHY_NOT_BELOW_0 = {
  size: "there is nothing smaller than empty",
  stride: "torch has no negative strides",
  storage_offset: "the storage begins there",
};

/**
 * Native sliders for every size, stride and the offset; they stop where the storage ends, and say
 * why. `onLit` gets the dim whose stride has the focus, or null.
 * @param {string} id
 * @param {object} options
 * @param {(field: Field, dim: number, value: number) => void} options.onChange
 * @param {(dim: number | null) => void} options.onLit
 */
export function createSliders(id, { onChange, onLit }) {
  const reason = h("p", { class: "sk-why", id: `${id}-why` });
  const list = h("div");
  const node = h(
    "div",
    { class: "sk-sliders", role: "group", "aria-label": "the layout" },
    list,
    reason,
  );
  /** @type {Row[]} */
  let rows = [];
  /** @type {View} */
  let view;

  function build(ndim) {
    const dims = range(ndim);
    rows = [
      ...dims.map((dim) => createRow("size", dim, `size[${dim}]`, `sk-d${dim}`)),
      ...dims.map((dim) => createRow("stride", dim, `stride[${dim}]`, `sk-d${dim}`)),
      createRow("storage_offset", 0, "storage_offset", "sk-offset"),
    ];
    set(list, "style", `--dims:${ndim}`);
    list.classList.toggle("is-many", ndim > MOST_LINES);
    list.replaceChildren(...rows.map((row) => row.node));
  }

  /**
   * @param {Field} field
   * @returns {Row}
   */
  function createRow(field, dim, text, hue) {
    const slider = createSlider(`${id}-${field}-${dim}`, text, {
      "aria-describedby": `${id}-why`,
      onInput: (value) => change(row, value),
      onkeydown: (event) => sayAtTheEnd(row, event.key),
      onfocus() {
        if (field === "stride") onLit(dim);
      },
      onblur: () => onLit(null),
    });
    const rowNode = h("div", { class: `sk-slider ${hue}`, "data-what": field }, ...slider.nodes);
    const { input, draw } = slider;
    const row = { field, dim, text, isAtZero: false, input, draw, node: rowNode };
    return row;
  }

  const limitOf = ({ field, dim }) =>
    limit(view.layout, view.storageSize, view.sliderMax, field, dim, view.name);

  function change(row, wanted) {
    const [most, whyNotMore] = limitOf(row);
    const value = Math.min(wanted, most);
    row.input.value = String(value); // at once: the thumb never stands at an impossible layout
    const isNewAtZero = value === 0 && !row.isAtZero;
    row.isAtZero = value === 0;
    if (wanted > most) say(whyNotMore);
    else say(isNewAtZero ? whyNotLess(row) : "");
    onChange(row.field, row.dim, value);
  }

  /**
   * A key at the end of a slider moves nothing and fires no input event, so the reason is given
   * here.
   */
  function sayAtTheEnd(row, key) {
    const [most, whyNotMore] = limitOf(row);
    const value = row.input.valueAsNumber;
    if (KEYS_UP.includes(key) && value >= most) say(whyNotMore);
    else if (KEYS_DOWN.includes(key) && value <= 0) say(whyNotLess(row));
  }

  const whyNotLess = (row) => `${row.text} stops at 0: ${WHY_NOT_BELOW_0[row.field]}`;
  const say = (text) => set(reason, "text", text);

  return {
    node,
    change,
    say,
    /** @param {string} text */
    find: (text) => rows.find((row) => row.text === text),
    /** @param {View} nextView */
    draw(nextView) {
      view = nextView;
      const { layout, sliderMax } = view;
      const ndim = layout.shape.length;
      if (rows.length !== 2 * ndim + 1) build(ndim);
      const isFixed = layout.stride.some((step) => step < 0);
      if (isFixed) say(FIXED);
      else if (reason.textContent === FIXED) say("");
      for (const row of rows) {
        const value = numberIn(layout, row);
        const [most] = isFixed ? [value] : limitOf(row);
        row.draw(value, String(value), {
          most,
          min: Math.min(value, 0),
          max: Math.max(sliderMax[row.field], 1),
          disabled: isFixed ? "" : null,
          "aria-valuetext": value >= most ? `${value}, the limit` : String(value),
        });
      }
    },
  };
}

function numberIn(layout, { field, dim }) {
  if (field === "size") return layout.shape[dim];
  if (field === "stride") return layout.stride[dim];
  return layout.storage_offset;
}

/**
 * The address formula with the numbers of an index. `onLit` gets the term under the pointer or with
 * the focus: a dim, "offset" or null.
 * @param {(term: number | "offset" | null) => void} onLit
 */
export function createFormula(onLit) {
  const terms = h("div", { class: "sk-terms" });
  const sentence = h("p", { class: "sk-sentence" });
  const total = h("output", { class: "sk-total" });

  function termNode(term, symbols, numbers, isLit) {
    const hue = term === "offset" ? "sk-offset" : `sk-d${term}`;
    return [
      "button",
      {
        type: "button",
        "aria-label": `${symbols} = ${numbers}`,
        class: `sk-term ${hue}${isLit ? " is-lit" : ""}`,
        onpointerenter: () => onLit(term),
        onpointerleave: () => onLit(null),
        onfocus: () => onLit(term),
        onblur: () => onLit(null),
      },
      ["small", { text: symbols }],
      ["span", { text: String(numbers) }],
    ];
  }

  function termsOf({ layout, index, lit }) {
    const { stride, storage_offset } = layout;
    return [
      termNode("offset", "storage_offset", storage_offset, lit === "offset"),
      ...index.map((i, d) => termNode(d, `i${d} · stride[${d}]`, `${i} · ${stride[d]}`, lit === d)),
    ];
  }

  return {
    node: h("div", { class: "sk-formula" }, sentence, terms),
    /**
     * @param {View} view
     * @param {string} words
     */
    draw(view, words) {
      const { layout, index } = view;
      set(total, "text", index === null ? "" : `= ${offset(layout, index)}`);
      fill(terms, ...(index === null ? [] : termsOf(view)), total);
      set(sentence, "text", words);
    },
  };
}
