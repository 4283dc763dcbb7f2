// A widget in a notebook, seen from its kernel: what a hand changes is to be saved with the notebook, and a line
// says when the kernel that made the widget is gone. Elsewhere there is nothing to do.

import { h } from "./dom.js";

const GONE = "No kernel: this still answers, but Python does not see it until you run the cell again.";

/** Watch over a view with this root; returns its clean-up. */
export function besideKernel(model, root) {
  const { context, _modelsSync: models } = model.widget_manager ?? {};
  // What a kind of widget shares was made by the same kernel, and lives as long.
  const code = models?.get(model.get("_code").replace("IPY_MODEL_", ""));
  if (!context || !code) return () => {};
  const line = h("p", { class: "sk-gone", text: GONE });
  const show = () => (code.comm_live ? line.remove() : root.append(line));
  const touch = () => (context.model.dirty = true);
  watch(code, context.sessionContext);
  code.on("comm_live_update", show);
  model.on("change", touch);
  show();
  return () => {
    code.off("comm_live_update", show);
    model.off("change", touch);
  };
}

// Jupyter tells its models when a kernel is restarted, but not when it dies, is shut down, or is exchanged.
const ENDS = ["autorestarting", "terminating", "dead"];
const watched = new WeakSet();

function watch(code, session) {
  const { kernel } = session.session ?? {};
  if (watched.has(code) || !code.comm_live) return;
  watched.add(code);
  const end = () => {
    session.statusChanged.disconnect(heard);
    session.kernelChanged.disconnect(changed);
    code.comm_live = false;
  };
  const heard = (_, status) => ENDS.includes(status) && end();
  const changed = (_, { newValue }) => newValue?.id !== kernel?.id && end();
  session.statusChanged.connect(heard);
  session.kernelChanged.connect(changed);
}
