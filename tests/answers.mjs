// The browser's side on a pipe: a request of JSON in each line of the input, an answer in each line of the output.
// tests/pipe.py asks. A request is [file, function, ...arguments] of a widget's file, or ["", name, ...arguments] of what
// stands here: several calls in one.

import { createInterface } from "node:readline";

import { Refused, reach } from "../stridekit/widgets/page/layout.js";
import * as traversal from "../stridekit/widgets/traversal_explorer/traversal.js";

const several = {
  /** Which element each index reaches, and which indices reach each element. */
  reach(layout) {
    const { elements, owners } = reach(layout);
    return [elements, [...owners]];
  },

  /** A walk through a cache: the visits, what the first of them and all have cost, what is held before each. */
  walk(walk, cacheLines, alignment, upto) {
    const visits = traversal.visitsOf(walk, cacheLines, alignment);
    return {
      visits: visits.map(({ element, line, hit }) => [element, line, hit]),
      counts: [upto, visits.length].map((end) => traversal.countsOf(visits, walk.itemsize, end)),
      held: visits.map((_, k) => [...traversal.cachedLines(visits, k, cacheLines)]),
      says: traversal.visitSentence(walk, visits, upto),
    };
  },
};

async function answer([file, name, ...given]) {
  const functions = file ? await import(`../stridekit/widgets/${file}.js`) : several;
  try {
    return { found: functions[name](...given) };
  } catch (error) {
    return error instanceof Refused ? { refused: error.message } : { crashed: error.stack };
  }
}

const asJson = (key, value) => (value instanceof Set ? [...value] : value);
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await answer(JSON.parse(line)), asJson));
