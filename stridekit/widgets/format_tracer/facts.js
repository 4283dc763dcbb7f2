// The facts of a state, over which goals are set, and its code, as in facts.py. tests/live.py compares the two.

import { tuple } from "../page/layout.js";
import { trace } from "./network.js";

export function facts(network, { input, layers }) {
  const { shape, starts } = network.inputs[input];
  const last = trace(network, input, layers).findLast((passages) => passages);
  return {
    shape,
    layers: network.layers.map(({ name }) => name).filter((name) => layers.includes(name)),
    formats: (last ?? starts.map((start) => network.states[start])).map(({ label }) => label),
  };
}

/** The line of Python that makes the picture. */
export function code(network, state) {
  const { shape, layers } = facts(network, state);
  return `FormatTracer(${tuple(shape)}, [${layers.map((name) => `'${name}'`).join(", ")}])`;
}
