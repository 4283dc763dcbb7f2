// Playing: steps on a timer, until none is left or a hand takes over.

import { button, h, set } from "./dom.js";

const SPEEDS = ["0.5", "1", "2"];
// One speed for all players of a page, though each kind of widget has its own copy of this module.
const chosen = (globalThis.stridekitPlaying ??= { speed: "1" });

// A button that plays and pauses, and a choice of speeds. It counts a part of the state from 0 up to `most()`, and `pause()`
// returns the time in ms for which the step on screen stays there at speed 1. The widget draws the player.
export function createPlayer(shell, key, { most, pause }) {
  const play = button("", toggle, { class: "sk-button sk-play" });
  const speed = h("select", { class: "sk-input sk-speed", "aria-label": "speed", onchange: choose },
    ...SPEEDS.map((value) => h("option", { value, text: `${value}×` })));
  const node = h("span", { class: "sk-player" }, play, speed);
  let waiting = null;

  const left = () => most() - shell.state()[key];
  const step = () => shell.put({ [key]: shell.state()[key] + 1 });
  const rewind = () => shell.put({ [key]: 0 });
  shell.atEnd(stop);

  function toggle() {
    const stops = waiting !== null;
    if (stops) stop();
    else wait();
    if (stops || left()) return shell.redraw();
    rewind();
    return wait();
  }

  function tick() {
    const steps = left();
    if (steps <= 1) stop();
    if (steps) step();
    else shell.redraw(); // Python may have moved to the end meanwhile
    if (waiting !== null) wait();
  }

  function wait() {
    clearTimeout(waiting);
    waiting = setTimeout(tick, pause() / chosen.speed);
  }

  function stop() {
    clearTimeout(waiting);
    waiting = null;
  }

  function choose() {
    chosen.speed = speed.value;
    for (const other of document.querySelectorAll(".sk-speed")) other.value = chosen.speed;
    if (waiting !== null) wait();
  }

  return {
    node, toggle, stop,
    draw(possible) {
      set(play, "text", waiting === null ? "▶ play" : "❚❚ pause");
      play.disabled = !possible;
      if (speed.value !== chosen.speed) speed.value = chosen.speed;
    },
  };
}
