// The address formula under the pictures.

import { offset } from "../page/layout.js";
import { h, pool, set } from "../page/dom.js";

/** The address formula, with a button per term, and one sentence in words. */
export function createFormula(onLit) {
  const terms = h("div", { class: "sk-terms" });
  const sentence = h("p", { class: "sk-sentence" });
  const node = h("div", { class: "sk-formula" }, terms, sentence);
  const make = pool(terms, () => {
    const [small, big] = [h("small"), h("span")];
    const button = h("button", {
      type: "button",
      onpointerenter: () => onLit(button.term), onpointerleave: () => onLit(null),
      onfocus: () => onLit(button.term), onblur: () => onLit(null),
    }, small, big);
    return Object.assign(button, { small, big });
  });
  const total = h("output", { class: "sk-total" });
  return {
    node,
    draw({ layout, index, lit }, words) {
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
    },
  };
}
