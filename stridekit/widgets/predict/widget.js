// Predict: the reader commits to an answer. A wrong one gets its remark and one more try; then the right answer,
// the reason and the experiment appear.
// The state is {first, said, shown} in the model. What is chosen or typed but not committed belongs to this view.
// Nothing of the answer is in the page before it is shown, so that no screen reader can give it away.

import { button, h, set, show } from "../page/dom.js";
import { tried } from "../page/layout.js";
import { readAnswer } from "../page/numbers.js";
import { createCode } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { commit as committed, inSentence, isSame, OPEN, remark, verdict } from "./verdict.js";

const FIRST = "Choose one first: a guess is enough.";
const AGAIN = "That was your first guess: choose another answer.";
const HINTS = {
  number: "a number, or what gives it: 2 * 3 * 4",
  tuple: "whole numbers with commas between them, as torch writes a shape or a stride",
};

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    { label: "prediction", kind: "sk-predict", traits: ["_problem"], draw },
  );
  const problem = model.get("_problem");
  const { id } = shell;
  const own = { draft: null, complaint: "" };
  const stateNow = () => ({ ...OPEN, ...shell.state() });

  const answers = problem.kind === "choice" ? createChoices() : createLine();
  const commitButton = h("button", {
    type: "submit",
    class: "sk-button sk-commit",
    text: "Commit",
  });
  const skip = button("show me", () => answer({ ...stateNow(), shown: true }), {
    class: "sk-button",
    title: "see the answer without a prediction",
  });
  const again = button("try again", reset, { class: "sk-button" });
  const status = h("p", { class: "sk-answer", role: "status", tabindex: "-1" });
  const fields = h(
    "fieldset",
    {},
    h(
      "legend",
      {},
      h("span", { class: "sk-kicker", text: "predict" }),
      h("span", { prose: problem.question }),
    ),
    answers.node,
  );
  const form = h(
    "form",
    { onsubmit: commit, novalidate: "", autocomplete: "off" },
    fields,
    h("div", { class: "sk-acts" }, commitButton, skip, again),
    status,
  );
  const [note, why, output] = [
    h("p", { class: "sk-remark" }),
    h("p"),
    h("pre", { class: "sk-output" }),
  ];
  const experiment = createCode();
  const caption = h("p", { class: "sk-shows", text: "the experiment, and what it prints:" });
  const shows = h("div", { class: "sk-reveal" }, note, why, caption, experiment.node, output);

  function draw() {
    const state = stateNow();
    const open = !state.shown;
    const isTried = open && state.first !== null;
    const [sign, sentence] = own.complaint ? ["", own.complaint] : verdict(problem, state);
    set(fields, "disabled", open ? null : "");
    answers.draw(state);
    for (const [node, visible] of [
      [commitButton, open],
      [skip, open],
      [again, !open],
      [shows, !open || isTried],
    ])
      show(node, visible);
    set(status, "prose", `${sign} ${sentence}`.trim()); // read aloud when it changes
    set(status, "data-sign", sign || null);
    // The texts are in the page only while the answer is shown.
    const has = (text) => (state.shown ? text : "");
    set(note, "prose", remark(problem, state));
    set(why, "prose", has(problem.why));
    experiment.draw(has(problem.experiment));
    set(output, "text", has(problem.output));
    for (const node of [caption, experiment.node, output]) show(node, has(problem.experiment));
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
    return {
      node: h("div", { class: "sk-options" }, ...rows.map((row) => row.node)),
      focus: () => rows.find(({ input }) => !input.disabled).input.focus(),
      draw: ({ shown: visible, said, first }) =>
        rows.forEach(({ input, mark, node }, k) => {
          input.checked = k === (visible ? said : own.draft);
          input.disabled = !visible && k === first;
          const right = visible && k === problem.answer;
          const wrong = !right && (k === first || (visible && k === said));
          const says = k === said ? "you said" : visible ? "it is" : "not this";
          set(
            mark,
            "text",
            right ? `✓ ${says}` : wrong ? `✗ ${k === first ? "not this" : says}` : "",
          );
          set(node, "data-is", right ? "right" : wrong ? "wrong" : null);
        }),
    };
  }

  function createLine() {
    const input = h("input", {
      type: "text",
      class: "sk-input",
      "aria-label": "your prediction",
      "aria-describedby": `${id}-hint`,
      spellcheck: "false",
      oninput: () => take(input.value),
      // JupyterLab keeps Enter from submitting a form.
      onkeydown: (event) => event.key === "Enter" && commit(event),
    });
    const hint = h("span", { class: "sk-hint", id: `${id}-hint` });
    return {
      node: h("div", { class: "sk-typed" }, input, hint),
      focus: () => input.focus(),
      draw({ shown: visible, said }) {
        const now = !visible ? (own.draft ?? "") : said === null ? "" : inSentence(problem, said);
        if (input.value !== now) input.value = now;
        const [value] = answerIn(now);
        const taken = value === null ? now : inSentence(problem, value);
        set(hint, "text", visible || taken === now ? HINTS[problem.kind] : `= ${taken}`); // what 5*8*4 is taken for
        set(input, "aria-invalid", own.complaint ? "true" : null);
      },
    };
  }

  /** A typed answer, or null and why it cannot be read. */
  const answerIn = (text) => tried(() => readAnswer(problem.kind, text, problem.question));

  function take(draft) {
    Object.assign(own, { draft, complaint: "" });
    draw();
  }

  function commit(event) {
    event.preventDefault();
    const state = stateNow();
    if (state.shown) return;
    let [value, why] =
      problem.kind !== "choice"
        ? answerIn(own.draft ?? "")
        : [own.draft, own.draft === null ? FIRST : ""];
    if (value !== null && isSame(value, state.first)) why = AGAIN;
    if (!why) return answer(committed(problem, state, value));
    own.complaint = why;
    draw();
    if (problem.kind !== "choice") answers.focus();
  }

  /** After a wrong first guess the hand stays; after the last one its button is gone, and the verdict is read. */
  function answer(state) {
    Object.assign(own, { complaint: "", draft: problem.kind === "choice" ? null : own.draft });
    shell.change(state);
    if (state.shown) status.focus({ preventScroll: true });
    else answers.focus();
  }

  function reset() {
    Object.assign(own, { draft: null, complaint: "" });
    shell.change(OPEN);
    answers.focus();
  }

  return shell.open(form, shows);
}
