// A card under a hand: it follows the pointer, a mouse or a finger, and is dropped where that lets go.

/**
 * `over(x, y)` hears where the pointer is while the card is held, NaN once it is not, and `drop(x, y)` where it was let
 * go. Returns what calls the hand off.
 */
export function makeDraggable(card, { over, drop }) {
  let start = null; // where the pointer was pressed

  function rest() {
    start = null;
    delete card.dataset.held;
    card.style.translate = "";
    over(NaN, NaN);
  }

  const on = (type, react) => card.addEventListener(type, react);
  on("pointerdown", ({ button, isPrimary, pointerId, clientX, clientY }) => {
    if (button !== 0 || !isPrimary) return;
    card.setPointerCapture(pointerId);
    card.dataset.held = "";
    start = [clientX, clientY];
  });
  on("pointermove", ({ clientX, clientY }) => {
    if (!start) return;
    card.style.translate = `${clientX - start[0]}px ${clientY - start[1]}px`;
    over(clientX, clientY);
  });
  on("pointerup", ({ clientX, clientY }) => {
    if (!start) return;
    drop(clientX, clientY);
    rest();
  });
  on("pointercancel", rest);
  return rest;
}
