// The way through the network: torch has run every layer, and the table of network.py says where
// each layer leads.

import { tuple } from "../page/layout.js";

/**
 * Everything that torch was asked, as network.py explains it.
 *
 * @typedef {object} Network
 * @property {{ name: string, code: string }[]} layers
 * @property {{ shape: number[], starts: [number, number] }[]} inputs
 * @property {{ shape: number[], stride: number[], label: string }[]} states
 * @property {Record<string, [next: number | null, note: number]>[]} steps
 * @property {string[]} notes
 */

/**
 * The number of the input, and the names of the layers that are on.
 *
 * @typedef {{ input: number, layers: string[] }} State
 */

/**
 * The output of a layer: without a label where nothing comes.
 *
 * @typedef {{ label: string, stride: number[], note: string }} Output
 */

/**
 * For each layer, its outputs for x in contiguous_format and in channels_last; null for a layer
 * that is off.
 *
 * @param {Network} network
 * @param {number} input
 * @param {string[]} names
 * @returns {(Output[] | null)[]}
 */
export function trace(network, input, names) {
  /** @type {(number | null)[]} */
  let states = network.inputs[input].starts;
  return network.layers.map(({ name }, k) => {
    if (!names.includes(name)) return null;
    const steps = states.map((state) => (state === null ? null : network.steps[state][k]));
    states = steps.map((step) => (step ? step[0] : null));
    return steps.map((step) => outputOf(network, step));
  });
}

/**
 * @param {Network} network
 * @param {[next: number | null, note: number] | null} step
 * @returns {Output}
 */
function outputOf(network, step) {
  if (!step) return { label: "", stride: [], note: "" };
  const [next, number] = step;
  const note = network.notes[number];
  if (next === null) return { label: "", stride: [], note };
  const { label, stride } = network.states[next];
  return { label, stride, note };
}

/** The label and the note of an output, in words; `none` where nothing comes. */
export const outputText = ({ label, note }, none) =>
  [label, note].filter(Boolean).join(", ") || none;

/** The names of the layers that are on, in the order in which they run. */
function namesOfLayers(network, { layers }) {
  const names = network.layers.map(({ name }) => name);
  return names.filter((name) => layers.includes(name));
}

/**
 * The facts of a state, over which goals are set: the input and its layers, whether torch refuses a
 * layer or a layer loses channels_last, and the format at the end of both ways, "" if nothing comes
 * there.
 *
 * @param {State} state
 * @param {Network} network
 */
export function facts(state, network) {
  const { shape, starts } = network.inputs[state.input];
  const pairs = trace(network, state.input, state.layers).filter((pair) => pair !== null);
  const notes = pairs.flat().map(({ note }) => note);
  const ends = pairs.at(-1) ?? starts.map((start) => network.states[start]);
  return {
    shape,
    layers: namesOfLayers(network, state),
    refused: notes.some((note) => note.startsWith("torch refuses")),
    lost: notes.some((note) => note.startsWith("channels_last is lost")),
    contiguous_end: ends[0].label,
    channels_last_end: ends[1].label,
  };
}

/** The lines of the repr. */
export function told({ input, layers }, network) {
  const { shape } = network.inputs[input];
  const lines = [
    `FormatTracer: x of shape ${tuple(shape)}, first in contiguous_format, then in channels_last`,
  ];
  trace(network, input, layers).forEach((pair, k) => {
    if (!pair) return;
    const texts = pair.map((output) => outputText(output, "nothing comes here"));
    lines.push(`${network.layers[k].code}: ${texts.join(" | ")}`);
  });
  return lines;
}

export function code(state, network) {
  const { shape } = network.inputs[state.input];
  const names = namesOfLayers(network, state).map((name) => `"${name}"`);
  return `FormatTracer(${tuple(shape)}, [${names.join(", ")}])`;
}
