// ExercisePanel: a task or a report, and buttons under it.
//
// The state is {hints, solution} in the model: how many hints are open, and whether the solution is. Their texts
// are in the model from the start, so they open without a kernel. Only a check needs one.

import { button, h, set } from "../page/dom.js";
import { createShell } from "../page/shell.js";

const PATIENCE = 3000; // ms, after which a page says that nobody answers
const CHECKING = "checking …";
const NOBODY = "No answer yet. A check needs the kernel: if it does not run, run the cell.";
const SURE = "Sure? Press again to see one way to write it.";

const celebrated = new WeakSet(); // reports that have had their moment

function render({ model, el }) {
  const shell = createShell({ model, el }, {
    label: "exercise", kind: "sk-exercise", traits: ["_exercise", "_report", "_state"], draw,
  });
  const exercise = model.get("_exercise");
  const own = { drawn: null, note: "", sure: false, waiting: 0 };

  const task = createCard();
  const report = createCard({ role: "status" });
  const says = h("span");
  const next = button("", goOn, { class: "sk-button" });
  const passed = h("p", { class: "sk-passed" }, says, next);
  const checkButton = button("", check, { class: "sk-button" });
  const hintButton = button("", openHint, { class: "sk-button" });
  const solutionButton = button("", openSolution, { class: "sk-button", onblur: calm });
  const note = h("p", { class: "sk-note", role: "status" });
  const acts = h("div", { class: "sk-acts", "data-exercise": exercise.name },
    checkButton, hintButton, solutionButton, note);
  const hints = h("ol", { class: "sk-hints", "aria-label": "hints", "aria-live": "polite" });
  const solution = h("pre", { class: "sk-solution", "aria-label": "one solution" });
  const heard = () => clearTimeout(own.waiting); // the kernel is there, and may be busy
  model.on("msg:custom", heard);
  shell.atEnd(() => {
    heard();
    model.off("msg:custom", heard);
  });

  // Drawing --------------------------------------------------------------------------------------

  function draw() {
    const [state, now] = [model.get("_state"), model.get("_report")];
    if (now !== own.drawn) hear(now);
    task.draw(exercise.task);
    report.draw(now);
    const [{ length }, isRight] = [exercise.hints, now.status === "passed"];
    set(passed, "hidden", isRight ? null : "");
    set(says, "text", now.says ?? "");
    set(next, "hidden", now.next ? null : "");
    set(next, "text", `next: ${now.next}`);
    set(checkButton, "text", now.headline ? "check again" : "check");
    set(hintButton, "text", `hint ${state.hints + 1} of ${length}`);
    set(hintButton, "hidden", state.hints < length && !isRight ? null : "");
    set(solutionButton, "text", state.solution ? "hide the solution" : own.sure ? "show it" : "solution");
    set(note, "text", own.note);
    while (hints.children.length > state.hints) hints.lastChild.remove();
    for (const text of exercise.hints.slice(hints.children.length, state.hints)) hints.append(html(h("li"), text));
    html(solution, state.solution ? exercise.solution : "");
    for (const node of [hints, solution]) set(node, "hidden", node.firstChild ? null : "");
  }

  /** A report has come: what was said while waiting for it is over. */
  function hear(now) {
    heard();
    Object.assign(own, { drawn: now, note: now.note ?? "", sure: false });
    set(report.node, "data-new", now.status === "passed" && !celebrated.has(now) ? "" : null);
    celebrated.add(now);
  }

  // What a hand does -----------------------------------------------------------------------------

  function say(words) {
    own.note = words;
    draw();
  }

  function check() {
    const nobody = () => say(NOBODY);
    heard();
    own.waiting = setTimeout(nobody, PATIENCE);
    say(CHECKING);
    Promise.resolve({ check: true }).then(model.send).catch(nobody); // Jupyter may know that nobody is there
  }

  function openHint() {
    const { hints: open, ...others } = model.get("_state");
    own.note = "";
    shell.change({ ...others, hints: open + 1 });
    if (hintButton.hidden) solutionButton.focus();
  }

  /** A first press asks back, unless there is nothing left to give away. */
  function openSolution() {
    const state = model.get("_state");
    const sure = own.sure || state.solution || own.drawn.status === "passed";
    own.sure = !sure;
    own.note = sure ? "" : SURE;
    if (sure) shell.change({ ...state, solution: !state.solution });
    else draw();
  }

  /** Who leaves the button has changed their mind. */
  function calm() {
    if (!own.sure) return;
    own.sure = false;
    say("");
  }

  /** Go to the panel of the next exercise, which is on the page once its cell has been run. */
  function goOn() {
    const { next: name } = own.drawn;
    const there = document.querySelector(`.sk-exercise [data-exercise="${name}"]`);
    if (!there) return say(`The cell of ${name} has not been run yet: it comes further down.`);
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    there.scrollIntoView({ block: "center", behavior });
    there.querySelector("button").focus({ preventScroll: true });
  }

  report.node.append(passed);
  const cards = exercise.task.headline ? [task.node, report.node] : [report.node];
  return shell.open(...cards, acts, hints, solution);
}

/** A sign and a headline over rows; hidden while it has none. */
function createCard(props = {}) {
  const sign = h("span", { class: "sk-sign" });
  const headline = h("b");
  const rows = h("div");
  const node = h("div", { class: "sk-card", ...props }, h("div", {}, sign, " ", headline), rows);
  return {
    node,
    draw(card) {
      set(node, "hidden", card.headline ? null : "");
      set(node, "data-status", card.status ?? null);
      set(sign, "text", card.sign ?? "");
      html(headline, card.headline ?? "");
      html(rows, card.rows ?? "");
    },
  };
}

/** Set a node's HTML, which Python has made, when it differs. */
function html(node, text) {
  if (node.html !== text) node.innerHTML = node.html = text;
  return node;
}

export default { render };
