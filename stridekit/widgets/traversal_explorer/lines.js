// One walk on the cache lines that it loads. Only the choice of its order takes the focus: the
// scrubber moves both walks.

/** @import { State, Visit, Walk } from "./traversal.js" */

import { boxFor, fill, fit, h, paragraphs, s, set, setAll } from "../page/dom.js";
import { CACHE_LINE, counted, dimOrder, range, reach, same, tuple } from "../page/layout.js";
import { wayFrom } from "../page/motion.js";
import { createSelect, terms } from "../page/panels.js";
import { countsOf, orderName, visitSentence, visitsOf } from "./traversal.js";

const MOST_LINES = 40; // drawn; more are counted below
const HEIGHT = 176; // of all cache lines together, so that they fit one screen
const ONE_COLUMN = 12; // up to so many cache lines the numbers in the boxes can be read
const WHOLE_SPAN = 16; // up to this span, untouched cache lines in between are drawn too
const NAME = 54; // width of the column left of the bytes
const LOADS = 52; // and of the one right of them
const BETWEEN = 16; // two columns of cache lines
const LOADED_FROM = 60; // px to the right of its place, where a line comes from
const STROKES = 26; // height of the visits' strokes

const permutations = (dims) =>
  dims.length < 2
    ? [dims]
    : dims.flatMap((d) =>
        permutations(dims.filter((other) => other !== d)).map((rest) => [d, ...rest]),
      );

/**
 * @param {string} id
 * @param {{onOrder: (order: number[]) => void}} options
 */
export function createWalkPane(id, { onOrder }) {
  const name = h("strong");
  const numbers = h("span", { class: "sk-numbers" });
  const loops = createSelect(`${id}-order`, "loops", [], (k) => onOrder(orders[k]));
  const stats = h("dl", { class: "sk-stats" });
  const list = h("ol", { class: "sk-lines" });
  const [rest, sentence] = paragraphs("sk-note", "sk-sentence");
  const strokes = s("svg", { class: "sk-strokes", "aria-hidden": "true", height: String(STROKES) });
  const node = h(
    "div",
    { class: "sk-walk", role: "group" },
    h("div", { class: "sk-walk-head" }, name, numbers),
    loops.node,
    stats,
    strokes,
    sentence,
    list,
    rest,
  );

  /** @type {number[][]} */
  let orders = [];
  /** @type {Visit[]} */
  let visited = []; // up to the one on screen

  /**
   * Draw a walk in a width; returns its costs so far, and a sentence on the last visit.
   * @param {Walk} walk
   * @param {State} state
   * @param {number} width
   */
  function draw(walk, { visit, cache_lines, alignment }, width) {
    const visits = visitsOf(walk, cache_lines, alignment);
    visited = visits.slice(0, visit);
    const counts = countsOf(visits, walk.itemsize, visit);
    const words = visitSentence(walk, visits, visit);
    set(node, "aria-label", `${walk.name}, ${orderName(walk.order)}`);
    set(name, "text", walk.name);
    set(numbers, "text", `shape ${tuple(walk.shape)}, stride ${tuple(walk.stride)}`);
    drawOrders(walk);
    drawStats(counts);
    drawLines(walk, visits, alignment, width);
    drawStrokes(visits, visited.length, width);
    set(sentence, "text", words);
    set(sentence, "data-hit", visited.length ? String(visited[visited.length - 1].hit) : null);
    return { counts, words };
  }

  function drawOrders(walk) {
    const torchOrder = dimOrder(walk);
    orders = permutations(range(walk.shape.length));
    const options = orders.map((order) => {
      const note = same(order, torchOrder) ? " · torch's order" : "";
      return ["option", { text: orderName(order) + note }];
    });
    fill(loops.select, ...options);
    loops.select.selectedIndex = orders.findIndex((order) => same(order, walk.order));
    loops.select.disabled = orders.length < 2;
  }

  function drawStats({ visits, misses, lines, bytes_used, bytes_loaded }) {
    const rows = terms([
      ["visits", visits],
      ["lines loaded", misses, { "data-many": misses > lines ? "true" : null }],
      ["would do", lines],
      ["bytes used / loaded", `${bytes_used} / ${bytes_loaded}`],
    ]);
    fill(stats, ...rows);
  }

  /** A stroke for each visit: tall ones are misses, short ones hits, and dots are still to come. */
  function drawStrokes(visits, count, width) {
    const step = width / Math.max(visits.length, 1);
    const paths = { rest: "", misses: "", hits: "" };
    for (const [k, { hit }] of visits.entries()) {
      const x = (step * (k + 0.5)).toFixed(1);
      const stroke = (height) => `M${x},${STROKES - 2}v-${height}`;
      if (k >= count) paths.rest += stroke(2);
      else if (hit) paths.hits += stroke(6);
      else paths.misses += stroke(STROKES - 4);
    }
    const thickness = Math.max(1, Math.min(step - 1, 7));
    setAll(strokes, { width: String(width), style: `--thick:${thickness}px` });
    fill(
      strokes,
      ...Object.entries(paths).map(([part, d]) => ["path", { class: `sk-${part}`, d }]),
    );
  }

  /**
   * @param {Walk} walk
   * @param {Visit[]} visits
   * @param {number} alignment
   * @param {number} width
   */
  function drawLines(walk, visits, alignment, width) {
    const wanted = linesToShow(visits);
    const lines = wanted.slice(0, MOST_LINES);
    const hidden = wanted.length - lines.length;
    const columns = lines.length > ONE_COLUMN && width >= 380 ? 2 : 1;
    const rows = Math.ceil(lines.length / columns);
    const height = Math.max(12, Math.min(26, Math.floor(HEIGHT / rows)));
    const columnWidth = Math.floor((width - (columns - 1) * BETWEEN) / columns);
    const boxWidth = ((columnWidth - NAME - LOADS) / CACHE_LINE) * walk.itemsize;
    const isWritten = boxWidth >= 14 && height >= 14;

    const boxes = boxesOf(walk, alignment).filter(({ line }) => lines.includes(line));
    set(rest, "text", hidden ? `and ${counted(hidden, "more line")}` : "");
    set(list, "class", boxWidth < 10 ? "sk-lines is-narrow" : "sk-lines");
    set(list, "style", `--row:${height}px;--down:${rows};--name:${NAME}px;--loads:${LOADS}px`);
    const texts = boxes.map(({ element }) => String(element));
    fit(list, texts, Math.min(boxWidth, widthFor(texts, height)));
    const boxNode = boxNodes(walk, visited, isWritten);
    const cached = visited.at(-1)?.cached ?? [];
    const items = lines.map((line) => {
      const nodes = boxes.filter((box) => box.line === line).map(boxNode);
      if (line === 0 && alignment) nodes.push(paddingNode(alignment));
      const loads = visited.filter((visit) => visit.line === line && !visit.hit).length;
      return lineItem(line, nodes, loads, cached.includes(line));
    });
    fill(list, ...items);
  }

  /** What moves in the last visit: the line that is loaded, and the frame around the element. */
  function moves() {
    const [before, last] = [visited.at(-2), visited.at(-1)];
    const here = list.querySelector(".is-here");
    if (!here || !last) return []; // it may be one of the lines that are not drawn
    const moves = [];
    const box = here.closest(".sk-bytes");
    if (box && !last.hit)
      moves.push({ box, start: [LOADED_FROM, 0], turn: 0, isNew: true, isStraight: true });
    const origin = before && list.querySelector(`[data-element="${before.element}"]`);
    if (origin && origin !== here)
      moves.push({ box: here, start: wayFrom(origin, here), turn: 1, part: "::after" });
    return moves;
  }

  return { node, draw, moves };
}

/** All cache lines from the first to the last if they are few, else the touched ones. */
export function linesToShow(visits) {
  const touched = [...new Set(visits.map(({ line }) => line))].sort((a, b) => a - b);
  if (!touched.length) return [];
  const first = touched[0];
  const span = touched[touched.length - 1] - first + 1;
  return span <= WHOLE_SPAN ? range(span).map((k) => first + k) : touched;
}

/**
 * The elements of a walk, the last one first: the first index that reads each, and its place in
 * memory.
 */
export function boxesOf(walk, alignment) {
  const { owners } = reach(walk);
  return [...owners].reverse().map(([element, [flat]]) => {
    const byte = alignment + element * walk.itemsize;
    return { element, flat, line: Math.floor(byte / CACHE_LINE), byte: byte % CACHE_LINE };
  });
}

/** The width in px of boxes whose texts are as small as a row of this height needs them. */
export function widthFor(texts, height) {
  const longest = Math.max(1, ...texts.map((text) => text.length));
  if (height >= 20) return Infinity;
  return boxFor(longest, height >= 17 ? 11 : 9);
}

const placeOf = (byte, size) =>
  `left:${(byte / CACHE_LINE) * 100}%;width:${(size / CACHE_LINE) * 100}%`;

/**
 * A function that makes the boxes of elements: those that have been visited have the tint of their
 * row.
 */
function boxNodes({ shape, itemsize }, visited, isWritten) {
  const rowSize = shape.at(-1) ?? 1;
  const seen = new Set(visited.map(({ element }) => element));
  const last = visited.at(-1)?.element;

  function tintOf(element, flat) {
    if (!seen.has(element)) return "";
    const tint = ` sk-r${Math.floor(flat / rowSize) % 6}`;
    return element === last ? `${tint} is-here` : tint;
  }

  return ({ element, flat, byte }) => [
    "span",
    {
      class: `sk-byte-box${tintOf(element, flat)}`,
      "data-element": String(element),
      style: placeOf(byte, itemsize),
    },
    ["span", { text: isWritten ? String(element) : "" }],
  ];
}

/** @returns {any[]} */
const paddingNode = (alignment) => [
  "span",
  { class: "sk-before", style: placeOf(0, alignment), title: "before the storage" },
];

/** A cache line with its boxes, how often it was loaded, and whether the cache has it. */
function lineItem(line, boxNodes, loads, isHeld) {
  const state = isHeld ? ", in the cache" : "";
  const label = `cache line ${line}: loaded ${counted(loads, "time")}${state}`;
  /** @type {{mark: string, attribute: string | null}} */
  let held = { mark: "", attribute: null };
  if (isHeld) held = { mark: "●", attribute: "in" };
  else if (loads) held = { mark: "○", attribute: "out" };
  return [
    "li",
    { "data-held": held.attribute, "aria-label": label },
    ["span", { class: "sk-line-name", text: `line ${line}` }],
    ["span", { class: "sk-bytes" }, ...boxNodes],
    ["span", { class: "sk-loads", text: `×${loads}`, "data-many": loads > 1 ? "true" : null }],
    ["span", { class: "sk-held", text: held.mark }],
  ];
}
