// What JupyterLab itself has to do otherwise when it opens a lesson. The widgets do not need it: their state is
// saved by stridekit/widgets/page/code.js. There is no build: this is the container that JupyterLab expects.

const VIEW = "application/vnd.jupyter.widget-view+json";

/**
 * A stored lesson names its kernel and its language, and no version: it is the same file on every machine. JupyterLab
 * fills in the rest, and takes it for an edit of yours.
 */
function stayClean(model) {
  const setMetadata = model.setMetadata.bind(model);
  model.setMetadata = (key, value) => {
    const { dirty } = model;
    const stored = model.getMetadata("language_info");
    setMetadata(key, value);
    const isDetail = ["kernelspec", "language_info"].includes(key) && !stored?.version;
    if (isDetail && !dirty) model.dirty = false;
  };
}

/** Where no kernel is started, ipywidgets leaves out what is saved in the notebook. */
async function showSaved({ content }, { model, sessionContext }) {
  await sessionContext.ready;
  if (sessionContext.session?.kernel) return;
  const manager = await content.rendermime.createRenderer(VIEW)._manager.promise;
  await manager.restoreWidgets(model, { loadKernel: false, loadNotebook: true });
}

const plugin = {
  id: "stridekit:lessons",
  description: "Leaves lessons clean that were only opened, and shows their widgets without a kernel.",
  autoStart: true,
  activate({ docRegistry }) {
    docRegistry.addWidgetExtension("Notebook", {
      createNew(panel, context) {
        stayClean(context.model);
        void showSaved(panel, context);
      },
    });
  },
};

(globalThis._JUPYTERLAB ??= {}).stridekit = {
  init() {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
