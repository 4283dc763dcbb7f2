// CopyTracer: the calls of a run below one another, and the path of the layout that the chosen one copies.
// The state is {row} in the model; everything that is shown stands in `_run`, which Python made of an audit.

import { fill, h, OWN_KEYS, reachedBy, reveal, set, show } from "../page/dom.js";
import { counted } from "../page/layout.js";
import { createChips } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { code, firsts, partOf, said, sentence } from "./rows.js";

const MOST_CHIPS = 8;
const MOST_CHAINS = 2; // that are told of a row
const NONE = "No finding concerns this call or a layout that passes through it.";
const FAR = "Calls far from the largest findings are left out.";
const MARKS = { made: "●", passed: "○", end: "◆" };
const ROLES = { "made by": "made", "given as": "made", "passed on by": "passed" };
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
    { label: "copy tracer", kind: "sk-copies", traits: ["_run"], draw, code },
  );
  const { title, rows, chains } = model.get("_run");
  const most = Math.max(1, ...rows.map(({ copied }) => copied));
  const leads = firsts(chains).sort((a, b) => a.finding - b.finding);
  const chosen = () => shell.state().row;
  let pointed = null; // by a mouse, for as long as it is there
  let revealed = null;

  const chips = createChips("findings", ({ rows: way }) => choose(way.at(-1)));
  const further = h("span", {
    class: "sk-note",
    text: leads.length > MOST_CHIPS ? `and ${leads.length - MOST_CHIPS} more` : "",
  });
  const widest = Math.min(20, Math.max(...rows.map(({ module: { length } }) => length)));
  const rowAt = ({ target }) => target.closest("[role=option]")?.row ?? null;
  const list = h("div", {
    class: "sk-list sk-pane",
    style: `--modules:${widest}`,
    role: "listbox",
    tabindex: "0",
    ...OWN_KEYS,
    "aria-label": "calls of the run; page keys go to the next one with a finding",
    onkeydown(event) {
      if (event.key === "Escape") return list.blur();
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const now = chosen();
      const led = {
        PageDown: rows.findIndex(({ about }, r) => r > now && about.length),
        PageUp: rows.findLastIndex(({ about }, r) => r < now && about.length),
      };
      const next = led[event.key] ?? reachedBy(event.key, now, 1, rows.length);
      if (next === undefined) return;
      event.preventDefault();
      if (next >= 0 && next < rows.length) choose(next);
    },
    onpointerover: (event) => event.pointerType === "mouse" && point(rowAt(event)),
    onpointerleave: () => point(null),
    onclick: (event) => rowAt(event) !== null && choose(rowAt(event)),
  });
  const lines = rows.map((row, r) => {
    const mark = h("span", { class: "sk-mark", "aria-hidden": "true" });
    const bar = row.copied
      ? [h("span", { class: "sk-bar", style: `width:${(100 * row.copied) / most}%` })]
      : [];
    const node = h(
      "div",
      {
        role: "option",
        id: `${shell.id}-row${r}`,
        "data-row": String(r),
        "aria-label": sentence(row),
      },
      mark,
      h("span", { class: "sk-module", text: row.module }),
      h(
        "span",
        { class: "sk-call" },
        h("code", { class: "sk-source" }, h("span", { text: row.line }), row.source),
        h(
          "span",
          { class: "sk-layout", "data-format": row.format },
          h("i", { text: FORMATS[row.format] ?? "" }),
          h("code", { text: row.layout }),
        ),
      ),
      h(
        "span",
        { class: `sk-did${row.copied ? " is-copy" : ""}` },
        ...bar,
        h("b", { text: row.did }),
        ...row.about.map((number) => h("span", { class: "sk-number", text: String(number) })),
      ),
    );
    return { node: Object.assign(node, { row: r }), mark };
  });
  list.append(...lines.map(({ node }) => node));
  const ways = h("div", { class: "sk-ways" });
  const note = h("p", { class: "sk-note" });
  const below = h("div", { class: "sk-below" }, ways, note);

  function draw() {
    const r = pointed ?? chosen();
    set(list, "aria-activedescendant", lines[chosen()].node.id);
    chips.draw(
      leads.slice(0, MOST_CHIPS).map((chain) => ({
        text: `${chain.finding}: ${chain.title.split(", ")[0]}`,
        title: chain.title,
        value: chain,
        isPressed: rows[chosen()].about.includes(chain.finding),
      })),
    );
    const passing = rows[r].chains.map((k) => chains[k]);
    const way = firsts(passing).slice(0, MOST_CHAINS);
    const between = (k) =>
      way.some(({ rows: [first, ...others] }) => first < k && k < others.at(-1));
    lines.forEach(({ node, mark }, k) => {
      const part = way.map((chain) => partOf(chain.rows, k)).find(Boolean);
      set(mark, "text", MARKS[part] ?? "");
      set(node, "class", k === r ? "is-here" : part ? "is-on" : null);
      set(node, "aria-selected", String(k === chosen()));
      set(node, "data-between", between(k) ? "" : null);
    });
    fill(ways, ...way.map(wayOf));
    const more = passing.length - way.length;
    const about = rows[r].calls > 1 ? FAR : NONE;
    set(
      note,
      "text",
      !way.length ? about : more ? `and ${counted(more, "more path")} through this call` : "",
    );
    const place = list.isConnected ? `row ${chosen()} at ${shell.width} px` : null;
    if (place !== revealed) reveal(list, lines[chosen()].node);
    revealed = place;
    shell.speak(way.length ? way.map(said).join(" ") : about); // the row itself is read out when a key reaches it
  }

  function point(r) {
    if (r === pointed) return;
    pointed = r;
    // Or a page at its end would move under the pointer.
    set(below, "style", r === null ? null : `min-height:${below.offsetHeight}px`);
    draw();
  }

  function choose(row) {
    pointed = null;
    set(below, "style", null);
    shell.put({ row });
  }

  show(chips.node, leads.length);
  const head = h("div", { class: "sk-head" }, h("p", { text: title }), chips.node, further);
  return shell.open(head, h("div", { class: "sk-bounded" }, list), below);
}

const wayOf = ({ finding, title, steps, advice }) => [
  "div",
  {},
  ["p", { text: `${finding}: ${title}` }],
  [
    "dl",
    {},
    ...steps.map(([role, line, source, layout]) => [
      "div",
      {},
      [
        "dt",
        {},
        ["span", { "aria-hidden": "true", text: `${MARKS[ROLES[role] ?? "end"]} ` }],
        ["span", { text: role }],
      ],
      [
        "dd",
        {},
        ["code", { text: [line, source].filter(Boolean).join("  ") }],
        ["code", { class: "sk-layout", text: layout }],
      ],
    ]),
  ],
  ["p", { class: "sk-advice", text: advice }],
];
