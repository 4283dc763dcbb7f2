// kernel.js on a stub of a page and of JupyterLab: when a view says that its kernel is gone, and what is an edit.

import assert from "node:assert/strict";
import test from "node:test";

import { besideKernel } from "../../stridekit/widgets/page/kernel.js";

class Signal {
  slots = new Set();
  connect = (slot) => this.slots.add(slot);
  disconnect = (slot) => this.slots.delete(slot);
  emit = (value) => [...this.slots].forEach((slot) => slot(null, value));
}
class Events {
  handlers = new Map();
  on = (event, handler) => this.handlers.set(handler, event);
  off = (event, handler) => this.handlers.delete(handler);
  trigger = (event) => [...this.handlers].forEach(([handler, name]) => name === event && handler());
}
class Code extends Events {
  #live;
  constructor(live) {
    super();
    this.#live = live;
  }
  get comm_live() {
    return this.#live;
  }
  set comm_live(live) {
    this.#live = live;
    this.trigger("comm_live_update");
  }
}
globalThis.document = {
  createElement: () => ({
    append() {}, setAttribute() {}, remove() { this.on?.shown.delete(this); },
  }),
};

/** A view of a widget: `says` whether its kernel is gone. */
function open(live = true, code = new Code(live)) {
  const sessionContext = { session: { kernel: { id: "k" } }, statusChanged: new Signal(), kernelChanged: new Signal() };
  const context = { model: { dirty: false }, sessionContext };
  const widget_manager = { context, _modelsSync: new Map([["c", code]]) };
  const model = Object.assign(new Events(), { get: () => "IPY_MODEL_c", widget_manager });
  const root = { shown: new Set(), append: (line) => root.shown.add(Object.assign(line, { on: root })) };
  const close = besideKernel(model, root);
  return { code, context, model, close, session: sessionContext, says: () => root.shown.size === 1 };
}

for (const status of ["autorestarting", "terminating", "dead"])
  test(`a kernel that is ${status} has gone, and does not come back to this view`, () => {
    const { session, says } = open();
    assert.equal(says(), false);
    session.statusChanged.emit(status);
    assert.equal(says(), true);
    session.statusChanged.emit("idle");
    assert.equal(says(), true);
    assert.equal(session.statusChanged.slots.size + session.kernelChanged.slots.size, 0);
  });

test("a kernel that works, or is found again after its connection was lost, has not gone", () => {
  const { session, says } = open();
  for (const status of ["busy", "idle", "unknown"]) session.statusChanged.emit(status);
  session.kernelChanged.emit({ newValue: { id: "k" } });
  assert.equal(says(), false);
});

for (const newValue of [null, { id: "another" }])
  test(`a kernel in whose place there is ${newValue?.id ?? "none"} has gone`, () => {
    const { session, says } = open();
    session.kernelChanged.emit({ newValue });
    assert.equal(says(), true);
  });

test("what was saved has no kernel from the beginning; a restart is told by Jupyter", () => {
  assert.equal(open(false).says(), true);
  const { code, says } = open();
  code.comm_live = false;
  assert.equal(says(), true);
});

test("a change is an edit of the notebook; to open it is none", () => {
  for (const live of [true, false]) {
    const { context, model } = open(live);
    assert.equal(context.model.dirty, false);
    model.trigger("change");
    assert.equal(context.model.dirty, true);
  }
});

test("views of one kernel watch it once, and leave nothing behind", () => {
  const code = new Code(true);
  const [one, two] = [open(true, code), open(true, code)];
  assert.equal(one.session.statusChanged.slots.size + two.session.statusChanged.slots.size, 1);
  one.close();
  two.close();
  assert.equal(code.handlers.size + one.model.handlers.size + two.model.handlers.size, 0);
});

test("elsewhere there is nothing to do", () => {
  for (const widget_manager of [undefined, {}, { context: {} }, { context: {}, _modelsSync: new Map() }])
    besideKernel({ get: () => "IPY_MODEL_c", widget_manager }, null)();
});
