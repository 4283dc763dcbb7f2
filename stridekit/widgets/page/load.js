// The module of every widget; a saved notebook repeats it for each. The code of a widget's type lies
// in a model of its own, which Colab and marimo make only for those who ask for it.

/** @import { TypeModule } from "./code.js" */
/** @import { Model } from "./shell.js" */

/**
 * What anywidget gives to a widget; `host`, since 0.11, to `render` alone.
 * @typedef {object} Context
 * @property {Model} model
 * @property {HTMLElement} el
 * @property {{ getModel: (reference: string) => Promise<Model> }} [host]
 */

/**
 * The module of a widget's type: from the page, which keeps it under a key, or from the model.
 * @param {Context} context
 * @returns {Promise<TypeModule>}
 */
async function load({ model, host }) {
  /** @type {any} */
  const page = globalThis;
  const key = model.get("_key");
  if (page[key]) return page[key];
  const id = model.get("_code").replace("IPY_MODEL_", "");
  const code = await (host?.getModel(`anywidget:${id}`) ?? model.widget_manager.get_model(id));
  const script = new Blob([code.get("_script")], { type: "text/javascript" });
  const { default: unpack } = await import(URL.createObjectURL(script));
  return unpack(key, code.get("_zip"));
}

export default {
  // Nobody waits for this: anywidget gives a model up that is not ready after two seconds.
  /** @param {Context} context */
  initialize(context) {
    load(context).then((type) => type.initialize(context), console.debug);
  },
  /** @param {Context} context */
  async render(context) {
    return (await load(context)).render(context);
  },
};
