// ReshapeStepper: the view rule walked step by step, on the dims and on the storage below them.
// The state in the model is {shape, stride, storage_offset, itemsize, target, step, flat}: the layout, the complete
// new shape, the step that the walk has reached, and the row-major number of the followed element. steps.js computes
// everything else from it.

import {
  button,
  createMotion,
  fill,
  fit,
  h,
  isCut,
  paragraphs,
  reveal,
  set,
  show,
  wayFrom,
} from "../page/dom.js";
import { nameAt, numel, offsetAt, product, range, reach, tuple } from "../page/layout.js";
import { createChips, createPlayer, createPresets, createStrip, terms } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { createFields, createFollow } from "./fields.js";
import { createFigure, HEIGHT } from "./figure.js";
import { code, consequences, facts, PRESETS, perRow, spanOf, targetsOf, viewOf } from "./steps.js";

const [PAUSE, READING] = [800, 30]; // ms for a step while it plays, and for each character of its sentence
const WIDE = 700; // from here on, the picture is as high as a screen at most
const BAR = 10; // room for the scroll bar of a tape

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "reshape stepper",
      kind: "sk-reshape",
      traits: ["_given"],
      draw,
      code: (state) => code(state, model.get("_given")),
      facts,
    },
  );
  const { id } = shell;
  let view = null;

  const aim = (target) => restart({ target });
  /** Another x, and the same new shape if that holds its elements. */
  const take = (layout) =>
    restart({
      ...layout,
      target: product(view.target) === numel(layout) ? view.target : [numel(layout)],
    });
  const room = () => shell.width - BAR;
  const presets = createPresets((preset) =>
    restart({ ...preset.layout, target: preset.targets[0] }),
  );
  const fields = createFields(id, { onLayout: take, onTarget: aim });
  const expression = h("code", { class: "sk-expression" });
  const examples = createChips("shapes to try", aim, ["sk-examples", "sk-button"]);
  const source = h("div", { class: "sk-source" }, fields.why, expression, examples.node);

  const player = createPlayer(shell, "step", {
    most: () => view.steps.length - 1,
    pause: () => PAUSE + READING * view.now.says.length,
  });
  const buttons = [
    ["back", -1],
    ["next", 1],
    ["to the end", Infinity],
  ].map(([text, by]) =>
    Object.assign(
      button(text, () => go(by), { class: "sk-button" }),
      { by },
    ),
  );
  const count = h("span", { class: "sk-count" });
  const walk = h(
    "div",
    {
      class: "sk-walk",
      role: "group",
      "aria-label": "steps",
      onkeydown(event) {
        if (event.target.matches("select")) return; // whose keys choose a speed
        const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
        if (event.key === "Escape") event.target.blur();
        if (by === undefined) return;
        event.preventDefault();
        go(by);
      },
    },
    player.node,
    count,
    h("div", { class: "sk-buttons" }, ...buttons),
  );
  const [sentence, tapeHead, copyHead] = paragraphs("sk-sentence", "sk-head", "sk-head");
  const told = h("div", { class: "sk-now" }, walk, sentence);

  const figure = createFigure();
  set(figure.node, "style", `height:${HEIGHT}px`);

  const tape = createStrip(`${id}-old`, {
    label: "the storage of x",
    onMove: (k) => pick(k),
    height: 30,
  });
  const labels = h("div", { class: "sk-labels", "aria-hidden": "true" });
  const tapeBox = h("div", { class: "sk-tapebox sk-pane" }, h("div", {}, tape.node, labels));

  const follow = createFollow({ onFlat: (flat) => shell.put({ flat }) });
  const after = h("dl", { class: "sk-after" });
  const copy = createStrip(`${id}-new`, {
    label: "the storage of the copy",
    onMove: (flat) => shell.put({ flat }),
    height: 28,
  });
  const copyBox = h("div", { class: "sk-copy sk-pane" }, copy.node);
  const rest = h(
    "div",
    { class: "sk-bounded" },
    presets.node,
    source,
    told,
    figure.node,
    tapeHead,
    tapeBox,
    follow.node,
    after,
    copyHead,
    copyBox,
  );

  const motion = createMotion(rest);

  function draw() {
    const [state, before] = [model.get("_state"), view];
    view = viewOf(state);
    for (const part of [fields.node, rest]) set(part, "data-wide", shell.width < WIDE ? null : "");
    fields.draw(view);
    const preset = presets.draw([...model.get("_given"), ...PRESETS], view.layout);
    set(expression, "text", code(state, model.get("_given")).split("\n")[0]);
    examples.draw(
      (preset?.targets ?? targetsOf(view.layout.shape)).map((target) => ({
        text: tuple(target),
        isPressed: String(target) === String(view.target),
        value: target,
      })),
    );
    set(sentence, "text", view.now.says);
    set(
      sentence,
      "data-part",
      view.now.part === "end" ? (view.reason ? "bad" : "good") : view.now.part,
    );
    set(count, "text", `step ${view.at} of ${view.steps.length - 1}`);
    player.draw(true);
    for (const button of buttons)
      set(button, "aria-disabled", String(button.by < 0 ? view.at === 0 : view.done));
    figure.draw(view, shell.width - 8);
    drawTape();
    follow.draw(view);
    drawAfter();
    // In tapes that scroll: the followed element if it is another one, otherwise what the step is about.
    const isOther = view.flat !== before?.flat;
    if (isOther || view.now.says !== before?.now.says) {
      reveal(
        tapeBox,
        tapeBox.querySelector(isOther ? ".is-spot" : ".is-missed, .is-taken, .is-run"),
      );
      reveal(copyBox, copyBox.querySelector(".is-spot"));
    }
    move(before);
    shell.speak(view.now.says);
  }

  function drawTape() {
    const { layout, run, taken, uneven, flat, found, needed } = view;
    const [first, size] = spanOf(layout);
    show(tapeBox, size);
    tape.layOut(size, perRow(layout, size, room()), room());
    const reached = reach(layout).owners;
    const spot = flat === null ? null : offsetAt(layout, flat) - first;
    fit(tape.node, [String(first + size - 1)], tape.boxWidth());
    tape.draw((k) => {
      const element = first + k;
      const kind = [
        reached.has(element) ? (run.has(element) ? "is-run" : "is-reached") : "is-hole",
        taken.has(element) ? (uneven ? "is-missed" : "is-taken") : "",
        k === spot ? "is-spot" : "",
      ].join(" ");
      const owners = (reached.get(element) ?? [])
        .slice(0, 4)
        .map((at) => nameAt(layout.shape, at, "x"));
      return {
        text: String(element),
        kind,
        says: `element ${element}: ${owners.join(", ") || "not reached"}`,
      };
    }, spot);
    const apart =
      found === needed
        ? [[found, "found, needed"]]
        : [
            [found, "found"],
            [needed, "needed"],
          ];
    const notes = found === null ? [] : apart;
    const inside = notes.filter(([element]) => element >= first && element < first + size);
    fill(
      labels,
      ...inside.map(([element, text]) => {
        const [x, y] = tape.middle(element - first);
        // Words side by side would touch: shift them apart.
        const aside =
          Math.abs(found - needed) === 1 ? (element < found + needed - element ? 85 : 15) : 50;
        return [
          "span",
          { text, style: `transform:translate(${x}px,${y + 8}px) translateX(-${aside}%)` },
        ];
      }),
    );
    set(tapeHead, "text", view.caption);
  }

  function drawAfter() {
    const told = view.done && numel(view.layout) ? consequences(view.layout, view.target) : [];
    const kind = (phrase) =>
      phrase === "torch says" ? "is-torch" : phrase.startsWith('"') ? "is-decoded" : null;
    fill(
      after,
      ...terms(told.map(([phrase, meaning]) => [phrase, meaning, { class: kind(phrase) }])),
    );
    const copied = view.done && view.reason !== "";
    for (const node of [copyHead, copyBox]) show(node, copied);
    if (!copied) return;
    const { layout, target, flat } = view;
    const count = numel(layout);
    const [first, size] = spanOf(layout);
    set(
      copyHead,
      "text",
      `the storage of x.reshape(${target.join(", ")}): ${count} new elements; each number tells where its value came from`,
    );
    copy.layOut(count, perRow({ stride: [] }, count, room()), room());
    fit(copy.node, [String(first + size - 1)], copy.boxWidth());
    copy.draw((k) => {
      const from = offsetAt(layout, k);
      const says = `element ${k}: ${nameAt(target, k, "y")}, the value of element ${from}`;
      return { text: String(from), kind: `is-reached${k === flat ? " is-spot" : ""}`, says };
    }, flat);
  }

  /** After a step forward, the box that it is about comes to its place; at the end of a refusal, the copy out of its slots. */
  function move(before) {
    const { layout, at, done, reason } = view;
    if (!before || before.at === at) return;
    motion.end(); // what moves reaches out of its pane, which would look cut
    const numbersOf = (each) => [each.layout.shape, each.layout.stride, each.target].join("|");
    if (before.at > at || numbersOf(before) !== numbersOf(view)) return;
    const [box, way] = figure.moved(view);
    if (!done && box) motion.travel(figure.node, [box], [way]);
    if (!done || !reason || [tapeBox, copyBox].some(isCut)) return;
    const [first] = spanOf(layout);
    const copies = range(numel(layout)).map(copy.box);
    motion.travel(
      copyBox,
      copies,
      copies.map((box, flat) => wayFrom(tape.box(offsetAt(layout, flat) - first), box)),
    );
  }

  /** Another layout or target: restart the walk, and keep the element if possible. */
  function restart(part) {
    player.stop();
    const last = numel({ ...shell.state(), ...part }) - 1;
    shell.put({
      ...part,
      step: 0,
      flat: last < 0 ? null : Math.min(shell.state().flat ?? 0, last),
    });
  }

  function go(by) {
    player.stop();
    const step = Math.max(0, Math.min(view.at + by, view.steps.length - 1));
    if (step === view.at) draw();
    else shell.put({ step });
  }

  /** Follow an element of the storage: its next index, if it has several. */
  function pick(k) {
    const owners = reach(view.layout).owners.get(spanOf(view.layout)[0] + k);
    if (owners) shell.put({ flat: owners[(owners.indexOf(view.flat) + 1) % owners.length] });
  }

  return shell.open(fields.node, rest);
}
