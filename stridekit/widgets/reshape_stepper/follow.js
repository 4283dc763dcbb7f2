// One element in both shapes: an input for each dim of x and of y, and one for its number in order.

import { elementName, flatten, numel, offset, unflatten } from "../page/layout.js";
import { h, set, show } from "../page/dom.js";
import { followed } from "./steps.js";

export function createFollow(id, { onFlat }) {
  const line = h("div", { class: "sk-follow", role: "group", "aria-label": "follow one element" });
  const words = h("p", { class: "sk-note sk-followed" });
  const node = h("div", {}, line, words);
  let built = "";
  let inputs = [];

  const number = (label, read) => h("input", {
    type: "number", min: "0", step: "1", class: "sk-input", "aria-label": label,
    oninput({ currentTarget: at }) {
      if (at.value === "") return; // a digit is still to come
      at.value = Math.max(0, Math.min(Math.trunc(at.valueAsNumber), Number(at.max)));
      onFlat(read());
    },
  });

  function indexOf(name, shape) {
    const read = () => flatten(shape, made.map((at) => at.valueAsNumber || 0));
    const made = shape.map((_, d) => number(`index of ${name} in dim ${d}`, read));
    const parts = made.flatMap((at, d) => (d ? [", ", at] : [at]));
    return [made, h("span", { class: "sk-index" }, h("b", { text: name }), ...(made.length ? ["[", ...parts, "]"] : []))];
  }

  function build(shape, target) {
    const [[old, oldNode], [fresh, freshNode]] = [indexOf("x", shape), indexOf("y", target)];
    const order = number("number in row-major order", () => order.valueAsNumber);
    inputs = [...old, order, ...fresh];
    const parts = [["follow ", oldNode], ["→ number ", order, " in order"], ["→ ", freshNode]];
    line.replaceChildren(...parts.map((part) => h("span", {}, ...part)));
  }

  const put = (at, value, size) => {
    const most = String(size - 1);
    set(at, "max", most);
    set(at, "style", `width:calc(${most.length}ch + 32px)`); // with room for the arrows
    if (at.value !== String(value)) at.value = value;
  };

  return {
    node,
    draw({ layout, target, flat, done, reason }) {
      const now = `${layout.shape}|${target}`;
      if (now !== built) build(layout.shape, target);
      built = now;
      show(line, flat !== null);
      if (flat === null) return set(words, "text", "");
      const [index, newIndex] = [unflatten(layout.shape, flat), unflatten(target, flat)];
      const sizes = [...layout.shape, numel(layout), ...target];
      [...index, flat, ...newIndex].forEach((value, k) => put(inputs[k], value, sizes[k]));
      const names = [elementName(index, "x"), elementName(newIndex, "y")];
      return set(words, "text", followed(offset(layout, index), names, flat, done ? reason !== "" : null));
    },
  };
}
