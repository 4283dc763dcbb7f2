// The pane of the window: a map of the whole tensor, a line for an index or for slices, the dims that
// are drawn, and a slider for each dim that the map does not have.

/** @import { Place } from "./window.js" */
/** @import { View } from "./views.js" */

import { fill, h, set } from "../page/dom.js";
import { range, tried, tuple } from "../page/layout.js";
import { createChips, createLine, createSlider } from "../page/panels.js";
import { movedTo, readPlace, windowName, withDim } from "./window.js";

const MAP = { width: 112, height: 56, least: 24 }; // px: a finger needs 24
const MOST_BESIDE = 3; // sliders beside the dims; more have a row of their own
const LEAST_FRAME = 5; // px of the window on the map
const MISSING = "· stands for a value that only a running kernel has";

/**
 * `onPlace` gets the window and the index after a move by a hand.
 * @param {string} id
 * @param {{ onPlace: (place: Place) => void }} options
 */
export function createWindow(id, { onPlace }) {
  const frame = h("i");
  const map = h(
    "div",
    {
      class: "sk-map",
      "aria-hidden": "true",
      title: "the whole: drag the window over it",
      onpointerdown: grab,
      onpointermove: follow,
    },
    frame,
  );
  const line = createLine(`${id}-window`, "window", "go", take, {
    "aria-describedby": `${id}-window-says`,
    oninput() {
      isTyping = true;
    },
    onblur: leave,
  });
  const says = h("p", { role: "status", id: `${id}-window-says` });
  const chips = createChips("dims that are drawn", choose, ["sk-dims", null]);
  const sliders = h("div", { class: "sk-along" });
  const node = h(
    "div",
    { class: "sk-window", role: "group", "aria-label": "window on the tensor" },
    map,
    h("div", { class: "sk-nextstep" }, ...line.nodes, says),
    h("div", { class: "sk-axes" }, h("span", { text: "draw dims" }), chips.node, sliders),
  );

  /** @type {View} */
  let view;
  let isTyping = false; // what is typed stays until it is taken
  /** @type {Map<number, ReturnType<typeof createSlider>>} */
  const along = new Map();

  /** @type {Place} */
  let here; // the window and the index on screen
  /** @param {Record<number, number>} starts */
  const moveTo = (starts) => onPlace(movedTo(view.layout, here, starts));

  // The map: the last two dims that are drawn, across and down

  const axes = () => view.dims.slice(-2).reverse();

  /** @param {PointerEvent} event */
  function grab(event) {
    event.preventDefault(); // else the browser starts to select text
    map.setPointerCapture(event.pointerId);
    follow(event);
  }

  /** @param {PointerEvent} event */
  function follow(event) {
    if (!map.hasPointerCapture(event.pointerId)) return;
    const bounds = map.getBoundingClientRect();
    const [across, down] = axes();
    const ratio = [
      (event.clientX - bounds.left) / bounds.width,
      (event.clientY - bounds.top) / bounds.height,
    ];
    /** @type {Record<number, number>} */
    const starts = { [across]: startAt(across, ratio[0]) };
    if (down !== undefined) starts[down] = startAt(down, ratio[1]);
    moveTo(starts);
  }

  /** The start of a window whose middle is at a part of a dim. */
  function startAt(dim, ratio) {
    const size = view.part.shape[view.dims.indexOf(dim)];
    return Math.round(ratio * view.layout.shape[dim] - size / 2);
  }

  function drawMap() {
    const [across, down] = axes();
    const { shape } = view.layout;
    const columns = shape[across];
    const rows = shape[down] ?? 1;
    const scale = Math.min(MAP.width / columns, MAP.height / rows);
    const width = Math.max(MAP.least, columns * scale);
    const height = Math.max(MAP.least, rows * scale);
    set(map, "style", `width:${width}px;height:${height}px`);
    const [left, frameWidth] = spanOn(width, across);
    const [top, frameHeight] = down === undefined ? [0, height] : spanOn(height, down);
    set(
      frame,
      "style",
      `left:${left}px;top:${top}px;width:${frameWidth}px;height:${frameHeight}px`,
    );
  }

  /**
   * Where the window begins on a side of the map, and how long it is there.
   * @type {(px: number, dim: number) => [number, number]}
   */
  function spanOn(px, dim) {
    const count = view.layout.shape[dim];
    const size = view.part.shape[view.dims.indexOf(dim)];
    const length = Math.max((size / count) * px, LEAST_FRAME);
    const most = Math.max(count - size, 1);
    return [(view.start[dim] / most) * (px - length), length];
  }

  // The line, and the dims

  function take(text) {
    const [taken, why] = tried(() => readPlace(text, view.layout, here, view.name));
    isTyping = !taken;
    if (taken) onPlace(taken);
    else say(why);
  }

  function leave() {
    isTyping = false;
    drawLine();
  }

  function drawLine() {
    if (isTyping) return;
    const name = windowName(view.layout, here.window, view.name);
    if (line.input.value !== name) line.input.value = name;
    const isMissing = view.elements.some((element) => view.label(element) === "·");
    say("", isMissing ? MISSING : `of shape ${tuple(view.layout.shape)}`);
  }

  /** Write out why a text was refused, or what else there is to know. */
  function say(why, otherwise = "") {
    set(says, "text", why || otherwise);
    let kind = why ? "is-refused" : "";
    if (otherwise === MISSING) kind = "is-missing";
    set(says, "class", `sk-says ${kind}`);
    set(line.input, "aria-invalid", why ? "true" : null);
  }

  function choose(dim) {
    onPlace(withDim(view.layout, here, dim));
  }

  /** One slider for each dim that has several indices and is not on the map. */
  function drawAlong() {
    const { shape } = view.layout;
    const onMap = axes();
    const dims = range(shape.length).filter((d) => shape[d] > 1 && !onMap.includes(d));
    node.classList.toggle("is-deep", dims.length > MOST_BESIDE);
    const boxes = dims.map((d) => {
      const slider = along.get(d) ?? createAlong(d);
      along.set(d, slider);
      const size = view.part.shape[view.dims.indexOf(d)] ?? 0; // of the window, in planes
      const first = view.start[d];
      const text = size ? `${first}:${first + size}` : String(first);
      slider.draw(first, `${text} of ${shape[d]}`, { max: shape[d] - Math.max(size, 1) });
      return slider.box;
    });
    fill(sliders, ...boxes);
  }

  function createAlong(d) {
    const slider = createSlider(`${id}-at-${d}`, `dim ${d}`, {
      "aria-label": `move along dim ${d}`,
      onInput: (value) => moveTo({ [d]: value }),
    });
    return { ...slider, box: h("div", { class: `sk-slider sk-d${d}` }, ...slider.nodes) };
  }

  /** @param {View} nextView */
  function draw(nextView) {
    const { window } = nextView;
    const { index } = nextView.state;
    if (!window || !index) return;
    view = nextView;
    here = { window, index };
    drawMap();
    drawLine();
    chips.draw(
      range(view.layout.shape.length).map((d) => ({
        text: String(d),
        title: view.dims.includes(d) ? "is drawn" : "draw this dim",
        isPressed: view.dims.includes(d),
        value: d,
      })),
    );
    drawAlong();
  }

  return { node, draw, isDeep: () => node.classList.contains("is-deep") };
}
