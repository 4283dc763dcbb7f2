// Changes to how JupyterLab and ipywidgets open and show a lesson. The state of the widgets is
// saved by stridekit/widgets/page/code.js, without this. Below is the container that JupyterLab
// expects. Beside this file is the folder widgets, which stridekit/widgets/saved.py writes.

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";
const RANK = -10; // of ipywidgets' own factory
const STILL = "Still picture of "; // begins what tools/stills.py says of one
const MARKS = ["essential", "further"];
const PASSED = 'class="sk-joy"'; // of a report on a right answer (stridekit/exercises/reports.py)
const HARMLESS = ["text/plain", "image/png", "image/jpeg", "image/gif", "image/webp"];

const script = /** @type {HTMLScriptElement} */ (document.currentScript);
const WIDGETS = new URL("widgets/", script.src).href;

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

/** The models that a notebook has saved, by their ids. */
const savedModels = (notebook) => notebook.getMetadata("widgets")?.[STATE]?.state ?? {};

/** The name of a saved model's class, if it is a widget. */
const classOf = (saved) => String(saved?.state?._anywidget_id);

/** The type of a saved widget of stridekit, which is the name of its pack; null for other models. */
const kindOf = (saved) =>
  /^stridekit\.widgets\.(\w+)\.widget\.\w+$/.exec(classOf(saved))?.[1] ?? null;

/**
 * The widgets of stridekit that a notebook has saved. They are drawn by the code that came with
 * this extension (stridekit/widgets/saved.py), from values alone: no code of a notebook runs, and
 * no kernel is needed. Once a kernel turns out to have a widget, ipywidgets draws it.
 */
function showSaved({ content: { rendermime } }, { model: notebook, sessionContext, saveState }) {
  /** @type {Map<string, any>} */
  const models = new Map(); // what this page made of a saved widget, by the saved text
  /** @type {Map<string, any>} */
  const changed = new Map(); // the models that a hand has changed, by their ids
  /** @type {Set<{ id: string, redraw: () => Promise<void> }>} */
  const shown = new Set();
  /** @type {any} */
  let manager = null; // that of ipywidgets, once there is a kernel

  const addFactory = rendermime.addFactory.bind(rendermime);
  rendermime.addFactory = (factory, rank) => {
    const isOfViews = factory.mimeTypes.includes(VIEW);
    addFactory(isOfViews ? withSaved(factory) : factory, rank);
    if (isOfViews) rendermime.createRenderer(VIEW)._manager.promise.then(adopt);
  };
  const present = rendermime.getFactory(VIEW);
  if (present) rendermime.addFactory(present, RANK);
  saveState.connect((_, status) => {
    if (status === "started") store();
  });

  function withSaved(factory) {
    function createRenderer(options) {
      const renderer = factory.createRenderer(options);
      const renderLive = renderer.renderModel.bind(renderer);
      renderer.renderModel = (output) => render(renderer, output, renderLive);
      return renderer;
    }
    return { ...factory, createRenderer };
  }

  function adopt(newManager) {
    manager = newManager;
    const filter = manager.filterExistingModelState.bind(manager);
    manager.filterExistingModelState = (saved) => filter(withoutOurs(saved));
    manager.restored.connect(showLive);
    showLive();
  }

  /** Let ipywidgets draw the widgets that a kernel has. */
  function showLive() {
    for (const view of shown) {
      if (manager.has_model(view.id)) view.redraw();
    }
  }

  async function render(renderer, output, renderLive) {
    const id = output.data[VIEW].model_id;
    const saved = savedModels(notebook)[id];
    const hasKernel = sessionContext.kernelPreference.shouldStart !== false;
    if (manager?.has_model(id)) {
      await renderLive(output);
    } else if (kindOf(saved)) {
      await renderSaved(renderer, output, renderLive, saved);
    } else if (hasKernel) {
      await renderLive(output);
    } else {
      showText(renderer, output);
    }
  }

  async function renderSaved(renderer, output, renderLive, saved) {
    const id = output.data[VIEW].model_id;
    const ended = new AbortController();
    const el = document.createElement("div");
    const view = {
      id,
      async redraw() {
        end();
        await renderLive(output);
      },
    };

    function end() {
      shown.delete(view);
      ended.abort();
      el.remove();
    }

    shown.add(view);
    renderer.disposed.connect(end);
    try {
      const { type, createModel } = await codeOf(kindOf(saved));
      const model = modelOf(id, saved, createModel);
      if (ended.signal.aborted) return;
      renderer.node.replaceChildren(el);
      const close = await type.render({ model, el, signal: ended.signal });
      ended.signal.addEventListener("abort", close);
    } catch (error) {
      console.error(error);
      showText(renderer, output);
    }
  }

  /** The model of a saved widget: all of its views share one, until the notebook is read again. */
  function modelOf(id, saved, createModel) {
    const text = `${id} ${JSON.stringify(saved)}`;
    let model = models.get(text);
    if (!model) {
      model = Object.assign(createModel({ ...saved.state }), { isSaved: true });
      model.on("change", () => {
        changed.set(id, model);
        notebook.dirty = true;
      });
      models.set(text, model);
    }
    return model;
  }

  /** Write what hands have changed into the notebook. */
  function store() {
    const widgets = notebook.getMetadata("widgets");
    const state = widgets?.[STATE]?.state;
    for (const [id, model] of changed) {
      const saved = state?.[id];
      if (!saved) continue;
      for (const name of Object.keys(saved.state)) saved.state[name] = model.get(name);
      models.set(`${id} ${JSON.stringify(saved)}`, model);
    }
    if (changed.size && state) notebook.setMetadata("widgets", widgets);
    changed.clear();
  }
}

/**
 * The saved models that ipywidgets is to restore: those of others. It would run the code that the
 * notebook has for them. Where a widget of others contains one of stridekit, it restores all.
 */
function withoutOurs(saved) {
  const entries = Object.entries(saved.state);
  const isOther = ([, model]) => !classOf(model).startsWith("stridekit.");
  const others = Object.fromEntries(entries.filter(isOther));
  const text = JSON.stringify(others);
  const isPart = entries.some(([id]) => !others[id] && text.includes(`IPY_MODEL_${id}`));
  return isPart ? saved : { ...saved, state: others };
}

/** @type {Map<string, Promise<any>>} */
const codes = new Map(); // by type

/** The code of a type of widgets, and the function that makes models. */
function codeOf(kind) {
  let code = codes.get(kind);
  if (!code) {
    code = readCode(kind);
    codes.set(kind, code);
  }
  return code;
}

async function readCode(kind) {
  const [{ default: unpack }, { createModel }, response] = await Promise.all([
    import(`${WIDGETS}code.js`),
    import(`${WIDGETS}host.js`),
    fetch(`${WIDGETS}${kind}.json`),
  ]);
  const { key, zip } = await response.json();
  return { type: await unpack(key, zip), createModel };
}

/** Show a widget that cannot be drawn as its text. */
function showText(renderer, output) {
  const text = document.createElement("pre");
  text.textContent = output.data["text/plain"] ?? "";
  renderer.node.replaceChildren(text);
}

/**
 * JupyterLab trusts a cell that ran here, and signs a notebook if it trusts each cell with outputs.
 * Nobody signed the outputs of a lesson that was just downloaded, so a lesson that was left half
 * done would never be signed. Trust is not needed for outputs that can run nothing.
 */
function trustHarmless({ content: { rendermime } }, { model: notebook }) {
  function trust() {
    const isUntrusted = (cell) => cell.type === "code" && !cell.trusted;
    const untrusted = [...notebook.cells].filter(isUntrusted);
    const saved = savedModels(notebook);
    const { dirty } = notebook;
    for (const cell of untrusted) {
      const outputs = Array.from({ length: cell.outputs.length }, (_, k) => cell.outputs.get(k));
      cell.trusted = outputs.every((output) => isHarmless(output, saved, rendermime.sanitizer));
    }
    if (!dirty) notebook.dirty = false; // to trust is no edit
  }

  notebook.cells.changed.connect(() => queueMicrotask(trust)); // with the metadata
  trust();
}

/** Whether nothing in an output can run: a text, a picture, harmless HTML, a widget of stridekit. */
function isHarmless({ type, data }, saved, sanitizer) {
  if (type === "stream" || type === "error") return true;
  return Object.keys(data).every((mimeType) => {
    if (mimeType === VIEW) return kindOf(saved[data[VIEW].model_id]) !== null;
    if (mimeType === "text/html") return isHarmlessHtml(data[mimeType], sanitizer);
    return HARMLESS.includes(mimeType);
  });
}

/**
 * Whether JupyterLab's sanitizer would leave HTML as it is. It rewrites all styles and drops most:
 * what they can do is to lay something over the page.
 */
function isHarmlessHtml(html, sanitizer) {
  const source = parse(html);
  const sanitized = parse(sanitizer.sanitize(html));
  for (const node of source.querySelectorAll("[style]")) {
    if (/position/i.test(node.getAttribute("style") ?? "")) return false;
  }
  for (const tree of [source, sanitized]) {
    for (const node of tree.querySelectorAll("[style]")) node.removeAttribute("style");
  }
  return source.isEqualNode(sanitized);
}

/** HTML as a tree that is no part of the page, so that nothing in it is loaded or run. */
function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/**
 * JupyterLab gives a picture no words for those who do not see it. A still has them in its metadata
 * (tools/stills.py), other pictures have them beside the picture. A click on a still runs its cell.
 */
function describePictures({ content }, commands) {
  const { rendermime } = content;
  const factory = rendermime.getFactory("image/png");
  const createRenderer = (options) => {
    const renderer = factory.createRenderer(options);
    const renderModel = renderer.renderModel.bind(renderer);
    renderer.renderModel = async (output) => {
      await renderModel(output);
      const { alt } = output.metadata["image/png"] ?? {};
      const image = renderer.node.querySelector("img");
      image.alt = alt ?? output.data["text/plain"] ?? "";
      if (alt?.startsWith(STILL)) runAtClick(image, content, commands);
    };
    return renderer;
  };
  rendermime.addFactory({ ...factory, createRenderer }, factory.defaultRank);
}

/** Let a click on a picture run its cell, as Enter and Space do once it has the focus. */
function runAtClick(image, content, commands) {
  image.classList.add("stridekit-still");
  image.tabIndex = 0;
  image.role = "button";
  image.title = "Run this cell";
  image.dataset.lmSuppressShortcuts = "true"; // or JupyterLab takes the keys

  function run(event) {
    const position = content.widgets.findIndex(({ node }) => node.contains(image));
    event.preventDefault();
    content.activeCellIndex = position;
    content.deselectAll();
    commands.execute("notebook:run-cell");
  }

  image.addEventListener("click", run);
  image.addEventListener("keydown", (event) => {
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isPlain && ["Enter", " "].includes(event.key)) run(event);
  });
}

/**
 * After Shift+Enter JupyterLab scrolls until the next cell is near the middle, and the widget that
 * has just come alive is out of sight. Here it scrolls no further than it has to.
 */
function scrollLittle({ content }) {
  const scrollToItem = content.scrollToItem.bind(content);
  content.scrollToItem = async (position, align, margin) => {
    const { node } = content.widgets[position];
    const hasWidget =
      align === "smart" && [...content.node.querySelectorAll(".stridekit")].some(isInView);
    if (hasWidget && node.isConnected) node.scrollIntoView({ block: "nearest" });
    else await scrollToItem(position, align, margin);
  };

  function isInView(root) {
    const { top, bottom } = root.getBoundingClientRect();
    const area = content.node.getBoundingClientRect();
    return bottom > area.top && top < area.bottom;
  }
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

/**
 * Show at a heading whether its section is essential: `make refresh` gives its cell a tag that says
 * so (stridekit/exercises/marks.py).
 */
function showMarks({ content }, model) {
  function mark() {
    for (const { node, model: cell } of content.widgets) {
      if (cell.type !== "markdown") continue;
      const tags = cell.getMetadata("tags") ?? [];
      const word = MARKS.find((name) => tags.includes(name));
      if (word) node.dataset.stridekitMark = word;
      else delete node.dataset.stridekitMark;
    }
  }

  model.contentChanged.connect(mark);
  mark();
}

/** Show below the title of a lesson how many of its exercises the notebook has passed. */
function showProgress({ content }, model) {
  function isPassed(cell) {
    const { outputs } = cell.toJSON();
    return outputs.some(({ data }) => String(data?.["text/html"]).includes(PASSED));
  }

  function count() {
    const head = content.widgets.find(({ model: cell }) => cell.type === "markdown");
    const cells = content.widgets.map((widget) => widget.model);
    const exercises = cells.filter((cell) => cell.getMetadata("tags")?.includes("exercise"));
    if (!head || !exercises.length) return;
    const passed = exercises.filter(isPassed).length;
    const noun = exercises.length === 1 ? "exercise" : "exercises";
    const words = `${passed} of ${exercises.length} ${noun} passed`;
    head.node.dataset.stridekitProgress = "";
    head.node.style.setProperty("--stridekit-progress", JSON.stringify(words));
    head.node.style.setProperty("--stridekit-part", `${(100 * passed) / exercises.length}%`);
  }

  model.contentChanged.connect(count);
  count();
}

/**
 * A cell that runs again replaces its output, and with it the hints that a reader has opened below
 * the report of an exercise. A fold opens again if it comes back with the same text.
 */
function keepFoldsOpen({ content: { node } }) {
  /** @type {Map<Element, Set<string>>} */
  const openTexts = new Map(); // the texts of open folds, by the outputs of a cell
  const observer = new MutationObserver(() => {
    for (const [outputs, texts] of openTexts) {
      for (const fold of outputs.querySelectorAll("details")) {
        if (texts.has(fold.textContent ?? "")) fold.open = true;
      }
    }
  });

  /** @param {Event} event */
  function note({ target }) {
    const fold = /** @type {HTMLDetailsElement} */ (target);
    const outputs = fold.closest(".jp-CodeCell .jp-OutputArea");
    if (!outputs) return;
    const texts = openTexts.get(outputs) ?? new Set();
    openTexts.set(outputs, texts);
    observer.observe(outputs, { childList: true, subtree: true }); // again is no more than once
    if (fold.open) texts.add(fold.textContent ?? "");
    else texts.delete(fold.textContent ?? "");
  }

  node.addEventListener("toggle", note, { capture: true }); // the event does not bubble
}

const PRESENT = "stridekit:present";

/**
 * A command that shows a picture as large as the window, with its controls beside it: that of the
 * active cell, or else the first one in view. It stands in the palette, and has a key.
 */
function addPresenter({ commands, shell }, palette) {
  /** @returns {HTMLElement | undefined} the button of the picture that takes the whole window */
  function findButton() {
    const { content } = shell.currentWidget ?? {};
    if (!content?.activeCell) return undefined;
    const buttons = [...content.node.querySelectorAll(".stridekit [aria-label='full width']")];
    const isSeen = (button) => {
      const { top, bottom } = button.closest(".stridekit").getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    };
    const own = buttons.find((button) => content.activeCell.node.contains(button));
    return own ?? buttons.find(isSeen);
  }

  /** @param {HTMLElement | undefined} button */
  function present(button) {
    button?.focus({ preventScroll: true });
    button?.click();
  }

  commands.addCommand(PRESENT, {
    label: "Present the Picture (stridekit)",
    caption: "Show the picture of this cell in the whole window; Esc leaves",
    isEnabled: () => findButton() !== undefined,
    // The palette gives the focus back to the notebook once the command has run, and full width
    // ends when the focus leaves.
    execute: () => setTimeout(present, 50, findButton()),
  });
  commands.addKeyBinding({
    command: PRESENT,
    keys: ["Accel Alt P"],
    selector: ".jp-Notebook",
  });
  palette?.addItem({ command: PRESENT, category: "Notebook Operations" });
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
[data-stridekit-mark] :is(h1, h2, h3)::after {
  margin-left: .8em; padding: 0 .6em; border: 1px solid var(--jp-border-color1);
  border-radius: 1em; font-size: 12px; font-weight: normal; vertical-align: middle;
  color: var(--jp-ui-font-color2); content: "further";
}
[data-stridekit-mark="essential"] :is(h1, h2, h3)::after {
  border-color: var(--jp-brand-color1); color: var(--jp-brand-color1); content: "essential";
}
[data-stridekit-progress] h1 { display: flex; flex-wrap: wrap; align-items: center; }
[data-stridekit-progress] h1::before {
  order: 1; flex: 0 0 100%; margin-top: .6em; padding-top: 8px; font-size: 13px; font-weight: normal;
  color: var(--jp-ui-font-color2); content: var(--stridekit-progress);
  background: linear-gradient(var(--jp-success-color1) 0 0) 0 0 / var(--stridekit-part) 4px no-repeat,
    linear-gradient(var(--jp-border-color2) 0 0) 0 0 / 100% 4px no-repeat;
}
.stridekit-still { cursor: pointer; }
.stridekit-still:hover { filter: brightness(.97); }
.stridekit-still:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 2px; }
[data-jp-theme-light="false"] :is(.jp-RenderedImage, .jp-RenderedHTML) {
  img.jp-needs-light-background { filter: invert(.933) hue-rotate(180deg); }
}`;

const plugin = {
  id: "stridekit:lessons",
  description:
    "Leaves lessons clean that were only opened, shows saved widgets, folds answers, " +
    "keeps hints open, turns plots dark, and presents pictures.",
  autoStart: true,
  activate(app, palette) {
    const { docRegistry, commands } = app;
    addPresenter(app, palette);
    const style = document.createElement("style");
    style.textContent = SHEET;
    document.head.append(style);
    docRegistry.addWidgetExtension("Notebook", {
      createNew(panel, context) {
        stayClean(context.model);
        showSaved(panel, context);
        trustHarmless(panel, context);
        describePictures(panel, commands);
        scrollLittle(panel);
        openWords(panel, context.model);
        showMarks(panel, context.model);
        showProgress(panel, context.model);
        keepFoldsOpen(panel);
      },
    });
  },
};

/** @type {Record<string, Record<string, { get: () => Promise<() => any> }>>} */
let shared = {}; // what JupyterLab shares with its extensions: versions of packages by their names

async function fromShared(name) {
  const [version] = Object.values(shared[name] ?? {});
  const factory = await version?.get();
  return factory?.() ?? {};
}

globalThis._JUPYTERLAB ??= {};
globalThis._JUPYTERLAB.stridekit = {
  init(scope) {
    shared = scope;
  },
  async get() {
    const { ICommandPalette } = await fromShared("@jupyterlab/apputils");
    const optional = ICommandPalette ? [ICommandPalette] : [];
    return () => ({ __esModule: true, default: { ...plugin, optional } });
  },
};
