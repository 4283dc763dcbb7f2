// The strip "Try": goals over the facts of a state, ticked once they are reached, however that was.

import { fill, h, set } from "./dom.js";

/** The numbers of the goals that a state's facts are those of, as goals.py finds them. */
export const heldBy = (facts, goals) =>
  goals.flatMap(({ facts: wanted }, k) =>
    Object.entries(wanted).every(
      ([name, value]) => JSON.stringify(facts[name]) === JSON.stringify(value),
    )
      ? [k]
      : [],
  );

// The strip of a model with goals, or null. `facts(state)` are the facts of a state. What holds at the start is reached
// only when a hand has left it and come back. What is reached is kept in "_done"; Python adds what it sees itself.
export function createGoals(model, facts) {
  const goals = model.get("_goals") ?? [];
  if (!goals.length) return null;
  const list = h("ul");
  const news = h("p", { class: "sk-told", role: "status" });
  const node = h(
    "div",
    { class: "sk-goals", role: "group", "aria-label": "goals" },
    h("strong", { text: "Try" }),
    list,
    news,
  );
  const done = new Set();
  let held = null;

  function draw() {
    const now = heldBy(facts(model.get("_state")), goals);
    const reached = now.filter((k) => held && !held.includes(k) && !done.has(k));
    held = now;
    for (const k of [...reached, ...(model.get("_done") ?? [])]) done.add(k);
    fill(
      list,
      ...goals.map(({ text }, k) => [
        "li",
        { "data-done": done.has(k) ? "" : null },
        ["span", { class: "sk-tick", "aria-hidden": "true", text: done.has(k) ? "✓" : "○" }],
        ["span", { text }],
        ["span", { class: "sk-told", text: done.has(k) ? ": reached" : "" }],
      ]),
    );
    if (reached.length) {
      const names = reached.map((k) => goals[k].text).join("; ");
      set(news, "text", `Reached: ${names}. ${done.size} of ${goals.length} goals.`);
    }
    // Last, as it calls this again.
    if (done.size > (model.get("_done") ?? []).length)
      model.set(
        "_done",
        [...done].sort((a, b) => a - b),
      );
  }

  return { node, draw };
}
