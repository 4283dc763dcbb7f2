// The frame of every widget, around its panes: a root that follows theme and width, a sentence that
// is read aloud when the pointer rests, sending the state to the kernel, and cleaning up.

import { cellOf } from "./cell.js";
import { h, set } from "./dom.js";
import { createFrame, importing, restoring } from "./frame.js";
import { createGoals } from "./goals.js";
import { createMotion } from "./motion.js";

/**
 * The model of a widget, as anywidget promises it. host.js makes one for a page without a kernel,
 * and gives it `link`, which returns the address of the state on screen.
 * @typedef {object} Model
 * @property {(trait: string) => any} get
 * @property {(trait: string, value: any) => void} set
 * @property {(event: string, handler: () => void) => void} on
 * @property {(event: string, handler: () => void) => void} off
 * @property {() => void} save_changes
 * @property {any} [widget_manager] that of ipywidgets, in a notebook
 * @property {() => string} [link]
 * @property {boolean} [isSaved] in a notebook, without a kernel that has the widget
 */

/** @typedef {{ model: Model, el: HTMLElement }} View */

/**
 * The part of a widget that is its own.
 * @typedef {object} Spec
 * @property {string} label
 * @property {string} kind the class of the root
 * @property {string[]} [traits] draw again when one of them changes
 * @property {() => void | (() => void)} draw draw the state. The returned function draws all that
 *   may be missing in the first frame of a change; it is called once that frame is painted.
 * @property {() => void} [forget] is called before `draw` when another state has arrived
 * @property {() => void} [arrived] is called once the view has its place on the page
 * @property {(state: any) => string} [code] returns the source that reproduces the picture; a
 *   widget with it has a toolbar
 * @property {string} [reads] says which names of the reader's own the code has
 * @property {boolean} [moves] true if boxes travel, so that the toolbar can show a step again
 * @property {(state: any) => Record<string, any>} [facts] returns the facts of a state, over which
 *   goals are set
 */

/**
 * The part of a widget that is the same for all kinds.
 * @typedef {object} Shell
 * @property {string} id is unique on the page
 * @property {number} width the width of the root in px
 * @property {AbortSignal} signal is aborted once the view is gone
 * @property {(first: Element, ...rest: Element[]) => () => void} open add the panes, and draw for
 *   the first time; returns a function that closes the view
 * @property {(end: () => void) => void} atEnd call a function once the view is gone
 * @property {() => void} redraw
 * @property {any} hovered is under the pointer, until another state comes
 * @property {(spot: any) => void} hover
 * @property {() => any} state
 * @property {(changed: Record<string, any>) => void} put change some parts of the state on behalf
 *   of a hand
 * @property {(state: any) => void} change change the state on behalf of a hand: draw at once, and
 *   tell the kernel once it is painted
 * @property {import("./motion.js").Motion} motion lets boxes travel
 * @property {(sentence: string) => void} speak say a sentence when the hand rests
 */

// The state of a widget is one trait, "_state", which both sides write whole: no half-changed
// picture can be seen or sent. If both write at once, the last change to reach the kernel wins.
// Each change made here gets a number, "_change_id", which the kernel's reply repeats as
// "_answered_id". Until that reply comes, any state that arrives is older than the change, which
// stays on screen in all views of its model.
/** @type {Map<number, any>} */
const unanswered = new Map();

const NARROW = 480; // px: the toolbar then has a row of its own
/** px: from here on, parts stand side by side, and a widget keeps its height. */
export const WIDE = 720;
const RESTS = 250; // ms: a live region that changes with every pixel is never read out

/**
 * @param {View} view
 * @param {Spec} spec
 * @returns {Shell}
 */
export function createShell(
  { model, el },
  { label, kind, traits = [], draw, forget, arrived, code, moves = false, facts, reads },
) {
  const spoken = h("p", { class: "sk-spoken", role: "status" });
  const root = h("div", { class: `stridekit ${kind}`, role: "group", "aria-label": label }, spoken);
  restoreSliders(root);
  const motion = createMotion(root);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let speaking;
  let isUnsent = false; // a change waits to be sent until it has been painted,
  /** @type {(() => void) | null} */
  let drawRest = null; // and with it all that is no part of its first frame
  /** @type {any} */
  let drawn = null; // the state that is on screen
  const ended = new AbortController();
  const { signal } = ended;
  /** @type {[event: string, handler: () => void][]} */
  const listeners = [
    ["change:_state", follow],
    ["change:_answered_id", settle],
    ["change:_done", () => goals?.draw()],
  ];
  for (const trait of traits) listeners.push([`change:${trait}`, redraw]);

  globalThis.stridekitViews = (globalThis.stridekitViews ?? 0) + 1;
  /** @type {Shell} */
  const shell = {
    id: `stridekit-${globalThis.stridekitViews}`,
    width: 900,
    signal,
    open(first, ...rest) {
      const side = h("div", { class: "sk-side" }, first, ...(goals ? [goals.node] : []));
      root.prepend(side, ...rest);
      if (frame) {
        root.append(frame.node);
        first.classList.add("sk-first");
      }
      el.append(root);
      for (const [event, handler] of listeners) model.on(event, handler);
      resized.observe(root);
      besideKernel(model, root, signal);
      shell.atEnd(close);
      redraw();
      // anywidget keeps the function as long as the model lives, so it holds nothing of the view.
      return ended.abort.bind(ended);
    },
    atEnd: (end) => signal.addEventListener("abort", end, { once: true }),
    redraw,
    hovered: null,
    hover(spot) {
      if (String(spot) === String(shell.hovered)) return;
      shell.hovered = spot;
      redraw();
    },
    state: () => model.get("_state"),
    put: (changed) => shell.change({ ...model.get("_state"), ...changed }),
    change(state) {
      const changeId = Math.random();
      unanswered.delete(model.get("_change_id"));
      unanswered.set(changeId, state);
      drawn = null;
      if (!isUnsent) requestAnimationFrame(() => setTimeout(send));
      isUnsent = true;
      model.set("_change_id", changeId);
      model.set("_state", state);
      if (drawn === null) redraw(); // the same state, but perhaps another box is pointed at
    },
    motion,
    speak(sentence) {
      clearTimeout(speaking);
      speaking = setTimeout(() => set(spoken, "text", sentence), RESTS);
    },
  };

  // In a notebook, the name of the class in Python.
  const className = model.get("_anywidget_id")?.split(".").at(-1);
  const goals = facts ? createGoals(model, facts) : null;
  const frame = code
    ? createFrame(model, root, {
        id: shell.id,
        name: label.replaceAll(" ", "-"),
        code: () => code(shell.state()),
        restoring: className ? () => sourceOf(className) : undefined,
        change: shell.change,
        onReset: freePlace,
        motion: moves ? motion : null,
        signal,
      })
    : null;

  /**
   * Python for a cell that makes the widget again, as it is. A state without facts is no more than
   * what the code says, with names of the reader's own.
   * @param {string} className
   */
  function sourceOf(className) {
    if (facts) return restoring(className, model);
    return importing(className, code?.(shell.state()) ?? "", reads);
  }

  /** A change has been painted: finish the picture, and send the change. */
  function send() {
    isUnsent = false;
    drawRest?.();
    model.save_changes();
  }

  /** Once the newest change is answered, the kernel's state counts. */
  function settle() {
    const changeId = model.get("_change_id");
    if (model.get("_answered_id") === changeId) unanswered.delete(changeId);
  }

  /** Another state has arrived: put back an unanswered change of this page, which is newer. */
  function follow() {
    settle();
    const kept = unanswered.get(model.get("_change_id"));
    if (kept && kept !== model.get("_state")) model.set("_state", kept);
    if (model.get("_state") === drawn) return;
    shell.hovered = null; // it may not exist in this state
    forget?.();
    redraw();
  }

  function redraw() {
    // What was said of another state goes at once, and the same sentence is heard again.
    if (drawn !== model.get("_state")) set(spoken, "text", "");
    drawn = model.get("_state");
    const drawRestOfWidget = draw();
    frame?.draw();
    drawRest = () => {
      drawRestOfWidget?.();
      goals?.draw();
    };
    if (!isUnsent) drawRest();
  }

  let measured = 0; // the first draw happens outside the page, where sizes and colours are unknown
  const resized = new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width);
    if (!width) return;
    if (width !== measured) {
      if (!isAtFullWidth()) freePlace();
      if (!measured) {
        comeIntoView(root);
        arrived?.();
      }
      measured = width;
      shell.width = width;
      set(root, "data-narrow", width < NARROW ? "" : null);
      set(root, "data-wide", width < WIDE ? null : "");
      redraw();
      motion.refresh();
    }
    if (!isAtFullWidth()) keepPlace();
  });

  const isAtFullWidth = () => root.hasAttribute("popover");

  // The place of a view keeps the height that the view once had at this width, so that the page
  // below does not come up under the hand. After a reset it begins anew.
  let highest = 0;

  function keepPlace() {
    highest = Math.max(highest, root.getBoundingClientRect().height);
    el.style.minHeight = `${highest}px`;
  }

  function freePlace() {
    highest = 0;
    el.style.minHeight = "";
  }

  function close() {
    drawRest = null;
    motion.forget();
    freePlace();
    for (const [event, handler] of listeners) model.off(event, handler);
    resized.disconnect();
    clearTimeout(speaking);
    root.remove();
  }

  return shell;
}

/**
 * Show a widget whole if its cell has just been run: JupyterLab went on to the next cell when there
 * was no output yet. After Run All, and in a notebook that is only opened, another cell is active.
 * @param {Element} root
 */
function comeIntoView(root) {
  const { ahead } = cellOf(root);
  if (ahead !== 0 && ahead !== 1) return;
  const show = () => root.scrollIntoView({ block: "nearest" });
  requestAnimationFrame(() => requestAnimationFrame(show));
}

/**
 * A finger that lands on a slider may mean to scroll the page. A browser moves the slider at once,
 * and leaves it moved when the page then scrolls. Here it goes back.
 * @param {Element} root
 */
function restoreSliders(root) {
  /** @type {{ input: HTMLInputElement, value: string } | null} */
  let touched = null; // the slider under a finger, and its value before

  root.addEventListener(
    "pointerdown",
    (event) => {
      const { pointerType } = /** @type {PointerEvent} */ (event);
      const input = /** @type {HTMLInputElement} */ (event.target);
      const isTouched = pointerType === "touch" && input.type === "range";
      touched = isTouched ? { input, value: input.value } : null;
    },
    { capture: true },
  );
  root.addEventListener("pointercancel", () => {
    if (!touched || touched.input.value === touched.value) return;
    touched.input.value = touched.value;
    touched.input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// A widget in a notebook, seen from its kernel: a hand's changes are to be saved with the notebook,
// and a line says when the kernel that made the widget is gone. Elsewhere there is nothing to do.

const GONE =
  "No kernel: this still answers, but Python does not see it until you run the cell again.";

/**
 * Watch over a view with this root.
 * @param {Model} model
 * @param {Element} root
 * @param {AbortSignal} signal
 */
export function besideKernel(model, root, signal) {
  if (model.isSaved) root.append(h("p", { class: "sk-gone", text: GONE }));
  const { context, _modelsSync: models } = model.widget_manager ?? {};
  // The code of a kind of widget was made by the same kernel, and lives as long.
  const code = models?.get(model.get("_code").replace("IPY_MODEL_", ""));
  if (!context || !code) return;
  const notice = h("p", { class: "sk-gone", text: GONE });

  function showNotice() {
    if (code.comm_live) notice.remove();
    else root.append(notice);
  }

  function markDirty() {
    context.model.dirty = true;
  }

  function end() {
    code.off("comm_live_update", showNotice);
    model.off("change", markDirty);
  }

  watch(code, context.sessionContext);
  code.on("comm_live_update", showNotice);
  model.on("change", markDirty);
  showNotice();
  signal.addEventListener("abort", end, { once: true });
}

// Jupyter tells its models when a kernel is restarted, but not when it dies, is shut down, or is
// exchanged.
const ENDS = ["autorestarting", "terminating", "dead"];
const watched = new WeakSet();

/**
 * Tell the code of a kind of widget when its kernel is gone.
 * @param {any} code
 * @param {any} sessionContext
 */
function watch(code, sessionContext) {
  const { kernel } = sessionContext.session ?? {};
  if (watched.has(code) || !code.comm_live) return;
  watched.add(code);

  /** @type {(sender: unknown, status: string) => void} */
  function statusChanged(_, status) {
    if (ENDS.includes(status)) end();
  }

  /** @type {(sender: unknown, change: { newValue: { id: string } | null }) => void} */
  function kernelChanged(_, { newValue }) {
    if (newValue?.id !== kernel?.id) end();
  }

  function end() {
    sessionContext.statusChanged.disconnect(statusChanged);
    sessionContext.kernelChanged.disconnect(kernelChanged);
    code.comm_live = false;
  }

  sessionContext.statusChanged.connect(statusChanged);
  sessionContext.kernelChanged.connect(kernelChanged);
}
