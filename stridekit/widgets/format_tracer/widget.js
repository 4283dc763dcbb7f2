// FormatTracer: the layers of a network in rows, and what each makes of x in both memory formats.
// The state in the model is {input, layers}: the number of the input in `_network`, and the layers that are on.

import { fill, h, set } from "../page/dom.js";
import { tuple } from "../page/layout.js";
import { createChoice } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { code, facts, trace } from "./network.js";

const NARROW = 600; // below this, the code of a layer stands above its two outputs
const HEADS = ["layer", "x in contiguous_format", "x in channels_last"];

function output({ label, stride, note } = { label: "", stride: [], note: "" }, isOn = true) {
  const [format, taken = ""] = label.split(", ");
  const text = isOn && !label && !note ? "nothing comes here" : note;
  return [
    "td",
    {},
    ["span", { text: format, class: format ? `sk-format is-${format.replace(" ", "-")}` : "" }],
    ["code", { text: stride.length ? tuple(stride) : "" }],
    ["p", { text: taken }],
    ["p", { text, class: text && !/^(a view|nothing)/.test(text) ? "sk-why" : "sk-note" }],
  ];
}

export function render({ model, el }) {
  const network = model.get("_network");
  const shell = createShell(
    { model, el },
    {
      label: "format tracer",
      kind: "sk-formats",
      traits: ["_network"],
      draw,
      code: (state) => code(state, network),
      facts: (state) => facts(state, network),
    },
  );
  const shapes = network.inputs.map(({ shape }, k) => [k, `x of shape ${tuple(shape)}`]);
  const choice = createChoice("input of the network", shapes, (input) => shell.put({ input }));
  const boxes = network.layers.map((_, k) =>
    h("input", { type: "checkbox", id: `${shell.id}-layer${k}`, onchange: toggle }),
  );
  const body = h("tbody");
  const table = h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...HEADS.map((text) => h("th", { scope: "col", text })))),
    body,
  );

  function draw() {
    const { input, layers } = shell.state();
    choice.draw(input);
    set(table, "data-narrow", String(shell.width < NARROW));
    const passed = trace(network, input, layers);
    const starts = network.inputs[input].starts.map((start) =>
      output({ ...network.states[start], note: "" }),
    );
    fill(
      body,
      ["tr", {}, ["th", { scope: "row" }, ["code", { text: "x" }]], ...starts],
      ...network.layers.map(({ name, code: text }, k) => {
        boxes[k].checked = layers.includes(name);
        return [
          "tr",
          { class: passed[k] ? null : "is-off" },
          ["th", { scope: "row" }, ["label", { for: boxes[k].id }, boxes[k], ["code", { text }]]],
          ...[0, 1].map((side) => output(passed[k]?.[side], Boolean(passed[k]))),
        ];
      }),
    );
    const last = passed.findLast((passages) => passages);
    const [first, second] = (last ?? []).map(
      ({ label, note }) => [label, note].filter(Boolean).join(", ") || "nothing",
    );
    shell.speak(
      last
        ? `At the end, x in contiguous_format is: ${first}; x in channels_last is: ${second}.`
        : "No layer is switched on.",
    );
  }

  function toggle() {
    shell.put({
      layers: network.layers.map(({ name }) => name).filter((_, k) => boxes[k].checked),
    });
  }

  return shell.open(choice.node, table);
}
