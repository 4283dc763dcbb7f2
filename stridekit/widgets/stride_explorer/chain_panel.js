// The pane of the chain: a line to type or pick the next operation, and below it the stages from
// the start to now.

/** @import { Stage } from "./chain.js" */

import { fill, h, set, show } from "../page/dom.js";
import { tried, tuple } from "../page/layout.js";
import { createLine } from "../page/panels.js";
import { endOf, memoryOf, onward, suggestions } from "./chain.js";

const MOST_PICKS = 8; // buttons; the input's list has every suggestion
const LEFT_OF_PICKS = 372; // px of the line's label, input and button
const FIELDS = ["shape", "stride", "storage_offset"];

/**
 * `onSteps(texts)` gets the new steps of the chain on the tensor called `name()`.
 * @param {string} id
 * @param {{onSteps: (texts: string[]) => void, name?: () => string}} options
 */
export function createChain(id, { onSteps, name = () => "x" }) {
  const list = h("datalist", { id: `${id}-steps` });
  const { input, nodes } = createLine(`${id}-step`, "then", "apply", take, {
    list: list.id,
    placeholder: ".permute(1, 0)",
    "aria-describedby": `${id}-outcome`,
  });
  const picks = h("div", {
    class: "sk-picks",
    role: "group",
    "aria-label": "operations that exist here",
  });
  const line = h("div", { class: "sk-nextstep" }, ...nodes, list, picks);
  const steps = h("ol", { class: "sk-steps", "aria-label": "the chain of operations" });
  const outcome = h("p", { role: "status", id: `${id}-outcome` });
  const node = h(
    "div",
    { class: "sk-chain", role: "group", "aria-label": "chain of operations" },
    line,
    steps,
    outcome,
  );

  /** @type {Stage[]} */
  let stages = [];
  let drawn = "";
  let stagesInView = 0; // how many there were when the current one was last scrolled into view
  say("");

  const texts = () => stages.slice(1).map((stage) => stage.text);

  /**
   * Take the typed steps, one or several; if refused, they stay in the input with the reason under
   * it.
   */
  function take(text) {
    const [taken, why] = tried(() => onward(endOf(stages), [text], name()));
    if (!taken) {
      say(why, true);
      return;
    }
    const newStages = taken.slice(1);
    input.value = "";
    onSteps([...texts(), ...newStages.map((stage) => stage.text)]);
    say(newStages.map((stage, k) => effectOf(stage, taken[k])).join(" "));
    if (document.activeElement === document.body) input.focus(); // the pressed button is gone
  }

  /**
   * Write out why a step was refused; what a step did is seen in its stage, and only said aloud.
   */
  function say(text, isRefused = false) {
    set(outcome, "text", text);
    set(outcome, "class", isRefused ? "sk-outcome is-refused" : "sk-outcome sk-spoken");
    set(input, "aria-invalid", isRefused ? "true" : null);
  }

  /** The item of a stage, whose button leads back to it. */
  function itemOf(stage, k) {
    const before = k > 0 ? stages[k - 1] : null;
    const memory = before ? memoryOf(stage, before) : "";
    const numbers = FIELDS.map((field) => `${field} ${numberIn(stage, field)}`).join(", ");
    const description = `${stage.text}: ${numbers}${memory && `, ${memory}`}`;
    return [
      "li",
      {},
      [
        "button",
        {
          type: "button",
          "aria-label": description,
          title: description,
          "aria-current": k === stages.length - 1 ? "step" : null,
          onclick: () => onSteps(texts().slice(0, k)),
        },
        ["code", { text: before ? stage.text : name() }],
        ["em", { text: memory.split(":")[0], class: stage.copied ? "is-copy" : "" }],
        ["small", {}, ...FIELDS.map((field) => numberNode(field, stage, before))],
      ],
    ];
  }

  /** A number of a stage; the start names it, and later stages mark it if it has changed. */
  function numberNode(field, stage, before) {
    const number = numberIn(stage, field);
    if (!before) return ["span", { text: `${field.replace("storage_", "")} ${number}`, class: "" }];
    return [
      "span",
      { text: number, class: number === numberIn(before, field) ? "" : "is-changed" },
    ];
  }

  /** Offer as many suggestions as buttons as there is room for. */
  function drawPicks(offered, width) {
    let room = width - LEFT_OF_PICKS;
    const fitting = [];
    for (const suggestion of offered.slice(0, MOST_PICKS)) {
      room -= 8 * suggestion.text.length + (suggestion.copied ? 80 : 32);
      if (room > 0) fitting.push(suggestion);
    }
    fill(
      picks,
      ...fitting.map(({ text, copied }) => [
        "button",
        { type: "button", class: "sk-button", onclick: () => take(text) },
        ["code", { text }],
        ["small", { text: copied ? "copies" : "" }],
      ]),
    );
  }

  function draw(newStages, width) {
    stages = newStages;
    const written = JSON.stringify([texts(), endOf(stages).layout]);
    if (written !== drawn) say(""); // another layout
    drawn = written;
    const offered = suggestions(endOf(stages));
    fill(list, ...offered.map(({ text }) => ["option", { value: text }]));
    drawPicks(offered, width);
    const hasSteps = stages.length > 1;
    show(steps, hasSteps);
    fill(steps, ...(hasSteps ? stages.map(itemOf) : []));
    if (!hasSteps || stages.length === stagesInView) return;
    const current = /** @type {HTMLElement} */ (steps.lastElementChild);
    if (steps.clientWidth) stagesInView = stages.length; // once it is on a page
    steps.scrollLeft = current.offsetLeft + current.offsetWidth - steps.clientWidth;
  }

  return {
    node,
    draw,
    /** Take back what was said: another layout came from outside, perhaps the same. */
    restart: () => say(""),
  };
}

const numberIn = ({ layout }, field) =>
  field === "storage_offset" ? String(layout.storage_offset) : tuple(layout[field]);

/** A sentence on what a step did. */
function effectOf(stage, before) {
  const memory = memoryOf(stage, before);
  if (memory === "view") return `${stage.text} is a view: the same storage, read by other numbers.`;
  if (!stage.copied) return `${stage.text} changes no number: the layout stays as it is.`;
  return `${stage.text} copies: the values now lie in a new storage, with stride ${tuple(stage.layout.stride)}.`;
}
