// The game from its moves, and its words. A card is as judge.py makes it: `bin` is the number of the right bin, and `against[b]`
// speaks against bin b.

import { Refused } from "../page/layout.js";

export const BINS = ["view", "copy", "it depends"];

// The numbers of cards after some moves [card, bin]: those to sort, next first; those in each bin; those that came back.
// Throws Refused for a move that cannot be made.
export function standing(cards, moves) {
  const [pile, bins, back] = [cards.map((_, k) => k), [[], [], []], []];
  for (const [k, [card, to]] of moves.entries()) {
    if (!Number.isInteger(card) || !(card in cards) || ![0, 1, 2].includes(to))
      throw new Refused(`moves[${k}] is [${card}, ${to}]: no card and no bin have these numbers`);
    if (!pile.includes(card))
      throw new Refused(`moves[${k}]: ${cards[card].call} is in its bin already`);
    const right = cards[card].bin === to;
    pile.splice(pile.indexOf(card), 1);
    (right ? bins[to] : pile).push(card);
    if (!right && !back.includes(card)) back.push(card);
  }
  return { pile, bins, back };
}

/** A sign and a sentence on the last move; both are "" before the first. */
export function verdict(cards, moves) {
  if (!moves.length) return ["", ""];
  const [card, to] = moves.at(-1);
  const { call, bin, how, against } = cards[card];
  return bin === to
    ? ["✓", `\`${call}\` ${how}.`]
    : ["✗", `\`${call}\` ${against[to]}. It goes back under the pile.`];
}

/** How far the game is; at its end, what to look at again. */
export function progress(cards, moves) {
  const { pile, back } = standing(cards, moves);
  if (pile.length) return `${cards.length - pile.length} of ${cards.length} sorted`;
  const look = back.length
    ? `. Look again at ${back.map((card) => `\`${cards[card].call}\``).join(", ")}`
    : "";
  return `All ${cards.length} sorted, ${cards.length - back.length} at the first try${look}.`;
}

/** The source of a game as it stands; `made` is that of a new one, but for its last bracket. */
export function code({ moves }, { made, cards }) {
  const pairs = moves.map(([card, to]) => `(${cards[card].quoted}, '${BINS[to]}')`);
  return pairs.length ? `${made}, moves=[${pairs.join(", ")}])` : `${made})`;
}

export function told({ moves }, { question, tried, cards }) {
  const { pile, bins } = standing(cards, moves);
  const rows = [["to sort", pile], ...BINS.map((name, b) => [name, bins[b]])].filter(
    ([, row]) => row.length,
  );
  return [
    `Sort: ${question}`,
    tried,
    ...rows.map(([name, row]) => `${name}: ${row.map((card) => cards[card].call).join(" | ")}`),
    ...(moves.length ? [verdict(cards, moves).join(" "), progress(cards, moves)] : []),
  ];
}
