// The pane of the chain: a line to type or pick the next operation, and below it the stages from the start to now.

import { fill, h, set, show } from "../page/dom.js";
import { tried, tuple } from "../page/layout.js";
import { createLine } from "../page/panels.js";
import { memoryOf, onward, suggestions } from "./chain.js";

const SHOWN = 8; // buttons at most; the input's list has every suggestion
const NUMBERS = ["shape", "stride", "storage_offset"];

/** `onSteps(texts)` gets the new steps of the chain on the tensor called `name()`. */
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

  let stages = [];
  let drawn = "";
  let inView = 0; // the number of stages when the current one was last scrolled into view
  say("");

  const texts = () => stages.slice(1).map((stage) => stage.text);

  /** Take the typed steps, one or several; if refused, they stay in the input with the reason under it. */
  function take(text) {
    const [taken, why] = tried(() => onward(stages.at(-1), [text], name()));
    if (!taken) return say(why, true);
    input.value = "";
    onSteps([...texts(), ...taken.slice(1).map((stage) => stage.text)]);
    say(
      taken
        .slice(1)
        .map((stage, k) => told(stage, taken[k]))
        .join(" "),
    );
    if (document.activeElement === document.body) input.focus(); // the pressed button is gone
  }

  /** What a step did is seen in its stage, and said aloud; why it was refused is written out. */
  function say(text, refused = false) {
    set(outcome, "text", text);
    set(outcome, "class", refused ? "sk-outcome is-refused" : "sk-outcome sk-spoken");
    set(input, "aria-invalid", refused ? "true" : null);
  }

  function stageOf(stage, k) {
    const before = stages[k - 1];
    const how = before ? memoryOf(stage, before) : "";
    const numbers = NUMBERS.map((what) => [what, numberIn(stage, what)]);
    const says = `${stage.text}: ${numbers.map(([what, text]) => `${what} ${text}`).join(", ")}${how && `, ${how}`}`;
    return [
      "li",
      {},
      [
        "button",
        {
          type: "button",
          "aria-label": says,
          title: says,
          "aria-current": k === stages.length - 1 ? "step" : null,
          onclick: () => onSteps(texts().slice(0, k)),
        },
        ["code", { text: before ? stage.text : name() }],
        ["em", { text: how.split(":")[0], class: stage.copied ? "is-copy" : "" }],
        [
          "small",
          {},
          ...numbers.map(([what, text]) => [
            "span",
            {
              text: before ? text : `${what.replace("storage_", "")} ${text}`,
              class: before && text !== numberIn(before, what) ? "is-changed" : "",
            },
          ]),
        ],
      ],
    ];
  }

  return {
    node,
    /** Forget what was said: another layout came from outside, perhaps the same. */
    restart: () => say(""),
    draw(stagesNow, width) {
      stages = stagesNow;
      const now = JSON.stringify([texts(), stages.at(-1).layout]);
      if (now !== drawn) say(""); // another layout
      drawn = now;
      const offered = suggestions(stages.at(-1));
      fill(list, ...offered.map(({ text }) => ["option", { value: text }]));
      let room = width - 372;
      const fitting = offered
        .slice(0, SHOWN)
        .filter(({ text, copied }) => (room -= 8 * text.length + (copied ? 80 : 32)) > 0);
      fill(
        picks,
        ...fitting.map(({ text, copied }) => [
          "button",
          { type: "button", class: "sk-button", onclick: () => take(text) },
          ["code", { text }],
          ["small", { text: copied ? "copies" : "" }],
        ]),
      );
      const used = stages.length > 1;
      show(steps, used);
      fill(steps, ...(used ? stages.map(stageOf) : []));
      if (!used || stages.length === inView) return;
      const { offsetLeft, offsetWidth } = steps.lastChild;
      if (steps.clientWidth) inView = stages.length; // once it is on a page
      steps.scrollLeft = offsetLeft + offsetWidth - steps.clientWidth;
    },
  };
}

const numberIn = ({ layout }, what) =>
  what === "storage_offset" ? String(layout.storage_offset) : tuple(layout[what]);

function told(stage, before) {
  const memory = memoryOf(stage, before);
  if (memory === "view") return `${stage.text} is a view: the same storage, read by other numbers.`;
  if (!stage.copied) return `${stage.text} changes no number: the layout stays as it is.`;
  return `${stage.text} copies: the values now lie in a new storage, with stride ${tuple(stage.layout.stride)}.`;
}
