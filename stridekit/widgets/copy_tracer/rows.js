// The words of a run as rows.py makes it.

/**
 * A call of one line in one module; rows.py explains its fields.
 *
 * @typedef {object} Row
 * @property {string} module
 * @property {string} line
 * @property {string} source
 * @property {string} did
 * @property {string} layout
 * @property {string} format
 * @property {number} copied
 * @property {number[]} about
 * @property {number[]} chains
 * @property {number} calls
 */

/** @typedef {[role: string, line: string, source: string, layout: string]} Step */

/**
 * One occurrence of a finding: the rows that its layout passes through.
 *
 * @typedef {object} Chain
 * @property {number} finding
 * @property {string} title
 * @property {string} advice
 * @property {number[]} rows
 * @property {Step[]} steps
 */

/** @typedef {{ row: number }} State */

/**
 * The first chain of each finding.
 *
 * @param {Chain[]} chains
 */
export const firstChains = (chains) =>
  chains.filter(({ finding }, k) => chains.findIndex((chain) => chain.finding === finding) === k);

/**
 * The part that a row has in a chain, if any.
 *
 * @param {number[]} rows
 * @param {number} r
 */
export function partOf(rows, r) {
  if (!rows.includes(r)) return null;
  if (r === rows.at(-1)) return "end";
  return r === rows[0] ? "made" : "passed";
}

/** @param {Chain} chain */
export function sentenceOfChain({ finding, title, steps }) {
  const parts = steps.map(([role, line, source]) => [role, line, source].filter(Boolean).join(" "));
  return `Finding ${finding}: ${title}. ${parts.join("; ")}.`;
}

/** @param {Row} row */
export function sentenceOfRow({ module, line, source, did, layout, about }) {
  const findings = about.map((number) => `finding ${number}`);
  return [module, line, source, did, layout, ...findings].filter(Boolean).join(", ");
}

/** @param {State} state */
export const code = ({ row }) => `CopyTracer(found, row=${row})`;
