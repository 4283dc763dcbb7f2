// The share menu: the code, the link and the picture of what a widget shows.

import { button, h, neighbour, set, setAll, show } from "./dom.js";
import { copyText } from "./panels.js";
import { pictureOf, rastered } from "./picture.js";

/** `link(state)`, where the page has one, is the address of a state; `opener` is the button of the menu. */
export function createShare(root, { id, name, code, link, opener }) {
  const said = h("p", { class: "sk-copied", role: "status" });
  const text = h("code");
  const items = [
    ["copy code", () => copy(code(), "the code")],
    ...(link ? [["copy link", () => copy(link(), "the address of this state")]] : []),
    ["save PNG", () => save("png")],
    ["save SVG", () => save("svg")],
  ];
  const node = h("div", { class: "sk-menu", id: `${id}-menu`, role: "group", "aria-label": "share", hidden: "", onkeydown: keyed },
    ...items.map(([label, act]) => button(label, act)), said, text);
  setAll(opener, { "aria-expanded": "false", "aria-controls": node.id });

  const isOpen = () => opener.getAttribute("aria-expanded") === "true";

  function toggle(open = !isOpen()) {
    set(opener, "aria-expanded", String(open));
    show(node, open);
    document[open ? "addEventListener" : "removeEventListener"]("pointerdown", leave);
    if (!open) return;
    for (const part of [said, text]) set(part, "text", "");
    node.querySelector("button").focus();
  }

  function leave({ target }) {
    if (!node.contains(target) && !opener.contains(target)) toggle(false);
  }

  function keyed(event) {
    const next = neighbour([...node.querySelectorAll("button")], { ArrowUp: -1, ArrowDown: 1 }[event.key]);
    if (next) next.focus();
    else if (event.key === "Escape") {
      toggle(false);
      opener.focus();
    } else return;
    event.preventDefault();
  }

  async function copy(what, called) {
    set(text, "text", what);
    const copied = await copyText(text);
    set(said, "text", copied ? `${called} is copied:` : `press Ctrl+C to copy ${called}:`);
  }

  async function save(kind) {
    const picture = pictureOf(root, node.parentNode);
    try {
      download(kind === "svg" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await rastered(picture), `${name}.${kind}`);
      set(said, "text", `${name}.${kind} is saved`);
    } catch {
      set(said, "text", "this browser does not draw it: save the SVG");
    }
    set(text, "text", "");
  }

  return { node, toggle, close: () => toggle(false) };
}

function download(blob, name) {
  const href = URL.createObjectURL(blob);
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}
