// The sliders: a size and a stride for each dim, and the offset; and the address formula under the pictures. They report what
// a hand does, and keep no state.

import { fill, h, set } from "../page/dom.js";
import { offset, range } from "../page/layout.js";
import { createSlider } from "../page/panels.js";
import { limit } from "./views.js";

/** Native sliders for every size, stride and the offset; they stop where the storage ends, and say why. */
export function createSliders(id, { onChange, onLit }) {
  const why = h("p", { class: "sk-why", id: `${id}-why` });
  const list = h("div");
  const node = h(
    "div",
    { class: "sk-sliders", role: "group", "aria-label": "the layout" },
    list,
    why,
  );
  let [rows, now] = [[], null];

  function build(ndim) {
    const dims = ["size", "stride"].flatMap((what) =>
      range(ndim).map((dim) => [what, dim, `${what}[${dim}]`, `sk-d${dim}`]),
    );
    rows = [...dims, ["storage_offset", 0, "storage_offset", "sk-offset"]].map(
      ([what, dim, text, kind]) => {
        const row = { what, dim, text };
        const slider = createSlider(`${id}-${what}-${dim}`, text, {
          "aria-describedby": `${id}-why`,
          onInput: (value) => change(row, value),
          onkeydown: (event) => atTheEnd(row, event),
          onfocus: () => what === "stride" && onLit(dim),
          onblur: () => onLit(null),
        });
        return Object.assign(row, slider, {
          line: h("div", { class: `sk-slider ${kind}`, "data-what": what }, ...slider.nodes),
        });
      },
    );
    set(list, "style", `--dims:${ndim}`);
    list.replaceChildren(...rows.map((row) => row.line));
  }

  const limitOf = ({ what, dim }) =>
    limit(now.layout, now.storageSize, now.sliderMax, what, dim, now.name);

  function change(row, wanted) {
    const [most, reason] = limitOf(row);
    const value = Math.min(wanted, most);
    row.input.value = value; // at once: the thumb never stands at an impossible layout
    const lowest = value === 0 && !row.atZero ? atZero(row) : "";
    row.atZero = value === 0;
    say(wanted > most ? reason : lowest);
    onChange(row.what, row.dim, value);
  }

  /** A key at the end of a slider moves nothing and fires no input event, so the reason is given here. */
  function atTheEnd(row, { key }) {
    const up = ["ArrowRight", "ArrowUp", "PageUp", "End"].includes(key);
    const down = ["ArrowLeft", "ArrowDown", "PageDown", "Home"].includes(key);
    const [most, reason] = limitOf(row);
    const value = row.input.valueAsNumber;
    if (up && value >= most) say(reason);
    else if (down && value <= 0) say(atZero(row));
  }

  const atZero = (row) => `${row.text} stops at 0: ${LOWEST[row.what]}`;
  const say = (text) => set(why, "text", text);

  return {
    node,
    change,
    say,
    find: (text) => rows.find((row) => row.text === text),
    draw(view) {
      now = view;
      const { layout, sliderMax } = view;
      const ndim = layout.shape.length;
      if (rows.length !== 2 * ndim + 1) build(ndim);
      for (const row of rows) {
        const { what, dim, draw } = row;
        const value =
          { size: layout.shape, stride: layout.stride }[what]?.[dim] ?? layout.storage_offset;
        const [most] = limitOf(row);
        const says = value >= most ? `${value}, the limit` : String(value);
        draw(value, String(value), {
          most,
          max: Math.max(sliderMax[what], 1),
          "aria-valuetext": says,
        });
      }
    },
  };
}

const LOWEST = {
  size: "there is nothing smaller than empty",
  stride: "torch has no negative strides",
  storage_offset: "the storage begins there",
};

export function createFormula(onLit) {
  const terms = h("div", { class: "sk-terms" });
  const sentence = h("p", { class: "sk-sentence" });
  const total = h("output", { class: "sk-total" });
  return {
    node: h("div", { class: "sk-formula" }, terms, sentence),
    draw({ layout, index, lit }, words) {
      const parts =
        index === null
          ? []
          : [
              ["storage_offset", layout.storage_offset, "offset"],
              ...index.map((i, d) => [`i${d} · stride[${d}]`, `${i} · ${layout.stride[d]}`, d]),
            ];
      set(total, "text", index === null ? "" : `= ${offset(layout, index)}`);
      fill(
        terms,
        ...parts.map(([what, numbers, term]) => [
          "button",
          {
            type: "button",
            "aria-label": `${what} = ${numbers}`,
            class: `sk-term ${term === "offset" ? "sk-offset" : `sk-d${term}`}${lit === term ? " is-lit" : ""}`,
            onpointerenter: () => onLit(term),
            onpointerleave: () => onLit(null),
            onfocus: () => onLit(term),
            onblur: () => onLit(null),
          },
          ["small", { text: what }],
          ["span", { text: String(numbers) }],
        ]),
        total,
      );
      set(sentence, "text", words);
    },
  };
}
