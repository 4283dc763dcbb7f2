// site.js on a stub of a page: progress that is kept, folds, the search, and links from verdicts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { runInThisContext } from "node:vm";

const SITE = readFileSync(
  new URL("../../../stridekit/export/static/site.js", import.meta.url),
  "utf8",
);

/** @type {any} */
const page = globalThis;

/** As much of an element as site.js needs. */
class Node {
  /** @type {any[]} */
  children = [];
  /** @type {Record<string, string>} */
  dataset = {};
  /** @type {any} */
  parent = null;
  className = "";
  hidden = false;
  open = false;
  href = "";
  /** @type {Event[]} */
  events = [];

  constructor(tag = "div", className = "") {
    this.tag = tag;
    this.className = className;
  }
  append(...children) {
    for (const child of children) if (child instanceof Node) child.parent = this;
    this.children.push(...children);
    return this;
  }
  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }
  after(node) {
    this.#insert(node, 1);
  }
  before(node) {
    this.#insert(node, 0);
  }
  #insert(node, distance) {
    node.remove();
    node.parent = this.parent;
    this.parent.children.splice(this.parent.children.indexOf(this) + distance, 0, node);
  }
  set textContent(text) {
    this.children = [text];
  }
  get parentElement() {
    return this.parent;
  }
  get classList() {
    const names = new Set(this.className.split(" ").filter(Boolean));
    const toggle = (name, isOn) => {
      if (isOn) names.add(name);
      else names.delete(name);
      this.className = [...names].join(" ");
    };
    return {
      contains: (name) => names.has(name),
      add: (name) => toggle(name, true),
      toggle,
    };
  }
  dispatchEvent(event) {
    this.events.push(event);
  }
  click() {
    /** @type {any} */ (this).onclick();
  }
  scrollIntoView() {
    this.dataset.scrolled = "";
  }
  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this);
  }
  get firstChild() {
    return this.children[0];
  }
  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }
  matches(selector) {
    if (selector === "[data-asks]") return "asks" in this.dataset;
    if (selector[0] === ".") return this.className.split(" ").includes(selector.slice(1));
    return this.tag === selector;
  }
  closest(selector) {
    return this.matches(selector) ? this : this.parent?.closest(selector);
  }
  /** @returns {any[]} */
  all(selector) {
    const below = this.children.flatMap((child) => child.all?.(selector) ?? []);
    return this.matches(selector) ? [this, ...below] : below;
  }
  querySelector(selector) {
    return this.all(selector)[0] ?? null;
  }
}

const ADDRESS = "https://a.org/my%20site/01_one.html";
const KEY = "stridekit /my site/01_one";
const PARTS = { "01_one.html": 3, "02 two.html": 2, "index.html": 1 };
const ESSENTIALS = { "01_one.html": ["How many?", "Close the gaps"], "02 two.html": [] };
const MINUTES = { essentials: 125, everything: 815 };
const TODAY = new Date().toLocaleDateString("sv"); // as 2026-11-29
const wait = () => new Promise((resolve) => setTimeout(resolve));

/**
 * Open a page of the site.
 * @param {{ href?: string, stored?: Record<string, any>, theme?: string, sections?: any[],
 *   places?: any, tables?: Record<string, any[]>, agrees?: boolean, isFull?: boolean,
 *   target?: any }} options
 */
async function visit({ href = ADDRESS, stored = {}, theme, sections = [], ...options } = {}) {
  const body = new Node("body");
  const root = { dataset: theme ? { theme } : {} };
  /** @type {Record<string, (event?: any) => void>} */
  const listeners = {};
  /** @type {[callback: () => void, target: any, options: any][]} */
  const observers = [];
  let reloads = 0;
  const storage = {};
  const storageMethods = {
    getItem: (key) => storage[key] ?? null,
    setItem(key, text) {
      if (options.isFull) throw new Error("full");
      storage[key] = text;
    },
    removeItem: (key) => delete storage[key],
  };
  for (const [name, value] of Object.entries(storageMethods))
    Object.defineProperty(storage, name, { value, enumerable: false });
  for (const [key, value] of Object.entries(stored))
    storage[key] = typeof value === "string" ? value : JSON.stringify(value);
  const tables = options.tables ?? {};
  const listen = (name, handler) => {
    listeners[name] = handler;
  };
  const all = (selector) => tables[selector] ?? body.all(selector);
  Object.assign(page, {
    stridekitSite: {
      parts: PARTS,
      essentials: ESSENTIALS,
      minutes: MINUTES,
      places: options.places ?? {},
      sections,
    },
    location: { ...urlParts(href), reload: () => (reloads += 1) },
    confirm: () => options.agrees,
    addEventListener: listen,
    Search: {},
    MutationObserver: class {
      constructor(callback) {
        this.callback = callback;
      }
      observe(target, how) {
        observers.push([this.callback, target, how]);
      }
    },
    document: {
      documentElement: root,
      createElement: (tag) => new Node(tag),
      querySelectorAll: all,
      querySelector: (selector) => all(selector)[0] ?? null,
      getElementById: (id) => (id === "The-place" ? options.target : null),
      addEventListener: listen,
    },
  });
  Object.defineProperty(page, "localStorage", { value: storage, configurable: true });
  runInThisContext(SITE); // a page runs it as a script, not as a module
  const read = (key) => (key in storage ? JSON.parse(storage[key]) : undefined);
  return { body, root, listeners, observers, storage, read, reloads: () => reloads };
}

function urlParts(href) {
  const { pathname, search, hash } = new URL(href);
  return { href, pathname, search, hash };
}

function modelOf(traits) {
  const model = {
    traits,
    handlers: {},
    get: (name) => traits[name],
    set(name, value) {
      traits[name] = value;
      model.handlers[`change:${name}`]?.();
    },
    on(name, handler) {
      model.handlers[name] = handler;
    },
  };
  return model;
}

// The theme -----------------------------------------------------------------------------------------

test("widgets are light unless the page is dark, and follow it", async () => {
  const { root, observers } = await visit({ theme: "dark" });
  assert.equal(root.dataset.jpThemeLight, "false");
  const [[follow, target, how]] = observers;
  assert.deepEqual([target, how], [root, { attributeFilter: ["data-theme"] }]);
  root.dataset.theme = "light";
  follow();
  assert.equal(root.dataset.jpThemeLight, "true");
  assert.equal((await visit()).root.dataset.jpThemeLight, "true");
});

// Progress ------------------------------------------------------------------------------------------

/** Links to pages, in a list, and the marks that stand behind them. */
function linksTo(...names) {
  const list = new Node("nav");
  const links = names.map((name) => Object.assign(new Node("a"), { href: name }));
  list.append(...links);
  return { list, links, marks: () => list.all(".sk-done").map((mark) => mark.textContent) };
}

const LINKS = ".bd-links a, .bd-article table a, .sk-tile a";
const at = (name) => `https://a.org/my%20site/${name}`;

test("a link has a mark of what is done on its page, if the page was visited", async () => {
  const names = ["01_one.html", "02%20two.html#there", "index.html", "other.html"];
  const { list, links, marks } = linksTo(...names.map(at));
  const stored = {
    [KEY]: { a: 1, b: 2 },
    "stridekit /my site/02 two": { a: 1, b: 2, c: 3, d: 4 },
    "stridekit /my site/other": { a: 1 },
    "stridekit /another/index": { a: 1 },
  };
  const site = await visit({ href: at("x.html"), stored, tables: { [LINKS]: links } });
  site.body.append(list);
  site.listeners.DOMContentLoaded();
  assert.deepEqual(marks(), ["2/3", "✓"]);
  const [first, second] = list.all(".sk-done");
  assert.equal(first.title, "2 of 3 cards and goals done");
  assert.equal(second.ariaLabel, "2 of 2 cards and goals done");
  assert.equal(list.children[1], first);
  site.listeners.storage();
  assert.deepEqual(marks(), ["2/3", "✓"]); // once, however often they are shown
  assert.equal("stridekit /my site/x" in site.storage, false); // a page without parts keeps nothing
});

test("a page with parts is kept as visited; what cannot be read counts as nothing", async () => {
  const { list, links, marks } = linksTo(at("01_one.html"));
  const site = await visit({ stored: { [KEY]: "{" }, tables: { [LINKS]: links } });
  site.body.append(list);
  site.listeners.DOMContentLoaded();
  assert.deepEqual(marks(), ["0/3"]);
  assert.deepEqual(site.read(KEY), {});
  const full = await visit({ tables: { [LINKS]: [] }, isFull: true });
  assert.doesNotThrow(() => full.listeners.DOMContentLoaded());
});

// Paths ---------------------------------------------------------------------------------------------

const PATH_KEY = "stridekit /my site/path";

test("the essentials count their own cards and goals, and no further lesson", async () => {
  const { list, links, marks } = linksTo(at("01_one.html"), at("02%20two.html"));
  const stored = {
    [KEY]: { "choice | How many? | 1 | 2": {}, "choice | What else? | 1": {}, "Close a gap": true },
    "stridekit /my site/02 two": { a: 1 },
    [PATH_KEY]: JSON.stringify("essentials"),
  };
  const site = await visit({ stored, tables: { [LINKS]: links } });
  assert.equal(site.root.dataset.path, "essentials"); // before anything is drawn
  site.body.append(list);
  site.listeners.DOMContentLoaded();
  assert.deepEqual(marks(), ["1/2"]);
  assert.deepEqual(
    links.map(({ dataset }) => "further" in dataset),
    [false, true],
  );
});

test("two buttons beside the table of lessons choose the path, which this browser keeps", async () => {
  const table = new Node("div", "sk-lessons");
  const { list, links, marks } = linksTo(at("01_one.html"));
  const stored = { [KEY]: { "Close the gaps": true, other: true } };
  /** @type {any[]} */
  const inputs = [];
  const tables = { [LINKS]: links, ".sk-paths input": inputs };
  const site = await visit({ stored, tables });
  site.body.append(table, list);
  site.listeners.DOMContentLoaded();
  const [fieldset] = site.body.children;
  assert.equal(fieldset.className, "sk-paths");
  assert.deepEqual(
    fieldset.all("label").map((label) => label.textContent.trim()),
    ["The essentials, 125 minutes", "Everything, 815 minutes"],
  );
  inputs.push(...fieldset.all("input"));
  assert.deepEqual([site.root.dataset.path, marks()], ["everything", ["2/3"]]);
  inputs[0].onchange();
  assert.deepEqual([site.root.dataset.path, marks()], ["essentials", ["1/2"]]);
  assert.deepEqual(
    inputs.map(({ checked }) => checked),
    [true, false],
  );
  assert.equal(site.read(PATH_KEY), "essentials");
  site.storage[PATH_KEY] = '"weekend"'; // of another version
  site.listeners.storage();
  assert.equal(site.root.dataset.path, "everything");
});

test("a further section opens by its button, and around the place of a link", async () => {
  const [outer, inner, target] = ["outer", "inner", ""].map((name) => new Node("section", name));
  const further = [new Node("p", "sk-path-mark"), new Node("p", "sk-path-mark")];
  outer.append(further[0], inner);
  inner.append(further[1], target);
  const tables = { [LINKS]: [], "section section > .sk-path-mark[data-mark=further]": further };
  const site = await visit({ tables, target });
  site.listeners.DOMContentLoaded();
  const buttons = further.map((mark) => mark.querySelector(".sk-show"));
  const state = () => buttons.map(({ ariaExpanded, textContent }) => [ariaExpanded, textContent]);
  const open = ["true", "hide"];
  const shut = ["false", "show"];
  assert.deepEqual(state(), [shut, shut]);
  assert.equal(outer.className, "outer sk-further");
  buttons[0].onclick();
  assert.deepEqual(state(), [open, shut]);
  assert.equal(outer.className, "outer sk-further sk-open");
  buttons[0].onclick();
  assert.deepEqual(state(), [shut, shut]);
  page.location.hash = "#The-place";
  site.listeners.hashchange();
  assert.deepEqual(state(), [open, open]);
  assert.equal(target.dataset.scrolled, "");
});

// The review ----------------------------------------------------------------------------------------

const CARDS = "#sk-review > [data-card]";
const CHOSEN = "#sk-review > [data-widget]";
const SUMMARY = "#sk-review > .sk-summary";
const REVIEW = "stridekit /my site/review";

/** The page of the review, with cards from a lesson, of which `again` has new numbers. */
async function openReview(stored, names) {
  const box = new Node("div");
  const nodes = names.map((name, k) => {
    const node = new Node();
    node.dataset = {
      ...{ card: String(k), page: "01_one.html", lesson: "01 One" },
      ...{ section: `About ${name}`, anchor: `About-${name}`, name },
    };
    return node;
  });
  const tables = { "#sk-review": [box], [CARDS]: nodes, [LINKS]: [] };
  const site = await visit({ href: at("review.html"), stored, tables });
  page.document.readyState = "loading";
  site.listeners.readystatechange();
  assert.equal(box.children.length, 0); // the cards are not on the page yet
  page.document.readyState = "interactive";
  tables[SUMMARY] = [];
  const summaryOf = () => box.children.find((node) => node.className === "sk-summary");
  Object.defineProperty(tables, SUMMARY, { get: () => [summaryOf()].filter(Boolean) });
  Object.defineProperty(tables, CHOSEN, {
    get: () => box.children.filter((node) => "widget" in node.dataset),
  });
  site.listeners.readystatechange();
  const chosen = tables[CHOSEN];
  return { ...site, box, chosen, summary: () => summaryOf()?.textContent };
}

const right = (day) => ({ first: null, said: 1, shown: true, ...(day && { day }) });
const wrong = (day) => ({ first: 2, said: 1, shown: true, ...(day && { day }) });

test("a review asks what was wrong, then what was seen longest ago, and not what was right today", async () => {
  const stored = {
    [KEY]: {
      late: right("2026-11-20"),
      today: right(TODAY),
      old: right(""),
      skipped: { first: null, said: null, shown: true, day: "2026-11-21" },
      wrong: wrong("2026-11-22"),
      open: { first: 2, said: null, shown: false },
      mended: wrong("2026-11-02"),
      worse: right("2026-11-03"),
    },
    [REVIEW]: {
      mended: { isRight: true, day: "2026-11-04" },
      worse: { isRight: false, day: "2026-11-05" },
      wrong: { isRight: true, day: "2026-11-06" }, // earlier than the answer in the lesson
    },
  };
  const names = ["late", "today", "old", "skipped", "wrong", "open", "mended", "worse", "new"];
  const { chosen } = await openReview(stored, names);
  assert.deepEqual(
    chosen.map(({ dataset }) => dataset.name),
    ["worse", "skipped", "wrong", "old", "mended", "late"],
  );
  assert.equal(chosen[0].dataset.widget, "7");
});

test("a review has ten cards at most, and a card with new numbers once", async () => {
  const names = Array.from({ length: 12 }, (_, k) => `card ${k}`);
  const stored = { [KEY]: Object.fromEntries(names.map((name) => [name, wrong("2026-11-01")])) };
  const { chosen } = await openReview(stored, ["card 0", ...names, "card 0"]);
  assert.equal(chosen.length, 10);
  assert.equal(chosen.filter(({ dataset }) => dataset.name === "card 0").length, 1);
  assert.ok(["1", "13"].includes(chosen[0].dataset.widget), "new numbers, not the first ones");
});

test("a review without cards says why", async () => {
  const { box, storage } = await openReview({}, ["one"]);
  const nothing = "Nothing to review yet: answer some cards in a lesson first.";
  assert.equal(box.textContent, nothing);
  assert.deepEqual(Object.keys(storage), []);
  const known = await openReview({ [KEY]: { one: right(TODAY) } }, ["one"]);
  assert.match(known.box.textContent, /^Nothing to review today/);
});

test("a review without cards begins when another tab has an answer, and only then", async () => {
  const site = await openReview({}, ["one"]);
  site.listeners.DOMContentLoaded();
  site.storage[KEY] = JSON.stringify({ one: right(TODAY) });
  site.listeners.storage();
  assert.equal(site.summary(), undefined, "right today");
  site.storage[KEY] = JSON.stringify({ one: wrong(TODAY) });
  site.listeners.storage();
  assert.match(site.summary(), /^0 of 1 answered/);
  const card = site.box.children.find(({ dataset }) => dataset.name === "one");
  const drawn = card.events.map(({ type, bubbles }) => [type, bubbles]);
  assert.deepEqual(drawn, [["stridekit-draw", true]]);
  const begun = await openReview({ [KEY]: { one: wrong(TODAY) } }, ["one", "two"]);
  begun.listeners.DOMContentLoaded();
  begun.storage[KEY] = JSON.stringify({ one: wrong(TODAY), two: wrong(TODAY) });
  begun.listeners.storage();
  assert.match(begun.summary(), /^0 of 1 answered/, "no card goes away while one answers it");
});

test("the first answer of a review is kept, and its summary links to what to read again", async () => {
  const stored = { [KEY]: { a: wrong("2026-11-01"), b: wrong("2026-11-02") } };
  const site = await openReview(stored, ["a", "b"]);
  assert.equal(site.summary(), "0 of 2 answered, 0 right at once.");
  const models = site.chosen.map((target) => {
    const model = modelOf({ _problem: PROBLEM, _state: { first: null, said: null, shown: false } });
    site.listeners["stridekit-model"]({ target, detail: model });
    return model;
  });
  models[0].set("_state", { first: 2, said: null, shown: false });
  models[0].set("_state", { first: 2, said: 1, shown: true });
  models[0].set("_state", { first: null, said: null, shown: false }); // try again
  models[0].set("_state", { first: null, said: 1, shown: true });
  models[1].set("_state", { first: null, said: 1, shown: true });
  assert.deepEqual(site.read(REVIEW), {
    a: { isRight: false, day: TODAY },
    b: { isRight: true, day: TODAY },
  });
  assert.equal(site.summary(), "2 of 2 answered, 1 right at once.Read again:01 One: About a");
  const links = site.box.all("a").map(({ href }) => href);
  assert.deepEqual(
    links,
    [..."aba"].map((name) => `01_one.html#About-${name}`),
  );
  assert.deepEqual(site.read(KEY), stored[KEY]); // the lesson shows its own answer
});

const FOLDS = "[data-widget], details.sk-behind, details.hide:not(.above-input)";
const PROBLEM = { kind: "number", question: "How many?", choices: ["1", "2"] };
const NAME = "number | How many? | 1 | 2";

/** A page with two cards, and folds behind each. */
async function askTwice(stored, state = { said: null, shown: false }) {
  const [card, explorer, nextCard] = ["", "", ""].map(() => new Node());
  const folds = [new Node("details"), new Node("details"), new Node("details")];
  const marks = [folds[0], card, folds[1], explorer, nextCard, folds[2]];
  const site = await visit({ stored, tables: { [FOLDS]: marks, [LINKS]: [] } });
  const models = [PROBLEM, { ...PROBLEM, question: "And now?" }].map((_problem) =>
    modelOf({ _problem, _state: state }),
  );
  for (const [k, target] of [card, nextCard].entries())
    site.listeners["stridekit-model"]({ target, detail: models[k] });
  await wait();
  return { ...site, models, open: () => folds.map((fold) => fold.open) };
}

test("a shown answer is kept and opens the folds up to the next card; another try forgets it", async () => {
  const { models, read, open } = await askTwice({ [KEY]: { other: true } });
  assert.deepEqual(open(), [false, false, false]);
  assert.deepEqual(read(KEY), { other: true });
  models[0].set("_state", { first: 5, said: null, shown: false });
  assert.deepEqual([open(), read(KEY)], [[false, false, false], { other: true }]);
  const state = { first: 5, said: 7, shown: true };
  models[0].set("_state", state);
  assert.deepEqual(read(KEY), { other: true, [NAME]: { ...state, day: TODAY } });
  assert.deepEqual(open(), [false, true, false]);
  models[1].set("_state", state);
  assert.deepEqual(open(), [false, true, true]);
  models[0].set("_state", { first: null, said: null, shown: false });
  assert.deepEqual(Object.keys(read(KEY)), ["other", "number | And now? | 1 | 2"]);
  assert.deepEqual(open(), [false, false, true]);
});

test("a card right above another one has no folds", async () => {
  const [card, nextCard, fold] = [new Node(), new Node(), new Node("details")];
  nextCard.dataset.asks = "";
  const site = await visit({ tables: { [FOLDS]: [card, nextCard, fold], [LINKS]: [] } });
  const model = modelOf({ _problem: PROBLEM, _state: { said: 1, shown: true } });
  site.listeners["stridekit-model"]({ target: card, detail: model });
  await wait();
  assert.equal(fold.open, false);
});

test("a card gets its kept answer, if that was shown and is about this question", async () => {
  const shown = { first: null, said: 1, shown: true };
  await askTwice({ [KEY]: { [NAME]: shown } }); // an entry from before entries had a day
  const given = await askTwice({ [KEY]: { [NAME]: { ...shown, day: "2026-11-01" } } });
  assert.deepEqual(given.models[0].get("_state"), shown);
  assert.deepEqual(given.open(), [false, true, false]);
  for (const kept of [
    { [NAME]: { ...shown, shown: false } },
    { [NAME]: { ...shown, shown: 1 } },
    { [NAME]: true },
    { "number | How many? | 1 | 3": shown },
    { "tuple | How many? | 1 | 2": shown },
  ]) {
    const { models } = await askTwice({ [KEY]: kept });
    assert.deepEqual(models[0].get("_state"), { said: null, shown: false });
  }
});

test("goals are kept by their texts, and come back as indices", async () => {
  const stored = { [KEY]: { two: true, three: 1, gone: true } };
  const site = await visit({ stored, tables: { [LINKS]: [] } });
  const _goals = ["one", "two", "three", "four"].map((text) => ({ text }));
  const model = modelOf({ _goals, _done: [3], _state: {} });
  site.listeners["stridekit-model"]({ target: new Node(), detail: model });
  assert.deepEqual(model.get("_done"), [1, 3]);
  assert.deepEqual(site.read(KEY), stored[KEY]);
  model.set("_done", [1, 3, 0]);
  assert.deepEqual(site.read(KEY), { ...stored[KEY], two: true, four: true, one: true });
  const fresh = modelOf({ _goals, _state: {} });
  (await visit()).listeners["stridekit-model"]({ target: new Node(), detail: fresh });
  assert.deepEqual(fresh.get("_done"), []);
});

test("a query of the address is pasted into Diagnose alone", async () => {
  for (const [search, state, pasted] of [
    ["?q=KeyError+a", { text: "" }, { text: "KeyError a" }],
    ["?q=", { text: "" }, { text: "" }],
    ["?p=1", { text: "" }, { text: "" }],
    ["?q=a", { text: "", more: 1 }, { text: "", more: 1 }],
    ["?q=a", { shown: 1 }, { shown: 1 }],
  ]) {
    const site = await visit({ href: `${ADDRESS}${search}` });
    const model = modelOf({ _state: state, _goals: [] });
    const target = new Node();
    site.listeners["stridekit-model"]({ target, detail: model });
    assert.deepEqual(model.get("_state"), pasted);
    assert.equal("asks" in target.dataset || "_done" in model.traits, false);
  }
});

for (const agrees of [true, false])
  test(`the button forgets the answers of this site alone, if one agrees: ${agrees}`, async () => {
    /** @type {any} */
    const aside = new Node();
    const list = new Node("ul");
    const stored = {
      [KEY]: {},
      "stridekit /my site/deeper/a": {},
      "stridekit /my sites/01_one": {},
      "stridekit /": {},
      other: {},
    };
    const tables = {
      [LINKS]: [],
      ".bd-sidebar-primary": [aside],
      ".bd-links, .bd-article table, .sk-tiles": [list],
    };
    const site = await visit({ stored, tables, agrees });
    site.body.append(list);
    site.listeners.DOMContentLoaded();
    assert.deepEqual([aside.role, aside.ariaLabel], ["complementary", "Contents"]);
    const button = site.body.children[1];
    assert.deepEqual([button.tag, button.textContent], ["button", "Forget my answers"]);
    assert.equal(button.hidden, true); // there is no mark
    button.onclick();
    const left = Object.keys(stored).slice(agrees ? 2 : 0);
    assert.deepEqual(Object.keys(site.storage), left);
    assert.equal(site.reloads(), agrees ? 1 : 0);
  });

test("the button is shown where a page has a mark", async () => {
  const { list, links } = linksTo(at("01_one.html"));
  const tables = { [LINKS]: links, ".bd-links, .bd-article table, .sk-tiles": [list] };
  const site = await visit({ tables });
  site.body.append(list);
  site.listeners.DOMContentLoaded();
  assert.equal(site.body.querySelector(".sk-forget").hidden, false);
});

// Search --------------------------------------------------------------------------------------------

const FILLER = "all about nothing ".repeat(30);
const SECTIONS = [
  ["one", "Title", "One", "where a stride is, and contigs are"],
  ["one", "Stride", "Stride", "a view has its own"],
  ["two", "Title", "Two", `${FILLER}the contiguous tensor stands here${FILLER}`],
  ["two", "Exact", "Exact", "the storage of a view"],
  ["two", "Apart", "Apart", "a view of the storage"],
  ["two", "Copies", "Copies", "copies copies"],
];

/** What the page of results shows for a question. */
async function search(question) {
  const offer = new Node("div", "sk-offer");
  const results = new Node();
  const tables = { "#search-results": [results], ".sk-offer": [offer], [LINKS]: [] };
  const href = `${at("search.html")}?q=${encodeURIComponent(question)}`;
  const site = await visit({ href, sections: SECTIONS, tables });
  site.listeners.DOMContentLoaded();
  assert.equal(typeof page.Search.performSearch, "function");
  const [status, list] = results.children.filter((node) => node !== offer);
  const items = list.children;
  return {
    items,
    status: status.textContent,
    hrefs: items.map((item) => item.children[0].href),
    anchors: items.map((item) => item.children[0].href.split("#")[1]),
    isOffered: !offer.hidden,
    isBelow: results.children[1] === offer,
  };
}

test("a result leads to its section, with the words, the title of its page and the text around", async () => {
  const { hrefs, items, status } = await search("  Stride ");
  assert.equal(status, "2 places");
  assert.deepEqual(hrefs, ["one.html?highlight=stride#Stride", "one.html?highlight=stride#Title"]);
  const [link, space, title, text] = items[1].children;
  const texts = [link.textContent, space, title.textContent, text.textContent];
  assert.deepEqual(texts, ["One", " ", "One", " a stride is, and contigs are …"]);
  const far = (await search("contiguous")).items[0].children;
  assert.equal(far[2].textContent, "Two");
  const excerpt = far[3].textContent;
  assert.ok(excerpt.startsWith("… "), excerpt);
  assert.ok(excerpt.includes("contiguous") && excerpt.length < 260, excerpt);
  assert.ok(excerpt.indexOf("contiguous") >= 40, excerpt);
});

/** @type {[question: string, status: string, anchors: string[]][]} */
const QUESTIONS = [
  ["contiguous", "1 place", ["Title"]],
  ["view", "3 places", ["Stride", "Exact", "Apart"]], // ties in their order
  ["view of the storage", "2 places", ["Apart", "Exact"]], // the very words first
  ["the storage of a view", "2 places", ["Exact", "Apart"]],
  ["copies", "1 place", ["Copies"]],
  ["stride xyzzy", "2 places", ["Stride", "Title"]], // half of the words
  ["stride xyzzy plugh", "Nothing has these words.", []],
  ["contiguous view", "1 place", ["Title"]], // the rare word is most of the question
  ["xyzzy", "Nothing has these words.", []],
  // A misspelt word of five letters and more; swapped letters count nothing, others one or two.
  ["stirde", "2 places for “stride”", ["Stride", "Title"]],
  ["strid", "2 places", ["Stride", "Title"]], // a part of a word is spelled well
  ["strde", "2 places for “stride”", ["Stride", "Title"]],
  ["veiw", "Nothing has these words.", []],
  ["srde", "Nothing has these words.", []],
  ["strdex", "Nothing has these words.", []],
  ["xtride", "Nothing has these words.", []],
  ["contigous", "1 place for “contiguous”", ["Title"]],
  ["contigos", "1 place for “contigs”", ["Title"]], // the nearer of two
  ["contiguos", "1 place for “contiguous”", ["Title"]],
  ["contuous", "1 place for “contiguous”", ["Title"]],
  ["contuou", "Nothing has these words.", []],
  ["contiguouss", "1 place", ["Title"]], // it has the word that it is read as
  ["", "", []],
];
for (const [question, status, anchors] of QUESTIONS)
  test(`the search for “${question}” finds ${anchors.length} sections`, async () => {
    const result = await search(question);
    assert.equal(result.status, status);
    assert.deepEqual(result.anchors, anchors);
    assert.equal(result.isBelow, anchors.length === 0);
  });

for (const question of ["steps", "the pitch", "non-contiguous", "row major", "aliasing"])
  test(`the search knows what “${question}” means`, async () => {
    const synonyms = { steps: "stride", "the pitch": "stride", aliasing: "view" };
    const word = synonyms[question] ?? "contiguous";
    assert.deepEqual((await search(question)).anchors, (await search(word)).anchors);
  });

test("the filter of messages needs all of its words, and hides headings without messages", async () => {
  const filter = Object.assign(new Node("input"), { value: "" });
  const status = new Node("span");
  const items = ["view size", "mat1 and mat2"].map((text) => new Node("li").append(text));
  items[0].dataset.more = "Cannot view a tensor";
  items[1].dataset.more = "";
  const sections = items.map((item) => ({ hidden: false, querySelector: () => !item.hidden }));
  const tables = {
    "#sk-filter": [filter],
    ".sk-families li": items,
    ".sk-families section": sections,
    ".sk-filter [role=status]": [status],
    [LINKS]: [],
  };
  const site = await visit({ tables });
  site.listeners.DOMContentLoaded();
  assert.equal(status.textContent, "2 of 2");
  filter.value = "tensor VIEW";
  /** @type {any} */ (filter).oninput();
  assert.deepEqual(
    items.map(({ hidden }) => hidden),
    [false, true],
  );
  assert.deepEqual(
    sections.map(({ hidden }) => hidden),
    [false, true],
  );
  assert.equal(status.textContent, "1 of 2");
});

test("Diagnose is offered to a question of four words, and to one without a result", async () => {
  assert.equal((await search("view")).isOffered, false);
  assert.equal((await search("contiguous")).isOffered, false);
  assert.equal((await search("view of the")).isOffered, false);
  assert.equal((await search("view of the storage")).isOffered, true);
  assert.equal((await search("xyzzy")).isOffered, true);
});

// Verdicts ------------------------------------------------------------------------------------------

/** A row of Diagnose that names a lesson, and the page that follows changes. */
async function verdictOf(title, { label = "lesson", places }) {
  const paste = new Node("div", "sk-paste");
  const row = new Node();
  const words = new Node("dd").append("a lesson");
  row.append(new Node("dt").append(label), words);
  if (title !== null) paste.append(new Node("b", "sk-title").append(title));
  paste.append(row);
  const sections = [
    ["01_one", "Title", "01 One", ""],
    ["01_one", "More", "More", ""],
  ];
  const site = await visit({ sections, places, tables: { ".sk-paste dl > div": [row] } });
  const [, [follow, target, how]] = site.observers;
  assert.equal(target, page.document);
  assert.deepEqual(how, { subtree: true, childList: true, characterData: true });
  return { words, follow };
}

test("the lesson of a verdict becomes a link to its section, once", async () => {
  const places = { Bad: ["01_one", "Much more here"], Lost: ["09_none", "More"] };
  const { words, follow } = await verdictOf("Bad", { places });
  follow();
  const link = words.firstChild;
  assert.equal(link.href, "01_one.html#Much-more-here");
  assert.equal(link.textContent, "01 One: Much more here");
  follow();
  assert.equal(words.firstChild, link); // or the change would lead to the next one
  /** @type {[title: string | null, label: string][]} */
  const others = [
    ["Bad", "cause"],
    ["Lost", "lesson"],
    ["New", "lesson"],
    [null, "lesson"],
  ];
  for (const [title, label] of others) {
    const other = await verdictOf(title, { label, places });
    other.follow();
    assert.equal(other.words.firstChild, "a lesson");
  }
});

// The drill -----------------------------------------------------------------------------------------

const DRILL = "stridekit /my site/drill";
const RIGHT = ["address", "in elements", ""];

/** A drill on some page, and the answers that are kept. */
async function openDrill(stored, name = "drill.html") {
  const site = await visit({ href: at(name), stored });
  const model = modelOf({
    _state: { kind: "mixed", seed: 0, answers: [], said: null },
    _before: {},
  });
  site.listeners["stridekit-model"]({ target: new Node(), detail: model });
  return { model, kept: () => site.read(DRILL)?.answers };
}

test("a drill goes on from the kept answers, with other questions", async () => {
  const answers = [[...RIGHT, "2026-11-01"]];
  const { model, kept } = await openDrill({ [DRILL]: { answers } });
  assert.deepEqual(model.get("_before"), { today: TODAY, answers });
  const { seed } = model.get("_state");
  assert.ok(Number.isInteger(seed) && seed > 0 && seed < 2 ** 32);
  const other = await openDrill({ [DRILL]: { answers } });
  assert.notEqual(other.model.get("_state").seed, seed);
  assert.deepEqual(kept(), answers);
});

test("each answer of a drill is kept once with its day, on all pages in one place", async () => {
  const { model, kept } = await openDrill({}, "01_one.html");
  const state = model.get("_state");
  model.set("_state", { ...state, answers: [RIGHT], said: 1 });
  model.set("_state", { ...state, answers: [RIGHT], said: null });
  model.set("_state", { ...state, answers: [RIGHT, RIGHT], said: 0 });
  const dated = [...RIGHT, TODAY];
  assert.deepEqual(kept(), [dated, dated]);
});

test("only the last 300 answers to drills are kept", async () => {
  const answers = Array.from({ length: 300 }, () => [...RIGHT, "2026-11-01"]);
  const { model, kept } = await openDrill({ [DRILL]: { answers } });
  model.set("_state", { ...model.get("_state"), answers: [RIGHT], said: 1 });
  assert.deepEqual(kept(), [...answers.slice(1), [...RIGHT, TODAY]]);
});

test("the section of a wrong answer becomes a link, once", async () => {
  const node = new Node("p", "sk-section").append("lesson 01_one: Much more here");
  const unknown = new Node("p", "sk-section").append("lesson 09_none: More");
  const none = new Node("p", "sk-section");
  const sections = [["01_one", "Title", "01 One", ""]];
  const tables = { ".sk-drill .sk-section": [node, unknown, none] };
  const site = await visit({ sections, tables });
  const [, [follow]] = site.observers;
  follow();
  const link = node.querySelector("a");
  assert.equal(link.href, "01_one.html#Much-more-here");
  assert.equal(node.textContent, "lesson 01 One: Much more here");
  follow();
  assert.equal(node.querySelector("a"), link);
  assert.equal(unknown.firstChild, "lesson 09_none: More");
});
