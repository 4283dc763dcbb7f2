// What is around the panes of every widget: a root that follows theme and width, a sentence that is read
// aloud when the pointer rests, sending the state to the kernel, and cleaning up.

import { h, set } from "./dom.js";
import { createFrame } from "./frame.js";
import { createGoals } from "./goals.js";

// The state of a widget is one trait, "_state", which both sides write whole: no half-changed picture can be
// seen or sent. If both write at once, the last change to reach the kernel wins. Each change made here gets a
// number, "_change_id", which the kernel's reply repeats as "_answered_id". Until that reply comes, any state that
// arrives is older than the change, which stays on screen in all views of its model.
const unanswered = new Map();

const NARROW = 480; // px: the toolbar then has a row of its own

// `draw` is called without arguments when "_state", one of the `traits` or the width has changed; before it, `forget` when
// "_state" has been replaced. What need not be in the first frame of a change, it returns as a function: this page
// calls it once that frame is painted. A widget with a toolbar has `code()`, the source that reproduces the picture, and
// `facts(state)`, over which goals are set.
export function createShell(
  { model, el },
  { label, kind, traits = [], draw, forget, code, facts },
) {
  const spoken = h("p", { class: "sk-spoken", role: "status" });
  const root = h("div", { class: `stridekit ${kind}`, role: "group", "aria-label": label }, spoken);
  restoreSliders(root);
  let speaking = null;
  let unsent = false; // a change waits to be sent until it has been painted,
  let undrawn = null; // and with it what is no part of its first frame
  let drawn = null; // the state that is on screen
  const ended = new AbortController();
  const { signal } = ended;
  const listeners = [
    ["_state", follow],
    ["_answered_id", settle],
    ["_done", () => goals?.draw()],
    ...traits.map((trait) => [trait, redraw]),
  ];

  globalThis.stridekitViews = (globalThis.stridekitViews ?? 0) + 1; // ids are unique on a page, for all kinds of widgets
  const shell = {
    id: `stridekit-${globalThis.stridekitViews}`,
    width: 900,
    signal, // is aborted once the view is gone
    /** Add the panes, and draw for the first time. */
    open(first, ...rest) {
      root.prepend(first, ...(goals ? [goals.node] : []), ...rest);
      if (frame) root.append(frame.node);
      if (frame) first.classList.add("sk-first");
      el.append(root);
      for (const [trait, handler] of listeners) model.on(`change:${trait}`, handler);
      resized.observe(root);
      besideKernel(model, root, signal);
      shell.atEnd(close);
      redraw();
      return ended.abort.bind(ended); // anywidget keeps it as long as the model lives, so it holds nothing of the view
    },
    atEnd: (end) => signal.addEventListener("abort", end, { once: true }),
    redraw,
    hovered: null, // what is under the pointer, until another state comes
    hover(what) {
      if (String(what) === String(shell.hovered)) return;
      shell.hovered = what;
      redraw();
    },
    state: () => model.get("_state"),
    /** Change some parts of the state on behalf of a hand. */
    put: (changed) => shell.change({ ...model.get("_state"), ...changed }),
    /** Change the state on behalf of a hand: draw at once, and tell the kernel once it is painted. */
    change(state) {
      const changeId = Math.random();
      unanswered.delete(model.get("_change_id"));
      unanswered.set(changeId, state);
      drawn = null;
      if (!unsent)
        requestAnimationFrame(() =>
          setTimeout(() => {
            unsent = false;
            undrawn?.();
            model.save_changes();
          }),
        );
      unsent = true;
      model.set("_change_id", changeId);
      model.set("_state", state);
      if (drawn === null) redraw(); // the same state, but perhaps another box is pointed at
    },
    /** Say a sentence when the hand rests: a live region that changes with every pixel is never read out. */
    speak(sentence) {
      clearTimeout(speaking);
      speaking = setTimeout(() => set(spoken, "text", sentence), 250);
    },
  };

  const frame =
    code &&
    createFrame(model, root, {
      id: shell.id,
      name: label.replaceAll(" ", "-"),
      code: () => code(shell.state()),
      change: shell.change,
      signal,
    });
  const goals = facts && createGoals(model, facts);

  /** Once the newest change is answered, the kernel's state counts. */
  function settle() {
    if (model.get("_answered_id") === model.get("_change_id"))
      unanswered.delete(model.get("_change_id"));
  }

  /** Another state has arrived: put back an unanswered change of this page, which is newer. */
  function follow() {
    settle();
    const kept = unanswered.get(model.get("_change_id"));
    if (kept && kept !== model.get("_state")) model.set("_state", kept);
    if (model.get("_state") === drawn) return;
    shell.hovered = null; // it may not exist in this one
    forget?.();
    redraw();
  }

  function redraw() {
    drawn = model.get("_state");
    const rest = draw();
    frame?.draw();
    undrawn = () => {
      rest?.();
      goals?.draw();
    };
    if (!unsent) undrawn();
  }

  let measured = 0; // the first draw happens outside the page, where sizes and colours are unknown
  const resized = new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width);
    if (width && width !== measured) {
      if (!measured) comeIntoView(root);
      measured = shell.width = width;
      set(root, "data-narrow", width < NARROW ? "" : null);
      redraw();
    }
  });

  function close() {
    undrawn = null;
    for (const [trait, handler] of listeners) model.off(`change:${trait}`, handler);
    resized.disconnect();
    clearTimeout(speaking);
    root.remove();
  }

  return shell;
}

// Show a widget whole whose cell has just been run: JupyterLab went on to the next cell when there was no output yet.
// After Run All, and where a notebook is only opened, another cell is the active one.
function comeIntoView(root) {
  const show = () => root.scrollIntoView({ block: "nearest" });
  if ([0, 1].includes(cellOf(root).ahead)) requestAnimationFrame(() => requestAnimationFrame(show));
}

/** JupyterLab's cell around a node, its number, its notebook, the active cell, and how many cells that is ahead. */
export function cellOf(node) {
  const cell = node.closest(".jp-Cell");
  const book = cell?.closest(".jp-Notebook");
  const active = book?.querySelector(".jp-Cell.jp-mod-active");
  const [number, other] = [cell, active].map((each) => Number(each?.dataset.windowedListIndex));
  return { cell, number, book, active, ahead: other - number };
}

// A finger that lands on a slider may mean to scroll the page. A browser moves the slider at once, and leaves it moved
// when the page then scrolls. Here it goes back.
function restoreSliders(node) {
  let held = null; // the slider under a finger, and its value before
  node.addEventListener(
    "pointerdown",
    ({ target, pointerType }) => {
      held = pointerType === "touch" && target.type === "range" ? [target, target.value] : null;
    },
    { capture: true },
  );
  node.addEventListener("pointercancel", () => {
    const [input, value] = held ?? [];
    if (!input || input.value === value) return;
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// A widget in a notebook, seen from its kernel: what a hand changes is to be saved with the notebook, and a line
// says when the kernel that made the widget is gone. Elsewhere there is nothing to do.

const GONE =
  "No kernel: this still answers, but Python does not see it until you run the cell again.";

/** Watch over a view with this root. */
export function besideKernel(model, root, signal) {
  const { context, _modelsSync: models } = model.widget_manager ?? {};
  // What a kind of widget shares was made by the same kernel, and lives as long.
  const code = models?.get(model.get("_code").replace("IPY_MODEL_", ""));
  if (!context || !code) return;
  const line = h("p", { class: "sk-gone", text: GONE });
  const show = () => (code.comm_live ? line.remove() : root.append(line));
  const touch = () => (context.model.dirty = true);
  watch(code, context.sessionContext);
  code.on("comm_live_update", show);
  model.on("change", touch);
  show();
  signal.addEventListener(
    "abort",
    () => {
      code.off("comm_live_update", show);
      model.off("change", touch);
    },
    { once: true },
  );
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
