// What is around the panes, without a page: steps of a history, links, goals.

import assert from "node:assert/strict";
import test from "node:test";
import { createHistory, historyOf } from "../../../stridekit/widgets/page/frame.js";
import { heldBy } from "../../../stridekit/widgets/page/goals.js";
import { hashOf, readHash } from "../../../stridekit/widgets/page/host.js";

/** What the tools lead to in a history, and which of them can then be used: numbers are changes by hand. */
function told(script) {
  let now = 0;
  const history = createHistory({ at: 0 }, { at: 0 }, () => now);
  const tools = () =>
    Object.entries(history.ahead())
      .filter(([, state]) => state)
      .map(([tool]) => tool);
  const states = script.split(" ").flatMap((word) => {
    if (word === "rest") now += 500;
    else if (word === "move")
      now += 300; // the hand goes on
    else if (!Number.isNaN(Number(word))) history.keep({ at: Number(word) });
    else if (!tools().includes(word)) return ["-"];
    else {
      const state = history.take(word);
      history.keep(state); // as the widget shows it
      return [state.at];
    }
    return [];
  });
  return [states.join(" "), tools().join(" ")];
}

for (const [what, script, states, tools] of [
  [
    "changes are one step until the hand rests",
    "1 move 2 move 3 rest 4 rest undo undo undo",
    "3 0 -",
    "redo",
  ],
  [
    "what was undone is done again",
    "1 rest 2 rest undo undo redo redo redo",
    "1 0 1 2 -",
    "undo reset",
  ],
  ["after an undo, a change is a step of its own", "1 rest 2 undo 3 undo undo", "1 1 0", "redo"],
  ["after a change, nothing is left to redo", "1 rest 2 undo 3", "1", "undo reset"],
  [
    "reset is a step, and does nothing at the start",
    "reset 1 rest reset undo redo",
    "- 0 1 0",
    "undo",
  ],
  ["a step that ends where it began is none", "1 0 undo", "-", ""],
  ["what comes after no step is one", "1 0 2 move undo", "0", "redo"],
])
  test(what, () => assert.deepEqual(told(script), [states, tools]));

test("two hundred steps are kept", () => {
  const changes = Array.from({ length: 300 }, (_, k) => `${k + 1} rest`);
  const [states] = told([...changes, ...Array(300).fill("undo")].join(" "));
  assert.match(states, / 101 100 -/);
});

test("a line or a card is a step, however fast the next one comes", () => {
  for (const key of ["chain", "steps", "moves"]) {
    const history = createHistory({ [key]: [] }, undefined, () => 0);
    for (const lines of [["a"], ["a", "b"]]) history.keep({ [key]: lines });
    assert.deepEqual(
      [history.take("undo"), history.take("undo")],
      [{ [key]: ["a"] }, { [key]: [] }],
    );
  }
});

test("pointing is no step, but goes with the state", () => {
  const history = createHistory({ at: 0, index: [0], flat: 0 }, undefined, () => 0);
  history.keep({ at: 0, index: [1], flat: 5 });
  assert.equal(history.ahead().undo, undefined);
  history.keep({ at: 1, index: null, flat: 5 });
  history.keep({ at: 1, index: [2], flat: 7 });
  assert.deepEqual(history.take("undo"), { at: 0, index: [1], flat: 5 });
  history.keep({ at: 0, index: [3], flat: 5 }); // and leaves what was undone
  assert.deepEqual(history.take("redo"), { at: 1, index: [2], flat: 7 });
});

test("all views of a model have one history, though each has a model of its own over it", () => {
  const state = { _page: {}, _state: { at: 1 }, _start: { at: 0 } };
  const view = (own = {}) => ({ get: (name) => ({ ...state, ...own })[name] });
  assert.equal(historyOf(view()), historyOf(view()));
  assert.notEqual(historyOf(view()), historyOf(view({ _page: {} })));
  assert.deepEqual(historyOf(view()).ahead().reset, { at: 0 });
  assert.equal(historyOf(view({ _page: {}, _start: {} })).ahead().reset, undefined); // first shown now
});

test("a link fits the widget that it is of, whole", () => {
  const [widgets, state] = [["one", "two"], { steps: ["y = x # é∈🙂"], n: [1, -2.5, null] }];
  const hash = hashOf(1, "two", state);
  assert.match(hash, /^#state=1\.[0-9a-z]+\.[\w-]+$/);
  assert.deepEqual(readHash(hash, widgets), [1, state]);
  for (const other of [
    hash.slice(0, -1),
    hash.replace("=1", "=0"),
    hash.replace(/.$/, (c) => (c === "A" ? "B" : "A")),
    "",
    "#",
    "#state",
    "#two",
  ])
    assert.equal(readHash(other, widgets), null, other);
  assert.equal(readHash(hash, ["one", "three"]), null);
});

test("a goal is held where all of its facts are", () => {
  const goals = [{ shape: [2, 3] }, { shape: [2, 3], dense: false }, { n: 1 }, { name: null }].map(
    (facts) => ({ facts }),
  );
  assert.deepEqual(heldBy({ shape: [2, 3], dense: true, n: true, name: null }, goals), [0, 3]);
});
