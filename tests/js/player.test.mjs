// player.js under a mocked clock: it steps to the end, pauses, and begins again.

import assert from "node:assert/strict";
import test from "node:test";

import { createPlayer } from "../../stridekit/widgets/page/player.js";

globalThis.document = {
  createElement: () => ({ addEventListener() {}, setAttribute() {}, append() {} }),
};

function walk(t, steps) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const state = { at: 0, tick: (ms) => t.mock.timers.tick(ms) };
  const draw = () => state.player.draw(true);
  const go = (at) => {
    state.at = at;
    draw();
  };
  state.player = createPlayer({
    left: () => steps - state.at, step: () => go(state.at + 1), rewind: () => go(0), redraw: draw, pause: () => 100,
  });
  draw();
  state.says = () => state.player.node.textContent;
  return state;
}

test("it steps to the end, and the button says what it would do", (t) => {
  const state = walk(t, 3);
  assert.equal(state.says(), "▶ play");
  state.player.toggle();
  assert.deepEqual([state.at, state.says()], [0, "❚❚ pause"]);
  for (const at of [1, 2]) {
    state.tick(100);
    assert.deepEqual([state.at, state.says()], [at, "❚❚ pause"]);
  }
  state.tick(100);
  assert.deepEqual([state.at, state.says()], [3, "▶ play"]);
  state.tick(1000);
  assert.equal(state.at, 3);
});

test("it pauses, goes on, and begins anew at the end", (t) => {
  const state = walk(t, 2);
  state.player.toggle();
  state.tick(100);
  state.player.toggle();
  state.tick(1000);
  assert.deepEqual([state.at, state.says()], [1, "▶ play"]);
  state.player.toggle();
  state.tick(100);
  assert.equal(state.at, 2);
  state.player.toggle();
  assert.deepEqual([state.at, state.says()], [0, "❚❚ pause"]);
});

test("what was moved to its end meanwhile is not moved on", (t) => {
  const state = walk(t, 3);
  state.player.toggle();
  state.at = 3;
  state.tick(100);
  assert.deepEqual([state.at, state.says()], [3, "▶ play"]);
});

test("a step waits as long as it is told each time, and what is left is asked anew", (t) => {
  const state = walk(t, 3);
  state.player.toggle();
  state.tick(99);
  assert.equal(state.at, 0);
  state.tick(1);
  assert.equal(state.at, 1);
  state.player.stop();
  state.tick(1000);
  assert.deepEqual([state.at, state.says()], [1, "❚❚ pause"]); // whoever stops it draws
  state.player.draw(false);
  assert.deepEqual([state.says(), state.player.node.disabled], ["▶ play", true]);
  state.player.draw(true);
  assert.equal(state.player.node.disabled, false);
});
