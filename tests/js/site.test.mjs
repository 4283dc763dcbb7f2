// The scripts of exported pages: what a search finds, and what is kept of a reader's answers.

import assert from "node:assert/strict";
import test from "node:test";

import { forget, keepAnswer, keepGoals, keyOf, mark, read, write } from "../../stridekit/export/progress.js";
import { excerpt, find } from "../../stridekit/export/search.js";
import { createModel } from "../../stridekit/widgets/page/host.js";

const INDEX = [
  ["a.html", "Walk", [["Walk", "Walk", "Every stride counts."], ["The-formula", "The formula", "offset and stride"]]],
  ["b.html", "Views", [["", "Views", "A view."], ["Strides-again", "Strides again", "Still one view."],
    ["memset", "memset", "stride_of"], ["stride", "stride", ""]]],
];
const titles = (query) => find(INDEX, query).map(({ title }) => title);

test("headings come first, the nearest of them first, then texts in a reader's order", () => {
  assert.deepEqual(titles("stride"), ["stride", "Strides again", "Walk", "The formula", "memset"]);
  assert.deepEqual(titles("strides"), ["Strides again"]);
  assert.deepEqual(titles("v"), ["Views", "Walk", "Strides again"]);
  assert.deepEqual(titles("  VIEW "), ["Views", "Strides again"]);
  assert.deepEqual(titles("again stride"), ["Strides again"]);
});

test("each word has to be there, and no words find nothing", () => {
  assert.deepEqual(titles("stride offset"), ["The formula"]);
  assert.deepEqual([titles("stride nowhere"), titles("  ")], [[], []]);
  assert.deepEqual(titles("stride_of"), ["memset"]);
});

test("a result leads to its section, or to its page", () => {
  assert.equal(find(INDEX, "formula")[0].href, "a.html#The-formula");
  assert.equal(find(INDEX, "views")[0].href, "b.html");
  assert.equal(find([["a.html", "A", [["x: 100%", "x", ""]]]], "x")[0].href, "a.html#x%3A%20100%25");
});

test("an excerpt begins with a word and holds the hit", () => {
  const text = `${"many words ".repeat(20)}then the Stride, ${"and more ".repeat(20)}`;
  const [before, hit, after] = excerpt(text, ["nowhere", "stride"]);
  assert.match(before, /^… \w+ .*then the $/);
  assert.equal(hit, "Stride");
  assert.match(after, /^, and more .* (and|more) …$/);
  assert.ok(before.length < 80 && after.length < 80);
  assert.equal(text.includes(before.slice(2) + hit + after.slice(0, -2)), true);
  assert.deepEqual(excerpt(`${"x".repeat(200)}stride${"y".repeat(200)}`, ["stride"])[1], "stride");
  assert.deepEqual(excerpt("a stride", ["a"]), ["", "a", " stride"]);
  assert.deepEqual(excerpt("of the title", ["walk"]), ["", "", "of the title"]);
});

test("where the words of a query stand together, they are the hit", () => {
  const index = [["a.html", "A", [["x", "x", "offset here, and a storage offset there"]]]];
  assert.equal(find(index, "storage Offset")[0].parts[1], "storage offset");
});

// What is kept ---------------------------------------------------------------------------------------

function stub() {
  const kept = {};
  Object.defineProperties(kept, {
    getItem: { value: (key) => kept[key] ?? null },
    setItem: { value: (key, text) => (kept[key] = text) },
    removeItem: { value: (key) => delete kept[key] },
  });
  Object.defineProperty(globalThis, "localStorage", { get: () => kept, configurable: true });
  return kept;
}
const card = (question = "How many?", choices = []) =>
  createModel({ _problem: { kind: "number", question, choices }, _state: { said: null, shown: false } });
const SAID = { said: 5, shown: true };
const KEY = "stridekit /a/b";

test("a page is known by its place, with or without .html", () => {
  assert.equal(keyOf("https://x.org/strides/01%20a.html?q#part"), "stridekit /strides/01 a");
  assert.equal(keyOf("https://x.org/strides/01%20a"), keyOf("file:///strides/01 a.html"));
});

test("an answer is kept until it is taken back, and given to the same question alone", () => {
  stub();
  const told = [];
  const first = card();
  keepAnswer(KEY, first, (shown) => told.push(shown));
  first.set("_state", SAID);
  assert.deepEqual(told, [false, true]);
  const again = card();
  keepAnswer(KEY, again, (shown) => told.push(shown));
  assert.deepEqual([again.get("_state"), told.at(-1)], [SAID, true]);
  for (const other of [card("Which?"), card("How many?", ["1", "2"])]) {
    keepAnswer(KEY, other, () => {});
    assert.equal(other.get("_state").shown, false);
  }
  again.set("_state", { said: null, shown: false });
  assert.deepEqual(read(KEY), {});
});

test("goals are kept by their texts", () => {
  stub();
  const make = (...texts) => createModel({ _goals: texts.map((text) => ({ text })), _done: [] });
  const first = make("one", "two");
  keepGoals(KEY, first, () => {});
  first.set("_done", [1]);
  const moved = make("two", "three", "one");
  keepGoals(KEY, moved, () => {});
  assert.deepEqual(moved.get("_done"), [0]);
});

test("a mark says how much is done", () => {
  assert.deepEqual(mark(null, 3), ["", ""]);
  assert.deepEqual(mark({}, 3)[0], "0/3");
  assert.deepEqual(mark({ a: 1, b: 1, c: 1, old: 1 }, 3)[0], "✓");
});

test("all pages of a folder are forgotten, and no other", () => {
  const kept = stub();
  for (const key of [KEY, "stridekit /a/c", "stridekit /ab", "theme"]) write(key, { x: 1 });
  forget("https://x.org/a/index.html");
  assert.deepEqual(Object.keys(kept), ["stridekit /ab", "theme"]);
});

test("where nothing can be kept, and where it is not ours, all works without", () => {
  const kept = stub();
  kept[KEY] = "no JSON";
  assert.equal(read(KEY), null);
  Object.defineProperty(globalThis, "localStorage", { get() { throw new Error("SecurityError"); }, configurable: true });
  const model = card();
  const told = [];
  keepAnswer(KEY, model, (shown) => told.push(shown));
  model.set("_state", SAID);
  forget("https://x.org/a/");
  assert.deepEqual([told, read(KEY)], [[false, true], null]);
});
