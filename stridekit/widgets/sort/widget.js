// Sort: the next call lies on a card, which is dragged into one of three bins, by a mouse or a finger; or the button of a
// bin is pressed, or its letter or number.
// The state is {moves} in the model: [card, bin] for each card that was put somewhere, also where that was wrong.
// Nothing of an answer is in the page before its card was put.

import { button, createMotion, fill, h, neighbour, set, show } from "../page/dom.js";
import { createShell } from "../page/shell.js";
import { BINS, code, progress, standing, verdict } from "./game.js";

const NOTES = ["each time", "each time", "on `x`"];
const KEYS = ["v 1", "c 2", "d 3"];
const HEARD = { "": "", "✓": "Right: ", "✗": "Wrong: " };

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "sorting game",
      kind: "sk-sort",
      traits: ["_game"],
      draw,
      code: (state) => code(state, game),
      forget: () => rest(),
    },
  );
  const game = model.get("_game");
  const { cards } = game;
  const moves = () => shell.state().moves;

  const call = h("code");
  const card = h("div", { class: "sk-card", id: `${shell.id}-card` }, call);
  const again = button(
    "sort them again",
    () => {
      shell.put({ moves: [] });
      bins[0].button.focus({ preventScroll: true });
    },
    { class: "sk-button" },
  );
  const count = h("p", { class: "sk-count" });
  const said = h("span");
  const keys = h("span", { class: "sk-keys", text: ", or type v, c or d" }); // they reach the game while it has the focus
  const how = h("span", {}, "Drag the card into a bin, or press a bin", keys, ".");
  const verdictLine = h("p", { class: "sk-verdict" }, how, said);
  // A bin: its button, and the calls that lie in it; where it depends, with the tensors that are copied.
  const bins = BINS.map((name, to) => {
    const own = button(name, () => put(to), {
      class: "sk-button",
      "aria-describedby": `${shell.id}-card`,
      "aria-keyshortcuts": KEYS[to],
    });
    const list = h("ul", { "aria-label": name });
    return {
      button: own,
      list,
      node: h(
        "div",
        { class: "sk-bin" },
        own,
        h("p", { class: "sk-note", prose: NOTES[to] }),
        list,
      ),
      draw(inside, isOver) {
        set(own, "aria-disabled", String(isOver));
        fill(
          list,
          ...inside.map((k) => [
            "li",
            {},
            ["code", { text: cards[k].call }],
            ["span", { prose: cards[k].copies }],
          ]),
        );
      },
    };
  });
  const table = h(
    "div",
    { class: "sk-table", onkeydown: keyed },
    h("div", { class: "sk-pile" }, card, again, count),
    verdictLine,
    h("div", { class: "sk-bins" }, ...bins.map((bin) => bin.node)),
  );
  const head = h(
    "div",
    {},
    h(
      "p",
      { class: "sk-question" },
      h("span", { class: "sk-kicker", text: "sort" }),
      h("span", { prose: game.question }),
    ),
    h("p", { class: "sk-tried", prose: game.tried }),
  );
  const motion = createMotion(table);
  const rest = makeDraggable(card, {
    over: (...at) =>
      bins.forEach(({ node }) => set(node, "data-over", isAt(node, ...at) ? "" : null)),
    drop(...at) {
      const to = bins.findIndex(({ node }) => isAt(node, ...at));
      if (to >= 0) put(to);
    },
  });

  function draw() {
    const now = standing(cards, moves());
    const [sign, sentence] = verdict(cards, moves());
    const [next, far] = [cards[now.pile[0]], progress(cards, moves())];
    set(call, "text", next?.call ?? "");
    show(card, next);
    set(card, "data-below", String(Math.min(now.pile.length - 1, 2)));
    show(again, !next);
    set(count, "prose", far);
    show(how, !sentence);
    set(said, "prose", sentence && `${sign} ${sentence}`);
    set(verdictLine, "data-sign", sign || null);
    bins.forEach((bin, to) => bin.draw(now.bins[to], !next));
    const heard = `${HEARD[sign]}${sentence} ${far}${next ? `. Next: ${next.call}` : ""}`;
    shell.speak(heard.trim().replaceAll("`", ""));
  }

  function put(to) {
    const [next] = standing(cards, moves()).pile;
    if (next === undefined) return;
    const { list, node, button: own } = bins[to];
    const from = card.getBoundingClientRect(); // which may be under a hand
    shell.put({ moves: [...moves(), [next, to]] });
    own.focus({ preventScroll: true });
    if (cards[next].bin !== to) return motion.travel(table, [node], [[8, 0]]);
    const { x, y } = list.lastChild.getBoundingClientRect();
    motion.travel(table, [list.lastChild], [[from.x - x, from.y - y]]);
  }

  function keyed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.repeat) return event.key === "Enter" && event.preventDefault(); // one press, one card
    const buttons = bins.map((bin) => bin.button);
    const next =
      buttons.includes(event.target) &&
      neighbour(buttons, { ArrowLeft: -1, ArrowRight: 1 }[event.key]);
    const to = KEYS.findIndex((keys) => keys.split(" ").includes(event.key.toLowerCase()));
    if (to >= 0) put(to);
    else if (next) next.focus();
    else return;
    event.preventDefault();
  }

  return shell.open(head, table);
}

// Let a card follow a mouse or a finger: `over(x, y)` hears where that is, NaN once it is gone, `drop(x, y)` where it lets go.
// Returns what calls the hand off.
function makeDraggable(card, { over, drop }) {
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
    if (start) drop(clientX, clientY);
    rest();
  });
  on("pointercancel", rest);
  return rest;
}

function isAt(node, x, y) {
  const { left, right, top, bottom } = node.getBoundingClientRect();
  return left <= x && x < right && top <= y && y < bottom;
}
