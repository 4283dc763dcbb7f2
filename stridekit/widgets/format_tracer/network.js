// The way through the network: Python has run every layer, and the table says where each leads. network.py says the
// same; tests/live.py compares the two.

/** For each layer, its outputs for both inputs: {label, stride, note}; null for a layer that is off. */
export function trace(network, which, names) {
  let now = network.inputs[which].starts;
  return network.layers.map(({ name }, k) => {
    if (!names.includes(name)) return null;
    const steps = now.map((state) => (state === null ? null : network.steps[state][k]));
    now = steps.map((to) => to?.[0] ?? null);
    return steps.map((to) => ({
      label: to && to[0] !== null ? network.states[to[0]].label : "",
      stride: to && to[0] !== null ? network.states[to[0]].stride : [],
      note: to ? network.notes[to[1]] : "",
    }));
  });
}
