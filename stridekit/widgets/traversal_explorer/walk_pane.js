// One walk on the cache lines that it loads: a row for each line, a box for each element, the costs so far, and a
// stroke for each visit. Only the choice of the order takes the focus: the scrubber above moves both walks, and the
// sentence describes the visit.

import { CACHE_LINE, counted, dimOrder, range, reach, tuple } from "../page/layout.js";
import { fill, fit, h, paragraphs, s, set, setAll } from "../page/dom.js";
import { createSelect, terms } from "../page/panels.js";
import { cachedLines, countsOf, orderName, visitSentence, visitsOf } from "./traversal.js";

const MOST_LINES = 40; // drawn; more are counted below
const HEIGHT = 240; // of all lines together, so that they fit one screen
const ONE_COLUMN = 12; // up to so many lines the numbers in the boxes can be read
const WHOLE_SPAN = 16; // up to this span, untouched lines in between are drawn too
const NAME = 54; // width of the column left of the bytes
const LOADS = 52; // and of the one right of them
const BETWEEN = 16; // two columns of lines
const STROKES = 26; // height of the visits' strokes

const permutations = (dims) => (dims.length < 2 ? [dims]
  : dims.flatMap((d) => permutations(dims.filter((other) => other !== d)).map((rest) => [d, ...rest])));

export function createWalkPane(id, { onOrder }) {
  const [name, numbers] = [h("strong"), h("span", { class: "sk-numbers" })];
  const loops = createSelect(`${id}-order`, "loops", [], (k) => onOrder(options[k]));
  const order = loops.select;
  const stats = h("dl", { class: "sk-stats" });
  const list = h("ol", { class: "sk-lines" });
  const [more, sentence] = paragraphs("sk-note", "sk-sentence");
  const strokes = s("svg", { class: "sk-strokes", "aria-hidden": "true", height: String(STROKES) });
  const node = h("div", { class: "sk-walk", role: "group" },
    h("div", { class: "sk-walk-head" }, name, numbers), loops.node,
    stats, strokes, sentence, list, more);

  let options = [];

  function draw(walk, { visit, cache_lines, alignment }, width) {
    const visits = visitsOf(walk, cache_lines, alignment);
    const upto = Math.min(visit, visits.length);
    const counts = countsOf(visits, walk.itemsize, upto);
    const words = visitSentence(walk, visits, upto);
    set(node, "aria-label", `${walk.name}, ${orderName(walk.order)}`);
    set(name, "text", walk.name);
    set(numbers, "text", `shape ${tuple(walk.shape)}, stride ${tuple(walk.stride)}`);
    const torchs = String(dimOrder(walk));
    options = permutations(range(walk.shape.length));
    fill(order, ...options.map((dims) =>
      ["option", { text: orderName(dims) + (String(dims) === torchs ? " · torch's order" : "") }]));
    order.selectedIndex = options.findIndex((dims) => String(dims) === String(walk.order));
    order.disabled = options.length < 2;
    fill(stats, ...terms([
      ["visits", counts.visits], ["lines loaded", counts.misses, { "data-many": counts.misses > counts.lines ? "true" : null }],
      ["would do", counts.lines], ["bytes used / loaded", `${counts.bytes_used} / ${counts.bytes_loaded}`],
    ]));
    drawLines(walk, visits, upto, cachedLines(visits, upto, cache_lines), alignment, width);
    const step = width / Math.max(visits.length, 1);
    const paths = { rest: "", misses: "", hits: "" };
    visits.forEach(({ hit }, k) => {
      const [kind, high] = k >= upto ? ["rest", 2] : hit ? ["hits", 6] : ["misses", STROKES - 4];
      paths[kind] += `M${(step * (k + 0.5)).toFixed(1)},${STROKES - 2}v-${high}`;
    });
    setAll(strokes, { width: String(width), style: `--thick:${Math.max(1, Math.min(step - 1, 7))}px` });
    fill(strokes, ...Object.entries(paths).map(([kind, d]) => ["path", { class: `sk-${kind}`, d }]));
    set(sentence, "text", words);
    set(sentence, "data-hit", upto ? String(visits[upto - 1].hit) : null);
    return { counts, words };
  }

  function drawLines(walk, visits, upto, cached, alignment, width) {
    const { itemsize } = walk;
    // All lines from the first to the last if they are few, else the touched ones; many lines still fit one screen.
    const touched = [...new Set(visits.map(({ line }) => line))].sort((a, b) => a - b);
    const span = touched.length ? touched.at(-1) - touched[0] + 1 : 0;
    const all = span <= WHOLE_SPAN ? range(span).map((k) => touched[0] + k) : touched;
    const [lines, left] = [all.slice(0, MOST_LINES), Math.max(all.length - MOST_LINES, 0)];
    const columns = lines.length > ONE_COLUMN && width >= 380 ? 2 : 1;
    const rows = Math.ceil(lines.length / columns);
    const height = Math.max(12, Math.min(26, Math.floor(HEIGHT / rows)));
    const wide = Math.floor((width - (columns - 1) * BETWEEN) / columns);
    const boxWidth = ((wide - NAME - LOADS) / CACHE_LINE) * itemsize;
    const isWritten = boxWidth >= 14 && height >= 20;
    const inner = walk.shape.at(-1) ?? 1;
    const done = visits.slice(0, upto);
    const seen = new Set(done.map(({ element }) => element));
    const at = (byte, size) => `left:${(byte / CACHE_LINE) * 100}%;width:${(size / CACHE_LINE) * 100}%`;
    const tintOf = (element, k) => (seen.has(element)
      ? ` sk-r${Math.floor(k / inner) % 6}${element === done.at(-1).element ? " is-here" : ""}` : "");
    const boxes = [...reach(walk).owners].reverse()
      .map(([element, [k]]) => ({ element, k, byte: alignment + element * itemsize }))
      .filter(({ byte }) => lines.includes(Math.floor(byte / CACHE_LINE)));
    const before = alignment ? [["span", { class: "sk-before", style: at(0, alignment), title: "before the storage" }]] : [];
    set(more, "text", left ? `and ${counted(left, "more line")}` : "");
    set(list, "class", boxWidth < 10 ? "sk-lines is-narrow" : "sk-lines");
    set(list, "style", `--row:${height}px;--down:${rows};--name:${NAME}px;--loads:${LOADS}px`);
    fit(list, boxes.map(({ element }) => String(element)), boxWidth);
    fill(list, ...lines.map((line) => {
      const count = done.filter((visit) => visit.line === line && !visit.hit).length;
      const isHeld = cached.has(line);
      const says = `cache line ${line}: loaded ${counted(count, "time")}${isHeld ? ", in the cache" : ""}`;
      const own = boxes.filter(({ byte }) => Math.floor(byte / CACHE_LINE) === line).map(({ element, k, byte }) =>
        ["span", { class: `sk-byte-box${tintOf(element, k)}`, style: at(byte % CACHE_LINE, itemsize) },
          ["span", { text: isWritten ? String(element) : "" }]]);
      return ["li", { "data-held": isHeld ? "in" : count ? "out" : null, "aria-label": says },
        ["span", { class: "sk-line-name", text: `line ${line}` }], ["span", { class: "sk-bytes" }, ...own, ...(line ? [] : before)],
        ["span", { class: "sk-loads", text: `×${count}`, "data-many": count > 1 ? "true" : null }],
        ["span", { class: "sk-held", text: isHeld ? "●" : count ? "○" : "" }]];
    }));
  }

  return { node, draw };
}
