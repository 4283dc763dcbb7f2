// Page and kernel change the state at the same moment: in every order in which that can happen, all
// end up with the state that the kernel holds, and no view shows a state again that it has left for
// a later one.

import assert from "node:assert/strict";
import test from "node:test";

import { createShell } from "../../../stridekit/widgets/page/shell.js";
import { forgetFrames, Kernel, newNode, paint, SPEC, toPaint, viewOf } from "./jupyter.mjs";

/** @import { Page } from "./jupyter.mjs" */

/**
 * A page has some views. Each of its changes by hand is the index of a view and the name of a scene.
 * @typedef {{ views: number, hands: [view: number, scene: string][] }} PageScript
 * @typedef {{ pages: PageScript[], kernel: string[] }} Scenario
 * @typedef {[happening: string, page?: number]} Move
 */

const REFUSED = "refused";
const AS_IT_IS = "as it is";
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/**
 * A view that writes down which states it has shown.
 * @param {Page} page
 */
function createView(page) {
  const view = { page, shown: ["start"], drawn: 0, scene: "start", shell: createViewShell() };

  function createViewShell() {
    return createShell(viewOf(page.model), {
      ...SPEC,
      draw() {
        view.drawn += 1;
        view.scene = page.model.get("_state").at;
      },
    });
  }

  view.shell.open(newNode());
  return view;
}

/**
 * A kernel, and pages of views.
 * @param {Scenario} scenario
 */
function createWorld({ pages, kernel: changes }) {
  forgetFrames();
  const kernel = new Kernel({ at: "start" }, ({ at }) => at.startsWith(REFUSED));
  const hands = pages.map((script) => {
    const page = kernel.page();
    const views = Array.from({ length: script.views }, () => createView(page));
    return { page, views, todo: [...script.hands] };
  });
  const views = hands.flatMap((hand) => hand.views);
  const todo = [...changes];
  let sent = 0;

  /** List all that can happen next. */
  function moves() {
    /** @type {Move[]} */
    const possible = [];
    for (const [p, hand] of hands.entries()) {
      if (hand.todo.length) possible.push(["hand", p]);
      if (hand.page.news.length) possible.push(["hear", p]);
    }
    if (todo.length) possible.push(["kernel"]);
    if (toPaint()) possible.push(["paint"]);
    if (kernel.inbox.length) possible.push(["take"]);
    return possible;
  }

  const happen = {
    hand(p) {
      const { page, views: ownViews, todo: remaining } = hands[p];
      const [k, scene] = remaining.shift() ?? [0, ""];
      const { shell } = ownViews[k];
      if (scene === AS_IT_IS) {
        ownViews[0].drawn -= 1; // the same state is drawn anew
        shell.change({ ...page.model.get("_state") });
      } else {
        shell.change({ at: scene });
      }
    },
    hear(p) {
      const { model, news } = hands[p].page;
      model.hear(news.shift() ?? {});
    },
    kernel: () => kernel.change({ at: todo.shift() }),
    paint: () => paint(),
    take() {
      sent += 1;
      kernel.take();
    },
  };

  /** @param {Move} move */
  function move([happening, p]) {
    happen[happening](p);
    for (const view of views) if (view.shown.at(-1) !== view.scene) view.shown.push(view.scene);
  }

  /**
   * All is quiet: check that everyone has the kernel's state, and has not gone back on the way.
   * @param {string} path
   */
  function check(path) {
    const order = kernel.held.map(({ at }) => at);
    for (const { page, shown, drawn } of views) {
      const last = order.at(-1);
      assert.deepEqual([page.model.get("_state").at, shown.at(-1)], [last, last], path);
      const held = shown.map((scene) => order.indexOf(scene)).filter((k) => k >= 0);
      const ascending = [...held].sort((a, b) => a - b);
      assert.deepEqual(held, ascending, `${path}: ${shown}`);
      const repeated = shown.length - new Set(shown).size;
      assert.ok(repeated <= kernel.refusals, `${path}: ${shown} goes back`);
      assert.ok(drawn <= shown.length, `${path}: nothing is drawn twice`);
    }
    assert.ok(sent <= sum(pages.map((script) => script.hands.length)), path);
  }

  return { moves, move, check };
}

/**
 * Walk every path from the start, because a shell cannot be copied, and count them.
 * @param {Scenario} scenario
 */
function walkAll(scenario) {
  /** @type {Move[][]} */
  const paths = [[]];
  let count = 0;
  for (let path = paths.pop(); path; path = paths.pop()) {
    const world = createWorld(scenario);
    path.forEach(world.move);
    for (let moves = world.moves(); moves.length; moves = world.moves()) {
      const [first, ...others] = moves;
      for (const other of others) paths.push([...path, other]);
      path.push(first);
      world.move(first);
    }
    world.check(path.map((step) => step.join("")).join(" "));
    count += 1;
  }
  return count;
}

/** @type {(...scenes: string[]) => PageScript} */
const oneView = (...scenes) => ({ views: 1, hands: scenes.map((scene) => [0, scene]) });
/** @type {(...hands: [view: number, scene: string][]) => PageScript} */
const twoViews = (...hands) => ({ views: 2, hands });

/** @type {Record<string, Scenario>} */
const ALL = {
  "a hand and the kernel": { pages: [oneView("A")], kernel: ["K"] },
  "two changes of each": { pages: [oneView("A", "B")], kernel: ["K", "L"] },
  "three by hand": { pages: [oneView("A", "B", "C")], kernel: ["K"] },
  "three by the kernel": { pages: [oneView("A")], kernel: ["K", "L", "M"] },
  "a hand that sets what is there": { pages: [oneView(AS_IT_IS, "A")], kernel: ["K", "L"] },
  "what is there, and no more": { pages: [oneView(AS_IT_IS)], kernel: ["K", "L"] },
  "one that is refused": { pages: [oneView(REFUSED, "A")], kernel: ["K"] },
  "one that is refused at last": { pages: [oneView("A", REFUSED)], kernel: ["K"] },
  "two views of one page": { pages: [twoViews([0, "A"], [1, "B"])], kernel: ["K"] },
  "two views, the second first": { pages: [twoViews([1, "A"], [0, "B"])], kernel: ["K"] },
  "two pages": { pages: [oneView("A"), oneView("B")], kernel: [] },
};
for (const [name, scenario] of Object.entries(ALL))
  test(`in every order: ${name}`, () => assert.ok(walkAll(scenario) > 10));
