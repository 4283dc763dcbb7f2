// The module of `Code`. A page has this model before any widget of the kind, so it also saves
// notebooks with their widgets.

/** @import { Model } from "./shell.js" */

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";

/**
 * Give the module to the widgets that wait for it under a key. It is run once per page.
 * @param {string} key
 * @param {string} zip
 */
async function unpack(key, zip) {
  /** @type {Record<string, PromiseWithResolvers<any> & { hasBegun?: boolean }>} */
  const waiting = /** @type {any} */ (globalThis);
  waiting[key] ??= Promise.withResolvers();
  const shared = waiting[key];
  if (shared.hasBegun) return;
  shared.hasBegun = true;
  const [module, ...styles] = await inflate(zip);
  for (const text of styles) wear(text);
  const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  shared.resolve(await import(url));
  URL.revokeObjectURL(url);
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
 * Put a style sheet on the page, unless it is there: all kinds of widgets share the first sheet.
 * @param {string} textContent
 */
function wear(textContent) {
  globalThis.stridekitStyles ??= {};
  const sheets = globalThis.stridekitStyles;
  if (sheets[textContent]) return;
  const style = document.createElement("style");
  style.textContent = textContent;
  sheets[textContent] = document.head.appendChild(style);
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

export default {
  /** @param {{ model: Model }} options */
  initialize({ model }) {
    unpack(model.get("_key"), model.get("_zip"));
    // Whenever the notebook is saved, the widgets that its outputs show are saved with it. Only
    // JupyterLab has the signal; other hosts save widgets by themselves.
    const saving = model.widget_manager?.context?.saveState;
    globalThis.stridekitKept ??= new WeakSet(); // each Code has a module of its own
    if (!saving || globalThis.stridekitKept.has(saving)) return;
    globalThis.stridekitKept.add(saving);
    saving.connect((/** @type {unknown} */ _, /** @type {string} */ status) => {
      if (status === "started") store(model.widget_manager);
    });
  },
};
