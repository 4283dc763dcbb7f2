// Playing: steps on a timer, until none is left or a hand takes over.

import { button, set } from "./dom.js";

/**
 * A button that plays and pauses. `left()` returns the number of steps left, `step()` takes one, `rewind()` goes back
 * to the start, from which it plays again, and `pause()` returns the time between steps in ms. `step` and `rewind`
 * redraw the widget, as `redraw()` does, and the widget draws the button.
 */
export function createPlayer({ left, step, rewind, redraw, pause }) {
  const node = button("", toggle, { class: "sk-button sk-play" });
  let waiting = null;

  function toggle() {
    if (waiting !== null) {
      stop();
      return redraw();
    }
    waiting = setTimeout(tick, pause());
    return left() ? redraw() : rewind();
  }

  function tick() {
    const steps = left();
    if (steps > 1) waiting = setTimeout(tick, pause());
    else stop();
    return steps ? step() : redraw(); // Python may have moved to the end meanwhile
  }

  function stop() {
    clearTimeout(waiting);
    waiting = null;
  }

  return {
    node, toggle, stop,
    draw(possible) {
      set(node, "text", waiting === null ? "▶ play" : "❚❚ pause");
      node.disabled = !possible;
    },
  };
}
