// Motion: boxes travel from the place that they come from to their own, so that an eye can follow
// them. A step can be shown again, slowly, and stopped anywhere. The browser animates transforms by
// itself, outside the frames of the page: no layout, and nothing to do for a redraw.

import { s, scaleOf } from "./dom.js";
import { range } from "./layout.js";

/**
 * A box that travels. `start` is how far it begins from its place: [x, y] in px. Boxes set off in
 * their order, and those of one `turn` together. A box that `isNew` cannot be seen before. Where a
 * line already shows the way, it `isStraight`. If `part` names a pseudo-element, this part of the
 * box travels alone. One that `wasThere` before the step can set off a frame later, so that a key
 * has its first frame soon.
 * @typedef {object} Move
 * @property {Element} box
 * @property {number[]} start
 * @property {number} [turn]
 * @property {boolean} [isNew]
 * @property {boolean} [isStraight]
 * @property {string} [part]
 * @property {boolean} [wasThere]
 */

/**
 * What travels in a step. The layers hold the boxes, and lie above their neighbours meanwhile.
 * @typedef {{ layers: (HTMLElement | SVGElement)[], moves: Move[] }} Scene
 */

/** @typedef {{ move: Move, delay: number }} Start when a box sets off, in ms */

/** @typedef {{ d: string, delay: number }} Line the path of a box, and when it sets off */

/** @typedef {ReturnType<typeof createMotion>} Motion */

/**
 * How fast a step is: the ms for one box, the most until the last box sets off, and the most from
 * one box to the next.
 * @typedef {{ travel: number, spread: number, apart: number }} Pace
 */

/** @type {Pace} */
export const BRISK = { travel: 380, spread: 250, apart: 60 };
/** @type {Pace} For a step that is shown again: here one box can be told from the next. */
export const SLOW = { travel: 800, spread: 3000, apart: 400 };
const MOST = 256; // boxes: of more, an even sample travels
const MOST_TRAILS = 64;
const SHARE = 0.9; // of the time until the next step: then a step is over
const SHORTEST = 100; // ms: no eye follows what is over sooner
const BEND = 0.1; // how far a path leaves the straight line, as a part of its length,
const MOST_BEND = 40; // and in px
const STRAIGHT = 24; // px: shorter paths are straight, and have no trail
const POINTS = 8; // of a path, after the first one
// A trail is at most half of the path: it grows behind its box, and then its end follows the box.
const TRAIL = [
  { strokeDasharray: "0 2", strokeDashoffset: 0 },
  { strokeDasharray: "0.5 2", strokeDashoffset: 0 },
  { strokeDasharray: "0 2", strokeDashoffset: -1 },
];
const MODIFIERS = ["Alt", "Control", "Meta", "Shift"];

/**
 * The times in ms at which so many boxes set off, one after the other.
 * @param {number} count
 * @param {Pace} pace
 */
export function timesOf(count, { spread, apart } = BRISK) {
  const pause = Math.min(apart, spread / Math.max(count - 1, 1));
  return range(count).map((k) => pause * k);
}

/**
 * The points of a gently curved path from one point to another. A short path is straight, and any
 * other one if it is to be.
 * @param {number[]} from
 * @param {number[]} to
 */
export function pathOf([x0, y0], [x1, y1], isStraight = false) {
  const [x, y] = [x1 - x0, y1 - y0];
  const length = Math.hypot(x, y);
  const count = length < STRAIGHT ? 1 : POINTS;
  const bend = isStraight || count === 1 ? 0 : Math.min(BEND, MOST_BEND / length);
  return range(count + 1).map((k) => {
    const t = k / count;
    const aside = 4 * bend * t * (1 - t); // a parabola over the straight line
    return [x0 + t * x + aside * y, y0 + t * y - aside * x];
  });
}

/**
 * At most so many items of a list, evenly chosen.
 * @template Item
 * @param {Item[]} items
 * @param {number} most
 */
export function sampleOf(items, most) {
  if (items.length <= most) return items;
  return range(most).map((k) => items[Math.floor((k * items.length) / most)]);
}

/**
 * How far the middle of a node is from that of another: [x, y] in px.
 * @type {(there: Element, here: Element) => [x: number, y: number]}
 */
export function wayFrom(there, here) {
  const a = there.getBoundingClientRect();
  const b = here.getBoundingClientRect();
  const x = a.x - b.x + (a.width - b.width) / 2;
  const y = a.y - b.y + (a.height - b.height) / 2;
  const scale = scaleOf(here);
  return [x / scale, y / scale];
}

/**
 * The motion of a widget. It keeps the last step as a function that measures: so the step can be
 * shown again after the widget has got another size.
 * @param {HTMLElement} root
 */
export function createMotion(root) {
  /** @type {{ key: unknown, measure: () => Scene | null } | null} */
  let step = null;
  /** @type {Animation[]} */
  let animations = [];
  /** @type {Scene["layers"]} */
  let layers = [];
  let total = 0; // ms from the first start to the last arrival
  let isReplay = false; // whether a hand shows the step again
  let pace = BRISK;
  let free = -Infinity; // the time in ms at which the next step may move
  let changed = () => {};
  /** @type {SVGElement | null} */
  let trails = null;
  for (const kind of ["pointerdown", "keydown", "wheel"])
    root.addEventListener(kind, endByHand, { capture: true, passive: true });

  const isReduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const isPlaying = () => animations[0]?.playState === "running";

  /** The part of the step that is over, from 0 to 1. */
  function position() {
    if (!animations.length) return 1;
    return Math.min(Number(animations[0].currentTime) / total, 1);
  }

  /**
   * Keep a step for `play` and for replays. What moves of another step, with another key, ends.
   * @param {unknown} key
   * @param {() => Scene | null} measure returns null where the step cannot be shown
   */
  function remember(key, measure) {
    if (step?.key !== key) end();
    step = { key, measure };
    changed();
  }

  function forget() {
    step = null;
    end();
  }

  /**
   * Show the step that has just been made. It is over before the next one, `until` ms from now.
   * @param {number} until
   */
  function play(until = Infinity) {
    end();
    const within = SHARE * until;
    const now = performance.now();
    // A drag in another view, or a loop in Python, leaves no time to follow.
    const isSoon = now < free;
    free = now + Math.min(BRISK.travel + BRISK.spread, within);
    if (isSoon || within < SHORTEST || isReduced() || !root.isConnected) return;
    begin(BRISK);
    run(Math.max(1, total / within));
  }

  /** Show the step again, slowly, from where it was stopped. */
  function replay() {
    if (position() === 1) end();
    beginReplay();
    run(1);
  }

  function pause() {
    for (const animation of animations) animation.pause();
    scrub(position());
  }

  /**
   * Stop the step where this part of it is over, from 0 to 1.
   * @param {number} part
   */
  function scrub(part) {
    beginReplay();
    for (const animation of animations) {
      animation.pause();
      animation.currentTime = part * total;
    }
    changed();
  }

  /** The widget may have another size: measure a step that is stopped again. */
  function refresh() {
    if (!isReplay || !animations.length) return;
    const part = position();
    end();
    scrub(part);
  }

  /** @param {number} rate */
  function run(rate) {
    for (const animation of animations) {
      animation.playbackRate = rate;
      animation.play();
    }
    changed();
  }

  function beginReplay() {
    if (isReplay) return;
    end();
    begin(SLOW);
    isReplay = animations.length > 0;
  }

  /** @param {Pace} newPace */
  function begin(newPace) {
    pace = newPace;
    const scene = step?.measure();
    if (!scene?.moves.length) return;
    const moves = sampleOf(scene.moves, MOST);
    const delays = delaysOf(moves, pace);
    total = Math.max(...delays) + pace.travel;
    const starts = moves.map((move, k) => ({ move, delay: delays[k] }));
    const lines = linesOf(sampleOf(starts, MOST_TRAILS)); // measured before anything moves
    const isBrisk = pace === BRISK;
    const mayWait = isBrisk && moves.some(({ wasThere }) => !wasThere);
    const late = mayWait ? starts.filter(({ move }) => move.wasThere) : [];
    for (const start of starts) if (!late.includes(start)) animations.push(travel(start));
    const [leader] = animations;
    if (isBrisk) requestAnimationFrame(() => setTimeout(() => join(leader, late, lines)));
    else drawTrails(lines);
    layers = scene.layers;
    for (const layer of layers) layer.dataset.moving = "";
    animations[0].onfinish = () => (isReplay ? changed() : end());
  }

  /**
   * Once the first frame is painted, let further boxes and the trails move with those that have set
   * off.
   * @param {Animation} leader
   * @param {Start[]} late
   * @param {Line[]} lines
   */
  function join(leader, late, lines) {
    if (leader !== animations[0]) return; // this motion is over
    const { length } = animations;
    for (const start of late) animations.push(travel(start));
    drawTrails(lines);
    for (const animation of animations.slice(length)) {
      animation.currentTime = leader.currentTime;
      animation.playbackRate = leader.playbackRate;
    }
  }

  /** @type {(start: Start) => Animation} */
  function travel({ move, delay }) {
    const { box, start, isNew, isStraight, part } = move;
    const path = pathOf(start, [0, 0], isStraight);
    const steps = path.map(([x, y], k) => ({
      transform: `translate(${x}px,${y}px)`,
      ...(isNew && { opacity: Math.min(1, (3 * k) / (path.length - 1)) }),
    }));
    return box.animate(steps, { ...timing(delay), pseudoElement: part });
  }

  /** @type {(delay: number) => KeyframeAnimationOptions} */
  const timing = (delay) => ({
    duration: pace.travel,
    delay,
    endDelay: total - pace.travel - delay, // so that all are over at the same time
    fill: "both",
    easing: "cubic-bezier(.4,0,.2,1)",
  });

  /**
   * The paths of boxes, on the root; those that are short or straight have no trail.
   * @param {Start[]} starts
   * @returns {Line[]}
   */
  function linesOf(starts) {
    const long = starts.filter(
      ({ move: { start, isStraight } }) => !isStraight && Math.hypot(...start) >= STRAIGHT,
    );
    if (!long.length) return []; // to measure takes time
    const scale = scaleOf(root);
    const { x, y } = root.getBoundingClientRect();
    return long.map(({ move: { box, start }, delay }) => {
      const { left, top, width, height } = box.getBoundingClientRect();
      const right = (left + width / 2 - x) / scale + root.scrollLeft;
      const down = (top + height / 2 - y) / scale + root.scrollTop;
      const points = pathOf([right + start[0], down + start[1]], [right, down]);
      return {
        d: `M${points.map((point) => point.map((px) => px.toFixed(1)).join()).join("L")}`,
        delay,
      };
    });
  }

  /**
   * Let boxes have a line behind themselves, which is gone when they arrive.
   * @param {Line[]} lines
   */
  function drawTrails(lines) {
    if (!lines.length) return;
    const paths = lines.map(({ d }) => s("path", { d, pathLength: "1" }));
    trails = s("svg", { class: "sk-trails", "aria-hidden": "true" }, ...paths);
    root.append(trails);
    for (const [k, path] of paths.entries())
      animations.push(path.animate(TRAIL, timing(lines[k].delay)));
  }

  function end() {
    for (const animation of animations) animation.cancel();
    animations = [];
    for (const layer of layers) delete layer.dataset.moving;
    layers = [];
    trails?.remove();
    isReplay = false;
    changed();
  }

  /** @param {Event} event */
  function endByHand(event) {
    if (!animations.length) return;
    const { key, type, target } = /** @type {KeyboardEvent} */ (event);
    if (MODIFIERS.includes(key) || (isReplay && type === "wheel")) return;
    // The toolbar shows the step again; and to type the next line disturbs nothing.
    if (/** @type {Element} */ (target).closest(".sk-frame, .sk-input")) return;
    end();
  }

  return {
    remember,
    forget,
    play,
    replay,
    pause,
    scrub,
    refresh,
    end,
    position,
    isPlaying,
    isReduced,
    hasStep: () => step !== null,
    /** @param {() => void} listener is called when something begins to move, stops or ends */
    watch(listener) {
      changed = listener;
    },
  };
}

/**
 * The times at which boxes set off.
 * @param {Move[]} moves
 * @param {Pace} pace
 */
function delaysOf(moves, pace) {
  const turns = moves.map(({ turn }, k) => turn ?? k);
  const order = new Map([...new Set(turns)].map((turn, k) => [turn, k]));
  const times = timesOf(order.size, pace);
  return turns.map((turn) => times[order.get(turn) ?? 0]);
}
