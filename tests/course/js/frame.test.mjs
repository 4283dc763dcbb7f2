// The corner of a widget without a page: steps of a history, links, goals, code to copy.

import assert from "node:assert/strict";
import test from "node:test";
import {
  createHistory,
  historyOf,
  importing,
  restoring,
} from "../../../stridekit/widgets/page/frame.js";
import { heldBy } from "../../../stridekit/widgets/page/goals.js";
import { hashOf, readHash } from "../../../stridekit/widgets/page/host.js";

/**
 * The states to which the tools lead in a history, and the tools that can then be used. In a script,
 * numbers are changes by hand.
 * @param {string} script
 */
function play(script) {
  let clock = 0;
  const history = createHistory({ at: 0 }, { at: 0 }, () => clock);
  /** @type {(number | "-")[]} */
  const states = [];

  const usableTools = () => {
    const ahead = Object.entries(history.ahead());
    return ahead.filter(([, state]) => state).map(([tool]) => tool);
  };

  /** @param {any} tool */
  function use(tool) {
    if (!usableTools().includes(tool)) {
      states.push("-");
      return;
    }
    const state = history.take(tool);
    history.keep(state); // as the widget shows it
    states.push(state.at);
  }

  for (const word of script.split(" ")) {
    if (word === "rest") clock += 500;
    else if (word === "move")
      clock += 300; // the hand goes on
    else if (Number.isNaN(Number(word))) use(word);
    else history.keep({ at: Number(word) });
  }
  return [states.join(" "), usableTools().join(" ")];
}

for (const [behaviour, script, states, tools] of [
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
  [
    "a reset is a step of its own, however fast the hand is",
    "1 rest 2 reset 3 undo undo undo undo",
    "0 0 2 1 0",
    "redo",
  ],
  ["a step that ends where it began is none", "1 0 undo", "-", ""],
  ["what comes after no step is one", "1 0 2 move undo", "0", "redo"],
])
  test(behaviour, () => assert.deepEqual(play(script), [states, tools]));

test("two hundred steps are kept", () => {
  const changes = Array.from({ length: 300 }, (_, k) => `${k + 1} rest`);
  const [states] = play([...changes, ...Array(300).fill("undo")].join(" "));
  assert.match(states, / 101 100 -/);
});

test("a line or a card is a step, however fast the next one comes", () => {
  for (const key of ["chain", "steps", "moves"]) {
    const history = createHistory({ [key]: [] }, undefined, () => 0);
    for (const lines of [["a"], ["a", "b"]]) history.keep({ [key]: lines });
    assert.deepEqual(history.take("undo"), { [key]: ["a"] });
    assert.deepEqual(history.take("undo"), { [key]: [] });
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
  const traits = { _page: {}, _state: { at: 1 }, _start: { at: 0 } };
  const view = (own = {}) => ({ get: (name) => ({ ...traits, ...own })[name] });
  const history = historyOf(view());
  assert.equal(historyOf(view()), history);
  assert.notEqual(historyOf(view({ _page: {} })), history);
  assert.deepEqual(history.ahead().reset, { at: 0 });
  const withoutStart = historyOf(view({ _page: {}, _start: {} })); // first shown now
  assert.equal(withoutStart.ahead().reset, undefined);
});

test("a link fits the widget that it is of, whole", () => {
  const widgets = ["one", "two"];
  const state = { steps: ["y = x # é∈🙂"], n: [1, -2.5, null] };
  const hash = hashOf(1, "two", state);
  assert.match(hash, /^#state=1\.[0-9a-z]+\.[\w-]+$/);
  assert.deepEqual(readHash(hash, widgets), [1, state]);
  const cut = hash.slice(0, -1);
  const ofAnother = hash.replace("=1", "=0");
  const changed = hash.replace(/.$/, (char) => (char === "A" ? "B" : "A"));
  for (const wrong of [cut, ofAnother, changed, "", "#", "#state", "#two"])
    assert.equal(readHash(wrong, widgets), null, wrong);
  assert.equal(readHash(hash, ["one", "three"]), null);
});

test("a goal is held where all of its facts are", () => {
  const goals = [
    { facts: { shape: [2, 3] } },
    { facts: { shape: [2, 3], dense: false } },
    { facts: { n: 1 } },
    { facts: { name: null } },
  ];
  assert.deepEqual(heldBy({ shape: [2, 3], dense: true, n: true, name: null }, goals), [0, 3]);
});

test("code for a cell imports its class, and says which names it reads", () => {
  const line = "from stridekit.widgets import Sort\n\n";
  assert.equal(importing("Sort", "Sort(x)"), `${line}Sort(x)`);
  assert.equal(importing("Sort", "Sort(x)", "needs x"), `${line}# needs x\nSort(x)`);
});

test("a state that is copied is Python", () => {
  const modelOf = (/** @type {Record<string, any>} */ parts) =>
    /** @type {any} */ ({ get: (/** @type {string} */ name) => parts[name] });
  const state = {
    shape: [4, 6],
    chain: null,
    isOpen: true,
    isFolded: false,
    name: 'a "b"',
    no: {},
  };
  const python = `{"shape": [4, 6], "chain": None, "isOpen": True, "isFolded": False, "name": "a \\"b\\"", "no": {}}`;
  const line = "from stridekit.widgets import Kind\n\n";
  assert.equal(restoring("Kind", modelOf({ _state: state })), `${line}Kind.restored(${python})`);
  assert.equal(
    restoring("Kind", modelOf({ _state: [], storage_size: 40 })),
    `${line}Kind.restored([], storage_size=40)`,
  );
});
