// player.js under a mocked clock: it steps to the end, pauses, begins again, and keeps one speed for the page.

import assert from "node:assert/strict";
import test, { mock } from "node:test";

import { createPlayer } from "../../stridekit/widgets/page/player.js";

mock.timers.enable({ apis: ["setTimeout"] });

const selects = [];
const node = (tag) => {
  const made = { on: {}, children: [], setAttribute() {}, append: (...more) => made.children.push(...more) };
  made.addEventListener = (event, listener) => (made.on[event] = listener);
  if (tag === "select") selects.push(made);
  return made;
};
globalThis.document = { createElement: node, querySelectorAll: () => selects };

function walk(steps, pause = () => 100) {
  const state = { at: 0, tick: (ms) => mock.timers.tick(ms) };
  const draw = () => state.player.draw(true);
  const go = (at) => {
    state.at = at;
    draw();
  };
  state.player = createPlayer({
    left: () => steps - state.at, step: () => go(state.at + 1), rewind: () => go(0), redraw: draw,
    pause: () => pause(state.at),
  });
  draw();
  const [play, speed] = state.player.node.children;
  Object.assign(state, { play, says: () => play.textContent, speed: () => speed.value });
  state.choose = (value) => {
    speed.value = value;
    speed.on.change();
  };
  return state;
}

test("it steps to the end, and the button says what it would do", () => {
  const state = walk(3);
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

test("it pauses, goes on, and begins anew at the end", () => {
  const state = walk(2);
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

test("what was moved to its end meanwhile is not moved on", () => {
  const state = walk(3);
  state.player.toggle();
  state.at = 3;
  state.tick(100);
  assert.deepEqual([state.at, state.says()], [3, "▶ play"]);
});

test("a step stays as long as it is told, the first one too, and what is left is asked anew", () => {
  const state = walk(3, (at) => 100 * (at + 1));
  const waits = (at, ms) => {
    state.tick(ms - 1);
    assert.equal(state.at, at);
    state.tick(1);
    assert.equal(state.at, at + 1);
  };
  state.player.toggle();
  for (const at of [0, 1, 2]) waits(at, 100 * (at + 1));
  state.player.toggle(); // from the end it plays again, and the first step stays as long as before
  waits(0, 100);
  state.player.stop();
  state.tick(1000);
  assert.deepEqual([state.at, state.says()], [1, "❚❚ pause"]); // whoever stops it draws
  state.player.draw(false);
  assert.deepEqual([state.says(), state.play.disabled], ["▶ play", true]);
  state.player.draw(true);
  assert.equal(state.play.disabled, false);
});

test("a speed counts at once, and for every player of the page", () => {
  const [state, other] = [walk(5), walk(5)];
  assert.equal(state.speed(), "1");
  state.player.toggle();
  state.tick(60);
  state.choose("0.5"); // the step on screen begins again
  state.tick(199);
  assert.equal(state.at, 0);
  state.tick(1);
  assert.equal(state.at, 1);
  assert.equal(other.speed(), "0.5");
  other.player.toggle();
  other.tick(199);
  assert.equal(other.at, 0);
  state.choose("2");
  assert.equal(walk(1).speed(), "2"); // a new player has the page's speed
  state.tick(50);
  assert.equal(state.at, 2);
  state.choose("1");
});
