// The part of Jupyter that widgets need, on a page without a kernel: a model that holds the state.

/** @import { Model } from "./shell.js" */

/**
 * A page is the modules of its widgets, and for each widget the index of its module and its state.
 * @typedef {{ modules: string[], widgets: [module: number, traits: Record<string, any>][] }} Page
 */

const MARK = "#state=";

/**
 * A model as anywidget promises it, over a plain object.
 * @param {Record<string, any>} traits
 */
export function createModel(traits) {
  /** @type {Map<string, Set<() => void>>} */
  const handlers = new Map();

  /** @param {string} event */
  function handlersOf(event) {
    let present = handlers.get(event);
    if (!present) {
      present = new Set();
      handlers.set(event, present);
    }
    return present;
  }

  /** @param {string} event */
  function emit(event) {
    for (const handler of [...handlersOf(event)]) handler();
  }

  /** @type {Model & { send: () => void }} */
  const model = {
    get: (name) => traits[name],
    set(name, value) {
      if (traits[name] === value) return;
      traits[name] = value;
      emit(`change:${name}`);
      emit("change");
    },
    on: (event, handler) => handlersOf(event).add(handler),
    off: (event, handler) => handlersOf(event).delete(handler),
    save_changes() {},
    send() {},
  };
  return model;
}

/** @param {string} source */
async function load(source) {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const widget = await import(url);
  URL.revokeObjectURL(url);
  return widget;
}

/**
 * Bring each node with a data-widget, the index of its widget, to life. Nodes with the same index
 * share one model, so that they stay in step; each module is loaded once. The page can bring a node
 * to life later, with an event "stridekit-draw" on it.
 * @param {ParentNode} root
 * @param {Page} page
 */
export async function bringToLife(root, { modules, widgets }) {
  const { signal } = new AbortController();
  const loaded = modules.map(load);
  // The texts of the widgets before a hand changes them.
  const texts = widgets.map((widget, number) => `${number} ${JSON.stringify(widget)}`);
  const started = widgets.map(async ([k, traits], number) => {
    const widget = await loaded[k];
    const model = createModel(traits);
    model.link = () => {
      history.replaceState(null, "", hashOf(number, texts[number], model.get("_state")));
      return location.href;
    };
    await widget.initialize?.({ model, signal });
    return { widget, model };
  });
  root.addEventListener("stridekit-draw", ({ target }) =>
    draw(/** @type {HTMLElement} */ (target)),
  );
  /** @type {NodeListOf<HTMLElement>} */
  const nodes = root.querySelectorAll("[data-widget]");
  for (const el of nodes) await draw(el);
  addEventListener("hashchange", follow);
  await follow();

  /** @param {HTMLElement} el */
  async function draw(el) {
    try {
      const { widget, model } = await started[Number(el.dataset.widget)];
      // The page adds what it keeps of this widget, such as an earlier answer, before it is drawn.
      el.dispatchEvent?.(new CustomEvent("stridekit-model", { bubbles: true, detail: model }));
      await widget.render({ model, el, signal });
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      el.textContent = `This picture could not be drawn: ${reason}`;
      reportError(error);
    }
  }

  /** Show the state of the link by which the page was opened, or which was followed on it. */
  async function follow() {
    const [number, state] = readHash(location.hash, texts) ?? [0, null];
    if (!state) return;
    const { model } = await started[number];
    model.set("_answered_id", model.get("_change_id")); // earlier changes by a hand no longer count
    model.set("_state", state);
    root.querySelector(`[data-widget="${number}"]`)?.scrollIntoView({ block: "center" });
  }
}

// A state in the address of a page: "#state=", the index of the widget, a checksum, and the state
// in base64url. The checksum also covers the widget as the page was written with it: a link that
// was cut off, or is of another page, does not fit and is left alone.

/** @type {(number: number, widget: string, state: any) => string} */
export function hashOf(number, widget, state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return `${MARK}${number}.${checksum(widget, text)}.${text}`;
}

/**
 * The index and the state of a hash if it fits one of the widgets by their texts; or null.
 * @param {string} hash
 * @param {string[]} widgets
 * @returns {[number: number, state: any] | null}
 */
export function readHash(hash, widgets) {
  if (!hash.startsWith(MARK)) return null;
  const [number, sum, text] = hash.slice(MARK.length).split(".");
  const widget = widgets[Number(number)];
  if (widget === undefined || sum !== checksum(widget, text)) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  return [Number(number), JSON.parse(new TextDecoder().decode(bytes))];
}

/** @param {string[]} texts */
function checksum(...texts) {
  let sum = 2166136261;
  for (const char of texts.join("\n"))
    sum = Math.imul(sum ^ Number(char.codePointAt(0)), 16777619) >>> 0;
  return sum.toString(36);
}
