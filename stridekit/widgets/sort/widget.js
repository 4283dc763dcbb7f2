// Sort: the next call lies on a card, which is dragged into one of three bins by a mouse or a
// finger. The button of a bin does the same, and so does its letter or its number. The state is
// {moves} in the model: [card, bin] for each card that was put into a bin, also a wrong one.
// Nothing of an answer is in the page before its card was put.

import { button, fill, h, neighbour, scaleOf, set, show } from "../page/dom.js";
import { createShell } from "../page/shell.js";
import { BINS, code, progress, standing, verdict } from "./game.js";

/** @import { Card, Game, Move } from "./game.js" */

const NOTES = ["each time", "each time", "on `x`"];
const KEYS = ["v 1", "c 2", "d 3"];
const SPOKEN = { "": "", "✓": "Right: ", "✗": "Wrong: " };

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "sorting game",
      kind: "sk-sort",
      traits: ["_game"],
      draw,
      code: (state) => code(state, game),
      reads: "x is your tensor",
      moves: true,
      forget: () => release(),
    },
  );
  /** @type {Game} */
  const game = model.get("_game");
  const { cards } = game;
  const { motion } = shell;
  /** @returns {Move[]} */
  const moves = () => shell.state().moves;

  const call = h("code");
  const card = h("div", { class: "sk-card", id: `${shell.id}-card` }, call);
  const again = button("sort them again", restart, { class: "sk-button" });
  const count = h("p", { class: "sk-count" });
  const said = h("span");
  // The keys reach the game only while it has the focus.
  const keys = h("span", { class: "sk-keys", text: ", or type v, c or d" });
  const how = h("span", {}, "Drag the card into a bin, or press a bin", keys, ".");
  const verdictLine = h("p", { class: "sk-verdict" }, how, said);
  const bins = BINS.map((_, b) => createBin(b, card.id, cards, () => put(b)));
  const pile = h("div", { class: "sk-pile" }, card, again, count);
  const table = h(
    "div",
    { class: "sk-table", onkeydown: press },
    pile,
    verdictLine,
    h("div", { class: "sk-bins" }, ...bins.map((bin) => bin.node)),
  );
  const question = h(
    "p",
    { class: "sk-question" },
    h("span", { class: "sk-kicker", text: "sort" }),
    h("span", { prose: game.question }),
  );
  const head = h("div", {}, question, h("p", { class: "sk-tried", prose: game.tried }));
  const release = makeDraggable(card, {
    over(x, y) {
      for (const { node } of bins) set(node, "data-over", isAt(node, x, y) ? "" : null);
    },
    drop(x, y) {
      const b = bins.findIndex(({ node }) => isAt(node, x, y));
      if (b >= 0) put(b);
    },
  });

  let drawnMoves = "";

  function draw() {
    if (drawnMoves !== String(moves())) motion.forget();
    drawnMoves = String(moves());
    const { pile: waiting, bins: sorted } = standing(cards, moves());
    const [sign, sentence] = verdict(cards, moves());
    const distance = progress(cards, moves());
    /** @type {Card | undefined} */
    const next = cards[waiting[0]];
    set(call, "text", next?.call ?? "");
    show(card, next !== undefined);
    set(card, "data-below", String(Math.min(waiting.length - 1, 2)));
    show(again, next === undefined);
    set(count, "prose", distance);
    show(how, !sentence);
    set(said, "prose", sentence && `${sign} ${sentence}`);
    set(verdictLine, "data-sign", sign || null);
    bins.forEach((bin, b) => {
      bin.draw(sorted[b], next === undefined);
    });
    const nextCall = next ? `. Next: ${next.call}` : "";
    const spoken = `${SPOKEN[sign]}${sentence} ${distance}${nextCall}`;
    shell.speak(spoken.trim().replaceAll("`", ""));
  }

  /** Put the next card into a bin: it travels there, or shakes the bin if that is wrong. */
  function put(b) {
    const [next] = standing(cards, moves()).pile;
    if (next === undefined) return;
    const bin = bins[b];
    const held = card.getBoundingClientRect(); // the card may be under a hand
    shell.put({ moves: [...moves(), [next, b]] });
    bin.button.focus({ preventScroll: true });
    const key = drawnMoves;
    if (cards[next].bin !== b) {
      motion.remember(key, () => ({ layers: [table], moves: [{ box: bin.node, start: [8, 0] }] }));
      motion.play();
      return;
    }
    motion.remember(key, () => travelsFrom(held, bin));
    motion.play();
    motion.remember(key, () => travelsFrom(pile.getBoundingClientRect(), bin));
  }

  /** The last card of a bin travels from a place in the window. */
  function travelsFrom({ x, y }, { list }) {
    const item = list.lastElementChild;
    if (!item) return null;
    const end = item.getBoundingClientRect();
    const scale = scaleOf(item);
    const start = [(x - end.x) / scale, (y - end.y) / scale];
    return { layers: [table], moves: [{ box: item, start }] };
  }

  function restart() {
    shell.put({ moves: [] });
    bins[0].button.focus({ preventScroll: true });
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.repeat) {
      if (event.key === "Enter") event.preventDefault(); // one press, one card
      return;
    }
    const b = KEYS.findIndex((names) => names.split(" ").includes(event.key.toLowerCase()));
    const next = neighbourOf(event.target, event.key);
    if (b >= 0) put(b);
    else if (next) next.focus();
    else return;
    event.preventDefault();
  }

  /** The button that an arrow key leads to from the button of a bin. */
  function neighbourOf(target, key) {
    const buttons = bins.map((bin) => bin.button);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    return buttons.includes(target) ? neighbour(buttons, step) : undefined;
  }

  return shell.open(head, table);
}

/**
 * A bin: its button, and the calls that lie in it; in the third bin, with the tensors that are
 * copied.
 *
 * @param {number} b
 * @param {string} cardId
 * @param {Card[]} cards
 * @param {() => void} onPress
 */
function createBin(b, cardId, cards, onPress) {
  const binButton = button(BINS[b], onPress, {
    class: "sk-button",
    "aria-describedby": cardId,
    "aria-keyshortcuts": KEYS[b],
  });
  const list = h("ul", { "aria-label": BINS[b] });
  const note = h("p", { class: "sk-note", prose: NOTES[b] });

  /**
   * @param {number[]} inside
   * @param {boolean} isOver
   */
  function draw(inside, isOver) {
    set(binButton, "aria-disabled", String(isOver));
    const items = inside.map((k) => [
      "li",
      {},
      ["code", { text: cards[k].call }],
      ["span", { prose: cards[k].copies }],
    ]);
    fill(list, ...items);
  }

  const node = h("div", { class: "sk-bin" }, binButton, note, list);
  return { button: binButton, list, node, draw };
}

/**
 * Let a card follow a mouse or a finger. `over(x, y)` receives the place of the pointer, and NaN
 * once it is gone; `drop(x, y)` receives the place where the card is dropped. Returns a function
 * that takes the card from the hand.
 *
 * @param {HTMLElement} card
 * @param {{ over: (x: number, y: number) => void, drop: (x: number, y: number) => void }} reactions
 */
function makeDraggable(card, { over, drop }) {
  /** @type {{ x: number, y: number } | null} */
  let start = null; // where the pointer was pressed

  function release() {
    start = null;
    delete card.dataset.held;
    card.style.translate = "";
    over(NaN, NaN);
  }

  card.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    card.setPointerCapture(event.pointerId);
    card.dataset.held = "";
    start = { x: event.clientX, y: event.clientY };
  });
  card.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (!start) return;
    const scale = scaleOf(card);
    const [x, y] = [clientX - start.x, clientY - start.y];
    card.style.translate = `${x / scale}px ${y / scale}px`;
    over(clientX, clientY);
  });
  card.addEventListener("pointerup", ({ clientX, clientY }) => {
    if (start) drop(clientX, clientY);
    release();
  });
  card.addEventListener("pointercancel", release);
  return release;
}

function isAt(node, x, y) {
  const { left, right, top, bottom } = node.getBoundingClientRect();
  return left <= x && x < right && top <= y && y < bottom;
}
