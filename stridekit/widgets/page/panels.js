// The panels that several widgets share: chips, sliders, lists, labels, verdicts, code, players, strips.

import { button, fill, h, inRows, OWN_KEYS, reachedBy, set, setAll } from "./dom.js";
import { range, sameLayout, verdict } from "./layout.js";

/** A row of chips: draw([{text, title, isPressed, value}, …]). `classes` are for the row and for a chip. */
export function createChips(label, onPick, [row, chip] = ["sk-presets", null]) {
  const node = h("div", { class: row, role: "group", "aria-label": label });
  const draw = (choices) =>
    fill(
      node,
      ...choices.map(({ text, title = null, isPressed, value }) => [
        "button",
        {
          type: "button",
          class: chip,
          text,
          title,
          onclick: () => onPick(value),
          "aria-pressed": isPressed === undefined ? null : String(isPressed),
        },
      ]),
    );
  return { node, draw };
}

/** Chips, one of them pressed: choices are [value, text]. */
export function createChoice(label, choices, onPick) {
  const { node, draw } = createChips(label, onPick);
  return {
    node,
    draw: (current) =>
      draw(choices.map(([value, text]) => ({ text, isPressed: value === current, value }))),
  };
}

export const named = (name, ...nodes) =>
  h("div", { class: "sk-setting" }, h("span", { text: name, "aria-hidden": "true" }), ...nodes);

/** A choice behind each name of a table, {name: values}; the values are the texts. */
export function createSettings(table, onChange) {
  const choices = Object.entries(table).map(([name, values]) => [
    name,
    createChoice(
      name,
      values.map((value) => [value, String(value)]),
      (value) => onChange({ [name]: value }),
    ),
  ]);
  return {
    nodes: Object.fromEntries(choices.map(([name, { node }]) => [name, named(name, node)])),
    draw: (current) => choices.forEach(([name, { draw }]) => draw(current[name])),
  };
}

export function createPresets(onPick) {
  const { node, draw } = createChips("layouts to start from", onPick);
  return {
    node,
    /** Returns the preset on screen, if any; none where the layout is null. */
    draw(presets, layout) {
      const current = layout
        ? presets.find((preset) => sameLayout(preset.layout, layout))
        : undefined;
      draw(
        presets.map((preset) => ({
          text: preset.name,
          title: preset.expression,
          isPressed: preset === current,
          value: preset,
        })),
      );
      return current;
    },
  };
}

// A native slider between its label, which is text and nodes, and its value as text. `draw` fills the track up to the
// value, and hatches it beyond `most`, which a limit closes.
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
  return {
    input,
    nodes: [h("label", { for: id }, ...[label].flat()), input, output],
    draw(value, says = String(value), { most = Infinity, ...attributes } = {}) {
      setAll(input, attributes);
      const [least, end] = [Number(input.min), Number(input.max)];
      const at = (n) => (n - least) / Math.max(end - least, 1);
      set(input, "style", `--at:${at(value)};--to:${most < end ? at(most) : 2}`);
      if (input.valueAsNumber !== value) input.value = value;
      set(output, "text", says);
    },
  };
}

/** Sliders below one another: [name, props, label, class] each; `draw` gets their values by name. */
export function createSizes(id, label, rows, onChange) {
  const sliders = rows.map(([name, props, text = name]) =>
    createSlider(`${id}-${name}`, text, {
      ...props,
      onInput: (value) => onChange({ [name]: value }),
    }),
  );
  return {
    node: h(
      "div",
      { class: "sk-sizes", role: "group", "aria-label": label },
      ...sliders.map(({ nodes }, k) =>
        h("div", { class: `sk-slider ${rows[k][3] ?? ""}` }, ...nodes),
      ),
    ),
    draw: (values, says = {}) =>
      rows.forEach(([name], k) => sliders[k].draw(values[name], says[name])),
  };
}

/** A line to type on with its label and button. Enter presses it; a form would not hear of that in JupyterLab. */
export function createLine(id, label, action, onLine, props) {
  const typed = (event) => {
    event.preventDefault();
    if (input.value.trim()) onLine(input.value);
  };
  const input = h("input", {
    class: "sk-input",
    type: "text",
    id,
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    onkeydown: (event) => event.key === "Enter" && typed(event),
    ...props,
  });
  return {
    input,
    nodes: [
      h("label", { for: id, text: label }),
      input,
      button(action, typed, { class: "sk-button" }),
    ],
  };
}

/** A list of texts with its label; `onPick` gets the position of the chosen text. */
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

/** Labels beside boxes: draw([[text, x, y, class], …]). */
export function createMarks(kind = "sk-marks") {
  const node = h("div", { class: kind, "aria-hidden": "true" });
  const draw = (places) =>
    fill(
      node,
      ...places.map(([text, x, y, own = ""]) => [
        "span",
        { text: String(text), class: own, style: `left:${x}px;top:${y}px` },
      ]),
    );
  return { node, draw };
}

/** Terms with their meanings, [term, meaning, attributes] each. */
export const terms = (rows) =>
  rows.map(([term, meaning, attributes = {}]) => [
    "div",
    attributes,
    ["dt", { text: term }],
    ["dd", { text: String(meaning) }],
  ]);

export function createVerdicts() {
  const node = h("ul", { class: "sk-verdicts" });
  const draw = (verdicts) =>
    fill(
      node,
      ...verdicts.map((each) => ["li", { text: verdict(each), "data-good": String(each[0]) }]),
    );
  return { node, draw };
}

/** Copy the text of a node; false if there is no clipboard, and the text is selected for Ctrl+C. */
export async function copyText(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(node);
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
    setTimeout(() => (copier.textContent = "copy"), 1500);
  }

  return {
    node,
    draw(text, preset) {
      set(code, "text", text);
      set(
        also,
        "text",
        preset && preset.expression !== text ? `# the same as ${preset.expression}` : "",
      );
    },
  };
}

// Playing: steps on a timer, until none is left or a hand takes over ---------------------------------

const SPEEDS = ["0.5", "1", "2"];
// One speed for all players of a page, though each kind of widget has its own copy of this module.
const chosen = (globalThis.stridekitPlaying ??= { speed: "1" });

// A button that plays and pauses, and a choice of speeds. It counts a part of the state from 0 up to `most()`, and `pause()`
// returns the time in ms for which the step on screen stays there at speed 1. The widget draws the player.
export function createPlayer(shell, key, { most, pause }) {
  const play = button("", toggle, { class: "sk-button sk-play" });
  const speed = h(
    "select",
    { class: "sk-input sk-speed", "aria-label": "speed", onchange: choose },
    ...SPEEDS.map((value) => h("option", { value, text: `${value}×` })),
  );
  const node = h("span", { class: "sk-player" }, play, speed);
  let waiting = null;

  const left = () => most() - shell.state()[key];
  const go = (step) => shell.put({ [key]: step });
  shell.atEnd(stop);

  function toggle() {
    if (waiting !== null) stop();
    else {
      if (!left()) go(0);
      wait();
    }
    shell.redraw();
  }

  function tick() {
    const steps = left();
    if (steps <= 1) stop();
    if (steps) go(shell.state()[key] + 1);
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
    node,
    toggle,
    stop,
    draw(possible) {
      set(play, "text", waiting === null ? "▶ play" : "❚❚ pause");
      play.disabled = !possible;
      if (speed.value !== chosen.speed) speed.value = chosen.speed;
    },
  };
}

// Strips: numbered boxes in rows, one tab stop, arrow keys from box to box; widgets paint them ----

// `layOut(count, perRow, width, apart)` places the boxes and `draw(look, active)` patches them: look(k) returns
// {text, kind, says, style} for box k, where `kind` is its classes and `says` is read aloud. `apart` may widen the
// gaps between groups of `columns` or `rows`: [how many in a group, px], and give the boxes another `height`. `of(k)` is
// what box k stands for: `onHover` gets it, or null, and `onMove` when a hand proposes another active box, which the
// caller keeps.
export function createStrip(
  id,
  { label, of = (k) => k, onHover = () => {}, onMove, height = 34, gap = 4, narrowest = 18 },
) {
  const node = h("div", {
    class: "sk-strip",
    role: "grid",
    tabindex: "0",
    ...OWN_KEYS,
    "aria-label": label,
    onkeydown(event) {
      const { count, perRow } = geometry;
      if (event.key === "Escape") return node.blur();
      const led = reachedBy(event.key, reached, perRow, count);
      if (led === undefined) return;
      event.preventDefault();
      const next = reached === null ? 0 : led;
      if (next >= 0 && next < count) onMove(of(next));
    },
    onpointerover: ({
      target: {
        dataset: { box },
      },
    }) => onHover(box ? of(Number(box)) : null),
    onpointerleave: () => onHover(null),
    onclick: ({
      target: {
        dataset: { box },
      },
    }) => box && onMove(of(Number(box))),
  });
  const together = [Infinity, 0];
  let [geometry, reached] = [{ pitch: 40 }, null];

  function layOut(count, perRow, width, apart = {}) {
    const pitch = Math.max(narrowest, Math.min(52, Math.floor(width / perRow)));
    geometry = { count, perRow, pitch, columns: together, rows: together, height, ...apart };
    const { columns, rows: groups, height: tall } = geometry;
    // The tracks of a CSS grid place the boxes: a style per box would double the time of a frame.
    const across = range(perRow).map((c) => `${pitch - gap + extra(columns, c)}px`);
    const down = range(Math.ceil(count / perRow)).map((r) => `${tall + extra(groups, r)}px`);
    set(
      node,
      "style",
      count
        ? `--height:${tall}px;gap:${gap}px;grid-template:${down.join(" ")}/${across.join(" ")}`
        : null,
    );
  }

  function draw(look, active = null) {
    reached = active;
    const { count, perRow, columns } = geometry;
    const boxes = range(count).map((k) => {
      const { text, kind = "", says, style = "" } = look(k);
      const before = extra(columns, k % perRow);
      return [
        "div",
        {
          role: "gridcell",
          id: idOf(k),
          "data-box": String(k),
          text,
          class: `sk-box ${kind}`,
          "aria-label": says,
          "aria-selected": String(k === active),
          style: `${before ? `margin-left:${before}px;` : ""}${style}` || null,
        },
      ];
    });
    fill(node, ...inRows(boxes, perRow));
    set(node, "aria-activedescendant", active in boxes ? idOf(active) : null);
  }

  const rowOf = (k) => Math.floor(k / geometry.perRow);
  const idOf = (k) => `${id}-b${rowOf(k)}-${k % geometry.perRow}`;
  /** The extra space before the n-th column or row, and its sum up to there. */
  const extra = ([many, px], n) => (n > 0 && n % many === 0 ? px : 0);
  const extras = ([many, px], n) => Math.floor(n / many) * px;

  const left = (k, { perRow, pitch, columns } = geometry) =>
    (k % perRow) * pitch + extras(columns, k % perRow);
  const top = (k) => rowOf(k) * (geometry.height + gap) + extras(geometry.rows, rowOf(k));

  return {
    node,
    layOut,
    draw,
    left,
    top,
    middle: (k) => [left(k) + (geometry.pitch - gap) / 2, top(k) + geometry.height / 2],
    boxWidth: () => geometry.pitch - gap,
    box: (k) => node.children[rowOf(k)].children[k % geometry.perRow],
  };
}

// A strip whose boxes stand for elements. `put` takes {element, text, says, kind} of each. `light` marks the `spot`, and all for
// which `isLit(element)`; keys go on from the `selected` one. These two are elements as texts.
export function createElements(id, options) {
  let boxes = [];
  const strip = createStrip(id, { of: (k) => boxes[k].element, ...options });
  return {
    ...strip,
    put: (elements) => (boxes = elements.map((each) => ({ ...each, key: String(each.element) }))),
    light: ({ spot, selected, isLit }) =>
      strip.draw(
        (k) => {
          const { element, text, says, kind, key } = boxes[k];
          return {
            text,
            says,
            kind: `${kind}${key === spot ? " is-here" : isLit(element) ? " is-lit" : ""}`,
          };
        },
        boxes.findIndex(({ key }) => key === selected),
      ),
  };
}
