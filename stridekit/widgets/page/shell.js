// The frame around the panes of every widget: a root that follows theme and width, a sentence that is read
// aloud when the pointer rests, the way of the state back to the kernel, and a tidy end.

import { h, set } from "./dom.js";

// Each kind of widget has a module of its own, but names on a page are counted together.
const count = () => (globalThis.stridekitViews = (globalThis.stridekitViews ?? 0) + 1);

// The state of a widget is one trait, "_state", which both sides write whole: no half-changed picture can be
// seen or sent. Both may write at the same moment; then the last to reach the kernel wins. So each change
// here has a number of its own, "_turn", and the kernel's answer names it in "_seen". Until then whatever
// comes is older than the change, which stays: the newest of each model, by its turn, for all of its views.
const unanswered = new Map();

/**
 * `draw` is called with nothing when one of the `traits` or the width has changed. When another "_state" is
 * there, `forget` is called before.
 */
export function createShell({ model, el }, { label, kind, traits, draw, forget }) {
  const spoken = h("p", { class: "sk-spoken", role: "status" });
  const root = h("div", { class: `stridekit ${kind}`, role: "group", "aria-label": label }, spoken);
  let speaking = null;
  let unsent = false; // something was set here, and waits for the paint
  let drawn = null; // the state that is on screen
  const ends = [];

  const shell = {
    id: `stridekit-${count()}`,
    width: 900,
    /** Add the panes, and draw for the first time. */
    open(...panes) {
      root.prepend(...panes);
      el.append(root);
      for (const [trait, handler] of heard) model.on(`change:${trait}`, handler);
      resized.observe(root);
      redraw();
      return once(close);
    },
    /** Something else to do when the view goes. */
    atEnd(end) {
      ends.push(end);
    },
    redraw,
    /** Change the state, as a hand does: drawn at once, and told to the kernel when it has been painted. */
    change(state) {
      const turn = Math.random();
      unanswered.delete(model.get("_turn"));
      unanswered.set(turn, state);
      drawn = null;
      model.set("_turn", turn);
      model.set("_state", state);
      if (drawn === null) redraw(); // nothing new in the model, but perhaps in what is pointed at
      if (!unsent) requestAnimationFrame(() => setTimeout(send));
      unsent = true;
    },
    /** Say a sentence when the hand rests: a live region that changes with every pixel says nothing. */
    speak(sentence) {
      clearTimeout(speaking);
      speaking = setTimeout(() => set(spoken, "text", sentence), 250);
    },
  };

  const heard = [["_seen", settle], ...traits.map((trait) => [trait, trait === "_state" ? follow : redraw])];

  function send() {
    unsent = false;
    model.save_changes();
  }

  /** From the answer on, the kernel's word counts. */
  function settle() {
    if (model.get("_seen") === model.get("_turn")) unanswered.delete(model.get("_turn"));
  }

  /** Another state: one that is older than an unanswered change of this page makes way for it. */
  function follow() {
    settle();
    const kept = unanswered.get(model.get("_turn"));
    if (kept && kept !== model.get("_state")) model.set("_state", kept);
    if (model.get("_state") === drawn) return;
    forget?.();
    redraw();
  }

  function redraw() {
    drawn = model.get("_state");
    draw();
  }

  let measured = 0; // the first draw was in no page: sizes and colours are there from now on
  const resized = new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width);
    if (width && width !== measured) {
      measured = shell.width = width;
      redraw();
    }
  });

  function close() {
    for (const end of ends) end();
    for (const [trait, handler] of heard) model.off(`change:${trait}`, handler);
    resized.disconnect();
    clearTimeout(speaking);
    root.remove();
  }

  return shell;
}

/** A clean-up that lets go of all it knows: anywidget keeps it, and the node, as long as the model lives. */
function once(tidy) {
  return () => {
    const now = tidy;
    tidy = null;
    now?.();
  };
}
