// The panels around the pictures that several widgets have: presets, verdicts, code.

import { OWN_KEYS, h, pool, set } from "./dom.js";
import { sameLayout } from "./layout.js";

/** A row of chips, one a preset; the one on screen is pressed. */
export function createPresets(onPick) {
  const node = h("div", { class: "sk-presets", role: "group", "aria-label": "layouts to start from" });
  const chips = pool(node, () =>
    h("button", { type: "button", ...OWN_KEYS, onclick: (event) => onPick(event.currentTarget.preset) }),
  );
  return {
    node,
    /** @returns the preset that is on screen, if any; none where the layout is null */
    draw(presets, layout) {
      const current = layout ? presets.find((preset) => sameLayout(preset.layout, layout)) : undefined;
      chips(presets.length).forEach((chip, k) => {
        chip.preset = presets[k];
        set(chip, "text", presets[k].name);
        set(chip, "title", presets[k].expression);
        set(chip, "aria-pressed", String(presets[k] === current));
      });
      return current;
    },
  };
}

const SIGNS = new Map([[true, "✓"], [false, "✗"], [null, "·"]]);

/** The verdicts, each with a sign as well as a colour. */
export function createVerdicts() {
  const node = h("ul", { class: "sk-verdicts" });
  const items = pool(node, () => h("li"));
  return {
    node,
    draw: (verdicts) =>
      items(verdicts.length).forEach((item, k) => {
        const [good, text] = verdicts[k];
        set(item, "text", `${SIGNS.get(good)} ${text}`);
        set(item, "data-good", String(good));
      }),
  };
}

/** The code that reproduces the picture, ready to copy, and what a preset would call it. */
export function createCode() {
  const code = h("code");
  const also = h("code", { class: "sk-also" });
  const button = h("button", { type: "button", text: "copy", ...OWN_KEYS, "aria-label": "copy the code",
    onclick: copy });
  const node = h("div", { class: "sk-code" }, h("div", {}, code, also), button);

  async function copy() {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code); // no clipboard here: one key is left to press
      button.textContent = "press Ctrl+C";
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  }

  return {
    node,
    draw(text, preset) {
      set(code, "text", text);
      set(also, "text", preset && preset.expression !== text ? `# the same as ${preset.expression}` : "");
    },
  };
}
