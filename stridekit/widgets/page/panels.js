// The panels around the pictures: presets, sliders, formula, verdicts, code, and what is read aloud.

import { limit, offset } from "./core.js";
import { OWN_KEYS, h, pool, set } from "./dom.js";

/** A row of chips, one a preset; the one on screen is pressed. */
export function createPresets(onPick) {
  const node = h("div", { class: "sk-presets", role: "group", "aria-label": "layouts to start from" });
  const chips = pool(node, () =>
    h("button", { type: "button", ...OWN_KEYS, onclick: (event) => onPick(event.currentTarget.preset) }),
  );
  const same = (a, b) =>
    String(a.shape) === String(b.shape) && String(a.stride) === String(b.stride) &&
    a.storage_offset === b.storage_offset;
  return {
    node,
    /** @returns the preset that is on screen, if any; none where the layout is null */
    draw(presets, layout) {
      const current = layout ? presets.find((preset) => same(preset.layout, layout)) : undefined;
      chips(presets.length).forEach((chip, k) => {
        chip.preset = presets[k];
        set(chip, "text", presets[k].name);
        set(chip, "title", presets[k].expression);
        set(chip, "aria-pressed", String(presets[k] === current));
      });
      return current;
    },
  };
}

/** Native sliders for every size, stride and the offset; they stop where the storage ends, and say why. */
export function createSliders(id, { onChange, onLit }) {
  const node = h("div", { class: "sk-sliders", role: "group", "aria-label": "the layout" });
  const why = h("p", { class: "sk-why", id: `${id}-why` });
  const list = h("div");
  node.append(list, why);
  let rows = [];
  let now = null;

  function build(ndim) {
    const wanted = ["size", "stride"].flatMap((what) =>
      Array.from({ length: ndim }, (_, dim) => ({ what, dim, kind: `sk-d${dim}` })),
    );
    wanted.push({ what: "storage_offset", dim: 0, kind: "sk-offset" });
    rows = wanted.map(({ what, dim, kind }) => {
      const text = what === "storage_offset" ? what : `${what}[${dim}]`;
      const row = { what, dim, text };
      const at = `${id}-${what}-${dim}`;
      row.input = h("input", {
        type: "range", id: at, min: "0", step: "1", ...OWN_KEYS, "aria-describedby": `${id}-why`,
        oninput: () => change(row, row.input.valueAsNumber),
        onkeydown: (event) => atTheEnd(row, event),
        onfocus: () => what === "stride" && onLit(dim),
        onblur: () => onLit(null),
      });
      row.output = h("output", { for: at });
      const label = h("label", { for: at, text });
      row.line = h("div", { class: `sk-slider ${kind}` }, label, row.input, row.output);
      return row;
    });
    list.replaceChildren(...rows.map((row) => row.line));
  }

  function change(row, wanted) {
    const [most, reason] = limit(now.layout, now.storageSize, now.sliderMax, row.what, row.dim, now.name);
    const value = Math.min(wanted, most);
    row.input.value = value; // at once: the thumb never stands where the layout cannot be
    const lowest = value === 0 && !row.atZero ? atZero(row) : "";
    row.atZero = value === 0;
    say(wanted > most ? reason : lowest);
    onChange(row.what, row.dim, value);
  }

  /** A key that would pass an end moves nothing, so no input event tells: the reason is said here. */
  function atTheEnd(row, { key }) {
    const up = ["ArrowRight", "ArrowUp", "PageUp", "End"].includes(key);
    const down = ["ArrowLeft", "ArrowDown", "PageDown", "Home"].includes(key);
    const [most, reason] = limit(now.layout, now.storageSize, now.sliderMax, row.what, row.dim, now.name);
    const value = row.input.valueAsNumber;
    if (up && value >= most) say(reason);
    else if (down && value <= 0) say(atZero(row));
  }

  const atZero = (row) => `${row.text} stops at 0: ${LOWEST[row.what]}`;
  const say = (text) => set(why, "text", text);

  return {
    node, change, say,
    find: (text) => rows.find((row) => row.text === text),
    draw(view) {
      now = view;
      const { layout, storageSize, sliderMax } = view;
      const ndim = layout.shape.length;
      if (rows.length !== 2 * ndim + 1) build(ndim);
      for (const { what, dim, input, output } of rows) {
        const value = { size: layout.shape, stride: layout.stride }[what]?.[dim] ?? layout.storage_offset;
        const [most] = limit(layout, storageSize, sliderMax, what, dim);
        const end = Math.max(sliderMax[what], 1);
        set(input, "max", String(end));
        if (input.valueAsNumber !== value) input.value = value;
        set(input, "aria-valuetext", value >= most ? `${value}, the limit` : String(value));
        set(input, "style", `--at:${value / end};--to:${most < end ? most / end : 2}`);
        set(output, "text", String(value));
      }
    },
  };
}

const LOWEST = {
  size: "there is nothing smaller than empty",
  stride: "torch has no negative strides",
  storage_offset: "the storage begins there",
};

/** The address formula, a button a term, and one sentence in words. */
export function createFormula(onLit) {
  const terms = h("div", { class: "sk-terms" });
  const sentence = h("p", { class: "sk-sentence" });
  const node = h("div", { class: "sk-formula" }, terms, sentence);
  const make = pool(terms, () => {
    const [small, big] = [h("small"), h("span")];
    const button = h("button", {
      type: "button", ...OWN_KEYS,
      onpointerenter: () => onLit(button.term), onpointerleave: () => onLit(null),
      onfocus: () => onLit(button.term), onblur: () => onLit(null),
    }, small, big);
    return Object.assign(button, { small, big });
  });
  const total = h("output", { class: "sk-total" });
  return {
    node,
    draw({ layout, index, lit, spot }, words) {
      const shown = index === null ? [] : index;
      const parts = [["storage_offset", layout.storage_offset, "offset"],
        ...shown.map((i, d) => [`i${d} · stride[${d}]`, `${i} · ${layout.stride[d]}`, d])];
      make(index === null ? 0 : parts.length).forEach((button, k) => {
        const [what, numbers, term] = parts[k];
        button.term = term;
        set(button.small, "text", what);
        set(button.big, "text", String(numbers));
        const hue = term === "offset" ? "sk-offset" : `sk-d${term}`;
        set(button, "class", `sk-term ${hue}${lit === term ? " is-lit" : ""}`);
        set(button, "aria-label", `${what} = ${numbers}`);
      });
      if (terms.lastChild !== total) terms.append(total);
      set(total, "text", index === null ? "" : `= ${offset(layout, index)}`);
      set(sentence, "text", words);
      set(node, "data-none", spot.flat === null ? "true" : null);
    },
  };
}

const SIGNS = new Map([[true, "✓"], [false, "✗"], [null, "·"]]);

/** The verdicts, each with a sign as well as a colour. */
export function createVerdicts() {
  const node = h("ul", { class: "sk-verdicts" });
  const items = pool(node, () => h("li"));
  return {
    node,
    draw: (verdicts) =>
      items(verdicts.length).forEach((item, k) => {
        const [good, text] = verdicts[k];
        set(item, "text", `${SIGNS.get(good)} ${text}`);
        set(item, "data-good", String(good));
      }),
  };
}

/** The code that reproduces the picture, ready to copy, and what a preset would call it. */
export function createCode() {
  const code = h("code");
  const also = h("code", { class: "sk-also" });
  const button = h("button", { type: "button", text: "copy", ...OWN_KEYS, "aria-label": "copy the code",
    onclick: copy });
  const node = h("div", { class: "sk-code" }, h("div", {}, code, also), button);

  async function copy() {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code); // no clipboard here: one key is left to press
      button.textContent = "press Ctrl+C";
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  }

  return {
    node,
    draw(text, preset) {
      set(code, "text", text);
      set(also, "text", preset && preset.expression !== text ? `# the same as ${preset.expression}` : "");
    },
  };
}
