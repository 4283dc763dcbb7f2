// code.js on a stub of a page and of JupyterLab: texts are unpacked once, and a saved notebook has its widgets.

import assert from "node:assert/strict";
import test from "node:test";
import zlib from "node:zlib";

import code from "../../stridekit/widgets/page/code.js";

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
URL.createObjectURL = ({ url }) => url;
URL.revokeObjectURL = () => {};
const sheets = [];
globalThis.document = {
  createElement: () => ({}),
  head: { append: ({ textContent }) => sheets.push(textContent) },
};

const zip = (module, style) => zlib.deflateSync(JSON.stringify({ module, style })).toString("base64");
const begin = (traits, widget_manager) => code.initialize({ model: { get: (name) => traits[name], widget_manager } });

test("widgets get the module whether they come before or after it, and it runs once for all models", async () => {
  const module = "globalThis.runs = (globalThis.runs ?? 0) + 1;\nexport default { draws: 'é' };";
  const wait = () => (globalThis["a kind"] ??= Promise.withResolvers()).promise;
  const early = wait();
  for (let k = 0; k < 3; k++) begin({ _key: "a kind", _zip: zip(module, "p {}") });
  assert.equal((await early).draws, "é");
  assert.equal(await wait(), await early);
  assert.deepEqual([globalThis.runs, sheets], [1, ["p {}"]]);
});

test("other texts are another module", async () => {
  begin({ _key: "another", _zip: zip("export default 7;", "q {}") });
  assert.equal(await globalThis.another.promise, 7);
});

// Saving ----------------------------------------------------------------------------------------------

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";
const saved = (state) => ({ model_name: "M", model_module: "m", model_module_version: "1", state });

/** A notebook whose outputs show widgets, with `live` and `dead` models, saved before with `old`. */
function createManager(shown, { live = {}, dead = {}, old = {} }) {
  const slots = [], metadata = { widgets: { [STATE]: { state: old } } };
  const outputs = (ids) => ({ length: ids.length, get: (k) => ({ data: ids[k] ? { [VIEW]: { model_id: ids[k] } } : {} }) });
  const model = (state) => ({
    name: "M", module: "m", get: () => "1", get_state: (drop) => (drop ? state : null), serialize: (all) => all,
  });
  const entries = (all, make) => Object.entries(all).map(([id, state]) => [id, make(state)]);
  return {
    metadata,
    save: (status) => slots.forEach((slot) => slot(null, status)),
    manager: {
      get_state_sync: () => ({ state: Object.fromEntries(entries(live, saved)) }),
      _modelsSync: new Map(entries({ ...live, ...dead }, model)),
      context: {
        saveState: { connect: (slot) => slots.push(slot) },
        model: {
          cells: [{}, ...shown.map((ids) => ({ outputs: outputs(ids) }))],
          getMetadata: (name) => metadata[name],
          setMetadata: (name, value) => (metadata[name] = value),
          deleteMetadata: (name) => delete metadata[name],
        },
      },
    },
  };
}

const follow = (book) => {
  begin({ _key: "a kind", _zip: "" }, book.manager);
  return book;
};
const kept = (book) => book.metadata.widgets?.[STATE].state;

test("what outputs show is saved, with what that refers to, and nothing else", () => {
  const live = { a: { _code: "IPY_MODEL_c" }, b: { list: ["IPY_MODEL_d"] }, c: {}, d: { up: "IPY_MODEL_b" }, e: {} };
  const book = follow(createManager([["a", null], [], ["b", "a"]], { live }));
  book.save("started");
  assert.deepEqual(Object.keys(kept(book)).sort(), ["a", "b", "c", "d"]);
  assert.deepEqual(kept(book).a, saved({ _code: "IPY_MODEL_c" }));
  assert.deepEqual(book.metadata.widgets[STATE].version_major, 2);
});

test("a widget whose kernel is gone is saved as it is on the page, and one that never came as it was", () => {
  const old = { a: saved({ now: 1 }), b: saved({ now: 1 }), z: saved({}) };
  const book = follow(createManager([["a"], ["b"], ["unknown"]], { dead: { a: { now: 2 } }, old }));
  book.save("started");
  assert.deepEqual(kept(book), { a: saved({ now: 2 }), b: saved({ now: 1 }) });
});

test("a notebook that shows no widget has none, and nothing changes but by saving", () => {
  const book = follow(createManager([[]], { live: { a: {} }, old: { a: saved({}) } }));
  book.save("completed");
  assert.deepEqual(Object.keys(kept(book)), ["a"]);
  book.save("started");
  assert.deepEqual(book.metadata, {});
});

test("the models of a notebook save it once; where there is no notebook, nothing happens", () => {
  const book = createManager([["a"]], { live: { a: {} } });
  let asked = 0;
  const count = book.manager.get_state_sync;
  book.manager.get_state_sync = () => (asked++, count());
  follow(follow(book)).save("started");
  assert.equal(asked, 1);
  for (const manager of [undefined, {}, { context: {} }]) begin({ _key: "a kind", _zip: "" }, manager);
});
