// A GPU's warp: 32 lanes above, the 32-byte sectors that they touch below, and a line from each lane to its bytes.

import { counted, range } from "../page/layout.js";
import { fill, fit, h, s, set } from "../page/dom.js";
import { createSelect, createSlider, terms } from "../page/panels.js";
import { ITEMSIZES, LANES, SECTOR, laneBytes, sectorsOf, warpSentence } from "./traversal.js";

const LANE_HEIGHT = 28;
const BETWEEN = 96; // from the lanes down to the sectors
const WIDEST = 120; // a sector

/** All places: the sectors side by side, and the slot of each lane at its bytes. */
function warpGeometry(warp, width) {
  const { sectors } = sectorsOf(warp);
  const touched = [...new Set(sectors)];
  const lane = Math.floor(width / LANES);
  const sector = Math.min(WIDEST, Math.floor(width / touched.length));
  const gap = sector > 40 ? 6 : 3;
  const inner = sector - gap;
  const slots = laneBytes(warp).map((byte, k) => ({
    left: touched.indexOf(sectors[k]) * sector + ((byte % SECTOR) / SECTOR) * inner,
    width: (warp.itemsize / SECTOR) * inner,
  }));
  return { touched, lane, sector, inner, slots };
}

export function createWarpPane(id, { onChange }) {
  const itemsize = createSelect(`${id}-warp-itemsize`, "itemsize", ITEMSIZES.map((size) => counted(size, "byte")),
    (k) => onChange({ itemsize: ITEMSIZES[k] }));
  const sliders = [["stride", 32], ["offset", 31]].map(([what, max]) => ({
    what, ...createSlider(`${id}-warp-${what}`, what, { max, onInput: (value) => onChange({ [what]: value }) }),
  }));
  const controls = h("div", { class: "sk-controls" }, itemsize.node,
    ...sliders.map(({ nodes }) => h("div", { class: "sk-choice" }, ...nodes)));
  const ties = s("path", { class: "sk-ties" });
  const drawing = s("svg", { class: "sk-warp-ties" }, ties);
  const slots = h("div");
  const stage = h("div", { class: "sk-warp-stage", "aria-hidden": "true" });
  const stats = h("dl", { class: "sk-stats" });
  const sentence = h("p", { class: "sk-sentence" });
  const node = h("div", { class: "sk-warp", role: "group", "aria-label": "a warp on its sectors" }, controls, stats, stage, sentence);

  function draw(warp, width) {
    itemsize.select.selectedIndex = ITEMSIZES.indexOf(warp.itemsize);
    for (const slider of sliders) slider.draw(warp[slider.what]);
    const g = warpGeometry(warp, width);
    const top = LANE_HEIGHT + BETWEEN;
    const box = (kind, more, left, y, wide, ...children) =>
      ["span", { class: kind, style: `transform:translate(${left}px,${y}px);width:${wide}px`, ...more }, ...children];
    set(stage, "style", `height:${top + LANE_HEIGHT + 26}px`);
    const numbered = g.lane < 16 ? 4 : 1; // on a phone every fourth lane has its number
    const every = Math.ceil((4 + 6.7 * String(g.touched.at(-1)).length) / g.sector); // so that numbers do not touch
    const named = (number, k) => (k % every ? "" : g.sector > 70 ? `sector ${number}` : String(number));
    fill(stage, drawing,
      ...range(LANES).map((k) => box("sk-lane", { text: k % numbered ? "" : String(k) }, k * g.lane, 0, g.lane - 2)),
      ...g.touched.map((number, k) => box("sk-sector", {}, k * g.sector, top, g.inner, ["small", { text: named(number, k) }])),
      slots); // above the sectors
    const widest = warp.stride ? 1.25 : 1.85; // two digits of 0.6 each, or "all"
    const size = Math.min(14, Math.floor((g.slots[0].width - 1) / widest));
    set(slots, "style", `font-size:${size}px`);
    fill(slots, ...range(warp.stride ? LANES : 1).map((k) => {
      const text = size < 8 ? "" : warp.stride ? String(k) : "all";
      return box("sk-slot-of-lane", { text }, g.slots[k].left, top, Math.max(g.slots[k].width - 1, 1));
    }));
    fit(stage, ["00"], g.lane * numbered);
    const to = (k) => (g.slots[k].left + g.slots[k].width / 2).toFixed(1);
    const from = (k) => k * g.lane + g.lane / 2 - 1;
    set(ties, "d", g.slots.map((_, k) => `M${from(k)},${LANE_HEIGHT}L${to(k)},${top}`).join(""));
    const { touched, minimum, bytesUsed, bytesLoaded } = sectorsOf(warp);
    fill(stats, ...terms([
      ["lanes", LANES], ["sectors loaded", touched, { "data-many": touched > minimum ? "true" : null }], ["would do", minimum],
      ["bytes used / loaded", `${bytesUsed} / ${bytesLoaded}`],
    ]));
    const words = warpSentence(warp);
    set(sentence, "text", words);
    return words;
  }

  return { node, draw };
}
