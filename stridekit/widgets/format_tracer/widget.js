// FormatTracer: the layers of a network in rows, and what each makes of x in both memory formats.
//
// The state in the model is {input, layers}: the number of the input in `_network`, and the layers that are on.

import { tuple } from "../page/layout.js";
import { h, set } from "../page/dom.js";
import { createChoice } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { code, facts, trace } from "./network.js";

const NARROW = 600; // below this, the code of a layer stands above its two outputs
const HEADS = ["layer", "x in contiguous_format", "x in channels_last"];

/** A sentence on the output of the network, to be read aloud. */
function outcome(last) {
  if (!last) return "No layer is switched on.";
  const [first, second] = last.map(({ label, note }) => [label, note].filter(Boolean).join(", "));
  return `At the end, x in contiguous_format is: ${first || "nothing"}; x in channels_last is: ${second || "nothing"}.`;
}

/** A cell with an output: its format, its stride, and a note. */
function createOutput() {
  const [chip, stride, taken, note] = [h("span"), h("code"), h("p"), h("p")];
  return {
    node: h("td", {}, chip, stride, taken, note),
    /** @param {{label: string, stride: number[], note: string} | null} passage */
    draw(passage) {
      const [format, otherwise = ""] = (passage?.label ?? "").split(", ");
      set(chip, "text", format);
      set(chip, "class", format ? `sk-format is-${format.replace(" ", "-")}` : "");
      set(taken, "text", otherwise);
      set(stride, "text", passage?.stride.length ? tuple(passage.stride) : "");
      const text = passage && !passage.label && !passage.note ? "nothing comes here" : passage?.note ?? "";
      set(note, "text", text);
      set(note, "class", text && !/^(a view|nothing)/.test(text) ? "sk-why" : "sk-note");
    },
  };
}

function render({ model, el }) {
  const network = model.get("_network");
  const shell = createShell({ model, el }, {
    label: "format tracer", kind: "sk-formats", traits: ["_state", "_network"], draw,
    code: () => code(model.get("_state"), network), facts: (state) => facts(state, network),
  });
  const state = () => model.get("_state");
  const change = (changed) => shell.change({ ...state(), ...changed });

  const shapes = network.inputs.map(({ shape }, k) => [k, `x of shape ${tuple(shape)}`]);
  const choice = createChoice("input of the network", shapes, (input) => change({ input }));
  const starts = [createOutput(), createOutput()];
  const rows = network.layers.map(({ name, code }, k) => {
    const id = `${shell.id}-layer${k}`;
    const box = h("input", { type: "checkbox", id, onchange: () => toggle(name, box.checked) });
    const head = h("th", { scope: "row" }, h("label", { for: id }, box, h("code", { text: code })));
    const outputs = [createOutput(), createOutput()];
    return { name, box, outputs, node: h("tr", {}, head, ...outputs.map(({ node }) => node)) };
  });
  const table = h("table", {},
    h("thead", {}, h("tr", {}, ...HEADS.map((text) => h("th", { scope: "col", text })))),
    h("tbody", {},
      h("tr", {}, h("th", { scope: "row" }, h("code", { text: "x" })), ...starts.map(({ node }) => node)),
      ...rows.map(({ node }) => node)));

  function draw() {
    const { input, layers } = state();
    choice.draw(input);
    set(table, "data-narrow", String(shell.width < NARROW));
    network.inputs[input].starts.forEach((start, k) => starts[k].draw({ ...network.states[start], note: "" }));
    const passed = trace(network, input, layers);
    rows.forEach(({ name, box, outputs, node }, k) => {
      box.checked = layers.includes(name);
      set(node, "class", passed[k] ? null : "is-off");
      outputs.forEach((output, side) => output.draw(passed[k]?.[side] ?? null));
    });
    shell.speak(outcome(passed.findLast((passages) => passages)));
  }

  function toggle(name, on) {
    const { layers } = state();
    change({ layers: on ? [...layers, name] : layers.filter((other) => other !== name) });
  }

  return shell.open(choice.node, table);
}

export default { render };
