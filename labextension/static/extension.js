// Changes to how JupyterLab and ipywidgets open and show a lesson. The state of the widgets is
// saved by stridekit/widgets/page/code.js, without this. There is no build: below is the container
// that JupyterLab expects.

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";

/**
 * A stored lesson names its kernel and its language, and no version: it is the same file on every
 * machine. JupyterLab fills in the rest, and takes it for an edit of yours.
 */
function stayClean(model) {
  const setMetadata = model.setMetadata.bind(model);
  model.setMetadata = (key, value) => {
    const { dirty } = model;
    const { version } = model.getMetadata("language_info") ?? {};
    setMetadata(key, value);
    const isFilledIn = ["kernelspec", "language_info"].includes(key) && !version;
    if (isFilledIn && !dirty) model.dirty = false;
  };
}

/**
 * If a kernel connects at the wrong moment, ipywidgets misses the widgets that the notebook has
 * saved, and shows "model not found". Without a kernel it never reads them, and would be "loading"
 * for ever: there the text is shown, or a still picture.
 */
function showSaved({ content: { rendermime } }, { model, sessionContext }) {
  if (sessionContext.kernelPreference.shouldStart === false) {
    rendermime.removeMimeType(VIEW);
    return;
  }
  const addFactory = rendermime.addFactory.bind(rendermime);
  rendermime.addFactory = async (factory, rank) => {
    addFactory(factory, rank);
    if (!factory.mimeTypes.includes(VIEW)) return;
    const manager = await rendermime.createRenderer(VIEW)._manager.promise;
    restoreMissing(manager, model);
  };
}

/** Let the manager of a notebook's widgets restore the saved models that it has missed. */
function restoreMissing(manager, notebook) {
  const savedIds = () => Object.keys(notebook.getMetadata("widgets")?.[STATE]?.state ?? {});
  let restoring = null;

  function restore() {
    const isComplete = savedIds().every((id) => manager.has_model(id));
    if (restoring || isComplete) return restoring;
    restoring = manager
      .restoreWidgets(notebook, { loadKernel: false, loadNotebook: true })
      .finally(() => {
        restoring = null;
      });
    return restoring;
  }

  // ipywidgets looks for a model for two seconds and then never again. A slow kernel answers later.
  const getModel = manager.get_model.bind(manager);
  manager.get_model = async (id) => {
    try {
      return await getModel(id);
    } catch (error) {
      if (!manager.restoredStatus || !savedIds().includes(id)) throw error;
      await restore();
      return getModel(id);
    }
  };
  manager.restored.connect(restore);
  if (manager.restoredStatus) restore();
}

/**
 * JupyterLab gives a picture no words for those who do not see it. A still has them in its metadata
 * (tools/stills.py), other pictures have them beside the picture.
 */
function describePictures({ content: { rendermime } }) {
  const factory = rendermime.getFactory("image/png");
  const createRenderer = (options) => {
    const renderer = factory.createRenderer(options);
    const renderModel = renderer.renderModel.bind(renderer);
    renderer.renderModel = async (output) => {
      await renderModel(output);
      const { alt } = output.metadata["image/png"] ?? {};
      renderer.node.querySelector("img").alt = alt ?? output.data["text/plain"] ?? "";
    };
    return renderer;
  };
  rendermime.addFactory({ ...factory, createRenderer }, factory.defaultRank);
}

/**
 * The answer to a card is stored folded (stridekit/lessons/notebook.py says which cells). Its words
 * open once the code above has run.
 */
function openWords({ content }, model) {
  function openBelow(cell) {
    const position = content.widgets.findIndex((widget) => widget.model === cell);
    const words = content.widgets[position + 1];
    if (words?.model.type === "markdown") words.inputHidden = false;
  }

  function watch(cell) {
    cell.stateChanged.connect((_, { name, newValue }) => {
      if (name === "executionCount" && newValue) openBelow(cell);
    });
  }

  function markCards() {
    const hasCard = [...model.cells].some((cell) => /^Predict\(/m.test(cell.sharedModel.source));
    content.node.classList.toggle("stridekit-asks", hasCard);
  }

  for (const cell of model.cells) watch(cell);
  model.cells.changed.connect((_, { newValues }) => {
    for (const cell of newValues) watch(cell);
  });
  model.contentChanged.connect(markCards);
  markCards();
}

// JupyterLab shows the first line of a folded cell, which is the answer itself. A picture on white
// paper (stridekit/lessons/plots.py says which) is inverted if JupyterLab is dark;
// stridekit/export/static/site.css does the same.
const SHEET = `.stridekit-asks {
  .jp-OutputPlaceholder, .jp-MarkdownCell .jp-InputPlaceholder {
    .jp-PlaceholderText { font-size: 0; }
    .jp-PlaceholderText::before {
      font-size: var(--jp-code-font-size); content: "What torch says: run the cell";
    }
  }
  .jp-MarkdownCell .jp-InputPlaceholder .jp-PlaceholderText::before { content: "And why"; }
}
[data-jp-theme-light="false"] :is(.jp-RenderedImage, .jp-RenderedHTML) {
  img.jp-needs-light-background { filter: invert(.933) hue-rotate(180deg); }
}`;

const plugin = {
  id: "stridekit:lessons",
  description:
    "Leaves lessons clean that were only opened, shows saved widgets, folds answers, " +
    "and turns plots dark.",
  autoStart: true,
  activate({ docRegistry }) {
    const style = document.createElement("style");
    style.textContent = SHEET;
    document.head.append(style);
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

globalThis._JUPYTERLAB ??= {};
globalThis._JUPYTERLAB.stridekit = {
  init() {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
