// host.js on a stub of a page: one model a widget, one module a kind, and an error in place of what fails.

import assert from "node:assert/strict";
import test from "node:test";

import { bringToLife, createModel } from "../../stridekit/widgets/page/host.js";

// node imports no blobs: a text becomes an address here.
const made = [];
globalThis.Blob = class {
  constructor([text], { type }) {
    this.url = `data:${type},${encodeURIComponent(text)}`;
  }
};
URL.createObjectURL = ({ url }) => made[made.push(url) - 1];
URL.revokeObjectURL = (url) => made.splice(made.indexOf(url), 1);

test("a model tells of each change by its name and as any change, and of nothing else", () => {
  const told = [];
  const model = createModel({ a: 1, b: 1 });
  model.on("change:a", () => told.push(["a", model.get("a")]));
  model.on("change", () => told.push("any"));
  model.set("a", 1);
  assert.deepEqual(told, []);
  model.set("a", 2);
  model.set("b", 2);
  assert.deepEqual(told, [["a", 2], "any", "any"]);
});

test("a listener may go at any time, and others stay", () => {
  const told = [];
  const model = createModel({ a: 0 });
  const first = () => {
    told.push("first");
    model.off("change:a", first);
  };
  model.on("change:a", first);
  model.on("change:a", () => told.push("second"));
  model.set("a", 1);
  model.set("a", 2);
  model.off("change:b", first);
  assert.deepEqual(told, ["first", "second", "second"]);
});

Object.assign(globalThis, { location: { hash: "" }, addEventListener: () => {} });
const node = (widget) => ({ dataset: { widget } });
const page = (...nodes) => ({ querySelectorAll: (css) => (css === "[data-widget]" ? nodes : []) });
const SHOWS = `globalThis.loaded = (globalThis.loaded ?? 0) + 1;
  export default {
    initialize: ({ model }) => model.set("begun", (model.get("begun") ?? 0) + 1),
    render({ model, el, signal }) {
      if (model.get("bad")) throw new Error("no such picture");
      Object.assign(el, { model, signal, textContent: model.get("text") });
    },
  };`;
const PLAIN = `export default { render: ({ el }) => { el.textContent = "plain"; } };`;

test("nodes of one number share a model, each module is loaded once, and each widget gets its own state", async () => {
  const nodes = [node("0"), node("1"), node("0"), node("2")];
  await bringToLife(page(...nodes), {
    modules: [SHOWS, PLAIN], widgets: [[0, { text: "one" }], [0, { text: "two" }], [1, {}]],
  });
  assert.deepEqual(nodes.map((el) => el.textContent), ["one", "two", "one", "plain"]);
  assert.equal(nodes[0].model, nodes[2].model);
  assert.notEqual(nodes[0].model, nodes[1].model);
  assert.deepEqual([globalThis.loaded, nodes[0].model.get("begun"), made.length], [1, 1, 0]);
  assert.equal(nodes[0].signal.aborted, false);
});

test("what cannot be drawn says so in its place, and the others live", async () => {
  const reported = [];
  globalThis.reportError = (error) => reported.push(error.message);
  const nodes = [node("0"), node("1")];
  await bringToLife(page(...nodes), {
    modules: [SHOWS], widgets: [[0, { bad: true }], [0, { text: "well" }]],
  });
  assert.deepEqual(nodes.map((el) => el.textContent),
    ["This picture could not be drawn: no such picture", "well"]);
  assert.deepEqual(reported, ["no such picture"]);
});
