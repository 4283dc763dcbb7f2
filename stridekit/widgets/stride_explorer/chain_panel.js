// The pane of the chain: a line to type or pick the next operation, and a row for each step taken.

import { memoryOf, onward, suggestions } from "./chain.js";
import { Refused, tuple } from "../page/layout.js";
import { button, h, pool, set } from "../page/dom.js";

const SHOWN = 8; // buttons at most; the input's list has every suggestion
const NUMBERS = ["shape", "stride", "storage_offset"];

/**
 * `onSteps(texts)` gets the new steps of the chain. Undone steps stay visible as rows until another step is taken:
 * `later` holds them, the only state of this pane.
 */
export function createChain(id, { onSteps }) {
  const list = h("datalist", { id: `${id}-steps` });
  const input = h("input", {
    class: "sk-input", type: "text", id: `${id}-step`, list: list.id, placeholder: ".permute(1, 0)",
    autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-outcome`,
    onkeydown: (event) => event.key === "Enter" && typed(event), // JupyterLab keeps Enter from submitting a form
  });
  const act = (text, onclick) => button(text, onclick, { class: "sk-button" });
  const picks = h("div", { class: "sk-picks", role: "group", "aria-label": "operations that exist here" });
  const line = h("div", { class: "sk-nextstep" },
    h("label", { for: input.id, text: "then" }), input, list,
    act("apply", typed), picks);
  const body = h("tbody");
  const head = h("tr", {}, ...["operation", ...NUMBERS, "memory"].map((text) => h("th", { scope: "col", text })));
  const table = h("table", { "aria-label": "the chain of operations" }, h("thead", {}, head), body);
  const scroller = h("div", { class: "sk-steps" }, table);
  const outcome = h("p", { class: "sk-outcome", role: "status", id: `${id}-outcome` });
  const back = act("undo", undo);
  const foot = h("div", { class: "sk-chainfoot" }, outcome, back);
  const node = h("div", {
    class: "sk-chain", role: "group", "aria-label": "chain of operations", onkeydown: keyed,
  }, line, scroller, foot);

  const options = pool(list, () => h("option"));
  const chips = pool(picks, () => {
    const [name, copies] = [h("code"), h("small")];
    const chip = act("", () => take(chip.step));
    chip.append(name, copies);
    return Object.assign(chip, { parts: [name, copies] });
  });
  const rows = pool(body, createRow);
  let stages = [];
  let later = [];
  let width = 900;
  let inView = 0; // the number of stages when the current one was last scrolled into view
  let drawn = false; // most frames change nothing here

  function createRow() {
    const go = button("", () => goTo(row.at));
    const fields = NUMBERS.map(() => {
      const [was, is] = [h("span"), h("span")];
      return Object.assign(h("td", {}, was, " ", is), { was, is });
    });
    const memory = h("td");
    const row = h("tr", {}, h("th", { scope: "row" }, go), ...fields, memory);
    return Object.assign(row, { go, fields, memory });
  }

  const steps = () => stages.slice(1).map((stage) => stage.text);

  /** Take the typed steps, one or several; if refused, they stay in the input with the reason under it. */
  function take(text) {
    const taken = tried(text);
    if (!taken) return;
    input.value = "";
    [later, drawn] = [[], false];
    say(taken.slice(1).map((stage, k) => told(stage, taken[k])).join(" "));
    onSteps([...steps(), ...taken.slice(1).map((stage) => stage.text)]);
    if (document.activeElement === document.body) input.focus(); // the pressed button is gone
  }

  function tried(text) {
    try {
      return onward(stages.at(-1), [text]);
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

  /** Go back to a stage, or forward again to an undone one. */
  function goTo(at) {
    const all = [...steps(), ...later];
    [later, drawn] = [all.slice(at), false];
    onSteps(all.slice(0, at));
    say("");
  }

  function undo() {
    if (stages.length > 1) goTo(stages.length - 2);
  }

  function keyed(event) {
    if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
    if (event.target === input && input.value) return; // the text's own undo
    event.preventDefault();
    if (!event.shiftKey) undo();
    else if (later.length) goTo(stages.length);
  }

  function say(text, refused = false) {
    set(outcome, "text", text);
    set(outcome, "class", refused ? "sk-outcome is-refused" : "sk-outcome");
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

  /** All stages, including undone ones that still follow from the layout on screen. */
  function withLater() {
    try {
      return [...stages, ...onward(stages.at(-1), later).slice(1)];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      later = [];
      return [...stages];
    }
  }

  function drawRow(row, k, stage, before, undone) {
    row.at = k;
    set(row, "class", undone ? "is-undone" : "");
    set(row.go, "text", stage.text);
    set(row.go, "aria-current", k === stages.length - 1 ? "step" : null);
    NUMBERS.forEach((what, n) => {
      const [was, is] = [before && show(before, what), show(stage, what)];
      const changed = was !== null && was !== is;
      set(row.fields[n].was, "text", changed ? was : "");
      set(row.fields[n].is, "text", changed ? `→ ${is}` : is);
      set(row.fields[n], "class", changed ? "is-changed" : "");
    });
    const memory = before ? memoryOf(stage, before) : "";
    set(row.memory, "text", undone ? "undone" : memory);
    set(row.memory, "class", !undone && stage.copied ? "is-copy" : "");
  }

  /** Scroll the current row into view, below the sticky head. */
  function showCurrent() {
    const { offsetTop, offsetHeight } = body.children[stages.length - 1];
    const { scrollTop, clientHeight } = scroller;
    if (clientHeight) inView = stages.length; // else it is not on a page yet
    const least = offsetTop + offsetHeight - clientHeight;
    if (least > scrollTop || offsetTop < scrollTop + head.offsetHeight) scroller.scrollTop = least;
  }

  return {
    node,
    /** Forget undone steps: another layout came from outside. */
    restart() {
      [later, drawn] = [[], false];
      say("");
    },
    draw(found, widthNow) {
      if (drawn && found === stages && widthNow === width) return;
      [stages, width, drawn] = [found, widthNow, true];
      const offered = suggestions(stages.at(-1));
      options(offered.length).forEach((option, k) => set(option, "value", offered[k].text));
      const shown = fitting(offered);
      chips(shown.length).forEach((chip, k) => {
        chip.step = shown[k].text;
        set(chip.parts[0], "text", shown[k].text);
        set(chip.parts[1], "text", shown[k].copied ? "copies" : "");
      });
      const all = withLater();
      const used = all.length > 1;
      set(scroller, "hidden", used ? null : "");
      set(back, "hidden", used ? null : "");
      set(back, "disabled", stages.length > 1 ? null : "");
      rows(used ? all.length : 0).forEach((row, k) =>
        drawRow(row, k, all[k], all[k - 1] ?? null, k >= stages.length));
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
