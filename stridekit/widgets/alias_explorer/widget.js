// AliasExplorer: x, y and z painted on their storages, and a line to type on. session.js describes
// the state.

/** @import { View } from "../page/shell.js" */
/** @import { Owner, Spot } from "./panes.js" */
/** @import { Entry, Session, State } from "./session.js" */

import { button, fill, h, isCut, OWN_KEYS, reveal, set, show } from "../page/dom.js";
import { same, tried } from "../page/layout.js";
import { wayFrom } from "../page/motion.js";
import { createChips, createLine } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { createOwned, createTapes, ownerNames } from "./panes.js";
import {
  code,
  effectOf,
  elementsOf,
  facts,
  NAMES,
  namesOf,
  relations,
  run,
  sessionOf,
} from "./session.js";

const PADDING = 5; // px below what a pane holds: to cut these off hides nothing
const EXAMPLES = [
  "y = x[1:, ::2]",
  "z = y.reshape(-1)",
  "z = x.t().flatten()",
  "y = x[:1].expand(3, -1)",
  "z = x[0].unfold(0, 3, 1)",
  "y += 100",
  "z = y + 1",
  "y[0] = 7",
  "z.add_(100)",
  "x[1:] += x[:-1]",
];
const SIGNS = { same: "=", inside: "⊂", around: "⊃", some: "∩", none: "∅", overlap: "×" };

/** @param {View} view */
export function render(view) {
  const shell = createShell(view, {
    label: "alias explorer",
    kind: "sk-aliases",
    draw,
    code,
    moves: true,
    facts,
  });
  const { id, motion } = shell;
  const { names: called = NAMES } = /** @type {State} */ (shell.state());
  const inNames = (text) => text.replace(/\b[xyz]\b/g, (name) => called[NAMES.indexOf(name)]);

  // The state on screen, and what follows from it
  /** @type {State | null} */
  let state = null;
  /** @type {Session} */
  let session;
  /** @type {Owner[][][]} */
  let owners;
  /** @type {ReturnType<typeof relations>} */
  let shownRelations;

  // The state of this view: boxes that are pointed at, the line that awaits confirmation, and the
  // reason of a refusal
  /** @type {Spot | null} */
  let hovered = null;
  /** @type {Spot | null} */
  let spot = null;
  /** @type {Entry | null} */
  let pending = null;
  let refusal = "";

  // The panes

  const { input, nodes } = createLine(`${id}-line`, "run a line", "run", type, {
    "aria-describedby": `${id}-why`,
    placeholder: inNames("y = x[1:, ::2]"),
  });
  const form = h("div", { class: "sk-line" }, ...nodes);
  const examples = createChips("lines to run", type);
  examples.draw(EXAMPLES.map(inNames).map((text) => ({ text, value: text })));
  const why = h("p", { class: "sk-why", id: `${id}-why`, role: "alert" });
  const warning = h("p");
  const yes = button("write all the same", confirm, { class: "sk-button" });
  const no = button("leave it", decline, { class: "sk-button" });
  const ask = h("div", { class: "sk-ask", role: "alert" }, warning, h("div", {}, yes, no));
  const hand = { onMove: pointAt, onHover: hover };
  const owned = createOwned(id, called, hand);
  const tapes = createTapes(id, hand);
  const news = h("p", { class: "sk-idea sk-news" });
  const message = h("div", { class: "sk-message" }, news, why, ask);
  const pointed = h("span");
  // These words show while boxes have the focus.
  const keys = h("span", { class: "sk-keys", text: ", or walk there with the arrow keys" });
  const idle = h("span", {}, "Point at a box", keys, ".");
  const readout = h("p", { class: "sk-readout" }, pointed, idle);
  const pairs = h("ul", { class: "sk-verdicts", "aria-label": "who shares with whom" });
  // The log scrolls, so keys have to reach it.
  const log = h("ol", { class: "sk-log", "aria-label": "log", tabindex: "0", ...OWN_KEYS });
  const foot = h("div", { class: "sk-foot" }, log, pairs);
  const rest = h(
    "div",
    { class: "sk-bounded" },
    examples.node,
    message,
    owned.node,
    readout,
    tapes.node,
    foot,
  );

  // Drawing

  function draw() {
    const before = state;
    state = /** @type {State} */ (shell.state());
    const isNew = !before || JSON.stringify(before) !== JSON.stringify(state);
    if (isNew) take(state);
    const paneView = { session, owners, pointed: hovered ?? spot, spot };
    owned.draw(paneView, shell.width);
    tapes.draw(paneView, shell.width);
    const place = paneView.pointed ? placeOf(paneView.pointed) : "";
    const lastLine = describeLast();
    drawMessage(lastLine);
    drawReadout(place);
    drawPairs();
    drawLog();
    if (isNew) {
      showNewest();
      move(before, state);
    }
    const lastWords = place || (refusal ? "" : lastLine);
    shell.speak(isNew ? lastLine : lastWords);
  }

  /** Run the lines of another state; a spot that still exists stays. */
  function take(newState) {
    session = sessionOf(newState);
    owners = ownersOf(session);
    shownRelations = relations(session);
    const isThere = spot !== null && spot.element < session.tapes[spot.tape]?.length;
    if (!isThere) spot = null;
    refusal = "";
    pending = null;
    hovered = null;
  }

  function placeOf({ tape, element }) {
    const storage = session.tapes.length > 1 ? ` of storage ${tape + 1}` : "";
    const value = session.tapes[tape][element];
    return `element ${element}${storage} holds ${value}: ${ownerNames(session, owners[tape][element])}`;
  }

  function describeLast() {
    const entry = session.log.at(-1);
    if (!entry) return `Nothing has been run yet: ${called[0]} is alone.`;
    return `${entry.text} — ${effectOf(entry)}.`;
  }

  function drawMessage(lastLine) {
    set(why, "text", refusal);
    show(ask, pending);
    set(warning, "text", pending ? `${pending.text} — ${pending.warning}.` : "");
    set(news, "text", lastLine);
    show(news, !refusal && !pending);
  }

  function drawReadout(place) {
    set(pointed, "text", place);
    show(idle, !place);
    set(readout, "data-idle", place ? null : "");
  }

  function drawPairs() {
    fill(
      pairs,
      ...shownRelations.map(({ kind, text }) => [
        "li",
        { text: `${SIGNS[kind]} ${text}`, "data-good": kind === "overlap" ? "false" : null },
      ]),
    );
  }

  function drawLog() {
    fill(
      log,
      ...session.log.map(({ text, kind, sentence }) => [
        "li",
        {},
        [
          "div",
          {},
          ["code", { text }],
          ["span", { class: "sk-kind", text: kind, "data-kind": kind }],
          ["span", { class: "sk-said", text: sentence }],
        ],
      ]),
    );
  }

  /** The name with which a line begins: its tensor. */
  const nameIn = (text) => /\w+/.exec(text)?.[0] ?? "";

  /** Scroll to the newest line, and to its tensor. */
  function showNewest() {
    log.scrollTop = log.scrollHeight;
    const name = nameIn(session.log.at(-1)?.text ?? "");
    if (!Object.hasOwn(session.tensors, name)) return;
    const hue = NAMES[called.indexOf(name)];
    reveal(owned.node, owned.node.querySelector(`.sk-card.is-${hue}`));
    reveal(tapes.node, tapes.node.children[session.tensors[name].tape]);
  }

  /**
   * After one more line, the boxes that it has made come out of their slots, or those that a write
   * to others has changed.
   */
  function move(before, after) {
    motion.forget();
    const entry = session.log.at(-1);
    const isNext = before && same(before.steps, after.steps.slice(0, -1));
    if (!entry || !isNext || !canMove()) return;
    motion.remember(after, () => (canMove() ? travels(entry) : null));
    motion.play();
  }

  /** What moves reaches out of its pane, which would look cut if the pane scrolled. */
  const canMove = () => !(isCut(owned.node, PADDING) || isCut(tapes.node, PADDING));

  /** @returns {import("../page/motion.js").Scene} */
  function travels(entry) {
    const moves = movedBoxes(entry).map(({ box, tape, element }) => ({
      box,
      start: wayFrom(tapes.boxOf({ tape, element }), box),
    }));
    return { layers: [owned.node], moves };
  }

  function movedBoxes({ kind, text }) {
    const name = nameIn(text);
    if (kind !== "write") return owned.boxesOf(name);
    const isTouched = ({ tape, element }) =>
      session.touched.some(([t, e]) => t === tape && e === element);
    const otherNames = namesOf(session).filter((other) => other !== name);
    return otherNames.flatMap(owned.boxesOf).filter(isTouched);
  }

  // The hand

  function pointAt(newSpot) {
    spot = newSpot;
    hovered = null;
    draw();
    for (const { node } of [owned, tapes]) {
      const active = node.querySelector(":focus [aria-selected=true]");
      reveal(node, active ?? node.querySelector(".is-spot"));
    }
  }

  function hover(newSpot) {
    hovered = newSpot;
    draw();
  }

  /** Run a line, unless it is refused, or torch would allow a write that is rarely wanted. */
  function type(text) {
    const [next, reason] = tried(() => run(session, text));
    const entry = next?.log.at(-1);
    if (entry && !entry.warning) {
      accept(entry.text);
      return;
    }
    spot = null;
    pending = entry ?? null;
    refusal = reason;
    draw();
  }

  function confirm() {
    if (pending) accept(pending.text);
  }

  function decline() {
    pending = null;
    draw();
    input.focus();
  }

  function accept(text) {
    const isAnswer = yes.matches(":focus-within");
    input.value = "";
    refusal = "";
    pending = null;
    spot = null;
    shell.put({ steps: [...shell.state().steps, text] });
    if (isAnswer) input.focus(); // the focused button is gone
  }

  return shell.open(form, rest);
}

/**
 * The owners of each element of each storage, in the order of names.
 * @param {Session} session
 */
function ownersOf(session) {
  /** @type {Owner[][][]} */
  const owners = session.tapes.map((values) => values.map(() => []));
  for (const name of namesOf(session)) {
    const tensor = session.tensors[name];
    for (const [flat, element] of elementsOf(tensor).entries())
      owners[tensor.tape][element].push({ name, flat });
  }
  return owners;
}
