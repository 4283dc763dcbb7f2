// What JupyterLab and ipywidgets have to do otherwise when they open and show a lesson. The state of the widgets is saved by
// stridekit/widgets/page/code.js, without this. There is no build: below is the container that JupyterLab expects.

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";

/**
 * A stored lesson names its kernel and its language, and no version: it is the same file on every machine. JupyterLab
 * fills in the rest, and takes it for an edit of yours.
 */
function stayClean(model) {
  const setMetadata = model.setMetadata.bind(model);
  model.setMetadata = (key, value) => {
    const { dirty } = model;
    const { version } = model.getMetadata("language_info") ?? {};
    setMetadata(key, value);
    if (["kernelspec", "language_info"].includes(key) && !version && !dirty) model.dirty = false;
  };
}

/**
 * If a kernel connects at the wrong moment, ipywidgets misses what the notebook has saved, and shows "model not found".
 * Without a kernel it never reads it, and would be "loading" for ever: there the text is shown, or a still picture.
 */
function showSaved({ content: { rendermime } }, { model, sessionContext }) {
  if (sessionContext.kernelPreference.shouldStart === false) return rendermime.removeMimeType(VIEW);
  const addFactory = rendermime.addFactory.bind(rendermime);
  rendermime.addFactory = async (factory, rank) => {
    addFactory(factory, rank);
    if (!factory.mimeTypes.includes(VIEW)) return;
    const manager = await rendermime.createRenderer(VIEW)._manager.promise;
    const saved = () => Object.keys(model.getMetadata("widgets")?.[STATE]?.state ?? {});
    const missing = () => saved().filter((id) => !manager.has_model(id));
    let completing = null;
    const complete = () =>
      (completing ||=
        missing().length &&
        manager
          .restoreWidgets(model, { loadKernel: false, loadNotebook: true })
          .finally(() => (completing = null)));
    // ipywidgets looks for a model for two seconds, and then never again. A slow kernel answers later.
    const getModel = manager.get_model.bind(manager);
    manager.get_model = (id) =>
      getModel(id).catch(async (error) => {
        if (!manager.restoredStatus || !saved().includes(id)) throw error;
        await complete();
        return getModel(id);
      });
    manager.restored.connect(complete);
    if (manager.restoredStatus) complete();
  };
}

/** JupyterLab leaves a picture without words: a still has them in its metadata (tools/stills.py), others beside them. */
function describePictures({ content: { rendermime } }) {
  const factory = rendermime.getFactory("image/png");
  const createRenderer = (options) => {
    const made = factory.createRenderer(options);
    const show = made.renderModel.bind(made);
    made.renderModel = async (output) => {
      await show(output);
      made.node.querySelector("img").alt =
        output.metadata["image/png"]?.alt ?? output.data["text/plain"] ?? "";
    };
    return made;
  };
  rendermime.addFactory({ ...factory, createRenderer }, factory.defaultRank);
}

/** What answers a card is stored folded (stridekit/export/notebook.py says which cells). Its words open once the code above has run. */
function openWords({ content }, model) {
  const open = (above) => {
    const words = content.widgets[content.widgets.findIndex((cell) => cell.model === above) + 1];
    if (words?.model.type === "markdown") words.inputHidden = false;
  };
  const watch = (cell) =>
    cell.stateChanged.connect(
      (_, { name, newValue }) => name === "executionCount" && newValue && open(cell),
    );
  for (const cell of model.cells) watch(cell);
  model.cells.changed.connect((_, { newValues }) => newValues.forEach(watch));
  const asks = () => [...model.cells].some((cell) => /^Predict\(/m.test(cell.sharedModel.source));
  const mark = () => content.node.classList.toggle("stridekit-asks", asks());
  model.contentChanged.connect(mark);
  mark();
}

// JupyterLab shows the first line of what is folded, which is the answer itself.
// A picture on white paper (plots.py says which) is turned over where JupyterLab is dark; export/pages.css does the same.
const SHEET = `.stridekit-asks {
  .jp-OutputPlaceholder, .jp-MarkdownCell .jp-InputPlaceholder {
    .jp-PlaceholderText { font-size: 0; }
    .jp-PlaceholderText::before { font-size: var(--jp-code-font-size); content: "What torch says: run the cell"; }
  }
  .jp-MarkdownCell .jp-InputPlaceholder .jp-PlaceholderText::before { content: "And why"; }
}
[data-jp-theme-light="false"] :is(.jp-RenderedImage, .jp-RenderedHTML) {
  img.jp-needs-light-background { filter: invert(.933) hue-rotate(180deg); }
}`;

const plugin = {
  id: "stridekit:lessons",
  description:
    "Leaves lessons clean that were only opened, shows saved widgets, folds answers, and turns plots dark.",
  autoStart: true,
  activate({ docRegistry }) {
    document.head.append(Object.assign(document.createElement("style"), { textContent: SHEET }));
    docRegistry.addWidgetExtension("Notebook", {
      createNew(panel, context) {
        stayClean(context.model);
        showSaved(panel, context);
        describePictures(panel);
        openWords(panel, context.model);
      },
    });
  },
};

(globalThis._JUPYTERLAB ??= {}).stridekit = {
  init() {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
