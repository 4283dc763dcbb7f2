// Page and kernel change the state at the same moment: in every order in which that can happen, all end up
// with what the kernel holds, and no view shows a state again that it has left for a later one.

import assert from "node:assert/strict";
import test from "node:test";

import { createShell } from "../../../stridekit/widgets/page/shell.js";
import { forgetFrames, Kernel, Node, paint, toPaint } from "./jupyter.mjs";

const REFUSED = "refused";
const AS_IT_IS = "as it is";
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** A kernel, and pages of views, each of which writes down what it has shown. */
function createWorld({ pages, kernel: changes }) {
  forgetFrames();
  const kernel = new Kernel({ at: "start" }, ({ at }) => at.startsWith(REFUSED));
  const views = [];
  const hands = pages.map(({ views: count, hands: todo }) => {
    const page = kernel.page();
    const shells = Array.from({ length: count }, () => {
      const view = { shown: ["start"], drawn: 0, page };
      const draw = () => {
        view.drawn += 1;
        view.now = page.model.get("_state").at;
      };
      const shell = createShell(
        { model: page.model, el: new Node() },
        { label: "", kind: "", draw },
      );
      shell.open();
      views.push(view);
      return shell;
    });
    return { page, shells, todo: [...todo] };
  });
  const todo = [...changes];
  let sent = 0;

  /** What can happen next. */
  function moves() {
    const found = [];
    hands.forEach((hand, p) => {
      if (hand.todo.length) found.push(["hand", p]);
      if (hand.page.news.length) found.push(["hear", p]);
    });
    if (todo.length) found.push(["kernel"]);
    if (toPaint()) found.push(["paint"]);
    if (kernel.inbox.length) found.push(["take"]);
    return found;
  }

  const happen = {
    hand(p) {
      const { page, shells, todo: left } = hands[p];
      const [k, at] = left.shift();
      if (at === AS_IT_IS) views.find((view) => view.page === page).drawn -= 1; // drawn anew
      shells[k].change(at === AS_IT_IS ? { ...page.model.get("_state") } : { at });
    },
    hear: (p) => hands[p].page.model.hear(hands[p].page.news.shift()),
    kernel: () => kernel.change({ at: todo.shift() }),
    paint,
    take() {
      sent += 1;
      kernel.take();
    },
  };

  function move([what, p]) {
    happen[what](p);
    for (const view of views) if (view.shown.at(-1) !== view.now) view.shown.push(view.now);
  }

  /** All is quiet: everyone has what the kernel has, and got there without a way back. */
  function check(path) {
    const order = kernel.held.map(({ at }) => at);
    for (const { page, shown, drawn } of views) {
      assert.deepEqual(
        [page.model.get("_state").at, shown.at(-1)],
        [order.at(-1), order.at(-1)],
        path,
      );
      const held = shown.map((at) => order.indexOf(at)).filter((k) => k >= 0);
      assert.deepEqual(
        held,
        [...held].sort((a, b) => a - b),
        `${path}: ${shown}`,
      );
      assert.ok(
        shown.length - new Set(shown).size <= kernel.refusals,
        `${path}: ${shown} goes back`,
      );
      assert.ok(drawn <= shown.length, `${path}: nothing is drawn twice`);
    }
    assert.ok(sent <= sum(pages.map(({ hands: todo }) => todo.length)), path);
  }

  return { moves, move, check };
}

/** Every path, each from the start, as what has happened in a shell cannot be copied: how many there are. */
function walkAll(scenario) {
  const paths = [[]];
  let count = 0;
  for (; paths.length; count += 1) {
    const [world, path] = [createWorld(scenario), paths.pop()];
    path.forEach(world.move);
    for (let moves = world.moves(); moves.length; moves = world.moves()) {
      const [first, ...others] = moves;
      paths.push(...others.map((other) => [...path, other]));
      path.push(first);
      world.move(first);
    }
    world.check(path.map((step) => step.join("")).join(" "));
  }
  return count;
}

const one = (...hands) => ({ views: 1, hands: hands.map((scene) => [0, scene]) });
const two = (...hands) => ({ views: 2, hands });
const ALL = {
  "a hand and the kernel": { pages: [one("A")], kernel: ["K"] },
  "two changes of each": { pages: [one("A", "B")], kernel: ["K", "L"] },
  "three by hand": { pages: [one("A", "B", "C")], kernel: ["K"] },
  "three by the kernel": { pages: [one("A")], kernel: ["K", "L", "M"] },
  "a hand that sets what is there": { pages: [one(AS_IT_IS, "A")], kernel: ["K", "L"] },
  "what is there, and no more": { pages: [one(AS_IT_IS)], kernel: ["K", "L"] },
  "one that is refused": { pages: [one("refused", "A")], kernel: ["K"] },
  "one that is refused at last": { pages: [one("A", "refused")], kernel: ["K"] },
  "two views of one page": { pages: [two([0, "A"], [1, "B"])], kernel: ["K"] },
  "two views, the second first": { pages: [two([1, "A"], [0, "B"])], kernel: ["K"] },
  "two pages": { pages: [one("A"), one("B")], kernel: [] },
};
for (const [name, scenario] of Object.entries(ALL))
  test(`in every order: ${name}`, () => assert.ok(walkAll(scenario) > 10));
