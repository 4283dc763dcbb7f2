// The facts of a state, over which goals are set, and its code, as in facts.py. tests/live.py compares the two.

import { tuple } from "../page/layout.js";
import { trace } from "./network.js";

export function facts(network, { input, layers }) {
  const { shape, starts } = network.inputs[input];
  const passed = trace(network, input, layers).filter((both) => both);
  const last = passed.at(-1) ?? starts.map((start) => network.states[start]);
  return {
    shape,
    layers: network.layers.map(({ name }) => name).filter((name) => layers.includes(name)),
    formats: last.map(({ label }) => label),
    lost: passed.flat().some(({ note }) => note.includes("channels_last is lost")),
  };
}

/** The line of Python that makes the picture. */
export function code(network, state) {
  const { shape, layers } = facts(network, state);
  return `FormatTracer(${tuple(shape)}, [${layers.map((name) => `'${name}'`).join(", ")}])`;
}
