// The way through the network: torch has run every layer, and the table of network.py says where each leads.

import { tuple } from "../page/layout.js";

/** For each layer, its outputs for both inputs: {label, stride, note}; null for a layer that is off. */
export function trace(network, which, names) {
  let now = network.inputs[which].starts;
  return network.layers.map(({ name }, k) => {
    if (!names.includes(name)) return null;
    const steps = now.map((state) => network.steps[state]?.[k] ?? [null, null]);
    now = steps.map(([to]) => to);
    return steps.map(([to, note]) => {
      const { label, stride } = network.states[to] ?? { label: "", stride: [] };
      return { label, stride, note: network.notes[note] ?? "" };
    });
  });
}

const active = (network, { layers }) =>
  network.layers.map(({ name }) => name).filter((name) => layers.includes(name));

// The facts of a state, over which goals are set: the input and its layers, whether torch refuses one or one loses
// channels_last, and the format at the end of both ways, "" if nothing comes there.
export function facts(state, network) {
  const { shape, starts } = network.inputs[state.input];
  const passed = trace(network, state.input, state.layers).filter((both) => both);
  const labels =
    passed.at(-1)?.map(({ label }) => label) ?? starts.map((start) => network.states[start].label);
  return {
    shape,
    layers: active(network, state),
    refused: passed.some((both) => both.some(({ note }) => note.startsWith("torch refuses"))),
    lost: passed.some((both) => both.some(({ note }) => note.startsWith("channels_last is lost"))),
    contiguous_end: labels[0],
    channels_last_end: labels[1],
  };
}

export function told({ input, layers }, network) {
  const passed = ({ label, note }) =>
    [label, note].filter(Boolean).join(", ") || "nothing comes here";
  const rows = trace(network, input, layers).map(
    (both, k) => both && `${network.layers[k].code}: ${both.map(passed).join(" | ")}`,
  );
  const { shape } = network.inputs[input];
  return [
    `FormatTracer: x of shape ${tuple(shape)}, first in contiguous_format, then in channels_last`,
    ...rows.filter(Boolean),
  ];
}

export const code = (state, network) =>
  `FormatTracer(${tuple(network.inputs[state.input].shape)}, [${active(network, state)
    .map((name) => `"${name}"`)
    .join(", ")}])`;
