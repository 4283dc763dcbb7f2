// What is around a widget on stubs of it: a page without a kernel, a notebook that is saved, a kernel that ends.

import assert from "node:assert/strict";
import test from "node:test";
import zlib from "node:zlib";

import code from "../../../stridekit/widgets/page/code.js";
import { bringToLife, createModel } from "../../../stridekit/widgets/page/host.js";
import { besideKernel } from "../../../stridekit/widgets/page/shell.js";

Promise.withResolvers ??= () => {
  const made = {};
  made.promise = new Promise((resolve) => Object.assign(made, { resolve }));
  return made;
};
// node imports no blobs: a text becomes an address here.
globalThis.Blob = class {
  constructor([text], { type }) {
    this.url = `data:${type},${encodeURIComponent(text)}`;
  }
};
const made = [];
URL.createObjectURL = ({ url }) => (made.push(url), url);
URL.revokeObjectURL = () => {};
const createElement = () => ({
  append() {},
  setAttribute() {},
  remove() {
    this.on?.shown.delete(this);
  },
});
Object.assign(globalThis, {
  location: { hash: "" },
  addEventListener() {},
  document: { createElement, head: { append() {} } },
});
await import("../../../labextension/static/extension.js");
const { default: plugin } = (await globalThis._JUPYTERLAB.stridekit.get())();

// A page without a kernel: host.js ------------------------------------------------------------------------------

test("a model tells of each change by its name and as any change; a listener that goes takes none along", () => {
  const told = [],
    model = createModel({ a: 1, b: 1 });
  const first = () => {
    told.push("first");
    model.off("change:a", first);
  };
  model.on("change:a", first);
  model.on("change:a", () => told.push(model.get("a")));
  model.on("change", () => told.push("any"));
  for (const [name, value] of [
    ["a", 1],
    ["a", 2],
    ["b", 2],
    ["a", 3],
  ])
    model.set(name, value);
  assert.deepEqual(told, ["first", 2, "any", "any", 3, "any"]);
});

const SHOWS = `globalThis.loaded = (globalThis.loaded ?? 0) + 1;
  export function render({ model, el, signal }) {
    if (model.get("bad")) throw new Error("no such picture");
    Object.assign(el, { model, signal, textContent: model.get("text") });
  }`;

test("nodes of one number share a model, a module is loaded once, and what fails says so in its place", async () => {
  const reported = [],
    nodes = ["0", "1", "0", "2"].map((widget) => ({ dataset: { widget } }));
  globalThis.reportError = (error) => reported.push(error.message);
  const root = { querySelectorAll: (css) => (css === "[data-widget]" ? nodes : []) };
  await bringToLife(root, {
    modules: [SHOWS],
    widgets: [
      [0, { text: "one" }],
      [0, { bad: true }],
      [0, { text: "two" }],
    ],
  });
  const bad = "This picture could not be drawn: no such picture";
  assert.deepEqual(
    nodes.map((el) => el.textContent),
    ["one", bad, "one", "two"],
  );
  assert.deepEqual([globalThis.loaded, reported], [1, ["no such picture"]]);
  assert.equal(nodes[0].model, nodes[2].model);
  assert.notEqual(nodes[0].model, nodes[3].model);
});

// A notebook: code.js -------------------------------------------------------------------------------------------

const zip = (module) =>
  zlib.deflateSync(JSON.stringify([module, "p {}", "q {}"])).toString("base64");
const begin = (traits, widget_manager) =>
  code.initialize({ model: { get: (name) => traits[name], widget_manager } });

test("widgets get the module whether they come before or after it; it runs once for all of a kind, and a sheet comes once", async () => {
  const wait = () => (globalThis["a kind"] ??= Promise.withResolvers()).promise,
    early = wait();
  const styles = [],
    before = made.length;
  document.head.appendChild = (style) => styles.push(style.textContent);
  const module = zip("export const draws = 'é';");
  for (const key of ["a kind", "a kind", "a kind", "a later kind"])
    begin({ _key: key, _zip: module });
  const later = await globalThis["a later kind"].promise; // by then, the first kind would have come again
  assert.deepEqual(
    [
      (await early).draws,
      (await wait()) === (await early),
      later.draws,
      made.length - before,
      ...styles,
    ],
    ["é", true, "é", 2, "p {}", "q {}"],
  );
});

const [VIEW, STATE] = ["view", "state"].map(
  (what) => `application/vnd.jupyter.widget-${what}+json`,
);
const saved = (state) => ({ model_name: "M", model_module: "m", model_module_version: "1", state });

/** What is saved of a notebook whose outputs show widgets, with `live` and `dead` models, saved before with `old`. */
function saveOf(shown, { live = {}, dead = {}, old = {} }) {
  const slots = [],
    metadata = { widgets: { [STATE]: { state: old } } };
  const outputs = (ids) => ({
    length: ids.length,
    get: (k) => ({ data: ids[k] ? { [VIEW]: { model_id: ids[k] } } : {} }),
  });
  const model = (state) => ({
    name: "M",
    module: "m",
    get: () => "1",
    get_state: () => state,
    serialize: (all) => all,
  });
  const entries = (all, make) => Object.entries(all).map(([id, state]) => [id, make(state)]);
  const notebook = {
    cells: [{}, ...shown.map((ids) => ({ outputs: outputs(ids) }))],
    getMetadata: (name) => metadata[name],
    setMetadata: (name, value) => (metadata[name] = value),
    deleteMetadata: (name) => delete metadata[name],
  };
  const manager = {
    get_state_sync: () => ({ state: Object.fromEntries(entries(live, saved)) }),
    _modelsSync: new Map(entries({ ...live, ...dead }, model)),
    context: { saveState: { connect: (slot) => slots.push(slot) }, model: notebook },
  };
  for (const key of ["a kind", "another"])
    begin({ _key: key, _zip: zip("export default 1") }, manager);
  assert.equal(slots.length, 1); // each model of a notebook asks, and it is saved once
  slots[0](null, "completed");
  assert.deepEqual(metadata.widgets[STATE].state, old);
  slots[0](null, "started");
  return metadata.widgets?.[STATE].state;
}

test("what outputs show is saved, with what that refers to, and nothing else", () => {
  const live = {
    a: { _code: "IPY_MODEL_c" },
    b: { list: ["IPY_MODEL_d"] },
    c: {},
    d: { up: "IPY_MODEL_b" },
    e: {},
  };
  const state = saveOf([["a", null], [], ["b", "a"]], { live });
  assert.deepEqual(
    [Object.keys(state).sort(), state.a],
    [["a", "b", "c", "d"], saved({ _code: "IPY_MODEL_c" })],
  );
  assert.equal(saveOf([[]], { live: { a: {} }, old: { a: saved({}) } }), undefined);
});

test("a widget whose kernel is gone is saved as it is on the page, and one that never came as it was", () => {
  const old = { a: saved({ now: 1 }), b: saved({ now: 1 }), z: saved({}) };
  const state = saveOf([["a"], ["b"], ["unknown"]], { dead: { a: { now: 2 } }, old });
  assert.deepEqual(state, { a: saved({ now: 2 }), b: saved({ now: 1 }) });
});

// A kernel that ends: kernel.js -----------------------------------------------------------------------------------

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
  live = true;
  get comm_live() {
    return this.live;
  }
  set comm_live(live) {
    this.live = live;
    this.trigger("comm_live_update");
  }
}

/** A view of a widget: `says` whether its kernel is gone. */
function view(code = new Code()) {
  const sessionContext = {
    session: { kernel: { id: "k" } },
    statusChanged: new Signal(),
    kernelChanged: new Signal(),
  };
  const context = { model: { dirty: false }, sessionContext };
  const widget_manager = { context, _modelsSync: new Map([["c", code]]) };
  const model = Object.assign(new Events(), { get: () => "IPY_MODEL_c", widget_manager });
  const root = {
    shown: new Set(),
    append: (line) => root.shown.add(Object.assign(line, { on: root })),
  };
  const ended = new AbortController();
  besideKernel(model, root, ended.signal);
  return {
    code,
    context,
    model,
    close: () => ended.abort(),
    ...sessionContext,
    says: () => root.shown.size === 1,
  };
}

test("a kernel that works, or is found again after its connection was lost, has not gone", () => {
  const { statusChanged, kernelChanged, says } = view();
  for (const status of ["busy", "idle", "unknown"]) statusChanged.emit(status);
  kernelChanged.emit({ newValue: { id: "k" } });
  assert.equal(says(), false);
});

for (const [signal, value] of [
  ["status", "autorestarting"],
  ["status", "terminating"],
  ["status", "dead"],
  ["kernel", { newValue: null }],
  ["kernel", { newValue: { id: "another" } }],
])
  test(`a kernel has gone for good with the ${signal} ${JSON.stringify(value)}`, () => {
    const { [`${signal}Changed`]: changed, statusChanged, kernelChanged, says } = view();
    changed.emit(value);
    statusChanged.emit("idle");
    assert.deepEqual([says(), statusChanged.slots.size + kernelChanged.slots.size], [true, 0]);
  });

test("a change is an edit of the notebook, to open it is none; views watch a kernel once and leave nothing behind", () => {
  const code = new Code(),
    [one, two] = [view(code), view(code)];
  assert.equal(one.context.model.dirty, false);
  one.model.trigger("change");
  assert.equal(one.context.model.dirty, true);
  assert.equal(one.statusChanged.slots.size + two.statusChanged.slots.size, 1);
  one.close();
  two.close();
  assert.equal(code.handlers.size + one.model.handlers.size + two.model.handlers.size, 0);
  for (const widget_manager of [
    undefined,
    { context: {} },
    { context: {}, _modelsSync: new Map() },
  ])
    besideKernel({ get: () => "IPY_MODEL_c", widget_manager }, null); // elsewhere there is nothing to do
});

// JupyterLab opens a lesson: the extension ------------------------------------------------------------------------

/** Whether a notebook counts as edited, after JupyterLab has set an entry of its metadata, which marks it so. */
function isEdited(language_info, key, value, dirty = false) {
  const signal = { connect() {} };
  const model = {
    metadata: { language_info },
    dirty,
    cells: Object.assign([], { changed: signal }),
    contentChanged: signal,
    getMetadata: (name) => model.metadata[name],
    setMetadata(name, given) {
      model.metadata[name] = given;
      model.dirty = true;
    },
  };
  const rendermime = { removeMimeType() {}, getFactory: () => ({}), addFactory() {} };
  const panel = { content: { rendermime, widgets: [], node: { classList: { toggle() {} } } } };
  const sessionContext = { kernelPreference: { shouldStart: false } };
  plugin.activate({
    docRegistry: {
      addWidgetExtension: (_, { createNew }) => createNew(panel, { model, sessionContext }),
    },
  });
  model.setMetadata(key, value);
  return model.dirty;
}

test("what JupyterLab fills in when a kernel connects is no edit, and an edit stays one", () => {
  const whole = { name: "python", version: "3.13" };
  assert.equal(isEdited({ name: "python" }, "kernelspec", { name: "python3" }), false);
  assert.equal(isEdited({ name: "python" }, "language_info", whole), false);
  assert.equal(isEdited({ name: "python" }, "language_info", whole, true), true);
  assert.equal(isEdited(whole, "kernelspec", { name: "other" }), true);
  assert.equal(isEdited({ name: "python" }, "title", "mine"), true);
});
