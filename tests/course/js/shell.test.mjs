// shell.js on a stub of a page: the states that it sends and keeps, and how it tidies up.

import assert from "node:assert/strict";
import test from "node:test";
import v8 from "node:v8";
import vm from "node:vm";

import { createShell } from "../../../stridekit/widgets/page/shell.js";
import { forgetFrames, Model, newNode, paint, resize, SPEC, toPaint, viewOf } from "./jupyter.mjs";

/** The model of a widget; `sent` are the states that the kernel has got. */
function createModel(scene) {
  /** @type {any[]} */
  const sent = [];
  const model = new Model({ _state: scene, _change_id: 0, _answered_id: 0 }, (state) =>
    sent.push(state),
  );
  return Object.assign(model, { sent });
}

/** A shell that is open, and the function that closes it. */
function open(model, draw = SPEC.draw) {
  const shell = createShell(viewOf(model), { ...SPEC, traits: ["_note"], draw });
  const close = shell.open(newNode());
  return { shell, close };
}

test("a change is drawn at once and sent once, when it has been painted", () => {
  const model = createModel("start");
  let drawn = 0;
  const { shell } = open(model, () => {
    drawn += 1;
  });
  shell.change("one");
  shell.change("two");
  assert.deepEqual([drawn, toPaint(), model.sent], [3, 1, []]);
  paint(() => assert.deepEqual(model.sent, [])); // not before the frame is there
  assert.deepEqual(model.sent, [{ _state: "two", _change_id: model.get("_change_id") }]);
});

test("another state makes a widget forget what was pointed at, an answer does not", () => {
  const model = createModel("start");
  /** @type {string[]} */
  const calls = [];
  const shell = createShell(viewOf(model), {
    ...SPEC,
    draw() {
      calls.push(model.get("_state"));
    },
    forget: () => calls.push("forget"),
  });
  shell.open(newNode());
  shell.change("one");
  paint();
  model.hear({ state: { _state: "older" } });
  model.hear({ state: { _state: "one", _answered_id: model.get("_change_id") } });
  model.hear({ state: { _state: "two" } });
  assert.deepEqual(calls, ["start", "forget", "one", "forget", "two"]);
});

test("a change to the same state is drawn too: what is pointed at may differ", () => {
  const model = createModel("same");
  let drawn = 0;
  const { shell } = open(model, () => {
    drawn += 1;
  });
  shell.change("same");
  assert.equal(drawn, 2);
});

test("the rest of a change is drawn after its first frame, and once; all else is drawn whole", () => {
  const model = createModel("start");
  /** @type {string[]} */
  const finished = [];
  const { shell, close } = open(model, () => {
    const state = model.get("_state");
    return () => finished.push(state);
  });
  assert.deepEqual(finished, ["start"]);
  shell.change("one");
  shell.redraw(); // the pointer is elsewhere
  shell.change("two");
  paint(() => assert.deepEqual(finished, ["start"]));
  assert.deepEqual(finished, ["start", "two"]);
  model.hear({ state: { _state: "two", _answered_id: model.get("_change_id") } });
  model.hear({ state: { _state: "three" } });
  assert.deepEqual(finished, ["start", "two", "three"]);
  shell.change("four");
  close();
  paint();
  assert.equal(finished.length, 3); // nothing is drawn in a closed view
});

test("closing leaves no listener behind, and is done once", () => {
  const model = createModel("start");
  const { shell, close } = open(model);
  let ended = 0;
  shell.atEnd(() => {
    ended += 1;
  });
  assert.equal(model.handlers.length, 4);
  close();
  close();
  assert.equal(model.handlers.length, 0);
  assert.equal(ended, 1);
});

// The root of a view, in a node of its own ----------------------------------------------------------

/**
 * A shell that is open, its root, its node, and how often it was drawn.
 * @param {any} [spec]
 */
function openRoot(spec = {}) {
  forgetFrames();
  const view = viewOf(createModel({ a: 1, b: 1 }));
  const counts = { drawn: 0, arrived: 0 };
  const shell = createShell(view, {
    ...SPEC,
    draw() {
      counts.drawn += 1;
    },
    arrived() {
      counts.arrived += 1;
    },
    ...spec,
  });
  shell.open(newNode());
  /** @type {any} */
  const node = view.el;
  const [root] = node.children;
  root.getBoundingClientRect = () => ({ height: root.height ?? 0 });
  return { shell, node, root, counts };
}

test("a view is drawn anew at each whole width, and knows whether it is narrow or wide", () => {
  const { shell, root, counts } = openRoot();
  for (const [width, looks, drawn] of [
    [0, [], 1],
    [479.9, ["data-narrow"], 2],
    [479.2, ["data-narrow"], 2],
    [480, [], 3],
    [719.9, [], 4],
    [720, ["data-wide"], 5],
    [479, ["data-narrow"], 6],
  ]) {
    resize(width);
    const names = ["data-narrow", "data-wide"].filter((name) => root.hasAttribute(name));
    assert.deepEqual([names, counts.drawn], [looks, drawn], String(width));
  }
  assert.deepEqual([shell.width, counts.arrived], [479, 1]);
});

test("a place keeps the highest height at a width, but not while its widget is at full width", () => {
  const { node, root } = openRoot();
  /** @type {[width: number, height: number, isAtFullWidth: boolean, kept?: string][]} */
  const sizes = [
    [0, 300, false],
    [800, 300, false, "300px"],
    [800, 200, false, "300px"],
    [800, 400, false, "400px"],
    [1200, 900, true, "400px"],
    [700, 250, false, "250px"],
  ];
  for (const [width, height, isAtFullWidth, kept] of sizes) {
    root.height = height;
    if (isAtFullWidth) root.setAttribute("popover", "manual");
    else root.removeAttribute("popover");
    resize(width);
    assert.equal(node.style.minHeight, kept, `${width} px`);
  }
});

for (const [ahead, isShown] of [
  [-1, false],
  [0, true],
  [1, true],
  [2, false],
])
  test(`a view comes ${isShown ? "" : "not "}into sight if the active cell is ${ahead} ahead`, () => {
    const { root } = openRoot();
    const active = { dataset: { windowedListIndex: String(5 + Number(ahead)) } };
    const cell = {
      dataset: { windowedListIndex: "5" },
      closest: () => ({ querySelector: () => active }),
    };
    root.closest = () => cell;
    /** @type {any[]} */
    const scrolled = [];
    root.scrollIntoView = (options) => scrolled.push(options);
    for (const width of [800, 900]) {
      resize(width);
      paint();
      assert.deepEqual(scrolled.length, width === 900 && isShown ? 1 : 0);
      paint();
    }
    assert.deepEqual(scrolled, isShown ? [{ block: "nearest" }] : []);
  });

/** @type {[who: string, pointerType: string, type: string, after: string, value: string][]} */
const TOUCHES = [
  ["a finger that scrolls the page", "touch", "range", "7", "3"],
  ["a finger that moves nothing", "touch", "range", "3", "3"],
  ["a mouse", "mouse", "range", "7", "7"],
  ["a finger on a text", "touch", "text", "7", "7"],
];
for (const [who, pointerType, type, after, value] of TOUCHES)
  test(`${who} leaves a control of type ${type} at ${value}`, () => {
    const { root } = openRoot();
    /** @type {Event[]} */
    const events = [];
    const target = { type, value: "3", dispatchEvent: (event) => events.push(event) };
    root.listeners.pointerdown({ pointerType, target });
    target.value = after;
    root.listeners.pointercancel({});
    assert.equal(target.value, value);
    const sent = events.map((event) => [event.type, event.bubbles]);
    assert.deepEqual(sent, value === after ? [] : [["input", true]]);
  });

test("pointing at another spot draws, a part of the state is put into it, and the last word is heard", async (t) => {
  const { shell, counts } = openRoot();
  shell.hover(["x", 1]);
  shell.hover(["x", 1]);
  assert.deepEqual([shell.hovered, counts.drawn], [["x", 1], 2]);
  shell.hover(null);
  assert.deepEqual([shell.hovered, counts.drawn], [null, 3]);
  shell.put({ b: 2 });
  assert.deepEqual(shell.state(), { a: 1, b: 2 });
  assert.equal(counts.drawn, 4);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { shell: speaker, root } = openRoot();
  const [spoken] = root.children;
  for (const sentence of ["one", "two"]) {
    speaker.speak(sentence);
    t.mock.timers.tick(249);
    assert.equal(spoken.textContent ?? "", "");
  }
  t.mock.timers.tick(1);
  assert.equal(spoken.textContent, "two");
});

test("names on a page are counted together, whatever module they come from", async () => {
  const file = "../../../stridekit/widgets/page/shell.js";
  const copy = await import(`${file}?another`);
  const { shell } = open(createModel("start"));
  const twin = copy.createShell(viewOf(createModel("start")), SPEC);
  assert.notEqual(shell.id, twin.id);
});

test("of the changes of one model no more than the newest is held on to", async () => {
  v8.setFlagsFromString("--expose-gc");
  const collect = vm.runInNewContext("gc");
  const { shell } = open(createModel("start"));
  /** @type {WeakRef<{ k: number }>[]} */
  const scenes = [];
  for (let k = 0; k < 10; k++) {
    const scene = { k };
    scenes.push(new WeakRef(scene));
    shell.change(scene);
  }
  await new Promise((resolve) => setTimeout(resolve));
  collect();
  const held = scenes.map((scene) => scene.deref()?.k).filter((k) => k !== undefined);
  assert.deepEqual(held, [9]);
});
