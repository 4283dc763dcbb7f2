// shell.js on a stub of a page: what it sends, what it keeps, and how it tidies up.

import assert from "node:assert/strict";
import test from "node:test";
import v8 from "node:v8";
import vm from "node:vm";

import { createShell } from "../../../stridekit/widgets/page/shell.js";
import { Model, Node, paint, toPaint } from "./jupyter.mjs";

/** The model of a widget; `sent` is what the kernel was told. */
function createModel(scene) {
  const sent = [];
  const model = new Model({ _state: scene, _change_id: 0, _answered_id: 0 }, (state) =>
    sent.push(state),
  );
  return Object.assign(model, { sent });
}

const open = (model, draw = () => {}) => {
  const shell = createShell(
    { model, el: new Node() },
    { label: "a", kind: "b", traits: ["_note"], draw },
  );
  return [shell, shell.open()];
};

test("a change is drawn at once and sent once, when it has been painted", () => {
  const model = createModel("start");
  let drawn = 0;
  const [shell] = open(model, () => void (drawn += 1));
  shell.change("one");
  shell.change("two");
  assert.deepEqual([drawn, toPaint(), model.sent], [3, 1, []]);
  paint(() => assert.deepEqual(model.sent, [])); // not before the frame is there
  assert.deepEqual(model.sent, [{ _state: "two", _change_id: model.get("_change_id") }]);
});

test("another state makes a widget forget what was pointed at, an answer does not", () => {
  const model = createModel("start");
  const done = [];
  const options = { label: "a", kind: "b" };
  const shell = createShell(
    { model, el: new Node() },
    {
      ...options,
      draw: () => void done.push(model.get("_state")),
      forget: () => done.push("forgot"),
    },
  );
  shell.open();
  shell.change("one");
  paint();
  model.hear({ state: { _state: "older" } });
  model.hear({ state: { _state: "one", _answered_id: model.get("_change_id") } });
  model.hear({ state: { _state: "two" } });
  assert.deepEqual(done, ["start", "forgot", "one", "forgot", "two"]);
});

test("a change to the same state is drawn too: what is pointed at may differ", () => {
  const model = createModel("same");
  let drawn = 0;
  const [shell] = open(model, () => void (drawn += 1));
  shell.change("same");
  assert.equal(drawn, 2);
});

test("what a change can do without in its first frame is drawn after it, and once; all else is drawn whole", () => {
  const model = createModel("start");
  const told = [];
  const [shell, close] = open(model, () => {
    const state = model.get("_state");
    return () => told.push(state);
  });
  assert.deepEqual(told, ["start"]);
  shell.change("one");
  shell.redraw(); // the pointer is elsewhere
  shell.change("two");
  paint(() => assert.deepEqual(told, ["start"]));
  assert.deepEqual(told, ["start", "two"]);
  model.hear({ state: { _state: "two", _answered_id: model.get("_change_id") } });
  model.hear({ state: { _state: "three" } });
  assert.deepEqual(told, ["start", "two", "three"]);
  shell.change("four");
  close();
  paint();
  assert.equal(told.length, 3); // nothing is drawn in a closed view
});

test("closing leaves no listener behind, and is done once", () => {
  const model = createModel("start");
  const [shell, close] = open(model);
  let ended = 0;
  shell.atEnd(() => (ended += 1));
  assert.equal(model.handlers.length, 4);
  close();
  close();
  assert.equal(model.handlers.length, 0);
  assert.equal(ended, 1);
});

test("names on a page are counted together, whatever module they come from", async () => {
  const other = await import("../../../stridekit/widgets/page/shell.js?another");
  const [shell] = open(createModel("start"));
  const twin = other.createShell(
    { model: createModel("start"), el: new Node() },
    { label: "a", kind: "b", draw() {} },
  );
  assert.notEqual(shell.id, twin.id);
});

test("of the changes of one model no more than the newest is held on to", async () => {
  v8.setFlagsFromString("--expose-gc");
  const collect = vm.runInNewContext("gc");
  const [shell] = open(createModel("start"));
  const held = [];
  for (let k = 0; k < 10; k++) {
    const scene = { k };
    held.push(new WeakRef(scene));
    shell.change(scene);
  }
  await new Promise((done) => setTimeout(done));
  collect();
  assert.deepEqual(
    held.map((scene) => scene.deref()?.k).filter((k) => k !== undefined),
    [9],
  );
});
