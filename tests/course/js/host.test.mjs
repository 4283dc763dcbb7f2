// The surroundings of a widget, as stubs: a page without a kernel, a notebook that is saved, a
// kernel that ends.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import zlib from "node:zlib";

import unpack from "../../../stridekit/widgets/page/code.js";
import { bringToLife, createModel } from "../../../stridekit/widgets/page/host.js";
import widget from "../../../stridekit/widgets/page/load.js";
import { besideKernel } from "../../../stridekit/widgets/page/shell.js";

/** @type {any} */
const page = globalThis;

// node imports no blobs: a text becomes an address here.
page.Blob = class {
  constructor([text], { type }) {
    this.url = `data:${type},${encodeURIComponent(text)}`;
  }
};
/** @type {string[]} */
const urls = [];
page.URL.createObjectURL = ({ url }) => {
  urls.push(url);
  return url;
};
page.URL.revokeObjectURL = () => {};
page.location = { hash: "" };
page.addEventListener = () => {};
page.document = {
  createElement: () => ({
    append() {},
    setAttribute() {},
    remove() {
      this.parent?.shown.delete(this);
    },
  }),
  head: { append() {} },
};

// A page without a kernel: host.js ------------------------------------------------------------------

test("a model emits each change by its name and as any change; a listener that goes takes none along", () => {
  /** @type {any[]} */
  const calls = [];
  const model = createModel({ a: 1, b: 1 });
  const first = () => {
    calls.push("first");
    model.off("change:a", first);
  };
  model.on("change:a", first);
  model.on("change:a", () => calls.push(model.get("a")));
  model.on("change", () => calls.push("any"));
  model.set("a", 1);
  model.set("a", 2);
  model.set("b", 2);
  model.set("a", 3);
  assert.deepEqual(calls, ["first", 2, "any", "any", 3, "any"]);
});

const SHOWS = `globalThis.loaded = (globalThis.loaded ?? 0) + 1;
  export function render({ model, el, signal }) {
    if (model.get("bad")) throw new Error("no such picture");
    Object.assign(el, { model, signal, textContent: model.get("text") });
  }`;

test("nodes of one number share a model, a module is loaded once, and a failure is shown in its place", async () => {
  /** @type {string[]} */
  const reported = [];
  page.reportError = (error) => reported.push(error.message);
  /** @type {any[]} */
  const nodes = ["0", "1", "0", "2"].map((widget) => ({ dataset: { widget } }));
  /** @type {any} */
  const root = {
    querySelectorAll: (css) => (css === "[data-widget]" ? nodes : []),
    addEventListener(event, handler) {
      if (event === "stridekit-draw") this.draw = handler;
    },
  };
  await bringToLife(root, {
    modules: [SHOWS],
    widgets: [
      [0, { text: "one" }],
      [0, { bad: true }],
      [0, { text: "two" }],
    ],
  });
  const bad = "This picture could not be drawn: no such picture";
  const texts = nodes.map((el) => el.textContent);
  assert.deepEqual(texts, ["one", bad, "one", "two"]);
  assert.deepEqual([page.loaded, reported], [1, ["no such picture"]]);
  assert.equal(nodes[0].model, nodes[2].model);
  assert.notEqual(nodes[0].model, nodes[3].model);
  /** @type {any} */
  const later = { dataset: { widget: "2" } };
  await root.draw({ target: later });
  assert.equal(later.model, nodes[3].model);
});

// A host that makes models: load.js and code.js -----------------------------------------------------

const zip = (module) =>
  zlib.deflateSync(JSON.stringify([module, "p {}", "q {}"])).toString("base64");

const DRAWS = `globalThis.runs = (globalThis.runs ?? 0) + 1;
  export const render = ({ model }) => model.get("_key");`;
const SCRIPT = readFileSync(new URL("../../../stridekit/widgets/page/code.js", import.meta.url));
const CODE = createModel({ _script: String(SCRIPT), _zip: zip(DRAWS) });
page.customElements = { get: () => true };
page.CSSStyleSheet = class {
  replaceSync() {}
};

/** What anywidget gives to a widget whose code is the model "c", and the models it asked for. */
function contextOf(_key, { hasHost = false } = {}) {
  /** @type {string[]} */
  const asked = [];
  const getModel = async (reference) => {
    asked.push(reference);
    return CODE;
  };
  const model = createModel({ _key, _code: "IPY_MODEL_c" });
  if (!hasHost) model.widget_manager = { get_model: getModel };
  /** @type {any} */
  const context = { model, el: { append() {} }, ...(hasHost && { host: { getModel } }) };
  return { context, asked };
}

test("a widget asks for its code, which the page runs once for a key", async () => {
  const first = contextOf("a kind");
  const [one, two] = await Promise.all([
    widget.render(first.context),
    widget.render(first.context),
  ]);
  const later = contextOf("a kind");
  const three = await widget.render(later.context);
  assert.deepEqual([one, two, three, page.runs], ["a kind", "a kind", "a kind", 1]);
  assert.deepEqual([first.asked, later.asked], [["c", "c"], []]);
});

test("anywidget's host is asked where it is there", async () => {
  const { context, asked } = contextOf("another kind", { hasHost: true });
  assert.equal(await widget.render(context), "another kind");
  assert.deepEqual(asked, ["anywidget:c"]);
});

test("a host that has no model yet is asked again, and nobody waits until then", async () => {
  const { context, asked } = contextOf("a slow kind");
  const { get_model } = context.model.widget_manager;
  context.model.widget_manager.get_model = async () => {
    throw new Error("not found");
  };
  assert.equal(widget.initialize(context), undefined);
  await assert.rejects(widget.render(context), /not found/);
  context.model.widget_manager.get_model = get_model;
  assert.equal(await widget.render(context), "a slow kind");
  assert.deepEqual(asked, ["c"]);
});

// A notebook: code.js -------------------------------------------------------------------------------

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";
const saved = (state) => ({ model_name: "M", model_module: "m", model_module_version: "1", state });

/** A model of a notebook with a state. */
const modelOf = (state) => ({
  name: "M",
  module: "m",
  get: () => "1",
  get_state: () => state,
  serialize: (all) => all,
});

/** A cell whose outputs show the widgets with some ids; null stands for another output. */
function cellOf(ids) {
  const outputs = ids.map((id) => ({ data: id ? { [VIEW]: { model_id: id } } : {} }));
  return { outputs: { length: outputs.length, get: (k) => outputs[k] } };
}

/**
 * The state that is saved of a notebook whose outputs show widgets, with `live` and `dead` models,
 * saved before with `old`.
 * @param {(string | null)[][]} shown
 * @param {Record<string, Record<string, any>>} models
 * @returns {Promise<any>}
 */
async function saveOf(shown, { live = {}, dead = {}, old = {} }) {
  /** @type {((sender: null, status: string) => void)[]} */
  const slots = [];
  /** @type {any} */
  const metadata = { widgets: { [STATE]: { state: old } } };
  const models = new Map();
  for (const [id, state] of Object.entries({ ...live, ...dead })) models.set(id, modelOf(state));
  const liveStates = {};
  for (const [id, state] of Object.entries(live)) liveStates[id] = saved(state);
  const notebook = {
    cells: [{}, ...shown.map(cellOf)],
    getMetadata: (name) => metadata[name],
    setMetadata(name, value) {
      metadata[name] = value;
    },
    deleteMetadata(name) {
      delete metadata[name];
    },
  };
  const manager = {
    get_state_sync: () => ({ state: liveStates }),
    _modelsSync: models,
    context: { saveState: { connect: (slot) => slots.push(slot) }, model: notebook },
  };
  for (const key of ["a kind", "another"]) {
    const type = await unpack(key, zip(DRAWS));
    type.initialize({ model: { ...createModel({}), widget_manager: manager } });
  }
  assert.equal(slots.length, 1); // each model of a notebook connects, and the notebook is saved once
  slots[0](null, "completed");
  assert.deepEqual(metadata.widgets[STATE].state, old);
  slots[0](null, "started");
  return metadata.widgets?.[STATE].state;
}

test("what outputs show is saved, with what that refers to, and nothing else", async () => {
  const live = {
    a: { _code: "IPY_MODEL_c" },
    b: { list: ["IPY_MODEL_d"] },
    c: {},
    d: { up: "IPY_MODEL_b" },
    e: {},
  };
  const state = await saveOf([["a", null], [], ["b", "a"]], { live });
  assert.deepEqual(Object.keys(state).sort(), ["a", "b", "c", "d"]);
  assert.deepEqual(state.a, saved({ _code: "IPY_MODEL_c" }));
  assert.equal(await saveOf([[]], { live: { a: {} }, old: { a: saved({}) } }), undefined);
});

test("a widget whose kernel is gone is saved as it is on the page, and one that never came as it was", async () => {
  const old = { a: saved({ now: 1 }), b: saved({ now: 1 }), z: saved({}) };
  const state = await saveOf([["a"], ["b"], ["unknown"]], { dead: { a: { now: 2 } }, old });
  assert.deepEqual(state, { a: saved({ now: 2 }), b: saved({ now: 1 }) });
});

// A kernel that ends: shell.js ----------------------------------------------------------------------

class Signal {
  slots = new Set();
  connect = (slot) => this.slots.add(slot);
  disconnect = (slot) => this.slots.delete(slot);
  emit(value) {
    for (const slot of [...this.slots]) slot(null, value);
  }
}
class Events {
  handlers = new Map();
  on = (event, handler) => this.handlers.set(handler, event);
  off = (_event, handler) => this.handlers.delete(handler);
  trigger(event) {
    for (const [handler, name] of [...this.handlers]) if (name === event) handler();
  }
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

/** A view of a widget; `isGone()` is true if it says that its kernel is gone. */
function createView(code = new Code()) {
  const statusChanged = new Signal();
  const kernelChanged = new Signal();
  const session = { kernel: { id: "k" } };
  const sessionContext = { session, statusChanged, kernelChanged };
  const context = { model: { dirty: false }, sessionContext };
  const widget_manager = { context, _modelsSync: new Map([["c", code]]) };
  const model = Object.assign(new Events(), {
    get: () => "IPY_MODEL_c",
    set() {},
    save_changes() {},
    widget_manager,
  });
  /** @type {any} */
  const root = {
    shown: new Set(),
    append(notice) {
      notice.parent = root;
      root.shown.add(notice);
    },
  };
  const ended = new AbortController();
  besideKernel(model, root, ended.signal);
  return {
    code,
    context,
    model,
    statusChanged,
    kernelChanged,
    close: () => ended.abort(),
    isGone: () => root.shown.size === 1,
  };
}

test("a kernel that works, or is found again after its connection was lost, has not gone", () => {
  const { statusChanged, kernelChanged, isGone } = createView();
  for (const status of ["busy", "idle", "unknown"]) statusChanged.emit(status);
  kernelChanged.emit({ newValue: { id: "k" } });
  assert.equal(isGone(), false);
});

/** @type {[signal: "statusChanged" | "kernelChanged", value: any][]} */
const ENDS = [
  ["statusChanged", "autorestarting"],
  ["statusChanged", "terminating"],
  ["statusChanged", "dead"],
  ["kernelChanged", { newValue: null }],
  ["kernelChanged", { newValue: { id: "another" } }],
];
for (const [signal, value] of ENDS)
  test(`a kernel has gone for good with ${signal} ${JSON.stringify(value)}`, () => {
    const view = createView();
    view[signal].emit(value);
    view.statusChanged.emit("idle");
    assert.equal(view.isGone(), true);
    assert.equal(view.statusChanged.slots.size + view.kernelChanged.slots.size, 0);
  });

test("a change is an edit of the notebook; views watch a kernel once and leave nothing behind", () => {
  const code = new Code();
  const first = createView(code);
  const second = createView(code);
  assert.equal(first.context.model.dirty, false);
  first.model.trigger("change");
  assert.equal(first.context.model.dirty, true);
  assert.equal(first.statusChanged.slots.size + second.statusChanged.slots.size, 1);
  first.close();
  second.close();
  assert.equal(code.handlers.size + first.model.handlers.size + second.model.handlers.size, 0);
});

test("outside of a notebook there is no kernel to watch", () => {
  const outside = [undefined, { context: {} }, { context: {}, _modelsSync: new Map() }];
  for (const widget_manager of outside) {
    /** @type {any} */
    const model = { get: () => "IPY_MODEL_c", widget_manager };
    /** @type {any} */
    const none = null;
    assert.doesNotThrow(() => besideKernel(model, none, none));
  }
});
