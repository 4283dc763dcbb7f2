// CopyTracer: the calls of a run below one another, and the path of the layout that the chosen call
// copies. The state is {row} in the model; the run is in `_run`, which Python made of an audit.

import { fill, h, OWN_KEYS, reachedBy, reveal, set, show } from "../page/dom.js";
import { counted } from "../page/layout.js";
import { createChips } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { code, firstChains, partOf, sentenceOfChain, sentenceOfRow } from "./rows.js";

/** @import { Chain, Row, Step } from "./rows.js" */

const MOST_CHIPS = 8;
const MOST_CHAINS = 2; // shown for a row
const NONE = "No finding concerns this call or a layout that passes through it.";
const FAR = "Calls far from the largest findings are left out.";
const MARKS = { made: "●", passed: "○", end: "◆" };
const PARTS = { "made by": "made", "given as": "made", "passed on by": "passed" };
const FORMATS = {
  contiguous: "contiguous",
  channels_last: "channels last",
  channels_last_3d: "channels last",
  both: "both",
  neither: "other order",
};

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "copy tracer",
      kind: "sk-copies",
      traits: ["_run"],
      draw,
      code,
      reads: "found is your audit, as of audit(model, *inputs)",
    },
  );
  /** @type {{ title: string, rows: Row[], chains: Chain[] }} */
  const { title, rows, chains } = model.get("_run");
  const chosen = () => shell.state().row;
  /** @type {number | null} */
  let pointed = null; // the row under a mouse, for as long as the mouse is there
  /** @type {string | null} */
  let revealed = null; // the row that the list was scrolled to, and the width
  /** @type {number | null} */
  let reserved = null; // the width for which the place below the list has its height

  const leads = firstChains(chains).sort((a, b) => a.finding - b.finding);
  const chips = createChips("findings", (chain) => choose(chain.rows.at(-1)));
  const further = h("span", {
    class: "sk-note",
    text: leads.length > MOST_CHIPS ? `and ${leads.length - MOST_CHIPS} more` : "",
  });
  show(chips.node, leads.length > 0);

  const widestModule = Math.min(20, Math.max(...rows.map(({ module }) => module.length)));
  const rowAt = ({ target }) => target.closest("[role=option]")?.row ?? null;
  const list = h("div", {
    class: "sk-list sk-pane",
    style: `--modules:${widestModule}`,
    role: "listbox",
    tabindex: "0",
    ...OWN_KEYS,
    "aria-label": "calls of the run; page keys go to the next one with a finding",
    onkeydown: press,
    onpointerover(event) {
      if (event.pointerType === "mouse") point(rowAt(event));
    },
    onpointerleave: () => point(null),
    onclick(event) {
      const row = rowAt(event);
      if (row !== null) choose(row);
    },
  });
  const mostBytes = Math.max(1, ...rows.map(({ copied }) => copied));
  const lines = rows.map((row, r) => createRow(row, r, `${shell.id}-row${r}`, mostBytes));
  list.append(...lines.map(({ node }) => node));
  const paths = h("div", { class: "sk-ways" });
  const note = h("p", { class: "sk-note" });
  const below = h("div", { class: "sk-below" }, paths, note);

  function draw() {
    const r = pointed ?? chosen();
    const shown = shownAt(r);
    drawChips();
    drawList(r, shown);
    reserve();
    drawBelow(r, shown);
    revealChosen();
    // The row itself is read out when a key reaches it.
    shell.speak(shown.length ? shown.map(sentenceOfChain).join(" ") : whyNoPath(rows[r]));
  }

  /** The chains through a row that are shown below the list. */
  const shownAt = (r) => firstChains(rows[r].chains.map((k) => chains[k])).slice(0, MOST_CHAINS);

  function drawBelow(r, shown) {
    fill(paths, ...shown.map(pathOf));
    set(note, "text", noteOn(rows[r], shown.length, rows[r].chains.length));
  }

  /** Give the place below the list the height that it needs for the longest of all rows. */
  function reserve() {
    const place = below.isConnected ? shell.width : null;
    if (place === reserved) return;
    reserved = place;
    set(below, "style", null);
    const rowsByChains = new Map(rows.map((row, r) => [String(row.chains), r]));
    const heights = [...rowsByChains.values()].map((r) => {
      drawBelow(r, shownAt(r));
      return below.offsetHeight;
    });
    set(below, "style", `min-height:${Math.max(...heights)}px`);
  }

  function drawChips() {
    const { about } = rows[chosen()];
    chips.draw(
      leads.slice(0, MOST_CHIPS).map((chain) => ({
        text: `${chain.finding}: ${chain.title.split(", ")[0]}`,
        title: chain.title,
        value: chain,
        isPressed: about.includes(chain.finding),
      })),
    );
  }

  /**
   * Mark the rows of the chains that are shown.
   *
   * @param {number} here
   * @param {Chain[]} shown
   */
  function drawList(here, shown) {
    set(list, "aria-activedescendant", lines[chosen()].node.id);
    lines.forEach(({ node, mark }, r) => {
      const part = shown.map((chain) => partOf(chain.rows, r)).find(Boolean);
      const onPath = part ? "is-on" : null;
      set(mark, "text", part ? MARKS[part] : "");
      set(node, "class", r === here ? "is-here" : onPath);
      set(node, "aria-selected", String(r === chosen()));
      set(node, "data-between", shown.some((chain) => isBetween(chain, r)) ? "" : null);
    });
  }

  function revealChosen() {
    const place = list.isConnected ? `row ${chosen()} at ${shell.width} px` : null;
    if (place !== revealed) reveal(list, lines[chosen()].node);
    revealed = place;
  }

  function press(event) {
    if (event.key === "Escape") {
      list.blur();
      return;
    }
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const next = rowAfter(event.key);
    if (next === undefined) return;
    event.preventDefault();
    if (next >= 0 && next < rows.length) choose(next);
  }

  /** The row that a key leads to, possibly outside the list; undefined for other keys. */
  function rowAfter(key) {
    const current = chosen();
    const hasFinding = ({ about }) => about.length > 0;
    if (key === "PageDown") return rows.findIndex((row, r) => r > current && hasFinding(row));
    if (key === "PageUp") return rows.findLastIndex((row, r) => r < current && hasFinding(row));
    return reachedBy(key, current, 1, rows.length);
  }

  function point(r) {
    if (r === pointed) return;
    pointed = r;
    draw();
  }

  function choose(row) {
    pointed = null;
    shell.put({ row });
  }

  const head = h(
    "div",
    { class: "sk-head" },
    h("p", { class: "sk-idea", text: title }),
    chips.node,
    further,
  );
  return shell.open(head, h("div", { class: "sk-bounded" }, list), below);
}

/**
 * A row of the list, and its mark.
 *
 * @param {Row} row
 * @param {number} r
 * @param {string} id
 * @param {number} mostBytes
 */
function createRow(row, r, id, mostBytes) {
  const mark = h("span", { class: "sk-mark", "aria-hidden": "true" });
  const call = h(
    "span",
    { class: "sk-call" },
    h("code", { class: "sk-source" }, h("span", { text: row.line }), row.source),
    h(
      "span",
      { class: "sk-layout", "data-format": row.format },
      h("i", { text: FORMATS[row.format] ?? "" }),
      h("code", { text: row.layout }),
    ),
  );
  const outcome = h("span", { class: `sk-did${row.copied ? " is-copy" : ""}` });
  if (row.copied) {
    const percent = (100 * row.copied) / mostBytes;
    outcome.append(h("span", { class: "sk-bar", style: `width:${percent}%` }));
  }
  outcome.append(
    h("b", { text: row.did }),
    ...row.about.map((number) => h("span", { class: "sk-number", text: String(number) })),
  );
  const node = h(
    "div",
    { role: "option", id, "data-row": String(r), "aria-label": sentenceOfRow(row) },
    mark,
    h("span", { class: "sk-module", text: row.module }),
    call,
    outcome,
  );
  return { node: Object.assign(node, { row: r }), mark };
}

/** True for a row between the first and the last of a chain, which its line passes. */
function isBetween({ rows }, r) {
  const [first] = rows;
  const last = rows.at(-1);
  return rows.length > 1 && first < r && r < last;
}

const whyNoPath = ({ calls }) => (calls > 1 ? FAR : NONE);

function noteOn(row, shown, passing) {
  if (!shown) return whyNoPath(row);
  const more = passing - shown;
  return more ? `and ${counted(more, "more path")} through this call` : "";
}

/** @param {Chain} chain */
const pathOf = ({ finding, title, steps, advice }) => [
  "div",
  {},
  ["p", { text: `${finding}: ${title}` }],
  ["dl", {}, ...steps.map(stepOf)],
  ["p", { class: "sk-advice", text: advice }],
];

/** @param {Step} step */
const stepOf = ([role, line, source, layout]) => [
  "div",
  {},
  [
    "dt",
    {},
    ["span", { "aria-hidden": "true", text: `${MARKS[PARTS[role] ?? "end"]} ` }],
    ["span", { text: role }],
  ],
  [
    "dd",
    {},
    ["code", { text: [line, source].filter(Boolean).join("  ") }],
    ["code", { class: "sk-layout", text: layout }],
  ],
];
