// Texts that a person types: the shape and the stride of x, and the shape to view it as, in any
// usual way of writing.

/** @import { Layout } from "../page/layout.js" */
/** @import { View } from "./steps.js" */

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

const MOST_NEW_DIMS = 8;
const MOST_QUOTED = 60; // characters of a text that cannot be read

/**
 * A value and "", or null and the reason why there is none.
 * @template Value
 * @typedef {[Value, ""] | [null, string]} Reading
 */

/**
 * The three fields, and why the last text was refused. `onLayout` gets another x, `onTarget`
 * another shape to view it as.
 * @param {string} id
 * @param {{onLayout: (layout: Layout) => void, onTarget: (target: number[]) => void}} options
 */
export function createFields(id, { onLayout, onTarget }) {
  /** @type {View} */
  let view;
  let drawn = "";
  const why = h("p", { class: "sk-why", id: `${id}-why`, role: "alert" });
  const fields = [
    createField("shape", "x has shape", () => view.layout.shape, readShape, onLayout),
    createField("stride", "stride", () => view.layout.stride, readStride, onLayout),
    createField("target", "view it as", () => view.target, readTarget, onTarget),
  ];
  const node = h("div", { class: "sk-typed" }, ...fields.map((field) => field.node));

  /**
   * A field for the numbers that `current()` returns; `onRead` gets a value of `read` that differs
   * from them.
   */
  function createField(name, label, current, read, onRead) {
    const input = h("input", {
      class: "sk-input",
      id: `${id}-${name}`,
      spellcheck: "false",
      autocomplete: "off",
      placeholder: "()",
      "aria-describedby": `${id}-why`,
      onchange: take,
      onkeydown({ key }) {
        if (key === "Enter") take();
      },
    });

    const isCurrent = (numbers) => String(numbers) === String(current());

    // Enter and leaving the field may both come here: numbers that are there already change
    // nothing.
    function take() {
      const [value, reason] = isCurrent(readInts(input.value))
        ? [current(), ""]
        : read(input.value, view.layout);
      say(reason, input);
      if (!value) return;
      if (isCurrent(value)) write();
      else onRead(value);
    }

    function write() {
      input.value = current().join(", ");
    }

    return { node: h("span", {}, h("label", { for: input.id, text: label }), input), input, write };
  }

  function say(reason, wrongInput) {
    set(why, "text", reason);
    for (const { input } of fields)
      set(input, "aria-invalid", reason && input === wrongInput ? "true" : null);
  }

  return {
    node,
    why,
    /**
     * Put the numbers of another view into the fields; a refusal stays until then.
     * @param {View} nextView
     */
    draw(nextView) {
      view = nextView;
      const numbers = [view.layout.shape, view.layout.stride, view.target].join("|");
      if (numbers === drawn) return;
      drawn = numbers;
      say("", null);
      for (const { write } of fields) write();
    },
  };
}

// Reading -----------------------------------------------------------------------------------------

/**
 * The numbers in (4, 6), 4 6, 4x6, [4, 6] or torch.Size([4, 6]); null if there is anything else.
 */
export function readInts(text) {
  const inside = text.replace(/^\s*(?:torch\.Size)?[\s([]*/, "").replace(/[\s)\],]*$/, "");
  const words = inside === "" ? [] : inside.split(/\s*[,x×*]\s*|\s+/);
  return words.every((word) => /^-?\d+$/.test(word)) ? words.map(Number) : null;
}

/** The value that `read` returns for the numbers in a text; `example` shows how to write them. */
function readNumbers(text, example, read) {
  const numbers = readInts(text);
  if (!numbers) {
    const characters = [...text];
    const quoted = characters.slice(0, MOST_QUOTED).join("");
    const dots = characters.length > MOST_QUOTED ? "…" : "";
    return [null, `cannot read "${quoted}${dots}": write ${example}`];
  }
  if (!numbers.every(Number.isSafeInteger))
    return [null, `numbers beyond ${Number.MAX_SAFE_INTEGER} are not exact in a browser`];
  return read(numbers);
}

/** A new x of the typed shape, its elements row by row. */
export const readShape = (text, { itemsize }) =>
  readNumbers(text, "sizes, such as 4, 6", (shape) => {
    const negative = shape.find((size) => size < 0);
    if (negative !== undefined)
      return [null, `size ${negative} is negative: give sizes of 0 or more`];
    return readingOf(rowMajor(shape, itemsize));
  });

/** The same x with the typed stride. */
export const readStride = (text, layout) =>
  readNumbers(text, "steps, such as 8, 1", (stride) => {
    const ndim = layout.shape.length;
    if (stride.length !== ndim)
      return [
        null,
        `shape ${tuple(layout.shape)} has ${counted(ndim, "dim")}, stride ${tuple(stride)} is for ${stride.length}: give one step for each`,
      ];
    const dim = stride.findIndex((step) => step < 0);
    if (dim >= 0)
      return [null, `dim ${dim} has stride ${stride[dim]}: torch has no negative strides`];
    return readingOf({ ...layout, stride });
  });

/** The complete shape to view x as. */
export const readTarget = (text, layout) =>
  readNumbers(text, "sizes, such as 2, -1", (sizes) => {
    if (sizes.length > MOST_NEW_DIMS)
      return [
        null,
        `${sizes.length} new dims do not fit the picture: give at most ${MOST_NEW_DIMS}`,
      ];
    return completeShape(numel(layout), sizes);
  });

/** @returns {Reading<Layout>} */
function readingOf(layout) {
  const why = whyNotShown(layout);
  return why ? [null, why] : [layout, ""];
}

// Following ---------------------------------------------------------------------------------------

/**
 * One element in both shapes: an input for each dim of x and of y, and one for its number in order.
 * @param {{onFlat: (flat: number) => void}} options
 */
export function createFollow({ onFlat }) {
  const line = h("div", { class: "sk-follow", role: "group", "aria-label": "follow one element" });
  const sentence = h("p", { class: "sk-note sk-followed" });
  const span = (text) => ["span", { text }];

  /** An input for one of `size` numbers; `flatOf` is the element that a number leads to. */
  function numberInput(label, size, flatOf) {
    const digits = String(size - 1).length;
    return [
      "input",
      {
        type: "number",
        min: "0",
        max: String(size - 1),
        step: "1",
        class: "sk-input",
        "aria-label": label,
        style: `width:calc(${digits}ch + 32px)`, // with room for the arrows
        oninput({ currentTarget: input }) {
          if (input.value === "") return; // a digit is still to come
          input.value = Math.max(0, Math.min(Math.trunc(input.valueAsNumber), size - 1));
          onFlat(flatOf(input.valueAsNumber));
        },
      },
    ];
  }

  function indexInputs(name, shape, index) {
    const parts = shape.flatMap((size, d) => [
      span(d ? ", " : "["),
      numberInput(`index of ${name} in dim ${d}`, size, (i) => flatten(shape, index.with(d, i))),
    ]);
    if (shape.length) parts.push(span("]"));
    return ["span", { class: "sk-index" }, ["b", { text: name }], ...parts];
  }

  /** @param {View} view */
  function draw({ layout, target, flat, isDone, reason }) {
    show(line, flat !== null);
    if (flat === null) {
      set(sentence, "text", "");
      return;
    }
    const index = unflatten(layout.shape, flat);
    const newIndex = unflatten(target, flat);
    const flatInput = numberInput("number in row-major order", numel(layout), (k) => k);
    fill(
      line,
      ["span", {}, span("follow "), indexInputs("x", layout.shape, index)],
      ["span", {}, span("→ number "), flatInput, span(" in order")],
      ["span", {}, span("→ "), indexInputs("y", target, newIndex)],
    );
    const values = [...index, flat, ...newIndex].map(String);
    for (const [k, input] of line.querySelectorAll("input").entries())
      if (input.value !== values[k]) input.value = values[k];
    const names = [elementName(index, "x"), elementName(newIndex, "y")];
    const isCopied = isDone ? reason !== "" : null;
    set(sentence, "text", followed(offset(layout, index), names, flat, isCopied));
  }

  return { node: h("div", {}, line, sentence), draw };
}
