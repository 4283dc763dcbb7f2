// What a widget needs of Jupyter, for pages without a kernel: a model that holds the state, and no more.

/** The model of anywidget's contract, over a plain object. */
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

/** Bring one widget to life in a node: its module as text, its state as an object. */
export async function mount(el, esm, state) {
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  URL.revokeObjectURL(url);
  const leaving = new AbortController();
  const model = createModel(state);
  await widget.initialize?.({ model, signal: leaving.signal });
  await widget.render({ model, el, signal: leaving.signal });
}
