// The extension of JupyterLab on a stub of a notebook: what it fills in is no edit, and no edit is forgotten.

import assert from "node:assert/strict";
import test from "node:test";

const signal = { connect() {} };
globalThis.document = { createElement: () => ({}), head: { append() {} } };
await import("../../labextension/static/extension.js");
const { default: plugin } = (await globalThis._JUPYTERLAB.stridekit.get())();

/** A notebook that is open, and JupyterLab's way of setting its metadata, which marks it as edited. */
function open(language_info) {
  const model = {
    metadata: { language_info }, dirty: false, cells: Object.assign([], { changed: signal }), contentChanged: signal,
    getMetadata: (key) => model.metadata[key],
    setMetadata(key, value) {
      model.metadata[key] = value;
      model.dirty = true;
    },
  };
  const rendermime = { removeMimeType() {}, getFactory: () => ({}), addFactory() {} };
  const panel = { content: { rendermime, widgets: [], node: { classList: { toggle() {} } } } };
  const sessionContext = { kernelPreference: { shouldStart: false } };
  plugin.activate({ docRegistry: { addWidgetExtension: (_, { createNew }) => createNew(panel, { model, sessionContext }) } });
  return model;
}

test("what JupyterLab fills in when a kernel connects is no edit", () => {
  const model = open({ name: "python" });
  model.setMetadata("kernelspec", { name: "python3" });
  model.setMetadata("language_info", { name: "python", version: "3.13" });
  assert.equal(model.dirty, false);
});

test("an edit stays one when a kernel connects after it; so does another kernel, or another entry", () => {
  const edited = open({ name: "python" });
  edited.dirty = true;
  edited.setMetadata("language_info", { name: "python", version: "3.13" });
  assert.equal(edited.dirty, true);
  const complete = open({ name: "python", version: "3.13" });
  complete.setMetadata("kernelspec", { name: "other" });
  assert.equal(complete.dirty, true);
  const own = open({ name: "python" });
  own.setMetadata("title", "mine");
  assert.equal(own.dirty, true);
});
