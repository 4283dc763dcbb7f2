// The browser's side on a pipe: a request of JSON in each line of the input, an answer in each line of the output.
// tests/pipe.py asks. A request is [file, function, ...arguments] of a widget's file, or ["", name, ...arguments] of what
// stands here: several calls in one.

import { createInterface } from "node:readline";

import { begin, namesOf, relations, run } from "../stridekit/widgets/alias_explorer/session.js";
import { Refused, reach } from "../stridekit/widgets/page/layout.js";
import { memoryOf, onward, stagesOf } from "../stridekit/widgets/stride_explorer/chain.js";
import * as traversal from "../stridekit/widgets/traversal_explorer/traversal.js";

/** What each text makes of the state before it, which a refused one leaves; `show` tells it as the answer does. */
function answers(state, texts, step, show) {
  return texts.map((text) => {
    const before = state;
    try {
      state = step(before, text);
      return show(state, before);
    } catch (error) {
      return error instanceof Refused ? error.message : { crashed: error.stack };
    }
  });
}

const several = {
  /** Which element each index reaches, and which indices reach each element. */
  reach(layout) {
    const { elements, owners } = reach(layout);
    return [elements, [...owners]];
  },

  /** The stages that each text adds to a chain. */
  chain: (start, size, labels, texts) =>
    answers(
      stagesOf({ source: "x", start, steps: [] }, size, labels), texts,
      (stages, text) => [...stages, ...onward(stages.at(-1), [text]).slice(1)],
      (stages, before) =>
        stages.slice(before.length).map((stage, k) => [
          stage.text, stage.layout, stage.storageSize, stage.labels, memoryOf(stage, stages[before.length + k - 1]),
        ]),
    ),

  /** What each line adds to a session of the alias explorer, and all that there is then. */
  session: (shape, texts, called) =>
    answers(begin(shape, called), texts, run, (after) => [
      after.log.at(-1), after.tapes, relations(after), after.opened,
      namesOf(after).map((name) => [name, after.tensors[name].tape, after.tensors[name].layout]),
    ]),

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
