// Predict: the reader commits to an answer. A wrong answer gets its remark and one more try; then
// the right answer, the reason and the experiment appear. The state is {first, said, shown} in the
// model. A draft that is not committed belongs to this view. Nothing of the answer is in the page
// before it is shown, so that no screen reader can give it away.

import { handOn, hasJustRun } from "../page/cell.js";
import { button, h, set, show } from "../page/dom.js";
import { tried } from "../page/layout.js";
import { readAnswer } from "../page/numbers.js";
import { createCode } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { inSentence, isSame, OPEN, remark, commit as stateAfter, verdict } from "./verdict.js";

/** @import { Answer, Problem, State } from "./verdict.js" */

const FIRST = "Choose one first: a guess is enough.";
const NOT_YET = "Commit to an answer first. To go on without one, press Shift+Enter again.";
const AGAIN = "That was your first guess: choose another answer.";
const HINTS = {
  number: "a number, or what gives it: 2 * 3 * 4",
  tuple: "whole numbers with commas between them, as torch writes a shape or a stride",
};

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    { label: "prediction", kind: "sk-predict", traits: ["_problem"], draw, arrived },
  );
  /** @type {Problem} */
  const problem = model.get("_problem");
  const { id } = shell;
  const isChoice = problem.kind === "choice";
  /** @type {number | string | null} */
  let draft = null; // the choice, or the text as it is typed
  let complaint = ""; // why the draft cannot be committed
  let isWarned = false; // that nothing is committed yet

  /** @returns {State} */
  const currentState = () => ({ ...OPEN, ...shell.state() });

  const answers = isChoice ? createChoices() : createLine();
  const commitButton = h("button", {
    type: "submit",
    class: "sk-button sk-commit",
    text: "Commit",
  });
  const skip = button("show me", () => answer({ ...currentState(), shown: true }), {
    class: "sk-button",
    title: "see the answer without a prediction",
  });
  const again = button("try again", reset, { class: "sk-button" });
  const status = h("p", { class: "sk-answer", role: "status", tabindex: "-1" });
  const trouble = h("p", { class: "sk-trouble", role: "status" });
  const legend = h(
    "legend",
    {},
    h("span", { class: "sk-kicker", text: "predict" }),
    h("span", { prose: problem.question }),
  );
  const fields = h("fieldset", {}, legend, answers.node);
  const form = h(
    "form",
    { onsubmit: commit, novalidate: "", autocomplete: "off" },
    fields,
    h("div", { class: "sk-acts" }, commitButton, skip, again),
    status,
    trouble,
  );
  const note = h("p", { class: "sk-remark" });
  const why = h("p");
  const caption = h("p", { class: "sk-shows", text: "the experiment, and what it prints:" });
  const experiment = createCode();
  const output = h("pre", { class: "sk-output" });
  const reveal = h("div", { class: "sk-reveal" }, note, why, caption, experiment.node, output);

  function draw() {
    const state = currentState();
    const isOpen = !state.shown;
    set(fields, "disabled", isOpen ? null : "");
    answers.draw(state);
    show(commitButton, isOpen);
    show(skip, isOpen);
    show(again, !isOpen);
    const [sign, sentence] = complaint ? ["", complaint] : verdict(problem, state);
    set(status, "prose", `${sign} ${sentence}`.trim()); // read aloud when it changes
    set(status, "data-sign", sign || null);
    set(trouble, "text", model.get("_problem").trouble ?? "");

    show(reveal, state.shown || state.first !== null);
    set(note, "prose", remark(problem, state));
    // The texts are in the page only while the answer is shown.
    const texts = state.shown ? problem : { why: "", experiment: "", output: "" };
    set(why, "prose", texts.why);
    experiment.draw(texts.experiment);
    set(output, "text", texts.output);
    for (const node of [caption, experiment.node, output]) show(node, texts.experiment !== "");
  }

  /** Radio buttons, each with its text and, once revealed, whether it was right. */
  function createChoices() {
    const rows = problem.choices.map((text, k) => {
      const input = h("input", {
        type: "radio",
        name: `${id}-choice`,
        value: String(k),
        onchange: () => take(k),
      });
      const mark = h("span", { class: "sk-tick" });
      const words = problem.quoted[k] ? h("span", { prose: text }) : h("code", { text });
      return { input, mark, node: h("label", { class: "sk-option" }, input, words, mark) };
    });

    /** @param {State} state */
    function drawChoices(state) {
      const { first, said, shown } = state;
      rows.forEach(({ input, mark, node }, k) => {
        input.checked = k === (shown ? said : draft);
        input.disabled = !shown && k === first;
        const { text, is } = markOf(problem, state, k);
        set(mark, "text", text);
        set(node, "data-is", is);
      });
    }

    return {
      node: h("div", { class: "sk-options" }, ...rows.map((row) => row.node)),
      focus: () => rows.find(({ input }) => !input.disabled)?.input.focus(),
      draw: drawChoices,
    };
  }

  /** A line to type the answer on, with a hint, or the number that an expression gives. */
  function createLine() {
    const input = h("input", {
      type: "text",
      class: "sk-input",
      "aria-label": "your prediction",
      "aria-describedby": `${id}-hint`,
      spellcheck: "false",
      oninput: () => take(input.value),
      onkeydown(event) {
        // JupyterLab keeps Enter from submitting a form.
        if (event.key === "Enter" && !event.shiftKey) commit(event);
      },
    });
    const hint = h("span", { class: "sk-hint", id: `${id}-hint` });

    /** @param {State} state */
    function drawLine({ said, shown }) {
      const text = shown ? textOf(said) : (draft ?? "");
      if (input.value !== text) input.value = text;
      const [value] = read(text);
      const meaning = value === null ? text : inSentence(problem, value);
      const isPlain = shown || meaning === text;
      set(hint, "text", isPlain ? HINTS[problem.kind] : `= ${meaning}`);
      set(input, "aria-invalid", complaint ? "true" : null);
    }

    return {
      node: h("div", { class: "sk-typed" }, input, hint),
      focus: () => input.focus(),
      draw: drawLine,
    };
  }

  const textOf = (said) => (said === null ? "" : inSentence(problem, said));

  /**
   * A typed answer and "", or null and the reason why it cannot be read.
   *
   * @returns {[value: Answer | null, reason: string]}
   */
  const read = (text) => tried(() => readAnswer(problem.kind, text, problem.question));

  /** @returns {[value: Answer | null, reason: string]} */
  const chosen = () => (draft === null ? [null, FIRST] : [Number(draft), ""]);

  function take(value) {
    draft = value;
    complaint = "";
    draw();
  }

  function commit(event) {
    event.preventDefault();
    const state = currentState();
    if (state.shown) return;
    const [value, reason] = isChoice ? chosen() : read(draft ?? "");
    const isRepeated = value !== null && isSame(value, state.first);
    if (value !== null && !isRepeated) {
      answer(stateAfter(problem, state, value));
      return;
    }
    complaint = isRepeated ? AGAIN : reason;
    draw();
    if (!isChoice) answers.focus();
  }

  /**
   * Show a state; a focus that would be lost with its button goes to the verdict, which is then
   * read.
   */
  function answer(state) {
    complaint = "";
    if (isChoice) draft = null;
    shell.change(state);
    if (state.shown) status.focus({ preventScroll: true });
    else answers.focus();
  }

  /** A card that a hand has just run takes the keys, so that Enter commits. */
  function arrived() {
    if (!el.closest(".jp-Cell")) return;
    addEventListener("keydown", goOn, { capture: true, signal: shell.signal });
    if (!model.isSaved && hasJustRun(el) && !currentState().shown) answers.focus();
  }

  /**
   * JupyterLab goes on with Shift+Enter, and opens the answer. It may do so once there is an
   * answer, or at the second press.
   * @param {KeyboardEvent} event
   */
  function goOn(event) {
    if (event.key !== "Enter" || !event.shiftKey || !el.contains(document.activeElement)) return;
    if (currentState().shown || isWarned) {
      handOn(event, el);
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    isWarned = true;
    complaint = NOT_YET;
    draw();
  }

  function reset() {
    isWarned = false;
    draft = null;
    complaint = "";
    shell.change(OPEN);
    answers.focus();
  }

  return shell.open(form, reveal);
}

/**
 * The mark of choice k: whether it is right or wrong, as far as that is shown.
 *
 * @param {Problem} problem
 * @param {State} state
 * @param {number} k
 */
function markOf(problem, { first, said, shown }, k) {
  if (shown && k === problem.answer)
    return { text: k === said ? "✓ you said" : "✓ it is", is: "right" };
  if (k === first) return { text: "✗ not this", is: "wrong" };
  if (shown && k === said) return { text: "✗ you said", is: "wrong" };
  return { text: "", is: null };
}
