// shell.js on a page that is hardly there: what is sent, what is kept, what is tidied up.

import assert from "node:assert/strict";
import test from "node:test";

import { createShell } from "../../stridekit/widgets/page/shell.js";

class Node {
  addEventListener() {}
  setAttribute() {}
  append() {}
  prepend() {}
  remove() {
    this.removed = (this.removed ?? 0) + 1;
  }
}
globalThis.document = { createElement: () => new Node() };
globalThis.ResizeObserver = class {
  observe() {}
  disconnect() {}
};
let frames = [];
globalThis.requestAnimationFrame = (callback) => frames.push(callback);
const painted = async () => {
  const now = frames;
  frames = [];
  for (const frame of now) frame();
  await new Promise((done) => setTimeout(done, 5));
};

/** As much of a widget's model as a widget uses; `sent` is what the kernel was told. */
function createModel(scene) {
  const handlers = [];
  let now = scene;
  return {
    sent: [], handlers,
    get: () => now,
    set(_, value) {
      if (value === now) return;
      now = value;
      for (const [name, handler] of [...handlers]) if (name === "change:_scene") handler();
    },
    on: (name, handler) => handlers.push([name, handler]),
    off(name, handler) {
      handlers.splice(handlers.findIndex(([n, h]) => n === name && h === handler), 1);
    },
    save_changes() {
      this.sent.push(now);
    },
  };
}

const open = (model, draw = () => {}) => {
  const shell = createShell({ model, el: new Node() }, { label: "a", kind: "b", traits: ["_scene", "_note"], draw });
  return [shell, shell.open()];
};

test("a change is drawn at once and sent once, when it has been painted", async () => {
  const model = createModel("start");
  let drawn = 0;
  const [shell] = open(model, () => (drawn += 1));
  shell.change("one");
  shell.change("two");
  assert.deepEqual([drawn, model.sent], [3, []]);
  await painted();
  assert.deepEqual(model.sent, ["two"]);
});

test("the echo of an older state does not undo a newer one that waits", async () => {
  const model = createModel("start");
  const [shell] = open(model);
  shell.change("newer");
  model.set("_scene", "echo");
  assert.equal(model.get("_scene"), "newer");
  await painted();
  assert.deepEqual(model.sent, ["newer"]);
  model.set("_scene", "from Python");
  assert.equal(model.get("_scene"), "from Python");
});

test("a change to the same state is drawn too: what is pointed at may differ", () => {
  const model = createModel("same");
  let drawn = 0;
  const [shell] = open(model, () => (drawn += 1));
  shell.change("same");
  assert.equal(drawn, 2);
});

test("closing leaves no listener behind, and is done once", () => {
  const model = createModel("start");
  const [shell, close] = open(model);
  let ended = 0;
  shell.atEnd(() => (ended += 1));
  assert.equal(model.handlers.length, 3);
  close();
  close();
  assert.equal(model.handlers.length, 0);
  assert.equal(ended, 1);
});

test("names on a page are counted together, whatever module they come from", async () => {
  const other = await import("../../stridekit/widgets/page/shell.js?another");
  const [shell] = open(createModel("start"));
  const twin = other.createShell(
    { model: createModel("start"), el: new Node() }, { label: "a", kind: "b", traits: [], draw() {} });
  assert.notEqual(shell.id, twin.id);
});
