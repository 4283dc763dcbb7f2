// The strip "Try": goals over the facts of a state, ticked once they are reached by any means.

import { fill, h, set } from "./dom.js";

/** @import { Model } from "./shell.js" */

/** @typedef {Record<string, any>} Facts */
/** @typedef {{ text: string, facts: Facts }} Goal */

/**
 * The indices of the goals whose facts a state has, as goals.py finds them.
 * @param {Facts} facts
 * @param {{ facts: Facts }[]} goals
 */
export function heldBy(facts, goals) {
  /** @type {number[]} */
  const held = [];
  for (const [k, goal] of goals.entries()) {
    const names = Object.keys(goal.facts);
    if (names.every((name) => isEqual(facts[name], goal.facts[name]))) held.push(k);
  }
  return held;
}

/** @type {(a: any, b: any) => boolean} */
const isEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * The strip of a model with goals, or null. Goals that hold at the start are reached only when a
 * hand has left them and come back. Reached goals are kept in "_done", to which Python adds those
 * that it sees itself.
 * @param {Model} model
 * @param {(state: any) => Facts} facts
 */
export function createGoals(model, facts) {
  /** @type {Goal[]} */
  const goals = model.get("_goals") ?? [];
  if (!goals.length) return null;
  const list = h("ul");
  const told = h("p", { class: "sk-told", role: "status" });
  const node = h(
    "div",
    { class: "sk-goals", role: "group", "aria-label": "goals" },
    h("strong", { text: "Try" }),
    list,
    told,
  );
  /** @type {Set<number>} */
  const done = new Set();
  /** @type {Set<number>} */
  const news = new Set(); // goals that were reached here
  /** @type {number[] | null} */
  let heldBefore = null;

  /** @returns {number[]} */
  const kept = () => model.get("_done") ?? [];

  /** The goals that hold now, and neither held before nor were reached. */
  function findReached() {
    const held = heldBy(facts(model.get("_state")), goals);
    const before = heldBefore;
    heldBefore = held;
    return before ? held.filter((k) => !before.includes(k) && !done.has(k)) : [];
  }

  function draw() {
    const reached = findReached();
    for (const k of reached) news.add(k);
    for (const k of [...reached, ...kept()]) done.add(k);
    fill(list, ...goals.map(({ text }, k) => itemOf(text, done.has(k), news.has(k))));
    if (reached.length) {
      const names = reached.map((k) => goals[k].text).join("; ");
      set(told, "text", `Reached: ${names}. ${done.size} of ${goals.length} goals.`);
    }
    // This comes last, because it calls `draw` again.
    if (done.size > kept().length) {
      const indices = [...done].sort((a, b) => a - b);
      model.set("_done", indices);
    }
  }

  return { node, draw };
}

/** @type {(text: string, isDone: boolean, isNew: boolean) => any[]} */
const itemOf = (text, isDone, isNew) => [
  "li",
  { "data-done": isDone ? "" : null, "data-new": isNew ? "" : null },
  ["span", { class: "sk-tick", "aria-hidden": "true", text: isDone ? "✓" : "○" }],
  ["span", { text }],
  ["span", { class: "sk-told", text: isDone ? ": reached" : "" }],
];
