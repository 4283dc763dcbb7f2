// FormatTracer: the layers of a network in rows, and the output of each for x in both memory
// formats. The state in the model is {input, layers}: the number of the input in `_network`, and
// the layers that are on.

import { fill, h, set } from "../page/dom.js";
import { tuple } from "../page/layout.js";
import { wayFrom } from "../page/motion.js";
import { createChoice } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { code, facts, outputText, trace } from "./network.js";

/** @import { Network, Output, State } from "./network.js" */

const NARROW = 600; // px: below this, the code of a layer stands above its two outputs
const HEADS = ["layer", "x in contiguous_format", "x in channels_last"];

export function render({ model, el }) {
  /** @type {Network} */
  const network = model.get("_network");
  const shell = createShell(
    { model, el },
    {
      label: "format tracer",
      kind: "sk-formats",
      traits: ["_network"],
      draw,
      code: (state) => code(state, network),
      moves: true,
      facts: (state) => facts(state, network),
    },
  );
  const { motion } = shell;
  const shapes = network.inputs.map(({ shape }, k) => [k, `x of shape ${tuple(shape)}`]);
  const choice = createChoice("input of the network", shapes, chooseInput);
  const boxes = network.layers.map((_, k) =>
    h("input", { type: "checkbox", id: `${shell.id}-layer${k}`, onchange: toggle }),
  );
  const body = h("tbody");
  const heads = HEADS.map((text) => h("th", { scope: "col", text }));
  const table = h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body);

  function draw() {
    /** @type {State} */
    const { input, layers } = shell.state();
    choice.draw(input);
    set(table, "data-narrow", String(shell.width < NARROW));
    boxes.forEach((box, k) => {
      box.checked = layers.includes(network.layers[k].name);
    });
    const pairs = trace(network, input, layers);
    fill(body, inputRow(input), ...pairs.map(layerRow));
    remember(shell.state());
    shell.speak(sentenceOn(pairs.findLast((pair) => pair !== null)));
  }

  /** @type {State | null} */
  let drawn = null;

  /**
   * The format of each output comes out of the row above, from the first layer that has changed.
   * @param {State} state
   */
  function remember(state) {
    if (JSON.stringify(state) === JSON.stringify(drawn)) return;
    const before = drawn;
    drawn = state;
    const isSameInput = before?.input === state.input;
    const changed = network.layers.findIndex(
      ({ name }) => before?.layers.includes(name) !== state.layers.includes(name),
    );
    const first = isSameInput ? changed : 0;
    motion.remember(state, () => ({ layers: [body], moves: flowFrom(first) }));
  }

  /** @param {number} first the number of a layer */
  function flowFrom(first) {
    const moves = [];
    const [input, ...rows] = [...body.rows].map((row) => [...row.querySelectorAll(".sk-format")]);
    let above = input;
    for (const [k, labels] of rows.entries()) {
      if (!labels.some(({ textContent }) => textContent)) continue;
      if (k >= first) {
        for (const [way, box] of labels.entries()) {
          if (!box.textContent || !above[way].textContent) continue;
          const [, down] = wayFrom(above[way], box);
          moves.push({ box, start: [0, down], turn: k, isNew: true });
        }
      }
      above = labels;
    }
    return moves;
  }

  function chooseInput(input) {
    if (input === shell.state().input) return;
    shell.put({ input });
    motion.play();
  }

  function inputRow(input) {
    const cells = network.inputs[input].starts.map((start) => {
      const { label, stride } = network.states[start];
      return cellOf({ label, stride, note: "" });
    });
    return ["tr", {}, ["th", { scope: "row" }, ["code", { text: "x" }]], ...cells];
  }

  function layerRow(pair, k) {
    const { code: text } = network.layers[k];
    const label = ["label", { for: boxes[k].id }, boxes[k], ["code", { text }]];
    const cells = pair ? pair.map(cellOf) : [EMPTY_CELL, EMPTY_CELL];
    return ["tr", { class: pair ? null : "is-off" }, ["th", { scope: "row" }, label], ...cells];
  }

  function toggle() {
    const names = network.layers.map(({ name }) => name);
    shell.put({ layers: names.filter((_, k) => boxes[k].checked) });
    motion.play();
  }

  const pane = h("div", { class: "sk-pane" }, table);
  return shell.open(choice.node, h("div", { class: "sk-bounded" }, pane));
}

/**
 * The cell of an output.
 *
 * @param {Output} output
 */
function cellOf({ label, stride, note }) {
  const text = label || note ? note : "nothing comes here";
  return cell(label, stride.length ? tuple(stride) : "", text);
}

function cell(label, stride, text) {
  const [format, taken = ""] = label.split(", ");
  const isReason = text && !/^(a view|nothing)/.test(text);
  return [
    "td",
    {},
    ["span", { text: format, class: format ? `sk-format is-${format.replace(" ", "-")}` : "" }],
    ["code", { text: stride }],
    ["p", { text: taken }],
    ["p", { text, class: isReason ? "sk-why" : "sk-note" }],
  ];
}

const EMPTY_CELL = cell("", "", "");

/** @param {Output[] | null | undefined} pair the outputs of the last layer */
function sentenceOn(pair) {
  if (!pair) return "No layer is switched on.";
  const [contiguous, last] = pair.map((output) => outputText(output, "nothing"));
  return `At the end, x in contiguous_format is: ${contiguous}; x in channels_last is: ${last}.`;
}
