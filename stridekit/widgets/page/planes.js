// Where the boxes of a tensor stand in a grid: planes of more than two dims stand side by side.

import { numel, range } from "./layout.js";

/**
 * The most planes of a stack that fit side by side and fill each line. All lengths are in px.
 * @param {number} stack
 * @param {number} planeWidth
 * @param {number} between two planes
 * @param {number} room
 */
export function planesAcross(stack, planeWidth, between, room) {
  /** @param {number} planes */
  const widthOf = (planes) => planes * planeWidth + (planes - 1) * between;
  let across = stack;
  while (across > 1 && (stack % across !== 0 || widthOf(across) > room)) across -= 1;
  return across;
}

/**
 * The flat index at each place of a grid, line by line, with `across` planes side by side.
 * @param {number[]} shape
 * @param {number} across
 */
export function flatsOf(shape, across) {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.at(-2) ?? 1;
  const perLine = across * columns;

  /** @param {number} place */
  function flatAt(place) {
    const line = Math.floor(place / perLine);
    const column = place % perLine;
    const plane = Math.floor(line / rows) * across + Math.floor(column / columns);
    return (plane * rows + (line % rows)) * columns + (column % columns);
  }

  return range(numel({ shape })).map(flatAt);
}
