// A finger that lands on a slider may mean to scroll the page. A browser moves the slider at once, and leaves it moved
// when the page then scrolls. Here a slider waits until the finger goes sideways or is lifted.

/** Hold the sliders in a node still while a finger may be about to scroll. */
export function waitForFingers(node) {
  let held = null; // {input, value, wanted, x, y} while a finger has not said what it means

  /** The finger means the slider: what it has asked for counts. */
  function release() {
    const { input, value, wanted } = held;
    held = null;
    if (wanted === value) return;
    input.value = wanted;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  const on = (type, react) => node.addEventListener(type, react, { capture: true });
  on("pointerdown", ({ target: input, pointerType, clientX: x, clientY: y }) => {
    const isSlider = pointerType === "touch" && input.type === "range";
    held = isSlider ? { input, value: input.value, wanted: input.value, x, y } : null;
  });
  on("input", (event) => {
    if (event.target !== held?.input) return;
    held.wanted = held.input.value;
    held.input.value = held.value;
    event.stopImmediatePropagation();
  });
  on("pointermove", ({ clientX, clientY }) => {
    if (!held) return;
    const aside = Math.abs(clientX - held.x);
    if (aside > 3 && aside > Math.abs(clientY - held.y)) release();
  });
  on("pointerup", () => held && release());
  on("pointercancel", () => (held = null));
}
