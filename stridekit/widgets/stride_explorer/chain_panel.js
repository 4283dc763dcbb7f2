// The pane of the chain: a line to type or pick the next operation, and below it the stages from the start to now.

import { memoryOf, onward, suggestions } from "./chain.js";
import { Refused, tuple } from "../page/layout.js";
import { button, h, pool, set } from "../page/dom.js";

const SHOWN = 8; // buttons at most; the input's list has every suggestion
const NUMBERS = ["shape", "stride", "storage_offset"];

/** `onSteps(texts)` gets the new steps of the chain on the tensor called `name()`. */
export function createChain(id, { onSteps, name = () => "x" }) {
  const list = h("datalist", { id: `${id}-steps` });
  const input = h("input", {
    class: "sk-input", type: "text", id: `${id}-step`, list: list.id, placeholder: ".permute(1, 0)",
    autocomplete: "off", spellcheck: "false", autocapitalize: "off", "aria-describedby": `${id}-outcome`,
    onkeydown: (event) => event.key === "Enter" && typed(event), // JupyterLab keeps Enter from submitting a form
  });
  const act = (text, onclick) => button(text, onclick, { class: "sk-button" });
  const picks = h("div", { class: "sk-picks", role: "group", "aria-label": "operations that exist here" });
  const line = h("div", { class: "sk-nextstep" },
    h("label", { for: input.id, text: "then" }), input, list, act("apply", typed), picks);
  const steps = h("ol", { class: "sk-steps", "aria-label": "the chain of operations" });
  const outcome = h("p", { role: "status", id: `${id}-outcome` });
  const node = h("div", { class: "sk-chain", role: "group", "aria-label": "chain of operations" }, line, steps, outcome);

  const options = pool(list, () => h("option"));
  const chips = pool(picks, () => {
    const [operation, copies] = [h("code"), h("small")];
    const chip = act("", () => take(chip.step));
    chip.append(operation, copies);
    return Object.assign(chip, { parts: [operation, copies] });
  });
  const items = pool(steps, (at) => {
    const [operation, memory] = [h("code"), h("em")];
    const numbers = NUMBERS.map(() => h("span"));
    const go = button("", () => onSteps(texts().slice(0, at)));
    go.append(operation, memory, h("small", {}, ...numbers));
    return Object.assign(h("li", {}, go), { go, operation, memory, numbers });
  });
  let stages = [];
  let drawn = "";
  let width = 900;
  let inView = 0; // the number of stages when the current one was last scrolled into view
  say("");

  const texts = () => stages.slice(1).map((stage) => stage.text);

  /** Take the typed steps, one or several; if refused, they stay in the input with the reason under it. */
  function take(text) {
    const taken = tried(text);
    if (!taken) return;
    input.value = "";
    onSteps([...texts(), ...taken.slice(1).map((stage) => stage.text)]);
    say(taken.slice(1).map((stage, k) => told(stage, taken[k])).join(" "));
    if (document.activeElement === document.body) input.focus(); // the pressed button is gone
  }

  function tried(text) {
    try {
      return onward(stages.at(-1), [text], name());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      say(error.message, true);
      return null;
    }
  }

  function typed(event) {
    event.preventDefault();
    if (input.value.trim()) take(input.value);
  }

  /** What a step did is seen in its stage, and said aloud; why it was refused is written out. */
  function say(text, refused = false) {
    set(outcome, "text", text);
    set(outcome, "class", refused ? "sk-outcome is-refused" : "sk-outcome sk-spoken");
    set(input, "aria-invalid", refused ? "true" : null);
  }

  /** The suggestions that fit one line. */
  function fitting(found) {
    let room = width - 372;
    return found.slice(0, SHOWN).filter(({ text, copied }) => {
      room -= 8 * text.length + (copied ? 48 : 0) + 32;
      return room > 0;
    });
  }

  function drawStage({ go, operation, memory, numbers }, k) {
    const [stage, before] = [stages[k], stages[k - 1]];
    const how = before ? memoryOf(stage, before) : "";
    set(operation, "text", before ? stage.text : name());
    set(memory, "text", how.split(":")[0]);
    set(memory, "class", stage.copied ? "is-copy" : "");
    NUMBERS.forEach((what, n) => {
      const says = show(stage, what);
      set(numbers[n], "text", before ? says : `${what.replace("storage_", "")} ${says}`);
      set(numbers[n], "class", before && says !== show(before, what) ? "is-changed" : "");
    });
    set(go, "aria-current", k === stages.length - 1 ? "step" : null);
    const where = NUMBERS.map((what) => `${what} ${show(stage, what)}`).join(", ");
    set(go, "aria-label", `${stage.text}: ${where}${how && `, ${how}`}`);
    set(go, "title", go.getAttribute("aria-label"));
  }

  /** Scroll the current stage into view, once it is on a page. */
  function showCurrent() {
    const { offsetLeft, offsetWidth } = steps.lastChild;
    if (steps.clientWidth) inView = stages.length;
    steps.scrollLeft = offsetLeft + offsetWidth - steps.clientWidth;
  }

  return {
    node,
    /** Forget what was said: another layout came from outside, perhaps the same. */
    restart: () => say(""),
    draw(found, widthNow) {
      if (found === stages && widthNow === width) return; // most frames change nothing here
      [stages, width] = [found, widthNow];
      const now = JSON.stringify([texts(), stages.at(-1).layout]);
      if (now !== drawn) say(""); // another layout
      drawn = now;
      const offered = suggestions(stages.at(-1));
      options(offered.length).forEach((option, k) => set(option, "value", offered[k].text));
      const shown = fitting(offered);
      chips(shown.length).forEach((chip, k) => {
        chip.step = shown[k].text;
        set(chip.parts[0], "text", shown[k].text);
        set(chip.parts[1], "text", shown[k].copied ? "copies" : "");
      });
      const used = stages.length > 1;
      set(steps, "hidden", used ? null : "");
      items(used ? stages.length : 0).forEach(drawStage);
      if (used && stages.length !== inView) showCurrent();
    },
  };
}

const show = ({ layout }, what) =>
  what === "storage_offset" ? String(layout.storage_offset) : tuple(layout[what]);

/** A sentence on what a step did. */
function told(stage, before) {
  const memory = memoryOf(stage, before);
  if (memory === "view") return `${stage.text} is a view: the same storage, read by other numbers.`;
  if (!stage.copied) return `${stage.text} changes no number: the layout stays as it is.`;
  return `${stage.text} copies: the values now lie in a new storage, with stride ${tuple(stage.layout.stride)}.`;
}
