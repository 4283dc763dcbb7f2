// The state of a game after its moves, and its words.

import { Refused } from "../page/layout.js";

/**
 * A card as judge.py makes it: `bin` is the number of the right bin, and `against[b]` speaks
 * against bin b.
 *
 * @typedef {object} Card
 * @property {string} call
 * @property {string} quoted
 * @property {number} bin
 * @property {string} how
 * @property {string} copies
 * @property {string[]} against
 */

/** @typedef {[card: number, bin: number]} Move */

/** @typedef {{ moves: Move[] }} State */

/**
 * The start of a game; `made` is its source, but for the last bracket.
 *
 * @typedef {{ question: string, tried: string, cards: Card[], made: string }} Game
 */

/**
 * The numbers of cards after some moves: those to sort, next first; those in each bin; those that
 * came back.
 *
 * @typedef {{ pile: number[], bins: number[][], back: number[] }} Standing
 */

export const BINS = ["view", "copy", "it depends"];

/**
 * The standing after some moves. Throws Refused for a move that cannot be made.
 *
 * @param {Card[]} cards
 * @param {Move[]} moves
 * @returns {Standing}
 */
export function standing(cards, moves) {
  const pile = cards.map((_, k) => k);
  /** @type {number[][]} */
  const bins = [[], [], []];
  /** @type {number[]} */
  const back = [];
  for (const [k, [card, bin]] of moves.entries()) {
    if (!Number.isInteger(card) || !(card in cards) || ![0, 1, 2].includes(bin))
      throw new Refused(`moves[${k}] is [${card}, ${bin}]: no card and no bin have these numbers`);
    if (!pile.includes(card))
      throw new Refused(`moves[${k}]: ${cards[card].call} is in its bin already`);
    pile.splice(pile.indexOf(card), 1);
    if (cards[card].bin === bin) {
      bins[bin].push(card);
    } else {
      pile.push(card);
      if (!back.includes(card)) back.push(card);
    }
  }
  return { pile, bins, back };
}

/**
 * A sign and a sentence on the last move; both are "" before the first.
 *
 * @param {Card[]} cards
 * @param {Move[]} moves
 * @returns {[sign: "" | "✓" | "✗", sentence: string]}
 */
export function verdict(cards, moves) {
  const move = moves.at(-1);
  if (!move) return ["", ""];
  const [card, bin] = move;
  const { call, bin: right, how, against } = cards[card];
  if (bin === right) return ["✓", `\`${call}\` ${how}.`];
  return ["✗", `\`${call}\` ${against[bin]}. It goes back under the pile.`];
}

/** How far the game is; at its end, the calls to look at again. */
export function progress(cards, moves) {
  const { pile, back } = standing(cards, moves);
  const count = cards.length;
  if (pile.length) return `${count - pile.length} of ${count} sorted`;
  const sorted = `All ${count} sorted, ${count - back.length} at the first try`;
  if (!back.length) return `${sorted}.`;
  const calls = back.map((card) => `\`${cards[card].call}\``);
  return `${sorted}. Look again at ${calls.join(", ")}.`;
}

/**
 * The source of a game as it stands.
 *
 * @param {State} state
 * @param {Game} game
 */
export function code({ moves }, { made, cards }) {
  if (!moves.length) return `${made})`;
  const pairs = moves.map(([card, bin]) => `(${cards[card].quoted}, '${BINS[bin]}')`);
  return `${made}, moves=[${pairs.join(", ")}])`;
}

/** The lines of the repr. */
export function told({ moves }, { question, tried, cards }) {
  const { pile, bins } = standing(cards, moves);
  const lines = [`Sort: ${question}`, tried];
  const addRow = (name, row) => {
    const calls = row.map((card) => cards[card].call);
    if (calls.length) lines.push(`${name}: ${calls.join(" | ")}`);
  };
  addRow("to sort", pile);
  BINS.forEach((name, b) => {
    addRow(name, bins[b]);
  });
  if (moves.length) lines.push(verdict(cards, moves).join(" "), progress(cards, moves));
  return lines;
}
