// Boxes that travel: each begins where it comes from, and moves to its place, so that the eye can follow it.
// The browser animates transforms by itself, outside the frames of the page: no layout, and nothing to do for a redraw.

const TRAVEL = 210; // ms for one box
const SPREAD = 80; // ms until the last one sets off
const MOST = 256; // boxes

/** Motion inside a root: `travel` starts it; a press, a key or the next travel ends it at once, all boxes in place. */
export function createMotion(root) {
  const reduced = matchMedia("(prefers-reduced-motion: reduce)");
  let [moving, layer, last] = [[], null, -Infinity];
  for (const kind of ["pointerdown", "keydown", "wheel"]) root.addEventListener(kind, end, { capture: true, passive: true });

  /** Let the boxes of a layer travel. The way of each is how far it begins from its place: [x, y] in px, null if it stays. */
  function travel(over, boxes, ways) {
    end();
    const soon = performance.now() - last < TRAVEL + SPREAD; // a drag in another view, a loop in Python: no time to follow
    last = performance.now();
    if (soon || reduced.matches || boxes.length > MOST || !root.isConnected) return;
    [layer, moving] = [over, boxes.flatMap((box, k) => {
      if (!ways[k]) return [];
      const [x, y] = ways[k];
      const steps = [{ transform: `translate(${x}px,${y}px)` }, { transform: "none" }];
      const delay = (SPREAD * k) / boxes.length;
      return [box.animate(steps, { duration: TRAVEL, delay, fill: "backwards", easing: "cubic-bezier(.4,0,.2,1)" })];
    })];
    layer.dataset.moving = "";
    const [now] = moving.slice(-1);
    if (now) now.onfinish = end;
    else end();
  }

  function end() {
    for (const animation of moving) animation.cancel();
    moving = [];
    if (layer) delete layer.dataset.moving;
  }

  return { travel, end };
}
