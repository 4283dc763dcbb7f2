// What every widget has around its panes: a root that follows theme and width, a sentence that is read
// aloud once the hand rests, writing the state back, and a tidy end.

import { h, set } from "./dom.js";

// Each kind of widget has a module of its own, but names on a page are counted together.
const count = () => (globalThis.stridekitViews = (globalThis.stridekitViews ?? 0) + 1);

/**
 * `draw` is called with nothing when one of the `traits` or the width has changed. The state of a widget is
 * one trait, "_scene", which both sides write whole: no half-changed picture can be seen or sent.
 */
export function createShell({ model, el }, { label, kind, traits, draw }) {
  const spoken = h("p", { class: "sk-spoken", role: "status" });
  const root = h("div", { class: `stridekit ${kind}`, role: "group", "aria-label": label }, spoken);
  let speaking = null;
  let unsent = null; // the state that was set here, while the kernel does not know it yet
  let drawn = 0;
  const ends = [];

  const shell = {
    id: `stridekit-${count()}`,
    width: 900,
    /** Add the panes, and draw for the first time. */
    open(...panes) {
      root.prepend(...panes);
      el.append(root);
      model.on("change:_scene", keep);
      for (const trait of traits) model.on(`change:${trait}`, redraw);
      resized.observe(root);
      redraw();
      return once(close);
    },
    /** What to do as well when the view goes. */
    atEnd(end) {
      ends.push(end);
    },
    redraw,
    /** Change the state, as a hand does: drawn at once, and told to the kernel when it has been painted. */
    change(scene) {
      const [before, waiting] = [drawn, unsent !== null];
      unsent = scene;
      model.set("_scene", scene);
      if (drawn === before) redraw(); // nothing new in the model, but perhaps in what is pointed at
      if (!waiting) requestAnimationFrame(() => setTimeout(send));
    },
    /** A live region that follows every pixel says nothing: the sentence waits until the hand rests. */
    speak(sentence) {
      clearTimeout(speaking);
      speaking = setTimeout(() => set(spoken, "text", sentence), 250);
    },
  };

  function send() {
    unsent = null;
    model.save_changes();
  }

  /** The echo of what was sent before may come while a newer state waits: the newer one stays. */
  function keep() {
    if (unsent !== null && model.get("_scene") !== unsent) model.set("_scene", unsent);
  }

  function redraw() {
    drawn += 1;
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
    model.off("change:_scene", keep);
    for (const trait of traits) model.off(`change:${trait}`, redraw);
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
