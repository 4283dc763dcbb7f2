// shell.js on a stub of a page: the states that it sends and keeps, and how it tidies up.

import assert from "node:assert/strict";
import test from "node:test";
import v8 from "node:v8";
import vm from "node:vm";

import { createShell } from "../../../stridekit/widgets/page/shell.js";
import { Model, newNode, paint, SPEC, toPaint, viewOf } from "./jupyter.mjs";

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
