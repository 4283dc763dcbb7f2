// JupyterLab's extension on stubs: lessons that stay clean, saved widgets, the words of pictures, and folds that open.

import assert from "node:assert/strict";
import test from "node:test";

/** @type {any} */
const page = globalThis;
/** @type {any[]} */
const head = [];
page.MutationObserver = class {};
page.document = {
  currentScript: { src: "http://localhost/static/extension.js" },
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

/**
 * A cell of a notebook's model.
 * @param {string} type
 * @param {string} source
 * @param {string[]} [tags]
 */
const cellOf = (type, source = "", tags) => ({
  type,
  getMetadata: () => tags,
  toJSON: () => ({ outputs: [] }),
  sharedModel: { source },
  stateChanged: new Signal(),
  trusted: true,
});

/** A node that keeps the variables of its style. */
function nodeOfCell() {
  /** @type {Record<string, string>} */
  const values = {};
  const setProperty = (name, value) => Object.assign(values, { [name]: value });
  return { dataset: {}, style: { values, setProperty } };
}

/** Open a notebook in JupyterLab, and return what the extension meets there. */
function open({
  cells = /** @type {any[]} */ ([]),
  saved = /** @type {any} */ (undefined),
  language_info = /** @type {any} */ ({ name: "python" }),
  dirty = false,
} = {}) {
  const widgets = cells.map((model) => ({ model, inputHidden: true, node: nodeOfCell() }));
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
  /** @type {any[]} */
  const executed = [];
  /** @type {any} */
  const rendermime = {
    getFactory: (type) => (type === VIEW ? undefined : picture),
    addFactory: (factory, rank) => factories.push([factory, rank]),
  };
  const node = { classList: { toggle }, addEventListener() {} };
  const deselectAll = () => steps.push("deselected");
  const content = { rendermime, widgets, node, scrollToItem() {}, deselectAll };
  const sessionContext = { kernelPreference: {} };
  plugin.activate({
    shell: {},
    commands: {
      addCommand() {},
      addKeyBinding() {},
      execute: (id) => executed.push([id, /** @type {any} */ (content).activeCellIndex]),
    },
    docRegistry: {
      addWidgetExtension(name, { createNew }) {
        assert.equal(name, "Notebook");
        createNew({ content }, { model, sessionContext, saveState: new Signal() });
      },
    },
  });
  return { model, widgets, classes, factories, executed, rendermime, image, steps, picture };
}

test("a heading shows the mark of its cell, also after an edit of the tags", () => {
  const tags = ["essential"];
  const cells = [
    cellOf("markdown", "## One", tags),
    cellOf("markdown", "## Two", ["other", "further"]),
    cellOf("markdown", "words"),
    cellOf("code", "further", ["further"]),
  ];
  const { model, widgets } = open({ cells });
  const marks = () => widgets.map(({ node }) => Object.entries(node.dataset).join());
  const further = "stridekitMark,further";
  assert.deepEqual(marks(), ["stridekitMark,essential", further, "", ""]);
  tags.pop();
  model.contentChanged.emit();
  assert.deepEqual(marks(), ["", further, "", ""]);
});

test("the head of a lesson counts the exercises whose reports say that they passed", () => {
  const report = { data: { "text/html": '<b class="sk-joy">passed</b>' } };
  /** @type {any[]} */
  const exercises = [1, 2].map(() => ({ ...cellOf("code", "", ["exercise"]), outputs: [] }));
  const other = { ...cellOf("code", "", ["hide-input"]), toJSON: () => ({ outputs: [report] }) };
  for (const cell of exercises) cell.toJSON = () => ({ outputs: cell.outputs });
  const { model, widgets } = open({ cells: [cellOf("markdown", "# One"), other, ...exercises] });
  const shown = () => {
    const { values } = /** @type {any} */ (widgets[0].node).style;
    return [values["--stridekit-progress"], values["--stridekit-part"]];
  };
  assert.deepEqual(shown(), ['"0 of 2 exercises passed"', "0%"]);
  exercises[0].outputs.push(report);
  model.contentChanged.emit();
  assert.deepEqual(shown(), ['"1 of 2 exercises passed"', "50%"]);
});

test("a notebook without a head or without exercises shows no progress, and one is no plural", () => {
  const exercise = cellOf("code", "", ["exercise"]);
  const progressIn = (...cells) => {
    const { values } = /** @type {any} */ (open({ cells }).widgets[0].node).style;
    return values["--stridekit-progress"];
  };
  assert.equal(progressIn(exercise), undefined);
  assert.equal(progressIn(cellOf("markdown", "# One"), cellOf("code")), undefined);
  assert.equal(progressIn(cellOf("markdown", "# One"), exercise), '"0 of 1 exercise passed"');
});

test("the container is that of a plugin that starts by itself", () => {
  open();
  assert.deepEqual([__esModule, plugin.id, plugin.autoStart], [true, "stridekit:lessons", true]);
  assert.equal(head.at(-1).tag, "style");
  assert.match(head.at(-1).textContent, /stridekit-asks.*jp-needs-light-background/s);
});

test("the plugin asks for the palette of commands where JupyterLab shares it", async () => {
  const container = page._JUPYTERLAB.stridekit;
  async function optionalIn(scope) {
    container.init(scope);
    return (await container.get())().default.optional;
  }
  const shares = (module) => ({
    "@jupyterlab/apputils": { 4.5: { get: async () => () => module } },
  });
  assert.deepEqual(await optionalIn(shares({ ICommandPalette: "palette" })), ["palette"]);
  assert.deepEqual(await optionalIn(shares({})), []);
  assert.deepEqual(await optionalIn({ "@jupyterlab/apputils": {} }), []);
  assert.deepEqual(await optionalIn({}), []);
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

/** A saved model of a class. */
const modelOf = (name, state = {}) => ({ state: { _anywidget_id: name, ...state } });
const CARD = modelOf("stridekit.widgets.predict.widget.Predict", { _code: "IPY_MODEL_c" });
const CODE = modelOf("stridekit.widgets.base.Code");
const OTHER = modelOf("other.Widget");

/** The models that ipywidgets restores in a notebook with these. */
async function restored(saved) {
  const { rendermime } = open({ saved });
  const manager = {
    filterExistingModelState: (models) => models,
    restored: new Signal(),
    has_model: () => false,
  };
  rendermime.createRenderer = () => ({ _manager: { promise: Promise.resolve(manager) } });
  rendermime.addFactory({ mimeTypes: [VIEW] }, -10);
  await wait();
  const { state } = /** @type {any} */ (manager.filterExistingModelState({ state: saved }));
  return Object.keys(state).sort().join("");
}

test("ipywidgets restores the widgets of others, and those of stridekit only inside of them", async () => {
  assert.equal(await restored({ a: CARD, c: CODE }), "");
  assert.equal(await restored({ a: CARD, c: CODE, o: OTHER }), "o");
  assert.equal(await restored({ o: OTHER, p: { state: {} }, q: modelOf(7) }), "opq");
  const box = modelOf("box", { children: ["IPY_MODEL_a"] });
  assert.equal(await restored({ a: CARD, b: box, c: CODE }), "abc");
  const boxOfOther = modelOf("box", { children: ["IPY_MODEL_o"] });
  assert.equal(await restored({ a: CARD, b: boxOfOther, c: CODE, o: OTHER }), "bo");
});

/** A cell with outputs that did not run here. */
function untrustedCell(outputs) {
  const list = { length: outputs.length, get: (k) => outputs[k] };
  return Object.assign(cellOf("code"), { trusted: false, outputs: list });
}

/** Whether a cell with these outputs is trusted, although it did not run here. */
function isTrusted(...outputs) {
  const cell = untrustedCell(outputs);
  const words = Object.assign(cellOf("markdown"), { trusted: false });
  const { model } = open({ cells: [cell, words], saved: { a: CARD, c: CODE, o: OTHER } });
  assert.equal(model.dirty, false);
  assert.equal(words.trusted, false);
  return cell.trusted;
}

test("a cell is trusted if each of its outputs is harmless", () => {
  const shows = (data) => ({ type: "display_data", data });
  const text = shows({ "text/plain": "1" });
  assert.equal(isTrusted(), true);
  assert.equal(isTrusted({ type: "stream" }, { type: "error" }, text), true);
  assert.equal(isTrusted(shows({ "text/plain": "1", "image/png": "" })), true);
  assert.equal(isTrusted(shows({ "text/plain": "1", [VIEW]: { model_id: "a" } })), true);
  for (const id of ["c", "o", "missing"])
    assert.equal(isTrusted(text, shows({ [VIEW]: { model_id: id } })), false);
  for (const type of ["image/svg+xml", "application/javascript", "text/markdown"])
    assert.equal(isTrusted(text, shows({ "text/plain": "1", [type]: "" })), false);
});

test("a widget of a notebook that has saved none is not trusted", () => {
  const cell = untrustedCell([{ type: "display_data", data: { [VIEW]: { model_id: "a" } } }]);
  open({ cells: [cell] });
  assert.equal(cell.trusted, false);
});

test("to trust a cell is no edit, and an edit stays one", async () => {
  for (const dirty of [false, true]) {
    const { model } = open({ dirty });
    let isCellTrusted = false;
    const late = Object.defineProperty(untrustedCell([]), "trusted", {
      get: () => isCellTrusted,
      set(value) {
        isCellTrusted = value;
        model.dirty = true;
      },
    });
    model.cells.push(late);
    model.cells.changed.emit({ newValues: [late] });
    assert.equal(late.trusted, false); // JupyterLab reads the metadata after the cells
    await wait();
    assert.deepEqual([late.trusted, model.dirty], [true, dirty]);
  }
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

test("a click on a still runs its cell, as Enter and Space do", async () => {
  const opened = open({ cells: [cellOf("code"), cellOf("code")] });
  const { factories, image, executed, widgets, steps } = opened;
  const handlers = {};
  /** @type {string[]} */
  const classes = [];
  Object.assign(image, {
    classList: { add: (name) => classes.push(name) },
    dataset: {},
    addEventListener: (event, handler) => Object.assign(handlers, { [event]: handler }),
  });
  Object.assign(widgets[0], { node: { contains: () => false } });
  Object.assign(widgets[1], { node: { contains: (node) => node === image } });
  const metadata = { "image/png": { alt: "Still picture of Predict" } };
  await factories[0][0].createRenderer({}).renderModel({ metadata, data: {} });
  assert.deepEqual(classes, ["stridekit-still"]);
  const { tabIndex, role, title } = image;
  assert.deepEqual(
    { tabIndex, role, title },
    { tabIndex: 0, role: "button", title: "Run this cell" },
  );
  assert.equal(steps.pop(), "rendered");
  const preventDefault = () => steps.push("prevented");
  const event = (key, rest = {}) => ({ key, preventDefault, ...rest });
  handlers.click(event(undefined));
  handlers.keydown(event("Enter"));
  handlers.keydown(event(" "));
  for (const modifier of ["shiftKey", "ctrlKey", "metaKey", "altKey"])
    handlers.keydown(event("Enter", { [modifier]: true })); // which is JupyterLab's
  handlers.keydown(event("a"));
  assert.deepEqual(executed, Array(3).fill(["notebook:run-cell", 1]));
  // No other cell that is selected runs as well, and the page does not scroll.
  assert.deepEqual(steps, Array(3).fill(["prevented", "deselected"]).flat());
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
  for (const cell of late) widgets.push({ model: cell, inputHidden: true, node: nodeOfCell() });
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
