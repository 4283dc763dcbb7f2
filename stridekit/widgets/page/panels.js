// The panels that several widgets share: chips, sliders, lists, labels, verdicts, code, players,
// strips.

import { button, fill, h, inRows, OWN_KEYS, reachedBy, set, setAll } from "./dom.js";
import { range, sameLayout, verdict } from "./layout.js";

/** @import { Props } from "./dom.js" */
/** @import { Layout, Verdict } from "./layout.js" */
/** @import { Shell } from "./shell.js" */

/**
 * A chip. `value` is what a press picks; a chip whose `isPressed` is left out is no switch.
 * @typedef {{ text: string, title?: string | null, isPressed?: boolean, value: any }} Chip
 */

/**
 * A row of chips. `classes` are for the row and for a chip.
 * @param {string} label
 * @param {(value: any) => void} onPick
 * @param {(string | null)[]} classes
 */
export function createChips(label, onPick, [row, chip] = ["sk-presets", null]) {
  const node = h("div", { class: row, role: "group", "aria-label": label });

  /** @param {Chip[]} chips */
  function draw(chips) {
    const buttons = chips.map(({ text, title = null, isPressed, value }) => [
      "button",
      {
        type: "button",
        class: chip,
        text,
        title,
        onclick: () => onPick(value),
        "aria-pressed": isPressed === undefined ? null : String(isPressed),
      },
    ]);
    fill(node, ...buttons);
  }

  return { node, draw };
}

/**
 * Chips, one of them pressed.
 * @param {string} label
 * @param {any[][]} choices pairs of a value and its text
 * @param {(value: any) => void} onPick
 */
export function createChoice(label, choices, onPick) {
  const chips = createChips(label, onPick);

  /** @param {any} current */
  function draw(current) {
    chips.draw(choices.map(([value, text]) => ({ text, isPressed: value === current, value })));
  }

  return { node: chips.node, draw };
}

/** @type {(name: string, ...nodes: Node[]) => HTMLElement} */
export const named = (name, ...nodes) =>
  h("div", { class: "sk-setting" }, h("span", { text: name, "aria-hidden": "true" }), ...nodes);

/**
 * A choice behind each name of a table, {name: values}; the values are the texts.
 * @param {Record<string, any[]>} table
 * @param {(changed: Record<string, any>) => void} onChange
 */
export function createSettings(table, onChange) {
  /** @type {Record<string, HTMLElement>} */
  const nodes = {};
  /** @type {Record<string, (current: any) => void>} */
  const drawers = {};
  for (const [name, values] of Object.entries(table)) {
    const choices = values.map((value) => [value, String(value)]);
    const choice = createChoice(name, choices, (value) => onChange({ [name]: value }));
    nodes[name] = named(name, choice.node);
    drawers[name] = choice.draw;
  }

  /** @param {Record<string, any>} current */
  function draw(current) {
    for (const name of Object.keys(table)) drawers[name](current[name]);
  }

  return { nodes, draw };
}

/**
 * A layout to start from, and the expression that makes it.
 * @typedef {{ name: string, expression: string, layout: Layout }} Preset
 */

/** @param {(preset: any) => void} onPick */
export function createPresets(onPick) {
  const chips = createChips("layouts to start from", onPick);

  /**
   * Returns the preset on screen, if any; none if the layout is null.
   * @template {Preset} Drawn
   * @param {Drawn[]} presets
   * @param {Layout | null} layout
   */
  function draw(presets, layout) {
    const current = layout
      ? presets.find((preset) => sameLayout(preset.layout, layout))
      : undefined;
    chips.draw(
      presets.map((preset) => ({
        text: preset.name,
        title: preset.expression,
        isPressed: preset === current,
        value: preset,
      })),
    );
    return current;
  }

  return { node: chips.node, draw };
}

/**
 * A native slider between its label, which is text and nodes, and its value as text.
 * @param {string} id
 * @param {string | Node | (string | Node)[]} label
 * @param {Props & { onInput: (value: number) => void }} props
 */
export function createSlider(id, label, { onInput, ...props }) {
  const input = h("input", {
    type: "range",
    id,
    min: "0",
    step: "1",
    ...props,
    oninput: () => onInput(input.valueAsNumber),
  });
  const output = h("output", { for: id });

  /**
   * Fill the track up to the value, and hatch it beyond `most`, which a limit closes.
   * @param {number} value
   * @param {string} text
   * @param {Props} attributes
   */
  function draw(value, text = String(value), { most = Infinity, ...attributes } = {}) {
    setAll(input, attributes);
    const least = Number(input.min);
    const end = Number(input.max);
    /** @param {number} n */
    const placeOf = (n) => (n - least) / Math.max(end - least, 1);
    const limit = most < end ? placeOf(most) : 2; // beyond the track
    set(input, "style", `--at:${placeOf(value)};--to:${limit}`);
    if (input.valueAsNumber !== value) input.value = String(value);
    set(output, "text", text);
  }

  return {
    input,
    nodes: [h("label", { for: id }, ...[label].flat()), input, output],
    draw,
  };
}

/**
 * Sliders below one another: [name, props, label, class] each. `draw` gets their values by name.
 * @param {string} id
 * @param {string} label
 * @param {any[][]} rows
 * @param {(changed: Record<string, number>) => void} onChange
 */
export function createSizes(id, label, rows, onChange) {
  const sliders = rows.map(([name, props, text = name]) =>
    createSlider(`${id}-${name}`, text, {
      ...props,
      onInput: (value) => onChange({ [name]: value }),
    }),
  );
  const boxes = sliders.map(({ nodes }, k) =>
    h("div", { class: `sk-slider ${rows[k][3] ?? ""}` }, ...nodes),
  );
  const node = h("div", { class: "sk-sizes", role: "group", "aria-label": label }, ...boxes);

  /**
   * @param {any} values
   * @param {any} texts
   */
  function draw(values, texts = {}) {
    for (const [k, [name]] of rows.entries()) sliders[k].draw(values[name], texts[name]);
  }

  return { node, draw };
}

/**
 * A line to type on with its label and button. Enter presses the button; a form would not get the
 * key in JupyterLab.
 * @param {string} id
 * @param {string} label
 * @param {string} action
 * @param {(line: string) => void} onLine
 * @param {Props} [props]
 */
export function createLine(id, label, action, onLine, props) {
  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    if (input.value.trim()) onLine(input.value);
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key === "Enter") submit(event);
  }

  const input = h("input", {
    class: "sk-input",
    type: "text",
    id,
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    onkeydown,
    ...props,
  });
  return {
    input,
    nodes: [
      h("label", { for: id, text: label }),
      input,
      button(action, submit, { class: "sk-button" }),
    ],
  };
}

/**
 * A list of texts with its label; `onPick` gets the position of the chosen text.
 * @param {string} id
 * @param {string} label
 * @param {string[]} texts
 * @param {(position: number) => void} onPick
 */
export function createSelect(id, label, texts, onPick) {
  const select = h(
    "select",
    { id, class: "sk-input", onchange: () => onPick(select.selectedIndex) },
    ...texts.map((text) => h("option", { text })),
  );
  return {
    select,
    node: h("div", { class: "sk-choice" }, h("label", { for: id, text: label }), select),
  };
}

/** Labels beside boxes. */
export function createMarks(kind = "sk-marks") {
  const node = h("div", { class: kind, "aria-hidden": "true" });

  /** @param {any[][]} marks [text, x, y, class] each; the class may be left out */
  function draw(marks) {
    const labels = marks.map(([text, x, y, own = ""]) => [
      "span",
      { text: String(text), class: own, style: `left:${x}px;top:${y}px` },
    ]);
    fill(node, ...labels);
  }

  return { node, draw };
}

/**
 * Terms with their meanings, [term, meaning, attributes] each, for `fill`.
 * @param {any[][]} rows
 */
export const terms = (rows) =>
  rows.map(([term, meaning, attributes = {}]) => [
    "div",
    attributes,
    ["dt", { text: term }],
    ["dd", { text: String(meaning) }],
  ]);

export function createVerdicts() {
  const node = h("ul", { class: "sk-verdicts" });

  /** @param {Verdict[]} verdicts */
  function draw(verdicts) {
    const items = verdicts.map(([isGood, sentence]) => [
      "li",
      { text: verdict([isGood, sentence]), "data-good": String(isGood) },
    ]);
    fill(node, ...items);
  }

  return { node, draw };
}

/**
 * Copy the text of a node. Without a clipboard, select the text for Ctrl+C and return false.
 * @param {Node} node
 */
export async function copyText(node) {
  try {
    await navigator.clipboard.writeText(node.textContent ?? "");
    return true;
  } catch {
    getSelection()?.selectAllChildren(node);
    return false;
  }
}

/** The code that reproduces the picture, ready to copy, and the expression of an equal preset. */
export function createCode() {
  const code = h("code");
  const also = h("code", { class: "sk-also" });
  const copier = button("copy", copy, { "aria-label": "copy the code" });
  const node = h("div", { class: "sk-code" }, h("div", {}, code, also), copier);

  async function copy() {
    copier.textContent = (await copyText(code)) ? "copied" : "press Ctrl+C";
    setTimeout(() => {
      copier.textContent = "copy";
    }, 1500);
  }

  /**
   * @param {string} text
   * @param {{ expression: string } | null} [preset]
   */
  function draw(text, preset) {
    const isOther = preset && preset.expression !== text;
    set(code, "text", text);
    set(also, "text", isOther ? `# the same as ${preset.expression}` : "");
  }

  return { node, draw };
}

// Playing: steps on a timer, until none is left or a hand takes over ------------------------------

const SPEEDS = ["0.5", "1", "2"];
// One speed for all players of a page, though each kind of widget has its own copy of this module.
const SPEED_CHOSEN = "stridekit-speed"; // an event of the page
globalThis.stridekitPlaying ??= { speed: "1" };
const playing = globalThis.stridekitPlaying;

/**
 * A button that plays and pauses, and a choice of speeds. It counts a part of the state from 0 up
 * to `most()`, and `pause()` returns the time in ms for which the step on screen stays there at
 * speed 1. The widget draws the player.
 * @param {Shell} shell
 * @param {string} key
 * @param {{ most: () => number, pause: () => number }} options
 */
export function createPlayer(shell, key, { most, pause }) {
  const play = button("", toggle, { class: "sk-button sk-play" });
  const speed = h(
    "select",
    { class: "sk-input sk-speed", "aria-label": "speed", onchange: choose },
    ...SPEEDS.map((value) => h("option", { value, text: `${value}×` })),
  );
  const node = h("span", { class: "sk-player" }, play, speed);
  /** @type {ReturnType<typeof setTimeout> | null} */
  let waiting = null;

  const remaining = () => most() - shell.state()[key];
  /** @param {number} step */
  const go = (step) => shell.put({ [key]: step });
  shell.atEnd(stop);
  addEventListener(SPEED_CHOSEN, showSpeed, { signal: shell.signal });

  function toggle() {
    if (waiting === null) {
      if (!remaining()) go(0);
      wait();
    } else {
      stop();
    }
    shell.redraw();
  }

  function tick() {
    const steps = remaining();
    if (steps <= 1) stop();
    if (steps) go(shell.state()[key] + 1);
    else shell.redraw(); // Python may have moved to the end meanwhile
    if (waiting !== null) wait();
  }

  function wait() {
    stop();
    waiting = setTimeout(tick, pause() / Number(playing.speed));
  }

  function stop() {
    if (waiting !== null) clearTimeout(waiting);
    waiting = null;
  }

  function choose() {
    playing.speed = speed.value;
    dispatchEvent(new Event(SPEED_CHOSEN));
    if (waiting !== null) wait();
  }

  function showSpeed() {
    speed.value = playing.speed;
  }

  /** The ms for which a step stays on screen; Infinity if nothing plays. */
  const stay = () => (waiting === null ? Infinity : pause() / Number(playing.speed));

  /** @param {boolean} isPossible */
  function draw(isPossible) {
    set(play, "text", waiting === null ? "▶ play" : "❚❚ pause");
    play.disabled = !isPossible;
    if (speed.value !== playing.speed) showSpeed();
  }

  return { node, toggle, stop, stay, draw };
}

// Strips: numbered boxes in rows, one tab stop, arrow keys from box to box; widgets paint them ----

/**
 * `of(k)` is what box k stands for: `onHover` gets it, or null, and so does `onMove` when a hand
 * proposes another active box, which the caller keeps.
 * @typedef {object} StripOptions
 * @property {string} label
 * @property {(k: number) => any} [of]
 * @property {(element: any) => void} [onHover]
 * @property {(element: any) => void} [onMove]
 * @property {number} [height]
 * @property {number} [gap]
 * @property {number} [narrowest]
 */

/**
 * Wider gaps between groups of columns or rows: how many are in a group, and the extra px.
 * @typedef {number[]} Groups
 */

/**
 * @typedef {object} Geometry
 * @property {number} count
 * @property {number} perRow
 * @property {number} pitch
 * @property {number} height
 * @property {Groups} columns
 * @property {Groups} rows
 */

/**
 * How to paint a box: `kind` is its classes, and `says` is read aloud.
 * @typedef {object} Look
 * @property {string} text
 * @property {string} [kind]
 * @property {string} [says]
 * @property {string} [style]
 */

/** @type {Groups} */
const TOGETHER = [Infinity, 0];

/** @typedef {ReturnType<typeof createStrip>} Strip */

/**
 * A strip of boxes: `layOut` places the boxes and `draw` patches them.
 * @param {string} id
 * @param {StripOptions} options
 */
export function createStrip(
  id,
  {
    label,
    of = (k) => k,
    onHover = () => {},
    onMove = () => {},
    height = 34,
    gap = 4,
    narrowest = 18,
  },
) {
  const node = h("div", {
    class: "sk-strip",
    role: "grid",
    tabindex: "0",
    ...OWN_KEYS,
    "aria-label": label,
    onkeydown: move,
    onpointerover: hover,
    onpointerleave: () => onHover(null),
    onclick: press,
  });
  /** @type {Geometry} */
  let geometry = { count: 0, perRow: 1, pitch: 40, height, columns: TOGETHER, rows: TOGETHER };
  /** @type {number | null} */
  let activeBox = null;

  /** @param {KeyboardEvent} event */
  function move(event) {
    if (event.key === "Escape") {
      node.blur();
      return;
    }
    const { count, perRow } = geometry;
    const target = reachedBy(event.key, activeBox ?? 0, perRow, count);
    if (target === undefined) return;
    event.preventDefault();
    const next = activeBox === null ? 0 : target;
    if (next >= 0 && next < count) onMove(of(next));
  }

  /** @param {{ target: HTMLElement }} event */
  function hover({ target }) {
    const { box } = target.dataset;
    onHover(box ? of(Number(box)) : null);
  }

  /** @param {{ target: HTMLElement }} event */
  function press({ target }) {
    const { box } = target.dataset;
    if (box) onMove(of(Number(box)));
  }

  /**
   * Place the boxes. `apart` may widen the gaps between groups of columns or rows, and give the
   * boxes another height.
   * @param {number} count
   * @param {number} perRow
   * @param {number} width
   * @param {{ columns?: Groups, rows?: Groups, height?: number }} apart
   */
  function layOut(count, perRow, width, apart = {}) {
    const pitch = Math.max(narrowest, Math.min(52, Math.floor(width / perRow)));
    geometry = { count, perRow, pitch, columns: TOGETHER, rows: TOGETHER, height, ...apart };
    set(node, "style", count ? gridStyle(geometry) : null);
  }

  /**
   * The tracks of a CSS grid place the boxes: a style per box would double the time of a frame.
   * @param {Geometry} geometry
   */
  function gridStyle({ count, perRow, pitch, columns, rows, height }) {
    const widths = range(perRow).map((c) => `${pitch - gap + extra(columns, c)}px`);
    const heights = range(Math.ceil(count / perRow)).map((r) => `${height + extra(rows, r)}px`);
    const template = `${heights.join(" ")}/${widths.join(" ")}`;
    return `--height:${height}px;gap:${gap}px;grid-template:${template}`;
  }

  /**
   * Patch the boxes.
   * @param {(k: number) => Look} look
   * @param {number | null} active
   */
  function draw(look, active = null) {
    activeBox = active;
    const { count, perRow } = geometry;
    const boxes = range(count).map((k) => boxOf(k, look(k), k === active));
    fill(node, ...inRows(boxes, perRow));
    const isInside = active !== null && active >= 0 && active < count;
    set(node, "aria-activedescendant", isInside ? idOf(active) : null);
  }

  /** @type {(k: number, look: Look, isActive: boolean) => any[]} */
  function boxOf(k, { text, kind = "", says, style = "" }, isActive) {
    const before = extra(geometry.columns, k % geometry.perRow);
    const margin = before ? `margin-left:${before}px;` : "";
    return [
      "div",
      {
        role: "gridcell",
        id: idOf(k),
        "data-box": String(k),
        text,
        class: `sk-box ${kind}`,
        "aria-label": says,
        "aria-selected": String(isActive),
        style: `${margin}${style}` || null,
      },
    ];
  }

  /** @param {number} k */
  const rowOf = (k) => Math.floor(k / geometry.perRow);
  /** @param {number} k */
  const columnOf = (k) => k % geometry.perRow;
  /** @param {number} k */
  const idOf = (k) => `${id}-b${rowOf(k)}-${columnOf(k)}`;

  /** @param {number} k */
  const left = (k) => columnOf(k) * geometry.pitch + extraSum(geometry.columns, columnOf(k));
  /** @param {number} k */
  const top = (k) => rowOf(k) * (geometry.height + gap) + extraSum(geometry.rows, rowOf(k));

  return {
    node,
    layOut,
    draw,
    left,
    top,
    /** @param {number} k */
    middle: (k) => [left(k) + (geometry.pitch - gap) / 2, top(k) + geometry.height / 2],
    boxWidth: () => geometry.pitch - gap,
    /** @param {number} k */
    box: (k) => node.children[rowOf(k)].children[columnOf(k)],
  };
}

/**
 * The extra space before the n-th column or row.
 * @type {(groups: Groups, n: number) => number}
 */
const extra = ([count, px], n) => (n > 0 && n % count === 0 ? px : 0);

/**
 * The sum of the extra space up to the n-th column or row.
 * @type {(groups: Groups, n: number) => number}
 */
const extraSum = ([count, px], n) => Math.floor(n / count) * px;

/**
 * An element of a strip, as its widget names it. `text` is on its box, and `says` is read aloud.
 * @typedef {{ element: any, text: string, says: string, kind: string }} ShownElement
 */

/**
 * The `spot` is marked, and so are all elements that are lit. Keys go on from the `selected` one.
 * The first two are elements as texts.
 * @typedef {object} Light
 * @property {string} [spot]
 * @property {string} [selected]
 * @property {(element: any) => boolean} isLit
 */

/**
 * A strip whose boxes stand for elements. `put` takes the elements, and `light` draws them.
 * @param {string} id
 * @param {StripOptions} options
 */
export function createElements(id, options) {
  /** @type {(ShownElement & { key: string })[]} */
  let boxes = [];
  const strip = createStrip(id, { of: (k) => boxes[k].element, ...options });

  /** @param {ShownElement[]} elements */
  function put(elements) {
    boxes = elements.map((shown) => ({ ...shown, key: String(shown.element) }));
  }

  /** @param {Light} light */
  function light({ spot, selected, isLit }) {
    /** @param {ShownElement & { key: string }} box */
    function highlight({ key, element }) {
      if (key === spot) return " is-here";
      return isLit(element) ? " is-lit" : "";
    }

    strip.draw(
      (k) => {
        const { text, says, kind } = boxes[k];
        return { text, says, kind: `${kind}${highlight(boxes[k])}` };
      },
      boxes.findIndex(({ key }) => key === selected),
    );
  }

  return { ...strip, put, light };
}
