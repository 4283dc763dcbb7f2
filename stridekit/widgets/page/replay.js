// The control that shows the last step again: it plays slowly, can be dragged through, and stops
// anywhere, so that somebody can talk over it.

import { button, h, set, setAll, show } from "./dom.js";

/** @import { Motion } from "./motion.js" */

/**
 * @param {Motion} motion
 * @param {{ id: string, opener: HTMLElement }} options `opener` is the button that opens the control
 */
export function createReplay(motion, { id, opener }) {
  const play = button("", toggle, { class: "sk-button" });
  const slider = h("input", {
    type: "range",
    min: "0",
    max: "100",
    "aria-label": "position in the last step",
    oninput: () => motion.scrub(slider.valueAsNumber / 100),
    onpointerdown: stop,
    onkeydown: pressKey,
  });
  const node = h(
    "div",
    {
      class: "sk-replay",
      id: `${id}-replay`,
      role: "group",
      "aria-label": "the last step",
      hidden: "",
      onkeydown: closeByEscape,
    },
    play,
    slider,
  );
  setAll(opener, { "aria-expanded": "false", "aria-controls": node.id });
  motion.watch(follow);
  const isOpen = () => opener.getAttribute("aria-expanded") === "true";

  /** Open the control, and play the step unless the reader's system asks for no motion. */
  function open() {
    if (!motion.hasStep()) return;
    showControl(true);
    if (motion.isReduced()) motion.scrub(0);
    else motion.replay();
    slider.focus({ preventScroll: true });
  }

  function close() {
    const hadFocus = node.matches(":focus-within");
    showControl(false);
    motion.end();
    if (hadFocus) opener.focus({ preventScroll: true });
  }

  /** @param {boolean} isShown */
  function showControl(isShown) {
    set(opener, "aria-expanded", String(isShown));
    show(node, isShown);
  }

  function toggle() {
    if (motion.isPlaying()) motion.pause();
    else motion.replay();
  }

  function stop() {
    if (motion.isPlaying()) motion.pause();
  }

  /**
   * A key of the slider stops what plays, also where it does not move the slider; Space plays and
   * pauses.
   * @param {KeyboardEvent} event
   */
  function pressKey(event) {
    if (event.key === " ") {
      event.preventDefault();
      if (!motion.isReduced()) toggle();
    } else if (/^(Arrow|Page|Home|End)/.test(event.key)) {
      stop();
    }
  }

  /** @param {KeyboardEvent} event */
  function closeByEscape(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    close();
  }

  /** Show how far the step has got, in each frame while it plays. */
  function follow() {
    const hasStep = motion.hasStep();
    set(opener, "aria-disabled", String(!hasStep));
    if (!isOpen()) return;
    if (!hasStep) {
      close();
      return;
    }
    const percent = Math.round(100 * motion.position());
    const isPlaying = motion.isPlaying();
    setAll(play, {
      text: isPlaying ? "❚❚" : "▶",
      "aria-label": isPlaying ? "pause" : "play slowly",
    });
    show(play, !motion.isReduced());
    if (slider.valueAsNumber !== percent) slider.value = String(percent);
    setAll(slider, { style: `--at:${percent / 100}`, "aria-valuetext": `${percent} %` });
    if (isPlaying) requestAnimationFrame(follow);
  }

  follow();
  return { node, toggle: () => (isOpen() ? close() : open()) };
}
