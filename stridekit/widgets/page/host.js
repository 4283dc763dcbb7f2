// What a widget needs of Jupyter on a page without a kernel: a model that holds the state.

import { createLinks } from "./link.js";

/** A model as anywidget promises it, over a plain object. */
export function createModel(state) {
  const handlers = new Map();
  const emit = (event) => [...(handlers.get(event) ?? [])].forEach((handler) => handler());
  return {
    get: (name) => state[name],
    set(name, value) {
      if (state[name] === value) return;
      state[name] = value;
      emit(`change:${name}`);
      emit("change");
    },
    on(event, handler) {
      handlers.set(event, [...(handlers.get(event) ?? []), handler]);
    },
    off(event, handler) {
      handlers.set(event, (handlers.get(event) ?? []).filter((other) => other !== handler));
    },
    save_changes() {},
    send() {},
  };
}

async function load(esm) {
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  URL.revokeObjectURL(url);
  return widget;
}

// Bring each node with a data-widget, the number of its widget, to life. Nodes with the same number share one model,
// so that they stay in step; each module is loaded once.
// `page` is {modules, widgets}; a widget is [number of its module, state]
export async function bringToLife(root, { modules, widgets }) {
  const { signal } = new AbortController();
  const loaded = modules.map(load);
  const links = createLinks(widgets);
  const begun = widgets.map(async ([k, state], number) => {
    const [widget, model] = [await loaded[k], createModel(state)];
    model.link = () => links.to(number, model.get("_state"));
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
  links.follow(async (number, state) => {
    const { model } = await begun[number];
    model.set("_answered_id", model.get("_change_id")); // what a hand did before counts no longer
    model.set("_state", state);
    root.querySelector(`[data-widget="${number}"]`)?.scrollIntoView({ block: "center" });
  });
}
