// The view that all panes draw, computed once per frame from the state and from what is pointed at.

import { flatten, nameAt, reach, unflatten } from "../page/layout.js";
import { place } from "./words.js";

// The view of a state. `given` is {state, storageSize, values, name, sliderMax} of the model; `own` belongs to this
// page: {hoverFlat, hoverSlot, tapeCursor, lit}, each null if there is none.
export function viewOf(given, own) {
  const { index: selectedIndex, chain, ...layout } = given.state;
  const { elements, owners } = reached(layout);
  const selected = selectedIndex === null ? null : flatten(layout.shape, selectedIndex);
  const spot = spotOf(selected, elements, owners, own);
  return {
    ...given, layout, elements, owners, selected, spot, lit: own.lit,
    index: spot.flat === null ? null : unflatten(layout.shape, spot.flat),
    sharers: new Set(owners.get(spot.element)),
    tapeCursor: own.tapeCursor ?? (selected === null ? null : elements[selected]),
    longest: Math.max(1, ...(given.values ?? [String(given.storageSize - 1)]).map(({ length }) => length)),
    label: (element) => (given.values ? given.values[element] : String(element)),
    named: (flat) => nameAt(layout.shape, flat, given.name),
  };
}

/** `reach` of the last drawn layout is kept: most frames change only what is pointed at. */
let kept = {};
function reached(layout) {
  const key = `${layout.shape} ${layout.stride} ${layout.storage_offset}`;
  if (kept.key !== key) kept = { key, ...reach(layout) };
  return kept;
}

/** The spot that is pointed at: a hovered slot or cell, the tape's cursor, or the selected index. */
function spotOf(selected, elements, owners, { hoverFlat, hoverSlot, tapeCursor }) {
  const slot = hoverSlot ?? (hoverFlat === null ? tapeCursor : null);
  if (slot !== null) {
    const owned = owners.get(slot) ?? [];
    return { element: slot, flat: owned.includes(selected) ? selected : (owned[0] ?? null) };
  }
  const flat = hoverFlat !== null && hoverFlat < elements.length ? hoverFlat : selected;
  return { flat, element: flat === null ? null : elements[flat] };
}

/** A few names of indices, and how many more there are. */
function some(view, flats, most) {
  const more = flats.length > most ? ` and ${flats.length - most} more` : "";
  return flats.slice(0, most).map(view.named).join(", ") + more;
}

/** The sentence under the formula: the place of what is pointed at, and who shares it. */
export function words(view) {
  const { spot, index, layout, sharers, name } = view;
  if (spot.element === null) return "There is no element: a size is 0.";
  if (index === null) return `Element ${spot.element} is never reached: no index leads there.`;
  const others = [...sharers].filter((flat) => flat !== spot.flat);
  if (!others.length) return place(layout, index, name);
  return `${place(layout, index, name)}, and so ${others.length === 1 ? "is" : "are"} ${some(view, others, 3)}`;
}

export const describeCell = (view, flat) =>
  `${view.named(flat)}: element ${view.elements[flat]}, byte ${view.elements[flat] * view.layout.itemsize}`;

/** A slot with its owners, to be read aloud. */
export function describeSlot(view, element) {
  const owned = view.owners.get(element);
  const who = owned ? some(view, owned, 4) : "no index";
  return `element ${element}, byte ${element * view.layout.itemsize}: ${who}`;
}
