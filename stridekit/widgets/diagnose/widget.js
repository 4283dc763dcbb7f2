// Diagnose: a box for a message, with its explanation below.

import { fill, h, set } from "../page/dom.js";
import { terms } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { ASK, code, diagnose, KNOWN, MOST } from "./diagnose.js";

/** @import { State } from "./diagnose.js" */

const HOW = "With its traceback or without; of several messages the last one counts.";

export function render(view) {
  const shell = createShell(view, { label: "diagnosis", kind: "sk-paste", draw, code });
  const id = `${shell.id}-text`;
  let pasted = 0; // the characters that were in the box before it was cut
  const box = h("textarea", {
    id,
    class: "sk-input",
    rows: "3",
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": `${id}-how`,
    oninput() {
      // A browser may tell of one paste twice: the second time the box is cut already.
      if (box.value !== shell.state().text) pasted = box.value.length;
      // The end of a text tells what was raised. Half of a letter could not be sent.
      shell.put({ text: box.value.slice(-MOST).toWellFormed() });
    },
    // JupyterLab would keep Enter from breaking a line.
    onbeforeinput: (event) => event.stopImmediatePropagation(),
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
    /** @type {State} */
    const { text } = shell.state();
    if (box.value !== text) box.value = text;
    const length = pasted > MOST && text.length === MOST ? pasted : 0;
    const [heading, lines] = text.trim() ? diagnose(text, { length }) : ["", [["known", KNOWN]]];
    set(title, "text", heading);
    fill(list, ...terms(lines));
    const meaning = lines.find(([label]) => label === "means");
    shell.speak(meaning ? `${heading}: ${meaning[1]}` : heading);
  }

  return shell.open(
    head,
    box,
    h("p", { class: "sk-note", id: `${id}-how`, text: HOW }),
    title,
    list,
  );
}
