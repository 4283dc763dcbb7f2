// Diagnose: a message is pasted into a box, and what it means stands below.
// The state is {text} in the model.

import { fill, h, set } from "../page/dom.js";
import { terms } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { ASK, code, diagnose, KNOWN, MOST } from "./diagnose.js";

const HOW = "With its traceback or without; of several messages the last one counts.";

export function render(view) {
  const shell = createShell(view, { label: "diagnosis", kind: "sk-paste", draw, code });
  const id = `${shell.id}-text`;
  const box = h("textarea", {
    id,
    class: "sk-input",
    rows: "3",
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": `${id}-how`,
    // Keep the end of what was typed or pasted.
    oninput: () => shell.put({ text: box.value.slice(-MOST).toWellFormed() }),
    onbeforeinput: (event) => event.stopImmediatePropagation(), // or JupyterLab keeps Enter from breaking a line
  });
  const head = h(
    "div",
    {},
    h("span", { class: "sk-kicker", text: "diagnose" }),
    h("label", { for: id, text: ASK }),
  );
  const title = h("p", { class: "sk-title" });
  const list = h("dl");

  function draw() {
    const { text } = shell.state();
    if (box.value !== text) box.value = text;
    const line = text.split(/\s+/).filter(Boolean).join(" ");
    const [heading, lines] = line ? diagnose(line) : ["", [["known", KNOWN]]];
    set(title, "text", heading);
    fill(list, ...terms(lines));
    const means = lines.find(([label]) => label === "means");
    shell.speak(means ? `${heading}: ${means[1]}` : heading);
  }

  return shell.open(
    head,
    box,
    h("p", { class: "sk-note", id: `${id}-how`, text: HOW }),
    title,
    list,
  );
}
