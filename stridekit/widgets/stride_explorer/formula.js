// The address formula under the pictures.

import { offset } from "../page/layout.js";
import { fill, h, set } from "../page/dom.js";

/** The address formula, with a button per term, and one sentence in words. */
export function createFormula(onLit) {
  const terms = h("div", { class: "sk-terms" });
  const sentence = h("p", { class: "sk-sentence" });
  const total = h("output", { class: "sk-total" });
  return {
    node: h("div", { class: "sk-formula" }, terms, sentence),
    draw({ layout, index, lit }, words) {
      const parts = index === null ? [] : [["storage_offset", layout.storage_offset, "offset"],
        ...index.map((i, d) => [`i${d} · stride[${d}]`, `${i} · ${layout.stride[d]}`, d])];
      set(total, "text", index === null ? "" : `= ${offset(layout, index)}`);
      fill(terms, ...parts.map(([what, numbers, term]) => ["button", {
        type: "button", "aria-label": `${what} = ${numbers}`,
        class: `sk-term ${term === "offset" ? "sk-offset" : `sk-d${term}`}${lit === term ? " is-lit" : ""}`,
        onpointerenter: () => onLit(term), onpointerleave: () => onLit(null), onfocus: () => onLit(term), onblur: () => onLit(null),
      }, ["small", { text: what }], ["span", { text: String(numbers) }]]), total);
      set(sentence, "text", words);
    },
  };
}
