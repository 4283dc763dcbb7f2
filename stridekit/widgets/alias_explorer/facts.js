// What Python and the toolbar ask of a state: its session, the facts that goals are set over, the code, and all sentences.

import { product } from "../page/layout.js";
import { begin, NAMES, relation, relations, run } from "./session.js";

const PAIRS = [[1, 0], [2, 0], [2, 1]];
export const EXAMPLE = { shape: [4, 6], steps: ["y = x", "z = y"] };
/** The session after all lines of a state. Throws Refused. */
export const sessionOf = ({ shape, steps, names = NAMES }) => steps.reduce(run, begin(shape, names));

// The lines run, what the last one did and changed, who overlaps itself, who shares with whom.
// Two names have the "same" elements, or those of the first lie "inside" or "around" those of the second, or they share
// "some" or "none". There x, y and z stand for the three, whatever they are called.
export function facts(state) {
  const session = sessionOf(state);
  const { called, log, tapes } = session;
  const last = log.at(-1);
  const pairs = relations(session);
  const kindOf = (y, x) => pairs.find(({ names }) => names[0] === called[y] && names[1] === called[x])?.kind ?? null;
  return {
    lines: log.length,
    last: last?.kind ?? null,
    changed: [...(last?.sentence ?? "").matchAll(/(?:^|; )(\w+) changed/g)].map(([, name]) => name),
    overlapping: pairs.filter(({ kind }) => kind === "overlap").map(({ names: [name] }) => name),
    storages: tapes.length,
    ...Object.fromEntries(PAIRS.map(([y, x]) => [`${NAMES[y]}_and_${NAMES[x]}`, kindOf(y, x)])),
  };
}

export const code = ({ shape, steps, names = NAMES }) =>
  [`${names[0]} = torch.arange(${product(shape)}).view(${shape.join(", ") || "()"})`, ...steps].join("\n");

export function told(state) {
  const { log, ...session } = sessionOf(state);
  const width = Math.max(0, ...log.map(({ text }) => text.length));
  const lines = log.map(({ text, kind, sentence }) =>
    `${text.padEnd(width)}  # ${kind === "write" ? sentence : `${kind}: ${sentence}`}`);
  const [start] = code(state).split("\n");
  return [`AliasExplorer: ${start}`, ...lines, ...relations(session).map(({ text }) => text)];
}

export const relationsOf = (state) => relations(sessionOf(state));
export const related = (state, y, x) => relation(sessionOf(state), y, x).text;
