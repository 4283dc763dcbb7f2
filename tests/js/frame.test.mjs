// What is around the panes, without a page: steps of a history, links, goals.

import assert from "node:assert/strict";
import test from "node:test";

import { heldBy } from "../../stridekit/widgets/page/goals.js";
import { createHistory, historyOf } from "../../stridekit/widgets/page/frame.js";
import { hashOf, readHash } from "../../stridekit/widgets/page/host.js";

/** A history on a clock that stands still but for `wait(ms)`. */
function begin(start = { at: 0 }) {
  let now = 0;
  const history = createHistory(start, start, () => now);
  const go = (tool) => {
    const state = history.ahead()[tool] && history.take(tool);
    if (state) history.keep(state); // as the widget shows it
    return state?.at;
  };
  return { keep: (at) => history.keep({ at }), wait: (ms) => (now += ms), go,
    can: () => Object.entries(history.ahead()).filter(([, state]) => state).map(([tool]) => tool).join(" ") };
}

test("changes are one step until the hand rests", () => {
  const { keep, wait, go, can } = begin();
  assert.equal(can(), "");
  for (const at of [1, 2, 3]) {
    keep(at);
    wait(300);
  }
  wait(200);
  keep(4);
  wait(500);
  assert.deepEqual([can(), go("undo"), go("undo"), go("undo"), can()], ["undo reset", 3, 0, undefined, "redo"]);
  assert.deepEqual([go("redo"), go("redo"), go("redo"), can()], [3, 4, undefined, "undo reset"]);
});

test("a line or a card is a step, however fast the next one comes", () => {
  for (const key of ["chain", "steps", "moves"]) {
    const history = createHistory({ [key]: [] }, undefined, () => 0);
    for (const lines of [["a"], ["a", "b"]]) history.keep({ [key]: lines });
    assert.deepEqual([history.take("undo"), history.take("undo")], [{ [key]: ["a"] }, { [key]: [] }]);
  }
});

test("after an undo, a change is a step of its own, and nothing is left to redo", () => {
  const { keep, wait, go, can } = begin();
  keep(1);
  wait(500);
  keep(2);
  assert.equal(go("undo"), 1);
  keep(3);
  assert.deepEqual([can(), go("undo"), go("undo")], ["undo reset", 1, 0]);
});

test("reset is a step, and does nothing at the start", () => {
  const { keep, wait, go, can } = begin();
  keep(1);
  wait(500);
  assert.deepEqual([go("reset"), can(), go("undo"), go("redo")], [0, "undo", 1, 0]);
});

test("a step that ends where it began is none, and what comes next is one", () => {
  const { keep, wait, go, can } = begin();
  keep(1);
  keep(0);
  assert.equal(can(), "");
  keep(2);
  wait(100);
  assert.deepEqual([can(), go("undo"), can()], ["undo reset", 0, "redo"]);
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

test("two hundred steps are kept", () => {
  const { keep, wait, go } = begin();
  for (let at = 1; at <= 300; at++) {
    keep(at);
    wait(500);
  }
  let last;
  for (let at = go("undo"); at !== undefined; at = go("undo")) last = at;
  assert.equal(last, 100);
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
  for (const other of [hash.slice(0, -1), hash.replace("=1", "=0"), hash.replace(/.$/, (c) => (c === "A" ? "B" : "A")), "", "#", "#state", "#two"])
    assert.equal(readHash(other, widgets), null, other);
  assert.equal(readHash(hash, ["one", "three"]), null);
});

test("a goal is held where all of its facts are", () => {
  const goals = [{ shape: [2, 3] }, { shape: [2, 3], dense: false }, { n: 1 }, { name: null }].map((facts) => ({ facts }));
  assert.deepEqual(heldBy({ shape: [2, 3], dense: true, n: true, name: null }, goals), [0, 3]);
});
