// The facts of a state, over which goals are set, and its code, as in facts.py. tests/live.py compares the two.

import { product } from "../page/layout.js";
import { begin, relations, run } from "./session.js";

const PAIRS = ["y x", "z x", "z y"];

export function facts({ shape, steps }) {
  const session = steps.reduce(run, begin(shape));
  const last = session.log.at(-1);
  const found = relations(session);
  const kindOf = (pair) => found.find(({ names }) => names.join(" ") === pair)?.kind ?? null;
  return {
    lines: steps.length,
    last: last?.kind ?? null,
    changed: [...(last?.sentence ?? "").matchAll(/\b([xyz]) changed/g)].map(([, name]) => name),
    overlapping: found.filter(({ kind }) => kind === "overlap").map(({ names: [name] }) => name),
    storages: session.tapes.length,
    ...Object.fromEntries(PAIRS.map((pair) => [pair.replace(" ", "_and_"), kindOf(pair)])),
  };
}

/** The lines of torch that make the tensors. */
export const code = ({ shape, steps }) =>
  [`x = torch.arange(${product(shape)}).view(${shape.join(", ") || "()"})`, ...steps].join("\n");
