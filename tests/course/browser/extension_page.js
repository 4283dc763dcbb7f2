// As much of JupyterLab as its extension meets, in the document of a page: `openNotebook` lays out
// the cells of a notebook, and lets the extension see them. The page has loaded the extension.

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";

class Signal {
  slots = [];
  connect(slot) {
    this.slots.push(slot);
  }
  emit(value) {
    for (const slot of this.slots) slot(this, value);
  }
}

/** The model of a saved widget; `_state` is what a hand changes. */
const savedWidget = (state, kind = "predict") => ({
  state: { _anywidget_id: `stridekit.widgets.${kind}.widget.Widget`, _state: state },
});

/** An output that shows the widget with this id, beside a text. */
const viewOf = (id) => ({ data: { [VIEW]: { model_id: id }, "text/plain": `text of ${id}` } });

const painted = () => new Promise((resolve) => setTimeout(resolve, 20));

/** A cell with the HTML of its outputs; `outputs` are those of its model. */
function createCell({ html = "", outputs = [] }) {
  const node = document.createElement("div");
  node.className = "jp-Cell jp-CodeCell";
  node.innerHTML = `<div class="jp-OutputArea">${html}</div>`;
  const model = {
    type: "code",
    trusted: false,
    outputs: { length: outputs.length, get: (k) => outputs[k] },
    getMetadata() {},
    sharedModel: { source: "" },
    stateChanged: new Signal(),
  };
  return { node, model };
}

/**
 * Open a notebook with these cells and saved models in the extension.
 *
 * `live` has the ids of the models that a kernel has. With `isLate`, ipywidgets comes by `addFactory`,
 * after the extension.
 */
async function openNotebook({
  cells = [],
  saved = undefined,
  kernelPreference = {},
  live = [],
  isLate = false,
} = {}) {
  const notebookNode = document.createElement("div");
  notebookNode.className = "jp-Notebook";
  notebookNode.style.cssText = "height: 300px; overflow: auto";
  document.body.replaceChildren(notebookNode);
  const widgets = cells.map(createCell);
  notebookNode.append(...widgets.map(({ node }) => node));

  const stored = saved && { [STATE]: { version_major: 2, state: saved } };
  const notebook = {
    dirty: false,
    metadata: { widgets: stored },
    written: [],
    cells: Object.assign(
      widgets.map(({ model }) => model),
      { changed: new Signal() },
    ),
    contentChanged: new Signal(),
    getMetadata: (name) => structuredClone(notebook.metadata[name]),
    setMetadata(name, value) {
      notebook.metadata[name] = value;
      notebook.written.push(name);
    },
  };

  const manager = {
    context: {},
    restored: new Signal(),
    filterExistingModelState: (models) => models,
    has_model: (id) => live.includes(id),
  };
  const viewFactory = {
    mimeTypes: [VIEW],
    createRenderer() {
      const node = document.createElement("div");
      const renderer = {
        node,
        disposed: new Signal(),
        _manager: { promise: Promise.resolve(manager) },
        async renderModel({ data }) {
          node.textContent = `kernel draws ${data[VIEW].model_id}`;
        },
      };
      return renderer;
    },
  };
  const pictureFactory = { mimeTypes: ["image/png"], createRenderer() {} };
  const factories = new Map([["image/png", [pictureFactory]]]);
  const rendermime = {
    ranks: [],
    getFactory: (type) => factories.get(type)?.[0],
    addFactory(factory, rank) {
      for (const type of factory.mimeTypes) factories.set(type, [factory]);
      rendermime.ranks.push(rank);
    },
    createRenderer: (type) => factories.get(type)[0].createRenderer({ mimeType: type }),
    // JupyterLab's own drops scripts and event handlers, and rewrites styles.
    sanitizer: { sanitize: (html) => html.replace(/ onerror="[^"]*"| style="[^"]*"/g, "") },
  };
  if (!isLate) rendermime.addFactory(viewFactory, 0);

  const scrolled = [];
  const content = {
    node: notebookNode,
    widgets,
    rendermime,
    activeCell: widgets[0],
    deselectAll() {},
    async scrollToItem(...place) {
      scrolled.push(place);
    },
  };
  const commands = {
    added: {},
    keys: [],
    addCommand: (id, command) => Object.assign(commands.added, { [id]: command }),
    addKeyBinding: (binding) => commands.keys.push(binding),
  };
  const palette = { items: [], addItem: (item) => palette.items.push(item) };
  const shell = { currentWidget: { content } };
  const saveState = new Signal();
  const docRegistry = {
    addWidgetExtension(_, { createNew }) {
      createNew({ content }, { model: notebook, sessionContext: { kernelPreference }, saveState });
    },
  };
  const { default: plugin } = (await globalThis._JUPYTERLAB.stridekit.get())();
  plugin.activate({ shell, commands, docRegistry }, palette);

  /** Render an output as JupyterLab does; return its renderer. */
  async function show(output) {
    const renderer = rendermime.createRenderer(VIEW);
    notebookNode.append(renderer.node);
    await renderer.renderModel(output);
    return renderer;
  }

  return {
    addFactory: () => rendermime.addFactory(viewFactory, 0),
    content,
    commands,
    live,
    manager,
    notebook,
    palette,
    rendermime,
    saveState,
    scrolled,
    shell,
    show,
    widgets,
  };
}

/** The value of a test's body; an error if it does not end, because a page would wait for ever. */
function inTime(body) {
  globalThis.ended = [];
  globalThis.models = [];
  globalThis.isReady = null;
  const late = new Promise((_, reject) => setTimeout(reject, 20_000, Error("it did not end")));
  return Promise.race([body(), late]);
}

Object.assign(globalThis, { inTime, openNotebook, painted, savedWidget, viewOf });
