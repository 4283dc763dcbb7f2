// alias_explorer/story.js against torch and stridekit, by the answers in aliases.json.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { begin, elementsOf, namesOf, relations, run } from "../../stridekit/widgets/alias_explorer/story.js";
import { Refused } from "../../stridekit/widgets/page/grammar.js";

const file = process.env.ALIASES ?? new URL("../fixtures/aliases.json", import.meta.url);
const stories = JSON.parse(readFileSync(file));
const attempt = (story, text) => {
  try {
    return [run(story, text), ""];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return [story, error.message];
  }
};

/** Where the tensors of a story lie, as the fixture writes it. */
const placed = (story) =>
  Object.fromEntries(
    namesOf(story).map((name) => {
      const { tape, layout: { shape, stride, storage_offset } } = story.tensors[name];
      return [name, [tape, shape, stride, storage_offset]];
    }),
  );

test("every line does what torch does, or is refused with the same sentence", () => {
  for (const { shape, lines } of stories) {
    let story = begin(shape);
    for (const { text, error, entry, tapes, tensors, ...said } of lines) {
      const [next, why] = attempt(story, text);
      const where = JSON.stringify([shape, lines.map((line) => line.text), text]);
      assert.equal(why, error ?? "", where);
      story = next;
      if (error) continue;
      assert.deepEqual(story.log.at(-1), entry, where);
      assert.deepEqual(story.tapes, tapes, where);
      if (!tensors) continue;
      assert.deepEqual(placed(story), tensors, where);
      assert.deepEqual(relations(story).map((relation) => relation.text), said.relations, where);
      agree(story, said.facts, where);
    }
  }
});

/** The kinds of the relations say what is_view, shares_memory and has_internal_overlap say. */
function agree(story, facts, where) {
  for (const { kind, names: [y, x] } of relations(story)) {
    if (kind === "overlap") continue;
    const [ys, xs] = [y, x].map((name) => elementsOf(story.tensors[name]).length);
    if (ys) assert.equal(facts.is_view[`${y} ${x}`], ["same", "inside"].includes(kind), where);
    if (xs) assert.equal(facts.is_view[`${x} ${y}`], ["same", "around"].includes(kind), where);
    assert.equal(facts.shares_memory[`${y} ${x}`], kind !== "none", where);
  }
  const overlap = relations(story).flatMap(({ kind, names }) => (kind === "overlap" ? names : []));
  assert.deepEqual(namesOf(story).filter((name) => facts.overlap[name]), overlap, where);
}
