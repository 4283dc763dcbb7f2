// What the lessons add to Sphinx's pages: progress, answers that open folds, a search by sections, links of verdicts.
// site-data.js comes first: globalThis.stridekitSite = {parts, places, sections}. All of it works from a disk.

(() => {
const { parts, places, sections } = globalThis.stridekitSite;
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, props, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
};

// The theme of the page is that of its widgets --------------------------------------------------------------------

const root = document.documentElement;
const follow = () => (root.dataset.jpThemeLight = String(root.dataset.theme !== "dark"));
new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
follow();

// Progress: kept in this browser alone; the key of a page is its address, because an origin can hold many sites ---

const PREFIX = "stridekit ";
const keyOf = (address) => PREFIX + decodeURIComponent(new URL(address, location.href).pathname).replace(/\.html$/, "");
const here = keyOf(location.href);

/** What is kept of a page, by the names of its parts; null if it was never visited. */
function read(key) {
  try {
    const kept = JSON.parse(localStorage.getItem(key));
    return kept && { ...kept };
  } catch {
    return null;
  }
}

/** Keep some more of a page; a part without a value is forgotten. */
function write(key, kept = {}) {
  try {
    localStorage.setItem(key, JSON.stringify({ ...read(key), ...kept }));
  } catch {
    // forbidden or full
  }
}

/** Give a card the answer that was kept, and keep what is answered from now on. */
function keepAnswer(model, tell) {
  // An answer to another question, or among other choices, says nothing about this one.
  const { kind, question, choices } = model.get("_problem");
  const name = [kind, question, ...choices].join(" | ");
  const kept = read(here)?.[name];
  if (kept?.shown === true) model.set("_state", kept);
  model.on("change:_state", () => {
    const state = model.get("_state");
    write(here, { [name]: state.shown ? state : undefined });
    tell(state.shown);
  });
  tell(model.get("_state").shown);
}

/** The same for the goals of an explorer: numbers in the model, texts in the browser. */
function keepGoals(model) {
  const texts = model.get("_goals").map(({ text }) => text);
  const kept = read(here) ?? {};
  const done = model.get("_done") ?? [];
  model.set("_done", [...texts.keys()].filter((k) => done.includes(k) || kept[texts[k]] === true));
  model.on("change:_done", () => {
    write(here, Object.fromEntries(model.get("_done").map((k) => [texts[k], true])));
    showMarks();
  });
}

/** Say beside each link to a lesson how much of it is done, and offer to forget it. */
function showMarks() {
  let isAny = false;
  for (const link of all(".bd-links a, .bd-article table a")) {
    const most = parts[decodeURIComponent(new URL(link.href).pathname.split("/").at(-1))];
    const kept = most && read(keyOf(link.href));
    const count = kept ? Math.min(Object.keys(kept).length, most) : 0;
    link.nextElementSibling?.matches(".sk-done") && link.nextElementSibling.remove();
    if (!kept) continue;
    isAny = true;
    const said = { role: "img", ariaLabel: `${count} of ${most} cards and goals done` };
    link.after(make("span", { className: "sk-done", title: said.ariaLabel, ...said }, count === most ? "✓" : `${count}/${most}`));
  }
  for (const button of all(".sk-forget")) button.hidden = !isAny;
}

function forget() {
  if (!confirm("Forget all answers on these pages?")) return;
  const folder = keyOf(new URL(".", location.href));
  for (const key of Object.keys(localStorage)) if (key.startsWith(folder)) localStorage.removeItem(key);
  location.reload();
}

// A card that is answered opens what gives its answer away, up to the next card ------------------------------------

function openBehind(card, shown) {
  const marks = all("[data-widget], details.sk-behind, details.hide:not(.above-input)");
  for (const node of marks.slice(marks.indexOf(card) + 1)) {
    if (node.matches("[data-asks]")) return;
    if (node.matches("details")) node.open = shown;
  }
}

document.addEventListener("stridekit-model", ({ target, detail: model }) => {
  if (model.get("_goals")?.length) keepGoals(model);
  if (model.get("_problem")) {
    target.dataset.asks = "";
    // The cards below are told apart once they have begun, too.
    keepAnswer(model, (shown) => setTimeout(() => (openBehind(target, shown), showMarks())));
  }
  const asked = new URLSearchParams(location.search).get("q");
  if (asked && Object.keys(model.get("_state")).join() === "text") model.set("_state", { text: asked });
});

// A verdict of Diagnose leads to its place in the lesson ------------------------------------------------------------

new MutationObserver(() => {
  for (const row of all(".sk-paste dl > div")) {
    const [label, words] = row.children;
    const [href, text] = places[row.closest(".sk-paste").querySelector(".sk-title").textContent] ?? [];
    if (label.textContent !== "lesson" || !href || words.firstChild?.href) continue;
    words.replaceChildren(make("a", { href }, text));
  }
}).observe(document, { subtree: true, childList: true, characterData: true });

// Search: sections whose text has all words, misspelt ones as the nearest that is known -----------------------------

/** How many letters differ, are missing or are swapped. */
function distance(a, b) {
  let [before, row] = [[], [...b, ""].map((_, k) => k)];
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min(row[j + 1] + 1, next[j] + 1, row[j] + (letter !== other)));
      if (i && j && letter === b[j - 1] && a[i - 1] === other) next[j + 1] = Math.min(next[j + 1], before[j - 1] + 1);
    }
    [before, row] = [row, next];
  }
  return row.at(-1);
}

const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

/** The places that a question leads to, best first, as [page, anchor, heading, excerpt, words looked for]. */
function find(question) {
  const texts = sections.map(([, , heading, text]) => plain(`${heading} ${text}`));
  const asked = plain(question).split(/[^\p{L}\p{N}_]+/u).filter((word) => word && !stopwords.has(word) && !/^\d+$/.test(word));
  const known = new Set(texts.flatMap((text) => text.match(/[\p{L}_]{4,}/gu) ?? []));
  const words = asked.map((word) => {
    if (word.length < 5 || texts.some((text) => text.includes(word))) return word;
    const near = [...known].map((other) => [distance(word, other), other]).sort(([a], [b]) => a - b)[0];
    return near[0] <= 1 + (word.length > 6) ? near[1] : word;
  });
  // A word counts more, the fewer sections have it.
  const count = (word) => texts.filter((text) => text.includes(word)).length;
  const worth = new Map(words.map((word) => [word, count(word) && Math.log(1 + sections.length / count(word))]));
  const sum = (some) => some.reduce((total, word) => total + worth.get(word), 0);
  const ranked = sections.map(([page, anchor, heading, text], k) => {
    const hits = words.filter((word) => texts[k].includes(word));
    const whole = texts[k].includes(plain(question).trim());
    const score = sum(hits) + sum(words.filter((word) => plain(heading).includes(word))) + 4 * whole;
    return { page, anchor, heading, hits, excerpt: excerpt(text, question, hits), score };
  });
  const most = Math.max(0, ...ranked.map(({ hits }) => hits.length));
  if (!words.length || most < words.length / 2) return { words, found: [] };
  const least = sum(words) / 2;
  return { words, found: ranked.filter(({ score, hits }) => hits.length && score >= least).sort((a, b) => b.score - a.score) };
}

/** The text around the whole question, or around its first word. */
function excerpt(text, question, hits) {
  const lower = plain(text);
  const at = Math.max(0, [plain(question).trim(), ...hits].map((word) => lower.indexOf(word)).find((place) => place >= 0) ?? 0);
  const begin = at < 60 ? 0 : text.indexOf(" ", at - 60) + 1;
  return `${begin ? "… " : ""}${text.slice(begin, begin + 180)}${text.length > begin + 180 ? " …" : ""}`;
}

function showResults() {
  const question = new URLSearchParams(location.search).get("q") ?? "";
  const { words, found } = question ? find(question) : { words: [], found: [] };
  const said = words.join(" ");
  const misspelt = words.length && !words.every((word) => plain(question).includes(word)) ? ` for “${said}”` : "";
  const titles = new Map(sections.toReversed().map(([page, , heading]) => [page, heading]));
  const list = make("ol", { className: "sk-results" }, ...found.slice(0, 50).map(({ page, anchor, heading, excerpt: text }) =>
    make("li", {}, make("a", { href: `${page}.html?highlight=${encodeURIComponent(said)}#${anchor}` }, heading), " ",
      make("small", {}, titles.get(page) === heading ? "" : titles.get(page)), make("p", {}, text))));
  const count = `${found.length} ${found.length === 1 ? "place" : "places"}${misspelt}`;
  const status = make("p", { role: "status" }, !question ? "" : found.length ? count : "Nothing has these words.");
  document.querySelector("#search-results").replaceChildren(status, list);
  const offer = document.querySelector(".sk-offer");
  offer.hidden = Boolean(found.length && words.length < 4);
  if (!found.length) status.after(offer);
}

addEventListener("DOMContentLoaded", () => {
  if (document.querySelector(".bd-article [data-widget]") && parts[location.pathname.split("/").at(-1)] !== undefined) write(here);
  const nav = document.querySelector(".bd-links, .bd-article table");
  nav?.after(make("button", { type: "button", className: "sk-forget", hidden: true, onclick: forget,
    title: "They are kept in this browser, and nowhere else." }, "Forget my answers"));
  showMarks();
  addEventListener("storage", showMarks);
  addEventListener("pageshow", showMarks);
  if (document.querySelector("#search-results")) {
    Search.performSearch = () => {};
    showResults();
  }
});
})();
