// AliasExplorer: x, y and z painted on their storages, and a line to type on.
// The state in the model is {shape, steps}, and {names} if they are not x, y and z, from which the session follows. What is pointed at, the line that awaits
// confirmation, and the reason of a refusal belong to this view.

import {
  button,
  createMotion,
  fill,
  h,
  isCut,
  OWN_KEYS,
  reveal,
  set,
  show,
  wayFrom,
} from "../page/dom.js";
import { tried } from "../page/layout.js";
import { createChips, createLine } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { createOwned, createTapes, whoReaches } from "./panes.js";
import { code, elementsOf, facts, NAMES, namesOf, relations, run, sessionOf } from "./session.js";

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
const WIDE = 700; // from here on, the picture is as high as a screen at most
const SIGNS = { same: "=", inside: "⊂", around: "⊃", some: "∩", none: "∅", overlap: "×" };

export function render(view) {
  const shell = createShell(view, {
    label: "alias explorer",
    kind: "sk-aliases",
    draw,
    code,
    facts,
  });
  const { id } = shell;
  const own = { hover: null, spot: null, why: "", pending: null };
  const { names: called = NAMES } = shell.state();
  const inNames = (text) => text.replace(/\b[xyz]\b/g, (name) => called[NAMES.indexOf(name)]);
  let [state, shown] = [null, null];

  const { input, nodes } = createLine(`${id}-line`, "run a line", "run", type, {
    "aria-describedby": `${id}-why`,
    placeholder: inNames("y = x[1:, ::2]"),
  });
  const form = h("div", { class: "sk-line" }, ...nodes);
  const examples = createChips("lines to run", type);
  examples.draw(EXAMPLES.map(inNames).map((text) => ({ text, value: text })));
  const why = h("p", { class: "sk-why", id: `${id}-why`, role: "alert" });
  const warning = h("p");
  const yes = button("write all the same", () => accept(own.pending.text), { class: "sk-button" });
  const no = button(
    "leave it",
    () => {
      own.pending = null;
      draw();
      input.focus();
    },
    { class: "sk-button" },
  );
  const ask = h("div", { class: "sk-ask", role: "alert" }, warning, h("div", {}, yes, no));
  const hand = {
    onMove(place) {
      Object.assign(own, { spot: place, hover: null });
      draw();
      for (const { node } of [owned, tapes])
        reveal(
          node,
          node.querySelector(":focus [aria-selected=true]") ?? node.querySelector(".is-spot"),
        );
    },
    onHover(place) {
      own.hover = place;
      draw();
    },
  };
  const [owned, tapes] = [createOwned(id, called, hand), createTapes(id, hand)];
  const news = h("p", { class: "sk-news" });
  const message = h("div", { class: "sk-message" }, news, why, ask);
  const pointed = h("span");
  const keys = h("span", { class: "sk-keys", text: ", or walk there with the arrow keys" }); // while boxes have the focus
  const idle = h("span", {}, "Point at a box", keys, ".");
  const readout = h("p", { class: "sk-readout" }, pointed, idle);
  const pairs = h("ul", { class: "sk-verdicts", "aria-label": "who shares with whom" });
  const log = h("ol", { class: "sk-log", "aria-label": "log", tabindex: "0", ...OWN_KEYS }); // it scrolls
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

  const motion = createMotion(rest);

  function draw() {
    const before = state;
    state = shell.state();
    const isNew = !before || JSON.stringify(before) !== JSON.stringify(state);
    if (isNew) {
      const session = sessionOf(state);
      shown = { session, owners: ownersOf(session), relations: relations(session) };
      const isThere = own.spot?.element < session.tapes[own.spot?.tape]?.length;
      Object.assign(own, { why: "", pending: null, hover: null, spot: isThere ? own.spot : null });
    }
    const { session } = shown;
    set(rest, "data-wide", shell.width < WIDE ? null : "");
    const view = { ...shown, pointed: own.hover ?? own.spot, spot: own.spot };
    owned.draw(view, shell.width);
    tapes.draw(view, shell.width);
    set(why, "text", own.why);
    show(ask, own.pending);
    set(warning, "text", own.pending ? `${own.pending.text} — ${own.pending.warning}.` : "");
    const { text: ran, kind: what, sentence: told } = session.log.at(-1) ?? {};
    const last = ran
      ? `${ran} — ${what === "write" ? "" : `${what}: `}${told}.`
      : `Nothing has been run yet: ${called[0]} is alone.`;
    const { tape, element } = view.pointed ?? {};
    const where =
      session.tapes.length > 1 ? `element ${element} of storage ${tape + 1}` : `element ${element}`;
    const place =
      view.pointed &&
      `${where} holds ${session.tapes[tape][element]}: ${whoReaches(session, shown.owners[tape][element])}`;
    set(news, "text", last);
    show(news, !own.why && !own.pending);
    set(pointed, "text", place ?? "");
    show(idle, !place);
    set(readout, "data-idle", place ? null : "");
    fill(
      pairs,
      ...shown.relations.map(({ kind, text }) => [
        "li",
        { text: `${SIGNS[kind]} ${text}`, "data-good": kind === "overlap" ? "false" : null },
      ]),
    );
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
    if (isNew) {
      log.scrollTop = log.scrollHeight;
      const name = /\w+/.exec(ran)?.[0]; // of the newest line's tensor
      if (Object.hasOwn(session.tensors, name)) {
        reveal(owned.node, owned.node.querySelector(`.sk-card.is-${NAMES[called.indexOf(name)]}`));
        reveal(tapes.node, tapes.node.children[session.tensors[name].tape]);
      }
      move(before, session);
    }
    shell.speak(place ?? (own.why ? "" : last));
  }

  /** After one more line, the boxes that it has made come out of their slots, or those that a write to others has changed. */
  function move(before, session) {
    motion.end(); // what moves reaches out of its pane, which would look cut
    const isNext = before && String(before.steps) === String(state.steps.slice(0, -1));
    if (!isNext || [owned.node, tapes.node].some(isCut)) return;
    const { text, kind } = session.log.at(-1);
    const [name] = /\w+/.exec(text);
    const touched = session.touched.map(String);
    const others = namesOf(session).filter((other) => other !== name);
    const boxes =
      kind === "write"
        ? others.flatMap(owned.boxesOf).filter(([, ...place]) => touched.includes(String(place)))
        : owned.boxesOf(name);
    motion.travel(
      owned.node,
      boxes.map(([box]) => box),
      boxes.map(([box, ...place]) => wayFrom(tapes.boxOf(...place), box)),
    );
  }

  function type(text) {
    Object.assign(own, { why: "", pending: null, spot: null });
    const [session, why] = tried(() => run(shown.session, text));
    const line = session?.log.at(-1);
    if (line && !line.warning) return accept(line.text);
    Object.assign(own, { pending: line ?? null, why });
    draw();
  }

  function accept(text) {
    const asked = yes.contains(document.activeElement);
    input.value = "";
    Object.assign(own, { why: "", pending: null, spot: null });
    shell.put({ steps: [...state.steps, text] });
    if (asked) input.focus(); // the focused button is gone
  }

  return shell.open(form, rest);
}

/** For each element of each storage: the names and flat indices that reach it, in the order of names. */
function ownersOf(session) {
  const owners = session.tapes.map((values) => values.map(() => []));
  for (const name of namesOf(session)) {
    const tensor = session.tensors[name];
    elementsOf(tensor).forEach((element, flat) =>
      owners[tensor.tape][element].push({ name, flat }),
    );
  }
  return owners;
}
