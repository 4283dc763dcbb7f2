// What a widget needs of Jupyter on a page without a kernel: a model that holds the state.

const MARK = "#state=";

/** A model as anywidget promises it, over a plain object. */
export function createModel(state) {
  const handlers = {};
  const heard = (event) => (handlers[event] ??= new Set());
  const emit = (event) => [...heard(event)].forEach((handler) => handler());
  return {
    get: (name) => state[name],
    set(name, value) {
      if (state[name] === value) return;
      state[name] = value;
      emit(`change:${name}`);
      emit("change");
    },
    on: (event, handler) => heard(event).add(handler),
    off: (event, handler) => heard(event).delete(handler),
    save_changes() {},
    send() {},
  };
}

async function load(esm) {
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const widget = await import(url);
  URL.revokeObjectURL(url);
  return widget;
}

// Bring each node with a data-widget, the number of its widget, to life. Nodes with the same number share one model,
// so that they stay in step; each module is loaded once.
// `page` is {modules, widgets}; a widget is [number of its module, state]
export async function bringToLife(root, { modules, widgets }) {
  const { signal } = new AbortController();
  const loaded = modules.map(load);
  const written = widgets.map((widget, number) => `${number} ${JSON.stringify(widget)}`); // before a hand changes them
  const begun = widgets.map(async ([k, state], number) => {
    const [widget, model] = [await loaded[k], createModel(state)];
    model.link = () => {
      history.replaceState(null, "", hashOf(number, written[number], model.get("_state")));
      return location.href;
    };
    await widget.initialize?.({ model, signal });
    return { widget, model };
  });
  for (const el of root.querySelectorAll("[data-widget]")) {
    try {
      const { widget, model } = await begun[Number(el.dataset.widget)];
      // What the page knows of this widget, such as an earlier answer, comes before it is drawn.
      el.dispatchEvent?.(new CustomEvent("stridekit-model", { bubbles: true, detail: model }));
      await widget.render({ model, el, signal });
    } catch (error) {
      el.textContent = `This picture could not be drawn: ${error.message}`;
      reportError(error);
    }
  }
  addEventListener("hashchange", follow);
  await follow();

  /** Show the state of the link by which the page was opened, or which was followed on it. */
  async function follow() {
    const [number, state] = readHash(location.hash, written) ?? [];
    if (!state) return;
    const { model } = await begun[number];
    model.set("_answered_id", model.get("_change_id")); // what a hand did before counts no longer
    model.set("_state", state);
    root.querySelector(`[data-widget="${number}"]`)?.scrollIntoView({ block: "center" });
  }
}

// A state in the address of a page: "#state=", the number of the widget, a checksum, and the state in base64url.
// The checksum is over the widget as the page was written with it, too: what was cut off or is of another page does
// not fit, and is left alone.

export function hashOf(number, widget, state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return `${MARK}${number}.${checksum(widget, text)}.${text}`;
}

/** [number, state] of a hash, if it fits one of the widgets by their texts; or null. */
export function readHash(hash, widgets) {
  const [number, sum, text] = hash.startsWith(MARK) ? hash.slice(MARK.length).split(".") : [];
  const widget = widgets[number];
  if (widget === undefined || sum !== checksum(widget, text)) return null;
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return [
    Number(number),
    JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)))),
  ];
}

function checksum(...texts) {
  let sum = 2166136261;
  for (const char of texts.join("\n")) sum = Math.imul(sum ^ char.codePointAt(0), 16777619) >>> 0;
  return sum.toString(36);
}
