// A text as logs, forums and chats show it, as the program printed it.

const ESCAPE = String.fromCharCode(27);
const BELL = String.fromCharCode(7);
// A log may write the escape character in another way, or drop it.
const COLOUR = new RegExp(
  `(?:${ESCAPE}|\\\\x1b|\\\\u001b|\\\\e|\\\\033|␛|\\^\\[)\\[[\\d;]{0,20}m` +
    "|\\[\\d{1,3}(?:;\\d{1,3}){0,9}m",
  "gi",
);
// Other codes of a terminal: it moves, it erases, it sets the title of its window, it links.
const TERMINAL = new RegExp(
  `${ESCAPE}\\[[\\d;?]{0,20}[A-Za-z]` +
    `|${ESCAPE}\\][^${BELL}${ESCAPE}]{0,1000}(?:${BELL}|${ESCAPE}\\\\)`,
  "g",
);
const LINE_TAG = /<\/?(?:br|p|div|li|tr)\b[^<>]{0,300}>/gi;
const WORD_TAG = /<\/?(?:span|pre|code|b|strong|i|em|mark|font|td|a)\b[^<>]{0,300}>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi;
const ENTITIES = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: " ",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  minus: "−",
  ndash: "–",
};
const SINGLE_QUOTE = /[‘’‚‛′‹›]/g;
const DOUBLE_QUOTE = /[“”„‟″«»]/g;
const DASH = /[‐‑‒–−]/g;
const UNSEEN = /[\u00ad\u200b\u2060\ufeff]/g; // where a line may break
const ESCAPED = /\\([!-/:-@[-`{-~])/g; // markdown escapes punctuation alone

const CLOCK = "\\d\\d:\\d\\d(?::\\d\\d)?(?:[.,]\\d{1,9})?(?: ?Z|[+-]\\d\\d:?\\d\\d)?";
const TIME =
  `(?:\\[?(?:\\d{1,4}[-/]\\d\\d[-/]\\d{2,4}[T ,_]{1,2})?${CLOCK}\\]?` +
  `|[A-Z][a-z]{2} [ \\d]\\d ${CLOCK})(?=\\s|$)`;
// What stands in front of each line; one line may have several.
const PREFIXES = [
  ">(?!=|[a-z]\\d)", // a quotation; not >= and not >f4, a dtype
  "[|│┃](?=\\s|$)", // a group of exceptions, a box; not |u1
  "E(?=\\s|$)", // pytest
  "\\[(?:rank|default|worker|local_rank)[ _:]?\\d{1,6}\\]:?", // torchrun
  "\\[\\d{1,6},\\d{1,6}\\]<std(?:out|err)>:", // mpirun
  "\\([\\w ]{1,60} ?pid=\\d{1,9}[^()]{0,60}\\)", // Ray
  "[\\w.-]{1,60} {1,40}\\|", // docker compose
  `[^\\t]{1,200}\\t[^\\t]{1,200}\\t(?=\\s?${TIME})`, // the job and the step: gh run view --log
  `${TIME}(?: \\d\\d[OE]\\+?(?=\\s))?(?: std(?:out|err) [FP](?=\\s))?`, // GitLab, Kubernetes
  "##\\[\\w{1,20}\\]", // GitHub, Azure
  "\\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\\]?(?=[\\s:])(?::[\\w.]{1,60}:|:)?",
];
const PREFIX = new RegExp(`^(?:\\s{0,40}(?:${PREFIXES.join("|")}))+`);

/** A character by the name or the number that HTML gives it. */
function characterOf(entity, decimal, hex, name) {
  if (name) return ENTITIES[name.toLowerCase()] ?? entity;
  const number = decimal ? Number(decimal) : Number.parseInt(hex, 16);
  return number <= 0x10ffff ? String.fromCodePoint(number) : entity;
}

/**
 * The lines of a text that are not empty, without what a log, a page or a chat adds to them.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function linesOf(text) {
  const plain = text
    .replace(COLOUR, "")
    .replace(TERMINAL, "")
    .replace(LINE_TAG, "\n")
    .replace(WORD_TAG, "")
    .replace(ENTITY, characterOf)
    .replace(UNSEEN, "")
    .replace(SINGLE_QUOTE, "'")
    .replace(DOUBLE_QUOTE, '"')
    .replace(DASH, "-")
    .replace(ESCAPED, "$1");
  const lines = plain.split(/[\r\n]+/).map((line) => line.replace(PREFIX, "").trim());
  return lines.filter(Boolean);
}

// NumPy prints a list without spaces, (2,100); no number of a list begins with a 0.
const ITEM = "(?:-?(?:0|[1-9]\\d{0,18})|newaxis)";
const LIST_OR_THOUSANDS = new RegExp(
  `([([]${ITEM}(?:,${ITEM}){0,64},?[)\\]])|(?<![\\d.,:])\\d{1,3}(?:,\\d{3})+(?![\\d,]\\d)`,
  "g",
);

/**
 * Lines as one line, with a single space between words and without commas inside of numbers.
 *
 * @param {string[]} lines
 */
export function joined(lines) {
  const line = lines.join(" ").split(/\s+/).join(" ");
  return line.replace(LIST_OR_THOUSANDS, (text, list) => list ?? text.replaceAll(",", ""));
}
