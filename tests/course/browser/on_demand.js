// A page that manages widgets as Colab does (googlecolab/colab-cdn-widget-manager, src/manager.ts): it
// makes a model when somebody asks for it, from the state that the kernel has then. JupyterLab makes
// all models of a kernel at once. The classes are those of ipywidgets and anywidget, as they are
// installed for the classic notebook. test_on_demand.py is the kernel: it has `stateOf` and `take`.

/** @typedef {[id: string, data: { method: string, state: Record<string, any> }]} Message */

/** @type {any} */
const page = globalThis;

// What the bundle of ipywidgets, an AMD module, wants to know about the classic notebook.
page.Jupyter = { version: "7.0.0" };
page.requirejs = Object.assign(() => {}, { config() {} });
/** @type {((imported: any) => any)[]} */
const bundles = [];
page.define = (_names, bundle) => bundles.push(bundle);

/** The connection of a model to the kernel. */
class Comm {
  /** @param {string} id */
  constructor(id) {
    this.comm_id = id;
  }

  on_msg(handler) {
    this.hear = (data) => handler({ content: { data }, buffers: [] });
  }

  on_close() {}

  send(data, callbacks) {
    this.answer(data, callbacks);
    return this.comm_id;
  }

  async answer(data, callbacks) {
    await page.hear(await page.take(this.comm_id, data));
    callbacks.iopub.status({ content: { execution_state: "idle" } });
  }
}

class Manager {
  /** @type {Map<string, Promise<any>>} */
  models = new Map();
  /** @type {Record<string, any>} */
  made = {};

  constructor() {
    const [ipywidgets, anywidget] = bundles;
    const base = ipywidgets({ uri: location.href });
    this.classes = { "@jupyter-widgets/base": base, anywidget: anywidget(base) };
  }

  get_model(id) {
    let model = this.models.get(id);
    if (!model) {
      model = this.makeModel(id);
      this.models.set(id, model);
    }
    return model;
  }

  async makeModel(id) {
    const { name, module, state } = await page.stateOf(id);
    const Model = this.classes[module][name];
    const attributes = await Model._deserialize_state(state, this);
    const options = { widget_manager: this, model_id: id, comm: new Comm(id) };
    this.made[id] = new Model(attributes, options);
    return this.made[id];
  }

  callbacks() {
    return {};
  }
}

/** Once both bundles are on the page. */
page.start = () => {
  page.manager = new Manager();
};

/**
 * Messages from the kernel arrive.
 * @param {Message[]} messages
 */
page.hear = async (messages) => {
  for (const [id, data] of messages) {
    await page.manager.made[id].comm.hear(data);
  }
};

/** Show a widget at the end of the page, perhaps in a shadow root. */
page.show = async (id, isInShadow) => {
  const place = document.createElement("div");
  place.id = id;
  document.body.append(place);
  const tree = isInShadow ? place.attachShadow({ mode: "open" }) : place;
  const model = await page.manager.get_model(id);
  const View = page.manager.classes.anywidget[model.get("_view_name")];
  const view = new View({ model, options: {} });
  await view.render();
  tree.append(view.el); // ipywidgets connects a view after it was rendered
};
