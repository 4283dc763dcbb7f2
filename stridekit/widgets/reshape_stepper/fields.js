// What a person types: the shape and the stride of x, and the shape to view it as, in any usual way of writing.

import { fill, h, set, show } from "../page/dom.js";
import {
  completeShape,
  counted,
  elementName,
  flatten,
  numel,
  offset,
  rowMajor,
  tuple,
  unflatten,
} from "../page/layout.js";
import { followed, whyNotShown } from "./steps.js";

const [MOST_NEW_DIMS, MOST_SAID] = [8, 60];

/** The three fields, and why the last text was refused. `onLayout` gets another x, `onTarget` another shape to view it as. */
export function createFields(id, { onLayout, onTarget }) {
  let [view, drawn] = [null, ""];
  const why = h("p", { class: "sk-why", id: `${id}-why`, role: "alert" });
  const fields = [
    field("shape", "x has shape", () => view.layout.shape, readShape, onLayout),
    field("stride", "stride", () => view.layout.stride, readStride, onLayout),
    field("target", "view it as", () => view.target, readTarget, onTarget),
  ];
  const node = h("div", { class: "sk-typed" }, ...fields.map((each) => each.node));

  function field(name, label, now, read, onRead) {
    const input = h("input", {
      class: "sk-input",
      id: `${id}-${name}`,
      spellcheck: "false",
      autocomplete: "off",
      placeholder: "()",
      "aria-describedby": `${id}-why`,
      onchange: typed,
      onkeydown: ({ key }) => key === "Enter" && typed(),
    });

    // Enter and leaving the field may both come here: numbers that are there already change nothing.
    function typed() {
      const isThere = (numbers) => String(numbers) === String(now());
      const [value, reason] = isThere(readInts(input.value))
        ? [now(), ""]
        : read(input.value, view.layout);
      say(reason, input);
      if (value && isThere(value)) show();
      else if (value) onRead(value);
    }

    const show = () => (input.value = now().join(", "));
    return { node: h("span", {}, h("label", { for: input.id, text: label }), input), input, show };
  }

  function say(reason, wrong) {
    set(why, "text", reason);
    for (const { input } of fields)
      set(input, "aria-invalid", reason && input === wrong ? "true" : null);
  }

  return {
    node,
    why,
    /** Put the numbers of another view into the fields; a refusal stays until then. */
    draw(next) {
      view = next;
      const now = [view.layout.shape, view.layout.stride, view.target].join("|");
      if (now === drawn) return;
      drawn = now;
      say("", null);
      for (const { show } of fields) show();
    },
  };
}

/** The numbers in (4, 6), 4 6, 4x6, [4, 6] or torch.Size([4, 6]); null if there is anything else. */
export function readInts(text) {
  const inside = /^\s*(?:torch\.Size)?[\s([]*(.*?)[\s)\],]*$/s.exec(text)[1];
  const words = inside === "" ? [] : inside.split(/\s*[,x×*]\s*|\s+/);
  return words.every((word) => /^-?\d+$/.test(word)) ? words.map(Number) : null;
}

/** What `read` makes of the numbers in a text: [value, ""] or [null, why not]. `like` is an example of them. */
function numbersIn(text, like, read) {
  const numbers = readInts(text);
  const begin = [...text].slice(0, MOST_SAID).join("");
  if (!numbers) return [null, `cannot read "${begin}${begin === text ? "" : "…"}": write ${like}`];
  if (numbers.every(Number.isSafeInteger)) return read(numbers);
  return [null, `numbers beyond ${Number.MAX_SAFE_INTEGER} are not exact in a browser`];
}

/** A new x of the typed shape, its elements row by row: [layout, ""] or [null, why not]. */
export const readShape = (text, { itemsize }) =>
  numbersIn(text, "sizes, such as 4, 6", (shape) => {
    const negative = shape.find((size) => size < 0);
    if (negative !== undefined)
      return [null, `size ${negative} is negative: give sizes of 0 or more`];
    return shown(rowMajor(shape, itemsize));
  });

export const readStride = (text, layout) =>
  numbersIn(text, "steps, such as 8, 1", (stride) => {
    const dims = layout.shape.length;
    if (stride.length !== dims)
      return [
        null,
        `shape ${tuple(layout.shape)} has ${counted(dims, "dim")}, stride ${tuple(stride)} is for ${stride.length}: give one step for each`,
      ];
    const dim = stride.findIndex((step) => step < 0);
    if (dim >= 0)
      return [null, `dim ${dim} has stride ${stride[dim]}: torch has no negative strides`];
    return shown({ ...layout, stride });
  });

export const readTarget = (text, layout) =>
  numbersIn(text, "sizes, such as 2, -1", (sizes) =>
    sizes.length > MOST_NEW_DIMS
      ? [null, `${sizes.length} new dims do not fit the picture: give at most ${MOST_NEW_DIMS}`]
      : completeShape(numel(layout), sizes),
  );

const shown = (layout) => {
  const why = whyNotShown(layout);
  return why ? [null, why] : [layout, ""];
};

// One element in both shapes: an input for each dim of x and of y, and one for its number in order.
export function createFollow({ onFlat }) {
  const line = h("div", { class: "sk-follow", role: "group", "aria-label": "follow one element" });
  const words = h("p", { class: "sk-note sk-followed" });
  const text = (words) => ["span", { text: words }];

  /** An input for one of so many; `flatOf` is what it then leads to. */
  const number = (label, size, flatOf) => [
    "input",
    {
      type: "number",
      min: "0",
      max: String(size - 1),
      step: "1",
      class: "sk-input",
      "aria-label": label,
      style: `width:calc(${String(size - 1).length}ch + 32px)`, // with room for the arrows
      oninput({ currentTarget: at }) {
        if (at.value === "") return; // a digit is still to come
        at.value = Math.max(0, Math.min(Math.trunc(at.valueAsNumber), size - 1));
        onFlat(flatOf(at.valueAsNumber));
      },
    },
  ];

  function indexOf(name, shape, index) {
    const inputs = shape.map((size, d) =>
      number(`index of ${name} in dim ${d}`, size, (i) => flatten(shape, index.with(d, i))),
    );
    const parts = inputs.flatMap((input, d) => [text(d ? ", " : "["), input]);
    return [
      "span",
      { class: "sk-index" },
      ["b", { text: name }],
      ...parts,
      ...(shape.length ? [text("]")] : []),
    ];
  }

  return {
    node: h("div", {}, line, words),
    draw({ layout, target, flat, done, reason }) {
      show(line, flat !== null);
      if (flat === null) return set(words, "text", "");
      const [index, newIndex] = [unflatten(layout.shape, flat), unflatten(target, flat)];
      fill(
        line,
        ["span", {}, text("follow "), indexOf("x", layout.shape, index)],
        [
          "span",
          {},
          text("→ number "),
          number("number in row-major order", numel(layout), (k) => k),
          text(" in order"),
        ],
        ["span", {}, text("→ "), indexOf("y", target, newIndex)],
      );
      const values = [...index, flat, ...newIndex].map(String);
      line
        .querySelectorAll("input")
        .forEach((input, k) => input.value === values[k] || (input.value = values[k]));
      const names = [elementName(index, "x"), elementName(newIndex, "y")];
      return set(
        words,
        "text",
        followed(offset(layout, index), names, flat, done ? reason !== "" : null),
      );
    },
  };
}
