// JupyterLab's extension on stubs: lessons that stay clean, saved widgets, the words of pictures, and folds that open.

import assert from "node:assert/strict";
import test from "node:test";

/** @type {any} */
const page = globalThis;
/** @type {any[]} */
const head = [];
page.document = {
  createElement: (tag) => ({ tag }),
  head: { append: (node) => head.push(node) },
};
// @ts-expect-error: it is a script, and no module.
await import("../../../labextension/static/extension.js");
const { default: plugin, __esModule } = (await page._JUPYTERLAB.stridekit.get())();

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";
const wait = () => new Promise((resolve) => setTimeout(resolve));

class Signal {
  slots = [];
  connect = (slot) => this.slots.push(slot);
  emit(value) {
    for (const slot of this.slots) slot(null, value);
  }
}

/** A cell of a notebook's model. */
const cellOf = (type, source = "") => ({
  type,
  sharedModel: { source },
  stateChanged: new Signal(),
});

/** Open a notebook in JupyterLab, and return what the extension meets there. */
function open({
  cells = /** @type {any[]} */ ([]),
  saved = /** @type {any} */ (undefined),
  shouldStart = true,
  language_info = /** @type {any} */ ({ name: "python" }),
  dirty = false,
} = {}) {
  const widgets = cells.map((model) => ({ model, inputHidden: true }));
  const classes = new Set();
  const toggle = (name, isOn) => (isOn ? classes.add(name) : classes.delete(name));
  const model = {
    dirty,
    metadata: /** @type {Record<string, any>} */ ({
      language_info,
      widgets: saved && { [STATE]: { state: saved } },
    }),
    cells: Object.assign([...cells], { changed: new Signal() }),
    contentChanged: new Signal(),
    getMetadata: (name) => model.metadata[name],
    setMetadata(name, entry) {
      model.metadata[name] = entry;
      model.dirty = true;
    },
  };
  const picture = {
    mimeTypes: ["image/png"],
    defaultRank: 90,
    createRenderer: () => ({
      node: { querySelector: () => image },
      renderModel: async () => steps.push("rendered"),
    }),
  };
  const image = { alt: "" };
  /** @type {string[]} */
  const steps = [];
  /** @type {any[]} */
  const factories = [];
  const removed = [];
  /** @type {any} */
  const rendermime = {
    getFactory: () => picture,
    addFactory: (factory, rank) => factories.push([factory, rank]),
    removeMimeType: (type) => removed.push(type),
  };
  const panel = { content: { rendermime, widgets, node: { classList: { toggle } } } };
  const sessionContext = { kernelPreference: { shouldStart } };
  plugin.activate({
    docRegistry: {
      addWidgetExtension(name, { createNew }) {
        assert.equal(name, "Notebook");
        createNew(panel, { model, sessionContext });
      },
    },
  });
  return { model, widgets, classes, factories, removed, rendermime, image, steps, picture };
}

test("the container is that of a plugin that starts by itself", () => {
  open();
  assert.deepEqual([__esModule, plugin.id, plugin.autoStart], [true, "stridekit:lessons", true]);
  assert.equal(head.at(-1).tag, "style");
  assert.match(head.at(-1).textContent, /stridekit-asks.*jp-needs-light-background/s);
  assert.doesNotThrow(() => page._JUPYTERLAB.stridekit.init());
});

// A lesson that was only opened ---------------------------------------------------------------------

/** Whether a notebook is edited after JupyterLab has set an entry of its metadata, which marks it so. */
function isEdited(language_info, key, value, dirty = false) {
  const { model } = open({ language_info, dirty });
  model.setMetadata(key, value);
  assert.deepEqual(model.metadata[key], value);
  return model.dirty;
}

test("what JupyterLab fills in when a kernel connects is no edit, and an edit stays one", () => {
  const whole = { name: "python", version: "3.13" };
  const stored = { name: "python" };
  assert.equal(isEdited(stored, "kernelspec", { name: "python3" }), false);
  assert.equal(isEdited(null, "kernelspec", { name: "python3" }), false);
  assert.equal(isEdited(stored, "language_info", whole), false);
  assert.equal(isEdited(stored, "language_info", whole, true), true);
  assert.equal(isEdited(whole, "kernelspec", { name: "other" }), true);
  assert.equal(isEdited(stored, "title", "mine"), true);
});

// Saved widgets -------------------------------------------------------------------------------------

/** A manager of widgets that has some models, and gets the saved ones when it restores them. */
function managerOf(has, { restoredStatus = true, restores = /** @type {string[]} */ ([]) } = {}) {
  const models = new Set(has);
  const calls = [];
  const manager = {
    restoredStatus,
    restored: new Signal(),
    has_model: (id) => models.has(id),
    get_model: async (id) => {
      if (!models.has(id)) throw new Error(`no ${id}`);
      return `model ${id}`;
    },
    restoreWidgets: async (notebook, options) => {
      calls.push([notebook, options]);
      await wait();
      for (const id of restores) models.add(id);
    },
  };
  return { manager, calls };
}

/** Open a notebook with saved widgets, whose manager is found when its factory is added. */
async function openSaved(manager, saved, mimeTypes = [VIEW]) {
  const notebook = open({ saved });
  const asked = [];
  notebook.rendermime.createRenderer = (type) => {
    asked.push(type);
    return { _manager: { promise: Promise.resolve(manager) } };
  };
  await notebook.rendermime.addFactory({ mimeTypes }, -10);
  assert.deepEqual(notebook.factories.at(-1), [{ mimeTypes }, -10]);
  return { ...notebook, asked };
}

test("without a kernel widgets are not rendered; with one they are", () => {
  assert.deepEqual(open({ shouldStart: false }).removed, [VIEW]);
  assert.deepEqual(open({ shouldStart: true }).removed, []);
  assert.deepEqual(open({ shouldStart: /** @type {any} */ (undefined) }).removed, []);
});

test("saved models that are missing are restored, once and without the kernel", async () => {
  const { manager, calls } = managerOf(["a"], { restores: ["b"] });
  const { model, asked } = await openSaved(manager, { a: {}, b: {} });
  assert.deepEqual(asked, [VIEW]);
  assert.deepEqual(calls, [[model, { loadKernel: false, loadNotebook: true }]]);
  manager.restored.emit(); // while that is on its way
  assert.equal(calls.length, 1);
  await wait();
  await wait();
  manager.restored.emit(); // all are there
  assert.equal(calls.length, 1);
  assert.equal(await manager.get_model("b"), "model b");
});

test("models that are still missing are restored the next time", async () => {
  const { manager, calls } = managerOf([], { restores: [] });
  await openSaved(manager, { a: {} });
  await wait();
  await wait();
  manager.restored.emit();
  assert.equal(calls.length, 2);
});

test("nothing is restored before the manager is ready, nor where nothing is saved or missing", async () => {
  const early = managerOf([], { restoredStatus: false });
  await openSaved(early.manager, { a: {} });
  assert.equal(early.calls.length, 0);
  early.manager.restored.emit();
  assert.equal(early.calls.length, 1);
  for (const saved of [undefined, {}, { a: {} }]) {
    const { manager, calls } = managerOf(["a"]);
    await openSaved(manager, saved);
    assert.equal(calls.length, 0);
  }
  const { manager, calls } = managerOf([]);
  const { asked } = await openSaved(manager, { a: {} }, ["image/png"]);
  assert.deepEqual([asked, calls], [[], []]);
});

test("a model that is looked for too early is restored and found; others fail as before", async () => {
  const { manager, calls } = managerOf(["a"], { restores: ["b"] });
  manager.has_model = () => true; // at first none seems to be missing
  await openSaved(manager, { a: {}, b: {} });
  assert.equal(await manager.get_model("a"), "model a");
  assert.equal(calls.length, 0);
  manager.has_model = (id) => id === "a";
  assert.equal(await manager.get_model("b"), "model b");
  assert.equal(calls.length, 1);
  await assert.rejects(manager.get_model("c"), /no c/); // it is not saved
  assert.equal(calls.length, 1);
  const early = managerOf([], { restoredStatus: false, restores: ["a"] });
  await openSaved(early.manager, { a: {} });
  await assert.rejects(early.manager.get_model("a"), /no a/);
  assert.equal(early.calls.length, 0);
});

// Pictures ------------------------------------------------------------------------------------------

test("a picture has the words of its metadata, else those beside it, else none", async () => {
  const { factories, image, steps, picture } = open();
  const [[factory, rank]] = factories;
  assert.equal(rank, 90);
  assert.deepEqual(factory.mimeTypes, picture.mimeTypes);
  const rows = [
    [{ "image/png": { alt: "still" } }, { "text/plain": "beside" }, "still"],
    [{ "image/png": { alt: "" } }, { "text/plain": "beside" }, ""],
    [{ "image/png": {} }, { "text/plain": "beside" }, "beside"],
    [{}, { "text/plain": "beside" }, "beside"],
    [{}, {}, ""],
  ];
  for (const [metadata, data, alt] of rows) {
    image.alt = "before";
    await factory.createRenderer({}).renderModel({ metadata, data });
    assert.equal(image.alt, alt);
  }
  assert.equal(steps.length, rows.length);
});

// Folds ---------------------------------------------------------------------------------------------

test("the words below a cell open when it has run, and no others", () => {
  const cells = ["code", "markdown", "code", "code", "raw", "code"].map((type) => cellOf(type));
  const { widgets } = open({ cells });
  const hidden = () => widgets.map((widget) => (widget.inputHidden ? "-" : "o")).join("");
  cells[0].stateChanged.emit({ name: "trusted", newValue: 1 });
  cells[0].stateChanged.emit({ name: "executionCount", newValue: null });
  assert.equal(hidden(), "------");
  for (const k of [2, 3, 5]) cells[k].stateChanged.emit({ name: "executionCount", newValue: 1 });
  assert.equal(hidden(), "------");
  cells[0].stateChanged.emit({ name: "executionCount", newValue: 1 });
  assert.equal(hidden(), "-o----");
});

test("cells that come later are watched too", () => {
  const { model, widgets } = open({ cells: [cellOf("markdown")] });
  const late = [cellOf("code"), cellOf("markdown")];
  for (const cell of late) widgets.push({ model: cell, inputHidden: true });
  model.cells.changed.emit({ newValues: late });
  late[0].stateChanged.emit({ name: "executionCount", newValue: 3 });
  assert.deepEqual(
    widgets.map((widget) => widget.inputHidden),
    [true, true, false],
  );
});

test("a notebook with a card is marked, as soon as it has one and as long as it has one", () => {
  for (const [source, asks] of /** @type {[string, boolean][]} */ ([
    ["Predict('a', 1)", true],
    ["x = 1\nPredict(\n  'a', 1)", true],
    ["card = Predict('a', 1)", false],
    ["Predict.packed('a')", false],
    ["Predictor('a')", false],
    ["", false],
  ])) {
    const { classes } = open({ cells: [cellOf("code", "x = 1"), cellOf("code", source)] });
    assert.deepEqual([...classes], asks ? ["stridekit-asks"] : [], source);
  }
  const cell = cellOf("code");
  const { model, classes } = open({ cells: [cell] });
  cell.sharedModel.source = "Predict('a', 1)";
  model.contentChanged.emit();
  assert.deepEqual([...classes], ["stridekit-asks"]);
  cell.sharedModel.source = "1";
  model.contentChanged.emit();
  assert.equal(classes.size, 0);
});
