// The script of `Code`, which load.js runs: it unpacks the code of a type of widget, gives each view
// its styles, and lets a notebook be saved with its widgets.

/** @import { Context } from "./load.js" */

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";
const MARKER = "stridekit-styles";

/**
 * A type of widget, as anywidget wants it.
 * @typedef {object} TypeModule
 * @property {(context: Pick<Context, "model">) => void} initialize
 * @property {(context: Context) => () => void} render
 */

/**
 * The type of widget in a pack. The page keeps it under a key for all widgets of the type.
 * @param {string} key
 * @param {string} zip
 * @returns {Promise<TypeModule>}
 */
export default function unpack(key, zip) {
  URL.revokeObjectURL(import.meta.url); // of this script
  /** @type {Record<string, Promise<TypeModule>>} */
  const kept = /** @type {any} */ (globalThis);
  kept[key] ??= read(zip);
  return kept[key];
}

/** @param {string} zip */
async function read(zip) {
  const [module, ...styles] = await inflate(zip);
  const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  const widget = await import(url);
  URL.revokeObjectURL(url);
  /** @type {TypeModule} */
  const type = {
    initialize: ({ model }) => keepSaved(model.widget_manager),
    render(context) {
      wear(context.el, styles);
      return widget.render(context);
    },
  };
  return type;
}

/**
 * The texts in a pack.
 * @param {string} zip
 * @returns {Promise<string[]>}
 */
async function inflate(zip) {
  const bytes = Uint8Array.from(atob(zip), (char) => char.charCodeAt(0));
  const zipped = /** @type {ReadableStream} */ (new Response(bytes).body);
  return new Response(zipped.pipeThrough(new DecompressionStream("deflate"))).json();
}

/**
 * Give a view the style sheets with these texts. A host may connect it later, and to another tree: a
 * shadow root does not see the sheets of the document. So a node in the view notices where it is.
 * @param {Element} el
 * @param {string[]} texts
 */
function wear(el, texts) {
  if (!customElements.get(MARKER)) customElements.define(MARKER, createMarkerClass());
  /** @type {any} */
  const marker = document.createElement(MARKER);
  marker.hidden = true;
  marker.sheets = texts.map(sheetOf);
  el.append(marker);
}

/**
 * The style sheet with a text. A page parses it once, for all trees and all types of widgets.
 * @param {string} text
 */
function sheetOf(text) {
  globalThis.stridekitStyles ??= {};
  const sheets = globalThis.stridekitStyles;
  if (!sheets[text]) {
    sheets[text] = new CSSStyleSheet();
    sheets[text].replaceSync(text);
  }
  return sheets[text];
}

/** A node that gives its sheets to each tree to which it is connected. */
function createMarkerClass() {
  return class extends HTMLElement {
    /** @type {CSSStyleSheet[]} */
    sheets = [];

    connectedCallback() {
      const tree = /** @type {Document | ShadowRoot} */ (this.getRootNode());
      const missing = this.sheets.filter((sheet) => !tree.adoptedStyleSheets.includes(sheet));
      tree.adoptedStyleSheets.push(...missing);
    }
  };
}

/**
 * Write the widgets that the outputs of a notebook show into its metadata, with the models to which
 * they refer.
 * @param {any} manager
 */
function store(manager) {
  const { model: notebook } = manager.context;
  const before = notebook.getMetadata("widgets")?.[STATE]?.state ?? {};
  const live = manager.get_state_sync({ drop_defaults: true }).state;
  /** @type {Record<string, any>} */
  const state = {};

  /** @param {string} id */
  function add(id) {
    if (state[id]) return;
    const saved = live[id] ?? withoutKernel(manager._modelsSync.get(id)) ?? before[id];
    if (!saved) return;
    state[id] = saved;
    const references = JSON.stringify(saved.state).matchAll(/"IPY_MODEL_(\w+)"/g);
    for (const [, referenced] of references) add(referenced);
  }

  for (const { outputs } of notebook.cells) {
    for (let k = 0; k < (outputs?.length ?? 0); k++) {
      const view = outputs.get(k).data[VIEW];
      if (view) add(view.model_id);
    }
  }
  if (Object.keys(state).length) {
    const saved = { version_major: 2, version_minor: 0, state };
    notebook.setMetadata("widgets", { [STATE]: saved });
  } else {
    notebook.deleteMetadata("widgets");
  }
}

/**
 * The state of a model whose kernel is gone, as it is now on the page: the manager leaves it out.
 * @param {any} model
 */
function withoutKernel(model) {
  if (!model) return undefined;
  return {
    model_name: model.name,
    model_module: model.module,
    model_module_version: model.get("_model_module_version"),
    state: model.serialize(model.get_state(true)),
  };
}

/**
 * Whenever a notebook is saved, save the widgets that its outputs show with it. Only JupyterLab's
 * manager has the signal; other hosts save widgets by themselves.
 * @param {any} manager
 */
function keepSaved(manager) {
  const saving = manager?.context?.saveState;
  globalThis.stridekitKept ??= new WeakSet(); // each type of widget has its own copy of this module
  if (!saving || globalThis.stridekitKept.has(saving)) return;
  globalThis.stridekitKept.add(saving);
  saving.connect((/** @type {unknown} */ _, /** @type {string} */ status) => {
    if (status === "started") store(manager);
  });
}
