// Search over the headings and the words of all pages. The index is a script beside the pages, loaded when the
// field is first used: a page from a disk may load a script, but fetch nothing.

const MOST = 12; // results
const AROUND = 60; // characters on either side of a hit

const plain = (text) => text.toLowerCase();

/** 0 for a heading that is the query, 1 for one with all its words, 2 with words that begin so; 3 for others. */
function rank(title, query, words) {
  if (title === query) return 0;
  const own = title.split(/[^\p{L}\p{N}_]+/u);
  if (words.every((word) => own.includes(word))) return 1;
  return words.every((word) => own.some((longer) => longer.startsWith(word))) ? 2 : 3;
}

/** A piece of a text around the first of some words in it: what stands before it, the word, what follows. */
export function excerpt(text, words) {
  const places = words.map((word) => [plain(text).indexOf(word), word.length]).filter(([at]) => at >= 0);
  const [at, length] = places.sort((a, b) => a[0] - b[0])[0] ?? [0, 0];
  const [start, end] = [text.lastIndexOf(" ", Math.max(at - AROUND, 0)) + 1, at + length];
  const stop = text.indexOf(" ", end + AROUND);
  const from = at - start > 2 * AROUND ? at : start; // a long formula has no words
  return [(from ? "… " : "") + text.slice(from, at), text.slice(at, end),
    stop < 0 ? text.slice(end) : `${text.slice(end, Math.min(stop, end + 2 * AROUND))} …`];
}

/**
 * The sections that have all words of a query, those with them in the heading first, else in a reader's order.
 * @param {[string, string, [string, string, string][]][]} index  [address, title, [[anchor, heading, text], …]] a page
 */
export function find(index, query) {
  const wanted = plain(query).trim();
  const words = wanted.split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = index.flatMap(([address, page, sections]) =>
    sections.flatMap(([anchor, title, text]) => {
      const all = plain(`${title} ${text}`);
      if (!words.every((word) => all.includes(word))) return [];
      const href = anchor ? `${address}#${encodeURIComponent(anchor)}` : address;
      const hits = plain(text).includes(wanted) ? [wanted] : words;
      return [{ href, page, title, parts: excerpt(text, hits), rank: rank(plain(title), wanted, words) }];
    }));
  return found.sort((a, b) => a.rank - b.rank);
}

// The field ------------------------------------------------------------------------------------------

function make(tag, props, ...children) {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
}

/** The index, once: from the file beside the page. */
function load(address) {
  return new Promise((done, fail) => {
    if (globalThis.stridekitIndex) return done(globalThis.stridekitIndex);
    document.head.append(make("script", { src: address, onload: () => done(globalThis.stridekitIndex), onerror: fail }));
  });
}

const entry = ({ href, page, title, parts: [before, hit, after] }) =>
  make("li", {}, make("a", { href },
    make("b", { textContent: title }), " ", make("small", { textContent: title === page ? "" : page }),
    make("span", {}, before, make("mark", { textContent: hit }), after)));

function createSearch(root) {
  const input = make("input", { type: "search", placeholder: "Search", autocomplete: "off", ariaLabel: "Search all pages" });
  const status = make("p", { role: "status" });
  const list = make("ol", {});
  const panel = make("div", { className: "sk-found", hidden: true }, status, list);
  root.append(input, make("kbd", { textContent: "/", ariaHidden: "true" }), panel);

  async function look() {
    panel.hidden = !input.value.trim();
    if (panel.hidden) return;
    const index = await load(root.dataset.index).catch(() => null);
    if (!index) return (status.textContent = `${root.dataset.index} is not beside this page: there is nothing to search.`);
    const found = find(index, input.value);
    status.textContent = found.length ? `${found.length} ${found.length === 1 ? "place" : "places"}` : "Nothing has these words.";
    list.replaceChildren(...found.slice(0, MOST).map(entry));
  }

  /** Arrows walk through the field and the results, Escape goes back. */
  function walk(event) {
    const stops = [input, ...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) stops[stops.indexOf(document.activeElement) + step]?.focus();
    else if (event.key === "Escape" && !panel.hidden) close();
    else if (event.key === "Enter" && event.target === input) stops[1]?.click();
    else return;
    event.preventDefault();
  }

  function close() {
    input.focus();
    panel.hidden = true;
  }

  input.addEventListener("input", look);
  input.addEventListener("focus", look);
  root.addEventListener("keydown", walk);
  root.addEventListener("focusout", ({ relatedTarget }) => (panel.hidden ||= relatedTarget && !root.contains(relatedTarget)));
  list.addEventListener("click", () => (panel.hidden = true));
  document.addEventListener("pointerdown", ({ target }) => (panel.hidden ||= !root.contains(target)));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing) return;
    event.preventDefault();
    input.focus();
  });
}

if (globalThis.document) for (const root of document.querySelectorAll("search")) createSearch(root);
