// A GPU's warp: 32 lanes above, the 32-byte sectors that they touch below, and a line from each
// lane to its bytes.

/** @import { Warp } from "./traversal.js" */

import { fill, fit, h, s, set } from "../page/dom.js";
import { counted, range } from "../page/layout.js";
import { wayFrom } from "../page/motion.js";
import { createSelect, createSlider, terms } from "../page/panels.js";
import { ITEMSIZES, LANES, laneBytes, SECTOR, sectorsOf, warpSentence } from "./traversal.js";

const LANE_HEIGHT = 28;
const DOWN = 170; // from the lanes down to the sectors
const SECTOR_TOP = LANE_HEIGHT + DOWN;
const WIDEST = 120; // a sector

/**
 * @param {string} id
 * @param {{onChange: (changes: Partial<Warp>) => void}} options
 */
export function createWarpPane(id, { onChange }) {
  const itemsize = createSelect(
    `${id}-warp-itemsize`,
    "itemsize",
    ITEMSIZES.map((size) => counted(size, "byte")),
    (k) => onChange({ itemsize: ITEMSIZES[k] }),
  );
  const stride = createSlider(`${id}-warp-stride`, "stride", {
    max: 32,
    onInput: (value) => onChange({ stride: value }),
  });
  const offset = createSlider(`${id}-warp-offset`, "offset", {
    max: 31,
    onInput: (value) => onChange({ offset: value }),
  });
  const controls = h(
    "div",
    { class: "sk-controls" },
    itemsize.node,
    h("div", { class: "sk-choice" }, ...stride.nodes),
    h("div", { class: "sk-choice" }, ...offset.nodes),
  );
  const ties = s("path", { class: "sk-ties" });
  const drawing = s("svg", { class: "sk-warp-ties" }, ties);
  const slots = h("div");
  const stage = h("div", { class: "sk-warp-stage", "aria-hidden": "true" });
  const stats = h("dl", { class: "sk-stats" });
  const sentence = h("p", { class: "sk-sentence" });
  const node = h(
    "div",
    { class: "sk-warp", role: "group", "aria-label": "a warp on its sectors" },
    controls,
    stats,
    stage,
    sentence,
  );

  /** @type {number[]} */
  let sectors = []; // of each lane

  /**
   * Draw a warp in a width; returns a sentence on its costs.
   * @param {Warp} warp
   * @param {number} width
   */
  function draw(warp, width) {
    itemsize.select.selectedIndex = ITEMSIZES.indexOf(warp.itemsize);
    stride.draw(warp.stride);
    offset.draw(warp.offset);
    const costs = sectorsOf(warp);
    sectors = costs.sectors;
    const geometry = geometryOf(warp, sectors, width);
    const words = warpSentence(warp);
    set(stage, "style", `height:${SECTOR_TOP + LANE_HEIGHT + 26}px`);
    const lanes = laneNodes(geometry);
    fill(stage, drawing, ...lanes, ...sectorNodes(geometry), slots); // slots above the sectors
    drawSlots(warp, geometry);
    drawTies(geometry);
    drawStats(costs);
    set(sentence, "text", words);
    return words;
  }

  function laneNodes({ lanePitch }) {
    const numbered = numberedLanes(lanePitch);
    fit(stage, ["00"], lanePitch * numbered);
    return range(LANES).map((lane) => {
      const text = lane % numbered ? "" : String(lane);
      return box("sk-lane", { text }, lane * lanePitch, 0, lanePitch - 2);
    });
  }

  /** The bytes of each lane on its sector; those of all lanes are one where the stride is 0. */
  function drawSlots({ stride: step }, { lefts, slotWidth }) {
    const characters = step ? 1.25 : 1.85; // two digits of 0.6 each, or "all"
    const size = Math.min(14, Math.floor((slotWidth - 1) / characters));
    set(slots, "style", `font-size:${size}px`);
    const textOf = (lane) => (step ? String(lane) : "all");
    const nodes = range(step ? LANES : 1).map((lane) => {
      const text = size < 8 ? "" : textOf(lane);
      return box("sk-slot-of-lane", { text }, lefts[lane], SECTOR_TOP, Math.max(slotWidth - 1, 1));
    });
    fill(slots, ...nodes);
  }

  function drawTies({ lefts, slotWidth, lanePitch }) {
    const paths = lefts.map((left, lane) => {
      const middle = (left + slotWidth / 2).toFixed(1);
      return `M${lane * lanePitch + lanePitch / 2 - 1},${LANE_HEIGHT}L${middle},${SECTOR_TOP}`;
    });
    set(ties, "d", paths.join(""));
  }

  function drawStats({ touched, minimum, bytesUsed, bytesLoaded }) {
    const rows = terms([
      ["lanes", LANES],
      ["sectors loaded", touched, { "data-many": touched > minimum ? "true" : null }],
      ["would do", minimum],
      ["bytes used / loaded", `${bytesUsed} / ${bytesLoaded}`],
    ]);
    fill(stats, ...rows);
  }

  /** Each lane goes to its bytes, together with the others of the same sector. */
  function moves() {
    const laneNodes = stage.querySelectorAll(".sk-lane");
    return [...slots.children].map((box, lane) => {
      const start = wayFrom(laneNodes[lane], box);
      return { box, start, turn: sectors[lane], isNew: true, isStraight: true };
    });
  }

  return { node, draw, moves };
}

/**
 * The widths of lanes and sectors, which stand side by side, and the left edge of each lane's
 * bytes.
 */
function geometryOf(warp, sectors, width) {
  const touched = [...new Set(sectors)];
  const sectorPitch = Math.min(WIDEST, Math.floor(width / touched.length));
  const sectorWidth = sectorPitch - (sectorPitch > 40 ? 6 : 3);
  const lefts = laneBytes(warp).map((byte, lane) => {
    const sectorLeft = touched.indexOf(sectors[lane]) * sectorPitch;
    return sectorLeft + ((byte % SECTOR) / SECTOR) * sectorWidth;
  });
  return {
    touched,
    sectorPitch,
    sectorWidth,
    slotWidth: (warp.itemsize / SECTOR) * sectorWidth,
    lefts,
    lanePitch: Math.floor(width / LANES),
  };
}

/** Every so many-th lane has its number; on a phone there is no room for all. */
const numberedLanes = (lanePitch) => (lanePitch < 16 ? 4 : 1);

function sectorNodes({ touched, sectorPitch, sectorWidth }) {
  const longest = String(touched.at(-1)).length;
  const every = Math.ceil((4 + 6.7 * longest) / sectorPitch); // so that numbers do not touch
  return touched.map((sector, k) => {
    const name = sectorPitch > 70 ? `sector ${sector}` : String(sector);
    const text = k % every ? "" : name;
    return box("sk-sector", {}, k * sectorPitch, SECTOR_TOP, sectorWidth, ["small", { text }]);
  });
}

function box(kind, props, left, top, width, ...children) {
  // A motion has the transform.
  const style = `translate:${left}px ${top}px;width:${width}px`;
  return ["span", { class: kind, style, ...props }, ...children];
}
