// What the browser makes of typed lines: a request of JSON in each line of the input, an answer in each line of
// the output. tests/fuzz_lines.py asks.

import { createInterface } from "node:readline";

import { begin, namesOf, relations, run } from "../stridekit/widgets/alias_explorer/story.js";
import { Refused } from "../stridekit/widgets/page/grammar.js";
import { memoryOf, onward, stagesOf } from "../stridekit/widgets/stride_explorer/chain.js";

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

/** The stages that a text adds to a chain. */
const chain = ({ start, size, labels, texts }) =>
  answers(
    stagesOf({ source: "x", start, steps: [] }, size, labels), texts,
    (stages, text) => [...stages, ...onward(stages.at(-1), [text]).slice(1)],
    (stages, before) =>
      stages.slice(before.length).map((stage, k) => [
        stage.text, stage.layout, stage.storageSize, stage.labels, memoryOf(stage, stages[before.length + k - 1]),
      ]),
  );

/** What a line adds to a story, and all that there is then. */
const story = ({ shape, texts }) =>
  answers(begin(shape), texts, run, (after) => [
    after.log.at(-1), after.tapes, relations(after).map(({ text }) => text),
    namesOf(after).map((name) => [name, after.tensors[name].tape, after.tensors[name].layout]),
  ]);

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  console.log(JSON.stringify(request.start ? chain(request) : story(request)));
}
