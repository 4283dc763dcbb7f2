// What is said of a run as run.py makes it.

/** The first chain of each finding. */
export const firsts = (chains) => chains.filter(({ finding }, k) => chains.findIndex((other) => other.finding === finding) === k);

/** A chain, to be read aloud. */
export const said = ({ finding, title, steps }) =>
  `Finding ${finding}: ${title}. ${steps.map(([role, line, source]) => [role, line, source].filter(Boolean).join(" ")).join("; ")}.`;

/** How a row takes part in a chain, if it does. */
export const partOf = (rows, r) => (!rows.includes(r) ? null : r === rows.at(-1) ? "end" : r === rows[0] ? "made" : "passed");

/** A row, to be read aloud. */
export const sentence = ({ module, line, source, did, layout, about }) =>
  [module, line, source, did, layout, ...about.map((k) => `finding ${k}`)].filter(Boolean).join(", ");

/** The source of the widget, where `found` is its audit. */
export const code = ({ row }) => `CopyTracer(found, row=${row})`;
