// The facts of a state, over which goals are set, and its code, as in facts.py. tests/live.py compares the two.

import { product } from "../page/layout.js";
import { begin, NAMES, relations, run } from "./session.js";

const PAIRS = [[1, 0], [2, 0], [2, 1]];

export function facts({ shape, steps, names: called = NAMES }) {
  const session = steps.reduce(run, begin(shape, called));
  const last = session.log.at(-1);
  const found = relations(session);
  const kindOf = (y, x) => found.find(({ names }) => names[0] === called[y] && names[1] === called[x])?.kind ?? null;
  return {
    lines: steps.length,
    last: last?.kind ?? null,
    changed: [...(last?.sentence ?? "").matchAll(/(?:^|; )(\w+) changed/g)].map(([, name]) => name),
    overlapping: found.filter(({ kind }) => kind === "overlap").map(({ names: [name] }) => name),
    storages: session.tapes.length,
    ...Object.fromEntries(PAIRS.map(([y, x]) => [`${NAMES[y]}_and_${NAMES[x]}`, kindOf(y, x)])),
  };
}

/** The lines of torch that make the tensors. */
export const code = ({ shape, steps, names = NAMES }) =>
  [`${names[0]} = torch.arange(${product(shape)}).view(${shape.join(", ") || "()"})`, ...steps].join("\n");
