// Drill: a question with four choices. A press or a number chooses, Enter goes on. The answer is
// explained in words and by a picture. The state is {kind, seed, answers, said} in the model, and
// nothing of an answer is in the page before it was chosen.

import { button, fill, h, neighbour, set, show } from "../page/dom.js";
import { createChips, createCode } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { answer, NAMES, next, question, score, shares, verdict } from "./drill.js";
import { createPicture } from "./picture.js";

/** @import { Before, State } from "./drill.js" */
/** @import { Pointed } from "./picture.js" */
/** @import { Question } from "./questions.js" */

/** @type {Record<string, number>} */
const STEPS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };
const COUNT = 4; // choices
const SPOKEN = { "": "", "✓": "Right. ", "✗": "Wrong. " };
const PADDING = 40; // px of the widget and of its right column

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    { label: "drill", kind: "sk-drill", traits: ["_before", "_trouble"], draw, forget },
  );
  /** @returns {State} */
  const state = () => shell.state();
  /** @returns {Before} */
  const before = () => model.get("_before");
  /** @type {Pointed | null} */
  let selected = null; // the box of the picture that keys have reached

  const chips = createChips("kinds of questions", choose);
  const count = h("p", { class: "sk-count" });
  const text = h("p", { class: "sk-question", id: `${shell.id}-question` });
  const choices = Array.from({ length: COUNT }, (_, k) => createOption(k));
  const options = h(
    "div",
    { class: "sk-options", role: "group", "aria-labelledby": text.id },
    ...choices.map(({ node }) => node),
  );
  const goOn = button("next question", proceed, { class: "sk-button sk-next" });
  const keys = h("p", { class: "sk-keys", text: "Press 1 to 4 to choose, and Enter to go on." });
  const said = h("p", { class: "sk-answer" });
  const remark = h("p", { class: "sk-remark" });
  const lesson = h("p", { class: "sk-section" });
  const trouble = h("p", { class: "sk-why", role: "status" });
  const empty = h("p", { class: "sk-empty", text: "The answer brings its picture." });
  const why = h("p");
  const picture = createPicture(shell.id, {
    onHover: (spot) => shell.hover(spot && [spot.strip, spot.box]),
    onMove(spot) {
      selected = spot;
      shell.redraw();
    },
  });
  const code = createCode();
  const shown = h("div", { class: "sk-shown" }, why, picture.node, code.node);
  const left = h(
    "div",
    { class: "sk-left" },
    text,
    options,
    said,
    remark,
    lesson,
    goOn,
    keys,
    trouble,
  );
  const right = h("div", { class: "sk-right sk-pane" }, empty, shown);
  const body = h("div", { class: "sk-sides sk-bounded" }, left, right);
  const table = h("div", { onkeydown: press }, chips.node, count, body);

  function draw() {
    const asked = question(state(), before());
    const isOpen = state().said === null;
    drawChips();
    set(count, "text", score(state(), before()));
    set(text, "prose", asked.text);
    for (const [k, choice] of choices.entries()) choice.draw(asked, state().said, k);
    drawVerdict(asked);
    show(goOn, !isOpen);
    show(keys, isOpen);
    show(empty, isOpen);
    show(shown, !isOpen);
    if (isOpen) fill(shown);
    else drawPicture(asked);
  }

  function drawChips() {
    const right = shares(state(), before());
    chips.draw(
      NAMES.map((kind) => ({
        text: `${kind}\n${kind in right ? right[kind].join("/") : "–"}`,
        title: kind in right ? `${right[kind].join(" of ")} right` : null,
        isPressed: kind === state().kind,
        value: kind,
      })),
    );
  }

  /** @param {Question} asked */
  function drawVerdict(asked) {
    const [sign, sentence, note] = verdict(state(), asked);
    set(said, "prose", `${sign} ${sentence}`.trim());
    set(said, "data-sign", sign || null);
    set(remark, "prose", note);
    const [file, section] = asked.lesson;
    set(lesson, "text", note && `lesson ${file}: ${section}`);
    set(trouble, "text", model.get("_trouble") ?? "");
    const spoken = sign ? `${SPOKEN[sign]}${sentence}. ${note} ${asked.why}` : "";
    shell.speak(spoken.replaceAll("`", ""));
  }

  /** @param {Question} asked */
  function drawPicture(asked) {
    fill(shown, why, picture.node, code.node);
    set(why, "prose", asked.why);
    const [strip, box] = shell.hovered ?? [];
    const pointed = strip === undefined ? selected : { strip, box };
    const isWide = shell.width >= 720;
    const width = isWide ? (shell.width - PADDING) * 0.55 - 24 : shell.width - PADDING;
    picture.draw(asked.picture, width, pointed);
    code.draw(`${asked.setup}\n${asked.experiment}`);
  }

  /** @param {number} k */
  function createOption(k) {
    const words = h("span");
    const mark = h("span", { class: "sk-tick" });
    const key = h("kbd", { text: String(k + 1), "aria-hidden": "true" });
    const node = button(
      "",
      () => take(k),
      { class: "sk-option", "aria-keyshortcuts": String(k + 1) },
      key,
      words,
      mark,
    );

    /** @type {(asked: Question, said: number | null, k: number) => void} */
    function drawOption({ choices: offered, right }, taken, k) {
      set(words, "prose", offered[k].text);
      const isRight = taken !== null && k === right;
      const isWrong = taken === k && k !== right;
      set(node, "data-is", isRight ? "right" : isWrong ? "wrong" : null);
      set(mark, "text", isRight ? "✓" : isWrong ? "✗" : "");
      set(node, "aria-disabled", String(taken !== null));
    }

    return { node, draw: drawOption };
  }

  /** @param {number} k */
  function take(k) {
    if (state().said !== null) return;
    selected = null;
    shell.change(answer(state(), before(), k));
    goOn.focus({ preventScroll: true });
  }

  function proceed() {
    selected = null;
    shell.change(next(state()));
    right.scrollTop = 0;
    choices[0].node.focus({ preventScroll: true });
  }

  /** @param {string} kind */
  function choose(kind) {
    selected = null;
    shell.put({ kind, said: null });
  }

  function forget() {
    selected = null;
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.repeat) {
      if (event.key === "Enter") event.preventDefault(); // one press, one question
      return;
    }
    const k = Number(event.key) - 1;
    const nodes = choices.map(({ node }) => node);
    const target = /** @type {HTMLButtonElement} */ (event.target);
    const reached = nodes.includes(target) ? neighbour(nodes, STEPS[event.key]) : undefined;
    if (k in choices) take(k);
    else if (reached) reached.focus();
    else return;
    event.preventDefault();
  }

  return shell.open(table);
}
