// ReshapeStepper: the view rule walked step by step, on the dims and on the storage below them.
// steps.js describes the state, and computes everything else from it.

/** @import { View as PageView } from "../page/shell.js" */
/** @import { State, View } from "./steps.js" */

import { button, fill, fit, h, isCut, paragraphs, reveal, set, show } from "../page/dom.js";
import { nameAt, numel, offsetAt, product, range, reach, tuple } from "../page/layout.js";
import { wayFrom } from "../page/motion.js";
import { createChips, createPlayer, createPresets, createStrip, terms } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { createFields, createFollow } from "./fields.js";
import { createFigure, HEIGHT } from "./figure.js";
import { code, consequences, facts, PRESETS, perRow, spanOf, targetsOf, viewOf } from "./steps.js";

const PAUSE = 800; // ms for a step while it plays,
const READING = 30; // and for each character of its sentence
const BAR = 10; // room for the scroll bar of a tape
const HIDDEN = 40; // px: boxes may come out of so much of the tape that is cut off
const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

/** @param {PageView} pageView */
export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "reshape stepper",
      kind: "sk-reshape",
      traits: ["_given"],
      draw,
      code: (state) => code(state, model.get("_given")),
      moves: true,
      facts,
    },
  );
  const { id, motion } = shell;
  /** @type {View} */
  let view;

  // The panes: x, and the shape to view it as

  const presets = createPresets((preset) =>
    restart({ ...preset.layout, target: preset.targets[0] }),
  );
  const fields = createFields(id, { onLayout: takeLayout, onTarget: takeTarget });
  const expression = h("code", { class: "sk-expression" });
  const examples = createChips("shapes to try", takeTarget, ["sk-examples", "sk-button"]);
  const source = h("div", { class: "sk-source" }, fields.why, expression, examples.node);

  // The panes: the walk

  const player = createPlayer(shell, "step", {
    most: () => view.steps.length - 1,
    pause: () => PAUSE + READING * view.current.says.length,
  });
  const back = button("back", () => go(-1), { class: "sk-button" });
  const forward = [
    button("next", () => go(1), { class: "sk-button" }),
    button("to the end", () => go(Infinity), { class: "sk-button" }),
  ];
  const count = h("span", { class: "sk-count" });
  const walk = h(
    "div",
    {
      class: "sk-walk",
      role: "group",
      "aria-label": "steps",
      onkeydown(event) {
        if (event.target.matches("select")) return; // whose keys choose a speed
        if (event.key === "Escape") event.target.blur();
        const distance = KEYS[event.key];
        if (distance === undefined) return;
        event.preventDefault();
        go(distance);
      },
    },
    player.node,
    count,
    h("div", { class: "sk-buttons" }, back, ...forward),
  );
  const [sentence, tapeHead, copyHead] = paragraphs("sk-sentence", "sk-head", "sk-head");
  const walkPane = h("div", { class: "sk-now" }, walk, sentence);

  // The panes: the picture

  const figure = createFigure();
  set(figure.node, "style", `height:${HEIGHT}px`);
  const tape = createStrip(`${id}-old`, {
    label: "the storage of x",
    onMove: followSlot,
    height: 28,
  });
  const labels = h("div", { class: "sk-labels", "aria-hidden": "true" });
  const tapeBox = h("div", { class: "sk-tapebox sk-pane" }, h("div", {}, tape.node, labels));
  const follow = createFollow({ onFlat: (flat) => shell.put({ flat }) });
  const later = h("p", {
    class: "sk-note",
    text: "After the last step, torch's answer stands here.",
  });
  const meaning = h("dl", { class: "sk-after" });
  const copy = createStrip(`${id}-new`, {
    label: "the storage of the copy",
    onMove: (flat) => shell.put({ flat }),
    height: 27,
  });
  const copyBox = h("div", { class: "sk-copy sk-pane" }, copy.node);
  const rest = h(
    "div",
    { class: "sk-bounded" },
    presets.node,
    source,
    walkPane,
    figure.node,
    tapeHead,
    tapeBox,
    follow.node,
    later,
    meaning,
    copyHead,
    copyBox,
  );

  // Drawing

  function draw() {
    const state = /** @type {State} */ (model.get("_state"));
    const before = view;
    view = viewOf(state);
    fields.draw(view);
    const preset = presets.draw([...model.get("_given"), ...PRESETS], view.layout);
    const [start] = code(state, model.get("_given")).split("\n");
    set(expression, "text", start);
    drawExamples(preset?.targets ?? targetsOf(view.layout.shape));
    drawWalk();
    figure.draw(view, shell.width - 8);
    drawTape();
    follow.draw(view);
    drawMeaning();
    drawCopy();
    scroll(before);
    move(before);
    shell.speak(view.current.says);
  }

  function drawExamples(targets) {
    examples.draw(
      targets.map((target) => ({
        text: tuple(target),
        isPressed: String(target) === String(view.target),
        value: target,
      })),
    );
  }

  function drawWalk() {
    const { current, steps, position, isDone, reason } = view;
    const verdict = reason ? "bad" : "good";
    set(sentence, "text", current.says);
    set(sentence, "data-part", current.part === "end" ? verdict : current.part);
    set(count, "text", `step ${position} of ${steps.length - 1}`);
    player.draw(true);
    set(back, "aria-disabled", String(position === 0));
    for (const node of forward) set(node, "aria-disabled", String(isDone));
  }

  /** How many px of width a tape has. */
  const room = () => shell.width - BAR;

  function drawTape() {
    const { layout, flat, caption } = view;
    const [first, size] = spanOf(layout);
    const { owners } = reach(layout);
    const spot = flat === null ? null : offsetAt(layout, flat) - first;
    show(tapeBox, size);
    tape.layOut(size, perRow(layout, size, room()), room());
    fit(tape.node, [String(first + size - 1)], tape.boxWidth());
    tape.draw((k) => {
      const element = first + k;
      const flats = owners.get(element) ?? [];
      const names = flats.slice(0, 4).map((owner) => nameAt(layout.shape, owner, "x"));
      return {
        text: String(element),
        kind: classesOf(element, flats.length > 0, k === spot),
        says: `element ${element}: ${names.join(", ") || "not reached"}`,
      };
    }, spot);
    drawLabels(first, size);
    set(tapeHead, "text", caption);
  }

  function classesOf(element, isReached, isSpot) {
    const { run, taken, isUneven } = view;
    const classes = [];
    if (!isReached) classes.push("is-hole");
    else classes.push(run.has(element) ? "is-run" : "is-reached");
    if (taken.has(element)) classes.push(isUneven ? "is-missed" : "is-taken");
    if (isSpot) classes.push("is-spot");
    return classes.join(" ");
  }

  /** Write below the tape where the stride leads, and where it would have to lead. */
  function drawLabels(first, size) {
    const { found, needed } = view;
    const notes = [];
    if (found !== null && found === needed)
      notes.push({ element: found, text: "found, needed", shift: 50 });
    else if (found !== null && needed !== null) {
      // Words side by side would touch: shift them apart.
      const apart = Math.abs(found - needed) === 1 ? 35 : 0;
      const shift = found < needed ? apart : -apart;
      notes.push(
        { element: found, text: "found", shift: 50 + shift },
        { element: needed, text: "needed", shift: 50 - shift },
      );
    }
    const inside = notes.filter(({ element }) => element >= first && element < first + size);
    const nodes = inside.map(({ element, text, shift }) => {
      const [x, y] = tape.middle(element - first);
      const style = `transform:translate(${x}px,${y + 8}px) translateX(-${shift}%)`;
      return ["span", { text, style }];
    });
    fill(labels, ...nodes);
  }

  /** At the end of the walk, write the result of the view and its alternatives. */
  function drawMeaning() {
    const { layout, target, isDone } = view;
    show(later, !isDone);
    const pairs = isDone && numel(layout) ? consequences(layout, target) : [];
    fill(
      meaning,
      ...terms(pairs.map(([phrase, text]) => [phrase, text, { class: classOf(phrase) }])),
    );
  }

  function classOf(phrase) {
    if (phrase === "torch says") return "is-torch";
    return phrase.startsWith('"') ? "is-decoded" : null;
  }

  /** At the end of a refusal, show the storage that reshape would make. */
  function drawCopy() {
    const { layout, target, flat, isDone, reason } = view;
    const isCopied = isDone && reason !== "";
    show(copyHead, isCopied);
    show(copyBox, isCopied);
    if (!isCopied) return;
    const copySize = numel(layout);
    const [first, size] = spanOf(layout);
    set(
      copyHead,
      "text",
      `the storage of x.reshape(${target.join(", ")}): ${copySize} new elements; each number tells where its value came from`,
    );
    copy.layOut(copySize, perRow({ stride: [] }, copySize, room()), room());
    fit(copy.node, [String(first + size - 1)], copy.boxWidth());
    copy.draw((k) => {
      const origin = offsetAt(layout, k);
      return {
        text: String(origin),
        kind: k === flat ? "is-reached is-spot" : "is-reached",
        says: `element ${k}: ${nameAt(target, k, "y")}, the value of element ${origin}`,
      };
    }, flat);
  }

  /**
   * In tapes that scroll, show the followed element if it is another one, otherwise what the step
   * is about.
   */
  function scroll(before) {
    const isOther = view.flat !== before?.flat;
    if (!isOther && view.current.says === before?.current.says) return;
    const wanted = isOther ? ".is-spot" : ".is-missed, .is-taken, .is-run";
    reveal(tapeBox, tapeBox.querySelector(wanted));
    reveal(copyBox, copyBox.querySelector(".is-spot"));
  }

  /**
   * After a step forward, the box that it is about comes to its place; at the end of a refusal, the
   * copy out of its slots.
   */
  function move(before) {
    const { position } = view;
    const isOther = before && numbersOf(before) !== numbersOf(view);
    if (before && before.position === position && !isOther) return;
    if (!travels()) {
      motion.forget();
      return;
    }
    motion.remember(view, travels);
    if (before && before.position < position && !isOther) motion.play(player.stay());
  }

  const numbersOf = ({ layout, target }) => [layout.shape, layout.stride, target].join("|");

  /**
   * What moves in the step on screen.
   * @returns {import("../page/motion.js").Scene | null}
   */
  function travels() {
    const { layout, isDone, reason } = view;
    if (!isDone) {
      const moved = figure.moved(view);
      return moved && { layers: [figure.node], moves: [moved] };
    }
    // What moves reaches out of its pane, which would look cut if the pane scrolled.
    if (!reason || isCut(tapeBox, HIDDEN) || isCut(copyBox)) return null;
    const [first] = spanOf(layout);
    const moves = range(numel(layout)).map((flat) => {
      const box = copy.box(flat);
      return { box, start: wayFrom(tape.box(offsetAt(layout, flat) - first), box), isNew: true };
    });
    return { layers: [copyBox], moves };
  }

  // The hand

  /** Take another x, and keep the new shape if that holds its elements. */
  function takeLayout(layout) {
    const isKept = product(view.target) === numel(layout);
    restart({ ...layout, target: isKept ? view.target : [numel(layout)] });
  }

  function takeTarget(target) {
    restart({ target });
  }

  /** Restart the walk for another layout or target, and keep the element if possible. */
  function restart(part) {
    player.stop();
    const state = shell.state();
    const last = numel({ ...state, ...part }) - 1;
    const flat = last < 0 ? null : Math.min(state.flat ?? 0, last);
    shell.put({ ...part, step: 0, flat });
  }

  function go(distance) {
    player.stop();
    const step = Math.max(0, Math.min(view.position + distance, view.steps.length - 1));
    if (step === view.position) draw();
    else shell.put({ step });
  }

  /** Follow an element of the storage: its next index, if it has several. */
  function followSlot(k) {
    const { layout, flat } = view;
    const [first] = spanOf(layout);
    const owners = reach(layout).owners.get(first + k);
    if (!owners) return;
    const current = flat === null ? -1 : owners.indexOf(flat);
    shell.put({ flat: owners[(current + 1) % owners.length] });
  }

  return shell.open(fields.node, rest);
}
