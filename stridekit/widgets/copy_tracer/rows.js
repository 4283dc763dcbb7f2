// What is said of a run as rows.py makes it.

export const firsts = (chains) =>
  chains.filter(({ finding }, k) => chains.findIndex((other) => other.finding === finding) === k);
export const said = ({ finding, title, steps }) =>
  `Finding ${finding}: ${title}. ${steps.map(([role, line, source]) => [role, line, source].filter(Boolean).join(" ")).join("; ")}.`;
export const partOf = (rows, r) =>
  !rows.includes(r) ? null : r === rows.at(-1) ? "end" : r === rows[0] ? "made" : "passed";
export const sentence = ({ module, line, source, did, layout, about }) =>
  [module, line, source, did, layout, ...about.map((k) => `finding ${k}`)]
    .filter(Boolean)
    .join(", ");
export const code = ({ row }) => `CopyTracer(found, row=${row})`;
