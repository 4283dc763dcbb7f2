// Diagnose: a message is pasted into a box, and what it means stands below.
//
// The state is {text} in the model.

import { h, pool, set } from "../page/dom.js";
import { createShell } from "../page/shell.js";
import { ASK, code, diagnose, KNOWN, MOST } from "./diagnose.js";

const HOW = "With its traceback or without; of several messages the last one counts.";

function render({ model, el }) {
  const shell = createShell({ model, el }, {
    label: "diagnosis", kind: "sk-paste", traits: ["_state"], draw,
    code: () => code(model.get("_state")),
  });
  const text = () => model.get("_state").text;
  const id = `${shell.id}-text`;
  const box = h("textarea", {
    id, class: "sk-input", rows: "3", spellcheck: "false", autocomplete: "off", "aria-describedby": `${id}-how`, oninput: take,
    onbeforeinput: (event) => event.stopImmediatePropagation(), // or JupyterLab keeps Enter from breaking a line
  });
  const head = h("div", {}, h("span", { class: "sk-kicker", text: "diagnose" }), h("label", { for: id, text: ASK }));
  const title = h("p", { class: "sk-title" });
  const list = h("dl");
  const rows = pool(list, () => {
    const parts = [h("dt"), h("dd")];
    return Object.assign(h("div", {}, ...parts), { parts });
  });

  function draw() {
    if (box.value !== text()) box.value = text();
    const line = text().split(/\s+/).filter(Boolean).join(" ");
    const [heading, lines] = line ? diagnose(line) : ["", [["known", KNOWN]]];
    set(title, "text", heading);
    rows(lines.length).forEach(({ parts }, k) => parts.forEach((part, side) => set(part, "text", lines[k][side])));
    const means = lines.find(([label]) => label === "means");
    shell.speak(means ? `${heading}: ${means[1]}` : heading);
  }

  /** Keep the end of what was typed or pasted. */
  function take() {
    shell.change({ ...model.get("_state"), text: box.value.slice(-MOST).toWellFormed() });
  }

  return shell.open(head, box, h("p", { class: "sk-note", id: `${id}-how`, text: HOW }), title, list);
}

export default { render };
